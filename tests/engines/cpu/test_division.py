"""Division by zero in a vertex program gives the results that `Program` documents."""

from __future__ import annotations

import numpy as np
import pytest
from division_cases import CASES, DIVISIONS, divided
from pairs import pairs

pytestmark = pytest.mark.slow
WANTED = {(dtype, operator): wanted for dtype, operator, wanted in CASES}


@pairs(
    dtype=["int32", "int64", "float32", "float64"],
    operator=list(DIVISIONS),
    place=["scatter", "gather", "apply"],
    allowed=lambda dtype, operator, place: (dtype, operator) in WANTED,
)
def test_division_by_zero(dtype, operator, place):
    np.testing.assert_array_equal(divided(dtype, operator, place, "cpu"), WANTED[dtype, operator])
