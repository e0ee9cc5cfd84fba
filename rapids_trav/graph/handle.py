"""`Graph`: the handle that a user keeps."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np

from rapids_trav.algorithms import bfs, khop, levels, paths
from rapids_trav.algorithms.guard import question
from rapids_trav.csr import statistics
from rapids_trav.csr.adjacency import Array
from rapids_trav.edges.sources import Ends
from rapids_trav.frames.columns import Frame
from rapids_trav.graph.program_methods import ProgramMethods
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import COUNTED_BYTES
from rapids_trav.saved import graphs
from rapids_trav.saved.rows import SavedRows
from rapids_trav.storage import build
from rapids_trav.storage.block_sizes import reading
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.in_memory import InMemory
from rapids_trav.storage.memory_errors import telling_of_memory
from rapids_trav.storage.paged import Paged
from rapids_trav.storage.parts import GraphParts
from rapids_trav.utilities.checks import flag
from rapids_trav.utilities.sizes import readable


class Graph(ProgramMethods):
    """A graph over the edges of a frame, built once and asked many times.

    Make one with ``edges.trav.graph(...)`` or `Graph.from_edges`.

    Attributes
    ----------
    n_vertices : int
        Vertices that stand in an edge or were given as `vertices`.
    n_edges : int
        Rows of the edges; self-loops and repeated edges count, and an undirected edge counts once.
    directed : bool
    weight : str or None
        Column that holds the weights.
    build_times : dict
        Seconds that each phase of the building took: "renumber", "degree sort" (if any) and "adjacency".
    engine
        Where its searches run; `engine.name` is "cpu" or "cuda".
    """

    def __init__(
        self,
        rows: RowReader,
        ids: IdMap,
        storage: InMemory,
        *,
        n_edges: int,
        directed: bool,
        weight: Hashable | None,
        build_times: dict[str, float],
    ) -> None:
        self.rows = rows
        self.ids = ids
        self.storage = storage
        self.n_edges = n_edges
        self.directed = directed
        self.weight = weight
        self.build_times = build_times

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool = False,
        weight: Hashable | None = None,
        vertices: Any = None,
        engine: Any = "auto",
        degree_sort: str = "auto",
        memory_limit: int | str | None = None,
        spill: Any = None,
    ) -> Graph:
        """Build a graph from an edge list.

        Parameters
        ----------
        edges : DataFrame, sequence or iterator of them, function, path or paths of Parquet, Dask DataFrame
            One row for each edge.  Several frames are one edge list; so are the files of a folder.  Of a
            sequence or iterator all frames are kept.  A function without arguments gives an iterable of
            frames at each call, anew but always the same edges: one at a time is in memory, so that a graph
            of edges that lie nowhere can be built with a `memory_limit`, in several readings.
        src, dst : str or list of str, optional
            Columns of the two ends: one each, or several that together are an id.  The default is `src` and
            `dst`, else `source` and `destination`.
        directed : bool, default False
            Undirected is the default, as in cuGraph and NetworkX.
        weight : str, optional
            Numeric column without nulls.  It, like every other column, stays addressable by its name.
        vertices : id, sequence, Series or frame, optional
            Vertices that the graph has even if no edge does.  Integers in a list take the dtype of the edges'
            ids if it holds them, of a frame without rows as well: beside float64 ids, 3 is 3.0.
        engine : {"auto", "cpu", "cuda"} or an engine
            "auto" is the GPU for cuDF frames and the CPU for the others.
        degree_sort : {"auto", "radix", "merge", "none"}
            Number the vertices inside the graph by descending degree, with a radix or a merge sort (the
            order is the same), which lets most searches on a GPU look at fewer edges; answers are in the
            caller's ids and order all the same.  "auto" is "radix" on the CUDA engine, "none" on the CPU.
        memory_limit : int or str, optional
            Most of the engine's memory (of the GPU, or of the CPU) that the graph may keep, in bytes or as
            "8GB" or "512MiB".  If it would need more (`rapids_trav.memory.model.build` has the formula), its
            edges are kept outside: for a GPU in the host's memory, for the CPU, or where that is short too,
            in files.  Answers are the same.  Counted is what the graph keeps there, and what a question holds
            there while it runs (`rapids_trav.memory.model.search` has it for searches, `program` for
            programs); the caller's edges, answers and traces are not.  Questions that threads ask at once
            wait for each other's room.  By default a graph that does not fit the memory that is free is kept
            outside likewise.
        spill : path, optional
            Folder for those files, which must be there; by default that for temporary files.  They have no
            names in it, and are gone with the graph however it ends.

        Raises
        ------
        TravError
            If columns are missing, or hold nulls or other things that are no ids; the message names the
            column, the value and the remedy.
        TravMemoryError
            If `memory_limit` is too small for the vertices; the message names one that is enough.  A question
            raises it likewise: a search needs room for its vertices, a program for its longest row as well.

        Notes
        -----
        Ids are integers of any width and sign, whole floats, strings, dates, categoricals or, in columns of
        Python objects, anything with a total order; results give them back in the dtype that came in (two
        integer widths become the wider, integers and floats int64, two sets of categories their values).
        Null, boolean and fractional ids are
        refused.  Self-loops and repeated edges are kept as edges; `n_self_loops` and `n_duplicate_edges`
        count them.  A frame without rows makes a graph of the `vertices` alone.  The edges are read again for
        `where` and `khop`: of frames shallow copies are kept, so that columns replaced or added later are not
        seen, and files must stay as they are.  More edges than a frame holds come as several frames or as
        Parquet.  A graph of pandas frames on the CPU engine can be pickled, edges and all.
        """
        flag("directed", directed)
        with telling_of_memory("building the graph", engine):
            parts = build.build(
                edges,
                src,
                dst,
                directed=directed,
                weight=weight,
                vertices=vertices,
                engine=engine,
                degree_sort=degree_sort,
                memory_limit=memory_limit,
                spill=spill,
            )
        return cls(**vars(parts))

    @classmethod
    def open(
        cls,
        folder: Any,
        *,
        engine: Any = "auto",
        memory_limit: int | str | None = None,
        spill: Any = None,
        verify: bool | None = None,
    ) -> Graph:
        """Open a graph that `save` wrote.

        Parameters
        ----------
        folder : path
        engine : {"auto", "cpu", "cuda"} or an engine
            "auto" is the GPU where there is one with its packages.  Results are cuDF frames on the GPU and
            pandas frames on the CPU; under cudf.pandas they are frames of its `pandas` on both.
        memory_limit, spill
            As in `from_edges`.
        verify : bool, optional
            Compare the checksum of every file and look at every edge: that rows ascend and undirected edges
            lead both ways with one weight.  It takes up to a second for each GB; by default it is done if the
            files have 1 GiB or less.  Of edges and weights it is otherwise only seen that they are as many as
            they were, that they lead to vertices of the graph and that no weight is NaN, which takes a
            twentieth of a second for each GB and what the disk takes: a damaged file may then give other
            answers, but bring nothing down.

        Raises
        ------
        TravError
            If the folder holds no saved graph, or a file of it is missing, cut or altered; if `engine` is
            "auto" and there is a GPU with its packages, but they do not work.

        Notes
        -----
        A folder may come from anywhere.  Checksums tell damage; against malice everything that is read is
        checked before it is used, files have fixed names and no link in the folder is followed.  What a
        stranger's folder holds is then a graph, if not the one that was promised.

        On the CPU the files are mapped: a graph may be larger than memory, and the folder must stay
        as it is while the graph is in use.  The columns of the edges are not saved, so there is nothing for
        `where`; the edges of `khop` have their two ends, of which an undirected one's smaller comes first,
        and the weight, in ascending order.
        """
        with telling_of_memory("opening the graph", engine):
            parts = graphs.open_saved(folder, engine, memory_limit, spill, verify)
        return cls(**vars(parts))

    @question
    def save(self, folder: Any) -> None:
        """Write the graph to a folder, which `Graph.open` opens, here or elsewhere, faster than it was built.

        What the folder holds, `rapids_trav.saved.write` tells.  It is there whole or not at all: what a
        process that was killed has left beside it, under a hidden name, the next saving there removes.

        Parameters
        ----------
        folder : path
            Must not exist yet, or be empty; of a link, the folder that it leads to.

        Raises
        ------
        TravError
            If it cannot be written, for want of room, say.
        """
        parts = GraphParts(
            self.rows, self.ids, self.storage, self.n_edges, self.directed, self.weight, self.build_times
        )
        graphs.save(parts, folder)

    @question
    def bfs(
        self,
        sources: Any,
        *,
        mode: str = "joint",
        depth_limit: int | None = None,
        targets: Any = None,
        direction: str = "out",
        predecessors: bool = True,
        reached_only: bool = False,
        deterministic: bool = False,
        where: Hashable | None = None,
        variant: str = "auto",
        policy: str | None = None,
        trace: bool = False,
    ) -> Any:
        """Breadth-first search: how far each vertex is from the sources, and by which neighbour.

        Parameters
        ----------
        sources : id, sequence, Series, or (several-column ids) tuple, list of tuples or frame
        mode : {"joint", "each"}
            "joint" starts from all sources at once, repeated ones counting once; "each" makes an independent
            search of each source, in the order given and with a column `source`.
        depth_limit : int, optional
            Levels to search; 0 gives the sources alone and None has no limit (cuGraph reads 0 as no limit).
        targets : like `sources`, optional
            Stop after the level in which the last of them is found.  Vertices beyond count as unreached.
        direction : {"out", "in", "both"}
            Follow edges from source to destination, backwards, or both ways; an undirected graph has but one.
        predecessors : bool, default True
            Without them the search is cheaper.
        reached_only : bool, default False
            Leave out the vertices that are not reached.
        deterministic : bool, default False
            Take the smallest of the valid predecessors; otherwise any may come.  Distances are the same
            either way: with ``predecessors=False`` it changes nothing.
        where : str, optional
            Boolean edge column: follow only the edges where it is true.
        variant : str, default "auto"
            Algorithm; `graph.engine.variants` lists those of the engine.
        policy : {"gap", "beamer"}, optional
            When the variant "direction" turns from top-down to bottom-up and back, and only with it; by
            default as the GAP Benchmark Suite does.
        trace : bool, default False
            Return `Traced(result, trace)`, with a row in `trace` for each level.

        Returns
        -------
        DataFrame
            In the library of the edges: `vertex`, in ascending order and the dtype of the ids; `distance`,
            integer, null where unreached; `predecessor`, null at sources and where unreached.  With
            ``mode="each"`` the same for each source, under a first column `source`.

        Raises
        ------
        UnknownVertexError
            If a source or target is not in the graph.
        TravError
            If an option has no meaning.

        References
        ----------
        S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
        """
        return bfs.bfs(
            self,
            sources,
            mode=mode,
            depth_limit=depth_limit,
            targets=targets,
            direction=direction,
            predecessors=predecessors,
            reached_only=reached_only,
            deterministic=deterministic,
            where=where,
            variant=variant,
            policy=policy,
            trace=trace,
        )

    @question
    def paths(self, sources: Any, targets: Any, **options: Any) -> Frame:
        """A shortest path from the sources to each target.

        Parameters
        ----------
        sources, targets : as in `bfs`
        **options
            `mode`, `depth_limit`, `direction`, `deterministic`, `where`, `variant`, `policy` as in `bfs`.

        Returns
        -------
        DataFrame
            `target`, `step`, `vertex`: one row for each vertex of each path, from its source (step 0) to the
            target, in the order of the targets given.  A target that is not reached has one row, with null
            `step` and `vertex`.  With ``mode="each"`` the same for each source, under a column `source`.
        """
        return paths.paths(self, sources, targets, **options)

    @question
    def khop(
        self, seeds: Any, k: int, *, direction: str = "out", where: Hashable | None = None
    ) -> khop.Neighborhood:
        """The vertices within `k` edges of the seeds, and the edges among them.

        Parameters
        ----------
        seeds : as `sources` in `bfs`
        k : int
            0 gives the seeds and the edges among them.
        direction : {"out", "in", "both"}
        where : str, optional
            Boolean edge column: follow, and return, only the edges where it is true.

        Returns
        -------
        Neighborhood
            `vertices`, a frame of `vertex` and `distance` in ascending order; `edges`, the rows of the edge
            list (all columns, with their index and in their order) whose both ends are among the vertices.
        """
        return khop.khop(self, seeds, k, direction=direction, where=where)

    @question
    def levels(self, sources: Any, **options: Any) -> Frame:
        """How many vertices lie at each distance.

        Parameters
        ----------
        sources : as in `bfs`
        **options
            `mode`, `depth_limit`, `targets`, `direction`, `where`, `variant`, `policy` as in `bfs`.

        Returns
        -------
        DataFrame
            `distance`, `vertices`, `cumulative`; the last row, with null distance, counts the unreached if
            there are any.  With ``mode="each"`` the same for each source, under a column `source`.
        """
        return levels.levels(self, sources, **options)

    @question
    def degrees(self, direction: str = "out") -> Frame:
        """Edges at each vertex: frame of `vertex` and `degree`.

        A self-loop is one edge at its vertex, and counts once, also where the directions are "both".
        """
        return levels.degrees(self, direction)

    def memory(self) -> Frame:
        """What the graph holds beside the caller's edges: frame of `structure`, `bytes` and `place`.

        The place is "device" (the GPU's memory), "host" or "disk" (a mapped file).
        """
        place = self.engine.place
        held = [("vertex ids", self.ids.nbytes, place), *self.storage.memory()]
        library = self.rows.source.library
        return self.hand_out(
            {
                "structure": library.column([name for name, _, _ in held], dtype="str"),
                "bytes": np.asarray([size for _, size, _ in held], dtype=np.int64),
                "place": library.column([place for _, _, place in held], dtype="str"),
            }
        )

    @property
    def budget(self) -> Budget | None:
        """The memory limit, what is in use and the most that was; None without a limit."""
        return self.storage.budget

    @property
    def engine(self) -> Any:
        return self.storage.engine

    @property
    def frame_library(self) -> str:
        """The library of the frames that come and go: "pandas" or "cudf"."""
        return self.rows.source.library.name

    @property
    def n_vertices(self) -> int:
        return self.ids.n

    @property
    def edge_columns(self) -> list[Hashable]:
        """Columns of the edge list, each addressable by its name (`where`, `weight`, the edges of `khop`)."""
        return list(self.rows.source.columns)

    @cached_property
    @question
    def n_self_loops(self) -> int:
        """Rows whose two ends are the same vertex; counted at the first asking."""
        stored = self.storage.view().stored
        with reading(self.budget, stored.n_edges, COUNTED_BYTES) as block:
            return statistics.self_loops(stored, self.engine.xp, block)

    @cached_property
    @question
    def n_duplicate_edges(self) -> int:
        """Rows that repeat an edge of an earlier row; counted at the first asking."""
        stored = self.storage.view().stored
        with reading(self.budget, stored.n_edges, COUNTED_BYTES) as block:
            return statistics.duplicate_edges(stored, self.engine.xp, self.directed, block)

    def id_columns(self, name: str, internal: Array = None, nulls: bool = False) -> dict[str, Any]:
        """Internal ids, or all, as the caller's: column `name`; several columns are `name_0` and so on."""
        columns = self.ids.decode(internal, nulls)
        if len(columns) == 1:
            return {name: columns[0]}
        return {f"{name}_{i}": column for i, column in enumerate(columns)}

    def frame(self, columns: dict[str, Any]) -> Frame:
        """A frame of the library that the edges came in."""
        return self.rows.source.library.frame(columns)

    def hand_out(self, columns: dict[str, Any]) -> Frame:
        """A frame as `frame` makes it, for the caller: under cudf.pandas a proxy."""
        return self.rows.source.library.hand_out(self.frame(columns))

    def deliver(self, frame: Frame) -> Frame:
        """A result as the kind of frame that the edges came in: the same, a proxy of it, or a Dask frame."""
        return self.rows.source.library.hand_out(self.rows.source.deliver(frame))

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self.storage, Paged) or isinstance(self.rows, SavedRows):
            raise TypeError(
                "A graph that is kept in files cannot be pickled: save it, and open the folder where it is "
                "needed."
            )
        if (self.engine.place, self.frame_library) != ("host", "pandas"):
            raise TypeError(
                f"A graph of {self.frame_library} frames on the {self.engine.name} engine cannot be pickled: "
                f"pickle the edges and build it where it is needed."
            )
        return self.__dict__

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        src, dst = ("+".join(map(str, side)) for side in (self.rows.src, self.rows.dst))
        return (
            f"<Graph: {self.n_vertices:,} vertices, {self.n_edges:,} edges ({src} to {dst}, {kind}), "
            f"{self.rows.source.library.name} frames, {self.engine.name} engine"
            f"{f', within {readable(self.budget.limit)}' if self.budget else ''}>"
        )
