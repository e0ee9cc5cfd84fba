"""The operations of pandas or of cuDF, by the name of the library.

A column that is put into a frame is an array, a `Masked` array, or a column of the library itself.  Arrays
may be in host or GPU memory: each library moves them to its own side.
"""

from __future__ import annotations

from rapids_trav.frames.cudf_frames import CudfFrames, ProxiedCudfFrames
from rapids_trav.frames.pandas_frames import PandasFrames, ProxiedPandasFrames

Library = PandasFrames | CudfFrames


def library(name: str, proxied: bool = False) -> Library:
    """Return the operations of "pandas" or "cudf"; if `proxied`, for objects that cudf.pandas wraps."""
    if proxied:
        return ProxiedCudfFrames() if name == "cudf" else ProxiedPandasFrames()
    return CudfFrames() if name == "cudf" else PandasFrames()
