"""Methods of `Graph` that run vertex programs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy.typing as npt

from rapids_trav.algorithms import components, pagerank, run, sssp
from rapids_trav.algorithms.bfs import Answer
from rapids_trav.algorithms.options import (
    CheckpointEvery,
    ComponentsOptions,
    Direction,
    PagerankOptions,
    Processor,
    ProgramOptions,
    RunMode,
    Schedule,
    SsspOptions,
)
from rapids_trav.graph.properties import GraphProperties
from rapids_trav.programs.definition import Program
from rapids_trav.storage.filters import Filter
from rapids_trav.utilities.progress import ProgressOption


class ProgramMethods(GraphProperties):
    """Methods of `Graph` that run vertex programs; `Graph` inherits them."""

    def run(
        self,
        program: Program,
        *,
        initial: object,
        sources: object = None,
        direction: Direction = "out",
        where: Filter = None,
        weighted: bool = False,
        parameters: Sequence[float] = (),
        max_iterations: int | None = None,
        asynchronous: bool | None = False,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: bool = False,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> Answer:
        """Run a gather-apply-scatter program, which computes a vertex's value from those of its neighbours.

        Parameters
        ----------
        program : Program
            The computation of a vertex; see `rapids_trav.Program`, and `examples/vertex_program.py`.
        initial : number, sequence, Series, dict or frame
            Values to start from: one number for all vertices; one for each vertex, in ascending order of the
            ids; or values of some vertices, as a dict by id, a Series indexed by id, or a frame with the
            columns `vertex` and `value`.  The other vertices then start from the reducer's identity: for min,
            the largest number of the dtype (infinity for floats); for max, the smallest; for sum, 0.  A
            Series with the default index 0, 1, ... has one value for each vertex, like a column of an answer.
        sources : as in `bfs`, optional
            Vertices that are active at first, that is, whose initial values may change their neighbours.  By
            default, those that `initial` names, else all.  With min or max without `apply`, all other
            vertices must start from the reducer's identity.  With other programs, give `sources` only if a
            vertex outside them keeps its value when it gathers from unchanged neighbours; otherwise the
            values depend on `mode`.  A program with `start` takes none.
        direction : {"out", "in", "both"}
            Values travel from source to destination, backwards, or both ways; in an undirected graph, all
            three are the same.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.
        weighted : bool, default False
            Pass the weights of the edges to `gather`, and their sums, as degrees, to `scatter` and `total`.
        parameters : sequence of numbers
            Passed to `apply`.
        max_iterations : int, optional
            Stop after this many iterations; by default, when no vertex is active or the program's tolerance
            is reached.
        asynchronous : bool, default False
            Use new values in the iteration that computes them, which often takes fewer iterations.  A
            synchronous run is Jacobi's method: its values after each iteration do not depend on the engine.
            None selects the faster one on the engine, if the program reaches the same result either way.
        mode : {"auto", "pull", "notify", "push"}
            "pull": all vertices gather in each iteration.  "notify": only those that an active vertex
            notifies gather.  "push" (min and max without `apply`): active vertices send their values to their
            neighbours.  "auto" chooses for each iteration.  The values are the same, provided that `sources`
            (see there) and the program's `active` leave out nothing that would change a value.  Programs with
            `total` always pull.
        processor : {"auto", "cpu", "gpu", "hybrid"}
            Where to run: "auto" is the graph's engine.  With "hybrid", the CPU and the GPU share the pages of
            a graph that is larger than the GPU's memory, or with ``schedule="paths"`` its blocks; a graph
            that fits runs on the GPU alone.
        schedule : {"auto", "sweep", "paths"}
            The order in which edges are loaded if they are larger than the engine's memory.  "sweep"
            (Garaph): page by page in every iteration, according to `mode`.  "paths" (LargeGraph): in blocks
            of rows, of which those in use stay in memory.  The blocks in memory are iterated until no vertex
            in them is active.  Meanwhile, the absent block with the best active value (the smallest for min,
            the largest for max) is loaded; a block with few active vertices is read in place instead.
            "paths" is for asynchronous programs with min or max, without `apply`, `total` and `start`; it
            reads the fewest bytes if paths are long.  "auto" selects the schedule that measures fastest on
            the CPU engine, and "paths" on a GPU where it is possible.  The values are the same.  For a graph
            in memory, the option is checked but has no effect.
        trace : bool, default False
            Return `Traced(result, trace)`, with a row in `trace` for each iteration.  With blocks, an
            iteration consists of as many launches as do about the work of a sweep.  `pages` and `bytes` then
            count what was loaded, and further columns give the bytes read in place (`in_place`), `reloads`,
            `evictions`, `launches` and the `rounds` within them.  `span_block`, `span_what`, `span_begin` and
            `span_end` are lists, with an entry for each time that a block was loaded ("load"), stayed in
            memory ("stay") or had rows to work on ("work"), in milliseconds from the start; pandas' `explode`
            makes rows of them.  An asynchronous push has one row for all its rounds.  Sums of floats may
            differ in their last digits from those of a run without a trace, which adds them in another order.
        progress : bool or callable, default False
            Show on a terminal or in a notebook what is done, with the residual of a program that has a
            tolerance; for a graph larger than memory, the pages and bytes streamed.  Or a function, called
            with what is done, of how much (None if it is not known) and the unit: "iterations" or "pages".
        checkpoint : path, optional
            Folder in which to save the state of the run every `checkpoint_every` iterations and after the
            last.
        checkpoint_every : int or "page", default 10
            Iterations between checkpoints; only with `checkpoint`.  "page", for asynchronous runs: after each
            iteration and, of edges larger than memory, the values that each page changed as soon as it is
            done (each block that has been loaded and used, with `schedule="paths"`).  A killed run then loses
            the pages in progress.  The values of all vertices are held once more in host memory.
        resume : bool, default False
            Continue from the checkpoint in that folder, if there is one.  A checkpoint of another graph or
            program, or with other options that determine the values, is refused.  `mode`, `processor`,
            `schedule`, `tuning`, `checkpoint_every` and the options that end a run (`max_iterations`; `tol`
            and `max_iter` of `pagerank`) may differ.  A run that had ended returns its answer again.
        tuning : mapping, optional
            Settings for research; see `rapids_trav.tuning.RunTuning`.

        Returns
        -------
        DataFrame
            In the library of the edges: `vertex`, in ascending order and the dtype of the ids; `value`, in
            the dtype of the program (the reducer's identity where no value has arrived).

        Raises
        ------
        UnknownVertexError
            If a source, or a vertex of `initial`, is not in the graph.
        TravError
            If an option has an invalid value, or the program cannot be compiled.

        References
        ----------
        J. Gonzalez et al., "PowerGraph: distributed graph-parallel computation on natural graphs", OSDI 2012.
        L. Ma et al., "Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
        replication", USENIX ATC 2017.
        Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: an efficient dependency-aware
        GPU-accelerated large-scale graph processing", ACM TACO 18(4), 2021.

        Examples
        --------
        >>> import pandas as pd
        >>> from rapids_trav import Program
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> largest = Program("largest", dtype="int64", reducer="max")
        >>> graph.run(largest, initial=[3, 9, 4, 1, 5], max_iterations=1)
           vertex  value
        0       0      9
        1       1      9
        2       2      4
        3       3      9
        4       4      5
        """
        options = ProgramOptions.from_arguments(locals())
        return self.questions.ask(run.run, program, initial, options)

    def components(
        self,
        *,
        where: Filter = None,
        trace: bool = False,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
    ) -> Answer:
        """Find the weakly connected components: vertices that are connected if directions are ignored.

        Trees are linked by the algorithm Afforest, on the CPU and on a GPU: along two edges of every vertex
        first, then along the other edges of the vertices outside the largest component.  Edges outside the
        engine's memory are read once at most.  `run(programs.connected_components())` propagates labels.

        Parameters
        ----------
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.
        trace : bool, default False
            As in `run`.  The trace has up to two rows: mode "hook" for the first neighbours (on the CPU, for
            a graph larger than memory, for whole rows, until a large component is known), and "rest" for the
            others, unless all vertices are connected by then.  `active` counts the vertices whose rows were
            linked, `edges` their neighbours.
        progress : bool or callable, default False
            As in `run`.
        tuning : mapping, optional
            As in `run`, for `programs.connected_components()`, by which labels are propagated then.

        Returns
        -------
        DataFrame
            `vertex`, in ascending order; `component`, the smallest id in the vertex's component, both in the
            dtype of the ids.  Ids of several columns give `component_0` and so on.

        References
        ----------
        M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph
        Sampling", IPDPS 2018.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": ["a", "c"], "dst": ["b", "d"]})
        >>> edges.trav.graph().components()
          vertex component
        0      a         a
        1      b         a
        2      c         c
        3      d         c
        """
        options = ComponentsOptions.from_arguments(locals())
        return self.questions.ask(components.components, options)

    def sssp(
        self,
        sources: object,
        *,
        direction: Direction = "out",
        where: Filter = None,
        predecessors: bool = True,
        reached_only: bool = False,
        asynchronous: bool | None = None,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: bool = False,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> Answer:
        """Find shortest paths by weight: the distance of each vertex from the sources, and its predecessor.

        Parameters
        ----------
        sources : as in `bfs`
            Several sources make one joint search, with the distance from the nearest.
        direction, where, reached_only
            As in `bfs`.
        predecessors : bool, default True
            Compute predecessors; without them, the search is cheaper.
        asynchronous : bool, optional
            By default, whichever is faster on the engine; the answer is the same.
        mode, processor, schedule, trace, progress, checkpoint, checkpoint_every, resume, tuning
            As in `run`, for the vertex program of shortest paths.  Without them and `asynchronous`, an engine
            that has the edges in its memory searches rows sorted by weight instead, which is much faster: a
            GPU sorts them at the first such call, a CPU at the fourth, since that takes as long as three.

        Returns
        -------
        DataFrame
            `vertex`, in ascending order; `distance`, null where unreached; `predecessor`, in the dtype of the
            ids, null at sources and where unreached.  Distances are in the unit of the weights: nullable
            int64 for integer weights, decimals for decimals, and nullable float64 for others.  They are the
            least sums, added along
            the path in that type, and the same on every engine.  Predecessors form a tree, even over edges of
            weight 0; any of several valid predecessors may be returned.

        Raises
        ------
        UnknownVertexError
            If a source is not in the graph.
        TravError
            If the graph has no weights or a negative one, or if sums of weights along paths overflow the type
            of distances; of integers, if the sum of all weights does.  An edge of infinite weight leads
            nowhere.

        References
        ----------
        R. Bellman, "On a routing problem", Quarterly of Applied Mathematics 16, 1958; on a GPU U. Meyer and
        P. Sanders, "Delta-stepping", Journal of Algorithms 49, 2003.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> roads = pd.DataFrame({"src": ["BGO", "OSL"], "dst": ["OSL", "HAM"], "km": [463, 127]})
        >>> roads.trav.graph(weight="km").sssp("BGO")
          vertex  distance predecessor
        0    BGO         0         NaN
        1    HAM       590         OSL
        2    OSL       463         BGO
        """
        options = SsspOptions.from_arguments(locals())
        return self.questions.ask(sssp.sssp, sources, options)

    def pagerank(
        self,
        alpha: float = 0.85,
        *,
        tol: float = 1e-5,
        max_iter: int = 100,
        weighted: bool | None = None,
        dtype: npt.DTypeLike = "float64",
        where: Filter = None,
        asynchronous: bool | None = False,
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: bool = False,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> Answer:
        """Compute PageRank: how often a random walker visits each vertex, with the conventions of cuGraph.

        Parameters
        ----------
        alpha : float, default 0.85
            Probability of following an edge, above 0 and below 1; otherwise the walker jumps to any vertex,
            as it always does from a vertex without out-edges.
        tol : float, default 1e-5
            Stop when the sum of the absolute changes is below this.  The ranks then differ from the exact
            ones by less than ``tol * alpha / (1 - alpha)`` in all, plus rounding errors.
        max_iter : int, default 100
            Largest number of iterations, at least 1.
        weighted : bool, optional
            Whether edges are followed in proportion to their weights; by default, if the graph has weights.
        dtype : {"float64", "float32"}
            Dtype of the ranks; float32, which cuGraph uses for unweighted graphs, is faster on a GPU.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.
        asynchronous : bool, default False
            As in `run`.  `tol` has the same meaning, for the changes of one pass over the vertices, and gives
            the same bound.  The number of passes, and the ranks within that bound, depend on the engine and
            its threads.
        processor, schedule, trace, progress, checkpoint, checkpoint_every, resume, tuning
            As in `run`.

        Returns
        -------
        DataFrame
            `vertex`, in ascending order; `pagerank`, in `dtype`, whose sum is 1 (within the bound of `tol` if
            asynchronous).  A repeated edge counts as often as it occurs; an edge of an undirected graph leads
            both ways, but a self-loop counts once.

        Raises
        ------
        TravError
            If the ranks have not converged in `max_iter` iterations; if weights are negative or infinite, or
            their sum at a vertex is too large or too small for ranks of `dtype` to be divided by it.

        References
        ----------
        S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.

        Examples
        --------
        >>> from rapids_trav import datasets
        >>> friends = datasets.load("facebook").trav.graph()
        >>> friends.pagerank().nlargest(3, "pagerank")
              vertex  pagerank
        3437    3437  0.007575
        107      107  0.006888
        1684    1684  0.006309
        """
        options = PagerankOptions.from_arguments(locals())
        return self.questions.ask(pagerank.pagerank, options)
