"""The accessor `frame.trav`: graph traversal as methods of the frame that holds the edges.

It is registered for pandas at once, and for other libraries, whose imports take time, right after these.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor

from rapids_trav.accessor.methods import LazyFrameAccessor, TravAccessor
from rapids_trav.frames import proxies
from rapids_trav.utilities.import_hooks import after_import

__all__ = ["TravAccessor", "register"]


def register() -> None:
    """Register `.trav` on pandas frames, and on frames of the other libraries once these are imported."""
    register_dataframe_accessor("trav")(TravAccessor)
    after_import(proxies.WRAPPERS, _register_proxies)
    after_import("cudf", partial(_register_by, "cudf.api.extensions"))
    # A dask_cudf frame is a Dask frame and inherits the accessor.
    after_import("dask.dataframe", partial(_register_by, "dask.dataframe.extensions"))
    after_import("polars", _register_polars)
    proxies.stay_outside()


def _register_polars() -> None:
    # polars caches the accessor with the frame, so the accessor must hold nothing but the frame.
    import polars

    for kind, register_on, accessor in (
        (polars.DataFrame, polars.api.register_dataframe_namespace, TravAccessor),
        (polars.LazyFrame, polars.api.register_lazyframe_namespace, LazyFrameAccessor),
    ):
        if not hasattr(kind, "trav"):  # polars warns if a namespace is registered twice
            register_on("trav")(accessor)


def _register_proxies() -> None:
    # Otherwise a proxy would use the accessor of the frame that it wraps, and results would be cuDF frames.
    from cudf.pandas._wrappers.pandas import DataFrame

    DataFrame.trav = pd.DataFrame.__dict__["trav"]


def _register_by(extensions: str) -> None:
    import_module(extensions).register_dataframe_accessor("trav")(TravAccessor)
