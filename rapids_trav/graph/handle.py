"""`Graph`, the user's handle of a graph: building, saving and closing it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Generic

from rapids_trav.algorithms.options import Direction
from rapids_trav.distributed import clusters
from rapids_trav.edges.sources import Ends
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.kinds import FrameT
from rapids_trav.graph.centrality_methods import CentralityMethods
from rapids_trav.graph.closed import ClosedQuestions
from rapids_trav.graph.display import graph_html
from rapids_trav.graph.join_methods import JoinMethods
from rapids_trav.graph.local_questions import LocalQuestions
from rapids_trav.graph.program_methods import ProgramMethods
from rapids_trav.graph.search_methods import SearchMethods
from rapids_trav.saved import graphs
from rapids_trav.storage import build
from rapids_trav.storage.build_options import BuildOptions, Order
from rapids_trav.storage.memory_errors import telling_of_memory


class Graph(SearchMethods, CentralityMethods, ProgramMethods, JoinMethods, Generic[FrameT]):
    """A graph over the edges of a frame, built once and queried many times.

    Make one with ``edges.trav.graph(...)`` or `Graph.from_edges`.

    Attributes
    ----------
    n_vertices : int
        Vertices that are in an edge or were given as `vertices`.
    n_edges : int
        Rows of the edges; self-loops and repeated edges count, and an undirected edge counts once.
    directed : bool
    weight : str or None
        Column that holds the weights.
    build_times : dict
        Seconds that each phase of the building took: "renumber", "degree sort" or "locality order" (if
        any) and "adjacency"; of a graph that was opened, "ids" and "adjacency".
    engine
        Where its searches run; `engine.name` is "cpu" or "cuda".
    """

    @classmethod
    def from_edges(
        cls,
        edges: object,
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool | None = None,
        weight: Hashable | None = None,
        vertices: object = None,
        engine: str | Engine = "auto",
        degree_sort: bool | None = None,
        order: Order | None = None,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        tuning: Mapping[str, object] | None = None,
        client: object = None,
        grid: tuple[int, int] | None = None,
        keep_rows: bool = True,
    ) -> Graph:
        """Build a graph from an edge list.

        Parameters
        ----------
        edges : DataFrame, tuple of arrays, sparse matrix, sequence or iterator of frames, function, paths
            One row for each edge.  Frames are of pandas, polars, pyarrow, cuDF or Dask, or anything with
            Arrow's stream (`__arrow_c_stream__`), such as a DuckDB relation; a stream is read once, and kept.
            Answers are frames of the same library, of pandas for what is not named here.  A tuple of two
            arrays, ``(src, dst)``, or with weights of three, gives columns `src`, `dst` and `weight`.  A
            square `scipy.sparse` matrix or array has an edge from its row to its column for each stored
            entry, whose value is its weight, and every row is a vertex.  Several frames are one edge list;
            so are Parquet files and those of a folder.  Of a sequence or iterator all frames are kept.  A
            function without arguments gives an iterable of frames at each call, always with the same edges:
            one at a time is in memory, so that a graph of edges that lie nowhere can be built with a
            `memory_limit`, in several readings.
        src, dst : str or list of str, optional
            Columns of the two ends: one each, or several that together are an id.  The default is `src` and
            `dst`, else `source` and `destination`.
        directed : bool, optional
            By default a graph is undirected, as in cuGraph and NetworkX, and that of a sparse matrix
            directed, as in SciPy.
        weight : str, optional
            Numeric column without nulls; by default there is none, but for the weights in a tuple of three
            arrays or in a sparse matrix.  It, like every other column, stays addressable by its name.
        vertices : id, sequence, Series or frame, optional
            Vertices that the graph has even if no edge does.  Integers in a list take the dtype of the edges'
            ids if it holds them, of a frame without rows as well: beside float64 ids, 3 is 3.0.
        engine : {"auto", "cpu", "cuda"} or an engine
            "auto" is the GPU for cuDF frames and the CPU for the others.
        degree_sort : bool, optional
            Number the vertices inside the graph by descending degree, which lets most searches on a GPU look
            at fewer edges; answers are in the caller's ids and order all the same.  By default it is done on
            the CUDA engine and not on the CPU.
        order : {"degree", "locality", "ids"}, optional
            How the vertices are numbered inside the graph, in place of `degree_sort`: by descending degree,
            by locality, or in ascending order of their ids; answers are the same.  By locality vertices that
            are near each other in the graph have numbers near each other, which helps where its diameter is
            long (grids, road networks), its ids are in no such order, and it is larger than a cache: it
            takes the time of a second build and a search of the whole graph, on one thread of the CPU.  A
            saved graph keeps its order.
        memory_limit : int or str, optional
            Most of the engine's memory (of the GPU, or of the CPU) that the graph and its questions may hold,
            in bytes or as "8GB" or "512MiB".  If it would need more (`rapids_trav.memory.model.build` has the
            formula), its edges are kept outside: for a GPU in the host's memory, for the CPU, or where that
            is short too, in files.  Answers are the same.  Counted is what the graph keeps there, and what a
            question holds there while it runs (`rapids_trav.memory.model.search` has it for searches,
            `program` for programs); the caller's edges, answers and traces are not.  Questions that
            threads ask at once wait for each other's room.  By default a graph that does not fit the memory
            that is free is kept outside likewise.
        spill : path, optional
            Folder for those files, which must be there; by default that for temporary files.  They have no
            names in it, and are gone with the graph however it ends.
        tuning : mapping, optional
            Settings for research; see `rapids_trav.tuning.BuildTuning`.
        client : distributed.Client, optional
            Of a Dask frame: the cluster whose workers hold the graph, by default that of the current client.
            Each worker keeps its partitions of the edges and its part of the graph, and answers are Dask
            frames in its memory; `docs/dask.md` has the rest.  Without any client the frame is computed into
            this process, and a warning says so.
        grid : (int, int), optional
            Of a graph on several workers: rows and columns that they are arranged in, by default as square
            as their number allows.
        keep_rows : bool, default True
            Whether workers keep all columns of the edges, for `where` and the edges of `khop`; without them
            they keep the graph alone, and need less memory.

        Raises
        ------
        TravError
            If columns are missing, or hold nulls or other things that are not ids; the message names the
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
        options = BuildOptions(
            src=src,
            dst=dst,
            directed=directed,
            weight=weight,
            vertices=vertices,
            engine=engine,
            degree_sort=degree_sort,
            order=order,
            memory_limit=memory_limit,
            spill=spill,
            tuning=tuning,
            client=client,
            grid=grid,
            keep_rows=keep_rows,
        )
        if (cluster := clusters.cluster_for(edges, options)) is not None:
            return cls(clusters.build(edges, options, cluster))
        with telling_of_memory("building the graph", engine):
            parts = build.build(edges, options)
        return cls(LocalQuestions(**vars(parts)))

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        engine: str | Engine = "auto",
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        verify: bool | None = None,
        client: object = None,
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
            Compare the checksum of every file, and check of every edge that rows are in ascending order and
            undirected edges lead both ways with one weight.  This takes up to a second for each GB; by
            default it is done if the files have 1 GiB or less.  Otherwise only the number of edges and
            weights is checked, that edges lead to vertices of the graph, and that no weight is NaN.  That
            takes a twentieth of a second for each GB, and the time to read the files.  A damaged file may
            then give wrong answers, but cannot cause a crash.
        client : distributed.Client, optional
            Of a graph that was saved from the workers of a cluster: the client of the one that opens it, by
            default the current one.  It may have more or fewer workers; all must reach the folder.

        Raises
        ------
        TravError
            If the folder holds no saved graph, or a file of it is missing, cut or altered; if `engine` is
            "auto" and there is a GPU with its packages, but they do not work.

        Notes
        -----
        A folder may come from an untrusted source.  Checksums detect damage.  As a protection against malice,
        everything that is read is checked before it is used, files have fixed names, and no link in the
        folder is followed.  The folder of a stranger then yields a valid graph, though not necessarily the
        one that was promised.

        On the CPU the files are mapped: a graph may be larger than memory, and the folder must not change
        while the graph is in use.  The columns of the edges are not saved, so `where` cannot be used.  The
        edges of `khop` have their two ends and the weight, in ascending order; the smaller end of an
        undirected edge comes first.
        """
        if (cluster := clusters.cluster_of_parts(folder, client)) is not None:
            clusters.refuse_local(memory_limit=memory_limit, spill=spill, verify=verify)
            return cls(clusters.open_saved(folder, engine, cluster))
        with telling_of_memory("opening the graph", engine):
            parts = graphs.open_saved(folder, engine, memory_limit, spill, verify)
        return cls(LocalQuestions(**vars(parts)))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph to a folder, which `Graph.open` opens, here or elsewhere, faster than it was built.

        `rapids_trav.saved.write` documents the files of the folder.  The folder is complete or does not
        exist.  If a process is killed, it leaves a partial folder beside it, under a hidden name, which the
        next save to the same place removes.  Column names that are neither strings nor integers come back as
        strings.

        Parameters
        ----------
        folder : path
            Must not exist yet, or be empty; of a link, the folder that it leads to.

        Raises
        ------
        TravError
            If it cannot be written, for example for lack of room.
        """
        self.questions.save(folder)

    def degrees(self, direction: Direction = "out") -> Frame:
        """Return the number of edges at each vertex, as a frame of `vertex` and `degree`.

        A self-loop is one edge at its vertex and counts once, also if the direction is "both".
        """
        return self.questions.degrees(direction)

    def memory(self) -> Frame:
        """List the memory of the graph beside the caller's edges: frame of `structure`, `bytes` and `place`.

        The place is "device" (the GPU's memory), "host" or "disk" (a mapped file).
        """
        return self.questions.memory()

    @cached_property
    def n_self_loops(self) -> int:
        """Number of rows whose two ends are the same vertex; counted on first access."""
        return self.questions.n_self_loops()

    @cached_property
    def n_duplicate_edges(self) -> int:
        """Number of rows that repeat an edge of an earlier row; counted on first access."""
        return self.questions.n_duplicate_edges()

    def close(self) -> None:
        """Free the memory that the graph holds, here and on workers; every later question is refused.

        Answers remain valid.  ``with edges.trav.graph() as graph:`` closes the graph at the end of the block.
        A graph without references is closed as well.
        """
        questions, self.questions = self.questions, ClosedQuestions()
        questions.close()

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if isinstance(self.questions, ClosedQuestions):
            return "<Graph: closed>"
        kind = "directed" if self.directed else "undirected"
        src, dst = ("+".join(map(str, side)) for side in self.questions.ends)
        return (
            f"<Graph: {self.n_vertices:,} vertices, {self.n_edges:,} edges ({src} to {dst}, {kind}), "
            f"{self.frame_library} frames, {self.questions.location}>"
        )

    def _repr_html_(self) -> str:
        return graph_html(repr(self), self.questions)
