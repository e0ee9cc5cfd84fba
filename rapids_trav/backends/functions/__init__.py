"""The functions of the backend, by the parts of NetworkX that they come from."""
