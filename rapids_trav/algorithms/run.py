"""Vertex programs, from the caller's arguments to the frame of the answer.

The engine iterates.  This module has the checks, the conversion of initial and final values (from and to the
caller's ids and order), checkpoints, and the choice of the processor.  The shipped programs share `execute`.

A checkpoint is written every few iterations and after the last, and resumed on request.  With
`checkpoint_every="page"` there is one after each iteration, and a journal beside it of what the pages of the
next iteration change (docs/systems.md, G18).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from rapids_trav.algorithms.bfs import Answer, Traced, trace_columns
from rapids_trav.algorithms.initial_values import starting_state
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import PAGE, ProgramOptions
from rapids_trav.algorithms.request import resolve
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import Engine, is_device
from rapids_trav.engines.runs import BlockSpan, GatherView, IterationTrace, Run, RunOptions
from rapids_trav.errors import TravError, listed, warn
from rapids_trav.frames.columns import Frame, Masked, move
from rapids_trav.ids.maps import Column
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.program import question_bytes
from rapids_trav.programs import checkpoint
from rapids_trav.programs.definition import Program, kind_of
from rapids_trav.programs.digest import program_digest
from rapids_trav.programs.page_journal import PageJournal, new_token
from rapids_trav.programs.parameters import check_parameters, parameter_numbers
from rapids_trav.programs.run_state import RunState
from rapids_trav.storage.block_sizes import least_of_run
from rapids_trav.utilities.atomic_files import array_checksum
from rapids_trav.utilities.locations import location
from rapids_trav.utilities.progress import streamed

OnPage = Callable[[int, int], None]  # called with the pages and bytes streamed since the last call


def run(graph: TraversableGraph, program: Program, initial: object, options: ProgramOptions) -> Answer:
    """Return the frame that `Graph.run` documents."""
    if not isinstance(program, Program):
        raise TravError(
            f"program is {kind_of(program)}: give a rapids_trav.Program, or one of rapids_trav.programs."
        )
    parameters = parameter_numbers(options.parameters)
    question = options.changed(parameters=parameters, where=resolve(graph, options.where))
    weight = graph.rows.weight
    if question.weighted and weight is not None and weight.scale:
        warn(
            f"weight={graph.weight!r} holds decimals, which programs see as integers, times "
            f"{10**weight.scale}: divide by that, or give float64."
        )
    view = gather_view(graph, program, question)
    ranked = graph.ids.rank is not None
    value = np.dtype(program.dtype).itemsize
    given = 2 * value + 1  # the initial values, as given and as cast
    with running(graph, view, program, question, question_bytes(value, ranked, given=given)):
        state = starting_state(graph, program, initial, question.sources)
        done = execute(graph, view, program, state, question, on_page=streamed())
        del state
        columns = graph.id_columns("vertex") | {"value": graph.values.in_order(done.values)}
        return answer(graph, columns, done, question.trace)


def running(
    graph: TraversableGraph,
    view: GatherView,
    program: Program,
    question: ProgramOptions,
    own: int,
    after: Callable[[], int] = lambda: 0,
) -> AbstractContextManager[object]:
    """Hold memory for the arrays of a question other than its run's, until the answer is complete.

    They take `own` bytes per vertex; `after` returns the most bytes that the question takes after the run.
    """
    options = _run_options(graph, view, program, question)
    options = replace(options, asynchronous=bool(options.asynchronous))
    if question.checkpoint_every == PAGE and not is_device(graph.engine):
        own += np.dtype(program.dtype).itemsize  # the journal's copy of the values

    def later() -> int:
        return max(least_of_run(graph.engine.place, view, program, options), after())

    return holding(graph.budget, own * graph.n_vertices, f"the values of program {program.name!r}", later)


def gather_view(graph: TraversableGraph, program: Program, question: ProgramOptions) -> GatherView:
    """Return a view of the graph with the requested direction, filter and weights."""
    _check_schedule(graph, program, question)
    if question.weighted and graph.weight is None:
        raise TravError(f"weighted=True needs weights, and the graph has none: {graph.rows.weight_advice}.")
    pushed = program.may_push and question.mode in ("auto", "push")
    return graph.storage.gather_view(question.direction, question.where, question.weighted, pushed)


def execute(
    graph: TraversableGraph,
    view: GatherView,
    program: Program,
    state: RunState,
    question: ProgramOptions,
    on_page: OnPage | None = None,
) -> Run:
    """Run the program on the engine from `state`, or from a checkpoint if the caller resumes one."""
    if question.mode == "notify" and not program.may_notify:
        raise TravError(
            f"mode='notify' is not for program {program.name!r}, whose total may change the new value of "
            f"every vertex: use mode='pull' or 'auto'."
        )
    check_parameters(program, len(question.parameters))
    settings = question.settings
    if settings.gather not in graph.engine.gathers:
        raise TravError("gather='replicas' is for a GPU: leave it out, or build with engine='cuda'.")
    if settings.of_devices and not is_device(graph.engine):
        warn(
            f"tuning names {listed(settings.of_devices)}, which apply to a GPU, and the graph is on the "
            f"{graph.engine.name} engine: leave them out."
        )
    options = replace(_run_options(graph, view, program, question), on_page=on_page)
    asynchronous = options.asynchronous
    if asynchronous and not program.asynchronous:
        raise TravError(
            f"asynchronous=True is not for program {program.name!r}, whose sums depend on the order of the "
            f"updates: leave it out, or define the program with asynchronous=True if every order leads to "
            f"the same result."
        )
    if question.checkpoint_every == PAGE and not asynchronous:
        raise TravError(
            f"checkpoint_every='page' is for asynchronous runs, and program {program.name!r} does not allow "
            f"them: give a number of iterations."
        )
    iterate = _on_processor(graph.engine, question.processor)
    if question.checkpoint is None:
        return iterate(view, program, state, options)
    with closing(Checkpoints(graph, view, program, state, question, bool(asynchronous))) as checkpoints:
        if question.resume:
            state = checkpoints.resumed(state)
        checkpoints.begin(state)
        record = None if checkpoints.journal is None else checkpoints.page
        options = replace(options, checkpoint=checkpoints.write, record_page=record)
        return iterate(view, program, state, options)


def _run_options(
    graph: TraversableGraph, view: GatherView, program: Program, question: ProgramOptions
) -> RunOptions:
    """Return the options of the engine."""
    return RunOptions(
        weighted=question.weighted,
        max_iterations=question.max_iterations,
        asynchronous=_is_asynchronous(graph, view, program, question),
        parameters=tuple(question.parameters),
        mode=question.mode,
        schedule=question.schedule,
        trace=question.trace,
        gather=question.settings.gather,
        replication=question.settings.replication,
        compress=question.settings.compress,
        n_streams=question.settings.n_streams,
    )


def _is_asynchronous(
    graph: TraversableGraph, view: GatherView, program: Program, question: ProgramOptions
) -> bool | None:
    """Return the caller's choice or, if that is None and it cannot change the values, the engine's.

    Blocks of edges use new values at once, and they are faster than sweeps over edges outside memory.  Over
    edges in memory the engine may choose them during the run, for which None stands.
    """
    if question.asynchronous is not None:
        return question.asynchronous
    if question.checkpoint_every == PAGE:
        return bool(program.asynchronous)
    engine = graph.engine
    if not program.asynchronous or engine.prefers_asynchronous:
        return program.asynchronous
    if not program.may_push or question.schedule == "sweep" or "paths" not in engine.schedules:
        return False
    return None if view.pages is None else True


def _check_schedule(graph: TraversableGraph, program: Program, question: ProgramOptions) -> None:
    """Refuse a schedule that the engine or program does not support, even if the graph is in memory."""
    if question.schedule != "paths":
        return
    if question.schedule not in graph.engine.schedules:
        raise TravError(f"schedule='paths' is not for the {graph.engine.name} engine: use 'auto'.")
    if not program.may_push:
        raise TravError(
            f"schedule='paths' is not for program {program.name!r}, since it supports only min or max "
            f"without apply, total and start: use schedule='sweep' or 'auto'."
        )
    if question.asynchronous is False or not program.asynchronous:
        raise TravError(
            "schedule='paths' uses new values at once, but the run is synchronous: give asynchronous=True as "
            "well, or schedule='sweep'."
        )


def _on_processor(
    engine: Engine, processor: str
) -> Callable[[GatherView, Program, RunState, RunOptions], Run]:
    """Return the `run` function of the processor that the caller chose."""
    if processor == "auto" or processor == engine.processor:
        return engine.run
    if not is_device(engine):
        raise TravError(
            f"processor={processor!r} needs a graph on the GPU: build it with engine='cuda', or use 'auto'."
        )
    if processor == "hybrid":
        return engine.run_hybrid

    def on_host(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        from rapids_trav.engines.cpu import CpuEngine

        done = CpuEngine().run(
            replace(_on_host(view), pages=None, budget=None), program, _on_host(state), options
        )
        return replace(done, values=engine.xp.asarray(done.values))

    return on_host


def _on_host(structure: Any) -> Any:
    """Return a copy of a dataclass with its arrays, and those of adjacencies in it, on the host."""
    moved = {}
    for name, value in vars(structure).items():
        if hasattr(value, "dtype"):
            moved[name] = move(value, np)
        elif hasattr(value, "row_offsets"):
            moved[name] = _on_host(value)
    return replace(structure, **moved)


def answer(graph: TraversableGraph, columns: dict[str, Column], done: Run, traced: bool) -> Answer:
    """Return the columns as a frame, with the trace if the caller asked for it."""
    result = graph.deliver(graph.frame(columns))
    return Traced(result, _trace_frame(graph, done.trace)) if traced else result


def _trace_frame(graph: TraversableGraph, trace: Sequence[IterationTrace]) -> Frame:
    """Return a frame with a row for each iteration, in the library of the edges."""
    types = {"iteration": "int32", "mode": "O", "active": "int64", "edges": "int64", "pages": "int64"}
    types |= {"bytes": "int64", "milliseconds": "float64", "overlap": "float64", "residual": "float64"}
    columns = trace_columns(graph, trace, types)
    if trace and trace[0].blocks is not None:
        own = ("in_place", "reloads", "evictions", "launches", "rounds")  # the others are pages and bytes
        columns |= trace_columns(graph, [one.blocks for one in trace], dict.fromkeys(own, "int64"))
        listed = graph.rows.source.library.column
        for name in BlockSpan._fields:
            lists = [[getattr(span, name) for span in one.block_spans] for one in trace]
            columns[f"span_{name}"] = listed(lists, dtype="object")
    columns["residual"] = Masked(columns["residual"], ~np.isnan(columns["residual"]))
    return graph.hand_out(columns)


class Checkpoints:
    """Checkpoints of one run, identified by a fingerprint of what determines its values; must be closed."""

    def __init__(
        self,
        graph: TraversableGraph,
        view: GatherView,
        program: Program,
        state: RunState,
        question: ProgramOptions,
        asynchronous: bool,
    ) -> None:
        if (digest := program_digest(program)) is None:
            raise TravError(
                f"checkpoint= needs a program that can be recognised, but {program.name!r} uses more "
                f"than plain values (a compiled helper, an object): write that code out in its functions, or "
                f"leave out checkpoint."
            )
        weights = None if view.weights is None else array_checksum(view.weights)
        where = question.where
        self._xp = graph.engine.xp
        self._program = program
        by_page = question.checkpoint_every == PAGE
        self._every = 1 if by_page else int(question.checkpoint_every)
        self._most = question.max_iterations
        self._folder = location("checkpoint", question.checkpoint)
        self._fingerprint = {
            # A message names the first entry that differs.  These three come before "graph", since the edges
            # of `view` follow from them.
            "program": digest,
            "choice of direction": question.direction if graph.directed else "undirected",
            "choice of where": where if where is None or isinstance(where, (str, int)) else repr(where),
            "graph": checkpoint.graph_fingerprint(view.into, graph.n_edges, graph.directed),
            "choice of weights": weights,
            "choice of parameters": list(question.parameters),
            "choice of initial values": array_checksum(state.values),
            "choice of sources": array_checksum(state.active),
            "choice of asynchronous": asynchronous,
        }
        self._writer = checkpoint.Writer(self._folder, self._fingerprint)
        self.journal = None
        if by_page and view.pages is not None:
            self.journal = PageJournal(self._folder / checkpoint.NAME)
        self._begun = Lock()
        self._start: RunState | None = None  # until a checkpoint has been written

    def resumed(self, state: RunState) -> RunState:
        """Return the state of the last checkpoint, or `state` if there is none."""
        found = checkpoint.load(self._folder, self._fingerprint, state)
        if found is None:
            return state
        if self._most is not None and found.iteration > self._most:
            raise TravError(
                f"The checkpoint in {self._folder} is of iteration {found.iteration}, past the limit of "
                f"{self._most} iterations: give a larger limit, or leave out resume=True."
            )
        values, active = (self._xp.asarray(part) for part in (found.values, found.active))
        self._check_values(state.values, values)
        return replace(found, values=values, active=active)

    def _check_values(self, start: Array, values: Array) -> None:
        """Refuse values that the program cannot have reached from its initial values.

        Minima never grow and maxima never fall.  Integers that are handed on unchanged also stay within the
        range of the initial values; `components` uses them as vertex numbers.  Sums are not checked.
        """
        program = self._program
        if not program.may_push or len(values) == 0:
            return
        down = program.reducer == "min"
        moved = (values <= start) if down else (values >= start)
        reached = bool((moved | (start != start)).all())  # NaN stays
        if program.scatter is None and program.gather is None and values.dtype.kind == "i":
            inside = (values >= start.min()) if down else (values <= start.max())
            reached = reached and bool(inside.all())
        if not reached:
            raise checkpoint.refused(self._folder, "holds values that the run cannot have reached")

    def begin(self, state: RunState) -> None:
        """Set the state with which the run begins; the first page that is recorded writes it."""
        self._start = state

    def write(self, state: RunState, last: bool) -> None:
        """Write this state if `checkpoint_every` iterations have passed, or if it is the last of the run."""
        self._start = None
        if self.journal is not None and not last:
            self._follow(state)
        elif last or state.iteration % self._every == 0:
            self._writer.write(state)

    def page(self, first: int, values: Array) -> None:
        """Record the values of the rows from `first` on, which a page has just computed."""
        assert self.journal is not None
        with self._begun:
            if self._start is not None:
                self._follow(self._start)
                self._start = None
        self.journal.record(first, values)

    def close(self) -> None:
        """Close the journal."""
        if self.journal is not None:
            self.journal.close()

    def _follow(self, state: RunState) -> None:
        """Write this state, with which the journal begins anew."""
        assert self.journal is not None
        token = new_token()
        self._writer.write(state, token)
        self.journal.follow(state.values, token)
