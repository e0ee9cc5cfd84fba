"""Iterations that are launched before the host has read the last ones end where the host would have ended."""

from dataclasses import replace

import numpy as np
import pytest

from rapids_trav.jit.launches import count_launches

from .program_cases import CASES, gather_view, question, start

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("most", [None, 1, 7, 8, 9, 17])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_a_run_ends_where_it_converges(engine, tolerance, most, monkeypatch):
    from rapids_trav.engines.cuda.programs import resident

    monkeypatch.setattr(resident, "AHEAD", 8)
    case = CASES["directed"]
    program, values, active, options = question("pagerank", case)
    program = replace(program, tolerance=tolerance)
    view = gather_view(case, engine)
    runs, launches = [], []
    for trace in (True, False):  # a trace is read after each iteration
        asked = replace(options, max_iterations=most, trace=trace)
        with count_launches() as counts:
            runs.append(engine.run(view, program, start(program, case.n, values, active, engine.xp), asked))
        launches.append((counts["gather_rows"], counts["gather_ahead"]))
    watched, ahead = runs
    assert (ahead.iterations, ahead.converged) == (watched.iterations, watched.converged)
    assert ahead.residual == pytest.approx(watched.residual)
    np.testing.assert_allclose(ahead.values.get(), watched.values.get(), rtol=1e-9)
    assert launches == [(watched.iterations, 0), (0, -(-watched.iterations // 8))]
