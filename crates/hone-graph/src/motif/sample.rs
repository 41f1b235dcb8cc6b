//! [`Sample`]: whether motifs are counted exactly or estimated, and how well; [`Sampled`]: what was estimated; and how much
//! memory counting takes.
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

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::counts::{Counts, Values};
use super::estimate::{self, Estimated, estimate};
use super::exact;
use super::formula::largest_degree;
use super::orbit::Orbit;
use super::set::{Motif, Written, in_settings};
use super::triad::Triads;
use crate::Graph;
use crate::communicator::{Communicator, SingleProcess};
use crate::error::{Error, Result};
use crate::memory::{self, Allowance};
use crate::message::{Message, message, set, setting};
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
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
        self.count_orbits(
            graph,
            (seed, Allowance::new(None)),
            &SingleProcess,
            progress,
        )
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
            false => Counts::new(graph.symmetric_pattern(), Values::Absent),
        };
        let remedy = smaller();
        allowance.check_work(
            "counting triads",
            COUNTING * counts.pattern().nnz() as u64,
            remedy,
        )?;
        Ok(counts.with_triads(Triads::count(graph, progress)?))
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
                let slots = estimate(&pattern, cap, key, progress)?;
                let estimated = Estimated::new(&pattern, slots, facts(&pattern, cap, 1));
                let values = Values::Estimated(Box::new(estimated));
                Ok(Counts::new(pattern, values))
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

fn smaller() -> Message {
    message![
        "raise ",
        setting("memory_limit"),
        ", or count a smaller graph"
    ]
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
            remedy: smaller(),
        }),
    };
    room(COUNTING * pattern.nnz() as u64)?;
    let exact = exact::count(&pattern, room, communicator, progress)?;
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
    let mut cap = FIRST_CAP;
    while cap < largest_degree(pattern).min(CAPS.end() + 1) {
        fits(cap)?;
        let replicate = |index| -> Result<Estimated> {
            let slots = estimate(pattern, cap, key.with("replicate", index), progress)?;
            Ok(Estimated::new(pattern, slots, facts(pattern, cap, 2)))
        };
        let (a, b) = (replicate(2 * cap as u64)?, replicate(2 * cap as u64 + 1)?);
        let within = within(pattern, &a, &b, error);
        if within.iter().all(|&share| share >= confidence) {
            let facts = Sampled { within, ..a.facts };
            let mean = |slot: usize| {
                let (a, b) = (a.slots[slot], b.slots[slot]);
                std::array::from_fn(|x| 0.5 * (a[x] + b[x]))
            };
            let mean = Pages::collect(pattern.nnz(), mean);
            let values = Values::Estimated(Box::new(Estimated::new(pattern, mean, facts)));
            return Ok(Some(Counts::new(pattern.clone(), values)));
        }
        cap *= 2;
    }
    Ok(None)
}

/// Refuses a cap that does not fit; earlier ones of several estimates are kept. For a target, whose cap may grow, the
/// need is a lower bound.
fn fits(pattern: &Pattern, cap: usize, replicates: u64, allowance: Allowance) -> Result<()> {
    let kept = (replicates - 1) * 6 * 4 * pattern.nnz() as u64;
    let more = estimate::bytes(pattern, cap) + kept;
    allowance.exceeded(more).map_or(Ok(()), |(need, limit)| {
        Err(Error::Memory {
            stage: format!("estimating motifs from {cap} neighbours"),
            need,
            least: replicates > 1,
            limit,
            remedy: message![
                "use a smaller cap, or ",
                set("sample", "exact"),
                ", which takes less, or raise ",
                setting("memory_limit")
            ],
        })
    })
}

fn facts(pattern: &Pattern, cap: usize, replicates: usize) -> Sampled {
    let large = |i: usize| pattern.range(i).len() > cap;
    let found = parallel::stretches(pattern.rows(), 1 << 12, |rows| {
        let (mut nodes, mut ends) = (0, 0);
        for i in rows.filter(|&i| large(i)) {
            nodes += 1;
            let row = pattern.row(i).iter();
            ends += row.filter(|&&j| large(j as usize)).count();
        }
        (nodes, ends)
    });
    Sampled {
        cap,
        replicates,
        nodes: found.iter().map(|of| of.0).sum(),
        edges: found.iter().map(|of| of.1).sum::<usize>() / 2,
        within: Vec::new(),
    }
}

/// For each orbit the share of nodes with it whose degrees in the mean of two estimates are found to be
/// within `error`: half of the difference of the two, plus the effect of clamping edges.
fn within(pattern: &Pattern, a: &Estimated, b: &Estimated, error: f64) -> Vec<f64> {
    type Shares = [[u64; 2]; Orbit::COUNT];
    let add = |sums: &mut Shares, more: Shares| {
        for (sum, more) in sums.as_flattened_mut().iter_mut().zip(more.as_flattened()) {
            *sum += more;
        }
    };
    let node = |i: usize| -> Shares {
        let [a, b, clamped] = a.degrees_of_mean(b, pattern, i);
        std::array::from_fn(|o| {
            let (mean, clamped) = (0.5 * (a[o] + b[o]), clamped[o]);
            let off = 0.5 * (a[o] - b[o]).abs() + (clamped - mean).abs();
            // Relative to the smaller, since clamping may have made the other large.
            let close = off <= error * clamped.min(mean);
            [u64::from(clamped > 0.0 && close), u64::from(clamped > 0.0)]
        })
    };
    let mut sums = Shares::default();
    for part in parallel::stretches(pattern.rows(), 1 << 12, |nodes| {
        let mut sums = Shares::default();
        nodes.for_each(|i| add(&mut sums, node(i)));
        sums
    }) {
        add(&mut sums, part);
    }
    let share = |[close, all]: [u64; 2]| match all {
        0 => 1.0,
        _ => close as f64 / all as f64,
    };
    sums.map(share).to_vec()
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

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Sample, D::Error> {
        in_settings(match Written::deserialize(deserializer) {
            Ok(Written::Number(cap)) => cap.to_string().parse(),
            Ok(Written::Text(text)) => text.parse(),
            _ => Err(Error::config(
                "sample",
                "`exact`, a cap, or `error=0.1,confidence=0.95`",
            )),
        })
    }
}

impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What was estimated, and how well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    /// Maximum number of neighbours used per node.
    pub cap: usize,
    /// Independent estimates that were averaged.
    pub replicates: usize,
    /// Nodes with more neighbours than the cap.
    pub nodes: usize,
    /// Edges between two such nodes: only their common neighbours are estimated; longer cycles and
    /// sums of other edges may pass such nodes too.
    pub edges: usize,
    /// Share of the nodes where a motif was seen, in the order of [`Orbit::ALL`], whose motif degrees
    /// are within the error requested as the two estimates show; empty when no error was.
    #[serde(with = "by_orbit")]
    pub within: Vec<f64>,
}

impl fmt::Display for Sampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sampled {
            cap,
            replicates,
            nodes,
            edges,
            within,
        } = self;
        if *nodes == 0 {
            return write!(
                f,
                "motif counts are exact: no node has more than {cap} neighbours"
            );
        }
        write!(
            f,
            "motif counts are estimates from at most {cap} neighbours per node; "
        )?;
        match (nodes, edges) {
            (1, _) => f.write_str("1 node has more")?,
            (_, 1) => write!(f, "{nodes} nodes have more, with 1 edge between them")?,
            _ => write!(
                f,
                "{nodes} nodes have more, with {edges} edges between them"
            )?,
        }
        let shares = Orbit::ALL.iter().zip(within);
        let Some((orbit, share)) = shares.min_by(|a, b| a.1.total_cmp(b.1)) else {
            return Ok(());
        };
        write!(
            f,
            "; they are means of {replicates} estimates, and for every motif at least {:.1} % of the motif degrees are \
             within the error ({orbit} has the fewest)",
            100.0 * share
        )
    }
}

/// Shares by the name of the orbit.
mod by_orbit {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Orbit;

    pub(super) fn serialize<S: Serializer>(
        shares: &[f64],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Orbit::ALL.map(Orbit::name).iter().zip(shares))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<f64>, D::Error> {
        let shares = BTreeMap::<String, f64>::deserialize(deserializer)?;
        let names = Orbit::ALL.iter().map(|orbit| orbit.name());
        Ok(names.filter_map(|name| shares.get(name).copied()).collect())
    }
}

/// Bytes per slot that exact counting takes at its peak on graphs with few triangles; with many it is up to three times
/// that.
pub const COUNTING: u64 = 20;
/// Bytes per stored position that exact counting takes at most.
pub const COUNTING_AT_MOST: u64 = 60;
/// Edges that are examined to estimate how many are in triangles.
const SEEN: usize = 4096;
/// Neighbours that are examined per edge; an edge with more is assumed to be in a triangle.
const LOOKED_AT: usize = 1000;

/// Bytes that exact counting takes at its peak, at most, on a symmetric pattern: by the share of edges in triangles, as
/// evenly spaced edges show it, and three standard errors more. Cost: at most 4096 · 1000 searches.
pub fn counting_at_most(pattern: &Pattern) -> u64 {
    let step = pattern.nnz().div_ceil(SEEN).max(1);
    let (mut seen, mut inside) = (0u64, 0u64);
    for u in 0..pattern.rows() {
        let slots = pattern.range(u);
        let first = slots.start.next_multiple_of(step);
        for slot in (first..slots.end).step_by(step) {
            let v = pattern.columns()[slot] as usize;
            let (mut few, mut many) = (pattern.row(u), pattern.row(v));
            if few.len() > many.len() {
                std::mem::swap(&mut few, &mut many);
            }
            let shared = || few.iter().any(|node| many.binary_search(node).is_ok());
            seen += 1;
            inside += u64::from(few.len() > LOOKED_AT || shared());
        }
    }
    let share = inside as f64 / seen.max(1) as f64;
    let error = if step == 1 {
        0.0
    } else {
        1.5 / (seen as f64).sqrt()
    };
    let more = (COUNTING_AT_MOST - COUNTING) as f64 * (share + error).min(1.0);
    ((COUNTING as f64 + more) * pattern.nnz() as f64) as u64
}
