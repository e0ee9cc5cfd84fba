"""Storage of the edges of a graph: in the engine's memory, within a limit, or outside it in pages."""
