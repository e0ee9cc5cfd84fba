"""Files, sizes, checks and other helpers that know nothing of graphs."""
