"""Questions about what depends on what: string ids, both directions, paths and neighbourhoods.

    python examples/dependency_graph.py

Each row says that `package` needs `needs`; `kind` tells whether at run time or only for tests.
"""

from __future__ import annotations

import io

import pandas as pd

import rapids_trav  # noqa: F401  registers .trav

NEEDS = """package,needs,kind
notebook-report,pandas,run
notebook-report,matplotlib,run
notebook-report,pytest,test
pandas,numpy,run
pandas,python-dateutil,run
pandas,pytest,test
python-dateutil,six,run
matplotlib,numpy,run
matplotlib,pillow,run
matplotlib,python-dateutil,run
matplotlib,pytest,test
scipy,numpy,run
scipy,pytest,test
scikit-learn,scipy,run
scikit-learn,numpy,run
scikit-learn,joblib,run
pytest,pluggy,run
pytest,iniconfig,run
churn-model,scikit-learn,run
churn-model,pandas,run
"""


def main() -> None:
    edges = pd.read_csv(io.StringIO(NEEDS))
    edges["at_run_time"] = edges["kind"] == "run"
    graph = edges.trav.graph("package", "needs", directed=True)

    print("churn-model needs, at run time, with the number of steps to each:")
    print(graph.bfs("churn-model", where="at_run_time", reached_only=True).to_string(index=False))

    print("\nIf numpy breaks, these break (edges followed backwards):")
    broken = graph.bfs("numpy", direction="in", where="at_run_time", reached_only=True, predecessors=False)
    print(broken[broken["distance"] > 0].sort_values(["distance", "vertex"]).to_string(index=False))

    print("\nWhy does notebook-report bring six and pluggy?")
    paths = graph.paths("notebook-report", ["six", "pluggy"], deterministic=True)
    for target, steps in paths.groupby("target", sort=False):
        print(f"{target}: {' > '.join(steps['vertex'])}")

    print("\nscipy and what is one step around it, as rows of the edge list:")
    around = graph.khop("scipy", 1, direction="both")
    print(around.edges.to_string(index=False))


if __name__ == "__main__":
    main()
