"""The script that draws the pictures of docs/how-it-works.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "ci" / "write_pictures.py"
PICTURES = sorted(path.stem for path in (ROOT / "docs" / "pictures").glob("*.svg"))


def test_the_page_shows_every_picture():
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(pictures/(\w+)\.svg\)", page)) == PICTURES
    assert PICTURES


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_drawn(name, tmp_path):
    command = [sys.executable, str(SCRIPT), "--folder", str(tmp_path), "--scale", "10", "--only", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    text = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    assert text.count("<path") > 20
