"""Sources of edge rows: frames, functions, Parquet and Dask."""
