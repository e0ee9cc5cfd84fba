"""Each option is defined once: compare the options of `Graph`, the accessor and the command line."""

import ast
import inspect
import runpy
from dataclasses import fields
from pathlib import Path

import click
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import rapids_trav
from rapids_trav import Graph, TravError, tuning
from rapids_trav.accessor import TravAccessor
from rapids_trav.algorithms.options import (
    BetweennessOptions,
    CentralityOptions,
    ClosenessOptions,
    ComponentsOptions,
    PagerankOptions,
    PathOptions,
    ProgramOptions,
    SearchOptions,
    SsspOptions,
)
from rapids_trav.cli.commands import app
from rapids_trav.cli.options import choices_of, default_of
from rapids_trav.ids.degree_order import BACK_ENDS
from rapids_trav.storage.build_options import BuildOptions
from rapids_trav.tuning import BuildTuning, RunTuning, SearchTuning

# For each method: the class of its options, its other arguments, and options of the class that it lacks.
METHODS = {
    "from_edges": (BuildOptions, {"edges"}, set()),
    "open": (BuildOptions, {"folder", "verify"}, {
        "src", "dst", "directed", "weight", "vertices", "degree_sort", "order", "tuning", "grid", "devices",
        "keep_rows"
    }),
    "bfs": (SearchOptions, {"sources"}, set()),
    "paths": (PathOptions, {"sources", "targets"}, {"targets", "predecessors", "reached_only", "trace"}),
    "khop": (SearchOptions, {"seeds", "k"}, {field.name for field in fields(SearchOptions)} - {
        "direction", "where", "progress"
    }),
    "levels": (SearchOptions, {"sources"}, {"predecessors", "reached_only", "deterministic", "trace"}),
    "bfs_stream": (SearchOptions, {"roots"}, {"mode", "variant", "tuning", "trace"}),
    "run": (ProgramOptions, {"program", "initial"}, set()),
    "closeness": (ClosenessOptions, {"of", "improved"}, set()),
    "harmonic": (ClosenessOptions, {"of"}, set()),
    "eccentricity": (CentralityOptions, {"of"}, set()),
    "diameter": (CentralityOptions, set(), set()),
    "distances": (CentralityOptions, {"pairs"}, set()),
    "betweenness": (BetweennessOptions, set(), set()),
    "components": (ComponentsOptions, set(), set()),
    "sssp": (SsspOptions, {"sources"}, set()),
    "pagerank": (PagerankOptions, set(), set()),
}  # fmt: skip
QUESTIONS = [name for name in METHODS if name not in ("from_edges", "open", "bfs_stream")]
EDGES = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 0], "w": [1.0, 2.0, 3.0, 4.0]})


def parameters(method):
    return {name: part for name, part in inspect.signature(method).parameters.items() if name != "self"}


def annotation_of(kind, name):
    """Return the annotation as written in the source of the class or of a base class."""
    return next(
        vars(base)["__annotations__"][name] for base in kind.__mro__ if name in inspect.get_annotations(base)
    )


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_the_options_as_they_are_defined(name):
    kind, arguments, lacking = METHODS[name]
    taken = parameters(getattr(Graph, name))
    defined = {field.name: field.default for field in fields(kind)}
    assert set(taken) - arguments == set(defined) - lacking
    for option, default in defined.items():
        if option not in lacking:
            assert taken[option].default == default, option
            assert taken[option].annotation == annotation_of(kind, option), option


@pytest.mark.parametrize("name", METHODS)
def test_no_method_hides_options(name):
    kinds = {part.kind for part in parameters(getattr(Graph, name)).values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


def test_every_question_is_a_method_of_the_accessor():
    public = {name for name in vars(TravAccessor) if not name.startswith("_")}
    assert public == {*QUESTIONS, "graph"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_accessor_has_the_signatures_of_method_and_building(name):
    own, derived = parameters(getattr(Graph, name)), parameters(getattr(TravAccessor, name))
    building = parameters(TravAccessor.graph)
    assert set(derived) == set(own) | set(building)
    assert {option: derived[option] for option in own} == own
    for option in set(building) - set(own):
        assert derived[option].default == building[option].default
        assert derived[option].kind is inspect.Parameter.KEYWORD_ONLY
    assert set(own) & set(building) <= {"tuning", "progress"}  # each goes to the part that has it, or to both


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_stub_of_the_accessor_is_what_is_derived(name):
    """Options of a build that a method does not have itself are in `GraphOptions`."""
    script = Path(rapids_trav.__file__).parents[1] / "ci/write_stubs.py"
    stubs = ast.parse(runpy.run_path(str(script))["accessor_stub"]())
    (shared,) = (node for node in stubs.body if getattr(node, "name", "") == "GraphOptions")
    (accessor,) = (node for node in stubs.body if getattr(node, "name", "") == "TravAccessor")
    method = next(node for node in accessor.body if getattr(node, "name", "") == name)
    found = {part.arg for part in (*method.args.args, *method.args.kwonlyargs)} - {"self"}
    found |= {part.target.id for part in shared.body}
    assert found == set(parameters(getattr(TravAccessor, name)))


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_accessor_has_the_documentation_of_the_method(name):
    written = inspect.getdoc(getattr(TravAccessor, name))
    summary, _, rest = inspect.getdoc(getattr(Graph, name)).partition("\n\n")
    assert written.startswith(summary)
    assert written.endswith(rest)
    assert "`memory_limit`" in written


def test_the_building_is_documented_without_the_edges():
    written = inspect.getdoc(TravAccessor.graph)
    assert "edges : " not in written
    assert "src, dst : " in written
    assert "memory_limit : " in written


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: EDGES.trav.bfs(), r"^bfs\(\): missing a required argument: 'sources'"),
        (lambda: EDGES.trav.bfs(0, sort="radix"), r"^bfs\(\): got an unexpected keyword argument 'sort'"),
        (lambda: EDGES.trav.levels(0, predecessors=True), r"^levels\(\): got an unexpected keyword argument"),
        (lambda: EDGES.trav.graph(0, 1, True), r"^graph\(\): too many positional arguments"),
    ],
)
def test_the_accessor_refuses_other_arguments_before_it_builds(monkeypatch, ask, message):
    for name in (*QUESTIONS, "graph"):
        getattr(TravAccessor, name)  # derives the method on first access
    monkeypatch.setattr(Graph, "from_edges", None)
    with pytest.raises(TypeError, match=message):
        ask()


def test_the_accessor_gives_each_setting_to_the_one_that_has_it():
    asked = {"tuning": {"sort": "merge", "policy": "beamer"}, "variant": "direction", "degree_sort": True}
    assert_frame_equal(
        EDGES.trav.bfs(0, **asked)[["vertex", "distance"]], EDGES.trav.bfs(0)[["vertex", "distance"]]
    )
    with pytest.raises(TravError, match=r"^sort='merge' applies only to the order by degree"):
        EDGES.trav.bfs(0, tuning={"sort": "merge"})
    with pytest.raises(TravError, match=r"^policy='beamer' applies only to the variant 'direction'"):
        EDGES.trav.bfs(0, tuning={"policy": "beamer"})
    with pytest.raises(TravError, match=r"^hub_degree=100 applies only to the variant 'fused'"):
        EDGES.trav.bfs(0, tuning={"hub_degree": 100})
    with pytest.raises(TravError, match=r"^gather='replicas' is for a GPU"):
        EDGES.trav.pagerank(tuning={"gather": "replicas"})
    with pytest.raises(TravError, match=r"^gather='replicas' is for a GPU"):
        EDGES.trav.components(tuning={"gather": "replicas"})
    with pytest.raises(TravError, match=r"^gather='replicas' is for a GPU"):
        EDGES.trav.sssp(0, weight="w", tuning={"gather": "replicas"})


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (BuildTuning, {"policy": 1}, "^tuning names 'policy', which is not known here: choose from 'sort', "),
        (SearchTuning, {1: 2}, "^tuning names 1, which is not known here: choose from 'policy'"),
        (SearchTuning, "gap", "^tuning='gap' is not a mapping: give a dict with any of 'policy'"),
        (SearchTuning, {"hub_degree": -1}, "^hub_degree=-1: give an integer of 0 or more"),
        (RunTuning, {"gather": "all"}, "^gather='all' is not known: choose one of 'rows', 'replicas'.$"),
        (RunTuning, {"replication": 3}, "^replication=3 is not known"),
        (RunTuning, {"compress": 1}, "^compress=1 is"),
        (RunTuning, {"n_streams": 0}, "^n_streams=0 is not a number of pages in progress at once: give an"),
        (RunTuning, {"n_streams": True}, "^n_streams=True is not"),
        (RunTuning, {"n_streams": 2.0}, "^n_streams=2.0 is not"),
        (RunTuning, {"replication": 4}, "^replication=4 applies only to gather='replicas'"),
    ],
)
def test_settings_that_are_refused(kind, given, message):
    with pytest.raises(TravError, match=message):
        tuning.tuned(kind, given)


def test_back_ends_that_settings_name_are_those_that_there_are():
    assert choices_of(BuildTuning, "sort") == BACK_ENDS


# For each command: the class of its options, and options of the class that the command line lacks.
COMMANDS = {
    "bfs": (SearchOptions, {"targets", "tuning", "progress"}),
    "paths": (PathOptions, {
        "mode", "targets", "predecessors", "reached_only", "variant", "tuning", "trace", "progress"
    }),
    "khop": (SearchOptions, {field.name for field in fields(SearchOptions)} - {"direction", "where"}),
    "components": (ComponentsOptions, {"progress", "tuning"}),
    "sssp": (SsspOptions, {
        "asynchronous", "processor", "progress", "mode", "predecessors", "reached_only", "tuning"
    }),
    "pagerank": (PagerankOptions, {
        "processor", "progress", "weighted", "dtype", "tuning", "schedule"
    }),
}  # fmt: skip


def test_the_commands_of_queries_are_all_compared():
    assert set(COMMANDS) == {name for name in app.commands if name.replace("-", "_") in METHODS}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_have_defaults_and_choices_of_the_definition(name):
    kind, lacking = COMMANDS[name]
    command = {part.name: part for part in app.commands[name].params if isinstance(part, click.Option)}
    defined = {field.name for field in fields(kind)}
    assert defined & set(command) == defined - lacking
    context = click.Context(app.commands[name])
    for option in defined - lacking:
        assert command[option].get_default(context) == default_of(kind, option), option
        if choices := choices_of(kind, option):
            assert tuple(command[option].type.choices) == choices
