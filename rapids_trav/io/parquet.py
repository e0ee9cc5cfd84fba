"""Parquet files and folders, read by the library of the frame that is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset

from ..errors import TravError, first_line
from .formats import check_columns, reading_error


def read_parquet(path: Path, library: str, columns: Sequence[str] | None) -> Any:
    """Frame of a Parquet file or folder; only `columns` if given."""
    schema = read_schema(path)
    check_columns(path, schema.names, columns or ())
    wanted = None if columns is None else list(columns)
    try:
        if library == "cudf":
            return import_cudf().read_parquet(path, columns=wanted)
        # Of a folder pandas would put all files into the types of the first.
        return pd.read_parquet(path, columns=wanted, **({"schema": schema} if path.is_dir() else {}))
    except (OSError, pa.ArrowException, RuntimeError) as error:
        raise reading_error(path, error) from error


def read_schema(path: Path) -> pa.Schema:
    """Names and types of the columns, without reading them; of several files, types for all."""
    try:
        files = pyarrow.dataset.dataset(path, format="parquet", partitioning="hive")
        own = [fragment.physical_schema for fragment in files.get_fragments()]
        schema = pa.unify_schemas([files.schema, *own], promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise TravError(
            f"{path} has files whose columns differ in kind ({first_line(error)}): write them with one type "
            "for each column."
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise reading_error(path, error) from error
    if not schema.names:
        raise TravError(f"{path} holds no Parquet data.")
    return schema


def import_cudf() -> Any:
    """The module `cudf`, or the sentence that says how to get it."""
    try:
        import cudf
    except ImportError as error:
        raise TravError(
            "cuDF is not installed: pip install 'rapids-trav[cu13]' (or cu12 for a CUDA 12 driver), "
            "or use the pandas library."
        ) from error
    return cudf
