"""Work of one rank, without Dask: only a communicator connects it with the other ranks."""
