"""Building of compressed rows from edges on a GPU."""
