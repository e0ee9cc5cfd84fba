"""Compilation, caching and multithreaded execution of code for the CPU."""
