"""The methods of `frame.trav`; `ci/write_stubs.py` writes the stub with their signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from rapids_trav.errors import NOT_COLLECTED, EdgeColumnsError
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.kinds import FrameT


class Derived:
    """Descriptor of a method derived from `Graph` on first access, since the import of that takes long."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, accessor: object, owner: type) -> Callable[..., object]:
        from rapids_trav.accessor.derived import derived

        method = derived(self._name)
        setattr(owner, self._name, method)
        return method if accessor is None else getattr(accessor, self._name)


class TravAccessor(Generic[FrameT]):
    """Graph traversal over the edges of this frame.

    It holds nothing but the frame.  Its other methods build a graph for one question; for several, keep the
    graph: ``graph = edges.trav.graph()``.

    Raises
    ------
    AttributeError
        If the frame has fewer than two columns, so that it cannot hold edges.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> edges.trav.paths(0, [3])
       target  step  vertex
    0       3     0       0
    1       3     1       1
    2       3     2       3
    >>> edges.trav.graph(directed=True)
    <Graph: 5 vertices, 4 edges (src to dst, directed), pandas frames, cpu engine>
    """

    def __init__(self, frame: FrameT) -> None:
        n_columns = len(proxies.held(frame).columns)
        if n_columns < 2:
            count = {0: "no column", 1: "one column"}[n_columns]
            raise EdgeColumnsError(f"A frame of {count} holds no edges: .trav needs a column for each end.")
        self._frame = frame

    graph = Derived()
    bfs = Derived()
    paths = Derived()
    khop = Derived()
    levels = Derived()
    distances = Derived()
    closeness = Derived()
    harmonic = Derived()
    eccentricity = Derived()
    diameter = Derived()
    betweenness = Derived()
    components = Derived()
    sssp = Derived()
    pagerank = Derived()
    run = Derived()


class LazyFrameAccessor:
    """Accessor of lazy polars frames, which says, in place of polars, that they must be collected first."""

    def __init__(self, frame: Frame) -> None:
        """Accept a frame, which is not used."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # special names that Python looks up, for example in copying
            raise AttributeError(name)
        raise EdgeColumnsError(NOT_COLLECTED)
