//! Exact counts of all 13 edge orbits on the device, equal to those of the CPU.
//!
//! The sweeps are those of `motif/exact`, parallelised differently: wedges by node (`kernels/wedges.cu`),
//! triangles by edge (`triangles.cu`), cliques by node (`cliques.cu`). Nodes are sorted into classes by their
//! work, so that hubs have a block of threads and most nodes a warp. All concurrent additions are of integers,
//! so their order does not matter. The results are copied back in narrow columns, and also stay on the device,
//! where W_t and features are computed from them. Memory: 60 bytes per position at the peak, 12 and 24 per
//! position
//! in a triangle after that.
//!
//! [`Counted`]: the numbers from which the counts of a graph follow, kept on the device.
//!
//! The graph with its nodes renumbered by degree, on the device (`kernels/ranked.cu`).
//!
//! Ranks come from a histogram of degrees. Rows are renumbered and sorted by a warp, by a block in shared memory or, if
//! they are longer, with a bitmap of all nodes.
//!
//! Columns of integers, narrowed on the device and copied to this process.

use std::sync::{Arc, PoisonError, Weak};

use cudarc::driver::DeviceRepr;
use hone::Result;
use hone::engine::Counting;
use hone::graph::Graph;
use hone::motif::{Column, Counts, Primitives, Sizes};
use hone::progress::Progress;
use hone::sparse::Pattern;

use crate::Cuda;
use crate::driver::{Arg, Memory};
use crate::resident::Positions;
use crate::space::{count, wide};

/// Blocks per multiprocessor of kernels with dynamic scheduling: wedges of a block, of all nodes; small and large local
/// graphs.
const MANY_BLOCKS: usize = 6;
const MOST_BLOCKS: usize = 2;
const SMALL_BLOCKS: usize = 5;
const LARGE_BLOCKS: usize = 2;

/// Counters of all nodes, and bit rows of large local graphs, may take one part in this many of the free memory.
const PART: u64 = 2;

/// Sums over triangles, by edge of the ranked graph.
struct Triangles {
    t: Memory<u32>,
    q: Memory<u64>,
    r: Memory<u64>,
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
        let found = self.triangles(&graph);
        let cliques = self.cliques(&graph, &found.t)?;
        progress.check()?;
        let (t, c) = (driver.reserve::<u32>(slots), driver.reserve::<u64>(slots));
        let (inside, triangles, s) = (
            driver.reserve::<u64>(nodes + 1),
            driver.reserve::<u64>(nodes),
            driver.reserve::<u64>(nodes),
        );
        let of = [
            positions.offsets.address(),
            positions.columns.address(),
            graph.rank.address(),
        ];
        let rows = [&[wide(nodes)], &of[..], &graph.rows()].concat();
        let to = [
            t.address(),
            c.address(),
            inside.address(),
            triangles.address(),
            s.address(),
        ];
        let args = [&rows[..], &[found.t.address(), cycles.address()], &to].concat();
        self.start("arrange", nodes.div_ceil(WARPS), &args);
        self.sum_before(&inside, nodes);
        let all = self.value(&inside, nodes);
        let kqr = [(); 3].map(|()| driver.reserve::<u64>(all));
        let from = [
            t.address(),
            inside.address(),
            cliques.address(),
            found.q.address(),
            found.r.address(),
        ];
        let args = [&rows[..], &from, &kqr.each_ref().map(Memory::address)].concat();
        self.start("arrange_inside", nodes.div_ceil(WARPS), &args);
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
        let (work, list, listed) = (
            driver.reserve::<u64>(nodes),
            driver.reserve::<u32>(nodes),
            driver.zeros::<u64>(2),
        );
        let rows = graph.plain_rows();
        let args = [
            &[wide(nodes)],
            &rows[..],
            &[work.address(), list.address(), listed.address()],
        ]
        .concat();
        self.start("wedge_work", nodes.div_ceil(WARPS), &args);
        let cycles = driver.zeros::<u64>(slots);
        let args = [
            &[wide(nodes)],
            &rows[..],
            &[work.address(), cycles.address()],
        ]
        .concat();
        self.start("wedges_few", nodes.div_ceil(WARPS), &args);
        let [many, most] = [self.value(&listed, 0), self.value(&listed, 1)];
        if many > 0 {
            let taken = driver.zeros::<u64>(1);
            let of = [wide(many), list.address()];
            let args = [
                &of,
                &rows[..],
                &[work.address(), taken.address(), cycles.address()],
            ]
            .concat();
            self.start("wedges_many", many.min(MANY_BLOCKS * processors), &args);
        }
        if most > 0 {
            let blocks = self.room_for(most.min(MOST_BLOCKS * processors), 4 * nodes)?;
            let (taken, counts) = (driver.zeros::<u64>(1), driver.zeros::<u32>(blocks * nodes));
            let of = [wide(most), list.address_at(nodes - most), wide(nodes)];
            let to = [
                work.address(),
                taken.address(),
                counts.address(),
                cycles.address(),
            ];
            driver.launch(
                self.programs.kernel("wedges_most"),
                (blocks, 1),
                1024,
                &[&of, &rows[..], &to].concat(),
            );
        }
        Ok(cycles)
    }

    fn triangles(&self, graph: &Ranked) -> Triangles {
        let (driver, edges) = (&self.driver, graph.edges);
        let owner = driver.reserve::<u32>(edges);
        let first = [
            graph.heads.address(),
            graph.splits.address(),
            graph.first_edges.address(),
            owner.address(),
        ];
        self.start(
            "owners",
            graph.nodes.div_ceil(WARPS),
            &[&[wide(graph.nodes)], &first[..]].concat(),
        );
        let found = Triangles {
            t: driver.zeros(edges),
            q: driver.zeros::<u64>(edges),
            r: driver.zeros::<u64>(edges),
        };
        for second in [false, true] {
            let of = [wide(edges), flag(second), owner.address()];
            let to = [found.t.address(), found.q.address(), found.r.address()];
            self.start(
                "triangles",
                edges.div_ceil(THREADS),
                &[&of, &graph.rows()[..], &to].concat(),
            );
        }
        found
    }

    /// 4-cliques on each edge.
    fn cliques(&self, graph: &Ranked, t: &Memory<u32>) -> Result<Memory<u64>> {
        let (driver, nodes, processors) = (&self.driver, graph.nodes, self.driver.processors);
        let (sizes, list, found) = (
            driver.reserve::<u32>(nodes),
            driver.reserve::<u32>(nodes),
            driver.zeros::<u64>(3),
        );
        let to = [
            t.address(),
            sizes.address(),
            list.address(),
            found.address(),
        ];
        let args = [&[wide(nodes), graph.first_edges.address()], &to[..]].concat();
        self.start("local_sizes", nodes.div_ceil(WARPS), &args);
        let [small, large, largest] = [0, 1, 2].map(|at| self.value(&found, at));
        let cliques = driver.zeros::<u64>(graph.edges);
        let of = [&graph.rows()[..], &[t.address(), sizes.address()]].concat();
        if small > 0 {
            let taken = driver.zeros::<u64>(1);
            let args = [
                &[wide(small), list.address()],
                &of[..],
                &[taken.address(), cliques.address()],
            ]
            .concat();
            let blocks = small.min(SMALL_BLOCKS * processors);
            driver.launch(
                self.programs.kernel("cliques_small"),
                (blocks, 1),
                128,
                &args,
            );
        }
        if large > 0 {
            // Sums in 8 bytes, nodes and positions in 4, and the bit rows; blocks begin at a multiple of 8 bytes.
            let words = (4 * largest + largest * largest.div_ceil(32)).next_multiple_of(2);
            let blocks = self.room_for(large.min(LARGE_BLOCKS * processors), 4 * words)?;
            let (taken, scratch) = (
                driver.zeros::<u64>(1),
                driver.reserve::<u32>(blocks * words),
            );
            let first = [
                wide(large),
                list.address_at(nodes - large),
                wide(largest),
                wide(words),
            ];
            let to = [taken.address(), scratch.address(), cliques.address()];
            driver.launch(
                self.programs.kernel("cliques_large"),
                (blocks, 1),
                512,
                &[&first, &of[..], &to].concat(),
            );
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
}

/// The numbers from which counts follow, on the device, in the order of a pattern.
pub(crate) struct Counted {
    pub(crate) pattern: Weak<Pattern>,
    pub(crate) nodes: usize,
    pub(crate) slots: usize,
    pub(crate) positions: Arc<Positions>,
    pub(crate) t: Memory<u32>,
    pub(crate) c: Memory<u64>,
    /// Positions in triangles before each row.
    pub(crate) inside: Memory<u64>,
    pub(crate) kqr: [Memory<u64>; 3],
    pub(crate) triangles: Memory<u64>,
    pub(crate) s: Memory<u64>,
}

impl Counted {
    /// The arguments of kernels that read counts.
    pub(crate) fn args(&self) -> Vec<Arg> {
        let [k, q, r] = &self.kqr;
        let (offsets, columns) = (
            self.positions.offsets.address(),
            self.positions.columns.address(),
        );
        let of_edges = [
            offsets,
            columns,
            self.t.address(),
            self.c.address(),
            self.inside.address(),
        ];
        let of_nodes = [
            k.address(),
            q.address(),
            r.address(),
            self.triangles.address(),
            self.s.address(),
        ];
        [of_edges, of_nodes].concat()
    }
}

/// Length of the longest row that a warp sorts, and of the longest that a block sorts.
const SHORT: usize = 32;
const MEDIUM: usize = 4096;

/// Blocks that sort long rows, with one bitmap each.
const BITMAPS: usize = 264;

/// Threads of a block.
pub(crate) const THREADS: usize = 256;

/// Rows that a block takes, one warp each.
pub(crate) const WARPS: usize = THREADS / 32;

/// A graph in the order of degrees.
pub(crate) struct Ranked {
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) rank: Memory<u32>,
    pub(crate) heads: Memory<u64>,
    pub(crate) splits: Memory<u64>,
    pub(crate) first_edges: Memory<u64>,
    pub(crate) ranked: Memory<u32>,
}

impl Cuda {
    /// Starts a kernel of blocks of [`THREADS`] threads.
    pub(crate) fn start(&self, kernel: &str, blocks: usize, args: &[Arg]) {
        if blocks > 0 {
            self.driver.launch(
                self.programs.kernel(kernel),
                (blocks, 1),
                THREADS as u32,
                args,
            );
        }
    }

    /// Replaces values by their exclusive prefix sums, followed by the total.
    pub(crate) fn sum_before(&self, values: &Memory<u64>, length: usize) {
        let blocks = length.div_ceil(1024).max(1);
        let totals = self.driver.reserve::<u64>(blocks);
        self.start(
            "scan_blocks",
            blocks,
            &[wide(length), values.address(), totals.address()],
        );
        let args = [wide(blocks), totals.address(), values.address_at(length)];
        self.driver
            .launch(self.programs.kernel("scan_totals"), (1, 1), 1024, &args);
        self.start(
            "scan_add",
            length.div_ceil(THREADS),
            &[wide(length), values.address(), totals.address()],
        );
    }

    /// One value of many.
    pub(crate) fn value(&self, values: &Memory<u64>, at: usize) -> usize {
        let mut value = [0u64];
        self.driver.download_at(values, at, &mut value);
        value[0] as usize
    }

    /// Renumbers a symmetric pattern.
    pub(crate) fn ranked(&self, positions: &Positions, nodes: usize, slots: usize) -> Ranked {
        let (driver, per_node) = (&self.driver, nodes.div_ceil(THREADS));
        let offsets = positions.offsets.address();
        let mut largest = [0u32];
        let most = driver.zeros::<u32>(1);
        self.start(
            "largest_degree",
            per_node.min(1024),
            &[wide(nodes), offsets, most.address()],
        );
        driver.download(&most, &mut largest);
        let degrees = largest[0] as usize + 1;
        let first = driver.zeros::<u64>(degrees + 1);
        self.start(
            "histogram",
            per_node,
            &[wide(nodes), offsets, first.address()],
        );
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
        let (rank, order) = (driver.reserve::<u32>(nodes), driver.reserve::<u32>(nodes));
        let args = [
            wide(nodes),
            offsets,
            first.address(),
            rank.address(),
            order.address(),
        ];
        self.start("give_ranks", per_node, &args);
        let heads = driver.reserve::<u64>(nodes + 1);
        self.start(
            "lengths",
            per_node,
            &[wide(nodes), offsets, order.address(), heads.address()],
        );
        self.sum_before(&heads, nodes);
        let ranked = driver.reserve::<u32>(slots);
        let rows = [
            offsets,
            positions.columns.address(),
            rank.address(),
            order.address(),
            heads.address(),
        ];
        let args = |first: &[Arg]| [first, &rows, &[ranked.address()]].concat();
        self.start("sort_short", medium.div_ceil(WARPS), &args(&[wide(medium)]));
        self.start("sort_medium", long - medium, &args(&[wide(medium)]));
        if nodes > long {
            let (blocks, words) = ((nodes - long).min(BITMAPS), nodes.div_ceil(32));
            let bitmaps = driver.zeros::<u32>(blocks * words);
            let of_all = [wide(long), wide(nodes), wide(words)];
            let args = [&of_all, &rows[..], &[bitmaps.address(), ranked.address()]].concat();
            driver.launch(self.programs.kernel("sort_long"), (blocks, 1), 1024, &args);
        }
        let (splits, first_edges) = (
            driver.reserve::<u64>(nodes),
            driver.reserve::<u64>(nodes + 1),
        );
        let args = [
            wide(nodes),
            heads.address(),
            ranked.address(),
            splits.address(),
            first_edges.address(),
        ];
        self.start("split_rows", per_node, &args);
        self.sum_before(&first_edges, nodes);
        let edges = self.value(&first_edges, nodes);
        Ranked {
            nodes,
            edges,
            rank,
            heads,
            splits,
            first_edges,
            ranked,
        }
    }
}

impl Ranked {
    /// Heads, splits, first edges and columns, in the order of kernel arguments.
    pub(crate) fn rows(&self) -> [Arg; 4] {
        [
            self.heads.address(),
            self.splits.address(),
            self.first_edges.address(),
            self.ranked.address(),
        ]
    }

    /// The same without first edges.
    pub(crate) fn plain_rows(&self) -> [Arg; 3] {
        [
            self.heads.address(),
            self.splits.address(),
            self.ranked.address(),
        ]
    }
}

/// A flag of a kernel.
pub(crate) fn flag(set: bool) -> Arg {
    count(set.into())
}

/// Blocks that scan all values.
const BLOCKS: usize = 2048;

impl Cuda {
    /// The first values of u32 or u64 as a column.
    pub(crate) fn narrowed<T: DeviceRepr>(&self, values: &Memory<T>, length: usize) -> Column {
        let (driver, eight) = (&self.driver, flag(size_of::<T>() == 8));
        let over = driver.zeros::<u64>(3);
        let blocks = length.div_ceil(THREADS).min(BLOCKS);
        self.start(
            "sizes",
            blocks,
            &[wide(length), eight, values.address(), over.address()],
        );
        let mut sizes = [0u64; 3];
        driver.download(&over, &mut sizes);
        let (bytes, beyond) = Sizes::new(sizes.map(|size| size as usize)).width(length);
        let (places, listed) = (driver.reserve::<u64>(beyond), driver.reserve::<u64>(beyond));
        let (out, next) = (driver.reserve::<u8>(length * bytes), driver.zeros::<u64>(1));
        let to = [
            count(bytes),
            out.address(),
            places.address(),
            listed.address(),
            next.address(),
        ];
        let args = [&[wide(length), eight, values.address()], &to[..]].concat();
        self.start("narrow", length.div_ceil(THREADS), &args);
        let (mut places_here, mut listed_here) = (vec![0u64; beyond], vec![0u64; beyond]);
        driver.download(&places, &mut places_here);
        driver.download(&listed, &mut listed_here);
        let beyond = places_here
            .into_iter()
            .map(|place| place as usize)
            .zip(listed_here)
            .collect();
        let mut narrow = vec![0u8; length * bytes];
        driver.download(&out, &mut narrow);
        Column::of(bytes, narrow, beyond)
    }
}
