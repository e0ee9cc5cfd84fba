"""`Graph`, the user's handle of a graph: building, saving and closing it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Generic

from rapids_trav.algorithms import levels
from rapids_trav.algorithms.options import Direction
from rapids_trav.distributed import clusters
from rapids_trav.edges.sources import DaskEdges, open_edges
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.kinds import FrameT
from rapids_trav.graph import local
from rapids_trav.graph.centrality_methods import CentralityMethods
from rapids_trav.graph.join_methods import JoinMethods
from rapids_trav.graph.local import ClosedQuestions, LocalGraph, graph_html
from rapids_trav.graph.program_methods import ProgramMethods
from rapids_trav.graph.properties import Questions
from rapids_trav.graph.search_methods import SearchMethods
from rapids_trav.saved import graphs
from rapids_trav.storage import build
from rapids_trav.storage.build_options import BuildOptions, Ends, Order
from rapids_trav.storage.memory_errors import as_memory_error, telling_of_memory
from rapids_trav.utilities.progress import ProgressOption, shown


class Graph(SearchMethods, CentralityMethods, ProgramMethods, JoinMethods, Generic[FrameT]):
    """A graph over the edges of a frame, built once and queried many times.

    Make one with ``edges.trav.graph(...)`` or `Graph.from_edges`; ``Graph(edges, ...)`` is the latter.

    Attributes
    ----------
    n_vertices : int
        Number of vertices, which are in an edge or were given as `vertices`.
    n_edges : int
        Number of rows of the edges; self-loops and repeated edges count, and an undirected edge counts once.
    directed : bool
        Whether edges lead only from source to destination.
    weight : str or None
        Column that holds the weights.
    build_times : dict
        Seconds that each phase of the build took: "renumber", "degree sort" or "locality order" (if any)
        and "adjacency"; for an opened graph, "ids" and "adjacency".
    engine
        The engine that runs its searches; `engine.name` is "cpu" or "cuda".

    Examples
    --------
    >>> from rapids_trav import datasets
    >>> friends = datasets.load("facebook").trav.graph()
    >>> friends
    <Graph: 4,039 vertices, 88,234 edges (src to dst, undirected), pandas frames, cpu engine>
    >>> friends.n_vertices, friends.directed, friends.engine.name
    (4039, False, 'cpu')
    """

    def __init__(self, edges: object, src: Ends = None, dst: Ends = None, **options: object) -> None:
        self.questions = self.from_edges(edges, src, dst, **options).questions  # type: ignore[arg-type]

    @classmethod
    def _asking(cls, questions: Questions) -> Graph:
        """Return the graph that hands its questions to this object."""
        graph = object.__new__(cls)
        graph.questions = questions
        return graph

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
        devices: str | Sequence[int] | None = None,
        keep_rows: bool = True,
        progress: ProgressOption = False,
    ) -> Graph:
        """Build a graph from an edge list.

        Parameters
        ----------
        edges : DataFrame, tuple of arrays, sparse matrix, sequence or iterator of frames, function, paths
            One row for each edge.  A frame is one of pandas, polars, pyarrow, cuDF or Dask, or any object
            with an Arrow stream (`__arrow_c_stream__`), such as a DuckDB relation; a stream is read once and
            kept.  Answers are frames of the same library, or of pandas if it is not named here.  A tuple of
            two arrays, ``(src, dst)``, or of three with the weights, gives the columns `src`, `dst` and
            `weight`.  A square `scipy.sparse` matrix or array has an edge from row to column for each stored
            entry, whose value is the weight, and every row is a vertex.  Several frames form one edge list,
            and so do several Parquet files or those of a folder.  All frames of a sequence or iterator are
            kept.  A function without arguments returns an iterable of frames at each call, always with the
            same edges.  Only one of its frames is in memory at a time: with a `memory_limit`, a graph can be
            built in several passes from edges that are not stored anywhere.
        src, dst : str or list of str, optional
            Columns of the two ends: one each, or several that together form an id.  The default is `src` and
            `dst`, else `source` and `destination`, else the only pair of usual names (`from` and `to`, ...).
        directed : bool, optional
            By default, a graph is undirected, as in cuGraph and NetworkX, except that the graph of a sparse
            matrix is directed, as in SciPy.
        weight : str, optional
            Numeric column without nulls.  Decimals are exact, as integers of 64 bits in units of their last
            digit, and so are sums of them; if all together do not fit, they are rounded to float64, with a
            `TravWarning`.  By default, a graph has no weights, unless it is built from a tuple of three
            arrays or a sparse matrix.  Like any other column, it stays addressable by its name.
        vertices : id, sequence, Series or frame, optional
            Vertices to include even if no edge has them.  Integers in a list take the dtype of the edges'
            ids if it can hold them, even if the frame has no rows: beside float64 ids, 3 is 3.0.
        engine : {"auto", "cpu", "cuda"} or an engine
            "auto" selects the GPU for cuDF frames and the CPU for all others.
        degree_sort : bool, optional
            Number the vertices inside the graph by descending degree, so that most searches on a GPU examine
            fewer edges; answers still have the caller's ids and order.  By default, this is done on the CUDA
            engine but not on the CPU.
        order : {"degree", "locality", "ids"}, optional
            How to number the vertices inside the graph, instead of `degree_sort`: by descending degree, by
            locality, or in ascending order of their ids; answers are the same.  With "locality", vertices
            that are near each other in the graph get nearby numbers.  This helps if the graph has a large
            diameter (grids, road networks), its ids do not already have such an order, and it is larger than
            a cache.  It costs the time of a second build and of a search of the whole graph, on one thread
            of the CPU.  A saved graph keeps its order.
        memory_limit : int or str, optional
            Upper bound on the engine's memory (of the GPU, or of the CPU) that the graph and its questions
            may hold, in bytes or as "8GB" or "512MiB".  If they would need more
            (`rapids_trav.memory.model.build` has the formula), the edges are kept outside: for a GPU, in the
            host's memory or, if that is short too, in files; for the CPU, in files.  Answers are the same.
            The limit covers what the graph keeps in that memory and what a question holds there while it
            runs (`rapids_trav.memory.model.search` has the formula for searches, `program` for programs),
            but not the caller's edges, answers and traces.  Questions that several threads ask at once wait
            for each other's memory.  Without a limit, a graph that does not fit the free memory is kept
            outside in the same way.
        spill : path, optional
            Existing folder for those files; by default, the folder for temporary files.  The files have no
            names there and vanish with the graph, however it ends.
        tuning : mapping, optional
            Settings for research; see `rapids_trav.tuning.BuildTuning`.
        client : distributed.Client, optional
            For a Dask frame: the cluster whose workers hold the graph; by default, that of the current
            client.  Each worker keeps its partitions of the edges and its part of the graph, and answers are
            Dask frames in the workers' memory; see `docs/dask.md`.  Without any client, the frame is
            computed into this process, with a warning.
        grid : (int, int), optional
            For a graph on several workers: the rows and columns in which to arrange them; by default, as
            close to a square as their number allows.
        devices : "all" or sequence of int, optional
            GPUs of this process that hold the edges together and search them together, by their numbers;
            each must reach the others' memory, as GPUs with NVLink do.  One of them is the current GPU, whose
            memory the edges are read from and the answers are written to.  Searches for `bfs`, `paths`,
            `levels` and `khop` run on all of them; everything else runs on the current one, which then holds
            all edges as well.  See `docs/devices.md`.
        keep_rows : bool, default True
            Whether workers keep all columns of the edges, for `where` and the edges of `khop`.  If False,
            they keep only the graph and need less memory.
        progress : bool or callable, default False
            Show on a terminal or in a notebook what is done; or a function, called every now and then with
            what is done, of how much (None if it is not known) and the unit: "rows" that were read, then
            "edges" of which rows of neighbours were built; on a cluster, "partitions" that have reached the
            workers, then "phases" of three.

        Raises
        ------
        TravError
            If columns are missing, or hold nulls or other things that are not ids; the message names the
            column, the value and the remedy.
        TravMemoryError
            If `memory_limit` is too small for the vertices; the message names a sufficient one.  Questions
            raise it too: a search needs memory for its vertices, and a program also for its longest row.

        Notes
        -----
        Ids are integers of any width and sign, whole floats, strings, dates, categoricals or, in columns of
        Python objects, anything with a total order.  Answers return them in the dtype of the edges.  If the
        two ends differ in dtype, two integer widths become the wider one, integers and floats become int64,
        and two sets of categories become their values.  Null, boolean and fractional ids are refused.
        Self-loops and repeated edges are kept as edges; `n_self_loops` and `n_duplicate_edges` count them.
        A frame without rows makes a graph of only the `vertices`.  The edges are read again for `where` and
        `khop`: the graph keeps shallow copies of frames, which do not have columns that are replaced or added
        later, and files must not change.  If there are more edges than one frame can hold, give several
        frames or Parquet files.  A graph of pandas frames on the CPU engine can be pickled with its edges.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from rapids_trav import Graph
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> Graph.from_edges(edges)  # the same as edges.trav.graph()
        <Graph: 5 vertices, 4 edges (src to dst, undirected), pandas frames, cpu engine>
        >>> Graph.from_edges((np.array([0, 0, 1]), np.array([1, 2, 3])), directed=True)
        <Graph: 4 vertices, 3 edges (src to dst, directed), pandas frames, cpu engine>
        """
        given = locals()
        del given["cls"], given["edges"]
        options = BuildOptions(**given)
        with shown("building the graph", progress):
            try:
                source = open_edges(edges, engine)
                cluster = None
                if isinstance(source, DaskEdges) or options.for_workers:
                    cluster = clusters.cluster_for(source, options)
                questions: Questions = (
                    build.build(source, options, LocalGraph)
                    if cluster is None
                    else clusters.build(source, options, cluster)
                )
                return cls._asking(questions)
            except (MemoryError, RuntimeError) as error:
                raise as_memory_error(error, "building the graph", engine)  # noqa: B904 -- itself, or has its cause

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
        progress: ProgressOption = False,
    ) -> Graph:
        """Open a graph that `save` wrote.

        Parameters
        ----------
        folder : path
            Folder that `save` wrote.
        engine : {"auto", "cpu", "cuda"} or an engine
            "auto" selects the GPU if there is one with its packages.  Answers are cuDF frames on the GPU and
            pandas frames on the CPU; under cudf.pandas, they are frames of its `pandas` on both.
        memory_limit, spill
            As in `from_edges`.
        verify : bool, optional
            Compare the checksum of every file and check every edge: rows must be in ascending order, and
            undirected edges must lead both ways with one weight, and path layouts must hold the graph's
            edges.  This takes up to a second per GB; by default, it is done if the files have 1 GiB or less.
            Otherwise, only these are checked: the numbers of edges, paths and weights, that edges lead to
            vertices of the graph, and that no weight is NaN.  That takes a twentieth of a second per GB, plus
            the time to read the files.  A damaged file may then give wrong answers, but cannot cause a crash.
        client : distributed.Client, optional
            For a graph that was saved from the workers of a cluster: the client of the cluster that opens
            it; by default, the current one.  That cluster may have more or fewer workers; all of them must
            be able to read the folder.
        progress : bool or callable, default False
            As in `from_edges`, in "bytes" that were checked.

        Raises
        ------
        TravError
            If the folder holds no saved graph, or one of its files is missing, truncated or altered; if
            `engine` is "auto" and there is a GPU with its packages, but they do not work.

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

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save(folder)
        ...     rapids_trav.Graph.open(folder, engine="cpu").diameter()
        4
        """
        if (cluster := clusters.cluster_of_parts(folder, client)) is not None:
            clusters.refuse_local(memory_limit=memory_limit, spill=spill, verify=verify)
            with shown("opening the graph", progress):
                return cls._asking(clusters.open_saved(folder, engine, cluster))
        with telling_of_memory("opening the graph", engine), shown("opening the graph", progress):
            graph = graphs.open_saved(folder, engine, memory_limit, spill, verify, LocalGraph)
        return cls._asking(graph)

    def save(self, folder: str | os.PathLike[str], *, progress: ProgressOption = False) -> None:
        """Write the graph to a folder, from which `Graph.open` loads it faster than it was built.

        `rapids_trav.saved.write` documents the files of the folder.  The folder is complete or does not
        exist.  A process that is killed leaves a partial folder beside it, under a hidden name, which the
        next save to the same place removes.  Ids, edges and weights are kept, but no other columns: `khop`
        of an opened undirected graph returns each edge with the smaller id first, in ascending order.  Column
        names that are neither strings nor integers become strings.  Path layouts that were computed are saved
        as well; releases that keep none then refuse the folder.

        Parameters
        ----------
        folder : path
            Folder that is empty or does not exist yet; a link stands for the folder to which it points.
        progress : bool or callable, default False
            As in `from_edges`, in "bytes" that were written.

        Raises
        ------
        TravError
            If the folder cannot be written, for example because the disk is full.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save(f"{folder}/tree")
        ...     rapids_trav.Graph.open(f"{folder}/tree", engine="cpu").n_edges
        4
        """
        with shown("saving the graph", progress):
            self.questions.ask(local.save, folder)

    def degrees(self, direction: Direction = "out") -> Frame:
        """Return the number of edges at each vertex, as a frame of `vertex` and `degree` (int64).

        A self-loop is one edge at its vertex and counts once, even if the direction is "both".

        Examples
        --------
        >>> from rapids_trav import datasets
        >>> friends = datasets.load("facebook").trav.graph()
        >>> friends.degrees().nlargest(3, "degree")
              vertex  degree
        107      107    1045
        1684    1684     792
        1912    1912     755
        """
        return self.questions.ask(levels.degrees, direction)

    def memory(self) -> Frame:
        """List the memory that the graph holds in addition to the caller's edges, by structure.

        The frame has `structure`, `bytes` (int64) and `place`: "device" (the GPU's memory), "host" or "disk"
        (a mapped file).

        Examples
        --------
        >>> from rapids_trav import datasets
        >>> friends = datasets.load("facebook").trav.graph()
        >>> friends.memory()
                  structure   bytes place
        0        vertex ids       0  host
        1  CSR, symmetrised  722032  host
        """
        return self.questions.ask(local.memory)

    @cached_property
    def n_self_loops(self) -> int:
        """Number of rows whose two ends are the same vertex, counted on first access."""
        return self.questions.ask(local.n_self_loops)

    @cached_property
    def n_duplicate_edges(self) -> int:
        """Number of rows that repeat an edge of an earlier row, counted on first access."""
        return self.questions.ask(local.n_duplicate_edges)

    def close(self) -> None:
        """Free the memory that the graph holds, here and on workers; later questions raise an error.

        Answers remain valid.  ``with edges.trav.graph() as graph:`` closes the graph at the end of the block.
        A graph is also closed when nothing refers to it any more.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.close()
        >>> graph
        <Graph: closed>
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
            f"<Graph: {self.n_vertices:,} {'vertex' if self.n_vertices == 1 else 'vertices'}, "
            f"{self.n_edges:,} {'edge' if self.n_edges == 1 else 'edges'} ({src} to {dst}, {kind}), "
            f"{self.frame_library} frames, {self.questions.location}>"
        )

    def _repr_html_(self) -> str:
        return graph_html(repr(self), self.questions)
