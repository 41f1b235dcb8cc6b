"""Draws docs/images/motifs.svg: the 13 edge orbits, the edge of each orbit highlighted. Needs nothing but Python.

    python crates/hone-py/examples/motifs.py docs/images/motifs.svg
"""

import sys

PATH = [(8, 60), (28, 20), (52, 60), (72, 20)]
STAR = [(40, 44), (40, 8), (8, 68), (72, 68)]
SQUARE = [(12, 12), (68, 12), (68, 68), (12, 68)]
TAILED = [(12, 20), (12, 60), (44, 40), (76, 40)]
TRIANGLE = [(40, 10), (8, 66), (72, 66)]

# Name, places of the nodes, edges, and which of the edges are in the orbit.
ORBITS = [
    ("edge", [(10, 40), (70, 40)], [(0, 1)], [(0, 1)]),
    ("path3", TRIANGLE, [(0, 1), (0, 2)], [(0, 1), (0, 2)]),
    ("triangle", TRIANGLE, [(0, 1), (0, 2), (1, 2)], [(0, 1), (0, 2), (1, 2)]),
    ("path4-end", PATH, [(0, 1), (1, 2), (2, 3)], [(0, 1), (2, 3)]),
    ("path4-mid", PATH, [(0, 1), (1, 2), (2, 3)], [(1, 2)]),
    ("star4", STAR, [(0, 1), (0, 2), (0, 3)], [(0, 1), (0, 2), (0, 3)]),
    ("cycle4", SQUARE, [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]),
    ("tailed-tail", TAILED, [(0, 1), (0, 2), (1, 2), (2, 3)], [(2, 3)]),
    ("tailed-near", TAILED, [(0, 1), (0, 2), (1, 2), (2, 3)], [(0, 2), (1, 2)]),
    ("tailed-far", TAILED, [(0, 1), (0, 2), (1, 2), (2, 3)], [(0, 1)]),
    ("diamond-chord", SQUARE, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [(0, 2)]),
    ("diamond-rim", SQUARE, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [(0, 1), (1, 2), (2, 3), (3, 0)]),
    ("clique4", SQUARE, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)], None),
]
WIDTH, HEIGHT, COLUMNS = 120, 124, 5


def panel(at, name, places, edges, orbit):
    """One motif: its edges, those of the orbit on top, its nodes and its name."""
    x, y = at % COLUMNS * WIDTH + 20, at // COLUMNS * HEIGHT + 14
    parts = [f'<g transform="translate({x},{y})">']
    for edge in sorted(edges, key=lambda edge: orbit is None or edge in orbit):
        (x1, y1), (x2, y2) = (places[node] for node in edge)
        of_orbit = orbit is None or edge in orbit
        line = 'stroke="#c2410c" stroke-width="5"' if of_orbit else 'stroke="#94a3b8" stroke-width="3"'
        parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {line}/>')
    parts += [f'<circle cx="{cx}" cy="{cy}" r="7" fill="#1e293b"/>' for cx, cy in places]
    parts.append(f'<text x="40" y="98" text-anchor="middle">{name}</text></g>')
    return "\n".join(parts)


def picture():
    """All panels, on white so that dark pages show them too."""
    rows = -(-len(ORBITS) // COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13" fill="#1e293b">'
    )
    panels = [panel(at, *orbit) for at, orbit in enumerate(ORBITS)]
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *panels, "</svg>"]) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(picture())
