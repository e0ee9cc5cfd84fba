"""Memory: the limit that is kept, and every formula of bytes. It knows no graph and no engine."""
