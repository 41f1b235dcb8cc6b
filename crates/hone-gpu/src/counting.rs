//! Exact counts of all 13 edge orbits on the device, equal to those of the CPU.
//!
//! The sweeps are those of `motif/exact`, parallelised differently: wedges by node (`kernels/wedges.cu`),
//! triangles by edge (`triangles.cu`), cliques by node (`cliques.cu`). Nodes are sorted into classes by their
//! work, so that hubs have a block of threads and most nodes a warp. All concurrent additions are of integers,
//! so their order does not matter. The results are copied back in narrow columns, and also stay on the device,
//! where W_t and features are computed from them. Memory: 60 bytes per position at the peak, 12 and 24 per
//! position
//! in a triangle after that.

use std::sync::{Arc, PoisonError};

use hone::Result;
use hone::engine::Counting;
use hone::graph::Graph;
use hone::motif::{Counts, Primitives};
use hone::progress::Progress;
use hone::sparse::Pattern;

use crate::Cuda;
use crate::counted::Counted;
use crate::driver::Memory;
use crate::panel::wide;
use crate::ranked::{Ranked, THREADS, WARPS, flag};

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
