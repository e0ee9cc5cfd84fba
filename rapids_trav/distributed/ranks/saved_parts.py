"""Folder format of a graph on many ranks: each rank writes its part, and any number of ranks can open it.

- `parts.json`: format version, number of parts, vertices and edges, names of the columns.
- `part_<i>`: the ids that rank i held, in the form of `saved.ids`; its edges, `src.npy` and `dst.npy`, as the
  places of their ends, with the smaller place of an undirected edge first; and `graph.json`, with the size
  and CRC-32 of each file.

All ranks must have access to the folder.  As in `saved.write`, the folder is either complete or not there.
Places do not depend on the number of ranks, so a graph may be opened by more or fewer ranks than saved it.
Opening needs no lookup of the ids of the edges.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.edge_ends import rounds
from rapids_trav.distributed.ranks.numbering import Numbering, stable_order
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.rank_graph import RankBuildOptions, RankGraph, assemble
from rapids_trav.distributed.ranks.rank_rows import Ends, RankRows, RankSource, has, rows_of
from rapids_trav.distributed.ranks.rank_values import RankAnswers
from rapids_trav.distributed.ranks.renumber_spread import build_ids
from rapids_trav.distributed.ranks.spread_ids import NumberedIds, SpreadMap
from rapids_trav.errors import TravError, first_line
from rapids_trav.frames.columns import Frame, move
from rapids_trav.ids.maps import Column, vertex_dtype
from rapids_trav.saved.graphs import name_in_head
from rapids_trav.saved.head import TableEntry, damaged
from rapids_trav.saved.ids import columns_of, describe
from rapids_trav.saved.write import HEAD, free_target, head_bytes, in_use, taken, write_graph
from rapids_trav.storage.filters import refuse_filter
from rapids_trav.storage.mapped_arrays import open_array
from rapids_trav.utilities.atomic_files import (
    file_checksum,
    folder_in_the_making,
    open_plain,
    plain_size,
    sync_folder,
)
from rapids_trav.utilities.locations import location
from rapids_trav.utilities.progress import PhaseTimes

PARTS, FORMAT, VERSION = "parts.json", "rapids_trav graph in parts", 1


def save(graph: RankGraph, folder: str) -> None:
    """Write the folder; every rank calls it.

    Raises a `TravError` on all ranks, if any of them cannot write; no folder is left then.
    """
    rank, ranks = graph.rank, graph.rank.communicator
    source, destination = _edges(graph)
    with ExitStack() as stack:
        partial: Any = None
        target: Path | None = None
        with ranks.raising_together():
            if rank.rank == 0:
                target = free_target(location("folder", folder))
                try:
                    partial = stack.enter_context(folder_in_the_making(target))
                    partial.chmod(0o755)
                except OSError as error:
                    raise TravError(
                        f"{folder} cannot be created: {error.strerror or error}; name another folder."
                    ) from error
        partial = ranks.gather_objects(partial)[0]
        with ranks.raising_together():
            entry, tables, arrays = describe(graph.ids.base, rank.library)
            arrays |= {"src": source, "dst": destination}
            write_graph(partial / f"part_{rank.rank}", {"ids": entry}, arrays, tables)
        with ranks.raising_together():
            if target is not None:
                _finish(partial, target, head_bytes(_head(graph)), folder)


def _finish(partial: Path, target: Path, head: bytes, folder: str) -> None:
    """Write the head, and give the folder its name."""
    try:
        (partial / PARTS).write_bytes(head)
        sync_folder(partial)
        partial.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        if taken(error):
            raise in_use(folder) from error
        raise TravError(
            f"{folder} cannot be written: {error.strerror or error}; name another folder."
        ) from error


def _head(graph: RankGraph) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "parts": graph.rank.size,
        "n_vertices": graph.n_vertices,
        "n_edges": graph.n_edges,
        "directed": graph.directed,
        "src": [name_in_head(name) for name in graph.rows.src],
        "dst": [name_in_head(name) for name in graph.rows.dst],
    }


def _edges(graph: RankGraph) -> Ends:
    """Return the places of both ends of this rank's edges; an undirected edge is on one rank only."""
    rank, numbering, part = graph.rank, graph.numbering, graph.parts.part
    xp, grid = rank.xp, part.grid
    row, column = grid.place(part.rank)
    own = numbering.in_block(numbering.place_of_owned)
    from_place, to_place = (
        xp.concatenate(rank.communicator.all_gather(group, own))
        for group in (grid.ranks_of_column(column), grid.ranks_of_row(row))
    )
    found = [(own[:0], own[:0])]
    for source, target in rows_of(part, 0, grid.local_columns):
        u, v = from_place[source], to_place[target]
        kept = slice(None) if part.directed else u <= v
        found.append((u[kept], v[kept]))
    source, destination = (xp.concatenate(list(ends)) for ends in zip(*found, strict=True))
    return source, destination


def open_parts(rank: Rank, folder: str) -> RankGraph:
    """Open a folder that `save` wrote; every rank calls it and reads some of the parts.

    Raises a `TravError` on all ranks, if any of them does not find the folder, or its files are not those
    that were saved.
    """
    path = Path(folder)
    head: dict[str, Any] = {}
    sides: list[list[Column]] = []
    ends: list[Ends] = []
    times = PhaseTimes(rank.synchronize)
    with times.phase("ids"):
        with rank.communicator.raising_together():
            try:
                head = _read_head(path / PARTS, FORMAT)
                for number in range(rank.rank, head["parts"], rank.size):
                    columns, edges = _read_part(rank, path / f"part_{number}", head)
                    sides.append(columns)
                    ends.append(edges)
            except (KeyError, TypeError, ValueError) as wrong:  # a head that `save` did not write
                raise damaged(path, f"does not hold a graph in parts ({first_line(wrong)})") from wrong
        ids, _ = build_ids(rank, sides)
    if ids.n != head["n_vertices"]:
        raise damaged(path, f"holds {ids.n:,} vertex ids, but should hold {head['n_vertices']:,}")
    n_edges = rank.communicator.sum([sum(len(source) for source, _ in ends)])[0]
    if n_edges != head["n_edges"]:
        raise damaged(path, f"holds {n_edges:,} edges, but should hold {head['n_edges']:,}")
    options = RankBuildOptions(directed=head["directed"])
    places = _by_holder(rank, ids.firsts, ends, max(1, options.round_edges // rank.size))
    names = [*head["src"], *head["dst"]]

    def rows(numbering: Numbering, ends: list[Ends]) -> RankRows:
        source = RankSource(names, rank.library)
        return SavedRankRows(source, head["src"], head["dst"], [], ends, numbering, ids=ids)

    return assemble(rank, ids, places, n_edges, rows, options, times)


def _read_head(path: Path, form: str) -> dict[str, Any]:
    try:
        with open_plain(path) as file:
            content = file.read()
    except OSError as error:
        if (path.parent / HEAD).is_file():
            raise TravError(
                f"{path.parent} holds a graph that was saved from one process, which workers cannot open: "
                f"leave out client= to open it in this process."
            ) from error
        raise TravError(
            f"{path.parent} holds no graph that was saved from workers ({error.strerror or error}): give a "
            f"folder that all of them can read."
        ) from error
    try:
        head = json.loads(content)
        whole = isinstance(head, dict) and head.pop("crc32", None) and head_bytes(head) == content
    except (ValueError, RecursionError):
        whole = False
    if not whole or head.get("format") != form or head.get("version") != VERSION:
        raise damaged(path, "is no longer what was saved")
    return head


def _read_part(rank: Rank, path: Path, head: dict[str, Any]) -> tuple[list[Column], Ends]:
    """Return the ids of a part as columns, and both ends of its edges."""
    part = _read_head(path / HEAD, "rapids_trav graph")
    entry = TableEntry(
        tuple(part["ids"]["dtypes"]), {int(i): bool(of) for i, of in part["ids"]["ordered"].items()}
    )
    tables = ["ids", *(f"categories_{i}" for i in sorted(entry.ordered))]
    for file in ("src.npy", "dst.npy", *(f"{name}.parquet" for name in tables)):
        _check_file(path / file, part["files"][file])
    found = [_read_table(path / f"{name}.parquet") for name in tables]
    categories = dict(zip(sorted(entry.ordered), found[1:], strict=True))
    columns = [rank.library.column(column) for column in columns_of(found[0], categories, entry)]
    ends = []
    for end in ("src", "dst"):
        array = open_array(path / f"{end}.npy")
        if array.dtype != vertex_dtype(head["n_vertices"]) or (
            len(array) and not 0 <= array.min() <= array.max() < head["n_vertices"]
        ):
            raise damaged(path / f"{end}.npy", "holds ends of edges that are not vertices")
        ends.append(move(array, rank.xp))
    return columns, (ends[0], ends[1])


def _check_file(path: Path, saved: dict[str, Any]) -> None:
    try:
        if plain_size(path) != saved["bytes"] or f"{file_checksum(path):08x}" != saved["crc32"]:
            raise damaged(path, "is not what was saved")
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror or error})") from error


def _read_table(path: Path) -> Any:
    import pyarrow.parquet

    with open_plain(path) as file:
        return pyarrow.parquet.ParquetFile(file).read()


def _by_holder(rank: Rank, firsts: np.ndarray, ends: Sequence[Ends], length: int) -> list[Array]:
    """Send edges to the ranks that hold their sources; return both ends in ascending order, int64."""
    xp, exchange = rank.xp, rank.communicator.exchange
    none = xp.empty(0, np.int64)
    found: list[tuple[Array, Array]] = [(none, none)]
    for number, piece in rounds(rank, [source for source, _ in ends], length):
        u, v = (end[piece].astype(np.int64) for end in ends[number]) if number >= 0 else (none, none)
        order = stable_order(xp, u)
        u, v = u[order], v[order]
        cuts = xp.searchsorted(u, xp.asarray(firsts)).tolist()
        received = [exchange(rank.everyone, [end[b:e] for b, e in pairwise(cuts)]) for end in (u, v)]
        found.append((xp.concatenate(received[0]), xp.concatenate(received[1])))
    source, destination = (xp.concatenate(list(of)) for of in zip(*found, strict=True))
    if len(source):
        order = xp.lexsort(xp.stack([destination, source]))
        source, destination = source[order], destination[order]
    return [source, destination]


@dataclass
class SavedRankRows(RankRows):
    """Edges of a graph opened from a folder: both ends and no other columns, ascending from rank to rank."""

    ids: SpreadMap = field(kw_only=True)

    def resolve(self, where: object) -> None:
        """Refuse every filter: there are no columns to filter by."""
        refuse_filter(where)

    def inside(
        self, chosen: Array, where: Hashable | None = None, rows_at_once: int | None = None
    ) -> list[tuple[int, Frame]]:
        """Return this rank's edges whose ends are both chosen; every rank calls it."""
        assert self.ends is not None
        words = self.chosen_everywhere(chosen)
        ((u, v),) = self.ends
        kept = has(words, u) & has(words, v)
        ids = NumberedIds(self.ids, self.numbering)
        columns: dict[Any, Column] = {}
        for names, ends in ((self.src, u), (self.dst, v)):
            columns |= dict(zip(names, ids.decode(ends[kept]), strict=True))
        answers = RankAnswers(self.numbering.rank)
        answers.add(columns, int(kept.sum()))
        return [(self.numbering.rank.rank, frame) for frame in answers.frame()]
