"""The tables of the README, docs/performance.md and docs/cpu.md, made from the rows of benchmark runs.

A table is a function from one `Run` per file of rows to lines of Markdown; `TABLES` names them.  Unfavourable
results are shown like all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from benchmarks.cpu import report
from benchmarks.gpu import questions, streamed
from benchmarks.gpu.libraries import rival_name
from benchmarks.gpu.out_of_core import FULL, IN_MEMORY, PAGED
from benchmarks.gpu.scales import ON_DEVICE
from benchmarks.gpu.schedules import AUTO, BASE, MEMORY
from benchmarks.harness import Row, markdown, number

SCALES = {"rmat20": "scale 20", "rmat22": "scale 22", "rmat24": "scale 24"}
GRID = {"grid4096": "4096 x 4096 grid"}
FACEBOOK = {"facebook": "Facebook"}
PROVENANCE = ("run", "digest")


class RowsError(Exception):
    """The rows cannot make a table."""


class Run:
    """The rows of one run; rows of several runs, or without a run, are refused."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)
        self._origin: Row = {}  # origin of the rows requested so far

    def rows(self, benchmark: str, table: str | None = None, **wanted: object) -> list[Row]:
        """Return rows of a benchmark, of one of its tables, with these values."""
        wanted |= {"benchmark": benchmark} | ({} if table is None else {"table": table})
        found = [row for row in self._rows if all(row.get(key) == value for key, value in wanted.items())]
        return self._of_one_run(found, benchmark)

    def all(self) -> list[Row]:
        """Return all rows."""
        return self._of_one_run(self._rows, "the file")

    def figure(self, column: str, benchmark: str, table: str, **wanted: object) -> float | None:
        """Return one value of one row; None if there is no such row or it was not measured."""
        rows = [row for row in self.rows(benchmark, table) if wanted.items() <= row.items()]
        if len(rows) > 1:
            raise RowsError(f"{len(rows)} rows of {benchmark}, {table} have {wanted}: keep one run.")
        return rows[0].get(column) if rows else None

    @property
    def is_empty(self) -> bool:
        return not self._rows

    def _of_one_run(self, rows: list[Row], what: str) -> list[Row]:
        if not rows:
            raise RowsError(f"There are no rows of {what}.")
        for key in PROVENANCE:
            values = {row.get(key) for row in rows}
            if None in values:
                raise RowsError(f"Rows of {what} do not tell their {key}: measure them again.")
            values.add(self._origin.setdefault(key, rows[0][key]))
            if len(values) > 1:
                raise RowsError(f"Rows of {what} are of {len(values)} different {key}s: keep one.")
        return rows


def gpu(run: Run) -> list[str]:
    return _origin(run, lambda row: f"{row['card']}, driver {row['driver']}")


def cpu(run: Run) -> list[str]:
    return _origin(run, lambda row: f"{row['cores']} cores of {row['processor']}")


def _origin(run: Run, machine: Callable[[Row], str]) -> list[str]:
    row = run.all()[0]
    versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
    return [f"Run {row['run']} of {row['date'][:10]}: {machine(row)}; {versions}; {_sources(row)}."]


def _sources(row: Row) -> str:
    commit = row["commit"]
    head, _, dirty = (commit or "").partition("-")
    told = f"commit {head[:10]}{' with changes' if dirty else ''}, " if commit else ""
    return f"{told}sources {row['digest'][:10]}"


Line = tuple[str, ...]  # label, benchmark, table and name of rows and, if it is not the median, the column


def medians(run: Run, lines: Iterable[Line], graphs: dict[str, str]) -> list[str]:
    """Return a table with a column for each graph, whose titles are given."""
    body = []
    for label, benchmark, part, name, *column in lines:
        cells = (run.figure(*(column or ["median_ms"]), benchmark, part, graph=g, name=name) for g in graphs)
        body.append([label, *map(number, cells)])
    return markdown(["median ms", *graphs.values()], body)


def traversal(run: Run) -> list[str]:
    names = {
        "auto": "**`auto`**: one launch, direction chosen on the device",
        "direction": "`direction`: a launch or two a level",
        "edge": "`edge`",
        "push": "`push`",
        "pull": "`pull`",
        "frontier": "`frontier`",
        "private": "`private`",
        rival_name(True, True): "pylibcugraph, `direction_optimizing=True`",
        rival_name(False, True): "pylibcugraph, `direction_optimizing=False`",
    }
    lines = [(label, "variants", "traversal", name) for name, label in names.items()]
    return medians(run, lines, SCALES | GRID)


def whole_call(run: Run) -> list[str]:
    calls, build, peak = ("variants", "whole call"), ("variants", "build"), "peak_over_input"
    lines = (
        ("`auto`, the traversal alone", *calls, "rapids_trav traversal alone"),
        ("**`graph.bfs(root)`**, frame out", *calls, "rapids_trav graph.bfs"),
        ("`cugraph.bfs(G, root)`", *calls, "cugraph.bfs"),
        ("**`edges.trav.graph()`**", *build, "rapids_trav"),
        ("`cugraph.Graph.from_cudf_edgelist`", *build, "cugraph"),
        ("peak memory of the build, over the edges'", *build, "rapids_trav", peak),
        ("... cuGraph's", *build, "cugraph", peak),
    )
    return medians(run, lines, FACEBOOK | SCALES)


def scales(run: Run) -> list[str]:
    ours = {"`auto`, from call to answer": "rapids_trav", "`auto`, device clock": f"rapids_trav, {ON_DEVICE}"}
    theirs = {"pylibcugraph, from call to answer": rival_name(True, True)}
    body = []
    for label, name in (ours | theirs).items():
        cells = []
        for graph in SCALES:
            ms, mean, least = (
                number(run.figure(column, "scales", "scales", graph=graph, name=name))
                for column in ("median_ms", "gteps_harmonic_mean", "gteps_min")
            )
            cells.append(f"{ms} ms; {mean} ({least})")
        body.append([label, *cells])
    return markdown(["median; harmonic mean (least) GTEPS", *SCALES.values()], body)


def programs(run: Run) -> list[str]:
    graphs = FACEBOOK | {name: SCALES[name] for name in ("rmat20", "rmat22")}
    lines = (
        ("`components`", "components", {}, "median_ms"),
        ("`sssp`, with predecessors", "sssp", {}, "median_ms"),
        ("`pagerank`", "pagerank", {"dtype": "float64"}, "median_ms"),
        ("... an iteration of it", "pagerank, an iteration", {"dtype": "float64"}, "iteration_ms"),
        ('`pagerank`, `dtype="float32"`', "pagerank", {"dtype": "float32"}, "median_ms"),
        ("... an iteration of it", "pagerank, an iteration", {"dtype": "float32"}, "iteration_ms"),
    )
    body = []
    for label, program, more, column in lines:
        cells = []
        for graph in graphs:
            ours, theirs = (
                number(
                    run.figure(column, "programs", "programs", graph=graph, program=program, name=n, **more)
                )
                for n in ("rapids_trav", "cugraph")
            )
            cells.append(f"{ours} ({theirs})")
        body.append([label, *cells])
    return markdown(["ms (cuGraph's)", *graphs.values()], body)


def ablation(run: Run) -> list[str]:
    rows = run.rows("ablation", "claims")
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    claims = {row["claim"]: row["published"] for row in rows}
    body = [
        [
            claim,
            *(
                number(run.figure("ratio_of_gteps", "ablation", "claims", graph=g, claim=claim))
                for g in graphs
            ),
            published or "-",
        ]
        for claim, published in claims.items()
    ]
    return markdown(["with it over without", *(SCALES.get(g, g) for g in graphs), "published"], body)


def replication(run: Run) -> list[str]:
    rows = run.rows("replication", "claims")
    keys = list(dict.fromkeys((row["graph"], row["dtype"]) for row in rows))
    titles = [f"{(SCALES | FACEBOOK).get(graph, graph)}, {dtype}" for graph, dtype in keys]
    found: dict[str, dict[tuple, str]] = {}
    for row in rows:
        claim, _, best = row["claim"].partition(" (")  # the best fixed factor differs between graphs
        rest = best.partition(")")
        of = f" ({rest[0].split()[0]})" if best else ""
        label = f"{claim}{rest[2]}"
        found.setdefault(label, {})[row["graph"], row["dtype"]] = f"{number(row['ratio'])}{of}"
    body = [[label, *(cells.get(key, "-") for key in keys)] for label, cells in found.items()]
    return markdown(["ratio (best fixed factor)", *titles], body)


def out_of_core(run: Run) -> list[str]:
    graph = SCALES["rmat24"]
    lines = (
        ("search, in memory", "search", IN_MEMORY),
        ("search, in a quarter of the memory", "search", PAGED),
        ("search, every page in each level", "search", FULL),
        ("`pagerank`, in memory", "pagerank", IN_MEMORY),
        ("`pagerank`, in a quarter of the memory", "pagerank", PAGED),
        ("`pagerank`, cuGraph in memory", "pagerank", "cugraph"),
        ("an iteration of `pagerank`, streamed", "streaming", "streamed"),
        ("... and shared with the CPU", "streaming", "with the CPU"),
    )
    body = []
    for label, part, name in lines:
        ms, rate, share = (
            run.figure(column, "out-of-core", part, graph="rmat24", name=name)
            for column in ("median_ms", "gteps_harmonic_mean", "share_of_link")
        )
        link = "-" if share is None else f"{share:.0%}"
        body.append([label, number(ms), number(rate), link])
    return markdown([graph, "median ms", "harmonic mean GTEPS", "of the link"], body)


def schedules(run: Run) -> list[str]:
    """Return a line for each program on a graph, which compares `auto` with other ways of the same rows."""
    try:
        rows = run.rows("schedules", "schedules")
    except RowsError:
        if not run.is_empty:
            raise
        return ["No rows yet: `python -m benchmarks gpu schedules --json FILE` measures them."]
    found: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        if row.get("median_ms") is not None:
            found.setdefault((row["graph"], row["order"], row["program"]), {})[row["name"]] = row
    body = [
        [f"{graph}, {order}", f"`{program}`", *_schedule_cells(ways)]
        for (graph, order, program), ways in found.items()
        if AUTO in ways
    ]
    titles = (
        "graph, order", "program", "in memory, ms", "`auto`, ms", "of in memory", "full sweeps over it",
        "sweeps of active rows over it", "it over the best", "streams copied + in place", "bytes an edge",
        "rounds", "of the link", "card busy", "peak of the limit, MiB",
    )  # fmt: skip
    return markdown(titles, body)


def _schedule_cells(ways: dict[str, Row]) -> list[str]:
    auto, base = ways[AUTO], ways.get(BASE, ways.get("sweep", {}))
    moved = [number(auto.get(column)) for column in ("streams", "in_place")]
    memory = [number(auto[name] / 2**20) if name in auto else "-" for name in ("peak", "budget")]
    percent = [f"{auto[name]:.0%}" if name in auto else "-" for name in ("share_of_link", "card_busy")]
    return [
        number(ways.get(MEMORY, {}).get("median_ms")), number(auto["median_ms"]),
        number(auto.get("over_memory")), _times_over(base, auto),
        _times_over(ways.get("sweep, active rows", {}), auto), number(auto.get("over_best")),
        " + ".join(moved), number(auto.get("bytes_an_edge")), number(auto.get("rounds")), *percent,
        " of ".join(memory),
    ]  # fmt: skip


def _times_over(other: Row, ours: Row) -> str:
    """Return how often one time is in another; a run that was stopped would have taken longer."""
    if "median_ms" not in other:
        return "-"
    times = number(other["median_ms"] / ours["median_ms"])
    return f"over {times}" if other.get("lower_bound") else times


def cpu_traversal(run: Run) -> list[str]:
    rows = run.rows("cpu", "traversal")
    titles = {row["graph"]: f"scale {row['graph'].removeprefix('rmat')}" for row in rows}
    titles = {graph: title for graph, title in titles.items() if graph.startswith("rmat")}
    names = dict.fromkeys(row["name"] for row in rows)
    labels = {name: f"**{name}**" if name == "rapids_trav" else name for name in names}
    return medians(run, [(labels[name], "cpu", "traversal", name) for name in names], titles)


def cpu_questions(run: Run) -> list[str]:
    return report.markdown(run.rows("cpu"))


def summary(cpu: Run, gpu: Run) -> list[str]:
    """Return the table of the README: the fastest other library on the CPU, cuGraph on the GPU."""
    body = []
    for row in cpu.rows("cpu", "traversal", name="rapids_trav"):
        graph, machine = row["graph"], f"{row['cores']} CPU cores"
        others = [
            other
            for other in cpu.rows("cpu", "traversal", graph=graph)
            if report.role(other) == "other" and "median_ms" in other and "wrong" not in other
        ]
        if graph in ("rmat18", "rmat20") and others:
            best = min(others, key=lambda other: other["median_ms"])
            name = re.sub(r"^gap\b", "GAP", best["name"])
            cells = number(row["median_ms"]), number(best["median_ms"]), name
            body.append([f"BFS, scale {graph.removeprefix('rmat')}", machine, *cells])
    card = gpu.all()[0]["card"].removeprefix("NVIDIA ")
    calls = ("rapids_trav graph.bfs", "cugraph.bfs")
    both = ("rapids_trav", "cugraph")
    pagerank = {"program": "pagerank", "dtype": "float64"}
    for question, graph, benchmark, part, wanted, names in (
        ("BFS", "rmat20", "variants", "whole call", {}, calls),
        ("BFS", "rmat24", "variants", "whole call", {}, calls),
        ("building the graph", "rmat24", "variants", "build", {}, both),
        ("components", "rmat22", "programs", "programs", {"program": "components"}, both),
        ("shortest paths", "rmat22", "programs", "programs", {"program": "sssp"}, both),
        ("PageRank", "rmat22", "programs", "programs", pagerank, both),
    ):
        ours, theirs = (
            number(gpu.figure("median_ms", benchmark, part, graph=graph, name=name, **wanted))
            for name in names
        )
        body.append([f"{question}, {SCALES[graph]}", card, ours, theirs, "cuGraph"])
    return markdown(["median ms", "machine", "rapids-trav", "other library", "which"], body)


def latency(run: Run) -> list[str]:
    """Return the times of a search by scale, by the device's clock, and how even they are."""
    columns = {
        "median ms": "median_ms", "worst over median": "worst_over_median",
        "harmonic mean GTEPS": "gteps_harmonic_mean", "least GTEPS": "gteps_min",
    }  # fmt: skip
    body = [
        [f"scale {row['graph'].removeprefix('rmat')}", *(number(row.get(name)) for name in columns.values())]
        for row in run.rows("evenness", "evenness")
    ]
    return markdown(["device clock", *columns], body)


def stream(run: Run) -> list[str]:
    names = {
        streamed.DEVICE: "by the device's clock", "engine.bfs": "one after another, to arrays",
        "engine.bfs_stream": "streamed, to arrays", "graph.bfs": "`graph.bfs`, to frames",
        "graph.bfs_stream": "**`graph.bfs_stream`**, to frames",
    }  # fmt: skip
    body = []
    for name, label in names.items():
        wanted = {"graph": "rmat24", "name": name}
        total, over = (
            run.figure(column, "streamed", "streamed", **wanted) for column in ("total_ms", "over_device")
        )
        body.append([label, number(total), "-" if over is None else f"{1 / over:.1%}"])
    return markdown(["64 searches, scale 24", "ms", "device busy"], body)


def small_questions(run: Run) -> list[str]:
    search = {
        questions.DEVICE: "the search, device clock", questions.WALL: "... to arrays, by the wall",
        questions.HOST: "... of which the host's part",
    }  # fmt: skip
    lines = [(label, "questions", "search", name) for name, label in search.items()]
    lines += [(f"`{name}`", "questions", "questions", name) for name in questions.QUESTIONS]
    return medians(run, lines, FACEBOOK | SCALES)


def strings(run: Run) -> list[str]:
    lines = (
        ("build", "build", "rapids_trav"), ("... cuGraph's", "build", "cugraph"),
        ("`bfs`, frame out", "calls", "rapids_trav bfs"),
        ("... without predecessors", "calls", "rapids_trav bfs, no predecessors"),
        ("... `reached_only=True`", "calls", "rapids_trav bfs, reached_only"),
        ("... cuGraph's", "calls", "cugraph bfs"),
    )  # fmt: skip
    body = [
        [
            label,
            *(
                number(run.figure("median_ms", "strings", part, graph="rmat20", ids=ids, name=name))
                for ids in ("integers", "strings")
            ),
        ]
        for label, part, name in lines
    ]
    return markdown(["median ms, scale 20", "integer ids", "string ids"], body)


Table = Callable[..., list[str]]  # of a run for each file
CPU, GPU = "cpu-benchmark.jsonl", "gpu-benchmark.jsonl"
LATENCY, SCHEDULES = "gpu-latency.jsonl", "gpu-schedules.jsonl"
TABLES: dict[tuple[str, ...], dict[str, Table]] = {  # by the files of the rows
    (GPU,): {
        "gpu-run": gpu,
        "traversal": traversal,
        "whole-call": whole_call,
        "scales": scales,
        "programs": programs,
        "ablation": ablation,
        "replication": replication,
        "out-of-core": out_of_core,
    },
    (LATENCY,): {
        "latency-run": gpu,
        "latency": latency,
        "stream": stream,
        "questions": small_questions,
        "strings": strings,
    },
    (CPU,): {"cpu-run": cpu, "cpu-traversal": cpu_traversal, "cpu-questions": cpu_questions},
    (CPU, GPU): {"summary": summary},
    (SCHEDULES,): {"schedules": schedules},
}
