"""Operations common to cuDF and pandas frames, and the proxies of cudf.pandas."""
