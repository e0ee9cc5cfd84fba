"""Functions of the backend, grouped by the parts of NetworkX that they come from."""
