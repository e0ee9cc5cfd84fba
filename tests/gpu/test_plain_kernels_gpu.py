"""The plain kernels of vertex programs agree with the fast ones in every step."""

import pytest

from .program_cases import CASES, gather_view, question, start

pytestmark = pytest.mark.gpu


@pytest.fixture(params=["rmat", "wheel", "big star", "directed"])
def works(request, engine):
    """Return a function that starts two equal runs of a question."""
    from rapids_trav.engines.cuda.programs.resident import ResidentExecutor

    def made(asked):
        graph = CASES[request.param]
        program, values, active, options = question(asked, graph)
        view = gather_view(graph, engine)
        state = start(program, graph.n, values, active, engine.xp)
        return [ResidentExecutor(view, program, state, options) for _ in range(2)]

    return made


@pytest.mark.parametrize("asked", ["bfs", "components"])
def test_gathering(works, asked):
    from .plain_kernels import plain_pull

    fast, plain = works(asked)
    fast.pull()
    tally = plain_pull(plain.state)
    assert bool((fast.state.values == plain.state.values).all())
    assert bool((fast.state.active == plain.state.flags).all())
    assert tally[:3] == fast.state.tally[:3]


@pytest.mark.parametrize("asked", ["bfs", "components"])
def test_pushing(works, asked):
    from .plain_kernels import plain_push, queued

    fast, plain = works(asked)
    fast.push()
    tally, following = plain_push(plain.state)
    assert bool((fast.state.values == plain.state.values).all())
    theirs = fast.state.tally
    assert (tally.light, tally.heavy, tally.edges) == (theirs.light, theirs.heavy, theirs.edges)
    assert len(queued(following, tally)) == tally.light + tally.heavy
    assert queued(following, tally) == queued(fast.state.queue, theirs)
