//! Random graphs that have some properties of a given one, and nothing else of it: [`NullModel`], [`Randomiser`].
//!
//! Degrees are kept by switching: two edges a–b and c–d become a–d and c–b, unless that gives a loop or an edge that exists.
//! Attempts that fail count as steps, so that all graphs that can be reached are equally likely in the end. How many
//! attempts a graph takes is found once, by a trial run: 10 per edge, at least 1000, doubled up to four times until as many
//! switches have succeeded as there are edges, and twice as many attempts leave as many of the original edges in place.
//! (Milo, Kashtan, Itzkovitz, Newman and Alon 2003, arXiv:cond-mat/0312028.) Of directed graphs, switching can miss some
//! that differ in the direction of three-cycles alone.
//!
//! A graph draws from the stream (seed, its number), so it is the same for any number of threads. Cost: linear in the
//! edges.

use std::fmt::{self, Display};
use std::str::FromStr;

use rand_xoshiro::rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::pair_set::PairSet;
use crate::error::{Error, Result};
use crate::hashing::SeededSet;
use crate::message::{Message, message, set};
use crate::progress::Progress;
use crate::random::{Key, below};
use crate::sparse::prefetch;
use crate::{Edges, Graph, GraphBuilder, spelling};

/// What random graphs have in common with the one they are compared with, beside its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NullModel {
    /// The degree of each node, in and out: by switching.
    Degrees,
    /// For directed graphs, also the number of mutual arcs of each node: one-way arcs and mutual pairs are switched apart.
    Reciprocity,
    /// The degree of each node, less the loops and repeated edges that random matching of the ends of edges gives.
    Configuration,
    /// The number of edges: Erdős–Rényi.
    Er,
}

impl NullModel {
    /// All of them, with their names and what they keep.
    pub const ALL: [(NullModel, &str, &str); 4] = [
        (
            NullModel::Degrees,
            "degrees",
            "the degree of each node, in and out, by switching edges",
        ),
        (
            NullModel::Reciprocity,
            "reciprocity",
            "also the mutual arcs of each node (directed graphs only)",
        ),
        (
            NullModel::Configuration,
            "configuration",
            "the degrees, less the loops and repeated edges of a random matching",
        ),
        (NullModel::Er, "er", "the number of edges (Erdős–Rényi)"),
    ];

    /// As in the literature on network motifs: degrees, and for directed graphs reciprocity.
    pub fn usual(directed: bool) -> NullModel {
        if directed {
            NullModel::Reciprocity
        } else {
            NullModel::Degrees
        }
    }

    /// Name as written in options.
    pub fn name(self) -> &'static str {
        NullModel::ALL[self as usize].1
    }
}

impl Display for NullModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for NullModel {
    type Err = Error;

    fn from_str(name: &str) -> Result<NullModel> {
        let known = NullModel::ALL.into_iter().find(|known| known.1 == name);
        known.map(|known| known.0).ok_or_else(|| {
            let hint = spelling::hint(name, NullModel::ALL.map(|known| known.1));
            let message = format!("`{name}` is not a null model{hint}");
            Error::config("null_model", message)
        })
    }
}

/// How a graph is switched, and how well that mixes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Switching {
    /// Attempts that each random graph takes.
    pub attempts: u64,
    /// Share of the attempts that succeeded in the trial run.
    pub succeeded: f64,
    /// Share of the original edges that were in place after these attempts, and after twice as many.
    pub in_place: [f64; 2],
    /// Whether as many switches succeeded as there are edges, and both shares are the same within .01 and three standard errors.
    pub mixed: bool,
}

/// Draws random graphs for one graph.
#[derive(Debug, Clone)]
pub struct Randomiser<'a> {
    graph: &'a Graph,
    model: NullModel,
    key: Key,
    /// The edges that are switched, and how; none where nothing is.
    switched: Option<(Switched, Switching)>,
}

/// Fewest attempts, attempts per edge, and how often these may be doubled.
const LEAST: u64 = 1000;
const PER_EDGE: u64 = 10;
const DOUBLED: usize = 4;
/// Attempts after which one looks whether to stop; attempts that are drawn together, so that what they need can be fetched ahead.
const PIECE: u64 = 1 << 20;
const TOGETHER: u64 = 1 << 5;

impl<'a> Randomiser<'a> {
    /// Prepares random graphs; fails where the graph has no edge, or none that can be switched.
    pub fn new(
        graph: &'a Graph,
        model: NullModel,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Randomiser<'a>> {
        let refuse = |message: Message| Err(Error::config("null_model", message));
        if graph.edges() == 0 {
            return refuse("the graph has no edges, so that there is nothing to randomise".into());
        }
        if model == NullModel::Reciprocity && !graph.is_directed() {
            return refuse(message![
                "reciprocity is of directed graphs, and this one is undirected; use degrees, or read it with ",
                set("directed", true)
            ]);
        }
        let key = Key::new(seed).with("random graph", 0);
        let switched = match model {
            NullModel::Degrees | NullModel::Reciprocity => {
                let switched = Switched::new(graph, model == NullModel::Reciprocity);
                let switching = switched.trial(key.with("trial", 0), progress)?;
                if switching.succeeded == 0.0 {
                    let message = format!(
                        "no edges of this graph can be switched: each of {} attempts gave a loop or an edge that exists, as in stars \
                         and complete graphs; it is nearly the only graph with its degrees, so compare it with configuration or er",
                        switching.attempts
                    );
                    return refuse(message.into());
                }
                Some((switched, switching))
            }
            NullModel::Configuration | NullModel::Er => None,
        };
        Ok(Randomiser {
            graph,
            model,
            key,
            switched,
        })
    }

    /// How the graphs are switched; none for models that are drawn at once.
    pub fn switching(&self) -> Option<Switching> {
        self.switched.as_ref().map(|switched| switched.1)
    }

    /// Random graph number `index`.
    pub fn draw(&self, index: u64, progress: &dyn Progress) -> Result<Graph> {
        let (graph, mut rng) = (self.graph, self.key.with("graph", index).rng());
        let edges = match (&self.switched, self.model) {
            (Some((switched, switching)), _) => {
                let mut switched = switched.clone();
                switched.switch(switching.attempts, &mut rng, progress)?;
                switched.edges()
            }
            (None, NullModel::Er) => random_pairs(graph, &mut rng),
            (None, _) => matched_ends(graph, &mut rng),
        };
        let builder = match graph.is_directed() {
            true => GraphBuilder::directed(graph.nodes()),
            false => GraphBuilder::undirected(graph.nodes()),
        };
        builder.edges(edges).build()
    }
}

/// Two edges of one kind, and whether the second is taken the other way round.
#[derive(Debug)]
struct Attempt {
    kind: usize,
    first: usize,
    second: usize,
    turned: bool,
}

/// An edge as an ordered pair, or with its smaller node first.
fn pair(ordered: bool, (a, b): (u32, u32)) -> (u32, u32) {
    if ordered || a < b { (a, b) } else { (b, a) }
}

/// Edges that are switched with others of their kind.
#[derive(Debug, Clone)]
struct Switched {
    /// Those of one direction, and those that are the same either way round.
    kinds: [Vec<(u32, u32)>; 2],
    /// All of them: ordered pairs if each may have its reverse, else the smaller node first.
    present: PairSet,
    ordered: bool,
    /// Whether those that are the same either way round are pairs of arcs.
    mutual: bool,
}

impl Switched {
    fn new(graph: &Graph, reciprocity: bool) -> Switched {
        let mut kinds = [Vec::new(), Vec::new()];
        for i in 0..graph.nodes() as u32 {
            for &j in graph.neighbors(i) {
                let both = !graph.is_directed() || reciprocity && graph.has_edge(j, i);
                if !both || i < j {
                    kinds[usize::from(both)].push((i, j));
                }
            }
        }
        let ordered = graph.is_directed() && !reciprocity;
        let pairs = kinds.concat().into_iter();
        Switched {
            present: PairSet::new(pairs.map(|edge| pair(ordered, edge))),
            kinds,
            ordered,
            mutual: reciprocity,
        }
    }

    /// The edge as it stands in `present`.
    fn pair(&self, edge: (u32, u32)) -> (u32, u32) {
        pair(self.ordered, edge)
    }

    /// Attempts to switch so often; how often that succeeded.
    fn switch(
        &mut self,
        attempts: u64,
        rng: &mut impl Rng,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let mut succeeded = 0;
        let mut drawn = Vec::with_capacity(TOGETHER as usize);
        for begin in (0..attempts).step_by(TOGETHER as usize) {
            if begin % PIECE == 0 {
                progress.check()?;
            }
            drawn.extend((begin..attempts.min(begin + TOGETHER)).map(|_| self.draw(rng)));
            for attempt in &drawn {
                for pair in self.pairs(attempt) {
                    self.present.prefetch(pair);
                }
            }
            for attempt in drawn.drain(..) {
                succeeded += u64::from(self.attempt(&attempt));
            }
        }
        Ok(succeeded)
    }

    /// Draws two edges of one kind.
    fn draw(&self, rng: &mut impl Rng) -> Attempt {
        let [one_way, both] = [&self.kinds[0], &self.kinds[1]].map(|kind| kind.len() as u64);
        let first = below(rng.next_u64(), one_way + both);
        let bits = rng.next_u64();
        let (kind, first, second) = match first < one_way {
            true => (0, first, below(bits, one_way)),
            false => (1, first - one_way, below(bits, both)),
        };
        let [first, second] = [first, second].map(|at| at as usize);
        for at in [first, second] {
            prefetch(&self.kinds[kind][at..=at]);
        }
        Attempt {
            kind,
            first,
            second,
            turned: kind == 1 && bits & 1 == 1,
        }
    }

    /// The two edges of an attempt, and the two that would be in their place.
    fn ends(&self, attempt: &Attempt) -> [(u32, u32); 4] {
        let kind = &self.kinds[attempt.kind];
        let ((a, b), (mut c, mut d)) = (kind[attempt.first], kind[attempt.second]);
        if attempt.turned {
            (c, d) = (d, c);
        }
        [(a, b), (c, d), (a, d), (c, b)]
    }

    /// The same as they stand in `present`.
    fn pairs(&self, attempt: &Attempt) -> [(u32, u32); 4] {
        self.ends(attempt).map(|edge| self.pair(edge))
    }

    /// Switches two edges, if that gives no loop and no edge that exists.
    fn attempt(&mut self, attempt: &Attempt) -> bool {
        let [.., (a, d), (c, b)] = self.ends(attempt);
        let [ab, cd, ad, cb] = self.pairs(attempt);
        if a == d || c == b || self.present.contains(ad) || self.present.contains(cb) {
            return false;
        }
        self.present.remove(ab);
        self.present.remove(cd);
        self.present.insert(ad);
        self.present.insert(cb);
        self.kinds[attempt.kind][attempt.first] = (a, d);
        self.kinds[attempt.kind][attempt.second] = (c, b);
        true
    }

    /// Finds how many attempts a graph needs.
    fn trial(&self, key: Key, progress: &dyn Progress) -> Result<Switching> {
        progress.stage("finding how many switches mix", 0);
        let (mut trial, mut rng) = (self.clone(), key.rng());
        let edges = self.kinds.iter().map(Vec::len).sum::<usize>();
        let in_place = |trial: &Switched| {
            let all = trial.kinds.iter().flatten();
            let same = all.filter(|&&edge| self.present.contains(self.pair(edge)));
            same.count() as f64 / edges as f64
        };
        let mut attempts = LEAST.max(PER_EDGE * edges as u64);
        let mut succeeded = trial.switch(attempts, &mut rng, progress)?;
        let mut share = in_place(&trial);
        let mut doubled = 0;
        loop {
            let more = trial.switch(attempts, &mut rng, progress)?;
            let later = in_place(&trial);
            let mean = (share + later) / 2.0;
            let error = (2.0 * mean * (1.0 - mean) / edges as f64).sqrt();
            let same = (share - later).abs() <= 0.01 + 3.0 * error;
            let mixed = same && succeeded >= edges as u64;
            if mixed || doubled == DOUBLED {
                return Ok(Switching {
                    attempts,
                    succeeded: succeeded as f64 / attempts as f64,
                    in_place: [share, later],
                    mixed,
                });
            }
            (attempts, succeeded, share) = (2 * attempts, succeeded + more, later);
            doubled += 1;
        }
    }

    /// All edges, those of mutual pairs both ways.
    fn edges(self) -> Edges {
        let [mut edges, both] = self.kinds;
        if self.mutual {
            edges.extend(both.iter().map(|&(a, b)| (b, a)));
        }
        edges.extend(both);
        edges
    }
}

/// As many pairs as the graph has edges, each set of them as likely as any other (Floyd's sampling).
fn random_pairs(graph: &Graph, rng: &mut impl Rng) -> Edges {
    let (n, edges) = (graph.nodes() as u64, graph.edges() as u64);
    let all = n * (n - 1) / if graph.is_directed() { 1 } else { 2 };
    let mut chosen: SeededSet<u64> = SeededSet::default();
    for last in all - edges..all {
        let number = below(rng.next_u64(), last + 1);
        if !chosen.insert(number) {
            chosen.insert(last);
        }
    }
    // A node and how many steps further the other one is, counted round; half of the steps reach every pair once.
    let pair = |number: u64| {
        let (node, step) = (number % n, number / n + 1);
        (node as u32, ((node + step) % n) as u32)
    };
    chosen.into_iter().map(pair).collect()
}

/// The ends of all edges, matched at random.
fn matched_ends(graph: &Graph, rng: &mut impl Rng) -> Edges {
    let columns = graph.pattern().columns();
    let mut targets = columns.to_vec();
    for last in (1..targets.len()).rev() {
        targets.swap(last, below(rng.next_u64(), last as u64 + 1) as usize);
    }
    if !graph.is_directed() {
        // Each node stands as often as it has edges.
        return targets
            .chunks_exact(2)
            .map(|ends| (ends[0], ends[1]))
            .collect();
    }
    let sources = (0..graph.nodes() as u32).flat_map(|i| graph.neighbors(i).iter().map(move |_| i));
    sources.zip(targets).collect()
}
