"""Work of one rank: no Dask, only a communicator to the others."""
