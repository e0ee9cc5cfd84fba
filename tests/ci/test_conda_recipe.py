"""Recipe of the conda package: it says what pyproject.toml says, and rattler-build can read it."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import rapids_trav

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
PATH = ROOT / "conda" / "recipe.yaml"
RECIPE = yaml.safe_load(PATH.read_text(encoding="utf-8"))
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = WHOLE["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Names in conda-forge and the channel of RAPIDS, where they differ; none has the CUDA version in it.
NAMES = {"matplotlib": "matplotlib-base", "nvidia-nccl": "nccl", "cupy-cuda13x": "cupy"}


def wanted(requirements: list[str]) -> set[str]:
    """Return requirements of pyproject.toml as conda writes them."""
    found = set()
    for requirement in map(Requirement, requirements):
        name = requirement.name.removesuffix("-cu13")
        text = str(requirement.specifier).removeprefix("==")
        found.add(f"{NAMES.get(name, name)} {text}".strip())
    return found


def test_dependencies():
    needed = {"__linux", f"python {PROJECT['requires-python']}"} | wanted(PROJECT["dependencies"])
    assert sorted(RECIPE["requirements"]["run"]) == sorted(needed)


def test_constraints_are_what_the_extras_bring():
    """All but CUDA's own bindings, which are of the CUDA version that is installed."""
    extras = [EXTRAS[name] for name in ("plot", "mtx", "networkx", "dask", "cu13")]
    requirements = [text for extra in extras for text in extra if not text.startswith("cuda-bindings")]
    assert sorted(RECIPE["requirements"]["run_constraints"]) == sorted(wanted(requirements))


def test_build():
    built_with = wanted(WHOLE["build-system"]["requires"])
    assert set(RECIPE["requirements"]["host"]) == {"python >=3.11", "pip"} | built_with
    assert PROJECT["requires-python"] == ">=3.11"
    scripts = [f"{name} = {function}" for name, function in PROJECT["scripts"].items()]
    assert RECIPE["build"]["noarch"] == "python"
    assert RECIPE["build"]["python"]["entry_points"] == scripts


def test_what_it_says_of_the_package():
    assert RECIPE["context"]["version"] == rapids_trav.__version__
    about, urls = RECIPE["about"], PROJECT["urls"]
    assert (about["summary"], about["license"]) == (PROJECT["description"], PROJECT["license"])
    assert about["homepage"] == urls["Homepage"] and about["repository"] == urls["Repository"]
    assert about["documentation"] == urls["Documentation"]
    assert (ROOT / about["license_file"]).is_file()


def test_rattler_build_reads_it():
    rattler_build = pytest.importorskip("rattler_build")
    (rendered,) = rattler_build.Stage0Recipe.from_file(PATH).render()
    assert rendered.recipe.package.version == rapids_trav.__version__
