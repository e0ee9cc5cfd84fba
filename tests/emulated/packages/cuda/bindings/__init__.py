"""A stand-in for the parts of cuda.bindings that the package uses on a GPU."""

from cuda.bindings import _driver as driver

__all__ = ["driver"]
