"""Proxies of cudf.pandas: unwrapped on the way in, and results wrapped on the way out.

Under cudf.pandas, a program's `pandas` consists of proxies, each of which holds either a cuDF object on the
GPU or a pandas object.  A graph is built from the object that a frame's proxy holds, and results are returned
as proxies, so that the program always sees one kind of frame.  In between, this package works with cuDF and
pandas directly: through proxies, each of its steps would be tried on the GPU first.

Nothing here imports cuDF: without cudf.pandas there are no proxies.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rapids_trav.frames.columns import Frame, library_of

MODULE = "cudf.pandas"
WRAPPERS = "cudf.pandas._wrappers.pandas"  # imported by cudf.pandas.install(); defines the proxy classes
_PACKAGE = str(Path(__file__).parents[1])
_SEQUENCES = (list, tuple, set, frozenset)


def active() -> bool:
    """Return whether cudf.pandas replaces pandas by now; if so, keep this package's files out of it."""
    loaded = bool(getattr(sys.modules.get(MODULE), "LOADED", False))
    if loaded:
        stay_outside()
    return loaded


def is_proxy(obj: object) -> bool:
    """Return whether an object is a proxy of cudf.pandas."""
    return active() and bool(sys.modules[MODULE].is_proxy_object(obj))


def held(obj: Any) -> Any:
    """Return the object that a proxy holds, on whichever side it is; return any other object unchanged."""
    return getattr(obj, "_fsproxy_wrapped", obj) if is_proxy(obj) else obj


def opened(obj: Any, on_gpu: bool) -> Any:
    """Return the object that a proxy holds, or a copy of it on the requested side.

    Proxies in sequences, sets and mappings are opened as well.  An object that cannot be on the GPU (cuDF
    may lack the type, or there may be no GPU) is taken from the CPU.  Any other object is returned unchanged.
    """
    if not active():
        return obj
    if is_proxy(obj):
        if on_gpu and hasattr(obj, "as_gpu_object"):
            try:
                return obj.as_gpu_object()
            except Exception:  # a type without a GPU form, or a missing GPU: each raises its own error
                pass
        return obj.as_cpu_object() if hasattr(obj, "as_cpu_object") else obj
    if type(obj) is dict:
        return dict(zip(opened(list(obj), on_gpu), opened(list(obj.values()), on_gpu), strict=True))
    one_of_each = {type(item): item for item in obj} if type(obj) in _SEQUENCES else {}
    if any(is_proxy(item) or kind in (*_SEQUENCES, dict) for kind, item in one_of_each.items()):
        return type(obj)(opened(item, on_gpu) for item in obj)
    return obj


def on_one_side(frames: Sequence[Frame], engine: object) -> tuple[Sequence[Frame], bool]:
    """Return the frames that proxies hold, and whether the first is a proxy.

    All are on the GPU, or all on the CPU if that is asked or needed.
    """
    if not active():
        return frames, False
    proxied, found = is_proxy(frames[0]), [opened(frame, wanted_on_gpu(engine)) for frame in frames]
    if len({library_of(frame) for frame in found}) > 1:
        found = [opened(frame, on_gpu=False) for frame in frames]
    return found, proxied


def wanted_on_gpu(engine: object) -> bool:
    """Return whether an engine, or an engine name, works on GPU frames; "auto" does."""
    name = getattr(engine, "name", engine)
    return not isinstance(name, str) or name != "cpu"  # other objects may not be comparable with a string


def proxied(frame: Frame) -> Frame:
    """Wrap a cuDF or pandas frame in a proxy without moving it; without cudf.pandas, return it unchanged."""
    return sys.modules[MODULE].as_proxy_object(frame) if active() else frame


def stay_outside() -> None:
    """Make `pandas` mean pandas itself in this package's files, although cudf.pandas is installed.

    cudf.pandas decides by the file of the caller.  Without this exception pandas would return proxies of
    arrays to this package, which Numba cannot read if they are on the GPU.
    """
    for finder in sys.meta_path:
        exceptions = getattr(finder, "_denylist", None)
        if exceptions is not None and _PACKAGE not in exceptions:
            finder._denylist = (*exceptions, _PACKAGE)  # type: ignore[attr-defined]
