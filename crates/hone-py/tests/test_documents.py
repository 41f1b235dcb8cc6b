"""Every Python example of the README and of the pages in docs/ and reports/ runs, page by page, from top to bottom.

Examples with prompts are compared with what they print. A block that cannot run everywhere says why after its language:
``python skip: reason``, or ``python needs: module`` where an optional module decides.
"""

from __future__ import annotations

import doctest
import importlib.metadata
import importlib.util
import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "crates" / "hone-py" / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "reports").glob("*.md"))]
BLOCK = re.compile(r"^```python(.*)\n((?:.*\n)*?)^```", flags=re.MULTILINE)


def examples(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page: what stands behind the language, and the code."""
    return [(mark.strip(), code) for mark, code in BLOCK.findall(page.read_text(encoding="utf-8"))]


def wanted(mark: str) -> bool:
    """Whether a block runs here."""
    if mark.startswith("needs:"):
        return importlib.util.find_spec(mark.removeprefix("needs:").strip()) is not None
    assert mark == "" or re.fullmatch(r"skip: \w.*", mark), f"unknown mark: {mark}"
    return mark == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples(page, tmp_path, monkeypatch):
    blocks = [code for mark, code in examples(page) if wanted(mark)]
    monkeypatch.chdir(tmp_path)
    session = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for number, code in enumerate(blocks, 1):
        if code.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, session, f"{page.name}, block {number}", str(page), 0)
            runner.run(test, clear_globs=False)
            session = test.globs
        else:
            exec(compile(code, f"{page.name}, block {number}", "exec"), session)
    assert runner.failures == 0


def test_there_are_examples():
    assert sum(len(examples(page)) for page in PAGES) > 25


def test_the_reference_is_that_of_the_package():
    """docs/python-reference.md equals what the docstrings give; on a difference, run the script it names."""
    script = runpy.run_path(str(ROOT / "crates" / "hone-py" / "examples" / "reference.py"))
    page = ROOT / "docs" / "python-reference.md"
    if os.environ.get("HONE_WRITE_DOCS"):
        page.write_text(script["page"](), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == script["page"](), "set HONE_WRITE_DOCS=1 to write the page again"


def test_the_picture_of_motifs_is_what_its_script_draws():
    script = runpy.run_path(str(ROOT / "crates" / "hone-py" / "examples" / "motifs.py"))
    assert (ROOT / "docs" / "images" / "motifs.svg").read_text(encoding="utf-8") == script["picture"]()


def test_the_wheel_contains_its_licences():
    names = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-TEXTS.txt", "THIRD-PARTY.md"]
    files = {path.name: path.locate() for path in importlib.metadata.files("hone-embed")}
    assert [files[name].read_text(encoding="utf-8") for name in names] == [
        (ROOT / name).read_text(encoding="utf-8") for name in names
    ]
