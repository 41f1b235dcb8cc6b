//! A separate role for hubs, if the choice of roles has mixed them with others.
//!
//! A graph has few hubs by nature, often too few to justify a component of a mixture: two of the 34 nodes of the karate
//! club. Yet readers look for them first, and a role that mixes them with ordinary nodes has no proper name. Nodes that
//! are hubs by definition (far more neighbours than the average node and than their own neighbours have, and an outlier
//! among the degrees) therefore get a separate component if there are few roles, which is kept if most of them belong
//! to it. The other components are not changed: a fit would widen the new one until it contains ordinary nodes too.
//! Cost: O(rows · components).

use super::mixture::{Component, Mixture, Moments, Row};
use super::name::{is_hub, name};
use super::signature::{Signature, plain};

/// With this many roles, hubs get no separate one.
const MANY: usize = 5;
/// Standard deviations above the mean degree from which a node is an outlier.
const OUTLYING: f64 = 2.4;

/// The mixture with a component of hubs, where there are some outside the roles that are called so.
pub(super) fn with_hubs(rows: &[Row], mixture: Mixture) -> Mixture {
    if mixture.components.len() >= MANY {
        return mixture;
    }
    let degree = |row: &Row| plain(&row.at)[0];
    let total: f64 = rows.iter().map(|row| row.weight).sum();
    let mean = rows.iter().map(|row| row.weight * degree(row)).sum::<f64>() / total;
    let square = rows
        .iter()
        .map(|row| row.weight * (degree(row) - mean).powi(2))
        .sum::<f64>()
        / total;
    let least = mean + OUTLYING * square.sqrt();
    let called = |component: &Component| name(&plain(&component.centre), mean);
    let stands_out = |component: &Component| matches!(called(component), "hub" | "star centre");
    let is_named = |at: &Signature| stands_out(nearest(&mixture.components, at));
    let mut moments = Moments::new(mixture.components[0].width);
    let hubs = || {
        rows.iter().filter(|row| {
            degree(row) >= least && is_hub(&plain(&row.at), mean) && !is_named(&row.at)
        })
    };
    hubs().for_each(|row| moments.add(&row.at, row.weight));
    if moments.weight() == 0.0 {
        return mixture;
    }
    let own = moments.component(total);
    let more = [&mixture.components[..], &[own]].concat();
    let belongs = |row: &&Row| *nearest(&more, &row.at) == own;
    let members: f64 = hubs().filter(belongs).map(|row| row.weight).sum();
    if stands_out(&own) && 2.0 * members > moments.weight() {
        Mixture::fitted(rows, more, 0)
    } else {
        mixture
    }
}

/// The component that a node most likely belongs to.
fn nearest<'a>(components: &'a [Component], at: &Signature) -> &'a Component {
    let likelier = |best: &'a Component, next: &'a Component| {
        if next.log_density(at) > best.log_density(at) {
            next
        } else {
            best
        }
    };
    components.iter().fold(&components[0], likelier)
}
