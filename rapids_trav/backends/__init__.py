"""The NetworkX backend `trav`.

NetworkX finds it through the entry points of the package; `rapids_trav_networkx` tells NetworkX what the
backend offers without importing it.  `interface` has the object that NetworkX calls, `graphs` the graphs that
NetworkX passes to the functions in `functions`, and `structure` the compressed rows of a graph, in NetworkX's
own order.
"""
