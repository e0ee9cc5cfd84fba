"""Parametrise a test by pairs of values instead of by the full product."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence

import pytest
from allpairspy import AllPairs
from pytest import MarkDecorator

FULL = bool(os.environ.get("FULL_PRODUCTS"))  # as `make test-all` sets it


def pairs(
    *corners: tuple, allowed: Callable[..., bool] | None = None, **values: Sequence[object]
) -> MarkDecorator:
    """Return a parametrisation in which any two values of different parameters meet at least once.

    The rows are the same in every run; with FULL_PRODUCTS set in the environment they are all combinations.

    Parameters
    ----------
    *corners : tuple
        Further rows, with a value for each parameter: combinations in which a fault was once found.
    allowed : callable, optional
        Called with a value for each parameter, by name; rows for which it returns False are left out.
    **values
        The values of each parameter, by its name.  They are plain values, not `pytest.param`.
    """

    def fits(row: Sequence[object]) -> bool:
        return allowed is None or len(row) < len(values) or allowed(**dict(zip(values, row, strict=True)))

    if FULL or len(values) == 1:
        rows = [row for row in itertools.product(*values.values()) if fits(row)]
    else:
        rows = [tuple(row) for row in AllPairs(list(map(list, values.values())), filter_func=fits)]
        met = {pair for row in rows for pair in _pairs_of(row)}
        # AllPairs leaves out some pairs where rows are filtered.
        for row in filter(fits, itertools.product(*values.values())):
            if not met.issuperset(_pairs_of(row)):
                met.update(_pairs_of(row))
                rows.append(row)
    return pytest.mark.parametrize(list(values), rows + [row for row in corners if row not in rows])


def _pairs_of(row: Sequence[object]) -> set[tuple]:
    """Return the places and values of any two parameters of a row; values may have no hash."""
    return set(itertools.combinations([(place, repr(value)) for place, value in enumerate(row)], 2))
