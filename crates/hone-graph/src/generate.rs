//! Random and regular graphs of any size: [`Generator`].
//!
//! Edges are drawn in chunks and passed on at once, so memory does not grow with the graph (except
//! for preferential attachment, which needs its earlier edges: 8 bytes per edge). Chunk c
//! draws from the stream (seed, model, c), so the edges are the same for any number of threads.
//!
//! Independent pairs (`er`, `sbm`) are walked row by row with geometrically distributed skips, in
//! time linear in nodes and edges (Batagelj and Brandes 2005, doi:10.1103/PhysRevE.71.036113).
//! R-MAT: Chakrabarti, Zhan and Faloutsos 2004, doi:10.1137/1.9781611972740.43.

use std::fmt::{self, Display};
use std::ops::Range;

use rand_xoshiro::rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::{Graph, GraphBuilder};
use crate::error::{Error, Result};
use crate::memory;
use crate::parallel;
use crate::progress::Progress;
use crate::random::{Key, below, unit};

/// Edges as pairs of node indices.
pub type Edges = Vec<(u32, u32)>;

/// Edges a chunk has, about.
const CHUNK: u64 = 1 << 15;
/// Maximum number of edges: a terabyte of text.
const MOST_EDGES: f64 = 1e11;
/// Chunks drawn at a time, by all threads together.
const BATCH: u64 = 32;
/// Minimum bytes per edge of a whole graph: once as drawn, twice in the graph.
const BYTES_AN_EDGE: f64 = 16.0;

/// A model to draw graphs from. Nodes are 0..n, and pairs do not repeat (but see R-MAT).
///
/// ```
/// use hone_graph::{Generator, Silent};
/// let graph = Generator::Er { nodes: 1000, degree: 10.0 }.graph(1, &Silent)?;
/// assert_eq!(graph.nodes(), 1000);
/// assert!((4000..6000).contains(&graph.edges()));
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Generator {
    /// Erdős–Rényi G(n, p): every pair with the same probability.
    Er {
        /// Number of nodes.
        nodes: u64,
        /// Expected degree.
        degree: f64,
    },
    /// Barabási–Albert: each new node is linked to degree/2 others, chosen in proportion to their degrees.
    Ba {
        /// Number of nodes.
        nodes: u64,
        /// Mean degree, about; half of it are the edges of a new node (the mean, when not whole).
        degree: f64,
    },
    /// R-MAT: each edge falls through quadrants of the adjacency matrix. Some of the edges drawn
    /// repeat or are loops; building a graph drops those.
    Rmat {
        /// Number of nodes, not necessarily a power of two.
        nodes: u64,
        /// Mean degree, repetitions counted.
        degree: f64,
        /// Probability of the quadrants a (both ends low), b, c, d (both ends high).
        quadrants: [f64; 4],
    },
    /// Stochastic block model of equal communities, each a run of neighbouring node numbers.
    Sbm {
        /// Number of nodes.
        nodes: u64,
        /// Expected degree.
        degree: f64,
        /// Number of communities.
        communities: u64,
        /// Expected share of a node's edges that leave its community.
        mixing: f64,
    },
    /// Cliques in a ring, each linked to the next by one edge.
    RingOfCliques {
        /// Number of cliques.
        cliques: u64,
        /// Nodes of a clique.
        size: u64,
    },
    /// Two cliques linked by a path.
    Barbell {
        /// Nodes of each clique.
        size: u64,
        /// Nodes of the path between them.
        path: u64,
    },
}

impl Generator {
    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        match *self {
            Generator::Er { nodes, .. }
            | Generator::Ba { nodes, .. }
            | Generator::Rmat { nodes, .. }
            | Generator::Sbm { nodes, .. } => nodes,
            Generator::RingOfCliques { cliques, size } => cliques.saturating_mul(size),
            Generator::Barbell { size, path } => size.saturating_mul(2).saturating_add(path),
        }
    }

    /// The mean degree, of models that have one.
    fn degree(&self) -> Option<f64> {
        match *self {
            Generator::Er { degree, .. }
            | Generator::Ba { degree, .. }
            | Generator::Rmat { degree, .. }
            | Generator::Sbm { degree, .. } => Some(degree),
            Generator::RingOfCliques { .. } | Generator::Barbell { .. } => None,
        }
    }

    /// Fails, naming the parameter, when there is no such graph.
    pub fn check(&self) -> Result<()> {
        let (n, edges) = (self.nodes(), self.expected_edges());
        let (degree, most) = (self.degree().unwrap_or(0.0), n.saturating_sub(1));
        let (field, message) = match *self {
            _ if n == 0 || n > u64::from(u32::MAX) => {
                let message = format!("{n} nodes; there can be from 1 to {}", u32::MAX);
                ("nodes", message)
            }
            _ if !(0.0..=most as f64).contains(&degree) => {
                let message = format!(
                    "a mean degree of {degree} among {n} nodes; it can be from 0 to {most}"
                );
                ("degree", message)
            }
            Generator::Rmat { quadrants, .. } if !are_shares(quadrants) => {
                let sum: f64 = quadrants.iter().sum();
                let message = format!(
                    "{quadrants:?}; give four probabilities that add up to 1 (here: {sum})"
                );
                ("quadrants", message)
            }
            Generator::RingOfCliques { cliques, size } if cliques < 2 || size < 2 => {
                let message =
                    format!("{cliques} cliques of {size} nodes; give at least 2 of at least 2");
                ("cliques", message)
            }
            Generator::Barbell { size, .. } if size < 2 => {
                ("size", format!("a clique of {size} nodes; give at least 2"))
            }
            _ if edges > MOST_EDGES => {
                let message =
                    format!("about {edges:.1e} edges; there can be up to {MOST_EDGES:.0e}");
                (self.degree().map_or("size", |_| "degree"), message)
            }
            Generator::Sbm {
                degree,
                communities,
                mixing,
                ..
            } => return check_communities(n, communities, degree, mixing),
            _ => return Ok(()),
        };
        Err(Error::config(field, message))
    }

    /// Draws the edges and passes them to `sink`, some chunks at a time, always in the same order.
    pub fn edges(
        &self,
        seed: u64,
        progress: &dyn Progress,
        mut sink: impl FnMut(&[Edges]) -> Result<()>,
    ) -> Result<()> {
        self.check()?;
        let key = Key::new(seed).with("generate", 0);
        if let Generator::Ba { nodes, degree } = *self {
            let key = key.with("ba", 0);
            return attach(nodes as u32, degree / 2.0, key, progress, sink);
        }
        let chunks = self.chunks();
        progress.stage("generating edges", chunks);
        for first in (0..chunks).step_by(BATCH as usize) {
            progress.check()?;
            let batch = first..chunks.min(first + BATCH);
            let done = batch.end - batch.start;
            sink(&parallel::map(done as usize, |c| {
                self.chunk(first + c as u64, key)
            }))?;
            progress.advance(done);
        }
        Ok(())
    }

    /// Draws the whole graph; an error if it certainly does not fit into memory.
    pub fn graph(&self, seed: u64, progress: &dyn Progress) -> Result<Graph> {
        self.check()?;
        expect_room(self.expected_edges() * BYTES_AN_EDGE)?;
        let mut edges = Vec::new();
        self.edges(seed, progress, |batch| {
            batch.iter().for_each(|chunk| edges.extend(chunk));
            Ok(())
        })?;
        GraphBuilder::undirected(self.nodes() as usize)
            .edges(edges)
            .build()
    }

    /// How many edges there will be, about; exact for graphs without randomness.
    pub fn expected_edges(&self) -> f64 {
        let clique = |size: u64| size as f64 * (size as f64 - 1.0) / 2.0;
        match *self {
            Generator::RingOfCliques { cliques, size } => cliques as f64 * (clique(size) + 1.0),
            Generator::Barbell { size, path } => 2.0 * clique(size) + path as f64 + 1.0,
            _ => self.nodes() as f64 * self.degree().unwrap_or(0.0) / 2.0,
        }
    }

    /// Chunks: of edges drawn for R-MAT, of rows for the others.
    fn chunks(&self) -> u64 {
        match self {
            Generator::Rmat { .. } => self.drawn().div_ceil(CHUNK),
            _ => self.nodes().div_ceil(self.rows()),
        }
    }

    /// Edges that R-MAT draws.
    fn drawn(&self) -> u64 {
        self.expected_edges().round() as u64
    }

    /// Rows of the adjacency matrix in a chunk.
    fn rows(&self) -> u64 {
        let degree = match *self {
            Generator::Er { degree, .. } | Generator::Sbm { degree, .. } => degree,
            Generator::RingOfCliques { size, .. } | Generator::Barbell { size, .. } => size as f64,
            Generator::Ba { .. } | Generator::Rmat { .. } => return 1,
        };
        (2.0 * CHUNK as f64 / degree.max(1.0)).ceil() as u64
    }

    fn chunk(&self, index: u64, key: Key) -> Edges {
        let n = self.nodes() as u32;
        let row = |chunk: u64| self.nodes().min(chunk * self.rows()) as u32;
        let rows = row(index)..row(index + 1);
        match *self {
            Generator::Er { degree, .. } => {
                let mut pairs = Skips::new(
                    degree / f64::from((n - 1).max(1)),
                    key.with("er", index).rng(),
                );
                each_row(rows, |u, out| pairs.row(u, u + 1..n, out))
            }
            Generator::Sbm {
                degree,
                communities,
                mixing,
                ..
            } => {
                let [inner, outer] = block_probabilities(u64::from(n), communities, degree, mixing);
                let mut inner = Skips::new(inner, key.with("sbm inner", index).rng());
                let mut outer = Skips::new(outer, key.with("sbm outer", index).rng());
                each_row(rows, |u, out| {
                    let end = community_end(u, communities, n);
                    inner.row(u, u + 1..end, out);
                    outer.row(u, end..n, out);
                })
            }
            Generator::Rmat { quadrants, .. } => {
                let mut rng = key.with("rmat", index).rng();
                let count = CHUNK.min(self.drawn() - index * CHUNK);
                (0..count).map(|_| fall(n, quadrants, &mut rng)).collect()
            }
            Generator::RingOfCliques { size, .. } => each_row(rows, |u, out| {
                let end = u - u % size as u32 + size as u32;
                out.extend((u + 1..end).map(|v| (u, v)));
                if u + 1 == end {
                    out.push((u, end % n));
                }
            }),
            Generator::Barbell { size, path } => each_row(rows, |u, out| {
                let (clique, second) = (size as u32, (size + path) as u32);
                let last = match u {
                    _ if u >= second => n - 1,
                    _ if u + 1 < clique => clique - 1,
                    _ => u + 1,
                };
                out.extend((u + 1..=last).map(|v| (u, v)));
            }),
            Generator::Ba { .. } => unreachable!("drawn in one piece"),
        }
    }
}

impl Display for Generator {
    /// `er nodes=10 degree=2`, the parameters in short.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Generator::Er { nodes, degree } => write!(f, "er nodes={nodes} degree={degree}"),
            Generator::Ba { nodes, degree } => write!(f, "ba nodes={nodes} degree={degree}"),
            Generator::Rmat {
                nodes,
                degree,
                quadrants: [a, b, c, d],
            } => write!(
                f,
                "rmat nodes={nodes} degree={degree} quadrants={a},{b},{c},{d}"
            ),
            Generator::Sbm {
                nodes,
                degree,
                communities: k,
                mixing,
            } => write!(
                f,
                "sbm nodes={nodes} degree={degree} communities={k} mixing={mixing}"
            ),
            Generator::RingOfCliques { cliques, size } => {
                write!(f, "ring-of-cliques cliques={cliques} size={size}")
            }
            Generator::Barbell { size, path } => write!(f, "barbell size={size} path={path}"),
        }
    }
}

/// Whether these are probabilities that add up to 1.
fn are_shares(quadrants: [f64; 4]) -> bool {
    let sum: f64 = quadrants.iter().sum();
    quadrants.iter().all(|p| (0.0..=1.0).contains(p)) && (sum - 1.0).abs() <= 1e-6
}

/// First node after the community of `u`: community c is c n / k .. (c + 1) n / k, rounded down.
fn community_end(u: u32, communities: u64, n: u32) -> u32 {
    let n = u64::from(n);
    let community = ((u64::from(u) + 1) * communities - 1) / n;
    ((community + 1) * n / communities) as u32
}

/// Picks pairs independently with one probability, jumping from one picked to the next.
struct Skips<R> {
    rng: R,
    /// ln(1 − p); the pairs passed over follow a geometric law with it.
    log: f64,
    /// Pairs still to pass over before the next picked one.
    skip: u64,
}

impl<R: Rng> Skips<R> {
    fn new(probability: f64, rng: R) -> Self {
        let mut skips = Skips {
            rng,
            log: (-probability.min(1.0)).ln_1p(),
            skip: 0,
        };
        skips.draw();
        skips
    }

    fn draw(&mut self) {
        let uniform = 1.0 - unit(self.rng.next_u64()); // in (0, 1], so that its logarithm is finite
        self.skip = if self.log == 0.0 {
            u64::MAX
        } else {
            (uniform.ln() / self.log) as u64
        };
    }

    /// Picks among the pairs of `u` with `others`.
    fn row(&mut self, u: u32, others: Range<u32>, out: &mut Edges) {
        let mut v = u64::from(others.start);
        let end = u64::from(others.end);
        while self.skip < end.saturating_sub(v) {
            v += self.skip;
            out.push((u, v as u32));
            v += 1;
            self.draw();
        }
        self.skip -= end.saturating_sub(v);
    }
}

/// One R-MAT edge: halves rows and columns until one of each is left; for odd lengths the lower
/// half is the longer.
fn fall(n: u32, quadrants: [f64; 4], rng: &mut impl Rng) -> (u32, u32) {
    let [a, b, c, _] = quadrants;
    let (mut u, mut v) = (0..n, 0..n);
    while u.len() > 1 || v.len() > 1 {
        let r = unit(rng.next_u64());
        halve(&mut u, r >= a + b);
        halve(&mut v, if r < a + b { r >= a } else { r >= a + b + c });
    }
    (u.start, v.start)
}

fn halve(range: &mut Range<u32>, upper: bool) {
    let middle = range.start + (range.end - range.start).div_ceil(2);
    if upper && middle < range.end {
        range.start = middle;
    } else {
        range.end = middle;
    }
}

/// The edges that every row of a range adds, in order.
fn each_row(rows: Range<u32>, mut row: impl FnMut(u32, &mut Edges)) -> Edges {
    let mut out = Vec::new();
    rows.for_each(|u| row(u, &mut out));
    out
}

/// Preferential attachment (Barabási and Albert 1999, doi:10.1126/science.286.5439.509): new nodes join `joins` others in
/// the mean.
///
/// The graph starts as a clique just large enough; then nodes come one by one and join earlier
/// ones. A uniform choice among the ends of all earlier edges prefers nodes by degree, so a draw
/// takes constant time and the whole is linear; a draw that hits a node already joined is repeated.
fn attach(
    nodes: u32,
    joins: f64,
    key: Key,
    progress: &dyn Progress,
    mut sink: impl FnMut(&[Edges]) -> Result<()>,
) -> Result<()> {
    if joins == 0.0 {
        return Ok(());
    }
    let clique = joins.ceil() as u32 + 1;
    let count = (f64::from(nodes) + f64::from(clique)) * joins * 2.0;
    expect_room(count * 4.0)?;
    let mut ends: Vec<u32> = Vec::new();
    ends.try_reserve_exact(count as usize)
        .map_err(|_| too_large(count * 4.0, 0))?;
    let mut chunk = each_row(0..clique, |u, out| {
        out.extend((u + 1..clique).map(|v| (u, v)));
    });
    ends.extend(chunk.iter().flat_map(|&(u, v)| [u, v]));
    let mut joined = vec![u32::MAX; nodes as usize]; // the last node that joined this one
    let mut rng = key.rng();
    progress.stage("generating edges", u64::from(nodes));
    for u in clique..nodes {
        let earlier = ends.len() as u64;
        for _ in (f64::from(u) * joins) as u64..(f64::from(u + 1) * joins) as u64 {
            let v = loop {
                let v = ends[below(rng.next_u64(), earlier) as usize];
                if joined[v as usize] != u {
                    break v;
                }
            };
            joined[v as usize] = u;
            ends.extend([u, v]);
            chunk.push((v, u));
        }
        if chunk.len() as u64 >= CHUNK {
            progress.check()?;
            sink(&[std::mem::take(&mut chunk)])?;
        }
        if u % 4096 == 0 {
            progress.advance(4096);
        }
    }
    sink(&[chunk])
}

fn check_communities(n: u64, communities: u64, degree: f64, mixing: f64) -> Result<()> {
    if communities == 0 || communities > n {
        let message = format!("{communities} communities of {n} nodes; there can be from 1 to {n}");
        return Err(Error::config("communities", message));
    }
    if !(0.0..=1.0).contains(&mixing) {
        let message = format!("{mixing} is not a share; give a number from 0 to 1");
        return Err(Error::config("mixing", message));
    }
    let [inner, outer] = block_probabilities(n, communities, degree, mixing);
    if inner > 1.0 || outer > 1.0 {
        let place = if inner > 1.0 { "inside" } else { "outside" };
        let message = format!(
            "{degree} with mixing {mixing}: a node does not have that many others {place} its community (communities have {:.1} nodes); \
             change degree, mixing or communities",
            n as f64 / communities as f64
        );
        return Err(Error::config("degree", message));
    }
    Ok(())
}

/// Fails when the machine is known to have less memory than this free.
fn expect_room(bytes: f64) -> Result<()> {
    match memory::available() {
        Some(limit) if bytes > limit as f64 => Err(too_large(bytes, limit)),
        _ => Ok(()),
    }
}

fn too_large(bytes: f64, limit: u64) -> Error {
    Error::Memory {
        stage: "generating this graph".to_owned(),
        need: bytes as u64,
        least: false,
        limit,
        remedy: "give fewer nodes or a smaller degree".into(),
    }
}

/// Probability of an edge within a community, and between two; more than 1 when impossible.
fn block_probabilities(n: u64, communities: u64, degree: f64, mixing: f64) -> [f64; 2] {
    let size = n as f64 / communities as f64;
    let over = |edges: f64, others: f64| {
        if edges == 0.0 {
            0.0
        } else {
            edges / others.max(0.0)
        }
    };
    [
        over(degree * (1.0 - mixing), size - 1.0),
        over(degree * mixing, n as f64 - size),
    ]
}
