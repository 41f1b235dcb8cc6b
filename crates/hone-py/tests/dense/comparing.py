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
    error = largest(found @ found.T, fitted.proximity @ fitted.proximity.T)
    return [f"proximity: products of rows differ by {error:.1e}"] if error > CLOSE else []


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
