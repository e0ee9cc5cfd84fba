"""A graph on the workers of a Dask cluster: who is how far from whom among 4,039 people.

python examples/dask_cluster.py         four workers on this machine, without any GPU
"""

import dask.dataframe as dd
from distributed import Client, LocalCluster

from rapids_trav import Graph, TravError, datasets


def main(n_workers: int = 4) -> None:
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        edges = dd.read_parquet(datasets.path("facebook")).repartition(npartitions=2 * n_workers)
        with edges.trav.graph() as graph:
            ask(graph)
            degrees = graph.degrees()
        # The graph is closed, and its answers stay where they are.
        print(f"Most friends: {degrees.nlargest(1, 'degree').compute()['degree'].iloc[0]}")


def ask(graph: Graph) -> None:
    print(graph)
    print(graph.levels(0).compute().to_string(index=False))

    distances = graph.bfs(0)  # partitions on the workers, in ascending order of the vertices
    print(f"{distances.npartitions} partitions, divided at {distances.divisions}")
    print(f"Mean distance from 0: {distances['distance'].astype('float64').mean().compute():.2f}")

    path = graph.paths(0, 4038).compute()
    print(f"From 0 to 4038: {' > '.join(path['vertex'].astype(str))}")

    near = graph.khop(0, 1)
    print(f"Friends of 0 and their friendships: {len(near.vertices) - 1} and {len(near.edges)}")
    try:
        graph.pagerank()
    except TravError as error:
        print(error)


if __name__ == "__main__":
    main()
