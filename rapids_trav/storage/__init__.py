"""Where the edges of a graph live."""
