"""A stand-in for the parts of cuda.bindings that the package uses on a GPU."""
