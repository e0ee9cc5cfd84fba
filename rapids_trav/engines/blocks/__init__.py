"""The schedule of a run over blocks of edges, which the CPU and the GPU share (LargeGraph)."""
