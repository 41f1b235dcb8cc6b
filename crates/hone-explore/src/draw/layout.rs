//! Where the nodes of a drawing go: springs along edges, repulsion among all nodes.
//!
//! Each connected component starts from [`super::pivots`] and is relaxed by attraction d² along edges and repulsion 1/d²
//! among all nodes (Fruchterman and Reingold 1991, with the shorter reach of Hu 2005: what is far away does not stretch the
//! edges), with the quadtree of Barnes and Hut: O(N log N + M) per step, a fixed number of steps that cool down. Nodes closer than a small distance are then pushed apart, components turned along their longer side and put
//! side by side in rows, nodes without an edge in a block of their own.
//!
//! Every position is computed from those of the step before, by any thread, in one order: the same picture for any number
//! of threads. The unit of length is that of an edge at rest.

use std::ops::Range;

use rand::RngExt;

use super::pack::{Part, packed, spread, turned};
use super::pivots;
use super::quadtree::{Point, Quadtree};
use hone::error::Result;
use hone::parallel;
use hone::progress::Progress;
use hone::random::Key;
use hone::sparse::Pattern;

/// Steps of the relaxation.
const STEPS: usize = 300;
/// Nodes that a thread moves in one go.
const CHUNK: usize = 256;
/// Distance between nodes without an edge.
const GRID: f64 = 0.6;

/// Positions of all nodes; `pattern` is symmetric.
pub(super) fn layout(pattern: &Pattern, progress: &dyn Progress) -> Result<Vec<Point>> {
    let mut boxes = Vec::new();
    let mut alone = Vec::new();
    progress.stage("layout", (pattern.rows() * STEPS) as u64);
    for nodes in components(pattern) {
        progress.check()?;
        if let [node] = nodes[..] {
            progress.advance(STEPS as u64);
            alone.push(node);
            continue;
        }
        let neighbours = local(pattern, &nodes);
        let mut points = start(&neighbours);
        relax(&neighbours, &mut points, progress)?;
        spread(&mut points);
        boxes.push(Part::new(nodes, turned(points)));
    }
    if !alone.is_empty() {
        let side = (alone.len() as f64 * 2.0).sqrt().ceil().max(1.0) as usize;
        let points = (0..alone.len())
            .map(|k| [GRID * (k % side) as f64, GRID * (k / side) as f64])
            .collect();
        boxes.push(Part::new(alone, points));
    }
    Ok(packed(boxes, pattern.rows()))
}

/// Nodes that hang together, each list ascending, by their first node.
fn components(pattern: &Pattern) -> Vec<Vec<u32>> {
    let mut seen = vec![false; pattern.rows()];
    let mut all = Vec::new();
    for root in 0..pattern.rows() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut nodes = vec![root as u32];
        let mut next = 0;
        while let Some(&u) = nodes.get(next) {
            next += 1;
            for &v in pattern.row(u as usize) {
                if !std::mem::replace(&mut seen[v as usize], true) {
                    nodes.push(v);
                }
            }
        }
        nodes.sort_unstable();
        all.push(nodes);
    }
    all
}

/// Neighbourhoods within a component, by position in its list.
fn local(pattern: &Pattern, nodes: &[u32]) -> Vec<Vec<u32>> {
    let number = |v: &u32| {
        nodes
            .binary_search(v)
            .expect("a neighbour is in the same component") as u32
    };
    parallel::collect(nodes.len(), |at| {
        pattern.row(nodes[at] as usize).iter().map(number).collect()
    })
}

/// The first placement, with edges of mean length one and no two nodes in one place.
fn start(neighbours: &[Vec<u32>]) -> Vec<Point> {
    let mut points = pivots::place(neighbours);
    let length = |u: usize, v: &u32| distance(points[u], points[*v as usize]);
    let lengths: Vec<f64> = neighbours
        .iter()
        .enumerate()
        .flat_map(|(u, of)| of.iter().map(move |v| length(u, v)))
        .collect();
    let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
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
                let there = points[v as usize];
                let d = distance(here, there);
                force = [
                    force[0] + (there[0] - here[0]) * d,
                    force[1] + (there[1] - here[1]) * d,
                ];
            }
            let size = force[0].hypot(force[1]);
            let scale = if size > reach { reach / size } else { 1.0 };
            [here[0] + force[0] * scale, here[1] + force[1] * scale]
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

fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}
