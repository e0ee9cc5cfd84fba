"""The NetworkX backend `trav`.

NetworkX finds it by the entry points of the package; `rapids_trav_networkx` tells NetworkX what it has
without importing it.  `interface` is what NetworkX talks to, `graphs` the graphs that it hands to the
functions in `functions`, and `structure` the compressed rows beneath a graph, each in NetworkX's own order.
"""
