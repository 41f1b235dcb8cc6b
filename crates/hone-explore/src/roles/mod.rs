//! [`Roles`]: structural roles of the nodes, found from motif counts, with names and reasons.
//!
//! Two nodes have the same role if their neighbourhoods have a similar structure, anywhere in the graph: centres of
//! stars, bridges, members of cliques. Six ratios of the 15 node orbit counts, and in directed graphs two of the arcs
//! (`signature`), are grouped by a mixture of Gaussians (`mixture`), whose number of components is the one that the
//! integrated completed likelihood prefers. Equal signatures are kept once, sorted, so that no bit depends
//! on the order of the nodes. Memberships are the posterior probabilities of the components, and sum to one. Cost:
//! counting, then O(N log N + M log M). References: Henderson et al., *RolX*, 2012; Rossi and Ahmed, *Role discovery in
//! networks*, 2015.

mod describe;
mod explain;
mod mixture;
mod signature;

use hone::features::{Named, Structure};
use hone::graph::Graph;
use hone::memory::Allowance;
use hone::motif::{MotifSet, NODE_ORBITS, Sample, node_orbits_called};
use hone::parallel;
use hone::{Error, Progress, Result};
use rayon::slice::ParallelSliceMut;
use serde::{Deserialize, Serialize};

pub use describe::{MotifScore, Role};
pub use explain::{Explanation, Otherwise, Reason, Value};
pub(crate) use explain::{Why, being};
pub use mixture::MOST;
use mixture::{Mixture, Row, largest};
pub(crate) use signature::Arcs;
pub use signature::RATIOS;
use signature::{Signature, WIDTH, WITHOUT_ARCS, averages, plain, scaled, signatures};

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
    /// Whether motifs are called by their numbers in the literature, not by name.
    pub numbers: bool,
}

/// The roles of a graph.
#[derive(Debug, Clone)]
pub struct Roles {
    /// What they are, the largest first.
    pub roles: Vec<Role>,
    /// How often nodes of one role are linked to those of another, relative to what their degrees alone would
    /// give; in a directed graph by arcs from the first to the second.
    pub affinity: Vec<Vec<f64>>,
    /// Whether motifs are called by number.
    numbers: bool,
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
    /// Finds the roles of the nodes of a graph.
    ///
    /// # Errors
    /// When the graph has no nodes, a count does not fit, or `progress` asks to stop.
    pub fn find(&self, graph: &Graph, progress: &dyn Progress) -> Result<Roles> {
        if let Some(roles) = self.roles.filter(|roles| !(1..=MOST).contains(roles)) {
            let remedy = "leave it out to choose the number automatically";
            let message = format!("{roles} is not between 1 and {MOST}; {remedy}");
            return Err(Error::config("roles", message));
        }
        if graph.nodes() == 0 {
            let message = "it has no nodes, so there are no roles to find";
            return Err(Error::config("graph", message));
        }
        // Triads are always counted exactly, so they are left out if counts are estimated.
        let triads =
            (graph.is_directed() && self.sample == Sample::Exact).then_some(MotifSet::Triads);
        let motifs = triads.iter().flat_map(MotifSet::motifs);
        let motifs: Vec<_> = motifs.chain(MotifSet::default().motifs()).collect();
        let place = (self.seed, Allowance::new(None));
        let counted = self.sample.count_motifs(graph, &motifs, place, progress)?;
        let directed = triads.map(|motifs| {
            let features = Structure {
                motifs,
                depth: 0,
                log: false,
                numbers: self.numbers,
                ..Structure::default()
            };
            features.of(&counted)
        });
        let (counts, directed) = (counted.node_orbits()?, directed.transpose()?);
        drop(counted);
        progress.stage("finding roles", 0);
        let neighbours = graph.underlying().pattern().clone();
        let arcs = graph.is_directed().then(|| Arcs::of(graph, &neighbours));
        let signatures = signatures(&counts, &neighbours, arcs.as_deref());
        drop(neighbours);
        let rows = distinct(&signatures);
        // Directions tell nodes apart where some arc has no reverse.
        let is_one_way = |row: &Row| row.at[WITHOUT_ARCS..].iter().any(|&part| part > 0.0);
        let width = if rows.iter().any(is_one_way) {
            WIDTH
        } else {
            WITHOUT_ARCS
        };
        let mixture = Mixture::of(&rows, self.roles, width, progress)?;
        let k = mixture.components.len();
        let mut memberships = vec![0f32; signatures.len() * k];
        parallel::for_rows(&mut memberships, k, |i, to| {
            mixture.memberships(&signatures[i], to);
        });
        let mut found = Roles {
            roles: Vec::new(),
            affinity: Vec::new(),
            numbers: self.numbers,
            counts,
            directed,
            arcs,
            signatures,
            memberships,
            mixture,
            averages: averages(rows.iter().map(|row| (row.at, row.weight))),
        };
        found.describe(graph);
        Ok(found)
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
        let memberships = self.memberships(node);
        largest(memberships.len(), |role| memberships[role])
    }

    /// The role of a node with this signature.
    fn role_at(&self, at: &Signature) -> usize {
        let mut memberships = vec![0f32; self.roles.len()];
        self.mixture.memberships(at, &mut memberships);
        largest(memberships.len(), |role| memberships[role])
    }

    /// The ratios of a node, in the order of [`RATIOS`].
    pub fn ratios(&self, node: u32) -> [f64; RATIOS.len()] {
        let mut ratios = plain(&self.signatures[node as usize]);
        ratios[0] = ratios[0].round();
        ratios
    }

    /// The role that a node with these ratios would have.
    pub fn role_with(&self, ratios: &[f64; RATIOS.len()]) -> usize {
        self.role_at(&scaled(ratios))
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

    /// Whether motifs are called by their numbers in the literature.
    pub(crate) fn numbers(&self) -> bool {
        self.numbers
    }

    /// What the node orbits are called.
    pub fn orbits(&self) -> [&'static str; NODE_ORBITS.len()] {
        node_orbits_called(self.numbers)
    }

    /// The counts of the 15 node orbits of every node.
    pub fn counts(&self) -> &[[u64; NODE_ORBITS.len()]] {
        &self.counts
    }
}

/// Signatures in order, equal ones once.
fn distinct(signatures: &[Signature]) -> Vec<Row> {
    let order = |a: &Signature, b: &Signature| {
        let gaps = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
        gaps.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    let mut sorted = signatures.to_vec();
    sorted.par_sort_unstable_by(order);
    let mut rows: Vec<Row> = Vec::new();
    for at in sorted {
        match rows.last_mut() {
            Some(last) if last.at == at => last.weight += 1.0,
            _ => rows.push(Row { at, weight: 1.0 }),
        }
    }
    rows
}
