"""Methods of `Graph` that use many distances: closeness, eccentricity, diameter, betweenness, pairs."""

from __future__ import annotations

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
    ) -> Frame:
        """Closeness: the inverse of the mean distance between a vertex and the others.

        Parameters
        ----------
        of : id, sequence, Series or frame, optional
            The vertices to measure, in this order; by default all, in ascending order.
        direction : {"in", "out", "both"}
            Distances to the vertex, as in NetworkX, from it, or either way along edges.
        improved : bool, default True
            Multiply by the share of the other vertices that count (Wasserman and Faust), so that vertices
            of small components do not come out high.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.

        Returns
        -------
        DataFrame
            `vertex` and `closeness`, float64; 0 where no other vertex counts.

        References
        ----------
        L. C. Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1, 1979.
        M. Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014.
        """
        flag("improved", improved)
        options = ClosenessOptions(direction=direction, where=where)
        return self.questions.closeness(of, options, improved)

    def harmonic(self, of: object = None, *, direction: Direction = "in", where: Filter = None) -> Frame:
        """Harmonic centrality: the sum of one divided by the distance between a vertex and each other.

        Parameters
        ----------
        of, direction, where
            As in `closeness`.

        Returns
        -------
        DataFrame
            `vertex` and `harmonic`, float64.  Its last digits may differ with the number of threads.

        References
        ----------
        M. Marchiori, V. Latora, "Harmony in the small-world", Physica A 285, 2000.
        """
        return self.questions.harmonic(of, ClosenessOptions(direction=direction, where=where))

    def eccentricity(self, of: object = None, *, direction: Direction = "out", where: Filter = None) -> Frame:
        """Eccentricity: the distance from a vertex to the farthest one that it reaches.

        Of an undirected graph, all eccentricities come from bounds, which mostly takes a few dozen searches.

        Parameters
        ----------
        of, where
            As in `closeness`.
        direction : {"out", "in", "both"}
            Distances from the vertex, to it, or either way along edges.

        Returns
        -------
        DataFrame
            `vertex`; `eccentricity`, int32; `reached`, int64, the other vertices that it reaches.

        References
        ----------
        F. W. Takes, W. A. Kosters, "Computing the eccentricity distribution of large graphs", Algorithms
        6(1), 2013.
        """
        return self.questions.eccentricity(of, CentralityOptions(direction=direction, where=where))

    def diameter(self, *, direction: Direction = "out", where: Filter = None) -> int:
        """Return the longest distance between two vertices of which one reaches the other; 0 without edges.

        A graph of several components has that of the one where it is longest.

        Parameters
        ----------
        direction, where
            As in `eccentricity`.
        """
        return self.questions.diameter(CentralityOptions(direction=direction, where=where))

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
    ) -> Frame:
        """Betweenness: the share of shortest paths that pass through each vertex or edge.

        Parameters
        ----------
        k : int, optional
            Estimate from the paths of this many random sources; by default every vertex is one.
        of : {"vertices", "edges"}
        sources : id, sequence, Series or frame, optional
            The sources, in place of `k` random ones.
        seed : int, optional
            Of the random choice.
        normalized : bool, default True
            Divide by the number of pairs.
        endpoints : bool, default False
            Count the two ends of a path as well.
        direction : {"out", "in", "both"}
            Follow edges from source to destination, backwards, or both ways.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.

        Returns
        -------
        DataFrame
            `vertex`, ascending, or `src` and `dst`, a row for each distinct edge, of an undirected one with
            the smaller id first; `betweenness`, float64, in the scale of NetworkX 3.6.  Its last digits may
            differ with the number of threads.  Repeated edges count once.

        Raises
        ------
        TravError
            If `k` exceeds the vertices, or two vertices have more shortest paths than float64 holds.

        References
        ----------
        U. Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25(2), 2001.
        U. Brandes, C. Pich, "Centrality estimation in large networks", Int. J. Bifurcation and Chaos 17(7),
        2007.
        """
        options = BetweennessOptions(
            k=k,
            of=of,
            sources=sources,
            seed=seed,
            normalized=normalized,
            endpoints=endpoints,
            direction=direction,
            where=where,
        )
        return self.questions.betweenness(options)

    def distances(self, pairs: object, *, direction: Direction = "out", where: Filter = None) -> Frame:
        """Return the distance of each pair of vertices.

        Parameters
        ----------
        pairs : DataFrame or tuple of two sequences
            The first vertex of each pair and the second, a column each (of ids with several columns, those of
            the first vertex and then those of the second).
        direction : {"out", "in", "both"}
            Follow edges from the first vertex to the second, backwards, or both ways.
        where : str, array or Series, optional
            Which edges to use: the name of a boolean column, a condition such as
            ``"weight > 3 and kind == 'road'"``, or a mask with a flag for each edge, by position.

        Returns
        -------
        DataFrame
            `source`, `target` and `distance`, nullable int32 and null where there is no path: a row for each
            pair, in their order.

        References
        ----------
        I. Pohl, "Bi-directional search", Machine Intelligence 6, 1971.
        """
        return self.questions.distances(pairs, CentralityOptions(direction=direction, where=where))
