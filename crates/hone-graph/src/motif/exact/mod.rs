//! Exact counting: runs the sweeps and arranges their results in the order of the graph.
//!
//! Cost: Σ_e min(d_u, d_v) steps for wedges and triangles, popcounts for cliques; memory linear in
//! the edges. Every result is a sum of integers, so it does not depend on the number of threads.

mod chosen;
mod clique;
mod triangle;
mod wedge;

use std::sync::atomic::Ordering::Relaxed;

pub use self::chosen::{Triangles, sums_of_nodes, with_neighbours};
use self::triangle::{TriangleGraph, common};
use self::wedge::Wedges;
use super::column::{Column, Part, Sizes, cut};
use super::place::Rank;
use super::ranked::{Ranked, balanced};
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::parallel;
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// The primitives of a graph, in the order of its pattern.
#[derive(Debug, Clone)]
pub(super) struct Exact {
    /// Common neighbours and non-induced 4-cycles, by slot.
    pub(super) t: Column,
    pub(super) c: Column,
    /// Maps a slot with t > 0 to its index in k, q and r.
    pub(super) rank: Rank,
    pub(super) k: Column,
    pub(super) q: Column,
    pub(super) r: Column,
    /// Degree, triangles and Σ (d_w − 1), by node.
    pub(super) d: Column,
    pub(super) triangles: Column,
    pub(super) s: Column,
}

impl Exact {
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
        let wedges = wedge::count(&ranked, communicator, progress)?;
        let t = common(&ranked, &wedges, communicator, progress)?;
        // Only now is it known how many edges are in triangles.
        let inside = 2 * t.iter().filter(|&&t| t > 0).count() as u64;
        room(PER_TRIANGLE_SLOT * inside + PER_SLOT * pattern.nnz() as u64)?;
        let triangles = TriangleGraph::new(&ranked, &wedges, &t);
        let (q, r) = triangles.sums(communicator, progress)?;
        let k = clique::count(&triangles, communicator, progress)?;
        progress.check()?;
        progress.stage("arranging counts", 0);
        let s = Column::collect(ranked.nodes(), |i| ranked.s[ranked.rank[i] as usize]);
        let found = Found {
            pattern,
            ranked,
            wedges,
            t,
            triangles,
            k,
            q,
            r,
        };
        Ok(found.in_graph_order(s))
    }

    /// Refuses a node with too many neighbours for the arithmetic.
    pub(super) fn check_degrees(pattern: &Pattern) -> Result<()> {
        let top = (0..pattern.rows())
            .map(|i| pattern.range(i).len())
            .max()
            .unwrap_or(0);
        if top >= 1 << 31 {
            let message = format!(
                "a node has {top} neighbours; at most {} can be counted",
                (1u64 << 31) - 1
            );
            return Err(Error::Numeric {
                stage: "motif counting".into(),
                message,
            });
        }
        Ok(())
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        let columns = [
            &self.t,
            &self.c,
            &self.k,
            &self.q,
            &self.r,
            &self.d,
            &self.triangles,
            &self.s,
        ];
        columns.into_iter().map(Column::bytes).sum::<usize>() + self.rank.bytes()
    }
}

/// Bytes per slot in a triangle that the triangle graph and K, Q and R take, while they are computed and arranged.
const PER_TRIANGLE_SLOT: u64 = 36;
/// Bytes per slot of the other columns, as narrow as most of them are.
const PER_SLOT: u64 = 4;

/// The results of the sweeps, by edge of the ranked graph (k, q, r: of the triangle graph).
struct Found<'a> {
    pattern: &'a Pattern,
    ranked: Ranked,
    wedges: Wedges,
    t: Vec<u32>,
    triangles: TriangleGraph,
    k: Vec<u64>,
    q: Vec<u64>,
    r: Vec<u64>,
}

/// A range of rows of each column under construction.
struct Stretch<'a> {
    t: Part<'a>,
    c: Part<'a>,
    kqr: [Part<'a>; 3],
    triangles: &'a mut [u64],
    /// Index of the range's first edge with t > 0 in k, q and r.
    next: usize,
}

impl Found<'_> {
    fn in_graph_order(&self, s: Column) -> Exact {
        let n = self.pattern.rows();
        let offsets = self.pattern.offsets();
        let bounds = balanced(n, 1 << 14, |i| (offsets[i + 1] - offsets[i] + 4) as u64);
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        let inside = self.triangle_slots(&bounds);
        let mut t = Column::zeros(self.pattern.nnz(), sizes(&self.t, |&t| u64::from(t)));
        let mut c = Column::zeros(
            self.pattern.nnz(),
            sizes(&self.wedges.cycles, |c| c.load(Relaxed)),
        );
        let mut kqr =
            [&self.k, &self.q, &self.r].map(|v| Column::zeros(2 * v.len(), sizes(v, |&x| x)));
        let mut triangles = vec![0u64; n];
        let [k, q, r] = &mut kqr;
        let kqr_parts = k
            .parts(&inside)
            .into_iter()
            .zip(q.parts(&inside))
            .zip(r.parts(&inside));
        let stretches: Vec<Stretch<'_>> = (t.parts(&slots).into_iter().zip(c.parts(&slots)))
            .zip(kqr_parts)
            .zip(cut(&mut triangles, &bounds))
            .zip(&inside)
            .map(|((((t, c), ((k, q), r)), triangles), &next)| Stretch {
                t,
                c,
                kqr: [k, q, r],
                triangles,
                next,
            })
            .collect();
        let wide: Vec<[Vec<(usize, u64)>; 5]> = parallel::map_each(stretches, |p, mut stretch| {
            let mut scratch = Scratch::default();
            for i in bounds[p]..bounds[p + 1] {
                if self.edges_of(i, &mut scratch) {
                    stretch.triangles[i - bounds[p]] =
                        self.write_row(i, &scratch.edges, &mut stretch);
                }
            }
            let [k, q, r] = stretch.kqr;
            [stretch.t.wide, stretch.c.wide, k.wide, q.wide, r.wide]
        });
        let [k, q, r] = kqr;
        let mut columns = [t, c, k, q, r];
        for (x, column) in columns.iter_mut().enumerate() {
            column.finish(wide.iter().map(|wide| wide[x].clone()));
        }
        let [t, c, k, q, r] = columns;
        let rank = Rank::new(t.len(), |range| t.nonzeros(range));
        let triangles = Column::collect(n, |i| triangles[i]);
        let d = Column::collect(n, |i| self.pattern.range(i).len() as u64);
        Exact {
            t,
            c,
            rank,
            k,
            q,
            r,
            d,
            triangles,
            s,
        }
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
        order.clear();
        order.extend(
            row.iter()
                .zip(0u64..)
                .map(|(&j, k)| u64::from(graph.rank[j as usize]) << 32 | k),
        );
        order.sort_unstable();
        edges.resize(row.len(), (0, 0));
        ranked.clear();
        ranked.extend(graph.edges_of(r as usize, &wedges.reverse));
        ranked
            .iter()
            .take(EDGES_AHEAD)
            .for_each(|&edge| self.ask(edge));
        let mut in_triangle = self.triangles.edges_of(r);
        for (at, (key, &edge)) in order.iter().zip(&*ranked).enumerate() {
            if let Some(&next) = ranked.get(at + EDGES_AHEAD) {
                self.ask(next);
            }
            let inside = if self.t[edge] > 0 {
                in_triangle.next().expect("a triangle edge")
            } else {
                0
            };
            edges[(key & u64::from(u32::MAX)) as usize] = (edge, inside);
        }
        true
    }

    /// Prefetches the counts of an edge: the edges of a row lie scattered.
    #[inline(always)]
    fn ask(&self, edge: usize) {
        prefetch(&self.t[edge..=edge]);
        prefetch(&self.wedges.cycles[edge..=edge]);
    }

    /// Writes all counts of row `i`; returns the triangles of the node.
    fn write_row(&self, i: usize, edges: &[(usize, usize)], out: &mut Stretch<'_>) -> u64 {
        let mut twice = 0;
        for (slot, &(edge, inside)) in self.pattern.range(i).zip(edges) {
            let t = self.t[edge];
            out.t.set(slot, u64::from(t));
            out.c.set(slot, self.wedges.cycles[edge].load(Relaxed));
            if t > 0 {
                for (part, value) in
                    out.kqr
                        .iter_mut()
                        .zip([self.k[inside], self.q[inside], self.r[inside]])
                {
                    part.set(out.next, value);
                }
                out.next += 1;
                twice += u64::from(t);
            }
        }
        twice / 2
    }
}

/// Edges from the current one to the one whose counts are prefetched.
const EDGES_AHEAD: usize = 16;

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

/// Sizes of the values, each of which is stored in two slots.
fn sizes<T: Sync>(values: &[T], value: impl Fn(&T) -> u64 + Sync) -> Sizes {
    let chunks = parallel::stretches(values.len(), 1 << 16, |range| {
        let mut sizes = Sizes::default();
        values[range].iter().for_each(|x| sizes.add(value(x), 2));
        sizes
    });
    chunks.into_iter().fold(Sizes::default(), Sizes::merge)
}
