"""Checkpoints of a run: written every few iterations and after the last, and resumed on request.

With `checkpoint_every="page"` there is one after each iteration, and a journal beside it of what the pages of
the next iteration change (docs/systems.md, G18).
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import PAGE, ProgramOptions
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.runs import GatherView
from rapids_trav.errors import TravError
from rapids_trav.programs import checkpoint
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import program_digest
from rapids_trav.programs.page_journal import PageJournal, new_token
from rapids_trav.programs.run_state import RunState
from rapids_trav.utilities.atomic_files import array_checksum
from rapids_trav.utilities.locations import location


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
