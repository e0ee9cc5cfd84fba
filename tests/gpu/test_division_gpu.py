"""A vertex program that divides by zero gives the same result on the GPU as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from division_cases import CASES, divided

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("place", ["scatter", "gather", "apply"])
@pytest.mark.parametrize(("dtype", "operator", "wanted"), CASES)
def test_division_by_zero(engine, dtype, operator, wanted, place):
    np.testing.assert_array_equal(divided(dtype, operator, place, engine), wanted)
