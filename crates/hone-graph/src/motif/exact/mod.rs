//! Exact counting: runs the sweeps and arranges their results in the order of the graph.
//!
//! Cost: Σ_e min(d_u, d_v) steps for wedges and triangles, popcounts for cliques; memory linear in
//! the edges. Every result is a sum of integers, so it does not depend on the number of threads.

mod sweeps;

use std::sync::atomic::Ordering::Relaxed;

use self::sweeps::{TriangleGraph, Wedges, cliques, common, wedges};
use super::column::{Sizes, write_edges};
use super::formula::{Exact, Primitives};
use super::ranked::{Ranked, balanced};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::parallel;
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// Bytes per slot in a triangle that the triangle graph and K, Q and R take, while they are computed and arranged.
const PER_TRIANGLE_SLOT: u64 = 36;
/// Bytes per slot of the other columns, as narrow as most of them are.
const PER_SLOT: u64 = 4;

/// Counts on a symmetric pattern without loops; `room` refuses this many bytes more than are held.
/// The sweeps are divided among `communicator`.
pub(super) fn count(
    pattern: &Pattern,
    room: impl Fn(u64) -> Result<()>,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Exact> {
    Exact::check_degrees(pattern)?;
    progress.stage("sorting nodes by degree", 0);
    let ranked = Ranked::new(pattern, progress)?;
    let wedges = wedges(&ranked, communicator, progress)?;
    let t = common(&ranked, &wedges, communicator, progress)?;
    // Only now is it known how many edges are in triangles.
    let inside = 2 * t.iter().filter(|&&t| t > 0).count() as u64;
    room(PER_TRIANGLE_SLOT * inside + PER_SLOT * pattern.nnz() as u64)?;
    let triangles = TriangleGraph::new(&ranked, &wedges, &t);
    let (q, r) = triangles.sums(communicator, progress)?;
    let k = cliques(&triangles, communicator, progress)?;
    progress.check()?;
    progress.stage("arranging counts", 0);
    let swept = Swept {
        pattern,
        ranked,
        wedges,
        t,
        triangles,
        kqr: [k, q, r],
    };
    Ok(Exact::new(pattern, swept.in_graph_order()))
}

/// The results of the sweeps, by edge of the ranked graph (k, q, r: of the triangle graph).
struct Swept<'a> {
    pattern: &'a Pattern,
    ranked: Ranked,
    wedges: Wedges,
    t: Vec<u32>,
    triangles: TriangleGraph,
    kqr: [Vec<u64>; 3],
}

/// Lists of a row, reused.
#[derive(Default)]
struct Scratch {
    /// Rank of the neighbour and position in the row, ascending.
    order: Vec<u64>,
    /// Edge of each neighbour, in that order.
    ranked: Vec<usize>,
    /// Edge of each slot, and its number in the triangle graph.
    edges: Vec<(usize, usize)>,
}

/// Edges from the current one to the one whose counts are prefetched.
const EDGES_AHEAD: usize = 16;

impl Swept<'_> {
    fn in_graph_order(&self) -> Primitives {
        let (n, offsets) = (self.pattern.rows(), self.pattern.offsets());
        let bounds = balanced(n, 1 << 14, |i| (offsets[i + 1] - offsets[i] + 4) as u64);
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        let inside = self.triangle_slots(&bounds);
        let t = width(&self.t, |&t| u64::from(t));
        let c = width(&self.wedges.cycles, |c| c.load(Relaxed));
        let [k, q, r] = (self.kqr.each_ref()).map(|values| width(values, |&x| x));
        let columns = write_edges([t, c, k, q, r], &slots, &inside, |part, writer| {
            let mut scratch = Scratch::default();
            for i in bounds[part]..bounds[part + 1] {
                if !self.edges_of(i, &mut scratch) {
                    continue;
                }
                for (slot, &(edge, inside)) in self.pattern.range(i).zip(&scratch.edges) {
                    let (t, c) = (self.t[edge], self.wedges.cycles[edge].load(Relaxed));
                    let [k, q, r] = match t {
                        0 => [0; 3],
                        _ => self.kqr.each_ref().map(|values| values[inside]),
                    };
                    writer.write(slot, [t.into(), c, k, q, r]);
                }
            }
        });
        let ranked = &self.ranked;
        Primitives::new(self.pattern, columns, |i| ranked.s[ranked.rank[i] as usize])
    }

    /// Number of slots with t > 0 before each bound.
    fn triangle_slots(&self, bounds: &[usize]) -> Vec<usize> {
        let mut slots = vec![0; bounds.len()];
        for (k, &r) in self.triangles.nodes.iter().enumerate() {
            let node = self.ranked.order[r as usize] as usize;
            slots[bounds.partition_point(|&bound| bound <= node)] += self.triangles.row(k).len();
        }
        (1..slots.len()).for_each(|p| slots[p] += slots[p - 1]);
        slots
    }

    /// For each slot of row `i` its edge in the ranked graph, and in the triangle graph when it has
    /// one; false when all counts are zero.
    fn edges_of(&self, i: usize, scratch: &mut Scratch) -> bool {
        let (graph, wedges) = (&self.ranked, &self.wedges);
        let r = graph.rank[i];
        if !wedges.on_cycle(r as usize) && !wedges.in_triangle(r as usize) {
            return false;
        }
        let Scratch {
            order,
            ranked,
            edges,
        } = scratch;
        let row = self.pattern.row(i);
        let key = |(&j, k): (&u32, u64)| u64::from(graph.rank[j as usize]) << 32 | k;
        order.clear();
        order.extend(row.iter().zip(0..).map(key));
        order.sort_unstable();
        edges.resize(row.len(), (0, 0));
        ranked.clear();
        ranked.extend(graph.edges_of(r as usize, &wedges.reverse));
        // The edges of a row lie scattered.
        let ask = |edge: usize| {
            prefetch(&self.t[edge..=edge]);
            prefetch(&self.wedges.cycles[edge..=edge]);
        };
        ranked.iter().take(EDGES_AHEAD).for_each(|&edge| ask(edge));
        let mut in_triangle = self.triangles.edges_of(r);
        for (at, (key, &edge)) in order.iter().zip(&*ranked).enumerate() {
            if let Some(&next) = ranked.get(at + EDGES_AHEAD) {
                ask(next);
            }
            let inside = match self.t[edge] {
                0 => 0,
                _ => in_triangle.next().expect("a triangle edge"),
            };
            edges[(key & u64::from(u32::MAX)) as usize] = (edge, inside);
        }
        true
    }
}

/// The width of a column of these values, each of which is stored in two slots.
fn width<T: Sync>(values: &[T], value: impl Fn(&T) -> u64 + Sync) -> usize {
    let sizes = parallel::stretches(values.len(), 1 << 16, |range| {
        let mut sizes = Sizes::default();
        values[range].iter().for_each(|x| sizes.add(value(x), 2));
        sizes
    });
    Sizes::sum(sizes).width(2 * values.len()).0
}
