"""The notebooks in docs/notebooks run, and print what they show.

HONE_WRITE_DOCS=1 stores the new outputs instead.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[3] / "docs" / "notebooks").glob("*.ipynb"))


def tidy(notebook):
    """Leaves out what says nothing to a reader: times, versions, and pictures as text."""
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if "image/svg+xml" in output.get("data", {}):
                output.data.pop("text/plain", None)
    return notebook


def shown(notebook):
    """What each cell prints; of pictures only that there is one."""

    def text(output):
        return output.get("text") or output.get("data", {}).get("text/plain") or output.output_type

    return ["".join(text(output) for output in cell.get("outputs", [])) for cell in notebook.cells]


def test_there_are_two():
    assert len(NOTEBOOKS) == 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    tidy(notebook)
    if os.environ.get("HONE_WRITE_DOCS"):
        nbformat.write(notebook, path)
        stored = notebook
    assert any(shown(stored)) and shown(stored) == shown(notebook)
