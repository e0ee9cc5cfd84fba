"""Options that locate and describe the edges, and the graph made from them."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import click

from rapids_trav import datasets
from rapids_trav.cli.checks import OF_TEXT, check_edge_options, refuse_given, wrong_option
from rapids_trav.cli.ids import IdReader, check_ids, check_types, id_readers, readers, split_id
from rapids_trav.cli.options import Given, derived
from rapids_trav.cli.report import progress
from rapids_trav.cli.wording import rephrased
from rapids_trav.doctor import choose_engine
from rapids_trav.edges.sources import edge_columns, open_edges
from rapids_trav.engines import NAMES, select, spread_over
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.graph import Graph
from rapids_trav.io import FORMATS, read_edges
from rapids_trav.io.formats import guess_format
from rapids_trav.io.parquet import read_schema
from rapids_trav.io.text import usual_ends
from rapids_trav.io.write import to_pandas
from rapids_trav.saved.write import is_saved_graph
from rapids_trav.storage.build_options import BuildOptions


def _not_empty(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Refuse an empty name, which would mean the current folder."""
    if not value:
        raise click.UsageError(
            "EDGES is empty: name a file, a folder, or a graph that comes with the package."
        )
    return value


EDGE_OPTIONS = (
    click.argument("edges", callback=_not_empty),
    click.option(
        "--src", multiple=True, help="Column of edge sources; repeat it for ids of several columns."
    ),
    click.option("--dst", multiple=True, help="Column of edge destinations."),
    click.option(
        "--directed/--undirected",
        default=None,
        help="Whether an edge leads one way.  [default: undirected, or as a shipped graph is]",
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["auto", *FORMATS]),
        default="auto",
        help="Format of EDGES, by default by its extension.",
    ),
    click.option("--delimiter", help="Character between two fields of a text file."),
    click.option(
        "--header/--no-header", default=None, help="Whether a text file's first line names columns."
    ),
    click.option("--string-ids", is_flag=True, help="Keep the ids of a text file as strings: 007 is not 7."),
    derived(
        BuildOptions,
        "engine",
        help="Where to work; auto selects the GPU if there is one with its packages.",
        type=click.Choice(NAMES),
        show_default=False,
    ),
    derived(
        BuildOptions,
        "memory_limit",
        help="Most of the CPU's or GPU's memory that the graph and its questions may hold, such as 8GB; "
        "edges that do not fit are kept outside it.",
    ),
    derived(
        BuildOptions,
        "spill",
        help="Folder for edges kept in files; by default, the folder for temporary files.",
    ),
)
# Options that describe files; a saved graph stores these properties.
OF_FILES = ("src", "dst", "directed", "format_", "delimiter", "header", "string_ids")


def edge_options(command: Callable) -> Callable:
    """Decorate a command with the options of `open_graph`."""
    for option in reversed(EDGE_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class OpenGraph:
    """A graph with the properties that the command line needs.

    Attributes
    ----------
    graph : Graph
    name : str
        The name that the caller gave.
    engine : {"cpu", "cuda"}
    id_readers : list of IdReader
        One for each id column.
    seconds : float
        Time to read and build.
    """

    graph: Graph
    name: str
    engine: str
    id_readers: list[IdReader]
    seconds: float

    def ids(self, texts: tuple[str, ...], option: str) -> list:
        """Return ids in the types of the file; an id of several columns is given as a row of CSV."""
        if len(self.id_readers) == 1:
            return [self.id_readers[0].read(text, option) for text in texts]
        rows = [split_id(text, len(self.id_readers), option) for text in texts]
        return [
            tuple(reader.read(value, option) for reader, value in zip(self.id_readers, row, strict=True))
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
    memory_limit: str | None = None,
    spill: str | None = None,
    variant: str = "auto",
    weight: str | None = None,
    scheduler: str | None = None,
    devices: str | list[int] | None = None,
) -> OpenGraph:
    """Read the edges and build the graph, or open a saved one, on an engine that has the variant.

    With a `scheduler` the graph is on the workers of its cluster, with `devices` on these GPUs together.
    """
    if len(src) != len(dst):
        raise click.UsageError("--src and --dst go together: name as many columns with each.")
    check_edge_options(delimiter, memory_limit, spill, devices)
    if scheduler is not None:
        return _open_on_cluster(
            scheduler, edges, src, dst, directed, format_, delimiter, header, string_ids, engine
        )
    engine = _engine_with(variant, choose_engine() if engine == "auto" else engine)
    if devices is not None:
        with wrong_option():
            spread_over(select(engine, "pandas"), devices)
    start = time.perf_counter()
    path = Path(edges)
    if is_saved_graph(path):
        refuse_given(("devices",), f"edges, and {path} is a saved graph")
        return _open_saved(path, engine, memory_limit, spill, start, weight)
    if edges in datasets.DIRECTED and not path.exists():
        path = datasets.path(edges)
        directed = datasets.DIRECTED[edges] if directed is None else directed
    if edges == "-" or path.is_fifo() or path.is_char_device():
        path = _stream_as_file(edges, format_)
    if not path.exists():
        raise TravError(
            f"There is no file {path}: check the path, or name one of the shipped graphs, "
            f"{', '.join(datasets.names())}."
        )
    directed = bool(directed)
    format_ = guess_format(path) if format_ == "auto" else format_
    if format_ in ("parquet", "mtx"):
        kind = "Parquet" if format_ == "parquet" else "a Matrix Market file"
        refuse_given(OF_TEXT, f"text, and {edges} is {kind}")
    with progress("Reading the edges and building the graph"):
        source: Frame | Path = path
        if format_ == "parquet":
            check_types(path, *_ends(path, src, dst))
        else:
            source = _read(
                path,
                format=format_,
                library="cudf" if engine == "cuda" else "pandas",
                id_columns=[*src, *dst] or None,
                delimiter=delimiter,
                header=header,
                string_ids=string_ids,
                both_directions=directed,
            )
            check_ids(source, *_ends(source, src, dst))
        graph = Graph.from_edges(
            source,
            *_ends(source, src, dst),
            directed=directed,
            weight=weight,
            engine=engine,
            memory_limit=memory_limit,
            spill=spill,
            devices=devices,
        )
    return OpenGraph(
        graph, click.format_filename(edges), engine, id_readers(graph), time.perf_counter() - start
    )


def _open_on_cluster(
    scheduler: str,
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
    """Build a graph on the workers of a cluster, which read the edges."""
    from rapids_trav.cli import clusters  # imports Dask

    refuse_given(
        ("memory_limit", "spill", "devices", "variant", "weight", "weighted"),
        "a graph in this process, and --scheduler spreads it over workers",
    )
    start = time.perf_counter()
    path = Path(edges)
    if edges in datasets.DIRECTED and not path.exists():
        path = datasets.path(edges)
        directed = datasets.DIRECTED[edges] if directed is None else directed
    if is_saved_graph(path) or not (path.is_file() or path.is_dir()):
        raise click.UsageError(
            f"EDGES {edges} is not a file or folder of edges, which --scheduler needs: name one that all "
            f"workers reach."
        )
    format_ = guess_format(path) if format_ == "auto" else format_
    context = click.get_current_context()
    client = context.with_resource(clusters.connected(scheduler))
    with progress("Reading the edges and building the graph"):
        engine = clusters.engine_of(client, engine)
        source = clusters.read(path.absolute(), format_, engine, [*src, *dst], delimiter, header, string_ids)
        ends = _ends(source, src, dst)
        graph = Graph.from_edges(source, *ends, directed=bool(directed), engine=engine, client=client)
        context.call_on_close(graph.close)
        first = to_pandas(graph.degrees().head(1)).drop(columns="degree")
    return OpenGraph(
        graph,
        click.format_filename(edges),
        engine,
        readers(first, list(first.dtypes)),
        time.perf_counter() - start,
    )


def _open_saved(
    path: Path, engine: str, memory_limit: str | None, spill: str | None, start: float, weight: str | None
) -> OpenGraph:
    """Open a saved graph; refuse options that describe a file of edges."""
    refuse_given(OF_FILES, f"edges, and {path} is a saved graph")
    with progress("Opening the graph"):
        graph = Graph.open(path, engine=engine, memory_limit=memory_limit, spill=spill)
    if weight is not None and graph.weight is None:
        raise click.UsageError(
            f"--weight is a column of edges, and {path} was saved without weights: save the edges again "
            f"with --weight {shlex.quote(weight)}."
        )
    refuse_given(("weight",), f"edges, and {path} is a saved graph, with its weights")
    return OpenGraph(
        graph, click.format_filename(path), engine, id_readers(graph), time.perf_counter() - start
    )


def _engine_with(variant: str, engine: str) -> str:
    """Return the engine's name if it is available and has the variant."""
    try:
        variants = select(engine, "pandas").variants
    except TravError as error:
        raise click.UsageError(str(error)) from error
    if variant not in variants:
        raise click.UsageError(
            f"--variant {variant} is not known to the {engine} engine: choose one of {', '.join(variants)}."
        )
    return engine


def _stream_as_file(edges: str, format_: str) -> Path:
    """Copy the data of a pipe to a file, which can be read repeatedly until the command ends."""
    if format_ == "auto":
        raise click.UsageError(f"The format of EDGES {edges} cannot be recognised: name it with --format.")
    folder = click.get_current_context().with_resource(tempfile.TemporaryDirectory())
    path = Path(folder, "standard-input")
    name = "The standard input" if edges == "-" else edges
    try:
        with path.open("wb") as file, _opened(edges) as stream:
            shutil.copyfileobj(stream, file)
    except OSError as error:
        raise TravError(
            f"{name} cannot be read into a file in {tempfile.gettempdir()} ({error.strerror or error}): give "
            f"EDGES as a file, or name a folder with more space in the environment variable TMPDIR."
        ) from error
    return path


def _opened(edges: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if edges == "-" else Path(edges).open("rb")


def _ends(source: Frame | Path, src: Sequence, dst: Sequence) -> tuple[list, list]:
    """Return the columns of both ends: those named, or those with usual names."""
    if isinstance(source, Path):
        read_schema(source)  # refuses files that are not Parquet
    opened = open_edges(source)
    if not src and (found := usual_ends([str(name) for name in opened.columns])):
        src, dst = ([name] for name in found)
    return edge_columns(opened, list(src) or None, list(dst) or None)


def _read(path: Path, **options: Given) -> Frame:
    """Read the edges, and report on standard error what the reader had to guess."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        frame = read_edges(path, **options)
    for note in notes:
        click.echo(f"rapids-trav: {rephrased(str(note.message))}", err=True)
    return frame
