"""Modules of the package import each other in one direction only."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "python" / "hone_embed"


def imported(module: Path) -> set[str]:
    """The modules of the package that one imports, also inside of functions."""
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            parts = [alias.name for alias in node.names]
        else:
            continue
        names.update(part.split(".")[1] for part in parts if part.startswith("hone_embed."))
    return names


def test_imports_have_no_circle():
    modules = {path.stem: path for path in PACKAGE.glob("*.py") if path.stem != "__init__"}
    assert len(modules) > 10
    left = {name: imported(path) & modules.keys() for name, path in modules.items()}
    while left:
        free = {name for name, needs in left.items() if not needs & left.keys()}
        assert free, f"these modules import each other: {left}"
        left = {name: needs for name, needs in left.items() if name not in free}
