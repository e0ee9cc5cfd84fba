"""The proxies of cudf.pandas: what they hold on the way in, and results as proxies on the way out.

Under cudf.pandas the `pandas` of a program is made of proxies, each of which holds an object of cuDF, on the
GPU, or of pandas.  A graph is built from what a frame's proxy holds, and results are handed out as proxies,
so that a program meets one kind of frame throughout.  In between, this package works with cuDF and pandas
themselves: through proxies each of its steps would be tried on the GPU first.

Nothing here imports cuDF: without cudf.pandas there are no proxies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rapids_trav.frames.columns import Frame

MODULE = "cudf.pandas"
WRAPPERS = "cudf.pandas._wrappers.pandas"  # imported by cudf.pandas.install(); it makes the proxies' classes
_PACKAGE = str(Path(__file__).parents[1])
_SEQUENCES = (list, tuple, set, frozenset)


def active() -> bool:
    """Return whether cudf.pandas stands in for pandas in this process."""
    return bool(getattr(sys.modules.get(MODULE), "LOADED", False))


def is_proxy(obj: object) -> bool:
    """Return whether an object is a proxy of cudf.pandas."""
    return active() and bool(sys.modules[MODULE].is_proxy_object(obj))


def held(obj: Any) -> Any:
    """Return what a proxy holds, wherever that is; any other object as it is."""
    return getattr(obj, "_fsproxy_wrapped", obj) if is_proxy(obj) else obj


def opened(obj: Any, on_gpu: bool) -> Any:
    """Return what a proxy holds, or a copy of it on the side that is wanted; any other object as it is.

    Proxies in sequences, sets and mappings are opened likewise.  What cannot be on the GPU (cuDF may lack the
    type, or there may be no GPU) is taken from the CPU.
    """
    if not active():
        return obj
    if is_proxy(obj):
        if on_gpu and hasattr(obj, "as_gpu_object"):
            try:
                return obj.as_gpu_object()
            except Exception:  # of a type without a GPU's form, of a missing GPU: each has its own
                pass
        return obj.as_cpu_object() if hasattr(obj, "as_cpu_object") else obj
    if type(obj) is dict:
        return dict(zip(opened(list(obj), on_gpu), opened(list(obj.values()), on_gpu), strict=True))
    if type(obj) in _SEQUENCES and any(_may_hold_proxies(item) for item in _one_of_each_type(obj)):
        return type(obj)(opened(item, on_gpu) for item in obj)
    return obj


def _one_of_each_type(items: Iterable[object]) -> Iterable[object]:
    return {type(item): item for item in items}.values()


def _may_hold_proxies(item: object) -> bool:
    return is_proxy(item) or type(item) in (*_SEQUENCES, dict)


def wanted_on_gpu(engine: object) -> bool:
    """Return whether an engine, or the name of one, works on the GPU's frames; "auto" does."""
    name = getattr(engine, "name", engine)
    return not isinstance(name, str) or name != "cpu"  # other objects may not compare with a word


def proxied(frame: Frame) -> Frame:
    """Return a frame of cuDF or pandas as a proxy under cudf.pandas, without moving it; else as it is."""
    return sys.modules[MODULE].as_proxy_object(frame) if active() else frame


def stay_outside() -> None:
    """Make `pandas` in the files of this package pandas itself, also if cudf.pandas was installed first.

    cudf.pandas decides by the file of the caller.  Were its list of exceptions to go, results would be the
    same and small steps slower.
    """
    for finder in sys.meta_path:
        exceptions = getattr(finder, "_denylist", None)
        if exceptions is not None and _PACKAGE not in exceptions:
            finder._denylist = (*exceptions, _PACKAGE)  # type: ignore[attr-defined]
