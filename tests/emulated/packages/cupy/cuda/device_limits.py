"""Limits of the emulated device: those of an H100 with fewer multiprocessors."""

MULTIPROCESSORS = 3
THREADS_OF_BLOCK = 1024
THREADS_OF_MULTIPROCESSOR = 2048
SHARED_BYTES = 48 << 10  # of a block, unless its kernel opts in to more
SHARED_BYTES_BY_OPTING_IN = 227 << 10
SHARED_BYTES_OF_MULTIPROCESSOR = 228 << 10
SHARED_BYTES_RESERVED = 1 << 10
SHARED_BYTES_DECLARED = 8 << 10  # what each kernel is taken to declare
