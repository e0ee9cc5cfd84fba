"""The README and the pages: code prints the output that is shown, links lead somewhere, commands exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
MOST_WORDS = 1200  # of the README
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# Pages whose code is run here; others have a test module, and those of measurements have no code.
WITH_OUTPUT = [
    README,
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "index",
            "install",
            "guide",
            "inputs",
            "options",
            "memory",
            "how-it-works",
            "performance",
        )
    ),
    *(ROOT / "docs" / f"from-{name}.md" for name in ("cugraph", "scipy-igraph")),
]
ELSEWHERE = {
    "api.md": "test_docstrings",
    "command-line.md": "test_command_line_page",
    "dask.md": "test_dask_page",
    "devices.md": "test_devices_page",
}
ELSEWHERE |= {"networkx.md": "test_networkx_page"}
OF_FIGURES = {"cpu.md", "scale.md", "systems.md"}

CODE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name(page: Path) -> str:
    return page.name


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    headings = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


@pytest.mark.parametrize("page", WITH_OUTPUT, ids=name)
def test_code_prints_what_is_shown(page, capsys, tmp_path, monkeypatch):
    for package in ("networkx", "duckdb", "polars", "scipy"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    blocks = CODE.findall(page.read_text(encoding="utf-8"))
    assert any(output for _, output in blocks)
    for code, output in blocks:
        compiled = compile(code, page.name, "exec")
        if "import cudf" in code:  # examples/coming_from_cugraph.py makes the same calls
            continue
        capsys.readouterr()
        exec(compiled, names)
        assert lines(capsys.readouterr().out) == lines(output), code


def test_every_page_has_an_example_that_is_run():
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert pages == {page.name for page in WITH_OUTPUT[1:]} | set(ELSEWHERE) | OF_FIGURES
    for module in ELSEWHERE.values():
        assert (ROOT / "tests" / "docs" / f"{module}.py").is_file()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith(("https:", "http:")):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.is_file() and path.is_relative_to(ROOT), target
        assert not anchor or anchor in anchors(path), target


def test_the_readme_leads_to_every_page():
    linked = {(ROOT / target).resolve() for target in LINK.findall(README.read_text(encoding="utf-8"))}
    of_the_site = {ROOT / "docs" / name for name in ("index.md", "api.md")}
    assert set((ROOT / "docs").glob("*.md")) - of_the_site <= linked


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_commands_of_make_exist():
    targets = re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_extras_exist():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for page in (README, ROOT / "docs" / "install.md"):
        extras = re.findall(r"pip install '\.\[(\w+)\]'", page.read_text(encoding="utf-8"))
        assert "cu13" in extras
        for extra in extras:
            assert re.search(rf"^{extra} = ", pyproject, re.MULTILINE), extra
