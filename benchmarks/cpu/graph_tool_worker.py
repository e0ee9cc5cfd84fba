"""The worker process of `graphtool.GraphTool`: answers in lines of JSON; needs only graph-tool."""

import json
import sys
import time

import graph_tool
import numpy as np
from graph_tool import centrality, topology

asked = {"graph": None}


def loaded(path):
    """Return the graph in a file and its weights; the last one loaded is kept."""
    if asked["graph"] != path:
        with np.load(path) as file:
            graph = graph_tool.Graph(directed=bool(file["directed"]))
            graph.add_vertex(int(file["n"]))
            graph.add_edge_list(file["edges"])
            weights = None
            if "weight" in file:
                kind = "int32_t" if file["weight"].dtype.kind == "i" else "double"
                weights = graph.new_edge_property(kind)
                weights.a = file["weight"]
        asked.update(graph=path, made=(graph, weights))
    return asked["made"]


def answer(question):
    """Return the milliseconds of the call, and the file of its result if that is to be saved."""
    graph, weights = loaded(question["graph"])
    calls = {
        "shortest_distance": lambda: topology.shortest_distance(graph, question["root"], weights=weights),
        "label_components": lambda: topology.label_components(graph, directed=False)[0],
        "pagerank": lambda: centrality.pagerank(graph, damping=question["damping"], epsilon=question["tol"]),
    }
    begin = time.perf_counter()
    found = calls[question["question"]]()
    told = {"ms": 1e3 * (time.perf_counter() - begin)}
    if question["save"]:
        told["saved"] = f"{question['graph']}.{question['question']}.npy"
        np.save(told["saved"], np.array(found.a))
    return told


for line in sys.stdin:
    question = json.loads(line)
    told = {"graph-tool": graph_tool.__version__} if question.get("ready") else answer(question)
    print(json.dumps(told), flush=True)
