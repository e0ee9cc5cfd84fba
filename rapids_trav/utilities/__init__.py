"""Files, sizes, checks and other helpers that are independent of graphs."""
