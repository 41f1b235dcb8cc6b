//! Where the nodes of a drawing go: springs along edges, repulsion among all nodes.
//!
//! Each connected component starts from breadth-first distances to at most [`PIVOTS`] pivots, each the node farthest from
//! those before it, which are squared, double-centred and projected to their two leading directions: classical scaling,
//! with a sample of the columns (Brandes and Pich 2006). It shows the whole graph at once, which forces alone reach only
//! after many steps or never. O(50 (N + M)) time, O(50 N) memory.
//!
//! It is relaxed by attraction d² along edges and repulsion 1/d² among all nodes (Fruchterman and Reingold 1991, with the
//! shorter reach of Hu 2005: what is far away does not stretch the edges), with a quadtree, where points far away act as
//! one (Barnes and Hut 1986): O(N log N + M) per step, a fixed number of steps that cool down. Nodes closer than a small
//! distance are then pushed apart, components turned along their longer side and put side by side in rows, nodes without an
//! edge in a block of their own.
//!
//! Every position is computed from those of the step before, by any thread, in one order: the same picture for any number
//! of threads. The unit of length is that of an edge at rest.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

use hone::error::Result;
use hone::parallel;
use hone::progress::Progress;
use hone::random::Key;
use hone::sparse::Pattern;
use rand::RngExt;
use rustc_hash::FxHashMap;

/// Pivots of the first placement.
const PIVOTS: usize = 50;
/// Steps of the relaxation.
const STEPS: usize = 300;
/// Nodes that a thread moves in one go.
const CHUNK: usize = 256;
/// Distance between nodes without an edge.
const GRID: f64 = 0.6;

/// A point of the plane.
pub(super) type Point = [f64; 2];

/// a + factor · b.
fn plus(a: Point, factor: f64, b: Point) -> Point {
    [a[0] + factor * b[0], a[1] + factor * b[1]]
}

fn difference(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn length(a: Point) -> f64 {
    a[0].hypot(a[1])
}

/// The lower left and the upper right corner of some points; the origin if there are none.
pub(super) fn corners(points: &[Point]) -> [Point; 2] {
    let end = |pick: fn(f64, f64) -> f64, axis: usize| {
        points.iter().map(|p| p[axis]).reduce(pick).unwrap_or(0.0)
    };
    [f64::min, f64::max].map(|pick| [end(pick, 0), end(pick, 1)])
}

/// Positions of all nodes; `pattern` is symmetric.
pub(super) fn layout(pattern: &Pattern, progress: &dyn Progress) -> Result<Vec<Point>> {
    let mut parts = Vec::new();
    let mut alone = Vec::new();
    progress.stage("layout", (pattern.rows() * STEPS) as u64);
    for nodes in components(pattern) {
        progress.check()?;
        if let [node] = nodes[..] {
            progress.advance(STEPS as u64);
            alone.push(node);
            continue;
        }
        // Neighbourhoods within the component, by position in its list.
        let number = |v: &u32| nodes.binary_search(v).expect("a node of the component") as u32;
        let neighbours: Vec<Vec<u32>> = parallel::collect(nodes.len(), |at| {
            pattern.row(nodes[at] as usize).iter().map(number).collect()
        });
        let mut points = start(&neighbours);
        relax(&neighbours, &mut points, progress)?;
        spread(&mut points);
        parts.push(Part::new(nodes, turned(points)));
    }
    if !alone.is_empty() {
        let side = (alone.len() as f64 * 2.0).sqrt().ceil().max(1.0) as usize;
        let place = |k: usize| [GRID * (k % side) as f64, GRID * (k / side) as f64];
        let points = (0..alone.len()).map(place).collect();
        parts.push(Part::new(alone, points));
    }
    Ok(packed(parts, pattern.rows()))
}

/// Nodes that hang together, each list ascending, by their first node.
fn components(pattern: &Pattern) -> Vec<Vec<u32>> {
    let mut seen = vec![false; pattern.rows()];
    let mut all = Vec::new();
    for root in 0..pattern.rows() as u32 {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut nodes = vec![root];
        let mut next = 0;
        while let Some(&u) = nodes.get(next) {
            next += 1;
            let neighbours = pattern.row(u as usize).iter().copied();
            nodes.extend(neighbours.filter(|&v| !std::mem::replace(&mut seen[v as usize], true)));
        }
        nodes.sort_unstable();
        all.push(nodes);
    }
    all
}

/// The first placement, with edges of mean length one and no two nodes in one place.
fn start(neighbours: &[Vec<u32>]) -> Vec<Point> {
    let mut points = scaled(neighbours);
    let (mut sum, mut count) = (0.0, 0);
    for (u, of) in neighbours.iter().enumerate() {
        count += of.len();
        for &v in of {
            sum += length(difference(points[u], points[v as usize]));
        }
    }
    let mean = sum / count.max(1) as f64;
    let scale = if mean > 1e-9 { 1.0 / mean } else { 1.0 };
    let mut random = Key::new(0).with("layout", 0).rng();
    for point in &mut points {
        *point = point.map(|value| value * scale + 0.05 * (random.random::<f64>() - 0.5));
    }
    points
}

/// Moves all nodes along their forces, by ever smaller steps.
fn relax(neighbours: &[Vec<u32>], points: &mut Vec<Point>, progress: &dyn Progress) -> Result<()> {
    let n = neighbours.len();
    let warm = 0.1 * (n as f64).sqrt().max(2.0);
    for step in 0..STEPS {
        progress.check()?;
        let reach = warm * (1.0 - step as f64 / STEPS as f64).powi(2) + 0.002;
        let tree = Quadtree::new(points);
        let moved = |u: usize, stack: &mut Vec<u32>| {
            let here = points[u];
            let mut force = tree.repulsion(here, stack);
            for &v in &neighbours[u] {
                let away = difference(points[v as usize], here);
                force = plus(force, length(away), away);
            }
            let size = length(force);
            plus(here, if size > reach { reach / size } else { 1.0 }, force)
        };
        let some = |range: Range<usize>| {
            let mut stack = Vec::new();
            range.map(|u| moved(u, &mut stack)).collect::<Vec<Point>>()
        };
        *points = parallel::stretches(n, CHUNK, some).concat();
        progress.advance(n as u64);
    }
    Ok(())
}

/// Steps of the power iteration; the matrix is tiny and the picture needs no more digits.
const POWER_STEPS: usize = 200;

/// Coordinates of all nodes of a connected graph, given by its sorted neighbourhoods, by classical scaling.
fn scaled(neighbours: &[Vec<u32>]) -> Vec<Point> {
    let columns = centred(squared_distances(neighbours));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum();
    let row = |a: &Vec<f64>| columns.iter().map(|b| dot(a, b)).collect();
    let gram: Vec<Vec<f64>> = columns.iter().map(row).collect();
    let first = leading(&gram, None);
    let second = leading(&gram, Some(&first));
    let project = |axis: &[f64], i: usize| {
        let terms = columns.iter().zip(axis).map(|(column, a)| column[i] * a);
        terms.sum()
    };
    (0..neighbours.len())
        .map(|i| [project(&first, i), project(&second, i)])
        .collect()
}

/// Squared distances to the pivots, a column each; the first pivot is the node of most neighbours.
fn squared_distances(neighbours: &[Vec<u32>]) -> Vec<Vec<f64>> {
    let n = neighbours.len();
    let most = |size: &dyn Fn(usize) -> usize| {
        let first = (0..n).max_by_key(|&i| (size(i), Reverse(i)));
        first.unwrap_or(0)
    };
    let mut pivot = most(&|i| neighbours[i].len());
    let mut nearest = vec![u32::MAX; n];
    let mut columns = Vec::new();
    while columns.len() < PIVOTS.min(n) {
        let distance = breadth_first(neighbours, pivot);
        let both = nearest.iter_mut().zip(&distance);
        both.for_each(|(near, &d)| *near = d.min(*near));
        columns.push(distance.into_iter().map(|d| f64::from(d).powi(2)).collect());
        pivot = most(&|i| nearest[i] as usize);
    }
    columns
}

fn breadth_first(neighbours: &[Vec<u32>], start: usize) -> Vec<u32> {
    let mut distance = vec![u32::MAX; neighbours.len()];
    distance[start] = 0;
    let mut queue = VecDeque::from([start]);
    while let Some(u) = queue.pop_front() {
        for &v in &neighbours[u] {
            if distance[v as usize] == u32::MAX {
                distance[v as usize] = distance[u] + 1;
                queue.push_back(v as usize);
            }
        }
    }
    distance
}

/// Squared distances less the means of their row and column, times −½.
fn centred(mut columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let (n, k) = (columns.first().map_or(0, Vec::len), columns.len() as f64);
    let of_column = |column: &Vec<f64>| column.iter().sum::<f64>() / n as f64;
    let of_column: Vec<f64> = columns.iter().map(of_column).collect();
    let of_row = |i: usize| columns.iter().map(|column| column[i]).sum::<f64>() / k;
    let of_row: Vec<f64> = (0..n).map(of_row).collect();
    let all = of_column.iter().sum::<f64>() / k;
    for (column, mean) in columns.iter_mut().zip(of_column) {
        for (value, row) in column.iter_mut().zip(&of_row) {
            *value = -0.5 * (*value - mean - row + all);
        }
    }
    columns
}

/// The leading eigenvector of a symmetric matrix, orthogonal to the one already known; zero if there is none.
fn leading(matrix: &[Vec<f64>], known: Option<&Vec<f64>>) -> Vec<f64> {
    let k = matrix.len();
    let entries = matrix.iter().flatten();
    let least = 1e-9 * entries.fold(f64::MIN_POSITIVE, |most: f64, v| most.max(v.abs()));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let initial = |i: usize| 1.0 + 0.37 * ((i * i) % 7) as f64 - 0.11 * i as f64;
    let mut vector: Vec<f64> = (0..k).map(initial).collect();
    for _ in 0..POWER_STEPS {
        if let Some(other) = known {
            let overlap = dot(&vector, other);
            let both = vector.iter_mut().zip(other);
            both.for_each(|(a, b)| *a -= overlap * b);
        }
        let next: Vec<f64> = matrix.iter().map(|row| dot(row, &vector)).collect();
        let length = dot(&next, &next).sqrt();
        if length < least {
            return vec![0.0; k];
        }
        vector = next.into_iter().map(|v| v / length).collect();
    }
    vector
}

/// A cell is taken as one point when it is smaller than this share of its distance.
const OPENING: f64 = 0.6;
/// Points closer than any two of 64 halvings apart share a cell.
const DEPTH: u32 = 48;

/// A square cell: its points' number and centre, and its four quarters or its only point.
#[derive(Debug, Clone)]
struct Cell {
    /// Sum of the points; divided by `count` it is their centre.
    sum: Point,
    count: f64,
    /// Index of the first of four quarters; 0 for a leaf.
    quarters: u32,
    /// Width of the cell.
    width: f64,
    /// Lower left corner.
    corner: Point,
}

impl Cell {
    fn empty(width: f64, corner: Point) -> Cell {
        Cell {
            sum: [0.0; 2],
            count: 0.0,
            quarters: 0,
            width,
            corner,
        }
    }

    /// Which of its quarters a point is in.
    fn quarter(&self, point: Point) -> usize {
        let is_upper = |axis: usize| point[axis] >= self.corner[axis] + self.width / 2.0;
        usize::from(is_upper(0)) + 2 * usize::from(is_upper(1))
    }
}

/// The tree over some points.
#[derive(Debug)]
struct Quadtree {
    cells: Vec<Cell>,
}

impl Quadtree {
    fn new(points: &[Point]) -> Self {
        let [low, high] = corners(points);
        let width = (high[0] - low[0])
            .max(high[1] - low[1])
            .max(f64::MIN_POSITIVE)
            * 1.000_001;
        let cells = vec![Cell::empty(width, low)];
        let mut tree = Quadtree { cells };
        points.iter().for_each(|&point| tree.insert(point));
        tree
    }

    fn insert(&mut self, point: Point) {
        let (mut at, mut depth) = (0, 0);
        loop {
            let occupied = self.cells[at].count > 0.0;
            if self.cells[at].quarters == 0 && occupied && depth < DEPTH {
                self.divide(at);
            }
            let cell = &mut self.cells[at];
            cell.sum = plus(cell.sum, 1.0, point);
            cell.count += 1.0;
            if cell.quarters == 0 {
                return;
            }
            at = cell.quarters as usize + cell.quarter(point);
            depth += 1;
        }
    }

    /// Gives a leaf four quarters and moves its points to one of them.
    fn divide(&mut self, at: usize) {
        let first = self.cells.len();
        self.cells[at].quarters = u32::try_from(first).expect("a drawing has far fewer points");
        let cell = self.cells[at].clone();
        let half = cell.width / 2.0;
        for k in 0..4 {
            let corner = plus(cell.corner, half, [f64::from(k % 2), f64::from(k / 2)]);
            self.cells.push(Cell::empty(half, corner));
        }
        let home = &mut self.cells[first + cell.quarter(cell.sum.map(|x| x / cell.count))];
        (home.sum, home.count) = (cell.sum, cell.count);
    }

    /// The sum over all other points of (p − q) / |p − q|³, at the precision of the opening angle.
    fn repulsion(&self, point: Point, stack: &mut Vec<u32>) -> Point {
        let mut force = [0.0; 2];
        stack.clear();
        stack.push(0);
        while let Some(at) = stack.pop() {
            let cell = &self.cells[at as usize];
            if cell.count == 0.0 {
                continue;
            }
            let away = difference(point, cell.sum.map(|x| x / cell.count));
            let square = away[0] * away[0] + away[1] * away[1];
            if cell.quarters == 0 || cell.width * cell.width < OPENING * OPENING * square {
                if square > 0.0 {
                    force = plus(force, cell.count / (square * square.sqrt()), away);
                }
            } else {
                stack.extend((0..4).map(|k| cell.quarters + k));
            }
        }
        force
    }
}

/// Nodes are at least this far apart in the end, where they can be; an edge at rest has length one.
const APART: f64 = 0.25;
/// Sweeps over all pairs that are too close.
const SWEEPS: usize = 30;
/// Room between components.
const MARGIN: f64 = 1.2;
/// Width of the whole over its height, about.
const ASPECT: f64 = 1.25;

/// A component and where its nodes are, from the origin on.
struct Part {
    nodes: Vec<u32>,
    points: Vec<Point>,
    size: Point,
}

impl Part {
    /// Moves the lower left corner of the points to the origin.
    fn new(nodes: Vec<u32>, mut points: Vec<Point>) -> Self {
        let [low, high] = corners(&points);
        points.iter_mut().for_each(|p| *p = difference(*p, low));
        Part {
            nodes,
            points,
            size: difference(high, low),
        }
    }
}

/// Pushes nodes apart that are closer than they should be, with a grid to find them.
fn spread(points: &mut [Point]) {
    let cell = |p: Point| p.map(|v| (v / APART).floor() as i64);
    for _ in 0..SWEEPS {
        let mut grid: FxHashMap<[i64; 2], Vec<usize>> = FxHashMap::default();
        for (i, &point) in points.iter().enumerate() {
            grid.entry(cell(point)).or_default().push(i);
        }
        let mut moved = false;
        for i in 0..points.len() {
            let [x, y] = cell(points[i]);
            let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| [x + dx, y + dy]));
            let near = around.filter_map(|c| grid.get(&c)).flatten();
            for &j in near.filter(|&&j| j > i) {
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
    let mut away = difference(b, a);
    let mut distance = length(away);
    if distance >= APART {
        return false;
    }
    if distance < 1e-9 {
        let turn = (i * 7 + j * 13) as f64;
        (away, distance) = ([turn.cos(), turn.sin()], 1.0);
    }
    let by = 0.5 * (APART - distance.min(APART)).max(0.05 * APART) / distance;
    (points[i], points[j]) = (plus(a, -by, away), plus(b, by, away));
    true
}

/// The points turned so that their longest direction is horizontal.
fn turned(points: Vec<Point>) -> Vec<Point> {
    let n = points.len().max(1) as f64;
    let mean = [0, 1].map(|axis| points.iter().map(|p| p[axis]).sum::<f64>() / n);
    let moment = |a: usize, b: usize| {
        let products = points.iter().map(|p| (p[a] - mean[a]) * (p[b] - mean[b]));
        products.sum::<f64>()
    };
    let angle = 0.5 * (2.0 * moment(0, 1)).atan2(moment(0, 0) - moment(1, 1));
    let (sin, cos) = angle.sin_cos();
    let turn = |p: Point| {
        let [x, y] = difference(p, mean);
        [cos * x + sin * y, cos * y - sin * x]
    };
    points.into_iter().map(turn).collect()
}

/// Positions of all `n` nodes: components in rows, the tallest first.
fn packed(mut parts: Vec<Part>, n: usize) -> Vec<Point> {
    let with_margin = |part: &Part| (part.size[0] + MARGIN) * (part.size[1] + MARGIN);
    let area: f64 = parts.iter().map(with_margin).sum();
    let widest = parts.iter().map(|part| part.size[0]).fold(0.0, f64::max);
    let width = (area * ASPECT).sqrt().max(widest);
    parts.sort_by(|a, b| {
        let by_height = b.size[1].total_cmp(&a.size[1]);
        by_height.then(a.nodes[0].cmp(&b.nodes[0]))
    });
    let mut positions = vec![[0.0; 2]; n];
    let (mut x, mut y, mut height) = (0.0, 0.0, 0.0f64);
    for part in parts {
        if x > 0.0 && x + part.size[0] > width {
            (x, y, height) = (0.0, y + height + MARGIN, 0.0);
        }
        for (&node, &point) in part.nodes.iter().zip(&part.points) {
            positions[node as usize] = plus([x, y], 1.0, point);
        }
        x += part.size[0] + MARGIN;
        height = height.max(part.size[1]);
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum as it is written down.
    fn exact(points: &[Point], point: Point) -> Point {
        let mut force = [0.0; 2];
        for q in points {
            let away = [point[0] - q[0], point[1] - q[1]];
            let square = away[0].powi(2) + away[1].powi(2);
            if square > 0.0 {
                force = [
                    force[0] + away[0] / square.powf(1.5),
                    force[1] + away[1] / square.powf(1.5),
                ];
            }
        }
        force
    }

    #[test]
    fn forces_are_nearly_exact() {
        let points: Vec<Point> = (0..500u32)
            .map(|i| {
                [
                    f64::from(i * 7919 % 1009) / 100.0,
                    f64::from(i * 104_729 % 997) / 150.0,
                ]
            })
            .collect();
        let tree = Quadtree::new(&points);
        let (mut error, mut size) = (0.0, 0.0);
        for &point in &points {
            let (a, b) = (
                tree.repulsion(point, &mut Vec::new()),
                exact(&points, point),
            );
            error += (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
            size += b[0].powi(2) + b[1].powi(2);
        }
        assert!(
            (error / size).sqrt() < 0.08,
            "relative error {}",
            (error / size).sqrt()
        );
    }

    #[test]
    fn points_on_top_of_each_other_are_no_trouble() {
        let tree = Quadtree::new(&[[1.0, 1.0]; 20]);
        assert_eq!(tree.repulsion([1.0, 1.0], &mut Vec::new()), [0.0; 2]);
        let push = tree.repulsion([2.0, 1.0], &mut Vec::new());
        assert!((push[0] - 20.0).abs() < 1e-9 && push[1].abs() < 1e-9);
        assert_eq!(
            Quadtree::new(&[]).repulsion([0.0; 2], &mut Vec::new()),
            [0.0; 2]
        );
    }
}
