"""Where rows of edges come from: frames, functions, Parquet and Dask."""
