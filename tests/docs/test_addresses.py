"""The project has one address, wherever it is written."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
PLACES = ("pyproject.toml", "CITATION.cff", "CONTRIBUTING.md", "README.md", "conda/recipe.yaml")


def test_every_address_of_the_project_is_one_of_pyproject():
    found = set()
    for place in PLACES:
        text = (ROOT / place).read_text(encoding="utf-8")
        for address in re.findall(r"https://[\w./-]*rapids-trav[\w./-]*", text):
            assert address in URLS.values(), (place, address)
            found.add(address)
    assert found == set(URLS.values())


def test_the_places_that_need_an_address_have_it():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"repository-code: {URLS['Repository']}\n" in citation
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"<{URLS['Documentation']}>" in contributing
    assert URLS["Changelog"] == f"{URLS['Repository']}/blob/main/CHANGELOG.md"


def test_the_site_is_built_and_published_from_one_folder():
    workflow = (ROOT / ".github/workflows/docs.yml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (folder,) = re.findall(r"-b html docs (\S+)", makefile)
    assert "run: make docs\n" in workflow and f"path: {folder}\n" in workflow
