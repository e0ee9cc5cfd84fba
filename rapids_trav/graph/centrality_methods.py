"""Methods of `Graph` that use many distances: closeness, eccentricity, diameter, betweenness, pairs."""

from __future__ import annotations

from rapids_trav.algorithms import betweenness, closeness, distances
from rapids_trav.algorithms.options import (
    BetweennessOptions,
    CentralityOptions,
    ClosenessOptions,
    Direction,
    ScoresOf,
)
from rapids_trav.frames.columns import Frame
from rapids_trav.graph.properties import GraphProperties
from rapids_trav.storage.filters import Filter
from rapids_trav.utilities.checks import flag
from rapids_trav.utilities.progress import ProgressOption


class CentralityMethods(GraphProperties):
    """Methods of `Graph` that use the distances of many searches; `Graph` inherits them.

    All of them count edges, not weights.  They keep no distances, so they need memory for only a few values
    of each vertex, however many searches they make.
    """

    def closeness(
        self,
        of: object = None,
        *,
        direction: Direction = "in",
        improved: bool = True,
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Measure closeness: the inverse of the mean distance between a vertex and the others.

        Parameters
        ----------
        of : id, sequence, Series or frame, optional
            The vertices to measure, in this order; by default, all in ascending order.
        direction : {"in", "out", "both"}
            Distances to the vertex, as in NetworkX, from it, or either way along edges.
        improved : bool, default True
            Multiply by the share of the other vertices that count (Wasserman and Faust), so that vertices
            of small components do not come out high.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.
        progress : bool or callable, default False
            Show on a terminal or in a notebook what is done; or a function, called every now and then with
            what is done, of how much and the unit: "sources", "pairs" or "vertices".

        Returns
        -------
        DataFrame
            `vertex` and `closeness`, float64; 0 where no other vertex counts.

        References
        ----------
        L. C. Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1, 1979.
        M. Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014.

        Examples
        --------
        >>> from rapids_trav import datasets
        >>> friends = datasets.load("facebook").trav.graph()
        >>> friends.closeness([0, 107])
           vertex  closeness
        0       0   0.353343
        1     107   0.459699
        """
        flag("improved", improved)
        options = ClosenessOptions(direction=direction, where=where, progress=progress)
        return self.questions.ask(closeness.closeness, of, improved, options)

    def harmonic(
        self,
        of: object = None,
        *,
        direction: Direction = "in",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Measure harmonic centrality: the sum of the inverse distances between a vertex and the others.

        Parameters
        ----------
        of, direction, where, progress
            As in `closeness`.

        Returns
        -------
        DataFrame
            `vertex` and `harmonic`, float64.  Its last digits may differ with the number of threads.

        References
        ----------
        M. Marchiori, V. Latora, "Harmony in the small-world", Physica A 285, 2000.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.harmonic([0, 1])
           vertex  harmonic
        0       0  2.833333
        1       1  3.000000
        """
        options = ClosenessOptions(direction=direction, where=where, progress=progress)
        return self.questions.ask(closeness.harmonic, of, options)

    def eccentricity(
        self,
        of: object = None,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Measure eccentricity: the distance from a vertex to the farthest one that it reaches.

        The eccentricities of all vertices of an undirected graph are derived from bounds, usually with a few
        dozen searches.

        Parameters
        ----------
        of, where, progress
            As in `closeness`.
        direction : {"out", "in", "both"}
            Distances from the vertex, to it, or either way along edges.

        Returns
        -------
        DataFrame
            `vertex`; `eccentricity`, int32, in edges; `reached`, int64, the number of other vertices reached.

        References
        ----------
        F. W. Takes, W. A. Kosters, "Computing the eccentricity distribution of large graphs", Algorithms
        6(1), 2013.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.eccentricity()
           vertex  eccentricity  reached
        0       0             3        4
        1       1             2        4
        2       2             4        4
        3       3             3        4
        4       4             4        4
        """
        options = CentralityOptions(direction=direction, where=where, progress=progress)
        return self.questions.ask(closeness.eccentricity, of, options)

    def diameter(
        self,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> int:
        """Return the longest finite distance between two vertices, in edges; 0 without edges.

        The diameter of a graph with several components is the largest of their diameters.

        Parameters
        ----------
        direction, where, progress
            As in `eccentricity`.

        Examples
        --------
        >>> from rapids_trav import datasets
        >>> friends = datasets.load("facebook").trav.graph()
        >>> friends.diameter()
        8
        """
        options = CentralityOptions(direction=direction, where=where, progress=progress)
        return self.questions.ask(closeness.diameter, options)

    def betweenness(
        self,
        k: int | None = None,
        *,
        of: ScoresOf = "vertices",
        sources: object = None,
        seed: int | None = None,
        normalized: bool = True,
        endpoints: bool = False,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Measure betweenness: the share of shortest paths that pass through each vertex or edge.

        Parameters
        ----------
        k : int, optional
            Estimate from the paths of this many random sources; by default, every vertex is a source.
        of : {"vertices", "edges"}
            Measure the vertices or the edges.
        sources : id, sequence, Series or frame, optional
            Use these sources instead of `k` random ones.
        seed : int, optional
            Seed of the random choice of sources.
        normalized : bool, default True
            Divide by the number of pairs of vertices.
        endpoints : bool, default False
            Count the two ends of a path as well.
        direction : {"out", "in", "both"}
            Follow edges from source to destination, backwards, or both ways.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.
        progress : bool or callable, default False
            As in `closeness`.

        Returns
        -------
        DataFrame
            `vertex`, ascending; or `src` and `dst`, with a row for each distinct edge and the smaller id of
            an undirected edge first.  `betweenness`, float64, is on the scale of NetworkX 3.6.  Its last
            digits may differ with the number of threads.  Repeated edges count once.  With a
            single source (``k=1`` or one of `sources`) that vertex itself has NaN, as in NetworkX, unless
            `endpoints` are counted: only paths from other sources could pass through it.

        Raises
        ------
        TravError
            If `k` exceeds the number of vertices, or two vertices have more shortest paths than float64 can
            represent.

        References
        ----------
        U. Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25(2), 2001.
        U. Brandes, C. Pich, "Centrality estimation in large networks", Int. J. Bifurcation and Chaos 17(7),
        2007.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> graph = edges.trav.graph()
        >>> graph.betweenness()
           vertex  betweenness
        0       0     0.500000
        1       1     0.666667
        2       2     0.000000
        3       3     0.500000
        4       4     0.000000
        >>> graph.betweenness(of="edges").nlargest(1, "betweenness")
           src  dst  betweenness
        0    0    1          0.6
        """
        options = BetweennessOptions.from_arguments(locals())
        return self.questions.ask(betweenness.betweenness, options)

    def distances(
        self,
        pairs: object,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> Frame:
        """Return the distance of each pair of vertices.

        Parameters
        ----------
        pairs : DataFrame or tuple of two sequences
            The first and the second vertex of each pair, one column each; for ids of several columns, the
            columns of the first vertex followed by those of the second.
        direction : {"out", "in", "both"}
            Follow edges from the first vertex to the second, backwards, or both ways.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.
        progress : bool or callable, default False
            As in `closeness`.

        Returns
        -------
        DataFrame
            `source`, `target` and `distance` (nullable int32, in edges, null where there is no path), with a
            row for each pair in the order given.

        References
        ----------
        I. Pohl, "Bi-directional search", Machine Intelligence 6, 1971.

        Examples
        --------
        >>> from rapids_trav import datasets
        >>> friends = datasets.load("facebook").trav.graph()
        >>> friends.distances(([0, 107], [4000, 4038]))
           source  target  distance
        0       0    4000         5
        1     107    4038         4
        """
        options = CentralityOptions(direction=direction, where=where, progress=progress)
        return self.questions.ask(distances.distances, pairs, options)
