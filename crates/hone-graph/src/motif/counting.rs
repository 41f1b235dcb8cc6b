//! [`Sample`]: whether motifs are counted exactly or estimated, and how well.
//!
//! Estimates look at no more than `cap` neighbours per node (the bound on the sampled degree of sec. 3.1); counts that
//! involve only nodes of smaller degree stay exact. With a target instead of a cap, two independent estimates are made
//! and averaged. Half their difference is distributed as the error of their mean, when errors are symmetric, so the
//! share of motif degrees (row sums of W_t) within the error can be measured without knowing the truth; the cap is
//! doubled until that share reaches the requested confidence. The choice depends on the graph and the options alone: a
//! cap that does not fit into memory is refused, not skipped. Counts of edges are clamped to what is possible, which
//! biases sums; this is measured too, and counts as error. Errors that both estimates share are not detected.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::exact::Exact;
use super::orbit::Orbit;
use super::room::{COUNTING, counting_at_most};
use super::sampled::{self, Estimated, Estimates, Sampled, estimate};
use super::set::Motif;
use super::triad::Triads;
use crate::Graph;
use crate::communicator::{Communicator, SingleProcess};
use crate::error::{Error, Result};
use crate::memory::{self, Allowance};
use crate::parallel;
use crate::progress::Progress;
use crate::random::Key;
use crate::sparse::Pattern;
use crate::storage::Pages;

/// How motifs are counted.
///
/// ```
/// use hone_graph::motif::Sample;
/// let graph = hone_graph::builtin("karate")?;
/// let sample: Sample = "cap=8".parse()?;
/// let counts = sample.count(&graph, 42, &hone_graph::Silent)?;
/// assert_eq!(counts.sampled().expect("an estimate").cap, 8);
/// assert!("cap=1".parse::<Sample>().is_err());
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "String")]
#[non_exhaustive]
pub enum Sample {
    /// Exactly: `exact`.
    #[default]
    Exact,
    /// From at most this many neighbours of each node: `cap=64`, or the number alone.
    Cap(usize),
    /// So that, for each motif, the motif degrees of this share of the nodes are within the error:
    /// `error=0.1,confidence=0.95`.
    Target {
        /// Largest relative error of a motif degree.
        error: f64,
        /// Share of the nodes within it.
        confidence: f64,
    },
}

/// Caps that can be requested. Larger ones cost what exact counting does.
const CAPS: std::ops::RangeInclusive<usize> = 4..=1024;

// The heads of samples store sizes in 16 bits.
const _: () = assert!(*CAPS.end() <= u16::MAX as usize);

/// The cap a target starts with.
const FIRST_CAP: usize = 16;

const WRITE: &str = "write exact, cap=64, or error=0.1,confidence=0.95";

impl Sample {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::config("sample", message));
        match *self {
            Sample::Cap(cap) if !CAPS.contains(&cap) => refuse(format!(
                "a cap of {cap} is not between {} and {}; {WRITE}",
                CAPS.start(),
                CAPS.end()
            )),
            Sample::Target { error, .. } if !(error > 0.0 && error < 1.0) => refuse(format!(
                "an error of {error} is not between 0 and 1; {WRITE}"
            )),
            Sample::Target { confidence, .. } if !(confidence > 0.0 && confidence < 1.0) => refuse(
                format!("a confidence of {confidence} is not between 0 and 1; {WRITE}"),
            ),
            _ => Ok(()),
        }
    }

    /// Counts the 13 edge orbits of every edge, exactly or not; estimates depend on the seed alone.
    pub fn count(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Counts> {
        self.count_within(graph, seed, Allowance::new(None), progress)
    }

    /// Counts what `motifs` need: edge orbits, exactly or not, and triads of directed graphs, always exactly; refuses
    /// work that would exceed the memory limit.
    pub fn count_motifs(
        &self,
        graph: &Graph,
        motifs: &[Motif],
        (seed, allowance): (u64, Allowance),
        progress: &dyn Progress,
    ) -> Result<Counts> {
        self.count_motifs_with(graph, motifs, (seed, allowance), &SingleProcess, progress)
    }

    /// The same by several processes together: exact counts of edge orbits are divided among them, everything else is
    /// done by each process.
    pub fn count_motifs_with(
        &self,
        graph: &Graph,
        motifs: &[Motif],
        (seed, allowance): (u64, Allowance),
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        let Some(&directed) = motifs.iter().find(|motif| motif.is_directed()) else {
            return self.count_orbits(graph, (seed, allowance), communicator, progress);
        };
        super::triad::check_graph(directed, graph)?;
        let orbits = motifs.iter().any(|motif| !motif.is_directed());
        if !orbits && *self != Sample::Exact {
            return Err(Error::config(
                "sample",
                "triads are counted exactly; leave it out",
            ));
        }
        let counts = match orbits {
            true => self.count_orbits(graph, (seed, allowance), communicator, progress)?,
            false => Counts::absent(graph.symmetric_pattern()),
        };
        let remedy = "raise the memory limit, or count a smaller graph";
        allowance.check_work(
            "counting triads",
            COUNTING * counts.pattern().nnz() as u64,
            remedy,
        )?;
        Ok(counts.with_triads(Triads::count(graph, progress)?))
    }

    /// Counts as [`Sample::count`] does; refuses work that would exceed the memory limit.
    pub fn count_within(
        &self,
        graph: &Graph,
        seed: u64,
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        self.count_orbits(graph, (seed, allowance), &SingleProcess, progress)
    }

    fn count_orbits(
        &self,
        graph: &Graph,
        (seed, allowance): (u64, Allowance),
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        self.check()?;
        let pattern = graph.symmetric_pattern();
        let key = Key::new(seed).with("sample", 0);
        match *self {
            Sample::Exact => exact(pattern, allowance, communicator, progress),
            Sample::Cap(cap) => {
                fits(&pattern, cap, 1, allowance)?;
                let estimates = estimate(&pattern, cap, key, progress)?;
                let estimated = Estimated::new(&pattern, estimates, facts(&pattern, cap, 1));
                Ok(Counts::estimated(pattern, estimated))
            }
            Sample::Target { error, confidence } => {
                let fits = |cap| fits(&pattern, cap, 2, allowance);
                let found = target(&pattern, [error, confidence], key, fits, progress)?;
                // No cap is enough.
                found.map_or_else(|| exact(pattern, allowance, communicator, progress), Ok)
            }
        }
    }
}

pub(super) fn exact(
    pattern: Arc<Pattern>,
    allowance: Allowance,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Counts> {
    let held = memory::resident().unwrap_or(0);
    let room = |more: u64| match allowance.exceeded(more) {
        None => Ok(()),
        Some((need, limit)) => Err(Error::Memory {
            stage: "counting motifs".into(),
            need: need.max(held + counting_at_most(&pattern)),
            least: false,
            limit,
            remedy: "raise the memory limit, or count a smaller graph".into(),
        }),
    };
    room(COUNTING * pattern.nnz() as u64)?;
    let exact = Exact::count(&pattern, room, communicator, progress)?;
    Ok(Counts::exact(pattern, exact))
}

/// Doubles the cap until enough motif degrees are close enough; nothing if no cap is enough.
fn target(
    pattern: &Arc<Pattern>,
    [error, confidence]: [f64; 2],
    key: Key,
    fits: impl Fn(usize) -> Result<()>,
    progress: &dyn Progress,
) -> Result<Option<Counts>> {
    let largest = (0..pattern.rows())
        .map(|i| pattern.range(i).len())
        .max()
        .unwrap_or(0);
    let mut cap = FIRST_CAP;
    while cap < largest.min(CAPS.end() + 1) {
        fits(cap)?;
        let replicate = |index| -> Result<Estimated> {
            let estimates = estimate(pattern, cap, key.with("replicate", index), progress)?;
            Ok(Estimated::new(pattern, estimates, facts(pattern, cap, 2)))
        };
        let (a, b) = (replicate(2 * cap as u64)?, replicate(2 * cap as u64 + 1)?);
        let within = within(pattern, &a, &b, error);
        if within.iter().all(|&share| share >= confidence) {
            let facts = Sampled { within, ..a.facts };
            let mean = Estimated::new(pattern, a.edge.averaged(&b.edge), facts);
            return Ok(Some(Counts::estimated(pattern.clone(), mean)));
        }
        cap *= 2;
    }
    Ok(None)
}

/// Refuses a cap that does not fit; earlier ones of several estimates are kept. For a target, whose cap may grow, the
/// need is a lower bound.
fn fits(pattern: &Pattern, cap: usize, replicates: u64, allowance: Allowance) -> Result<()> {
    let kept = (replicates - 1) * 6 * 4 * pattern.nnz() as u64;
    let more = sampled::bytes(pattern, cap) + kept;
    allowance.exceeded(more).map_or(Ok(()), |(need, limit)| {
        Err(Error::Memory {
            stage: format!("estimating motifs from {cap} neighbours"),
            need,
            least: replicates > 1,
            limit,
            remedy: "use a smaller cap, or sample = \"exact\", which takes less, or raise the memory limit".into(),
        })
    })
}

fn facts(pattern: &Pattern, cap: usize, replicates: usize) -> Sampled {
    let large = |i: usize| pattern.range(i).len() > cap;
    let inside = |i: usize| {
        pattern
            .row(i)
            .iter()
            .filter(|&&j| large(j as usize))
            .count()
    };
    let found = parallel::stretches(pattern.rows(), 1 << 12, |rows| {
        rows.filter(|&i| large(i))
            .fold((0, 0), |(nodes, ends), i| (nodes + 1, ends + inside(i)))
    });
    let (nodes, ends) = found
        .into_iter()
        .fold((0, 0), |(nodes, ends), of| (nodes + of.0, ends + of.1));
    Sampled {
        cap,
        replicates,
        nodes,
        edges: ends / 2,
        within: Vec::new(),
    }
}

/// For each orbit the share of nodes with it whose degrees in the mean of two estimates are found to be
/// within `error`: half of the difference of the two, plus the effect of clamping edges.
fn within(pattern: &Pattern, a: &Estimated, b: &Estimated, error: f64) -> Vec<f64> {
    let add = |mut x: [[u64; 2]; Orbit::COUNT], y: [[u64; 2]; Orbit::COUNT]| {
        x.iter_mut()
            .flatten()
            .zip(y.into_iter().flatten())
            .for_each(|(x, y)| *x += y);
        x
    };
    let node = |i: usize| {
        let [a, b, held] = a.degrees_of_mean(b, pattern, i);
        std::array::from_fn(|o| {
            let (mean, held) = (0.5 * (a[o] + b[o]), held[o]);
            let off = 0.5 * (a[o] - b[o]).abs() + (held - mean).abs();
            // Relative to the smaller, since clamping may have made the other large.
            if held > 0.0 {
                [u64::from(off <= error * held.min(mean)), 1]
            } else {
                [0, 0]
            }
        })
    };
    let nothing = || [[0; 2]; Orbit::COUNT];
    let sums = parallel::stretches(pattern.rows(), 1 << 12, |nodes| {
        nodes.map(node).fold(nothing(), add)
    });
    let sums = sums.into_iter().fold(nothing(), add);
    sums.map(|[close, all]| {
        if all == 0 {
            1.0
        } else {
            close as f64 / all as f64
        }
    })
    .to_vec()
}

impl Estimates {
    /// The mean of two estimates.
    pub(super) fn averaged(&self, other: &Estimates) -> Estimates {
        let mean = |a: &[f32], b: &[f32]| {
            Pages::from(
                a.iter()
                    .zip(b)
                    .map(|(a, b)| 0.5 * (a + b))
                    .collect::<Vec<_>>(),
            )
        };
        Estimates {
            t: mean(&self.t, &other.t),
            p: mean(&self.p, &other.p),
            c: mean(&self.c, &other.c),
            k: mean(&self.k, &other.k),
            q: mean(&self.q, &other.q),
            r: mean(&self.r, &other.r),
        }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sample::Exact => f.write_str("exact"),
            Sample::Cap(cap) => write!(f, "cap={cap}"),
            Sample::Target { error, confidence } => {
                write!(f, "error={error},confidence={confidence}")
            }
        }
    }
}

impl FromStr for Sample {
    type Err = Error;

    fn from_str(text: &str) -> Result<Sample> {
        let unknown = || Error::config("sample", format!("`{text}` is not understood; {WRITE}"));
        let text = text.trim();
        if text == "exact" {
            return Ok(Sample::Exact);
        }
        if let Ok(cap) = text.strip_prefix("cap=").unwrap_or(text).parse() {
            let sample = Sample::Cap(cap);
            return sample.check().map(|()| sample);
        }
        let (mut error, mut confidence) = (None, None);
        for setting in text.split(',') {
            match setting
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim().parse::<f64>()))
            {
                Some(("error", Ok(value))) if error.is_none() => error = Some(value),
                Some(("confidence", Ok(value))) if confidence.is_none() => confidence = Some(value),
                _ => return Err(unknown()),
            }
        }
        let sample = Sample::Target {
            error: error.ok_or_else(unknown)?,
            confidence: confidence.unwrap_or(0.95),
        };
        sample.check().map(|()| sample)
    }
}

/// The forms of a sample in a configuration.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`exact`, a cap, or `error=0.1,confidence=0.95`")]
enum Written {
    Cap(u64),
    Text(String),
}

impl TryFrom<Written> for Sample {
    type Error = String;

    fn try_from(written: Written) -> std::result::Result<Sample, String> {
        let text = match written {
            Written::Cap(cap) => cap.to_string(),
            Written::Text(text) => text,
        };
        text.parse().map_err(|error| match error {
            Error::Config { message, .. } => message,
            other => other.to_string(),
        })
    }
}

impl From<Sample> for String {
    fn from(sample: Sample) -> String {
        sample.to_string()
    }
}
