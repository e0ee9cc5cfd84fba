"""Readers of formats for graphs: Matrix Market, DIMACS and METIS, and others by NetworkX or igraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError, first_line
from rapids_trav.io.dialect import Dialect
from rapids_trav.io.formats import open_bytes, reading_error
from rapids_trav.io.sniff import decoded
from rapids_trav.io.tables import EdgeTable, to_frame
from rapids_trav.io.text import INTEGER, read_rows
from rapids_trav.utilities.extras import needed_for

PAJEK = (b"arcs", b"edges")  # lists that are read


def read_dimacs(path: Path) -> EdgeTable:
    """Read arcs ("a 1 2 803" below "p sp 3 2") or edges ("e 1 2" below "p edge 3 2")."""
    comments = 0
    with open_bytes(path) as stream:
        lines = stream.read(1 << 20).decode("latin-1").splitlines()
    for skip, line in enumerate(lines):  # noqa: B007 (used below)
        if line.startswith("p"):
            break
        comments += line.startswith("c")
    problem = line.split()
    rows = [line.split() for line in lines[skip + 1 : skip + 1000] if line[:1] in ("a", "e")]
    width = len(rows[0]) if rows else 0
    if width not in (3, 4, 6) or len(problem) < 4 or not problem[2].isdigit():
        raise TravError(
            f"{path} holds no arcs or edges below 'p {problem[1]}': check that it is a graph of DIMACS."
        )
    names = ("kind", "src", "dst", *(["weight"] if width == 4 else ["low", "capacity", "cost"]))[:width]
    dialect = Dialect(
        encoding="latin-1", delimiter=" ", comments=("c", "n"), explicit=True, names=names, header=False,
        skip=skip + 1, n_comments=comments, sample=rows,
    )  # fmt: skip
    table, comments = read_rows(path, dialect, (["src"], ["dst"]), False)
    if set(table["kind"].unique().to_pylist()) - {"a", "e"}:
        raise TravError(f"{path} has lines that begin with neither 'a', 'e' nor 'c': leave them out.")
    _check_count(path, table.num_rows, int(problem[3]), exact=rows[0][0] == "a")
    frame = to_frame(table.drop_columns("kind"))
    ends = frame[["src", "dst"]]
    if not (len(ends) and ends.dtypes.map(lambda dtype: dtype.kind).eq("i").all()) or not (
        ends.min().min() >= 1 and ends.max().max() <= int(problem[2])
    ):
        raise TravError(
            f"{path} has an end that is not between 1 and {problem[2]}: check that it is a graph of DIMACS."
        )
    return EdgeTable(
        frame,
        weight="weight" if width == 4 else None,
        directed=rows[0][0] == "a",
        vertices=np.arange(1, int(problem[2]) + 1),
        comments=comments,
    )


def read_metis(path: Path, both_directions: bool) -> EdgeTable:
    """Read an undirected graph that lists the neighbours of one vertex on each line."""
    with open_bytes(path) as stream:
        text = stream.read().decode("latin-1")
    lines = [line.split() for line in text.splitlines() if not line.startswith("%")]
    n, m, kind, n_weights = (
        [*map(int, lines[0]), 0, 1][:4] if len(lines[0]) == 2 else [*map(int, lines[0]), 1][:4]
    )
    lines = lines[1:]
    while len(lines) > n and not lines[-1]:
        lines.pop()
    if len(lines) != n:
        raise TravError(
            f"{path} has {len(lines)} lines of neighbours, but its first line says {n} vertices: check it."
        )
    left_out = kind // 100 % 10 + (kind // 10 % 10) * n_weights
    step = 1 + kind % 10  # a weight follows each neighbour
    counts = [max(len(line) - left_out, 0) for line in lines]
    try:
        values = np.array([field for line in lines for field in line[left_out:]], dtype=np.int64)
    except ValueError as error:
        raise reading_error(path, error) from error
    src = np.repeat(np.arange(1, n + 1), np.array(counts) // step)
    frame = pd.DataFrame({"src": src, "dst": values[::step]})
    if step == 2:
        frame["weight"] = values[1::2]
    if len(values) and not frame["dst"].between(1, n).all():
        raise TravError(
            f"{path} has a neighbour that is not between 1 and {n}: check that it is a graph of METIS."
        )
    loops = int((frame["src"] == frame["dst"]).sum())
    if len(frame) not in (m, 2 * m, 2 * m - loops):
        raise TravError(f"{path} lists {len(frame)} neighbours, but its first line says {m} edges: check it.")
    weight = "weight" if step == 2 else None
    if len(frame) > m and not _is_symmetric(frame):
        raise TravError(f"{path} lists an edge in one direction only, or with two weights: check it.")
    if len(frame) == m:  # each edge stands only at the vertex that it leaves
        return EdgeTable(frame, weight=weight, directed=True, vertices=np.arange(1, n + 1))
    if not both_directions:
        frame = frame[frame["src"] <= frame["dst"]].reset_index(drop=True)
    return EdgeTable(frame, weight=weight, directed=False, vertices=np.arange(1, n + 1))


def _is_symmetric(frame: pd.DataFrame) -> bool:
    """Return whether each edge between two vertices stands at both with the same weight."""
    frame = frame[frame["src"] != frame["dst"]]
    names = list(frame.columns)
    turned = frame.rename(columns={"src": "dst", "dst": "src"})[names]
    first, second = (rows.sort_values(names).to_numpy() for rows in (frame, turned))
    return bool((first == second).all())


def _check_count(path: Path, found: int, said: int, exact: bool) -> None:
    """Refuse a file that is cut; some writers count each undirected edge once and write it twice."""
    if found != said and (exact or said not in (2 * found, found / 2)):
        raise TravError(f"{path} has {found} edges, but says {said}: check that it is complete.")


def read_foreign(path: Path, format: str, encoding: str | None = None) -> EdgeTable:
    """Read GML, GraphML, GEXF or Pajek through NetworkX or, if that is missing, through igraph."""
    for read in (_through_networkx, _through_igraph):
        try:
            return read(path, format, encoding)
        except ImportError:
            continue
        except TravError:
            raise
        except Exception as error:  # of either library, or of the parser of XML
            raise TravError(
                f"{path} cannot be read as {format} ({type(error).__name__}: {first_line(error)}): correct "
                f"it, or save the edges as CSV."
            ) from error
    raise TravError(
        f"{path} is {format}, which is read through NetworkX or igraph: run pip install "
        f"'rapids-trav[networkx]', or save the edges as CSV."
    )


def _through_networkx(path: Path, format: str, encoding: str | None) -> EdgeTable:
    import networkx as nx

    readers: dict[str, Callable] = {
        "gml": _read_gml, "graphml": nx.read_graphml, "gexf": nx.read_gexf, "pajek": nx.read_pajek,
        "edgelist": partial(nx.read_edgelist, create_using=nx.MultiDiGraph, comments=None),
    }  # fmt: skip
    with open_bytes(path) as stream:
        content = stream.read()
    comments = 0
    if format in ("gml", "pajek") or encoding is not None:
        content = decoded(path, content, encoding or "utf-8-sig", 1).encode()
    if format == "pajek":
        content = _labelled(path, content)
    if format == "edgelist":  # NetworkX would take # in a field for a comment
        lines = content.splitlines(keepends=True)
        content = b"".join(line for line in lines if not line.lstrip().startswith(b"#"))
        comments = sum(line.lstrip().startswith(b"#") for line in lines)
    if format == "gexf":  # NetworkX knows few of the namespaces
        content = re.sub(rb'(xmlns=")http://(www\.)?gexf\.net/[^"]*', rb"\1http://gexf.net/1.3", content)
    if format == "graphml" and len(re.findall(rb"<graph[\s>]", content)) > 1:
        raise TravError(f"{path} holds several graphs: keep one.")
    graph = readers[format](BytesIO(content))
    attributes = [data for _, _, data in graph.edges(data=True)]
    names = list(dict.fromkeys(name for data in attributes for name in data))
    columns: dict[str, list] = {
        "src": [u for u, _ in graph.edges()], "dst": [v for _, v in graph.edges()],
    }  # fmt: skip
    columns |= {
        name: [data.get(name) for data in attributes] for name in map(str, names) if name not in columns
    }
    vertices = list(graph.nodes)
    if len({type(vertex) for vertex in vertices}) > 1:
        columns["src"], columns["dst"] = (list(map(str, columns[end])) for end in ("src", "dst"))
        vertices = list(map(str, vertices))
    weight = "weight" if "weight" in names else None
    frame = pd.DataFrame(columns)
    if format == "edgelist":  # which tells no direction
        numbers = all(re.fullmatch(INTEGER, vertex) and len(vertex) < 19 for vertex in vertices)
        frame = frame.astype({"src": "int64", "dst": "int64"}) if numbers else frame
        return EdgeTable(frame, weight=weight, comments=comments)
    return EdgeTable(frame, weight=weight, directed=graph.is_directed(), vertices=np.array(vertices))


def _labelled(path: Path, content: bytes) -> bytes:
    """Return a text of Pajek whose vertices all have labels; without one, their numbers.

    What NetworkX takes for something else is refused: lists of neighbours, and both kinds of edges.
    """
    pattern = rb"(?im)^\*(arcslist|edgeslist|arcs|edges|matrix|links|bipartite)"
    kinds = {kind.lower() for kind in re.findall(pattern, content)}
    if kinds - set(PAJEK) or len(kinds) > 1:
        raise TravError(
            f"{path} has {' and '.join(f'*{kind.decode().title()}' for kind in sorted(kinds))}: write either "
            f"*Arcs or *Edges, with a line for each."
        )
    lines = content.splitlines()
    first = next((i for i, line in enumerate(lines) if line.lower().startswith(b"*vertices")), None)
    if first is None:
        return content
    last = next((i for i, line in enumerate(lines[first + 1 :], first + 1) if line[:1] == b"*"), len(lines))
    count = lines[first].split()[1:2]
    if not count or not count[0].isdigit():
        raise TravError(
            f"Line {first + 1} of {path} does not say how many vertices there are: add the number."
        )
    rows = [(line.split(), line) for line in lines[first + 1 : last]]
    labels = {int(fields[0]): line for fields, line in rows if len(fields) > 1 and fields[0].isdigit()}
    names = [re.findall(rb'"[^"]*"|[^\s"]+', line)[1] for line in labels.values()]
    twice, times = Counter(names).most_common(1)[0] if names else (b"", 1)
    if times > 1:
        raise TravError(f"{path} labels two vertices {twice.decode()}: give them different labels.")
    lines[first] = b"*Vertices " + count[0]  # without the size of the first of two modes
    vertices = range(1, int(count[0]) + 1)
    named = [labels.get(vertex, b'%d "%d"' % (vertex, vertex)) for vertex in vertices]
    return b"\n".join([*lines[: first + 1], *named, *_pajek_edges(path, lines, last, vertices)])


def _pajek_edges(path: Path, lines: list[bytes], begin: int, vertices: range) -> Iterator[bytes]:
    """Yield the lines of edges from line `begin` on, below one line that tells their kind."""
    headed = False
    for number, line in enumerate(lines[begin:], begin + 1):
        fields = line.split()
        if not fields or fields[0][:1] in b"%#":
            continue
        if line[:1] == b"*":
            if fields[0][1:].lower() not in PAJEK or (headed and len(fields) > 1):
                raise TravError(
                    f"Line {number} of {path} is {line.decode()[:60]!r}, where another network, relation or "
                    f"partition begins: keep one network in the file."
                )
            if not headed:
                yield line
            headed = True
        elif len(fields) < 2 or not all(one.isdigit() and int(one) in vertices for one in fields[:2]):
            raise TravError(
                f"Line {number} of {path} is {line.decode()[:60]!r}, no edge between two of its "
                f"{len(vertices)} vertices: correct or delete it."
            )
        else:
            yield line


def _read_gml(stream: BytesIO) -> object:
    """Read GML whose vertices may lack labels and whose edges may be repeated."""
    import networkx as nx

    text, label = stream.read().decode().encode("ascii", "xmlcharrefreplace"), "label"
    for _ in range(3):
        try:
            return nx.read_gml(BytesIO(text), label=label)
        except nx.NetworkXError as error:
            if "is duplicated" in str(error) and b"multigraph 1" not in text:
                text = re.sub(rb"(?m)^(\s*graph\s*\[)", rb"\1 multigraph 1 ", text, count=1)
            elif "label" in str(error) and label == "label":
                label = "id"
            else:
                raise
    return nx.read_gml(BytesIO(text), label=label)


def _through_igraph(path: Path, format: str, encoding: str | None) -> EdgeTable:
    import igraph

    if format == "gexf":
        raise ImportError("igraph does not read GEXF")
    graph = igraph.Graph.Read(str(path), format=format)
    key = next((key for key in ("name", "label", "id") if key in graph.vs.attributes()), None)
    vertices = np.array(graph.vs[key] if key else range(graph.vcount()))
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    frame = pd.DataFrame({"src": vertices[ends[:, 0]], "dst": vertices[ends[:, 1]]})
    for name in graph.es.attributes():
        frame[name] = graph.es[name]
    weight = "weight" if "weight" in frame else None
    return EdgeTable(frame, weight=weight, directed=graph.is_directed(), vertices=vertices)


BANNER = b"%%MatrixMarket"


def read_matrix_market(path: Path, both_directions: bool) -> EdgeTable:
    """Read the edges of a square matrix: int64 `src` and `dst`, and `weight` unless it is a pattern."""
    with needed_for("Reading a Matrix Market file", "scipy", "mtx"):
        import scipy.io  # imported here, since other formats do not need it
        import scipy.sparse

    try:
        content = open_bytes(path).read()
        if content[: len(BANNER)].lower() == BANNER.lower():  # SciPy knows no other case
            content = BANNER + content[len(BANNER) :]
        text = BytesIO(content)  # SciPy seeks backwards
        rows, columns, _, _, field, symmetry = scipy.io.mminfo(text)
        _check_header(path, rows, columns, field, symmetry)
        text.seek(0)
        if field == "pattern" and (entry := next(_entries(text), None)) and len(entry.split()) > 2:
            raise TravError(
                f"{path.name} is a pattern, but has values: write real or integer in its first line."
            )
        text.seek(0)
        matrix = scipy.io.mmread(text)
    except TravError:
        raise
    except (OSError, ValueError, OverflowError) as error:
        raise reading_error(path, error) from error
    entries = scipy.sparse.coo_array(matrix)
    src, dst = (index.astype(np.int64) + 1 for index in entries.coords)
    frame = pd.DataFrame({"src": src, "dst": dst})
    if field != "pattern":
        frame["weight"] = entries.data
    if symmetry == "symmetric" and not both_directions:
        # The file holds the lower triangle; SciPy returns the whole matrix.
        frame = frame[src >= dst].reset_index(drop=True)
    return EdgeTable(
        frame,
        weight="weight" if field != "pattern" else None,
        directed=symmetry != "symmetric",
        vertices=np.arange(1, rows + 1),
    )


def _entries(text: BytesIO) -> Iterator[bytes]:
    """Yield the lines of entries of a matrix in coordinates."""
    lines = (line for line in text if line.strip() and not line.startswith(b"%"))
    next(lines, None)  # the size
    yield from lines


def _check_header(path: Path, rows: int, columns: int, field: str, symmetry: str) -> None:
    if rows != columns:
        raise TravError(
            f"{path.name} is a {rows} x {columns} matrix, but an adjacency matrix has a row and a column for "
            f"each vertex: give a square one."
        )
    if field == "complex" or symmetry in ("hermitian", "skew-symmetric"):
        raise TravError(
            f"{path.name} is a {field} {symmetry} matrix, which does not describe edges: give pattern, "
            f"integer or real values in general or symmetric form."
        )
