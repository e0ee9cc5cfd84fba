"""The caller's vertex ids and the dense internal ones."""
