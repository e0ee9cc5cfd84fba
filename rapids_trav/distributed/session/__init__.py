"""A rank on each worker of a Dask cluster, and the client that asks them."""
