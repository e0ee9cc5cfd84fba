"""Questions to a graph: breadth-first search, and what is read off its trees."""
