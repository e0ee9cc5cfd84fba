"""cuDF and pandas frames behind one set of operations, and the proxies of cudf.pandas."""
