"""Sequential kernels whose answers are in NetworkX's own order."""
