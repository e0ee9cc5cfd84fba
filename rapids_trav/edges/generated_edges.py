"""Edges that a function generates at each reading, for edge lists that are not stored anywhere.

One frame at a time is in memory.  A graph within a `memory_limit` is built in several readings, a graph
without one in a single reading; `where` and `khop` read the edges once more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from rapids_trav.edges.edge_source import MIXED_LIBRARIES, EdgeSource, absent, check_columns
from rapids_trav.errors import TravError, type_name
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Array, Frame, library_of
from rapids_trav.frames.libraries import library


class GeneratedEdges(EdgeSource):
    """An `EdgeSource` over a function without arguments that returns a new iterable of frames at each call.

    The function must generate the same edges every time.  Each reading must have the same number of rows, its
    ends must be vertices of the graph, and it must have the graph's weights.  Other edges between the same
    vertices are not detected.
    """

    def __init__(self, make: Callable[[], Iterable[Frame]], engine: object = "auto") -> None:
        self._make = make
        frames = self._frames()
        if frames is self._frames():
            raise TravError(
                "edges is a function that returned the same iterator twice: return a new one at each call, "
                "for example by writing it with yield."
            )
        first = next(frames, None)
        self._form = None if library_of(first) else forms.form_of(first)
        if first is None:
            raise TravError(
                "edges is a function that yields no frames: yield at least one, which may have no rows."
            )
        if self._form is not None:
            self._through_arrow = forms.handed_out(self._form, engine)
            self.library = self._through_arrow
            self._dtypes = self._form.dtypes(forms.kept(self._form, first))
            self.columns = [*self._dtypes]
            return
        proxied, first = proxies.is_proxy(first), proxies.opened(first, proxies.wanted_on_gpu(engine))
        self.library = library(_library_of(first), proxied)
        self.columns = list(first.columns)

    def _read(self, columns: Sequence[Hashable] | None, rows: int | None) -> Iterator[Frame]:
        if self._form is not None:
            yield from self._through_form(self._form, self.columns if columns is None else columns)
            return
        for made in self._frames():
            frame = proxies.opened(made, on_gpu=self.library.name == "cudf")
            if _library_of(frame) != self.library.name:
                raise TravError(MIXED_LIBRARIES)
            check_columns(frame, self.columns)
            yield self.library.native(frame)

    def _through_form(self, form: forms.Form, columns: Sequence[Hashable]) -> Iterator[Frame]:
        """Yield chunks of frames that are read through Arrow, such as those of polars."""
        for made in self._frames():
            found = None if library_of(made) else forms.form_of(made)
            if found is None or found.name != form.name:
                raise TravError(
                    f"The edge frames are of {form.name} and of another library: convert them to one library."
                )
            frame = forms.kept(form, made)
            if missing := self._dtypes.keys() - {*form.columns(frame)}:
                raise absent(min(missing))
            yield self._through_arrow.read(frame, columns)

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        taken = super().rows_of(frame, rows)
        return taken if self._form is None else self._form.like(self.library.hand_out(taken), self._dtypes)

    def _frames(self) -> Iterator[Frame]:
        made = self._make()
        if library_of(made) or not isinstance(made, Iterable):
            raise TravError(
                f"edges is a function that returned an object of type {type_name(made)}: "
                f"return an iterable of frames, for example by writing it with yield."
            )
        return iter(made)


def _library_of(frame: object) -> str:
    kind = library_of(frame)
    if kind not in ("pandas", "cudf"):
        raise TravError(
            f"edges is a function that yielded an object of type {type_name(frame)}: "
            f"yield frames of pandas, polars, pyarrow or cuDF."
        )
    return kind
