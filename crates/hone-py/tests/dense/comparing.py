"""Comparisons that no rotation, sign or rounding decides: what is left is a disagreement, returned as text."""

import numpy as np

#: Vectors are stored in f32; their squared lengths are about 1 (proximity) and 20 (structure).
CLOSE = 3e-5


def largest(a, b):
    return float(np.abs(np.asarray(a, dtype=float) - b).max(initial=0))


def proximity(fitted, found):
    """Products of all pairs of rows, if the cut to so many columns does not fall inside a multiple singular value."""
    if fitted.cut < 1e-6:
        return []
    groups = uncovered(fitted)
    wrong, found = own_columns(fitted, groups, found), found.copy()
    for nodes in groups:
        found[nodes] = 0
    error = largest(found @ found.T, fitted.proximity @ fitted.proximity.T)
    return wrong + ([f"proximity: products of rows differ by {error:.1e}"] if error > CLOSE else [])


def uncovered(fitted):
    """The connected groups of nodes that have edges and are outside all directions that are kept."""
    links = (fitted.adjacency + fitted.adjacency.T) > 0
    open_nodes = set(np.flatnonzero(links.any(1) & (np.linalg.norm(fitted.proximity, axis=1) < 1e-4)))
    groups = []
    while open_nodes:
        waiting, group = [open_nodes.pop()], []
        while waiting:
            node = waiting.pop()
            group.append(node)
            near = open_nodes.intersection(np.flatnonzero(links[node]))
            open_nodes -= near
            waiting += near
        groups.append(group)
    return groups


def own_columns(fitted, groups, found):
    """Each of these groups has one row, of half the typical length and zero in the first quarter of the columns."""
    columns, wrong = found.shape[1], []
    length = np.linalg.norm(fitted.proximity) / np.sqrt(len(found)) / 2
    for group in groups:
        rows = found[group]
        alike = largest(rows, rows[0]) == 0 and not rows[:, : columns // 4].any()
        if not alike or abs(np.linalg.norm(rows[0]) - length) > CLOSE:
            wrong.append(f"proximity: nodes {sorted(group)} outside all directions have {rows}")
    firsts = np.array([found[group[0]] for group in groups])
    if columns - columns // 4 > 1 and len(np.unique(firsts, axis=0)) < len(firsts):
        wrong.append("proximity: groups outside all directions are alike")
    return wrong


def structure(fitted, found):
    """Components one by one; those of equal variance by the products of their centred rows."""
    if not fitted.structure.shape[1]:
        return []
    components, wrong = fitted.components, []
    for first, end in blocks(components.spread):
        ours, theirs = fitted.structure[:, first:end], found[:, first:end]
        if end == first + 1:
            error = largest(theirs, ours)
            if not components.signed[first]:  # either sign
                error = min(error, largest(theirs, 2 * ours.mean() - ours))
        elif end == len(components.spread) and not components.complete:
            continue  # some of equal variance are left out
        else:
            ours, theirs = ours - ours.mean(0), theirs - theirs.mean(0)
            error = largest(theirs @ theirs.T, ours @ ours.T)
        if error > CLOSE:
            wrong.append(f"structure: components {first} to {end - 1} differ by {error:.1e}")
    rest = slice(len(components.spread), None)
    if components.spread.size and blocks(components.spread)[0] != (0, 1):
        rest = slice(len(components.spread), -1)  # which of several first components the extremes are of is open
    error = largest(found[:, rest], fitted.structure[:, rest])
    return wrong + ([f"structure: zeros and extremes differ by {error:.1e}"] if error > CLOSE else [])


def blocks(values):
    """Ranges of nearly equal values."""
    ends = [k for k in range(1, len(values)) if values[k - 1] - values[k] > 1e-3 * values[0]]
    edges = [0, *ends, len(values)] if len(values) else []
    return list(zip(edges, edges[1:]))


def placed(fitted, ours, found_fit, found):
    """Proximity of placed rows by their products with rows of the fit, structure by component."""
    if fitted.cut < 1e-6:
        return []
    columns = fitted.proximity.shape[1]
    theirs, fit = found[:, :columns], found_fit[:, :columns]
    error = largest(theirs @ fit.T, ours.proximity @ fitted.proximity.T)
    error = max(error, largest(theirs @ theirs.T, ours.proximity @ ours.proximity.T))
    # Singular values down to 10⁻⁶ of the largest are divided by.
    wrong = [f"placed proximity: products of rows differ by {error:.1e}"] if error > 1e-3 else []
    components = fitted.components
    alone = [first for first, end in blocks(components.spread) if end == first + 1 and components.signed[first]]
    error = largest(found[:, [columns + k for k in alone]], ours.structure[:, alone])
    return wrong + ([f"placed structure: components differ by {error:.1e}"] if error > CLOSE else [])
