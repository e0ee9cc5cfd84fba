"""The sorts that order vertices by degree, observed in the library that runs them."""

import numpy as np
import pytest

from rapids_trav.ids.degree_order import BACK_ENDS, descending


class Recorded:
    """Recorder of the key widths, in bytes, of each sort that NumPy runs."""

    def __init__(self, monkeypatch):
        self.widths = []
        argsort = np.argsort

        def noted(keys, *arguments, kind=None, **more):
            assert kind == "stable"
            self.widths.append(keys.dtype.itemsize)
            return argsort(keys, *arguments, kind=kind, **more)

        monkeypatch.setattr(np, "argsort", noted)


@pytest.fixture
def sorts(monkeypatch):
    return Recorded(monkeypatch)


def degrees_up_to(most):
    degree = np.random.default_rng(3).integers(0, most, 5000, dtype=np.int64)
    degree[:2] = 0, most
    return degree


@pytest.mark.parametrize(("most", "passes"), [(1, 1), (2**16 - 1, 1), (2**16, 2), (2**33, 3)])
def test_radix_is_a_pass_of_numpys_radix_sort_for_each_16_bits(sorts, most, passes):
    """For a stable sort of integers of at most 16 bits, NumPy uses radix sort."""
    order = descending(degrees_up_to(most), "radix", np)
    assert sorts.widths == [2] * passes
    assert len(order) == 5000


@pytest.mark.parametrize("most", [1, 2**16, 2**33])
def test_merge_compares_whole_keys(sorts, most):
    descending(degrees_up_to(most), "merge", np)
    assert sorts.widths == [8]


@pytest.mark.parametrize("most", [1, 5, 2**16 - 1, 2**16, 2**20, 2**33, 2**50])
def test_all_give_the_same_order(most):
    degree = degrees_up_to(most)
    expected = np.lexsort((np.arange(len(degree)), -degree))
    for back_end in BACK_ENDS:
        assert np.array_equal(descending(degree, back_end, np), expected), back_end


@pytest.mark.gpu
@pytest.mark.parametrize(("back_end", "called"), [("radix", "argsort"), ("merge", "lexsort")])
def test_on_a_gpu_they_are_two_sorts_of_cupy(back_end, called):
    """CuPy's argsort of integers is Thrust's radix sort; its lexsort is a merge sort with a comparison."""
    cupy = pytest.importorskip("cupy")

    class Spy:
        def __init__(self):
            self.calls = []

        def __getattr__(self, name):
            self.calls.append(name)
            return getattr(cupy, name)

    for most in (2**20, 2**33):
        spy = Spy()
        order = descending(cupy.asarray(degrees_up_to(most)), back_end, spy)
        assert spy.calls == [called]
        expected = np.lexsort((np.arange(5000), -degrees_up_to(most)))
        assert np.array_equal(order.get(), expected)
