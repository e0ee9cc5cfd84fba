"""Vertex programs of min and max over blocks of rows, some of which stay in memory (LargeGraph)."""
