"""The CPU engine beside other libraries: graphs, questions, rivals, the clock and the table."""
