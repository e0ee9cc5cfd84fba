import cProfile, pstats, numpy as np, pytest
from rapids_trav.programs import shipped
from .small_graphs import grid
from .program_cases import CASES, gather_view
from .test_blocks_gpu import over_blocks, start_of
pytestmark = pytest.mark.gpu
def test_p(engine):
    graph, program = CASES["rmat"], shipped.shortest_paths("float32")
    view = gather_view(graph, engine, "float32")
    n=view.out.n_edges
    shift=(n//128).bit_length()
    start = start_of(program, graph.n, 0, [int(np.argmax(np.diff(view.out.row_offsets.get())))], engine.xp)
    over_blocks(engine, view, program, start, shift, 24)
    p=cProfile.Profile(); p.enable()
    run=over_blocks(engine, view, program, start, shift, 24)
    p.disable()
    print(run.counters)
    pstats.Stats(p).sort_stats("tottime").print_stats(45)
