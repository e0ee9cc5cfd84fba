"""Compilation and execution of the CPU engine's kernels."""
