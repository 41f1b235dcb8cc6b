//! From any list of pairs, or a matrix in compressed rows, to a [`Graph`] that satisfies the invariants.
//!
//! A matrix that satisfies them, as most do, is used in place. Otherwise slots (row, column) are sorted in buckets: they are
//! dealt stably into buckets of neighbouring rows small enough for the cache, each bucket is sorted and freed of duplicates
//! on its own, and the survivors are copied to their final place. Every step is parallel over pieces of fixed size that
//! write to disjoint slices, so the result is the same for any number of threads. Cost: O(M log degree) time; at the peak
//! 8 bytes per slot (12 with weights) beside the input or beside the result, never both.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rayon::slice::ParallelSliceMut;

use super::{Dropped, Graph, NodeIds};
use crate::clock::{Work, timed};
use crate::error::{Error, Result};
use crate::parallel::{self, cut};
use crate::random::{GOLDEN_GAMMA, mix64};
use crate::sparse::{Indices, Pattern, offsets};

/// Collects pairs of node indices and makes a [`Graph`] of them.
///
/// ```
/// use hone_graph::GraphBuilder;
/// let graph = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 0), (2, 2)]).build()?;
/// assert_eq!((graph.nodes(), graph.edges()), (3, 1));
/// assert_eq!((graph.dropped().duplicates, graph.dropped().self_loops), (1, 1));
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    directed: bool,
    ids: NodeIds,
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    ignored_weights: u64,
}

impl GraphBuilder {
    /// An undirected graph on nodes 0..n.
    pub fn undirected(nodes: usize) -> Self {
        GraphBuilder {
            directed: false,
            ids: NodeIds::Sequential(nodes),
            edges: Vec::new(),
            weights: None,
            ignored_weights: 0,
        }
    }

    /// A directed graph on nodes 0..n.
    pub fn directed(nodes: usize) -> Self {
        GraphBuilder {
            directed: true,
            ..Self::undirected(nodes)
        }
    }

    /// Names the nodes; their number becomes the number of ids.
    #[must_use]
    pub fn ids(self, ids: NodeIds) -> Self {
        GraphBuilder { ids, ..self }
    }

    /// The edges, as pairs of node indices; loops and duplicates are dropped and counted.
    #[must_use]
    pub fn edges(self, edges: Vec<(u32, u32)>) -> Self {
        GraphBuilder { edges, ..self }
    }

    /// One weight per edge, finite and not negative; the weights of duplicates are added (in either
    /// direction if undirected).
    #[must_use]
    pub fn weights(self, weights: Vec<f32>) -> Self {
        GraphBuilder {
            weights: Some(weights),
            ..self
        }
    }

    /// Says that the input had this many weights which were not requested.
    #[must_use]
    pub fn ignored_weights(self, count: u64) -> Self {
        GraphBuilder {
            ignored_weights: count,
            ..self
        }
    }

    /// Makes the graph. Fails when an index is not below the number of nodes, when there are more
    /// nodes than u32 can number, or when a weight is negative or not finite.
    pub fn build(self) -> Result<Graph> {
        self.check()?;
        let (edges, directed) = (self.edges, self.directed);
        let self_loops = parallel::count(edges.len(), |e| edges[e].0 == edges[e].1) as u64;
        // Read, dealt into buckets, sorted there, copied to their place: 8 bytes per slot each time, 12 with weights.
        let slot = if self.weights.is_some() { 12 } else { 8 };
        let bytes = 5 * slot * edges.len() as u64 * if directed { 1 } else { 2 };
        let slots = Pairs {
            edges,
            weights: self.weights,
            both: !directed,
        };
        let sorted = timed(Work::Build, bytes, || sort(self.ids.len(), slots));
        let copies = if directed { 1 } else { 2 };
        let dropped = Dropped {
            self_loops,
            duplicates: sorted.duplicates / copies,
            weights: self.ignored_weights,
        };
        sorted.graph(directed, self.ids, dropped, "duplicate edges")
    }

    fn check(&self) -> Result<()> {
        let (n, edges) = (self.ids.len(), &self.edges);
        if n > u32::MAX as usize {
            let message = format!("{n} nodes; at most {} are supported", u32::MAX);
            return Err(Error::config("nodes", message));
        }
        let outside = |e: usize| edges[e].0.max(edges[e].1) as usize >= n;
        if let Some(e) = parallel::first(edges.len(), outside) {
            let (u, v) = edges[e];
            let message = format!("edge {e} is ({u}, {v}), but there are {n} nodes");
            return Err(Error::config("edges", message));
        }
        check_weights(self.weights.as_deref(), edges.len(), "edges")
    }
}

/// Refuses weights that are not one for each of so many edges or positions, and the first that is negative or not finite.
fn check_weights(weights: Option<&[f32]>, count: usize, what: &str) -> Result<()> {
    let Some(weights) = weights else {
        return Ok(());
    };
    let wrong = |e: usize| !(weights[e].is_finite() && weights[e] >= 0.0);
    let message = if weights.len() != count {
        format!(
            "{} weights for {count} {what}; give one each",
            weights.len()
        )
    } else if let Some(e) = parallel::first(count, wrong) {
        format!(
            "weight {e} is {}; weights must be finite and ≥ 0",
            weights[e]
        )
    } else {
        return Ok(());
    };
    Err(Error::config("weights", message))
}

/// What the arcs of a matrix mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// A directed graph.
    Directed,
    /// An undirected graph.
    Undirected,
    /// An undirected graph where every arc has its reverse, with the same weight; else a directed one.
    #[default]
    Detect,
}

impl Orientation {
    /// Directed if so, else undirected.
    pub fn directed_if(directed: bool) -> Self {
        if directed {
            Orientation::Directed
        } else {
            Orientation::Undirected
        }
    }
}

/// Rows that a thread checks at a time.
const ROWS: usize = 1 << 12;

impl Graph {
    /// The graph whose arcs out of node i are `columns[offsets[i]..offsets[i + 1]]`.
    ///
    /// `orientation` says what the matrix means. An undirected graph of a matrix that is not symmetric has an edge
    /// wherever there is an arc in either direction, with the sum of their weights. Self-loops and repeated arcs are
    /// dropped and counted; the weights of repeated arcs are added.
    ///
    /// ```
    /// use hone_graph::{Graph, NodeIds, Orientation};
    /// // 0 → 1, 1 → 0, 1 → 2
    /// let arcs = |meant| Graph::from_arcs(vec![0, 1, 3, 3], vec![1, 2, 0], None, meant, NodeIds::Sequential(3));
    /// assert!(arcs(Orientation::Detect)?.is_directed());
    /// assert_eq!((arcs(Orientation::Detect)?.edges(), arcs(Orientation::Undirected)?.edges()), (3, 2));
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn from_arcs(
        offsets: Vec<usize>,
        columns: impl Into<Indices>,
        weights: Option<Arc<[f32]>>,
        orientation: Orientation,
        ids: NodeIds,
    ) -> Result<Graph> {
        let rows = Rows {
            offsets: offsets.into(),
            columns: columns.into(),
            weights,
            forward: true,
            reverse: false,
        };
        rows.check(ids.len())?;
        let all = |check: &(dyn Fn(usize) -> bool + Sync)| {
            parallel::first(ids.len(), |i| !check(i)).is_none()
        };
        let sorted = |i: usize| {
            let row = rows.row(i);
            row.windows(2).all(|w| w[0] < w[1]) && row.binary_search(&(i as u32)).is_err()
        };
        let graph = if all(&sorted) {
            let pattern = Pattern::shared(rows.offsets.into_owned(), rows.columns, ids.len());
            Graph::new(Arc::new(pattern), rows.weights, true, ids)
        } else {
            let loops = |i: usize| rows.row(i).iter().filter(|&&j| j as usize == i).count() as u64;
            let loops = parallel::stretches(ids.len(), ROWS, |rows| rows.map(loops).sum::<u64>());
            let sorted = sort(ids.len(), rows);
            let dropped = Dropped {
                self_loops: loops.into_iter().sum(),
                duplicates: sorted.duplicates,
                weights: 0,
            };
            sorted.graph(true, ids, dropped, "repeated arcs")?
        };
        Ok(graph.with_orientation(orientation))
    }

    /// An adjacency that keeps the guarantees, undirected and without weights.
    pub fn trusted(pattern: Arc<Pattern>, ids: NodeIds) -> Result<Graph> {
        Graph::new(pattern, None, false, ids).checked()
    }

    /// Refuses other numbers of columns, ids and weights than the rows need, and weights that are not accepted.
    pub(super) fn checked(self) -> Result<Graph> {
        let (n, cols) = (self.pattern.rows(), self.pattern.cols());
        let (ids, slots) = (self.ids.len(), self.pattern.nnz());
        if n != cols {
            let message = format!("{n} rows and {cols} columns; it must be square");
            return Err(Error::config("adjacency", message));
        }
        if ids != n {
            let message = format!("{ids} ids for {n} nodes; give one per node");
            return Err(Error::config("ids", message));
        }
        check_weights(self.weights.as_deref(), slots, "positions").map(|()| self)
    }

    /// The same arcs as a directed or as an undirected graph; [`Graph::from_arcs`] says what that means.
    #[must_use]
    pub fn with_orientation(self, orientation: Orientation) -> Graph {
        let directed = match orientation {
            Orientation::Directed => true,
            _ if !self.directed => false,
            _ if self.is_symmetric() => false,
            Orientation::Undirected => return self.underlying(),
            Orientation::Detect => true,
        };
        Graph { directed, ..self }
    }

    /// Whether every arc has its reverse, with the same weight.
    ///
    /// The arcs above the diagonal and those below it are two sets; they are the same if their sums
    /// of 128-bit hashes are, but for one case in 2¹²⁸. That takes two streams and no search.
    fn is_symmetric(&self) -> bool {
        let hash = |a: u32, b: u32, position: usize| {
            let weight = weight_bits(self.weights.as_deref(), position);
            let mix = |start: u64| {
                let x = (u64::from(a) << 32 | u64::from(b)).wrapping_add(start);
                mix64(mix64(x).wrapping_add(u64::from(weight).wrapping_mul(GOLDEN_GAMMA)))
            };
            u128::from(mix(GOLDEN_GAMMA)) << 64 | u128::from(mix(0xd1b5_4a32_d192_ed03))
        };
        let sums = parallel::stretches(self.nodes(), ROWS, |rows| {
            let mut sum = 0u128;
            for i in rows {
                for (position, &j) in self.pattern.range(i).zip(self.pattern.row(i)) {
                    let i = i as u32;
                    sum = if i < j {
                        sum.wrapping_add(hash(i, j, position))
                    } else {
                        sum.wrapping_sub(hash(j, i, position))
                    };
                }
            }
            sum
        });
        sums.into_iter().fold(0, u128::wrapping_add) == 0
    }

    /// The same graph without directions: an edge wherever there is an arc in either direction,
    /// with the sum of their weights (at most `f32::MAX`). Cheap when the graph is undirected
    /// already.
    pub fn underlying(&self) -> Graph {
        if !self.directed {
            return self.clone();
        }
        let mut sorted = sort(self.nodes(), self.reversed(true));
        if let Some(weights) = sorted.weights.as_mut().and_then(Arc::get_mut) {
            parallel::for_chunks(weights, 1 << 16, &|_, weights| {
                weights.iter_mut().for_each(|w| *w = w.min(f32::MAX));
            });
        }
        Graph {
            pattern: Arc::new(sorted.pattern),
            weights: sorted.weights,
            directed: false,
            ..self.clone()
        }
    }

    /// The symmetric adjacency of the same graph without directions and weights: what motifs are counted on.
    pub fn symmetric_pattern(&self) -> Arc<Pattern> {
        self.reversed_pattern(true)
    }

    /// Transposed adjacency: row i holds the in-neighbours of node i, ascending. Shared, not
    /// copied, when the graph is undirected.
    pub fn transposed(&self) -> Arc<Pattern> {
        self.reversed_pattern(false)
    }

    fn reversed_pattern(&self, forward: bool) -> Arc<Pattern> {
        if !self.directed {
            return Arc::clone(&self.pattern);
        }
        let arcs = Rows {
            weights: None,
            ..self.reversed(forward)
        };
        Arc::new(sort(self.nodes(), arcs).pattern)
    }

    /// The arcs reversed, with (`forward`) or without the original ones.
    fn reversed(&self, forward: bool) -> Rows<'_> {
        Rows {
            offsets: self.pattern.offsets().into(),
            columns: self.pattern.indices().clone(),
            weights: self.weights.clone(),
            forward,
            reverse: true,
        }
    }
}

/// Adding zero turns -0 into 0, whose bits sort where they should.
fn weight_bits(weights: Option<&[f32]>, position: usize) -> u32 {
    weights.map_or(0, |weights| (weights[position] + 0.0).to_bits())
}

/// Directed slots (row, column, bits of the weight) of items that can be visited again and again.
trait Slots: Sync {
    /// Items that are visited by one thread at a time.
    const PIECE: usize;
    /// Number of items.
    fn items(&self) -> usize;
    /// Number of slots, or a little more.
    fn slots(&self) -> usize;
    /// Whether they have weights.
    fn weighted(&self) -> bool;
    /// Calls `visit` for each slot of some items, always in the same order.
    fn each(&self, items: Range<usize>, visit: impl FnMut(u32, u32, u32));
}

/// The builder's input: loops left out, undirected edges in both directions.
struct Pairs {
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    both: bool,
}

impl Slots for Pairs {
    const PIECE: usize = 1 << 18;

    fn items(&self) -> usize {
        self.edges.len()
    }

    fn slots(&self) -> usize {
        self.edges.len() << usize::from(self.both)
    }

    fn weighted(&self) -> bool {
        self.weights.is_some()
    }

    fn each(&self, edges: Range<usize>, mut visit: impl FnMut(u32, u32, u32)) {
        for (e, &(u, v)) in edges.clone().zip(&self.edges[edges]) {
            if u != v {
                let bits = weight_bits(self.weights.as_deref(), e);
                visit(u, v, bits);
                if self.both {
                    visit(v, u, bits);
                }
            }
        }
    }
}

/// The rows of a matrix, loops left out: as they are, reversed, or both.
struct Rows<'a> {
    offsets: Cow<'a, [usize]>,
    columns: Indices,
    weights: Option<Arc<[f32]>>,
    forward: bool,
    reverse: bool,
}

impl Rows<'_> {
    fn row(&self, i: usize) -> &[u32] {
        &self.columns[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Refuses what is not a square matrix of that size.
    fn check(&self, nodes: usize) -> Result<()> {
        let (rows, stored) = (self.items(), self.columns.len());
        let message = if rows != nodes || self.offsets.is_empty() {
            format!("{rows} rows for {nodes} nodes; it must be square, with one id per node")
        } else if nodes > u32::MAX as usize {
            format!("{nodes} nodes; at most {} are supported", u32::MAX)
        } else if self.offsets[0] != 0 || self.offsets[rows] != stored || !self.offsets.is_sorted()
        {
            format!("the row offsets do not run from 0 to the {stored} columns without falling")
        } else if let Some(at) = parallel::first(stored, |at| self.columns[at] as usize >= nodes) {
            let row = self.offsets.partition_point(|&start| start <= at) - 1;
            let column = self.columns[at];
            format!("row {row} has column {column}, but there are {nodes} nodes")
        } else {
            return check_weights(self.weights.as_deref(), stored, "positions");
        };
        Err(Error::config("adjacency", message))
    }
}

impl Slots for Rows<'_> {
    const PIECE: usize = 1 << 12;

    fn items(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn slots(&self) -> usize {
        self.columns.len() << usize::from(self.forward && self.reverse)
    }

    fn weighted(&self) -> bool {
        self.weights.is_some()
    }

    fn each(&self, rows: Range<usize>, mut visit: impl FnMut(u32, u32, u32)) {
        let weights = self.weights.as_deref();
        for i in rows {
            for (position, &j) in (self.offsets[i]..).zip(self.row(i)) {
                if j as usize != i {
                    let bits = weight_bits(weights, position);
                    if self.reverse {
                        visit(j, i as u32, bits);
                    }
                    if self.forward {
                        visit(i as u32, j, bits);
                    }
                }
            }
        }
    }
}

/// Slots that a bucket aims at: 1 MB, so that sorting stays in a core's cache.
const BUCKET: usize = 1 << 17;
/// More buckets than this and the writes of one task no longer stay in its cache.
const MAX_BUCKETS: usize = 1 << 10;
/// A row this large (a hub's) is sorted by all threads.
const LARGE: usize = 1 << 21;

/// Sorted rows without duplicates.
struct Sorted {
    pattern: Pattern,
    weights: Option<Arc<[f32]>>,
    /// Slots beyond the first at the same position.
    duplicates: u64,
}

impl Sorted {
    /// The graph; fails where the weights of `repeated` add up to more than f32 holds.
    fn graph(
        self,
        directed: bool,
        ids: NodeIds,
        dropped: Dropped,
        repeated: &str,
    ) -> Result<Graph> {
        let weights = self.weights.as_deref().unwrap_or_default();
        if parallel::first(weights.len(), |e| weights[e].is_infinite()).is_some() {
            let message =
                format!("those of {repeated} add up to more than f32 can hold; scale them down");
            return Err(Error::config("weights", message));
        }
        let graph = Graph::new(Arc::new(self.pattern), self.weights, directed, ids);
        Ok(Graph { dropped, ..graph })
    }
}

/// Sorts slots into rows, merging duplicates: the weights of these are added in ascending order, in f64, so no order of
/// input matters; a sum beyond f32 becomes infinite.
fn sort(nodes: usize, slots: impl Slots) -> Sorted {
    if slots.weighted() {
        sort_slots::<3>(nodes, slots)
    } else {
        sort_slots::<2>(nodes, slots)
    }
}

/// `K` is 2 without weights and 3 with them.
fn sort_slots<const K: usize>(nodes: usize, slots: impl Slots) -> Sorted {
    let wanted = (slots.slots() / BUCKET).clamp(1, MAX_BUCKETS);
    let last = nodes.saturating_sub(1);
    let shift = (0..usize::BITS).find(|&s| last >> s < wanted).unwrap_or(0);
    let (mut buckets, starts) = deal::<K, _>(nodes.div_ceil(1 << shift), shift, &slots);
    drop(slots);
    let total = buckets.len();
    let mut offsets = vec![0; nodes + 1];
    let rows = offsets[1..].chunks_mut(1 << shift);
    let parts = cut(&mut buckets, &starts).into_iter().zip(rows).collect();
    let kept = parallel::map_each(parts, |b, (bucket, counts)| {
        sort_bucket(bucket, b << shift, counts)
    });
    let kept = self::offsets(kept);
    for i in 0..nodes {
        offsets[i + 1] += offsets[i];
    }
    let nnz = offsets[nodes];
    let mut columns = vec![0; nnz];
    let mut weights: Option<Arc<[f32]>> = (K == 3).then(|| std::iter::repeat_n(0.0, nnz).collect());
    let buckets = cut(&mut buckets, &starts);
    parallel::each(cut(&mut columns, &kept), &|b, columns| {
        for (column, slot) in columns.iter_mut().zip(buckets[b].iter()) {
            *column = slot[1];
        }
    });
    if let Some(weights) = weights.as_mut().and_then(Arc::get_mut) {
        parallel::each(cut(weights, &kept), &|b, weights| {
            for (weight, slot) in weights.iter_mut().zip(buckets[b].iter()) {
                *weight = f32::from_bits(slot[K - 1]);
            }
        });
    }
    Sorted {
        pattern: Pattern::new(offsets, columns, nodes),
        weights,
        duplicates: (total - nnz) as u64,
    }
}

/// Deals the slots into buckets of `1 << shift` rows: counts for each piece and bucket, then writes to disjoint slices.
/// The buckets one after the other, and where they begin.
fn deal<const K: usize, S: Slots>(
    buckets: usize,
    shift: u32,
    slots: &S,
) -> (Vec<[u32; K]>, Vec<usize>) {
    let counts: Vec<Vec<u32>> = parallel::stretches(slots.items(), S::PIECE, |items| {
        let mut counts = vec![0; buckets];
        slots.each(items, |row, _, _| counts[(row >> shift) as usize] += 1);
        counts
    });
    let all = (0..buckets).flat_map(|b| counts.iter().map(move |counts| counts[b] as usize));
    let places = offsets(all);
    let starts = (0..=buckets).map(|b| places[b * counts.len()]).collect();
    let mut dealt = vec![[0; K]; places[places.len() - 1]];
    let mut targets: Vec<Vec<&mut [[u32; K]]>> = counts.iter().map(|_| Vec::new()).collect();
    for (at, part) in cut(&mut dealt, &places).into_iter().enumerate() {
        targets[at % counts.len()].push(part);
    }
    parallel::each(targets, &|piece, mut targets| {
        let mut filled = vec![0; buckets];
        let items = piece * S::PIECE..slots.items().min((piece + 1) * S::PIECE);
        slots.each(items, |row, column, bits| {
            let b = (row >> shift) as usize;
            let values = [row, column, bits];
            targets[b][filled[b]] = std::array::from_fn(|k| values[k]);
            filled[b] += 1;
        });
    });
    (dealt, starts)
}

/// Sorts a bucket whose first row is `base`, merges duplicates and moves what is left to its
/// front; counts the slots left in each row and returns their number.
fn sort_bucket<const K: usize>(
    bucket: &mut [[u32; K]],
    base: usize,
    counts: &mut [usize],
) -> usize {
    let row = |slot: &[u32; K]| slot[0] as usize - base;
    bucket.iter().for_each(|slot| counts[row(slot)] += 1);
    let mut total = 0;
    for count in counts.iter_mut() {
        total += std::mem::replace(count, total);
    }
    let mut sorted = vec![[0; K]; bucket.len()];
    for slot in bucket.iter() {
        let place = &mut counts[row(slot)];
        sorted[*place] = *slot;
        *place += 1;
    }
    // By column, then by weight.
    let key = |slot: &[u32; K]| {
        let weight = if K == 3 { slot[K - 1] } else { 0 };
        u64::from(slot[1]) << 32 | u64::from(weight)
    };
    // By now each count is where its row ends.
    let (mut begin, mut kept) = (0, 0);
    for count in counts.iter_mut() {
        let row = &mut sorted[begin..*count];
        begin = *count;
        if row.len() > LARGE {
            row.par_sort_unstable_by_key(key);
        } else {
            row.sort_unstable_by_key(key);
        }
        let first = kept;
        for same in row.chunk_by(|a, b| a[1] == b[1]) {
            bucket[kept] = same[0];
            if K == 3 && same.len() > 1 {
                let weights = same
                    .iter()
                    .map(|slot| f64::from(f32::from_bits(slot[K - 1])));
                bucket[kept][K - 1] = (weights.sum::<f64>() as f32).to_bits();
            }
            kept += 1;
        }
        *count = kept - first;
    }
    kept
}
