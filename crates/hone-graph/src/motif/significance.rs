//! [`Significance`]: whether motifs occur more or less often than in random graphs.
//!
//! The connected motifs of three nodes of a directed graph, or of three and four nodes of an undirected one, are counted
//! exactly in the graph and in random graphs of a [`NullModel`]. Milo et al. 2002, doi:10.1126/science.298.5594.824; the
//! profile 2004, doi:10.1126/science.1089167. Empirical p-values are (r + 1) / (n + 1), where r of n random graphs are as
//! extreme (Davison and Hinkley 1997; North, Curtis and Sham 2002). Over all motifs, the two-sided ones are adjusted by
//! [`false_discovery_rates`].

use serde::Serialize;

use super::null_model::{NullModel, Randomiser, Switching};
use super::orbit::{Graphlet, Triad};
use super::set::Motif;
use super::triad::{Occurrence, Triads};
use crate::Graph;
use crate::error::{Error, Result};
use crate::parallel;
use crate::progress::Progress;

/// Maximum number of random graphs.
pub const MOST_RANDOM: usize = 1_000_000;

/// Edges of the random graphs that are held at a time, and how many graphs at most.
const EDGES_AT_ONCE: usize = 1 << 22;
const GRAPHS_AT_ONCE: usize = 64;

/// Occurrences of motifs beside those in random graphs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Significance {
    /// What the random graphs keep.
    pub null_model: NullModel,
    /// Number of random graphs.
    pub random: usize,
    /// Seed of the random graphs.
    pub seed: u64,
    /// How they were switched, if they were.
    pub switching: Option<Switching>,
    /// One for each motif.
    pub motifs: Vec<MotifSignificance>,
}

/// A motif beside its occurrences in random graphs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MotifSignificance {
    /// Name of the motif.
    pub motif: &'static str,
    /// Induced occurrences in the graph.
    pub count: u128,
    /// Mean over the random graphs.
    pub mean: f64,
    /// Standard deviation over the random graphs, with n − 1 in the denominator.
    pub sd: f64,
    /// (count − mean) / sd; none where all random graphs have the same count.
    pub z: Option<f64>,
    /// Empirical p-value: how likely at least as many are.
    pub p_more: f64,
    /// Empirical p-value: how likely at most as many are.
    pub p_fewer: f64,
    /// [False discovery rate](false_discovery_rates) of the two-sided p-values, twice the smaller of both, over all motifs.
    pub q: f64,
    /// z divided by the root of the sum of squares of those of all motifs with as many nodes.
    pub profile: Option<f64>,
}

impl Significance {
    /// Compares a graph with so many random ones; by default of the [usual](NullModel::usual) model.
    ///
    /// Fails where there are fewer than two random graphs, where the graph has no edge, or none that can be switched.
    ///
    /// ```
    /// use hone_graph::motif::Significance;
    /// use hone_graph::{Silent, builtin};
    /// let found = Significance::of(&builtin("karate")?, None, 20, 0, &Silent)?;
    /// let triangle = found.motifs.iter().find(|found| found.motif == "triangle").expect("counted");
    /// assert_eq!(triangle.count, 45);
    /// assert!(triangle.z > Some(0.0));
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn of(
        graph: &Graph,
        model: Option<NullModel>,
        random: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Significance> {
        if !(2..=MOST_RANDOM).contains(&random) {
            let message =
                format!("{random} random graphs; give from 2 to {MOST_RANDOM}, such as 100");
            return Err(Error::config("random", message));
        }
        let null_model = model.unwrap_or(NullModel::usual(graph.is_directed()));
        let randomiser = Randomiser::new(graph, null_model, seed, progress)?;
        let counts = occurrences(graph, progress)?;
        progress.stage("counting motifs of random graphs", random as u64);
        let at_once = (EDGES_AT_ONCE / graph.edges()).clamp(1, GRAPHS_AT_ONCE);
        let quiet = Quiet(progress);
        let mut samples: Vec<Vec<u128>> = Vec::with_capacity(random);
        while samples.len() < random {
            progress.check()?;
            let first = samples.len();
            let found = parallel::map(at_once.min(random - first), |at| {
                let drawn = randomiser.draw((first + at) as u64, &quiet)?;
                let found = occurrences(&drawn, &quiet);
                progress.advance(1);
                found
            });
            for found in found {
                samples.push(found?);
            }
        }
        let motifs = motifs(graph.is_directed())
            .into_iter()
            .zip(counts)
            .enumerate();
        let motifs = motifs.map(|(at, (motif, count))| {
            let sample: Vec<u128> = samples.iter().map(|sample| sample[at]).collect();
            (
                motif.size(),
                MotifSignificance::of(motif.name(), count, &sample),
            )
        });
        let mut motifs: Vec<(usize, MotifSignificance)> = motifs.collect();
        for size in [3, 4] {
            let of_size = |(nodes, _): &&mut (usize, MotifSignificance)| *nodes == size;
            let squares = motifs
                .iter_mut()
                .filter(of_size)
                .filter_map(|(_, found)| found.z);
            let length = squares.map(|z| z * z).sum::<f64>().sqrt();
            for (_, found) in motifs.iter_mut().filter(of_size) {
                found.profile = found.z.filter(|_| length > 0.0).map(|z| z / length);
            }
        }
        let two_sided = motifs.iter().map(|(_, found)| found.two_sided());
        let rates = false_discovery_rates(&two_sided.collect::<Vec<f64>>());
        for ((_, found), q) in motifs.iter_mut().zip(rates) {
            found.q = q;
        }
        Ok(Significance {
            null_model,
            random,
            seed,
            switching: randomiser.switching(),
            motifs: motifs.into_iter().map(|(_, found)| found).collect(),
        })
    }

    /// The same with motifs called by their [numbers](Motif::number).
    #[must_use]
    pub fn numbered(mut self) -> Significance {
        let all = [motifs(false), motifs(true)].concat();
        for found in &mut self.motifs {
            let motif = all.iter().find(|motif| motif.name() == found.motif);
            found.motif = motif.map_or(found.motif, |motif| motif.number());
        }
        self
    }
}

/// The least rate of false discoveries at which each hypothesis is rejected: p-values by the step-up procedure of Benjamini and
/// Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.
pub fn false_discovery_rates(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let (mut rates, mut least) = (vec![1.0; p.len()], 1.0f64);
    for (rank, at) in (1..=p.len()).rev().zip(order) {
        least = least.min(p[at] * p.len() as f64 / rank as f64);
        rates[at] = least;
    }
    rates
}

impl MotifSignificance {
    fn two_sided(&self) -> f64 {
        (2.0 * self.p_more.min(self.p_fewer)).min(1.0)
    }

    fn of(motif: &'static str, count: u128, sample: &[u128]) -> MotifSignificance {
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<u128>() as f64 / n;
        let varies = sample.iter().any(|&other| other != sample[0]);
        let squares = sample.iter().map(|&other| (other as f64 - mean).powi(2));
        let sd = if varies {
            (squares.sum::<f64>() / (n - 1.0)).sqrt()
        } else {
            0.0
        };
        let p = |as_extreme: &dyn Fn(u128) -> bool| {
            let r = sample.iter().filter(|&&other| as_extreme(other)).count();
            (r as f64 + 1.0) / (n + 1.0)
        };
        MotifSignificance {
            motif,
            count,
            mean,
            sd,
            z: (sd > 0.0).then(|| (count as f64 - mean) / sd),
            p_more: p(&|other| other >= count),
            p_fewer: p(&|other| other <= count),
            q: 1.0,
            profile: None,
        }
    }
}

/// The motifs that are compared: those whose number does not follow from the edges alone.
fn motifs(directed: bool) -> Vec<Motif> {
    match directed {
        true => Triad::ALL[2..].iter().copied().map(Motif::Triad).collect(),
        false => Graphlet::ALL[1..]
            .iter()
            .copied()
            .map(Motif::Graphlet)
            .collect(),
    }
}

/// How often each of them occurs.
fn occurrences(graph: &Graph, progress: &dyn Progress) -> Result<Vec<u128>> {
    Ok(match graph.is_directed() {
        true => {
            let totals = Triads::count(graph, progress)?.totals(Occurrence::Induced);
            totals.triads[2..].to_vec()
        }
        false => super::count(graph, progress)?.totals().graphlets[1..].to_vec(),
    })
}

/// Work on one of many graphs: it can be stopped, and reports nothing.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
