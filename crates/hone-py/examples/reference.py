"""Writes docs/python-reference.md from the docstrings of hone_embed.

    python crates/hone-py/examples/reference.py docs/python-reference.md
"""

import inspect
import re
import sys

import hone_embed

HEAD = """# Python reference

What every parameter means. Generated from the docstrings by `crates/hone-py/examples/reference.py`; `help(hone_embed.HONE)` shows
the same, with examples. Begin with the [tutorial](python.md).
"""

# What belongs together; names that are in no group come last.
GROUPS = {
    "Embedding": ["HONE", "NodeVectors", "presets", "tune", "Tuning"],
    "Graphs": ["Graph", "read_graph", "read_recorded_graph", "generate"],
    "Motifs": ["count_orbits", "features", "update_orbits", "OrbitCounts", "motif_adjacency", "motif_matrix", "draw", "Figure"],
    "Motif statistics": [
        "significance", "Significance", "coefficients", "Coefficients", "triad_census", "compare", "Comparison",
        "motif_cluster", "MotifCluster", "list_motifs",
    ],
    "Similar nodes": ["most_similar", "neighbours", "Neighbours", "prepared"],
    "Roles and maps": ["roles", "Roles", "layout", "draw_map", "Map"],
    "Evaluation": ["evaluate_link_prediction", "evaluate_nodes", "Evaluation", "link_split", "LinkSplit", "methods"],
    "Files": ["write_embedding", "read_embedding", "Embedding", "read_factors", "Factors", "LocalFactors", "JointFactors"],
}


def text(documented):
    """A docstring as Markdown: sections as bold lines, roles of Sphinx as code, no examples."""
    lines = re.split(r"^Examples\n-{3,}$", inspect.getdoc(documented) or "", flags=re.MULTILINE)[0]
    lines = re.sub(r"^>>>.*\n?(?:.+\n?)*", "", lines, flags=re.MULTILINE)
    lines = re.sub(r":(?:class|func|meth|mod|attr):`~?\.?([^`]+)`", r"`\1`", lines).replace("``", "`")
    lines = re.sub(r"^(\w[\w ]*)\n-{3,}$", r"**\1**\n", lines, flags=re.MULTILINE)
    out, given = [], lines.splitlines()
    for line, following in zip(given, [*given[1:], ""]):
        if line and not line.startswith((" ", "*", "`")) and following.startswith("    "):
            name, _, kind = line.partition(" : ")
            line = f"* `{name}`" + (f" : {kind}" if kind else "")
        elif line.startswith("    "):
            line = f"  {line.strip()}"
        out.append(line)
    return "\n".join(out).rstrip()


def signature(name, documented):
    """`name(parameters)` without annotations."""
    try:
        parameters = inspect.signature(documented).parameters.values()
    except (TypeError, ValueError):
        return name
    parts, star = [], False
    for parameter in parameters:
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        parts.append(str(parameter.replace(annotation=parameter.empty)))
    return f"{name}({', '.join(parts)})"


def own_and_inherited(documented):
    """Members of a class, then those that it has from other classes of this package."""
    members = {}
    for base in documented.__mro__:
        if base.__module__.startswith("hone_embed"):
            members.update((name, member) for name, member in vars(base).items() if name not in members)
    return members


def entry(name):
    """A class with its methods, or a function."""
    documented = getattr(hone_embed, name)
    parts = [f"### {name}", f"```text\n{signature(name, documented)}\n```", text(documented)]
    if inspect.isclass(documented) and not issubclass(documented, Warning):
        for member, function in own_and_inherited(documented).items():
            if member.startswith("_") or not getattr(function, "__doc__", None):
                continue
            function = getattr(function, "__func__", function)  # of a class method
            if inspect.isfunction(function):
                parts += [f"#### {name}.{signature(member, function)}", text(function)]
            elif isinstance(function, property):
                parts += [f"#### {name}.{member}", text(function)]
    return "\n\n".join(parts)


def page():
    """The whole page."""
    grouped = {name for names in GROUPS.values() for name in names}
    rest = [name for name in hone_embed.__all__ if name not in grouped and name != "__version__"]
    parts = [HEAD]
    for title, names in {**GROUPS, "Others": rest}.items():
        parts += [f"## {title}", *(entry(name) for name in names if name in hone_embed.__all__)]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).rstrip() + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page())
