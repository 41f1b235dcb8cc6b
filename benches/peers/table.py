"""Results as Markdown: one table per graph, with ratios to a reference."""

from __future__ import annotations

from typing import Any

Result = dict[str, Any]

BUSY_SHARE = 0.05
BUSY_SECONDS = 0.2
COLUMNS = ("", "wall s", "of it embedding", "CPU s", "peak MB", "wall ×", "CPU ×", "memory ×", "result")
HEAD = f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * 7}---|\n"


def disturbed(result: Result, cores: int) -> bool:
    """Whether other processes took a share of the machine during a run that may have changed its figures."""
    others = result.get("others_cpu")
    return others is not None and others > max(BUSY_SECONDS, BUSY_SHARE * cores * result["wall"])


def ratio(result: Result, reference: Result | None, field: str) -> str:
    """How many times the reference's figure this one is; a run that was cut off gives a lower bound."""
    if reference is None or reference["status"] != "ok" or field not in result or not reference[field]:
        return ""
    if result["status"] not in ("ok", "over cap"):
        return ""
    bound = "> " if result["status"] == "over cap" else ""
    return f"{bound}{result[field] / reference[field]:.2f}"


def figure(value: float | None, bound: str = "") -> str:
    """A number of seconds or megabytes at three digits."""
    if value is None:
        return ""
    return bound + (f"{value:.0f}" if value >= 100 else f"{value:.3g}")


def row(result: Result, reference: Result | None, cores: int) -> str:
    """One contestant's line."""
    if "wall" not in result:
        return f"| {result['contestant']} | | | | | | | | {result['status']} |\n"
    bound = "> " if result["status"] == "over cap" else ""
    note = f"{result['status']}: {result['detail']}" if result.get("detail") else result["status"]
    cells = [
        result["contestant"] + (" †" if disturbed(result, cores) else ""),
        figure(result["wall"], bound),
        figure(result.get("stages", {}).get("embed")),
        figure(result["cpu"], bound),
        figure(result["peak_bytes"] / 1e6, bound),
        *(ratio(result, reference, field) for field in ("wall", "cpu", "peak_bytes")),
        note.replace("|", "\\|"),
    ]
    return "| " + " | ".join(cells) + " |\n"


def graph_section(graph: Result, results: list[Result], reference_name: str, cores: int) -> str:
    """The table of one graph."""
    reference = next((result for result in results if result["contestant"] == reference_name), None)
    title = f"## {graph['name']}: {graph['nodes']:,} nodes, {graph['edges']:,} edges\n\n"
    return title + HEAD + "".join(row(result, reference, cores) for result in results)


def markdown(report: Result) -> str:
    """The whole report."""
    setup = report["setup"]
    machine = setup["machine"]
    versions = ", ".join(f"{name}: {version or 'not installed'}" for name, version in setup["versions"].items())
    libraries = ", ".join(f"{name} {version or 'not installed'}" for name, version in setup["libraries"].items())
    lines = [
        "# Peers: edge list to .npy\n",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB; Python {machine['python']}; "
        f"{setup['date']}. {setup['dim']} dimensions; threads of each: {setup['threads']}; "
        f"cap {setup['cap']:g} s; runs of each: {setup['repeat']}, of which the one of median wall clock. "
        f"× is the ratio to {setup['reference']}: above 1 is more than it takes.\n",
        f"{versions}. Libraries: {libraries}\n",
    ]
    for graph in report["graphs"]:
        results = [result for result in report["results"] if result["graph"] == graph["name"]]
        lines.append(graph_section(graph, results, setup["reference"], machine["cores"]))
    if any("wall" in result and disturbed(result, machine["cores"]) for result in report["results"]):
        lines.append("† other processes took more than 5 % of the machine during this run: do not quote it.\n")
    return "\n".join(lines)
