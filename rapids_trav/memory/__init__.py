"""Memory budgets and models of memory use; independent of graphs and engines."""
