"""Lists of Dask frames are refused with a message that says how to combine them."""

import pandas as pd
import pytest

from rapids_trav import Graph, TravError

dask = pytest.importorskip("dask.dataframe")

FRAME = pd.DataFrame({"src": [0], "dst": [1]})
DASK = object()  # stands for another Dask frame


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (
            [],
            r"edges holds 1 Dask frame in a sequence: give one Dask frame by itself, for example with "
            r"dask\.dataframe\.concat",
        ),
        ([DASK], r"edges holds 2 Dask frames in a sequence: give one"),
        ([FRAME], r"edges mixes Dask frames and others: make one Dask frame of all"),
        (["x.parquet"], r"edges mixes frames and paths"),
    ],
)
def test_the_remedy_fits(others, message):
    frame = dask.from_pandas(FRAME, npartitions=1)
    with pytest.raises(TravError, match=message):
        Graph.from_edges([frame, *(frame if one is DASK else one for one in others)])
