"""The CPU engine compared with other libraries: graphs, queries, rivals, the clock and the table."""
