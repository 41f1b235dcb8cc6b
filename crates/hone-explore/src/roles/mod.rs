//! [`Roles`]: structural roles of the nodes, found from motif counts, with names and reasons.
//!
//! Two nodes have the same role if their neighbourhoods have a similar structure, anywhere in the graph: centres of
//! stars, bridges, members of cliques. Six ratios of the 15 node orbit counts, and in directed graphs two of the arcs
//! (`signature`), are grouped by a mixture of Gaussians (`mixture`), whose number of components is the one that the
//! integrated completed likelihood prefers (`choose`). Equal signatures are kept once, sorted, so that no bit depends
//! on the order of the nodes. Memberships are the posterior probabilities of the components, and sum to one. Cost:
//! counting, then O(N log N + M log M). References: Henderson et al., *RolX*, 2012; Rossi and Ahmed, *Role discovery in
//! networks*, 2015.

mod choose;
mod describe;
mod explain;
mod file;
mod find;
mod hub;
mod mixture;
mod name;
mod otherwise;
mod role;
mod signature;

use hone::features::Named;
use hone::motif::{NODE_ORBITS, Sample};
use hone::parallel;
use hone::{Error, Result};
use serde::{Deserialize, Serialize};

pub use choose::MOST;
pub use explain::{Explanation, Otherwise, Reason, Value};
pub(crate) use explain::{Why, being};
pub use file::RoleTable;
pub use role::{MotifScore, Role};
pub(crate) use signature::Arcs;
pub use signature::RATIOS;

use mixture::Mixture;
use signature::Signature;

/// How roles are found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RoleOptions {
    /// How many; none for as many as the criterion prefers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<usize>,
    /// How motifs are counted.
    pub sample: Sample,
    /// Seed of estimated counts; exact ones need none.
    pub seed: u64,
}

/// The roles of a graph.
#[derive(Debug, Clone)]
pub struct Roles {
    /// What they are, the largest first.
    pub roles: Vec<Role>,
    /// How often nodes of one role are linked to those of another, relative to what their degrees alone would
    /// give; in a directed graph by arcs from the first to the second.
    pub affinity: Vec<Vec<f64>>,
    /// Counts of the 15 node orbits, one row per node.
    counts: Vec<[u64; NODE_ORBITS.len()]>,
    /// Counts of directed motifs, one row per node, and the arcs of each node.
    directed: Option<Named>,
    arcs: Option<Vec<Arcs>>,
    /// The signature of every node.
    signatures: Vec<Signature>,
    memberships: Vec<f32>,
    mixture: Mixture,
    /// The mean of each ratio over the nodes that can have it.
    averages: Signature,
}

impl RoleOptions {
    /// Refuses numbers out of range.
    pub fn check(&self) -> Result<()> {
        match self.roles {
            Some(roles) if !(1..=MOST).contains(&roles) => Err(Error::config(
                "roles",
                format!(
                    "{roles} is not between 1 and {MOST}; leave it out to choose the number automatically"
                ),
            )),
            _ => Ok(()),
        }
    }
}

impl Roles {
    /// How many ratios tell nodes apart.
    fn width(&self) -> usize {
        self.mixture.components[0].width
    }

    /// In- and out-degree of every node, in a directed graph.
    pub(crate) fn arcs(&self) -> Option<&[Arcs]> {
        self.arcs.as_deref()
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.signatures.len()
    }

    /// The memberships of a node, one per role; they sum to one.
    pub fn memberships(&self, node: u32) -> &[f32] {
        let k = self.mixture.components.len();
        &self.memberships[node as usize * k..][..k]
    }

    /// The role that a node belongs to most, the first among equals.
    pub fn role_of(&self, node: u32) -> usize {
        largest(self.memberships(node))
    }

    /// The role of a node with this signature.
    fn role_at(&self, at: &Signature) -> usize {
        let mut memberships = vec![0f32; self.roles.len()];
        self.mixture.memberships(at, &mut memberships);
        largest(&memberships)
    }

    /// Pairs of nodes that a neighbour of this one has beside it, none of them linked to it.
    fn pairs_around(&self, node: u32) -> f64 {
        let counts = &self.counts[node as usize];
        (counts[6] + counts[9]) as f64
    }

    /// The role of every node.
    pub fn assignments(&self) -> Vec<u32> {
        parallel::collect(self.nodes(), |node| self.role_of(node as u32) as u32)
    }

    /// The counts of the 15 node orbits of every node.
    pub fn counts(&self) -> &[[u64; NODE_ORBITS.len()]] {
        &self.counts
    }
}

/// The largest of some memberships, the first among equals.
fn largest(of: &[f32]) -> usize {
    (1..of.len()).fold(0, |best, k| if of[k] > of[best] { k } else { best })
}
