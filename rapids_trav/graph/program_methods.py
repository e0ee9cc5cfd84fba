"""The questions of `Graph` that vertex programs answer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from rapids_trav.algorithms import components, pagerank, run, sssp
from rapids_trav.algorithms.guard import question
from rapids_trav.programs.definition import Program
from rapids_trav.utilities.progress import shown


class ProgramMethods:
    """Methods of `Graph`, apart for their length."""

    @question
    def run(
        self,
        program: Program,
        *,
        initial: Any,
        sources: Any = None,
        direction: str = "out",
        where: Hashable | None = None,
        weighted: bool = False,
        parameters: Sequence[float] = (),
        max_iterations: int | None = None,
        asynchronous: bool = False,
        mode: str = "auto",
        processor: str = "auto",
        trace: bool = False,
        progress: bool = False,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        resume: bool = False,
        gather: str = "rows",
        replication: int | str = "auto",
    ) -> Any:
        """Run a gather-apply-scatter program: a value for each vertex, from those of its neighbours.

        Parameters
        ----------
        program : Program
            What a vertex computes; see `rapids_trav.Program`, and `examples/vertex_program.py`.
        initial : number, sequence, Series, dict or frame
            Values to start from: one for all; one for each vertex, in ascending order of the ids; or those of
            some vertices, as a dict by id, a Series whose index is ids or a frame with columns `vertex` and
            `value`.  The other vertices then start from the reducer's identity (the largest number for min,
            the smallest for max, 0 for sum; for floats, infinite ones).  A Series with the default index 0,
            1, ... is one value for each vertex, like a column of an answer.
        sources : as in `bfs`, optional
            Vertices that are active at first: those whose initial value says something to their neighbours.
            By default those that `initial` names, else all.  For min and max without `apply`, all others must
            start from the reducer's identity.  For other programs, `mode` leaves the values as they are only
            if a vertex outside `sources` that gathers, while its neighbours have not changed, keeps its
            value; else give no sources.
        direction : {"out", "in", "both"}
            Values travel from source to destination, backwards, or both ways, which are one if undirected.
        where : str, optional
            Boolean edge column: use only the edges where it is true.
        weighted : bool, default False
            Hand the edges' weights to `gather`, and their sums to `scatter` and `total` as degrees.
        parameters : sequence of numbers
            Handed to `apply`.
        max_iterations : int, optional
            End after so many; by default when no vertex is active or the program's tolerance is reached.
        asynchronous : bool, default False
            Use new values in the iteration that makes them, which often takes fewer.  A synchronous run is
            Jacobi's method: its values after each iteration do not depend on the engine.
        mode : {"auto", "pull", "notify", "push"}
            All vertices gather in each iteration; or those that an active vertex notifies; or (min and max
            without `apply`) active vertices hand out their values.  "auto" chooses for each iteration; the
            values are the same, if `sources` (see there) and the program's `active` leave out nothing that
            would change a value.  Programs with `total` always pull.
        processor : {"auto", "cpu", "gpu", "hybrid"}
            Where to run: "auto" is the graph's engine.  "hybrid": the CPU and the GPU share the pages of a
            graph that is larger than the GPU; one that is in its memory it runs alone.
        trace : bool, default False
            Return `Traced(result, trace)`, with a row in `trace` for each iteration.
        progress : bool, default False
            Show on a terminal or in a notebook, as the run goes, how many pages and bytes of a graph larger
            than memory it has streamed.
        checkpoint : path, optional
            Folder in which to keep the state of the run every `checkpoint_every` iterations and after the
            last.
        checkpoint_every : int, default 10
            Only with `checkpoint`.
        resume : bool, default False
            Go on from the checkpoint in that folder, if there is one; one of another graph, program or choice
            of what decides the values is refused.  `mode`, `processor`, `gather`, `checkpoint_every` and what
            ends a run (`max_iterations`; of `pagerank` `tol` and `max_iter`) may be others than before.  A
            run that had ended gives its answer again.
        gather : {"rows", "replicas"}
            On a GPU, for a graph in its memory: each vertex reduces its own edges, or blocks of vertices do
            in shared memory, with copies of each against contention (Garaph).  The README has measurements of
            both; which is faster depends on the graph.
        replication : {"auto", "formula", 1, 2, 4, 8, 16, 32}
            How many copies replicas have, and only with them: one number for all, or by Garaph's formula from
            the edges and vertices of each block, which is what "auto" takes.

        Returns
        -------
        DataFrame
            In the library of the edges: `vertex`, in ascending order and the dtype of the ids; `value`, in
            the dtype of the program (the reducer's identity where nothing has arrived).

        Raises
        ------
        UnknownVertexError
            If a source, or a vertex of `initial`, is not in the graph.
        TravError
            If an option has no meaning, or the program cannot be compiled.

        References
        ----------
        J. Gonzalez et al., "PowerGraph: distributed graph-parallel computation on natural graphs", OSDI 2012.
        L. Ma et al., "Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
        replication", USENIX ATC 2017.
        """
        with shown("run", progress) as on_page:
            return run.run(
                self,  # type: ignore[arg-type]
                program,
                initial,
                sources,
                parameters,
                asynchronous,
                direction=direction,
                where=where,
                weighted=weighted,
                max_iterations=max_iterations,
                mode=mode,
                processor=processor,
                trace=trace,
                on_page=on_page,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
                gather=gather,
                replication=replication,
            )

    @question
    def components(
        self,
        *,
        where: Hashable | None = None,
        asynchronous: bool | None = None,
        mode: str = "auto",
        processor: str = "auto",
        trace: bool = False,
        progress: bool = False,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        resume: bool = False,
    ) -> Any:
        """Weakly connected components: which vertices hang together, whichever way the edges lead.

        Parameters
        ----------
        where : str, optional
            Boolean edge column: use only the edges where it is true.
        asynchronous : bool, optional
            By default what is faster on the engine; the answer is the same.
        mode, processor, trace, progress, checkpoint, checkpoint_every, resume
            As in `run`.

        Returns
        -------
        DataFrame
            `vertex`, in ascending order; `component`, the smallest id in the vertex's component.  Ids of
            several columns give `component_0` and so on.

        References
        ----------
        S. Stergiou, D. Rughwani, K. Tsioutsiouliklis, "Shortcutting label propagation for distributed
        connected components", WSDM 2018.
        """
        with shown("components", progress) as on_page:
            return components.components(
                self,  # type: ignore[arg-type]
                where=where,
                asynchronous=asynchronous,
                mode=mode,
                processor=processor,
                trace=trace,
                on_page=on_page,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
            )

    @question
    def sssp(
        self,
        sources: Any,
        *,
        direction: str = "out",
        where: Hashable | None = None,
        predecessors: bool = True,
        reached_only: bool = False,
        asynchronous: bool | None = None,
        mode: str = "auto",
        processor: str = "auto",
        trace: bool = False,
        progress: bool = False,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        resume: bool = False,
    ) -> Any:
        """Shortest paths by weight: how far each vertex is from the sources, and by which neighbour.

        Parameters
        ----------
        sources : as in `bfs`
            Several are one joint search: the distance from the nearest.
        direction, where, reached_only
            As in `bfs`.
        predecessors : bool, default True
            Without them the search is cheaper.
        asynchronous : bool, optional
            By default what is faster on the engine; the answer is the same.
        mode, processor, trace, progress, checkpoint, checkpoint_every, resume
            As in `run`.

        Returns
        -------
        DataFrame
            `vertex`, in ascending order; `distance`, null where unreached; `predecessor`, null at sources and
            where unreached.  Distances are int64 for integer weights and float64 for others; they are the
            least sums, added along the path in that type, and the same on every engine.  Predecessors form a
            tree, over edges of weight 0 too; of several valid ones any may come.

        Raises
        ------
        UnknownVertexError
            If a source is not in the graph.
        TravError
            If the graph has no weights, or a negative one, or weights whose sums along paths pass the type of
            distances.  An edge of infinite weight leads nowhere.

        References
        ----------
        R. Bellman, "On a routing problem", Quarterly of Applied Mathematics 16, 1958.
        """
        with shown("sssp", progress) as on_page:
            return sssp.sssp(
                self,  # type: ignore[arg-type]
                sources,
                direction=direction,
                where=where,
                predecessors=predecessors,
                reached_only=reached_only,
                asynchronous=asynchronous,
                mode=mode,
                processor=processor,
                trace=trace,
                on_page=on_page,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
            )

    @question
    def pagerank(
        self,
        alpha: float = 0.85,
        *,
        tol: float = 1e-5,
        max_iter: int = 100,
        weighted: bool | None = None,
        dtype: str = "float64",
        where: Hashable | None = None,
        asynchronous: bool = False,
        processor: str = "auto",
        trace: bool = False,
        progress: bool = False,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        resume: bool = False,
        gather: str = "rows",
        replication: int | str = "auto",
    ) -> Any:
        """PageRank: how often a random walker comes by each vertex, in the conventions of cuGraph.

        Parameters
        ----------
        alpha : float, default 0.85
            Probability of following an edge, between 0 and 1; else the walker jumps to any vertex, as it
            always does from one without out-edges.
        tol : float, default 1e-5
            Stop when the sum of the absolute changes is below it.  The ranks then differ from the exact ones
            by less than ``tol * alpha / (1 - alpha)`` in all, and by what rounding makes of them.
        max_iter : int, default 100
            Iterations, at least 1.
        weighted : bool, optional
            Whether edges are followed in proportion to their weights; by default if the graph has weights.
        dtype : {"float64", "float32"}
            Of the ranks; float32, which cuGraph takes for unweighted graphs, is faster on a GPU.
        where : str, optional
            Boolean edge column: use only the edges where it is true.
        asynchronous : bool, default False
            As in `run`.  `tol` means the same: the changes of one pass over the vertices, and with them the
            same bound.  How many passes it takes, and what the ranks are within that bound, depends on the
            engine and its threads.
        processor, trace, progress, checkpoint, checkpoint_every, resume, gather, replication
            As in `run`.

        Returns
        -------
        DataFrame
            `vertex`, in ascending order; `pagerank`, which sum to 1 (within the bound of `tol` if
            asynchronous).  A repeated edge counts as often as it stands; an edge of an undirected graph leads
            both ways, a self-loop once.

        Raises
        ------
        TravError
            If it has not converged in `max_iter` iterations, or weights are negative, infinite, or too large
            or small in their sums at a vertex for ranks of `dtype` to be divided by them.

        References
        ----------
        S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.
        """
        with shown("pagerank", progress) as on_page:
            return pagerank.pagerank(
                self,  # type: ignore[arg-type]
                alpha,
                tol=tol,
                max_iter=max_iter,
                weighted=weighted,
                dtype=dtype,
                where=where,
                asynchronous=asynchronous,
                processor=processor,
                trace=trace,
                on_page=on_page,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
                gather=gather,
                replication=replication,
            )
