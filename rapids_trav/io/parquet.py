"""Reader of Parquet files and folders, by the library of the requested frame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pandas as pd
import pyarrow as pa
import pyarrow.dataset

from rapids_trav.errors import TravError, first_line
from rapids_trav.frames.columns import Frame
from rapids_trav.io.formats import check_columns, reading_error


def read_parquet(path: Path, library: str, columns: Sequence[str] | None) -> Frame:
    """Read a Parquet file or folder; only `columns` if given."""
    folder = path.is_dir()
    schema = _common_schema(path) if folder else read_schema(path)
    check_columns(path, schema.names, columns or ())
    wanted = None if columns is None else list(columns)
    try:
        if library == "cudf":
            return import_cudf().read_parquet(path, columns=wanted)
        # Without a schema, pandas would cast all files of a folder to the types of the first.
        return pd.read_parquet(path, columns=wanted, schema=schema if folder else None)
    except (OSError, pa.ArrowException, RuntimeError) as error:
        raise reading_error(path, error) from error


def read_schema(path: Path) -> pa.Schema:
    """Return names and types of the columns without reading data; of a folder, those of its first file."""
    try:
        schema = _dataset(path).schema
    except (OSError, pa.ArrowException) as error:
        raise reading_error(path, error) from error
    if not schema.names:
        raise TravError(f"{path} holds no Parquet data: name a Parquet file, or a folder that holds some.")
    return schema


def range_of(schema: pa.Schema) -> dict[str, range]:
    """Return the index of pandas that is stored as a range, by its name; empty if there is none."""
    indices = (schema.pandas_metadata or {}).get("index_columns", [])
    named = [one for one in indices if isinstance(one, dict) and one.get("name") is not None]
    return {str(one["name"]): range(one["start"], one["stop"], one["step"]) for one in named}


def _common_schema(folder: Path) -> pa.Schema:
    """Return the columns of all files, in types that hold the values of each."""
    schemas = [read_schema(folder)]
    try:
        schemas += [fragment.physical_schema for fragment in _dataset(folder).get_fragments()]
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise TravError(
            f"{folder} has files whose columns differ in kind ({first_line(error)}): write them with one "
            "type for each column."
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise reading_error(folder, error) from error


def _dataset(path: Path) -> pyarrow.dataset.Dataset:
    return pyarrow.dataset.dataset(path, format="parquet", partitioning="hive")


def import_cudf() -> ModuleType:
    """Import `cudf`, or raise an error that says how to install it."""
    try:
        import cudf
    except ImportError as error:
        raise TravError(
            "cuDF is not installed: pip install 'rapids-trav[cu13]' (or cu12 for a CUDA 12 driver), "
            "or choose library='pandas'."
        ) from error
    return cudf
