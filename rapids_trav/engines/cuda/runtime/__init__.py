"""Kernels, memory and limits of one GPU."""
