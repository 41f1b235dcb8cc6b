//! Co-occurrence: W_t between all pairs of nodes that share an occurrence of a graphlet, adjacent or not (sec. 2.2, read
//! literally).
//!
//! Adjacent pairs have the counts of their edge. For two nodes i, k that are not adjacent all counts follow from sums over
//! their common neighbours c, with t(a, b) the common neighbours of the edge a–b, e the edges among the c, n their number,
//! T = Σ t(i, c) + t(c, k), and w the walks of three steps from i to k:
//!
//! | graphlet | occurrences that contain both |
//! |---|---|
//! | path3 | n |
//! | cycle4 | n (n − 1) / 2 − e |
//! | diamond | e |
//! | star4 | Σ d_c − 2n − T + 2e |
//! | tailed triangle | T − 4e |
//! | path4 | n (d_i + d_k − 2) − 2n (n − 1) + w − 2T + 6e |
//!
//! Edges, triangles and 4-cliques have no pair that is not adjacent. Cost: the wedges of the graph; the triangles times
//! the degrees of their corners for e; walks of three steps for path4. Memory: 16 bytes per pair while W_t is built, 8
//! in pieces of rows and 8 where they are joined. Rows are independent and all sums are of integers, so the result is
//! the same for any number of threads.

use std::fmt::{self, Display};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::formula::Exact;
use super::motif_graph::{MotifGraph, MotifRows};
use super::orbit::Graphlet;
use super::ranked::{balanced, for_common};
use super::set::Motif;
use super::triad::Occurrence;
use crate::Graph;
use crate::error::{Error, Result};
use crate::message::{message, set, setting};
use crate::parallel;
use crate::sparse::{Pattern, offsets};

/// Which pairs of nodes have a weight in W_t.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairs {
    /// Adjacent nodes: how many occurrences of the motif contain their edge.
    #[default]
    Edges,
    /// All that share an occurrence of the graphlet: how many they share.
    Occurrences,
}

impl Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pairs::Edges => "edges",
            Pairs::Occurrences => "occurrences",
        })
    }
}

/// How far apart nodes of an occurrence can be, less one; graphlets in which all nodes are adjacent have 0.
fn reach(motif: Motif) -> usize {
    match motif.graphlet() {
        Some(Graphlet::Edge | Graphlet::Triangle | Graphlet::Clique4) => 0,
        Some(Graphlet::Path4) => 2,
        _ => 1,
    }
}

/// Statistics of a pair.
#[derive(Debug, Clone, Copy, Default)]
struct Shared {
    /// Common neighbours, and the sum of their degrees.
    common: u64,
    degrees: u64,
    /// Triangles on the edges to common neighbours.
    triangles: u64,
    /// Edges among common neighbours.
    edges: u64,
    /// Walks of three steps.
    walks: u64,
}

impl Shared {
    /// Occurrences of a graphlet that contain two non-adjacent nodes of these degrees.
    fn occurrences(&self, graphlet: Graphlet, degrees: [usize; 2]) -> i128 {
        let [n, d, t, e, w] = [
            self.common,
            self.degrees,
            self.triangles,
            self.edges,
            self.walks,
        ]
        .map(i128::from);
        let ends = degrees[0] as i128 + degrees[1] as i128;
        match graphlet {
            Graphlet::Edge | Graphlet::Triangle | Graphlet::Clique4 => 0,
            Graphlet::Path3 => n,
            Graphlet::Cycle4 => n * (n - 1) / 2 - e,
            Graphlet::Diamond => e,
            Graphlet::Star4 => d - 2 * n - t + 2 * e,
            Graphlet::TailedTriangle => t - 4 * e,
            Graphlet::Path4 => n * (ends - 2) - 2 * n * (n - 1) + w - 2 * t + 6 * e,
        }
    }
}

/// A row under construction: statistics per node, and the list of nodes that have any.
struct Scratch {
    shared: Vec<Shared>,
    touched: Vec<u32>,
    /// The row's own node and its neighbours.
    near: Vec<bool>,
}

/// Bytes of scratch per thread and node: its statistics, whether it is near, twice its number (lists grow to twice
/// their length) and its entry; and as much for the piece that is growing, whose last row may contain every node.
pub const SCRATCH: u64 =
    (size_of::<Shared>() + 1 + 2 * (4 + size_of::<(u32, f64)>()) + 3 * 8) as u64;
/// Bytes per pair at the peak of building W_t.
pub const PEAK: u64 = 22;

impl Scratch {
    fn new(nodes: usize) -> Self {
        Scratch {
            shared: vec![Shared::default(); nodes],
            touched: Vec::new(),
            near: vec![false; nodes],
        }
    }

    fn at(&mut self, k: u32) -> &mut Shared {
        let shared = &mut self.shared[k as usize];
        if shared.common == 0 && shared.walks == 0 {
            self.touched.push(k);
        }
        shared
    }

    /// Finds what row `i` shares with non-adjacent nodes; passes on each, ascending, and resets it.
    fn row(
        &mut self,
        pattern: &Pattern,
        exact: &Exact,
        motif: Motif,
        i: usize,
        mut take: impl FnMut(u32, i128),
    ) {
        let Some(graphlet) = motif.graphlet() else {
            return;
        };
        self.mark(pattern, i, true);
        for (&c, slot) in pattern.row(i).iter().zip(pattern.range(i)) {
            let (c, own) = (c as usize, exact.t.get(slot));
            let degree = pattern.row(c).len() as u64;
            for (&k, slot) in pattern.row(c).iter().zip(pattern.range(c)) {
                if !self.near[k as usize] {
                    let shared = self.at(k);
                    shared.common += 1;
                    shared.degrees += degree;
                    shared.triangles += own + exact.t.get(slot);
                }
            }
            if own > 0 && graphlet != Graphlet::Path3 {
                self.add_edges(pattern, i, c);
            }
        }
        if reach(motif) > 1 {
            self.add_walks(pattern, i);
        }
        self.mark(pattern, i, false);
        self.touched.sort_unstable();
        let own = pattern.row(i).len();
        for at in 0..self.touched.len() {
            let k = self.touched[at];
            let shared = std::mem::take(&mut self.shared[k as usize]);
            take(
                k,
                shared.occurrences(graphlet, [own, pattern.row(k as usize).len()]),
            );
        }
        self.touched.clear();
    }

    fn mark(&mut self, pattern: &Pattern, i: usize, near: bool) {
        self.near[i] = near;
        pattern
            .row(i)
            .iter()
            .for_each(|&c| self.near[c as usize] = near);
    }

    /// Edges c–m with m after c, both adjacent to `i`: each is an edge among the common neighbours of `i` and any other
    /// node adjacent to both.
    fn add_edges(&mut self, pattern: &Pattern, i: usize, c: usize) {
        let row = pattern.row(c);
        let later = row.partition_point(|&m| m as usize <= c);
        for &m in row[later..].iter().filter(|&&m| m as usize != i) {
            if self.near[m as usize] {
                let (near, shared) = (&self.near, &mut self.shared);
                for_common(row, pattern.row(m as usize), |k, _, _| {
                    if !near[k as usize] {
                        shared[k as usize].edges += 1;
                    }
                });
            }
        }
    }

    fn add_walks(&mut self, pattern: &Pattern, i: usize) {
        for &a in pattern.row(i) {
            for &b in pattern.row(a as usize) {
                for &k in pattern.row(b as usize) {
                    if !self.near[k as usize] {
                        self.at(k).walks += 1;
                    }
                }
            }
        }
    }
}

/// Some rows: the columns of their values, and how many each row has.
struct Piece {
    lengths: Vec<usize>,
    columns: Vec<u32>,
    rows: MotifRows,
}

/// What W_t of one graphlet is built from.
#[derive(Clone, Copy)]
struct Source<'a> {
    counts: &'a Counts,
    exact: &'a Exact,
    /// The adjacent pairs that have a weight.
    arcs: &'a Pattern,
    motif: Motif,
    delta: u64,
}

impl Counts {
    /// The graph of all pairs of nodes that share an occurrence of the motif's graphlet, with how many they share, if
    /// at least `delta`. Arcs of a directed graph keep their direction, non-adjacent pairs are linked both ways.
    ///
    /// Fails for estimated counts, and for a single orbit of a graphlet that has several.
    ///
    /// # Panics
    /// When `graph` is another graph than the one counted.
    pub fn pair_graph(&self, graph: &Graph, motif: Motif, delta: u64) -> Result<MotifGraph> {
        assert_eq!(
            graph.nodes(),
            self.pattern().rows(),
            "counts of another graph"
        );
        check_motif(motif)?;
        let pieces = self.pairs(graph.pattern(), motif, delta, |piece| piece)?;
        joined(motif, pieces, graph.nodes())
    }

    /// The number of nodes of [`Counts::pair_graph`], without storing it.
    pub fn pair_nodes(&self, motif: Motif, delta: u64) -> Result<usize> {
        let rows = |piece: Piece| piece.lengths.iter().filter(|&&length| length > 0).count();
        // Either end of an arc is a node of it.
        let pieces = self.pairs(self.pattern(), motif, delta, rows)?;
        Ok(pieces.into_iter().sum())
    }

    /// The results of `of` on the rows of the graph of pairs, piece by piece.
    fn pairs<T: Send>(
        &self,
        arcs: &Pattern,
        motif: Motif,
        delta: u64,
        of: impl Fn(Piece) -> T + Sync + Send,
    ) -> Result<Vec<T>> {
        let source = Source {
            counts: self,
            exact: self.exact_values().ok_or_else(estimated)?,
            arcs,
            motif,
            delta: delta.max(1),
        };
        let pattern = self.pattern();
        let reached = |i: usize| {
            let row = pattern.row(i).iter();
            let degrees = row.map(|&c| pattern.range(c as usize).len() as u64);
            degrees.sum::<u64>() + 4
        };
        let bounds = balanced(pattern.rows(), 1 << 12, reached);
        let scratch = || Scratch::new(pattern.rows());
        let pieces = bounds.par_windows(2).map_init(scratch, |scratch, rows| {
            of(source.piece(rows[0]..rows[1], scratch))
        });
        Ok(pieces.collect())
    }
}

impl Source<'_> {
    fn piece(&self, rows: Range<usize>, scratch: &mut Scratch) -> Piece {
        let mut piece = Piece {
            lengths: Vec::new(),
            columns: Vec::new(),
            rows: MotifRows::none(1.0),
        };
        let mut entries = Vec::new();
        for i in rows {
            self.read(i, scratch, &mut entries);
            let (before, mut total) = (piece.columns.len(), 0.0);
            for &(j, count) in entries.iter().filter(|(_, count)| *count > 0.0) {
                if count >= self.delta as f64 {
                    piece.columns.push(j);
                    piece.rows.values.push(count as f32);
                    total += count;
                } else {
                    piece.rows.below_delta += 1;
                }
            }
            let length = piece.columns.len() - before;
            piece.lengths.push(length);
            piece.rows.add_row(i as u32, length, total);
        }
        // Pieces are kept until all are done.
        piece.columns.shrink_to_fit();
        piece.rows.values.shrink_to_fit();
        piece
    }

    /// Nodes and counts of a row, ascending.
    fn read(&self, i: usize, scratch: &mut Scratch, entries: &mut Vec<(u32, f64)>) {
        entries.clear();
        let arcs = self.arcs.row(i);
        self.counts
            .for_weights(i, self.motif, Occurrence::Induced, |j, count| {
                if arcs.binary_search(&j).is_ok() {
                    entries.push((j, count));
                }
            });
        if reach(self.motif) > 0 {
            let pattern = self.counts.pattern();
            scratch.row(pattern, self.exact, self.motif, i, |k, count| {
                entries.push((k, count as f64));
            });
            entries.sort_unstable_by_key(|entry| entry.0);
        }
    }
}

/// W_t from its rows, on the nodes that have an entry.
fn joined(motif: Motif, pieces: Vec<Piece>, nodes: usize) -> Result<MotifGraph> {
    let total = pieces.iter().map(|piece| piece.columns.len()).sum();
    let (mut lengths, mut columns) = (Vec::with_capacity(nodes), Vec::with_capacity(total));
    let mut rows = MotifRows::none(1.0);
    rows.values.reserve_exact(total);
    for mut piece in pieces {
        lengths.append(&mut piece.lengths);
        columns.append(&mut piece.columns);
        rows = rows.with(piece.rows);
    }
    let pattern = Arc::new(Pattern::new(offsets(lengths), columns, nodes));
    if rows.rows.len() == nodes {
        return rows.shared_graph(motif, pattern);
    }
    rows.compact_graph(motif, &pattern)
}

/// Refuses a single orbit of a graphlet that has several: occurrences have no position.
pub fn check_motif(motif: Motif) -> Result<()> {
    let Some(graphlet) = motif.graphlet() else {
        let message = message![
            format!(
                "occurrences are counted without directions, and {motif} is a directed motif; use "
            ),
            set("pairs", "edges")
        ];
        return Err(Error::config("pairs", message));
    };
    if motif.orbits().len() == graphlet.orbits().len() {
        return Ok(());
    }
    let message = message![
        format!(
            "occurrences are of whole graphlets, and {motif} is one of several edge positions in {graphlet}; use "
        ),
        set("motifs", "graphlets"),
        format!(", or a list with {graphlet} instead")
    ];
    Err(Error::config("pairs", message))
}

/// Sampled neighbours say nothing about pairs.
pub fn estimated() -> Error {
    Error::config(
        "pairs",
        message![
            "occurrences are counted exactly, and ",
            setting("sample"),
            " requests estimates; use ",
            set("sample", "exact")
        ],
    )
}

/// Maximum number of positions of W_t for any of these motifs: walks to nodes within reach, at most the number of
/// nodes. Arcs may be walked in both directions; those of a pattern that is not symmetric are also reversed.
pub fn most_positions(pattern: &Pattern, symmetric: bool, motifs: &[Motif]) -> u64 {
    let far = motifs.iter().map(|&motif| reach(motif)).max().unwrap_or(0);
    let n = pattern.rows();
    let walked = |ends: &[u64]| -> Vec<u64> {
        let next = |i: usize| {
            pattern
                .row(i)
                .iter()
                .fold(0u64, |sum, &j| sum.saturating_add(ends[j as usize]))
        };
        let rows = |rows: Range<usize>| rows.map(next).collect::<Vec<u64>>();
        let mut found = parallel::stretches(n, 1 << 12, rows).concat();
        for i in (0..n).filter(|_| !symmetric) {
            for &j in pattern.row(i) {
                found[j as usize] = found[j as usize].saturating_add(ends[i]);
            }
        }
        found
    };
    let mut ends = walked(&vec![1; n]);
    let mut within = ends.clone();
    for _ in 0..far {
        ends = walked(&ends);
        within
            .iter_mut()
            .zip(&ends)
            .for_each(|(sum, ends)| *sum = sum.saturating_add(*ends));
    }
    within
        .iter()
        .map(|&within| within.min(n.saturating_sub(1) as u64))
        .sum()
}

/// The same counted, not bounded: pairs of nodes within reach. Costs as many steps as there are walks.
pub fn positions(pattern: &Pattern, motifs: &[Motif]) -> u64 {
    let far = motifs.iter().map(|&motif| reach(motif)).max().unwrap_or(0);
    let of_row = |seen: &mut Vec<u32>, i: usize| {
        let stamp = i as u32 + 1;
        let (mut found, mut edge) = (0u64, vec![i as u32]);
        seen[i] = stamp;
        for _ in 0..=far {
            let mut next = Vec::new();
            for &c in &edge {
                for &k in pattern.row(c as usize) {
                    if std::mem::replace(&mut seen[k as usize], stamp) != stamp {
                        next.push(k);
                    }
                }
            }
            found += next.len() as u64;
            edge = next;
        }
        found
    };
    let of_rows = |rows: Range<usize>| {
        let mut seen = vec![0; pattern.rows()];
        rows.map(|i| of_row(&mut seen, i)).sum::<u64>()
    };
    let length = pattern
        .rows()
        .div_ceil(16 * rayon::current_num_threads())
        .max(64);
    parallel::stretches(pattern.rows(), length, of_rows)
        .into_iter()
        .sum()
}
