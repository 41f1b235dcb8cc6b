//! Exact counts of all 13 edge orbits on the device, equal to those of the CPU.
//!
//! The sweeps are those of `motif/exact`, parallelised differently: wedges by node (`kernels/wedges.cu`),
//! triangles by edge (`triangles.cu`), cliques by node (`cliques.cu`). Nodes are sorted into classes by their
//! work, so that hubs have a block of threads and most nodes a warp. All concurrent additions are of integers,
//! so their order does not matter. The results are copied back in narrow columns, and also stay on the device,
//! where W_t and features are computed from them. Memory: 60 bytes per position at the peak, 12 and 24 per position
//! in a triangle after that.
//!
//! [`Counted`]: the numbers from which the counts of a graph follow, kept on the device.
//!
//! [`Ranked`]: the graph with its nodes renumbered by degree (`kernels/renumber.cu`). Ranks come from a histogram of
//! degrees. Rows are renumbered and sorted by a warp, by a block in shared memory or, if they are longer, with a bitmap of
//! all nodes.

use std::sync::{Arc, PoisonError, Weak};

use cudarc::driver::DeviceRepr;
use hone::Result;
use hone::engine::Counting;
use hone::graph::Graph;
use hone::motif::{Column, Counts, Primitives, Sizes};
use hone::progress::Progress;
use hone::sparse::Pattern;

use crate::driver::{Arg, Memory, args};
use crate::resident::Positions;
use crate::{Cuda, THREADS};

/// Blocks per multiprocessor of kernels with dynamic scheduling: wedges of a block, of all nodes; small and large local
/// graphs.
const MANY_BLOCKS: usize = 6;
const MOST_BLOCKS: usize = 2;
const SMALL_BLOCKS: usize = 5;
const LARGE_BLOCKS: usize = 2;

/// Counters of all nodes, and bit rows of large local graphs, may take one part in this many of the free memory.
const PART: u64 = 2;

/// Length of the longest row that a warp sorts, and of the longest that a block sorts.
const SHORT: usize = 32;
const MEDIUM: usize = 4096;

/// Blocks that sort long rows, with one bitmap each.
const BITMAPS: usize = 264;

/// Blocks that scan all values.
const BLOCKS: usize = 2048;

/// A graph in the order of degrees.
struct Ranked {
    nodes: usize,
    edges: usize,
    rank: Memory<u32>,
    heads: Memory<u64>,
    splits: Memory<u64>,
    first_edges: Memory<u64>,
    columns: Memory<u32>,
}

impl Ranked {
    /// Heads, splits, first edges and columns, in the order of kernel arguments.
    fn rows(&self) -> Arg {
        args![&self.heads, &self.splits, &self.first_edges, &self.columns]
            .to_vec()
            .into()
    }
}

/// Sums over triangles, by edge of the ranked graph.
struct Triangles {
    t: Memory<u32>,
    q: Memory<u64>,
    r: Memory<u64>,
}

/// The numbers from which counts follow, on the device, in the order of a pattern.
pub(crate) struct Counted {
    pattern: Weak<Pattern>,
    pub(crate) nodes: usize,
    pub(crate) slots: usize,
    pub(crate) positions: Arc<Positions>,
    t: Memory<u32>,
    c: Memory<u64>,
    /// Positions in triangles before each row.
    inside: Memory<u64>,
    kqr: [Memory<u64>; 3],
    triangles: Memory<u64>,
    s: Memory<u64>,
}

impl Counted {
    /// The arguments of kernels that read counts.
    pub(crate) fn args(&self) -> Arg {
        let Positions {
            offsets, columns, ..
        } = &*self.positions;
        let of_edges = args![offsets, columns, &self.t, &self.c, &self.inside];
        let [k, q, r] = &self.kqr;
        let of_nodes = args![k, q, r, &self.triangles, &self.s];
        [of_edges, of_nodes].concat().into()
    }
}

impl Cuda {
    /// Counts the motifs of a graph, and keeps the numbers from which they follow.
    pub(crate) fn count_exactly(&self, graph: &Graph, how: &Counting<'_>) -> Result<Counts> {
        let pattern = Counts::counted_pattern(graph)?;
        self.forget_counts();
        let progress = how.progress;
        progress.stage("counting motifs", 0);
        let counted = self.counted_on(&pattern, progress)?;
        let found = self.primitives(&counted);
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(counted));
        Ok(Counts::of_primitives(pattern, found))
    }

    /// The counts of a pattern, if it was counted here.
    pub(crate) fn counts_of(&self, counts: &Counts) -> Option<Arc<Counted>> {
        let known = self
            .counted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        known.filter(|known| {
            counts.are_exact()
                && std::ptr::eq(known.pattern.as_ptr(), Arc::as_ptr(counts.pattern()))
        })
    }

    /// Frees the counts kept on the device.
    pub(crate) fn forget_counts(&self) {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn counted_on(&self, pattern: &Arc<Pattern>, progress: &dyn Progress) -> Result<Counted> {
        let (driver, nodes, slots) = (&self.driver, pattern.rows(), pattern.nnz());
        let positions = self.resident.positions(driver, pattern);
        let graph = self.ranked(&positions, nodes, slots);
        progress.check()?;
        let cycles = self.cycles(&graph, slots)?;
        progress.check()?;
        let Triangles { t: ranked_t, q, r } = self.triangles(&graph);
        let cliques = self.cliques(&graph, &ranked_t)?;
        progress.check()?;
        let (t, c) = (driver.reserve::<u32>(slots), driver.reserve::<u64>(slots));
        let inside = driver.reserve::<u64>(nodes + 1);
        let [triangles, s] = [(); 2].map(|()| driver.reserve::<u64>(nodes));
        let (offsets, columns) = (&positions.offsets, &positions.columns);
        let mut rows = args![offsets, columns, &graph.rank].to_vec();
        rows.extend(args![
            &graph.heads,
            &graph.splits,
            &graph.first_edges,
            &graph.columns
        ]);
        let to = args![&t, &c, &inside, &triangles, &s].to_vec();
        let args = args![rows.clone(), &ranked_t, &cycles, to];
        self.per_row("arrange", nodes, &args);
        self.sum_before(&inside, nodes);
        let kqr = [(); 3].map(|()| driver.reserve::<u64>(self.value(&inside, nodes)));
        let [to_k, to_q, to_r] = &kqr;
        let args = args![rows, &t, &inside, &cliques, &q, &r, to_k, to_q, to_r];
        self.per_row("arrange_inside", nodes, &args);
        Ok(Counted {
            pattern: Arc::downgrade(pattern),
            nodes,
            slots,
            positions,
            t,
            c,
            inside,
            kqr,
            triangles,
            s,
        })
    }

    /// The number of blocks with this many bytes of memory each that fit, at most `wanted`.
    fn room_for(&self, wanted: usize, bytes: usize) -> Result<usize> {
        let room = self.free_memory()? / PART / (bytes as u64).max(1);
        Ok(wanted.min(usize::try_from(room).unwrap_or(wanted)).max(1))
    }

    /// 4-cycles through each position of the ranked graph, to be added for both positions of an edge.
    fn cycles(&self, graph: &Ranked, slots: usize) -> Result<Memory<u64>> {
        let (driver, nodes, processors) = (&self.driver, graph.nodes, self.driver.processors);
        let (work, list) = (driver.reserve::<u64>(nodes), driver.reserve::<u32>(nodes));
        let (listed, cycles) = (driver.zeros::<u64>(2), driver.zeros::<u64>(slots));
        let rows = args![&graph.heads, &graph.splits, &graph.columns].to_vec();
        let args = args![rows.clone(), &work, &list, &listed];
        self.per_row("wedge_work", nodes, &args);
        let args = args![rows.clone(), &work, &cycles];
        self.per_row("wedges_few", nodes, &args);
        let [many, most] = [self.value(&listed, 0), self.value(&listed, 1)];
        if many > 0 {
            let taken = driver.zeros::<u64>(1);
            let args = args![many, &list, rows.clone(), &work, &taken, &cycles];
            let blocks = many.min(MANY_BLOCKS * processors);
            self.launch("wedges_many", (blocks, 1), THREADS, &args);
        }
        if most > 0 {
            let blocks = self.room_for(most.min(MOST_BLOCKS * processors), 4 * nodes)?;
            let (taken, counts) = (driver.zeros::<u64>(1), driver.zeros::<u32>(blocks * nodes));
            let of = args![most, list.at(nodes - most), nodes, rows].to_vec();
            let args = [of, args![&work, &taken, &counts, &cycles].to_vec()].concat();
            self.launch("wedges_most", (blocks, 1), 1024, &args);
        }
        Ok(cycles)
    }

    fn triangles(&self, graph: &Ranked) -> Triangles {
        let (driver, edges) = (&self.driver, graph.edges);
        let owner = driver.reserve::<u32>(edges);
        let args = args![&graph.heads, &graph.splits, &graph.first_edges, &owner];
        self.per_row("owners", graph.nodes, &args);
        let found = Triangles {
            t: driver.zeros(edges),
            q: driver.zeros(edges),
            r: driver.zeros(edges),
        };
        let Triangles { t, q, r } = &found;
        for second in [false, true] {
            let args = args![second, &owner, graph.rows(), t, q, r];
            self.per_value("triangles", edges, &args);
        }
        found
    }

    /// 4-cliques on each edge.
    fn cliques(&self, graph: &Ranked, t: &Memory<u32>) -> Result<Memory<u64>> {
        let (driver, nodes, processors) = (&self.driver, graph.nodes, self.driver.processors);
        let [sizes, list] = [(); 2].map(|()| driver.reserve::<u32>(nodes));
        let (found, cliques) = (driver.zeros::<u64>(3), driver.zeros::<u64>(graph.edges));
        let args = args![&graph.first_edges, t, &sizes, &list, &found];
        self.per_row("local_sizes", nodes, &args);
        let [small, large, largest] = [0, 1, 2].map(|at| self.value(&found, at));
        if small > 0 {
            let taken = driver.zeros::<u64>(1);
            let args = args![small, &list, graph.rows(), t, &sizes, &taken, &cliques];
            let blocks = small.min(SMALL_BLOCKS * processors);
            self.launch("cliques_small", (blocks, 1), 128, &args);
        }
        if large > 0 {
            // Sums in 8 bytes, nodes and positions in 4, and the bit rows; blocks begin at a multiple of 8 bytes.
            let words = (4 * largest + largest * largest.div_ceil(32)).next_multiple_of(2);
            let blocks = self.room_for(large.min(LARGE_BLOCKS * processors), 4 * words)?;
            let (taken, scratch) = (
                driver.zeros::<u64>(1),
                driver.reserve::<u32>(blocks * words),
            );
            let of = args![large, list.at(nodes - large), largest, words, graph.rows()].to_vec();
            let args = [of, args![t, &sizes, &taken, &scratch, &cliques].to_vec()].concat();
            self.launch("cliques_large", (blocks, 1), 512, &args);
        }
        Ok(cliques)
    }

    /// The counts in the memory of this process.
    fn primitives(&self, of: &Counted) -> Primitives {
        let inside = self.value(&of.inside, of.nodes);
        let [k, q, r] = of
            .kqr
            .each_ref()
            .map(|values| self.narrowed(values, inside));
        Primitives {
            t: self.narrowed(&of.t, of.slots),
            c: self.narrowed(&of.c, of.slots),
            k,
            q,
            r,
            triangles: self.narrowed(&of.triangles, of.nodes),
            s: self.narrowed(&of.s, of.nodes),
        }
    }

    /// The first values of u32 or u64 as a column.
    fn narrowed<T: DeviceRepr>(&self, values: &Memory<T>, length: usize) -> Column {
        let (driver, eight) = (&self.driver, size_of::<T>() == 8);
        let over = driver.zeros::<u64>(3);
        let blocks = length.div_ceil(THREADS).min(BLOCKS);
        let args = args![length, eight, values, &over];
        self.launch("sizes", (blocks, 1), THREADS, &args);
        let sizes = [0, 1, 2].map(|at| self.value(&over, at));
        let (bytes, beyond) = Sizes::new(sizes).width(length);
        let [places, listed] = [(); 2].map(|()| driver.reserve::<u64>(beyond));
        let (out, next) = (driver.reserve::<u8>(length * bytes), driver.zeros::<u64>(1));
        let args = args![eight, values, bytes, &out, &places, &listed, &next];
        self.per_value("narrow", length, &args);
        let places = driver.read(&places, beyond).into_iter();
        let beyond = places
            .map(|place| place as usize)
            .zip(driver.read(&listed, beyond));
        let beyond = beyond.collect();
        Column::of(bytes, driver.read(&out, length * bytes), beyond)
    }

    /// Replaces values by their exclusive prefix sums, followed by the total.
    pub(crate) fn sum_before(&self, values: &Memory<u64>, length: usize) {
        let blocks = length.div_ceil(1024).max(1);
        let totals = self.driver.reserve::<u64>(blocks);
        let args = args![length, values, &totals];
        self.launch("scan_blocks", (blocks, 1), THREADS, &args);
        let args = args![blocks, &totals, values.at(length)];
        self.launch("scan_totals", (1, 1), 1024, &args);
        self.per_value("scan_add", length, &args![values, &totals]);
    }

    /// One value of many.
    pub(crate) fn value(&self, values: &Memory<u64>, at: usize) -> usize {
        let mut value = [0u64];
        self.driver.download_at(values, at, &mut value);
        value[0] as usize
    }

    /// Renumbers a symmetric pattern.
    fn ranked(&self, positions: &Positions, nodes: usize, slots: usize) -> Ranked {
        let (driver, offsets) = (&self.driver, &positions.offsets);
        let most = driver.zeros::<u32>(1);
        let blocks = nodes.div_ceil(THREADS).min(1024);
        let args = args![nodes, offsets, &most];
        self.launch("largest_degree", (blocks, 1), THREADS, &args);
        let degrees = driver.read(&most, 1)[0] as usize + 1;
        let first = driver.zeros::<u64>(degrees + 1);
        self.per_value("histogram", nodes, &args![offsets, &first]);
        self.sum_before(&first, degrees);
        // Ranks from which on rows are longer.
        let longer = |length: usize| {
            if degrees > length + 1 {
                self.value(&first, length + 1)
            } else {
                nodes
            }
        };
        let (medium, long) = (longer(SHORT), longer(MEDIUM));
        let [rank, order] = [(); 2].map(|()| driver.reserve::<u32>(nodes));
        let args = args![offsets, &first, &rank, &order];
        self.per_value("give_ranks", nodes, &args);
        let heads = driver.reserve::<u64>(nodes + 1);
        self.per_value("lengths", nodes, &args![offsets, &order, &heads]);
        self.sum_before(&heads, nodes);
        let columns = driver.reserve::<u32>(slots);
        let rows = args![offsets, &positions.columns, &rank, &order, &heads].to_vec();
        self.per_row("sort_short", medium, &args![rows.clone(), &columns]);
        let args = args![medium, rows.clone(), &columns];
        self.launch("sort_medium", (long - medium, 1), THREADS, &args);
        if nodes > long {
            let (blocks, words) = ((nodes - long).min(BITMAPS), nodes.div_ceil(32));
            let bitmaps = driver.zeros::<u32>(blocks * words);
            let args = args![long, nodes, words, rows, &bitmaps, &columns];
            self.launch("sort_long", (blocks, 1), 1024, &args);
        }
        let splits = driver.reserve::<u64>(nodes);
        let first_edges = driver.reserve::<u64>(nodes + 1);
        let args = args![&heads, &columns, &splits, &first_edges];
        self.per_value("split_rows", nodes, &args);
        self.sum_before(&first_edges, nodes);
        Ranked {
            nodes,
            edges: self.value(&first_edges, nodes),
            rank,
            heads,
            splits,
            first_edges,
            columns,
        }
    }
}
