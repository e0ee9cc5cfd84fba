"""Options that locate and describe the edges, and the graph made from them."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import click

from rapids_trav import datasets
from rapids_trav.cli.checks import refuse_given, wrong_option
from rapids_trav.cli.ids import IdReader, id_readers, readers, split_id
from rapids_trav.cli.options import Given, applied, derived, gpus, taken
from rapids_trav.cli.report import progress
from rapids_trav.engines import NAMES, gpu_is_there, select
from rapids_trav.errors import TravError
from rapids_trav.graph import Graph
from rapids_trav.io import FORMATS, files
from rapids_trav.io.columns import Name
from rapids_trav.io.dialect import OF_TEXT, FileOptions
from rapids_trav.io.formats import TEXTS
from rapids_trav.io.tables import EdgeTable, import_cudf, read_schema, refuse_nested
from rapids_trav.io.write import to_pandas
from rapids_trav.saved.write import is_saved_graph
from rapids_trav.storage.build_options import BuildOptions

KINDS = {"parquet": "Parquet", "mtx": "a Matrix Market file"}


def _not_empty(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse an empty name, which would mean the current folder."""
    if not all(value):
        raise click.UsageError(
            "EDGES is empty: name a file, a folder, or a graph that comes with the package."
        )
    return value


def _columns(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> list[str] | None:
    return list(value) or None


file_options = applied(
    click.argument("edges", nargs=-1, required=True, callback=_not_empty),
    click.option(
        "--src",
        multiple=True,
        callback=_columns,
        help="Column of edge sources, by name or number from 1; repeat it for ids of several columns.",
    ),
    click.option("--dst", multiple=True, callback=_columns, help="Column of edge destinations."),
    derived(FileOptions, "weight", help="Column of the edges' weights, given like --src."),
    click.option(
        "--format",
        type=click.Choice(["auto", *FORMATS]),
        default="auto",
        help="Format of EDGES, by default found from their content.",
    ),
    derived(FileOptions, "delimiter", help="Character between two fields of a text file."),
    click.option(
        "--header/--no-header", default=None, help="Whether a text file's first line names columns."
    ),
    derived(FileOptions, "comment", help="Sign that begins a comment, '' for none.  [default: # and %]"),
    derived(FileOptions, "quote", help="Character around fields, '' if quotes are ordinary characters."),
    derived(FileOptions, "encoding", help="Encoding of a text file, such as latin-1."),
    derived(FileOptions, "decimal", help="Sign before a fraction.", type=click.Choice([".", ","])),
    derived(FileOptions, "string_ids", help="Take the ids of a text file as they are written: NA is an id."),
)
engine_option = derived(
    BuildOptions,
    "engine",
    help="Where to work; auto selects the GPU if there is one with its packages.",
    type=click.Choice(NAMES),
    show_default=False,
)
devices_option = derived(
    BuildOptions,
    "devices",
    help="GPUs that hold and search the graph together: their numbers, such as 0,1, or all.",
    callback=gpus,
)
edge_options = applied(
    file_options,
    click.option(
        "--directed/--undirected",
        default=None,
        help="Whether an edge leads one way.  [default: undirected, or as the file says]",
    ),
    engine_option,
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
OF_FILES = ("src", "dst", "directed", "format", *OF_TEXT)


@dataclass(frozen=True)
class OpenGraph:
    """A graph with the properties that the command line needs."""

    graph: Graph
    name: str  # that the caller gave
    engine: str  # "cpu" or "cuda"
    id_readers: list[IdReader]  # one for each id column
    seconds: float  # to read and build
    comments: int = 0  # in the files, which were skipped

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
    edges: tuple[str, ...],
    directed: bool | None,
    engine: str,
    variant: str = "auto",
    scheduler: str | None = None,
    **given: Given,
) -> OpenGraph:
    """Read the edges and build the graph, or open a saved one, on an engine that has the variant.

    With a `scheduler` the graph is on the workers of its cluster.  The other arguments are those of
    `FileOptions` and `BuildOptions`.
    """
    with wrong_option():
        options = FileOptions(**taken(FileOptions, given))
        BuildOptions(**given)
    start = time.perf_counter()
    if is_shipped(edges) and directed is None:
        directed = datasets.DIRECTED[edges[0]]
    if scheduler is not None:
        return _open_on_cluster(scheduler, edges, directed, options, engine, start)
    if engine == "auto":
        engine = "cuda" if gpu_is_there() else "cpu"
    engine = _engine_with(variant, engine)
    if (devices := given.get("devices")) is not None:
        from rapids_trav.engines.multigpu.devices import spread_over

        with wrong_option():
            spread_over(select(engine, "pandas"), devices)
    if len(edges) == 1 and is_saved_graph(path := Path(edges[0])):
        return _open_saved(path, engine, options.weight, given, start)
    paths = edge_paths(edges)
    options = replace(options, format=files.format_of(paths, options.format))
    name = _name_of(edges)
    if options.format not in TEXTS:
        refuse_given(OF_TEXT, f"text, and {name} is {KINDS.get(options.format, options.format)}")
    with progress("Reading the edges and building the graph"):
        found = _read(paths, options, bool(directed), engine)
        graph = Graph.from_edges(
            found.frame,
            found.src,
            found.dst,
            directed=bool(found.directed if directed is None else directed),
            weight=found.weight if options.weight is not None else None,
            vertices=found.vertices,
            engine=engine,
            **given,
        )
    return OpenGraph(graph, name, engine, id_readers(graph), time.perf_counter() - start, found.comments)


def is_shipped(edges: tuple[str, ...]) -> bool:
    """Return whether the edges are those of a graph that comes with the package."""
    return len(edges) == 1 and edges[0] in datasets.DIRECTED and not Path(edges[0]).exists()


def edge_paths(edges: tuple[str, ...]) -> list[Path]:
    """Return the files and folders that hold the edges; the data of a pipe are in a file of their own."""
    if is_shipped(edges):
        return [datasets.path(edges[0])]
    found = []
    for name in edges:
        path = Path(name)
        if name == "-" or path.is_fifo() or path.is_char_device():
            path = _stream_as_file(name)
        if not path.exists():
            raise TravError(
                f"There is no file {path}: check the path, or name one of the shipped graphs, "
                f"{', '.join(datasets.names())}."
            )
        found.append(path)
    return found


def _name_of(edges: tuple[str, ...]) -> str:
    name = click.format_filename(edges[0])
    return name if len(edges) == 1 else f"{name} and {len(edges) - 1} more"


def _read(paths: list[Path], options: FileOptions, both_directions: bool, engine: str) -> EdgeTable:
    """Read the edges; those of Parquet stay in their files, of which the graph reads a part at a time."""
    if options.format != "parquet":
        found = files.read(paths, options, both_directions=both_directions)
        frame = import_cudf().DataFrame(found.frame) if engine == "cuda" else found.frame
        return replace(found, frame=frame)
    names = read_schema(paths[0]).names
    src, dst = options.ends(names)
    for path in paths:
        refuse_nested(path, read_schema(path), [*src, *dst])
    return EdgeTable(paths if len(paths) > 1 else paths[0], src, dst, weight=options.weighed(names))


def _open_on_cluster(
    scheduler: str,
    edges: tuple[str, ...],
    directed: bool | None,
    options: FileOptions,
    engine: str,
    start: float,
) -> OpenGraph:
    """Build a graph on the workers of a cluster, which read the edges."""
    from rapids_trav.cli import clusters  # imports Dask

    refuse_given(
        ("memory_limit", "spill", "devices", "variant", "weight", "weighted"),
        "a graph in this process, and --scheduler spreads it over workers",
    )
    path = datasets.path(edges[0]) if is_shipped(edges) else Path(edges[0])
    if len(edges) > 1 or is_saved_graph(path) or not (path.is_file() or path.is_dir()):
        raise click.UsageError(
            f"EDGES {' '.join(edges)} is not a file or folder of edges, which --scheduler needs: name one "
            f"that all workers reach."
        )
    options = replace(options, format=files.format_of([path], options.format))
    context = click.get_current_context()
    client = context.with_resource(clusters.connected(scheduler))
    with progress("Reading the edges and building the graph"):
        engine = clusters.engine_of(client, engine)
        source, ends = clusters.read(path.absolute(), options, engine)
        graph = Graph.from_edges(source, *ends, directed=bool(directed), engine=engine, client=client)
        context.call_on_close(graph.close)
        first = to_pandas(graph.degrees().head(1)).drop(columns="degree")
    found = readers(first, list(first.dtypes))
    return OpenGraph(graph, _name_of(edges), engine, found, time.perf_counter() - start)


def _open_saved(
    path: Path, engine: str, weight: Name | None, given: dict[str, Given], start: float
) -> OpenGraph:
    """Open a saved graph; refuse options that describe a file of edges."""
    refuse_given((*OF_FILES, "devices"), f"edges, and {path} is a saved graph")
    given.pop("devices", None)
    with progress("Opening the graph"):
        graph = Graph.open(path, engine=engine, **given)
    if weight is not None and graph.weight is None:
        raise click.UsageError(
            f"--weight is a column of edges, and {path} was saved without weights: save the edges again "
            f"with --weight {shlex.quote(str(weight))}."
        )
    refuse_given(("weight",), f"edges, and {path} is a saved graph, with its weights")
    name = click.format_filename(path)
    return OpenGraph(graph, name, engine, id_readers(graph), time.perf_counter() - start)


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


def _stream_as_file(edges: str) -> Path:
    """Copy the data of a pipe to a file, which can be read repeatedly until the command ends."""
    folder = click.get_current_context().with_resource(tempfile.TemporaryDirectory())
    path = Path(folder, "standard-input")
    name = "The standard input" if edges == "-" else edges
    try:
        with (
            path.open("wb") as file,
            nullcontext(sys.stdin.buffer) if edges == "-" else Path(edges).open("rb") as stream,
        ):
            shutil.copyfileobj(stream, file)
    except OSError as error:
        raise TravError(
            f"{name} cannot be read into a file in {tempfile.gettempdir()} ({error.strerror or error}): give "
            f"EDGES as a file, or name a folder with more space in the environment variable TMPDIR."
        ) from error
    return path
