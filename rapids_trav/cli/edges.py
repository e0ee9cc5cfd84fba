"""Options that say where the edges are and how to read them, and the graph that they make."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pyarrow.dataset

from .. import datasets
from ..doctor import choose_engine
from ..errors import TravError
from ..graph import Graph
from ..io import FORMATS, read_edges
from ..io.formats import guess_format
from ..io.parquet import column_names
from .report import progress

EDGE_OPTIONS = (
    click.argument("edges"),
    click.option(
        "--src", multiple=True, help="Column of edge sources; repeat it for ids of several columns."
    ),
    click.option("--dst", multiple=True, help="Column of edge destinations."),
    click.option(
        "--directed/--undirected",
        default=None,
        help="Whether an edge leads one way.  [default: undirected; a shipped graph knows]",
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["auto", *FORMATS]),
        default="auto",
        help="Format of EDGES, by default by its extension.",
    ),
    click.option("--delimiter", help="What stands between two fields of a text file."),
    click.option(
        "--header/--no-header", default=None, help="Whether a text file's first line names columns."
    ),
    click.option("--string-ids", is_flag=True, help="Keep the ids of a text file as strings: 007 is not 7."),
    click.option(
        "--engine",
        type=click.Choice(["auto", "cpu", "cuda"]),
        default="auto",
        help="Where to work; auto takes the GPU where there is one with its packages.",
    ),
)


def edge_options(command: Callable) -> Callable:
    """Decorate a command with the options of `open_graph`."""
    for option in reversed(EDGE_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class OpenGraph:
    """A graph with what the command line knows of it.

    Attributes
    ----------
    graph : Graph
    name : str
        As the caller gave it.
    engine : {"cpu", "cuda"}
    id_types : list of type
        `int`, `float` or `str` for each id column.
    seconds : float
        Time to read and build.
    """

    graph: Graph
    name: str
    engine: str
    id_types: list[type]
    seconds: float

    def ids(self, texts: tuple[str, ...], option: str) -> list:
        """Ids as the file has them; those of several columns are written with commas between."""
        if len(self.id_types) == 1:
            return [_typed(text, self.id_types[0], option) for text in texts]
        rows = [text.split(",") for text in texts]
        for text, row in zip(texts, rows, strict=True):
            if len(row) != len(self.id_types):
                raise TravError(f"{option} {text}: ids have {len(self.id_types)} columns, written as a,b.")
        return [
            tuple(_typed(value, kind, option) for value, kind in zip(row, self.id_types, strict=True))
            for row in rows
        ]


def open_graph(
    edges: str,
    src: tuple[str, ...],
    dst: tuple[str, ...],
    directed: bool | None,
    format_: str,
    delimiter: str | None,
    header: bool | None,
    string_ids: bool,
    engine: str,
) -> OpenGraph:
    """Read the edges and build the graph."""
    start = time.perf_counter()
    path = Path(edges)
    if edges in datasets.DIRECTED and not path.exists():
        path = datasets.path(edges)
        directed = datasets.DIRECTED[edges] if directed is None else directed
    if not path.exists():
        raise TravError(f"There is no file {path}, and the shipped graphs are {', '.join(datasets.names())}.")
    directed = bool(directed)
    engine = choose_engine() if engine == "auto" else engine
    columns = [_columns(src), _columns(dst)]
    with progress("Reading the edges and building the graph"):
        source: Any = path
        if (guess_format(path) if format_ == "auto" else format_) == "parquet":
            column_names(path)  # refuses what is not Parquet
        else:
            source = read_edges(
                path,
                format=format_,
                library="cudf" if engine == "cuda" else "pandas",
                id_columns=[*src, *dst] or None,
                delimiter=delimiter,
                header=header,
                string_ids=string_ids,
                both_directions=directed,
            )
        graph = Graph.from_edges(source, *columns, directed=directed, engine=engine)
        types = [_type_of(source, name) for name in src or _default_column(source)]
    return OpenGraph(graph, edges, engine, types, time.perf_counter() - start)


def _columns(names: tuple[str, ...]) -> Any:
    return list(names) if len(names) > 1 else names[0] if names else None


def _default_column(source: Any) -> list[str]:
    names = column_names(source) if isinstance(source, Path) else list(source.columns)
    return ["src"] if "src" in names else ["source"]


def _type_of(source: Any, name: str) -> type:
    if isinstance(source, Path):
        dtype = pyarrow.dataset.dataset(source, format="parquet", partitioning="hive").schema.field(name)
        dtype = dtype.remove_metadata().type.to_pandas_dtype()
    else:
        dtype = source[name].dtype
    if pd.api.types.is_integer_dtype(dtype):
        return int
    return float if pd.api.types.is_float_dtype(dtype) else str


def _typed(text: str, kind: type, option: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise TravError(f"{option} {text}: the ids of these edges are numbers, and this is none.") from None
