//! Sampled counting: estimates from a bounded number of neighbours of each node (sec. 3.1).
//!
//! [`neighbours`] draws the samples; two sweeps over them ([`wedges`], then [`estimate`]) find the primitives of every
//! edge; [`orbits`] computes orbit counts from these. [`shared`], [`links`] and [`bits`] are used by all sweeps.

mod bits;
mod estimate;
mod links;
mod neighbours;
mod orbits;
mod shared;
mod wedges;

pub use self::estimate::Estimates;
pub(super) use self::estimate::{bytes, estimate};
pub(super) use self::orbits::{Amounts, Estimated};

use std::fmt;

use serde::{Deserialize, Serialize};

use super::orbit::Orbit;

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
        match (*nodes, *edges) {
            (1, _) => f.write_str("1 node has more")?,
            (_, 1) => write!(f, "{nodes} nodes have more, with 1 edge between them")?,
            _ => write!(
                f,
                "{nodes} nodes have more, with {edges} edges between them"
            )?,
        }
        if let Some((orbit, share)) = Orbit::ALL
            .iter()
            .zip(within)
            .min_by(|a, b| a.1.total_cmp(b.1))
        {
            let share = 100.0 * share;
            write!(
                f,
                "; they are means of {replicates} estimates, and for every motif at least {share:.1} % of "
            )?;
            write!(
                f,
                "the motif degrees are within the error ({orbit} has the fewest)"
            )?;
        }
        Ok(())
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
        Ok(Orbit::ALL
            .iter()
            .filter_map(|orbit| shares.get(orbit.name()).copied())
            .collect())
    }
}
