"""Registration of `.trav` for the frames of pandas, cuDF, Dask and polars.

The accessor is registered for pandas at import.  For the others, whose import takes time and may need a GPU,
it is registered at once if they are already imported, else right after their own import: so it makes no
difference whether `rapids_trav` or they come first.
"""

from __future__ import annotations

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor

from rapids_trav.accessor.methods import LazyFrameAccessor, TravAccessor
from rapids_trav.frames import proxies
from rapids_trav.utilities.import_hooks import after_import


def register() -> None:
    """Register `.trav` on the frames of pandas, and on those of the others once they are imported."""
    register_dataframe_accessor("trav")(TravAccessor)
    after_import(proxies.WRAPPERS, _register_proxies)
    after_import("cudf", _register_cudf)
    after_import("dask.dataframe", _register_dask)
    after_import("polars", _register_polars)
    proxies.stay_outside()


def _register_polars() -> None:
    # polars keeps the accessor with the frame, so that it must hold nothing but the frame.
    import polars

    for kind, register_on, accessor in (
        (polars.DataFrame, polars.api.register_dataframe_namespace, TravAccessor),
        (polars.LazyFrame, polars.api.register_lazyframe_namespace, LazyFrameAccessor),
    ):
        if not hasattr(kind, "trav"):  # polars warns of a namespace that is registered twice
            register_on("trav")(accessor)


def _register_proxies() -> None:
    # Else a proxy would hand over to the accessor of the frame that it holds, and results be of cuDF.
    from cudf.pandas._wrappers.pandas import DataFrame

    DataFrame.trav = pd.DataFrame.__dict__["trav"]


def _register_cudf() -> None:
    from cudf.api.extensions import register_dataframe_accessor

    register_dataframe_accessor("trav")(TravAccessor)


def _register_dask() -> None:
    # A dask_cudf frame is a Dask frame, and inherits the accessor.
    from dask.dataframe.extensions import register_dataframe_accessor

    register_dataframe_accessor("trav")(TravAccessor)
