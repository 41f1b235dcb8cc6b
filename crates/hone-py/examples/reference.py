"""Writes docs/python-reference.md from the docstrings of hone_embed.

    python crates/hone-py/examples/reference.py docs/python-reference.md
"""

import inspect
import re
import sys

import hone_embed

HEAD = """# Python reference

Which functions there are, what they do, and their parameters, from the docstrings. `help(hone_embed.roles)` says what each parameter of
a function means, with examples; the [tutorial](python.md) shows the functions at work.

{index}

`graph` is anything that `Graph` takes. `n_jobs` is the number of threads (None or -1: all cores) and `random_state` the seed; the
same seed gives bit-identical results for any `n_jobs`. `verbose` shows progress. Functions are shown without these three. Results with columns have `to_pandas()` (the ids are its
index) and `to_arrow()`, and can be passed to anything that takes Arrow streams.
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


# Said once for all, at the top of the page.
COMMON = {"n_jobs", "verbose", "random_state"}
COMMON_TEXTS = {"Anything `Graph` takes."}


def plain(documented):
    """A docstring with roles of Sphinx as code, and no examples."""
    lines = re.split(r"^Examples\n-{3,}$", inspect.getdoc(documented) or "", flags=re.MULTILINE)[0]
    lines = re.sub(r"^>>>.*\n?(?:.+\n?)*", "", lines, flags=re.MULTILINE)
    return re.sub(r":(?:class|func|meth|mod|attr):`~?\.?([^`]+)`", r"`\1`", lines).replace("``", "`").rstrip()


def first(text):
    """The first sentence of a text, which ends before a blank and a capital letter."""
    return re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(text.strip().split("\n\n")[0].split()))[0]


def text(documented):
    """What a docstring says: its first sentence; of a class also that of each parameter and attribute."""
    head, *sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", plain(documented), flags=re.MULTILINE)
    out = [first(head)]
    if not inspect.isclass(documented):
        return out[0]
    for title, body in zip(sections[::2], sections[1::2]):
        entries = re.findall(r"^(\S.*)\n((?:(?: +.*)?(?:\n|$))+)", body, flags=re.MULTILINE)
        lines = []
        for name, meaning in entries:
            said = first(inspect.cleandoc(meaning))
            if name not in COMMON and said not in COMMON_TEXTS:
                lines.append(f"* `{name.partition(' : ')[0]}`: {said}")
        if lines and title != "Returns":
            out += ([f"{title}:"] if title == "Attributes" else []) + ["\n".join(lines)]
    return "\n\n".join(out)


def signature(name, documented):
    """`name(parameters)` without annotations; of a function without parameters that the top of the page explains."""
    try:
        parameters = inspect.signature(documented).parameters.values()
    except (TypeError, ValueError):
        return name
    parts, star = [], False
    for parameter in parameters:
        if parameter.name in ("self", "cls") or (parameter.name in COMMON and not inspect.isclass(documented)):
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
    parts = [f"### {name}", f"`{signature(name, documented)}`", text(documented)]
    if inspect.isclass(documented) and not issubclass(documented, Warning):
        members = []
        for member, function in own_and_inherited(documented).items():
            if member.startswith("_") or not getattr(function, "__doc__", None):
                continue
            function = getattr(function, "__func__", function)  # of a class method
            if getattr(function, "__qualname__", "").startswith("Table."):
                continue
            if inspect.isfunction(function):
                members.append(f"* `.{signature(member, function)}`: {first(plain(function))}")
            elif isinstance(function, property):
                members.append(f"* `.{member}`: {first(plain(function))}")
        parts += ["Members:", "\n".join(members)] if members else []
    return "\n\n".join(parts)


def anchors(groups):
    """Each name with the anchor of its heading: a heading that repeats another one gets a number."""
    seen = {}
    for title, names in groups.items():
        for heading in (title, *names):
            anchor = heading.lower().replace(" ", "-")
            count = seen[anchor] = seen.get(anchor, -1) + 1
            if heading in names:
                yield heading, f"{anchor}-{count}" if count else anchor


def page():
    """The whole page."""
    grouped = {name for names in GROUPS.values() for name in names}
    rest = [name for name in hone_embed.__all__ if name not in grouped and name != "__version__"]
    groups = {title: [name for name in names if name in hone_embed.__all__] for title, names in {**GROUPS, "Others": rest}.items()}
    index = ", ".join(f"[{name}](#{anchor})" for name, anchor in anchors(groups))
    parts = [HEAD.format(index=index)]
    for title, names in groups.items():
        parts += [f"## {title}", *map(entry, names)]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).rstrip() + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page())
