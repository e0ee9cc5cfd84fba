"""The notebooks of the documentation run, and what they say is what they were stored with."""

import copy
import importlib.util
from pathlib import Path

import pytest

for package in ("nbclient", "ipykernel", "matplotlib", "scipy"):
    pytest.importorskip(package)
import nbformat  # noqa: E402

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

spec = importlib.util.spec_from_file_location("write_notebooks", ROOT / "ci" / "write_notebooks.py")
write_notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(write_notebooks)


def stored(path):
    return nbformat.read(path, as_version=4)


def kinds(notebook):
    """Return the kinds of each output, such as text/html beside text/plain."""
    return [
        [sorted(output.get("data", {"stream": ""})) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_says_what_it_was_stored_with(path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    run = write_notebooks.executed(path)
    assert write_notebooks.texts(run) == write_notebooks.texts(stored(path))
    assert kinds(run) == kinds(stored(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_stored_after_a_run_from_top_to_bottom(path):
    counts = [cell.execution_count for cell in stored(path).cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


def test_the_site_leads_to_every_notebook():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        assert f"\nnotebooks/{path.stem}\n" in index


def test_numbers_count_as_text_and_sizes_of_figures_do_not():
    notebook = stored(NOTEBOOKS[0])
    changed = copy.deepcopy(notebook)
    outputs = [output for cell in changed.cells for output in cell.get("outputs", [])]
    (figure,) = (output for output in outputs if "image/png" in output.get("data", {}))
    figure.data["text/plain"] = "<Figure size 1x1 with 1 Axes>"
    assert write_notebooks.texts(changed) == write_notebooks.texts(notebook)
    frame = next(output for output in outputs if "text/html" in output.get("data", {}))
    frame.data["text/plain"] += "9"
    assert write_notebooks.texts(changed) != write_notebooks.texts(notebook)
