"""Workers that share a GPU: they exchange messages through the host, and open each other's memory by handles.

Their kernels take turns on the GPU, so a search in one launch is slow here; it meets as it does on several.
"""

import pytest
from common import rows

pytestmark = pytest.mark.gpu

cudf = pytest.importorskip("cudf", reason="cuDF is not installed")
dask_cudf = pytest.importorskip("dask_cudf")
distributed = pytest.importorskip("distributed")

from lost_workers import EDGES, SOURCE, lose_one, lose_one_between  # noqa: E402

from rapids_trav.distributed.ranks.rank_engine import ROWS, SHARED  # noqa: E402


@pytest.fixture
def doomed():
    """Yield the current client of a cluster of two workers on the GPU; a test may kill one."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def frame():
    return dask_cudf.from_cudf(cudf.DataFrame(EDGES), npartitions=4)


def test_answers_come_from_one_launch_on_each_worker(doomed):
    with frame().trav.graph() as graph:
        for direction in ("out", "in"):
            found = graph.bfs(SOURCE, direction=direction, deterministic=True, trace=True)
            wanted = EDGES.trav.bfs(SOURCE, direction=direction, deterministic=True)
            assert rows(found.result.compute()) == rows(wanted)
            assert all(found.trace["exchange"].to_pandas())
        structures = graph.memory()["structure"].to_pandas().tolist()
        assert {ROWS["both"], SHARED} <= set(structures)


def test_two_graphs_of_two_clients_are_searched_in_turn(doomed):
    """Searches of both enter the kernels of all workers in one order."""
    with distributed.Client(doomed.scheduler.address, set_as_default=False) as other:
        one, two = frame().trav.graph(), frame().trav.graph(client=other)
        try:
            for _ in range(5):
                answers = [one.levels(SOURCE).compute(), other.compute(two.levels(SOURCE)).result()]
                assert rows(answers[0]) == rows(answers[1]) == rows(EDGES.trav.graph().levels(SOURCE))
        finally:
            one.close()
            two.close()


@pytest.mark.parametrize("phase", ["building", "searching", "launching", "storing"])
def test_a_worker_that_is_killed(doomed, phase, tmp_path, record_property):
    lose_one(doomed, frame, phase, 0, tmp_path / "told", record_property)


def test_a_worker_that_is_killed_between_questions(doomed, record_property):
    lose_one_between(doomed, frame, True, record_property)
