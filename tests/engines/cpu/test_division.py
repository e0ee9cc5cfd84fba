"""Division by zero in a vertex program gives the results that `Program` documents."""

from __future__ import annotations

import numpy as np
import pytest
from division_cases import CASES, divided

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("place", ["scatter", "gather", "apply"])
@pytest.mark.parametrize(("dtype", "operator", "wanted"), CASES)
def test_division_by_zero(dtype, operator, wanted, place):
    np.testing.assert_array_equal(divided(dtype, operator, place, "cpu"), wanted)
