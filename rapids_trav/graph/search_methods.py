"""Methods of `Graph` that run searches."""

from __future__ import annotations

from collections.abc import Mapping

from rapids_trav.algorithms import bfs, khop, levels, paths
from rapids_trav.algorithms.bfs import Answer
from rapids_trav.algorithms.bfs_stream import BfsStream
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.algorithms.options import Direction, Mode, PathOptions, SearchOptions
from rapids_trav.frames.columns import Frame
from rapids_trav.graph.properties import GraphProperties
from rapids_trav.storage.filters import Filter
from rapids_trav.utilities.progress import ProgressOption


class SearchMethods(GraphProperties):
    """Methods of `Graph` that run searches; `Graph` inherits them."""

    def bfs(
        self,
        sources: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        predecessors: bool = True,
        reached_only: bool = False,
        deterministic: bool = False,
        where: Filter = None,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        trace: bool = False,
        progress: ProgressOption = False,
    ) -> Answer:
        """Run a breadth-first search: the distance of each vertex from the sources, and its predecessor.

        Parameters
        ----------
        sources : id, sequence, Series, or (several-column ids) tuple, list of tuples or frame
            Vertices to start from.
        mode : {"joint", "each"}
            "joint" starts from all sources at once and ignores repeated ones; "each" searches from each
            source independently, in the order given, and adds a column `source`.
        depth_limit : int, optional
            Number of levels to search; 0 returns only the sources, and None sets no limit (in cuGraph, 0 sets
            no limit).
        targets : like `sources`, optional
            Stop after the level in which the last of them is found.  Vertices beyond count as unreached.
        direction : {"out", "in", "both"}
            Follow edges from source to destination, backwards, or both ways; in an undirected graph, all
            three are the same.
        predecessors : bool, default True
            Compute predecessors; without them, the search is cheaper.
        reached_only : bool, default False
            Leave out the vertices that are not reached.
        deterministic : bool, default False
            Return the smallest of the valid predecessors; otherwise, any of them may be returned.  Distances
            are always the same, so this has no effect with ``predecessors=False``.
        where : str, array or Series, optional
            Which edges to follow: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.
        variant : str, default "auto"
            The algorithm to use; `graph.engine.variants` lists those of the engine.
        tuning : mapping, optional
            Settings for research; see `rapids_trav.tuning.SearchTuning`.
        trace : bool, default False
            Return `Traced(result, trace)`, with a row in `trace` for each level.  A graph on many workers
            adds three columns for each worker r: `following_ms_r` for following edges, `exchange_ms_r` for
            messages, with the wait for slower workers, and `bytes_r` sent to others.
        progress : bool or callable, default False
            Show on a terminal or in a notebook what is done; or a function, called every now and then with
            what is done, of how much (None if it is not known) and the unit: "sources".

        Returns
        -------
        DataFrame
            In the library of the edges: `vertex`, in ascending order and the dtype of the ids; `distance`,
            nullable int32, in edges, null where unreached; `predecessor`, in the dtype of the ids, null at
            sources and where unreached.  With ``mode="each"``, the same rows for each source, with a first
            column `source`.

        Raises
        ------
        UnknownVertexError
            If a source or target is not in the graph.
        TravError
            If an option has an invalid value.

        References
        ----------
        S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.bfs(0)
           vertex  distance  predecessor
        0       0         0         <NA>
        1       1         1            0
        2       2         1            0
        3       3         2            1
        4       4         3            3
        >>> graph.bfs([0, 4], depth_limit=1, predecessors=False)
           vertex  distance
        0       0         0
        1       1         1
        2       2         1
        3       3         1
        4       4         0
        """
        options = SearchOptions.from_arguments(locals())
        return self.questions.ask(bfs.bfs, sources, options)

    def bfs_stream(
        self,
        roots: object,
        *,
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        predecessors: bool = True,
        reached_only: bool = False,
        deterministic: bool = False,
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> BfsStream:
        """Search breadth-first from one root after another; iterate over pairs of root and answer.

        On a GPU, searches from the next roots run while the program handles an answer, which keeps the GPU
        busy; each answer is a frame of its own, so that any number of roots can be searched.

        Parameters
        ----------
        roots : iterable or column of ids
            Each is the source of a search.  An iterable is read as the searches advance, on a GPU up to three
            roots beyond the one whose answer was returned last.
        depth_limit, targets, direction, predecessors, reached_only, deterministic, where
            As in `bfs`.
        progress : bool or callable, default False
            As in `bfs`, in "roots" whose answers the program took.

        Returns
        -------
        BfsStream
            An iterator over the root, as given (values of columns as Python's own), and the frame that
            ``bfs(root, ...)`` returns, in the order of the roots.

        Raises
        ------
        UnknownVertexError
            If a root is not in the graph, after the answers for the roots before it.
        TravError
            If an option has an invalid value.

        Notes
        -----
        With a `memory_limit`, searches that run ahead count within it: there are fewer, or none, if they
        would take more than half of the memory that one search leaves.  They also run one by one if the edges
        are not in the GPU's memory, on the CPU, where each uses all threads, and on many workers.

        To ask about all roots at once, and get one frame, use ``bfs(roots, mode="each")``.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> for root, frame in graph.bfs_stream([0, 4, 2]):
        ...     print(root, frame["distance"].max())
        0 3
        4 4
        2 4
        """
        options = SearchOptions.from_arguments(locals())
        return self.questions.bfs_stream(roots, options)

    def paths(
        self,
        sources: object,
        targets: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        direction: Direction = "out",
        deterministic: bool = False,
        where: Filter = None,
        weighted: bool = False,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Find a shortest path from the sources to each target.

        Parameters
        ----------
        sources, targets, mode, depth_limit, direction, deterministic, where, variant, tuning, progress
            As in `bfs`.
        weighted : bool, default False
            Find the path of least weight, as in `sssp`, instead of the one with the fewest edges.  Any of
            several such paths may be returned.

        Returns
        -------
        DataFrame
            `target`, `step` (nullable int32) and `vertex`: one row for each vertex of each path, from its
            source (step 0) to the target, in the order in which targets are first given.  A target that is
            not reached has one row, with null `step` and `vertex`.  With ``mode="each"``, the same rows for
            each source, with a first column `source`; with ``weighted=True``, a last column `distance`, the
            weight of the path up to the vertex.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.paths(0, [4])
           target  step  vertex
        0       4     0       0
        1       4     1       1
        2       4     2       3
        3       4     3       4
        """
        options = PathOptions.from_arguments(locals())
        return self.questions.ask(paths.paths, sources, options)

    def khop(
        self,
        seeds: object,
        k: int,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> Neighborhood:
        """Return the vertices within `k` edges of the seeds, and the edges among them.

        Parameters
        ----------
        seeds : as `sources` in `bfs`
        k : int
            Largest distance from the seeds, in edges; 0 returns the seeds and the edges among them.
        direction : {"out", "in", "both"}
            As in `bfs`.
        where : as in `bfs`, optional
            Which edges to follow, and to return.
        progress : bool or callable, default False
            As in `bfs`.

        Returns
        -------
        Neighborhood
            `vertices`, a frame of `vertex`, in ascending order, and `distance` (nullable int32); `edges`, the
            rows of the edge list (all columns, with their index and in their order) whose two ends are both
            among the vertices.

        Notes
        -----
        If the edges are one frame in memory, and there is no `memory_limit`, the second call builds an index
        of the rows (8 bytes for each edge).  Later calls read the rows of the vertices found, not all rows.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> near = graph.khop(0, 1)
        >>> near.vertices
           vertex  distance
        0       0         0
        1       1         1
        2       2         1
        >>> near.edges
           src  dst
        0    0    1
        1    0    2
        """
        options = SearchOptions(direction=direction, where=where, progress=progress)
        return self.questions.ask(khop.khop, seeds, k, options)

    def levels(
        self,
        sources: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        where: Filter = None,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Count the vertices at each distance.

        Parameters
        ----------
        sources, mode, depth_limit, targets, direction, where, variant, tuning, progress
            As in `bfs`.

        Returns
        -------
        DataFrame
            `distance` (nullable int32), `vertices` (int64) and its running total `cumulative` (int64).  If
            there are unreached vertices, a last row with null distance counts them.  With ``mode="each"``,
            the same rows for each source, with a first column `source`.

        Examples
        --------
        >>> from rapids_trav import datasets
        >>> friends = datasets.load("facebook").trav.graph()
        >>> friends.levels(0).head(3)
           distance  vertices  cumulative
        0         0         1           1
        1         1       347         348
        2         2      1171        1519
        """
        options = SearchOptions.from_arguments(locals() | {"predecessors": False})
        return self.questions.ask(levels.levels, sources, options)
