//! Finishing touches of a layout: nodes pushed apart, components turned, and put side by side.

use rustc_hash::FxHashMap;

use super::quadtree::Point;

/// Nodes are at least this far apart in the end, where they can be; an edge at rest has length one.
const APART: f64 = 0.25;
/// Sweeps over all pairs that are too close.
const SWEEPS: usize = 30;
/// Room between components.
const MARGIN: f64 = 1.2;
/// Width of the whole over its height, about.
const ASPECT: f64 = 1.25;

/// A component and where its nodes are, from the origin on.
pub(super) struct Part {
    nodes: Vec<u32>,
    points: Vec<Point>,
    size: Point,
}

impl Part {
    /// Moves the lower left corner of the points to the origin.
    pub(super) fn new(nodes: Vec<u32>, mut points: Vec<Point>) -> Self {
        let end = |pick: fn(f64, f64) -> f64, axis: usize| {
            points.iter().map(|p| p[axis]).reduce(pick).unwrap_or(0.0)
        };
        let low = [0, 1].map(|axis| end(f64::min, axis));
        let size = [0, 1].map(|axis| end(f64::max, axis) - low[axis]);
        points
            .iter_mut()
            .for_each(|p| *p = [p[0] - low[0], p[1] - low[1]]);
        Part {
            nodes,
            points,
            size,
        }
    }
}

/// Pushes nodes apart that are closer than they should be, with a grid to find them.
pub(super) fn spread(points: &mut [Point]) {
    let cell = |p: Point| p.map(|v| (v / APART).floor() as i64);
    for _ in 0..SWEEPS {
        let mut grid: FxHashMap<[i64; 2], Vec<usize>> = FxHashMap::default();
        points
            .iter()
            .enumerate()
            .for_each(|(i, &p)| grid.entry(cell(p)).or_default().push(i));
        let mut moved = false;
        for i in 0..points.len() {
            let [x, y] = cell(points[i]);
            let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| [x + dx, y + dy]));
            let near: Vec<usize> = around
                .filter_map(|c| grid.get(&c))
                .flatten()
                .copied()
                .filter(|&j| j > i)
                .collect();
            for j in near {
                moved |= push(points, i, j);
            }
        }
        if !moved {
            return;
        }
    }
}

/// Moves two nodes apart, each by half of what is missing; nodes in one place along a direction of their own.
fn push(points: &mut [Point], i: usize, j: usize) -> bool {
    let (a, b) = (points[i], points[j]);
    let mut away = [b[0] - a[0], b[1] - a[1]];
    let mut distance = away[0].hypot(away[1]);
    if distance >= APART {
        return false;
    }
    if distance < 1e-9 {
        let turn = (i * 7 + j * 13) as f64;
        (away, distance) = ([turn.cos(), turn.sin()], 1.0);
    }
    let by = 0.5 * (APART - distance.min(APART)).max(0.05 * APART) / distance;
    points[i] = [a[0] - by * away[0], a[1] - by * away[1]];
    points[j] = [b[0] + by * away[0], b[1] + by * away[1]];
    true
}

/// The points turned so that their longest direction is horizontal.
pub(super) fn turned(points: Vec<Point>) -> Vec<Point> {
    let n = points.len().max(1) as f64;
    let mean = [0, 1].map(|axis| points.iter().map(|p| p[axis]).sum::<f64>() / n);
    let moment = |a: usize, b: usize| {
        points
            .iter()
            .map(|p| (p[a] - mean[a]) * (p[b] - mean[b]))
            .sum::<f64>()
    };
    let angle = 0.5 * (2.0 * moment(0, 1)).atan2(moment(0, 0) - moment(1, 1));
    let (sin, cos) = angle.sin_cos();
    let turn = |p: Point| {
        let (x, y) = (p[0] - mean[0], p[1] - mean[1]);
        [cos * x + sin * y, cos * y - sin * x]
    };
    points.into_iter().map(turn).collect()
}

/// Positions of all `n` nodes: components in rows, the tallest first.
pub(super) fn packed(mut parts: Vec<Part>, n: usize) -> Vec<Point> {
    let area: f64 = parts
        .iter()
        .map(|part| (part.size[0] + MARGIN) * (part.size[1] + MARGIN))
        .sum();
    let widest = parts.iter().map(|part| part.size[0]).fold(0.0, f64::max);
    let width = (area * ASPECT).sqrt().max(widest);
    parts.sort_by(|a, b| {
        b.size[1]
            .total_cmp(&a.size[1])
            .then(a.nodes[0].cmp(&b.nodes[0]))
    });
    let mut positions = vec![[0.0; 2]; n];
    let (mut x, mut y, mut height) = (0.0, 0.0, 0.0f64);
    for part in parts {
        if x > 0.0 && x + part.size[0] > width {
            (x, y, height) = (0.0, y + height + MARGIN, 0.0);
        }
        for (&node, point) in part.nodes.iter().zip(&part.points) {
            positions[node as usize] = [x + point[0], y + point[1]];
        }
        x += part.size[0] + MARGIN;
        height = height.max(part.size[1]);
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_pushed_apart() {
        let mut points: Vec<Point> = (0..40).map(|i| [0.01 * f64::from(i % 3), 0.0]).collect();
        spread(&mut points);
        for i in 0..points.len() {
            for j in 0..i {
                let d = (points[i][0] - points[j][0]).hypot(points[i][1] - points[j][1]);
                assert!(d > 0.3 * APART, "{i} {j}: {d}");
            }
        }
    }

    #[test]
    fn components_do_not_overlap() {
        let part = |first: u32, w: f64, h: f64| {
            Part::new(vec![first, first + 1], vec![[5.0, 5.0], [5.0 + w, 5.0 + h]])
        };
        let at = packed(
            vec![part(0, 4.0, 1.0), part(2, 1.0, 3.0), part(4, 2.0, 2.0)],
            6,
        );
        let boxes: Vec<(Point, Point)> = (0..3).map(|k| (at[2 * k], at[2 * k + 1])).collect();
        for (i, a) in boxes.iter().enumerate() {
            for b in &boxes[..i] {
                let apart = |axis: usize| a.0[axis] > b.1[axis] || b.0[axis] > a.1[axis];
                assert!(apart(0) || apart(1), "{boxes:?}");
            }
        }
    }

    #[test]
    fn the_long_way_lies_flat() {
        let flat = turned((0..9).map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect());
        assert!(flat.iter().all(|p| p[1].abs() < 1e-9) && (flat[8][0] - flat[0][0]).abs() > 17.0);
    }
}
