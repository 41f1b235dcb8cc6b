//! [`RoleOptions::find`]: counts, signatures, their groups, and a description of each.

use hone::features::{Named, Structure};
use hone::graph::Graph;
use hone::memory::Allowance;
use hone::motif::{MotifSet, NODE_ORBITS, Sample};
use hone::parallel;
use hone::{Error, Progress, Result};
use rayon::slice::ParallelSliceMut;

use super::mixture::{Component, Mixture, Row};
use super::signature::{Arcs, Signature, averages, is_isolated, signatures, width};
use super::{RoleOptions, Roles, choose, hub};

/// Iterations of the last fit, on all rows.
const LAST: usize = 15;
/// Variance of the group of nodes without neighbours: no other node is near it.
const ALONE: f64 = 1e-4;

impl RoleOptions {
    /// Finds the roles of the nodes of a graph.
    ///
    /// # Errors
    /// When the graph has no nodes, a count does not fit, or `progress` asks to stop.
    pub fn find(&self, graph: &Graph, progress: &dyn Progress) -> Result<Roles> {
        self.check()?;
        if graph.nodes() == 0 {
            return Err(Error::config(
                "graph",
                "it has no nodes, so there are no roles to find",
            ));
        }
        // Triads are always counted exactly, so they are left out if counts are estimated.
        let triads =
            (graph.is_directed() && self.sample == Sample::Exact).then_some(MotifSet::Triads);
        let motifs = triads
            .iter()
            .flat_map(MotifSet::motifs)
            .chain(MotifSet::default().motifs());
        let motifs: Vec<_> = motifs.collect();
        let counts = self.sample.count_motifs(
            graph,
            &motifs,
            (self.seed, Allowance::new(None)),
            progress,
        )?;
        let features = triads.map(|motifs| Structure {
            motifs,
            depth: 0,
            log: false,
            ..Structure::default()
        });
        let directed = features.map(|features| features.of(&counts)).transpose()?;
        Roles::of(
            graph,
            (counts.node_orbits()?, directed),
            self.roles,
            progress,
        )
    }
}

impl Roles {
    /// The roles of nodes with these counts of the 15 node orbits, and of directed motifs where there are some; `wanted` of
    /// them, or as many as pay.
    fn of(
        graph: &Graph,
        (counts, directed): (Vec<[u64; NODE_ORBITS.len()]>, Option<Named>),
        wanted: Option<usize>,
        progress: &dyn Progress,
    ) -> Result<Roles> {
        assert!(
            counts.len() == graph.nodes() && !counts.is_empty(),
            "one row of counts per node"
        );
        progress.stage("finding roles", 0);
        let neighbours = graph.underlying().pattern().clone();
        let arcs = graph.is_directed().then(|| Arcs::of(graph, &neighbours));
        let signatures = signatures(&counts, &neighbours, arcs.as_deref());
        drop(neighbours);
        let rows = distinct(&signatures);
        let averages = averages(rows.iter().map(|row| (row.at, row.weight)));
        let mut mixture = separately(&rows, wanted, progress)?.without_empty(&rows);
        mixture.components.sort_by(|a, b| {
            b.share
                .total_cmp(&a.share)
                .then(b.centre[0].total_cmp(&a.centre[0]))
        });
        if let Some(wanted) = wanted.filter(|&wanted| wanted > mixture.components.len()) {
            let mut groups = choose::nearest(&rows, wanted, mixture.components[0].width, progress)?;
            narrow_isolated(&mut groups);
            mixture = Mixture::fitted(&rows, groups, 0);
        }
        let k = mixture.components.len();
        let mut memberships = vec![0f32; signatures.len() * k];
        parallel::for_rows(&mut memberships, k, |i, to| {
            mixture.memberships(&signatures[i], to);
        });
        let mut found = Roles {
            roles: Vec::new(),
            affinity: Vec::new(),
            counts,
            directed,
            arcs,
            signatures,
            memberships,
            mixture,
            averages,
        };
        found.describe(graph);
        Ok(found)
    }
}

/// The mixture of all nodes. Those without neighbours, which have no ratios, are a group of their own, and those with one, which
/// have no pairs, are grouped among themselves unless the number of roles is given.
fn separately(rows: &[Row], wanted: Option<usize>, progress: &dyn Progress) -> Result<Mixture> {
    let width = width(rows.iter().map(|row| row.at));
    let some = |low: f64, high: f64| -> Vec<Row> {
        rows.iter()
            .filter(|row| low <= row.at[0] && row.at[0] < high)
            .copied()
            .collect()
    };
    let alone = if wanted == Some(1) {
        Vec::new()
    } else {
        some(f64::NEG_INFINITY, -0.5)
    };
    let apart = if alone.is_empty() {
        f64::NEG_INFINITY
    } else {
        -0.5
    };
    let leaves = if wanted.is_none() {
        some(-0.5, 0.5)
    } else {
        Vec::new()
    };
    let others = if leaves.is_empty() {
        some(apart, f64::INFINITY)
    } else {
        some(0.5, f64::INFINITY)
    };
    let others_wanted =
        wanted.map(|wanted| wanted - usize::from(!alone.is_empty() && !others.is_empty()));
    let mut parts = vec![(alone, Some(1)), (leaves, None), (others, others_wanted)];
    parts.retain(|(rows, _)| !rows.is_empty());
    let mut components = Vec::new();
    let weight = |rows: &[Row]| rows.iter().map(|row| row.weight).sum::<f64>();
    for (part, wanted) in &parts {
        let share = weight(part) / weight(rows);
        let of_all = |component: Component| Component {
            share: share * component.share,
            ..component
        };
        components.extend(
            grouped(part, *wanted, width, progress)?
                .components
                .into_iter()
                .map(of_all),
        );
    }
    narrow_isolated(&mut components);
    let mixture = Mixture::fitted(rows, components, 0);
    Ok(if wanted.is_none() {
        hub::with_hubs(rows, mixture)
    } else {
        mixture
    })
}

/// Keeps other nodes out of the group of those without neighbours.
fn narrow_isolated(components: &mut [Component]) {
    for component in components {
        if is_isolated(&component.centre) {
            component.variance = component.variance.map(|variance| variance.min(ALONE));
        }
    }
}

/// The mixture of some rows: as many groups as wanted, or as pay.
fn grouped(
    rows: &[Row],
    wanted: Option<usize>,
    width: usize,
    progress: &dyn Progress,
) -> Result<Mixture> {
    Ok(Mixture::fitted(
        rows,
        choose::choose(rows, wanted, width, progress)?.components,
        LAST,
    ))
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
