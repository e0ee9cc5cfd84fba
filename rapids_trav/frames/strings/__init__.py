"""Strings on the CPU: distinct ones found, numbered and sorted by kernels over Arrow's buffers."""
