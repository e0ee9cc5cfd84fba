"""Every formula of bytes: what a build, a search and a vertex program take, told before it is there.

Formulas take numbers alone, so that they know no graph and no engine.  In all of them n is the number of
vertices, and `vertex` the bytes of an id.  `host` tells arrays in the host's memory (the CPU engine) from
those on a GPU.
"""
