"""Graph algorithms: searches, vertex programs and centralities, from the caller's arguments to frames."""
