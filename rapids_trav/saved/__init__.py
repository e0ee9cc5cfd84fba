"""Graphs in folders: `Graph.save` and `Graph.open`."""
