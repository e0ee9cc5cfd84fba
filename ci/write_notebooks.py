"""Run the notebooks of the documentation and write their outputs into them.

    python ci/write_notebooks.py            # run them, and keep the outputs
    python ci/write_notebooks.py --check    # exit with 1 if the texts of the outputs differ from those kept

Pictures are kept but not compared: their bytes depend on the versions of the libraries that draw them.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import click
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
SECONDS = 300  # most that a cell may take, with the compiling of a first run


def executed(path: Path) -> NotebookNode:
    """Run a notebook in a kernel of this Python; return it with its outputs.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises an exception.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # Sockets in a folder of this user's, where others could connect to ports.
        manager = {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,  # however often the kernel happened to flush
            resources={"metadata": {"path": folder}},
            config=Config(KernelManager=manager),
        )
        client.execute()
    notebook.metadata.language_info = {"name": "python"}  # without the version, which varies
    return notebook


def texts(notebook: NotebookNode) -> list[list[str]]:
    """Return what the outputs of each cell of code say, without what varies from run to run."""
    return [[_text(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def _text(output: NotebookNode) -> str:
    text = output.text if output.output_type == "stream" else output.data["text/plain"]
    text = re.sub(r"<Figure .*>", "<Figure>", text)  # its size in pixels is a matter of taste
    return re.sub(r" at 0x\w+", "", text).rstrip()


@click.command(help=__doc__.split("\n")[0])
@click.option("--check", is_flag=True, help="Write nothing; leave with 1 if a text would change.")
def main(check: bool) -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = executed(path)
        if not check:
            nbformat.write(notebook, path)
        elif texts(notebook) != texts(nbformat.read(path, as_version=4)):
            raise click.ClickException(f"{path.name} says something else when run: write it again.")


if __name__ == "__main__":
    main()
