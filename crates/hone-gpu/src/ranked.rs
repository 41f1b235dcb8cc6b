//! The graph with its nodes renumbered by degree, on the device (`kernels/ranked.cu`).
//!
//! Ranks come from a histogram of degrees. Rows are renumbered and sorted by a warp, by a block in shared memory or, if
//! they are longer, with a bitmap of all nodes.

use crate::Cuda;
use crate::driver::{Arg, Memory};
use crate::panel::{count, wide};
use crate::resident::Positions;

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
