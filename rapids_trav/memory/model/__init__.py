"""Memory models: the bytes that a build, a search or a vertex program needs, computed in advance.

The functions take numbers only and depend on neither graphs nor engines.  In all of them n is the number of
vertices, `vertex` the bytes of an internal id, and `host` whether arrays are in host memory (the CPU engine)
rather than on a GPU.
"""
