"""Compilation, caching and multithreaded execution of code for the CPU."""

import logging

# Numba logs each step of a compilation: thousands of lines, where a program asks for all messages.
if logging.getLogger("numba").level == logging.NOTSET:
    logging.getLogger("numba").setLevel(logging.INFO)
