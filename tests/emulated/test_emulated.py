"""The emulated GPU reports what is wrong in kernels and on streams.

The stand-in of CuPy is imported for these tests alone, and removed again: CuPy itself may be installed.
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
POISON = 0xA5A5A5A5

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")


def take_cupy() -> dict:
    """Return the modules of CuPy that are imported, and forget them."""
    names = [name for name in sys.modules if name.split(".")[0] in ("cupy", "cupyx")]
    return {name: sys.modules.pop(name) for name in names}


@pytest.fixture(scope="module")
def cupy():
    """Yield the stand-in of CuPy."""
    before = take_cupy()
    sys.path.insert(0, str(FOLDER / "packages"))
    try:
        yield importlib.import_module("cupy")
    finally:
        sys.path.remove(str(FOLDER / "packages"))
        take_cupy()
        sys.modules.update(before)


@pytest.fixture(scope="module")
def kernels(cupy):
    return cupy.RawModule(code=(FOLDER / "emulated_kernels.cu").read_text())


@pytest.fixture
def seed(cupy):
    """Return a function that chooses the order of the work on streams."""
    return importlib.import_module("cupy._queues").RANDOM.seed


def test_kernels_run(cupy, kernels):
    values, total = cupy.arange(64, dtype=np.int32), cupy.zeros(1, np.int32)
    kernels.get_function("add_one")((3,), (32,), (values, np.int32(60)))
    assert values.tolist() == [*range(1, 61), *range(60, 64)]
    for name, n in (("sum_block", 64), ("sum_warp", 32)):
        kernels.get_function(name)((1,), (n,), (values, total))
        assert total.item() == values[:n].get().sum()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("different_barriers", "different barriers"),
        ("barrier_of_a_warp_and_of_the_block", "wait for each other: 32 at a barrier of the block, 32 at"),
    ],
)
def test_barriers_that_do_not_match(cupy, kernels, name, error):
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match=error):
        kernels.get_function(name)((1,), (64,), ())
        cupy.cuda.Device().synchronize()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("own_lane_outside_mask", "is not in the mask"),
        ("other_lane_outside_mask", "reads from a lane outside its mask"),
        ("different_operations", "different operations"),
    ],
)
def test_operations_of_lanes_outside_the_mask(cupy, kernels, name, error):
    found = cupy.zeros(32, np.int32)
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match=error):
        kernels.get_function(name)((1,), (32,), (found,))
        found.get()


def test_a_kernel_runs_after_one_that_failed(cupy, kernels):
    test_barriers_that_do_not_match(cupy, kernels, "different_barriers", "different barriers")
    test_kernels_run(cupy, kernels)


@pytest.mark.parametrize("cooperative", [False, True])
def test_a_wait_for_ever_ends_in_an_error(cupy, cooperative):
    code = (FOLDER / "emulated_kernels.cu").read_text()
    kernels = cupy.RawModule(code=code, enable_cooperative_groups=cooperative)
    never = cupy.zeros(1, np.uint32)
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="waits for another one in vain"):
        kernels.get_function("wait_for_ever")((3,), (64,), (never,))
        cupy.cuda.Device().synchronize()


def orders(cupy, seed) -> list[list[int]]:
    """Return the orders in which three blocks wrote, from two runs under each of three seeds."""
    code = (FOLDER / "emulated_kernels.cu").read_text()
    kernel = cupy.RawModule(code=code, enable_cooperative_groups=True).get_function("note_order")
    found = []
    for number in (1, 1, 2, 2, 3, 3):
        seed(number)
        order, size = cupy.zeros(3 * 64, np.int32), cupy.zeros(1, np.uint32)
        kernel((3,), (64,), (order, size))
        found.append(order.tolist())
    return found


def test_the_order_of_threads_depends_on_the_seed_alone(cupy, seed):
    found = orders(cupy, seed)
    assert found[::2] == found[1::2]
    assert len(set(map(tuple, found))) == 3
    assert all(sorted(order) == list(range(3 * 64)) for order in found)


def test_lanes_may_load_a_word_at_different_times(cupy, kernels, seed):
    """A branch on a word that another warp writes parts the lanes, unless they agree on it first."""
    outcomes = {"branch_on_a_word": set(), "agree_on_a_word": set()}
    for name, outcome in outcomes.items():
        for number in range(40):
            seed(number)
            word = cupy.zeros(1, np.uint32)
            try:
                kernels.get_function(name)((1,), (64,), (word,))
                cupy.cuda.Device().synchronize()
                outcome.add("ended")
            except cupy.cuda.runtime.CUDARuntimeError as error:
                assert "operation" in str(error)
                outcome.add("failed")
    assert outcomes == {"branch_on_a_word": {"ended", "failed"}, "agree_on_a_word": {"ended"}}


def test_a_compare_and_swap_may_come_after_another_thread(cupy, kernels):
    totals = {}
    for name in ("count_by_swaps_once", "count_by_swaps_until_they_succeed"):
        total = cupy.zeros(1, np.uint32)
        kernels.get_function(name)((1,), (256,), (total,))
        totals[name] = int(total[0])
    assert totals["count_by_swaps_once"] < totals["count_by_swaps_until_they_succeed"] == 256


@pytest.mark.parametrize("arguments", [(np.int64(4),), (4,), (), (np.int32(4), np.int32(4))])
def test_arguments_of_a_wrong_size(cupy, kernels, arguments):
    values = cupy.zeros(4, np.int32)
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="takes arguments of"):
        kernels.get_function("add_one")((1,), (32,), (values, *arguments))


@pytest.mark.parametrize(
    ("grid", "block", "options", "error"),
    [
        ((0,), (32,), {}, "cannot run in a grid"),
        ((1,), (2048,), {}, "cannot run in a grid"),
        ((1,), (32,), {"shared_mem": 64 << 10}, "has not opted in"),
    ],
)
def test_launches_that_a_gpu_refuses(cupy, kernels, grid, block, options, error):
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match=error):
        kernels.get_function("add_one")(grid, block, (cupy.zeros(1, np.int32), np.int32(1)), **options)


def test_uninitialised_memory_holds_the_pattern(cupy, kernels):
    found = cupy.empty(100, np.uint32)
    assert set(found.tolist()) == {POISON}
    # The second block finds what the first one wrote overwritten.
    kernels.get_function("read_shared")((2,), (1,), (found,), shared_mem=64)
    assert found[:2].tolist() == [POISON, POISON]


def test_writes_outside_an_allocation(cupy, kernels):
    values = cupy.zeros(8, np.int32)
    kernels.get_function("add_one")((1,), (32,), (values, np.int32(9)))
    del values
    gc.collect()
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="after an allocation"):
        cupy.cuda.Device().synchronize()


def copied(cupy, wait: bool) -> list[int]:
    """Return what a stream copies of values that another one writes."""
    runtime = cupy.cuda.runtime
    writing, copying = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    with writing:
        values = cupy.zeros(4, np.int32)
        target = cupy.zeros(4, np.int32)
        writing.synchronize()
        values.fill(7)
    if wait:
        copying.wait_event(writing.record())
    kind = runtime.memcpyDeviceToDevice
    runtime.memcpyAsync(target.data.ptr, values.data.ptr, values.nbytes, kind, copying.ptr)
    copying.synchronize()
    writing.synchronize()
    return target.tolist()


def test_a_missing_wait_between_streams_is_seen(cupy, seed):
    found = []
    for number in range(20):
        seed(number)
        assert copied(cupy, wait=True) == [7] * 4
        found.append(copied(cupy, wait=False))
    assert [0] * 4 in found
    assert [7] * 4 in found  # sometimes nobody would notice


def test_the_default_stream_waits_for_blocking_ones_alone(cupy, seed):
    found = {}
    for non_blocking in (False, True):
        found[non_blocking] = set()
        for number in range(20):
            seed(number)
            stream = cupy.cuda.Stream(non_blocking=non_blocking)
            values = cupy.zeros(1, np.int32)
            cupy.cuda.Device().synchronize()
            with stream:
                values.fill(3)
            found[non_blocking].add(values.item())
            cupy.cuda.Device().synchronize()
    assert found[False] == {3}
    assert 0 in found[True]


def test_memory_is_freed_in_the_order_of_its_stream(cupy, kernels, seed):
    seed(1)
    pointers = []
    for _ in range(10):
        values = cupy.zeros(32, np.int32)
        pointers.append(np.uint64(values.data.ptr))
        kernels.get_function("add_one")((1,), (32,), (pointers[-1], np.int32(32)))
        del values  # the launch is before the end of the memory
    cupy.cuda.Device().synchronize()
    late = cupy.cuda.Stream(non_blocking=True)
    values = cupy.zeros(32, np.int32)
    pointer = np.uint64(values.data.ptr)
    cupy.cuda.Device().synchronize()
    del values
    kernels.get_function("add_one")((1,), (32,), (pointer, np.int32(32)))
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="after it had been freed"):
        cupy.cuda.Device().synchronize()
    assert late.done


@pytest.mark.parametrize(
    "mixed",
    [
        lambda device, host: device + host,
        lambda device, host: host + device,
        lambda device, host: device.__setitem__(slice(None), host),
        lambda device, host: np.asarray(device),
        lambda device, host: sys.modules["cupy"].maximum(device, host),
        lambda device, host: sys.modules["cupy"].concatenate([device, host]),
    ],
)
def test_arrays_of_host_and_device_are_not_mixed(cupy, mixed):
    with pytest.raises(TypeError):
        mixed(cupy.arange(4), np.arange(4))


def test_the_stand_in_is_strict_about_memory(cupy):
    with pytest.raises(MemoryError, match="Out of memory"):
        cupy.empty(1 << 40, np.int64)
    with pytest.raises(ValueError, match="larger than its memory"):
        cupy.ndarray((5,), np.int64, cupy.cuda.alloc(32))


def test_left_out_tests_exist():
    table = tomllib.loads((FOLDER / "left_out.toml").read_text(encoding="utf-8"))
    for name in table["never"] | table["long"]:
        file, _, test = name.partition("::")
        text = (FOLDER.parent / file.partition("*")[0]).read_text(encoding="utf-8")
        assert f"def {test.partition('[')[0].partition('*')[0]}" in text, name


def suite_of(tmp_path, **rows: dict) -> Path:
    """Write a table of the suite with rows for files in tests/gpu."""
    path = tmp_path / "suite.toml"
    row = '["tests/gpu/{}.py"]\npart = {part}\npassed = {passed}\nkernels = []\n'
    path.write_text("".join(row.format(file, **of) for file, of in rows.items()))
    return path


def emulated(*arguments: object) -> subprocess.CompletedProcess:
    """Run tests as ci/test_emulated.sh does."""
    command = [sys.executable, "-m", "pytest", "-p", "emulated_gpu", "-p", "no:cacheprovider", "-n", "0"]
    return subprocess.run(
        [*command, "-m", "gpu", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(FOLDER / "packages")},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(("passed", "status"), [(0, 0), (2, 1)])
def test_a_run_in_which_a_file_is_skipped_fails(tmp_path, passed, status):
    suite = suite_of(tmp_path, test_overlap_gpu={"part": 0, "passed": passed})
    done = emulated("--suite", suite, "tests/gpu/test_overlap_gpu.py")
    assert done.returncode == status, done.stdout + done.stderr
    assert "not emulated: compares times of events" in done.stdout
    line = "tests/gpu/test_overlap_gpu.py: 0 tests passed, and 2 did"
    assert (line in done.stdout) == bool(status)


def test_a_part_is_chosen_with_files_that_always_run_or_are_new(tmp_path):
    rows = {path.stem: {"part": 9, "passed": 0} for path in (ROOT / "tests" / "gpu").glob("test_*.py")}
    del rows["test_path_layout_gpu"]
    rows["test_division_gpu"]["part"] = 3
    always = [f"tests/gpu/{name}.py" for name in ("test_ahead_gpu", "test_division_gpu")]
    options = ["--part", 3, *(word for file in always for word in ("--always", file))]
    done = emulated("--collect-only", "-q", "--suite", suite_of(tmp_path, **rows), *options, "tests/gpu")
    collected = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert collected == {*always, "tests/gpu/test_path_layout_gpu.py"}
    for line in (
        "part 3 of 10: tests/gpu/test_division_gpu.py",
        f"whatever their part: {' '.join(always)}",
        f"not run: {len(rows) - 2} files",
    ):
        assert line in done.stdout


def test_every_file_of_the_suite_has_a_part():
    rows = tomllib.loads((FOLDER / "suite.toml").read_text(encoding="utf-8"))
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder in ("gpu", "engines")
        for path in (ROOT / "tests" / folder).rglob("test_*.py")
    }
    files = {file for file, text in texts.items() if "mark.gpu" in text}
    without = re.compile(r'^(cudf = )?pytest\.importorskip\("cudf"', re.MULTILINE)  # collect nothing here
    skipped = {file for file in files if without.search(texts[file])}
    assert files - skipped <= set(rows) <= files, "ci/test_emulated.sh record"
    assert {row["part"] for row in rows.values()} == set(range(10))
    kernels = {path.name for path in (ROOT / "kernels").glob("*.cu")}
    launched = {kernel for row in rows.values() for kernel in row["kernels"]}
    assert launched <= kernels
    assert kernels - launched == {"rmat.cu"}  # which needs cuDF; a change of any other runs some tests
