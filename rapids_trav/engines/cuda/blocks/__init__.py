"""Vertex programs of min and max over blocks of edges, some of which stay on the GPU (LargeGraph)."""
