"""Vertex programs of min and max over blocks of rows, of which some stay in memory (LargeGraph)."""
