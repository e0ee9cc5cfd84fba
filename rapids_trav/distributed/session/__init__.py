"""Sessions of ranks: one rank on each worker of a Dask cluster, and the client that calls them."""
