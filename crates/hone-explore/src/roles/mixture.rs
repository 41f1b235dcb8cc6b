//! Groups of signatures: a mixture of Gaussians with diagonal covariances that are never narrower than [`RESOLUTION`].
//!
//! Differences below the resolution are not worth a role, and a group of equal nodes, which many graphs have, would
//! otherwise be infinitely likely. Rows have weights, since equal signatures are kept once. All sums go over chunks of fixed
//! size in order: with rows in sorted order the result depends on neither threads nor node order.
//! Cost: O(rows · components · width) per iteration. Reference: Dempster, Laird and Rubin, 1977.
//!
//! The number of groups: the widest group is split along its widest direction, until there are [`MOST`]; then the two groups
//! that a single Gaussian describes best are merged, again and again. The mixture is fitted again at every size, and the
//! one with the least integrated completed likelihood cost is kept. Nothing is random, so neither a seed nor the order of
//! nodes matters. Cost: O(rows · MOST²) on at most [`SAMPLE`] rows.

use std::ops::Range;

use hone::dense::Small;
use hone::parallel;
use hone::{Error, Progress, Result};

use super::describe::{is_hub, name};
use super::signature::{Signature, WIDTH, is_isolated, plain};

/// Maximum number of roles that are tried.
pub const MOST: usize = 12;
/// Standard deviations are at least this, in units of a signature.
const RESOLUTION: f64 = 0.35;
/// Rows per task.
const CHUNK: usize = 1 << 12;
/// Components with less than this many nodes are dropped.
const LEAST: f64 = 1e-3;
/// Centres that move less than this have converged.
const STILL: f64 = 1e-5;
/// Rows used to choose the number of roles; of more, evenly spaced ones.
const SAMPLE: usize = 20_000;
/// Iterations of a fit while the number of groups is chosen, and of the last one.
const ITERATIONS: usize = 60;
const LAST: usize = 15;
/// Assignments to the nearest centre after a split.
const SETTLING: usize = 20;
/// Rows whose squared distance is at most this differ by rounding.
const EQUAL: f64 = 1e-12;
/// Variance of the group of nodes without neighbours: no other node is near it.
const ALONE: f64 = 1e-4;

/// A signature and how many nodes have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) at: Signature,
    pub(crate) weight: f64,
}

fn weight_of(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.weight).sum()
}

/// The index below `n` with the largest value, the first among equals.
pub(super) fn largest<T: PartialOrd>(n: usize, value: impl Fn(usize) -> T) -> usize {
    (1..n).fold(0, |best, k| if value(k) > value(best) { k } else { best })
}

/// A group of the mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Component {
    /// Its part of all nodes.
    pub(crate) share: f64,
    pub(crate) centre: Signature,
    pub(crate) variance: Signature,
    /// How many ratios count.
    pub(crate) width: usize,
}

impl Component {
    /// The logarithm of its density at a place, its share included.
    pub(crate) fn log_density(&self, at: &Signature) -> f64 {
        let mut sum = self.share.ln();
        for d in 0..self.width {
            let (gap, variance) = (at[d] - self.centre[d], self.variance[d]);
            sum -= 0.5 * (gap * gap / variance + (std::f64::consts::TAU * variance).ln());
        }
        sum
    }
}

/// Sums over the rows that a new component follows from.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    weight: f64,
    first: Signature,
    second: Signature,
}

impl Moments {
    fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Self {
        let mut moments = Moments::default();
        rows.for_each(|row| moments.add(&row.at, row.weight));
        moments
    }

    fn add(&mut self, at: &Signature, weight: f64) {
        self.weight += weight;
        for d in 0..WIDTH {
            self.first[d] += weight * at[d];
            self.second[d] += weight * at[d] * at[d];
        }
    }

    fn centre(&self) -> Signature {
        let weight = self.weight.max(f64::MIN_POSITIVE);
        self.first.map(|sum| sum / weight)
    }

    /// The component of the rows summed up, of `total` weight in all; this many ratios count.
    fn component(&self, total: f64, width: usize) -> Component {
        let (weight, centre) = (self.weight.max(f64::MIN_POSITIVE), self.centre());
        let spread = |d: usize| (self.second[d] / weight - centre[d] * centre[d]).max(0.0);
        Component {
            share: self.weight / total,
            centre,
            variance: std::array::from_fn(|d| spread(d) + RESOLUTION * RESOLUTION),
            width,
        }
    }
}

/// Components together, and how well they fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mixture {
    pub(crate) components: Vec<Component>,
    /// Logarithm of the likelihood of all rows.
    likelihood: f64,
    /// Entropy of the memberships, summed over the rows.
    entropy: f64,
}

impl Mixture {
    /// The groups of rows in order, the largest first: `wanted` of them, or as many as pay.
    pub(super) fn of(
        rows: &[Row],
        wanted: Option<usize>,
        width: usize,
        progress: &dyn Progress,
    ) -> Result<Mixture> {
        let mut mixture = Mixture::by_kind(rows, wanted, width, progress)?;
        let used = parallel::collect(rows.len(), |i| mixture.most_likely(&rows[i].at));
        let mut at = 0..;
        let is_used = |_: &Component| at.next().is_some_and(|k| used.contains(&k));
        mixture.components.retain(is_used);
        mixture.components.sort_by(|a, b| {
            let by_share = b.share.total_cmp(&a.share);
            by_share.then(b.centre[0].total_cmp(&a.centre[0]))
        });
        match wanted.filter(|&wanted| wanted > mixture.components.len()) {
            Some(wanted) => {
                let groups = nearest_groups(rows, wanted, width, progress)?;
                Ok(Mixture::fitted(rows, narrow_isolated(groups), 0))
            }
            None => Ok(mixture),
        }
    }

    /// Those without neighbours, which have no ratios, are a group of their own, and those with one, which have no pairs, are
    /// grouped among themselves unless the number of groups is given.
    fn by_kind(
        rows: &[Row],
        wanted: Option<usize>,
        width: usize,
        progress: &dyn Progress,
    ) -> Result<Mixture> {
        let between = |low: f64, high: f64, when: bool| -> Vec<Row> {
            let within = |row: &&Row| when && low <= row.at[0] && row.at[0] < high;
            rows.iter().filter(within).copied().collect()
        };
        let isolated = between(f64::NEG_INFINITY, -0.5, wanted != Some(1));
        let leaves = between(-0.5, 0.5, wanted.is_none());
        let least = match (isolated.is_empty(), leaves.is_empty()) {
            (_, false) => 0.5,
            (false, true) => -0.5,
            (true, true) => f64::NEG_INFINITY,
        };
        let others = between(least, f64::INFINITY, true);
        let apart = usize::from(!isolated.is_empty() && !others.is_empty());
        let others_wanted = wanted.map(|wanted| wanted - apart);
        let mut components = Vec::new();
        let total = weight_of(rows);
        let parts = [(isolated, Some(1)), (leaves, None), (others, others_wanted)];
        for (part, wanted) in parts.iter().filter(|(part, _)| !part.is_empty()) {
            let share = weight_of(part) / total;
            let chosen = Mixture::chosen(part, *wanted, width, progress)?.components;
            let fitted = Mixture::fitted(part, chosen, LAST).components;
            components.extend(fitted.into_iter().map(|component| Component {
                share: share * component.share,
                ..component
            }));
        }
        let mixture = Mixture::fitted(rows, narrow_isolated(components), 0);
        Ok(match wanted {
            None => mixture.with_hubs(rows),
            Some(_) => mixture,
        })
    }

    /// The mixture with `wanted` components, or with the lowest cost. Fewer than requested if there are fewer distinct
    /// rows. The first `width` ratios are used.
    fn chosen(
        rows: &[Row],
        wanted: Option<usize>,
        width: usize,
        progress: &dyn Progress,
    ) -> Result<Mixture> {
        let rows = &thinned(rows);
        let nodes = weight_of(rows);
        let start = split(rows, wanted.unwrap_or(MOST).max(MOST), width, progress)?;
        progress.stage("choosing the number of roles", start.len() as u64);
        let mut now = Mixture::fitted(rows, start, ITERATIONS);
        let mut best = now.clone();
        // Some initial groups may be dropped: there may already be fewer than requested.
        while now.components.len() > wanted.unwrap_or(1) {
            progress.check()?;
            now = Mixture::fitted(rows, joined(&now.components), ITERATIONS);
            if wanted.is_some() || now.cost(nodes) < best.cost(nodes) {
                best = now.clone();
            }
            progress.advance(1);
        }
        Ok(best)
    }

    /// Improves components until their centres converge, for at most `most` iterations.
    fn fitted(rows: &[Row], mut components: Vec<Component>, most: usize) -> Mixture {
        let (total, width) = (weight_of(rows), components[0].width);
        for _ in 0..most {
            let mut moments = expect(rows, &components).0;
            moments.retain(|moments| moments.weight >= LEAST);
            let next = moments
                .iter()
                .map(|moments| moments.component(total, width));
            let next: Vec<Component> = next.collect();
            let moved = |a: &Component, b: &Component| {
                (0..WIDTH).any(|d| (a.centre[d] - b.centre[d]).abs() >= STILL)
            };
            let still = next.len() == components.len()
                && !next.iter().zip(&components).any(|(a, b)| moved(a, b));
            components = next;
            if still {
                break;
            }
        }
        let (_, likelihood, entropy) = expect(rows, &components);
        Mixture {
            components,
            likelihood,
            entropy,
        }
    }

    /// The integrated completed likelihood as a cost: the Bayesian information criterion, and twice the entropy of the
    /// memberships, so that overlapping groups are penalised. Biernacki, Celeux and Govaert, 2000.
    fn cost(&self, nodes: f64) -> f64 {
        let parameters = self
            .components
            .iter()
            .map(|c| 2 * c.width + 1)
            .sum::<usize>()
            - 1;
        2.0 * (self.entropy - self.likelihood) + parameters as f64 * nodes.ln()
    }

    /// The component that a node with this signature most likely belongs to, the first among equals.
    fn most_likely(&self, at: &Signature) -> usize {
        let logs: Vec<f64> = self.components.iter().map(|c| c.log_density(at)).collect();
        largest(logs.len(), |k| logs[k])
    }

    /// The memberships of a place: they sum to one.
    pub(crate) fn memberships(&self, at: &Signature, to: &mut [f32]) {
        let (logs, top, sum) = responsibilities(&self.components, at);
        let both = to.iter_mut().zip(logs);
        both.for_each(|(to, log)| *to = ((log - top).exp() / sum) as f32);
    }

    /// Itself with a component of hubs, where there are some outside the roles that are called so.
    ///
    /// A graph has few hubs by nature, often too few to justify a component of a mixture: two of the 34 nodes of the karate
    /// club. Yet readers look for them first, and a role that mixes them with ordinary nodes has no proper name. Nodes that
    /// are hubs by definition (far more neighbours than the average node and than their own neighbours have, and an outlier
    /// among the degrees) therefore get a separate component if there are few roles, which is kept if most of them belong
    /// to it. The other components are not changed: a fit would widen the new one until it contains ordinary nodes too.
    fn with_hubs(self, rows: &[Row]) -> Mixture {
        /// With this many roles, hubs get no separate one.
        const MANY: usize = 5;
        /// Standard deviations above the mean degree from which a node is an outlier.
        const OUTLYING: f64 = 2.4;
        if self.components.len() >= MANY {
            return self;
        }
        let degree = |row: &Row| plain(&row.at)[0];
        let total = weight_of(rows);
        let mean = rows.iter().map(|row| row.weight * degree(row)).sum::<f64>() / total;
        let squares = rows
            .iter()
            .map(|row| row.weight * (degree(row) - mean).powi(2));
        let least = mean + OUTLYING * (squares.sum::<f64>() / total).sqrt();
        let stands_out =
            |c: &Component| matches!(name(&plain(&c.centre), mean), "hub" | "star centre");
        let is_named = |at: &Signature| stands_out(&self.components[self.most_likely(at)]);
        let hubs = || {
            let is_hub = |row: &&Row| degree(row) >= least && is_hub(&plain(&row.at), mean);
            rows.iter().filter(is_hub).filter(|row| !is_named(&row.at))
        };
        let moments = Moments::of(hubs());
        if moments.weight == 0.0 {
            return self;
        }
        let own = moments.component(total, self.components[0].width);
        let more = Mixture {
            components: [&self.components[..], &[own]].concat(),
            ..self
        };
        let belongs = |row: &&Row| more.components[more.most_likely(&row.at)] == own;
        let members: f64 = hubs().filter(belongs).map(|row| row.weight).sum();
        if stands_out(&own) && 2.0 * members > moments.weight {
            return Mixture::fitted(rows, more.components, 0);
        }
        self
    }
}

/// Keeps other nodes out of the group of those without neighbours.
fn narrow_isolated(mut components: Vec<Component>) -> Vec<Component> {
    for component in components.iter_mut().filter(|c| is_isolated(&c.centre)) {
        component.variance = component.variance.map(|variance| variance.min(ALONE));
    }
    components
}

/// Logarithms of densities, the largest, and the sum of all densities relative to it.
fn responsibilities(components: &[Component], at: &Signature) -> (Vec<f64>, f64, f64) {
    let logs: Vec<f64> = components.iter().map(|c| c.log_density(at)).collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = logs.iter().map(|log| (log - top).exp()).sum();
    (logs, top, sum)
}

/// The moments of each component, the likelihood and the entropy, in one pass over the rows.
fn expect(rows: &[Row], components: &[Component]) -> (Vec<Moments>, f64, f64) {
    let empty = || (vec![Moments::default(); components.len()], 0.0, 0.0);
    let chunk = |range: Range<usize>| {
        let (mut moments, mut likelihood, mut entropy) = empty();
        for row in &rows[range] {
            let (logs, top, sum) = responsibilities(components, &row.at);
            likelihood += row.weight * (top + sum.ln());
            for (moments, log) in moments.iter_mut().zip(logs) {
                let part = (log - top).exp() / sum;
                if part > 0.0 {
                    moments.add(&row.at, row.weight * part);
                    entropy -= row.weight * part * part.ln();
                }
            }
        }
        (moments, likelihood, entropy)
    };
    let (mut moments, mut likelihood, mut entropy) = empty();
    for part in parallel::stretches(rows.len(), CHUNK, chunk) {
        for (all, part) in moments.iter_mut().zip(&part.0) {
            all.weight += part.weight;
            for d in 0..WIDTH {
                all.first[d] += part.first[d];
                all.second[d] += part.second[d];
            }
        }
        likelihood += part.1;
        entropy += part.2;
    }
    (moments, likelihood, entropy)
}

/// Exactly `wanted` groups, the largest first: each row belongs to the nearest of some rows that are far apart. For where a
/// mixture has fewer groups than were asked for. Fails if there are fewer different rows.
fn nearest_groups(
    rows: &[Row],
    wanted: usize,
    width: usize,
    progress: &dyn Progress,
) -> Result<Vec<Component>> {
    let gap = |centres: &[Signature], at: &Signature| {
        let gaps = centres.iter().map(|centre| squared(at, centre));
        gaps.fold(f64::INFINITY, f64::min)
    };
    let (alone, others): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| is_isolated(&row.at));
    let mut centres: Vec<Signature> = alone.iter().take(1).map(|row| row.at).collect();
    let others = thinned(&others);
    for group in split(&others, wanted - centres.len(), width, progress)? {
        let near = |row: &&Row| squared(&row.at, &group.centre);
        let middle = others.iter().min_by(|a, b| near(a).total_cmp(&near(b)));
        let middle = middle.filter(|row| gap(&centres, &row.at) > EQUAL);
        centres.extend(middle.map(|row| row.at));
    }
    while centres.len() < wanted {
        progress.check()?;
        let gaps = parallel::collect(rows.len(), |i| gap(&centres, &rows[i].at));
        let farthest = largest(rows.len(), |i| gaps[i]);
        if gaps[farthest] <= EQUAL {
            let kinds = match centres.len() {
                1 => "all nodes have the same neighbourhood".to_owned(),
                kinds => format!("nodes have only {kinds} different neighbourhoods"),
            };
            let message = format!("{wanted} is too many: {kinds} in this graph");
            return Err(Error::config("roles", message));
        }
        centres.push(rows[farthest].at);
    }
    let apart = (0..wanted).map(|k| gap(&centres[..k], &centres[k]));
    // So narrow that each of these rows clearly belongs to its own group.
    let variance = (apart.fold(f64::INFINITY, f64::min) / 8.0).min(RESOLUTION * RESOLUTION);
    let mut sizes = vec![0.0; wanted];
    for row in rows {
        sizes[nearest(&centres, &row.at)] += row.weight;
    }
    let mut order: Vec<usize> = (0..wanted).collect();
    order.sort_by(|&a, &b| f64::total_cmp(&sizes[b], &sizes[a]));
    let component = |k: usize| Component {
        share: 1.0 / wanted as f64,
        centre: centres[k],
        variance: [variance; WIDTH],
        width,
    };
    Ok(order.into_iter().map(component).collect())
}

/// The centre that is nearest to a signature, the first among equals.
fn nearest(centres: &[Signature], at: &Signature) -> usize {
    largest(centres.len(), |k| -squared(at, &centres[k]))
}

/// At most [`SAMPLE`] rows, each for as many nodes as lie between it and the next.
fn thinned(rows: &[Row]) -> Vec<Row> {
    if rows.len() <= SAMPLE {
        return rows.to_vec();
    }
    let piece = |s: usize| &rows[s * rows.len() / SAMPLE..(s + 1) * rows.len() / SAMPLE];
    let row = |piece: &[Row]| Row {
        at: piece[piece.len() / 2].at,
        weight: weight_of(piece),
    };
    (0..SAMPLE).map(|s| row(piece(s))).collect()
}

/// Centres of up to `most` groups, as components.
fn split(
    rows: &[Row],
    most: usize,
    width: usize,
    progress: &dyn Progress,
) -> Result<Vec<Component>> {
    let total = weight_of(rows);
    let (mut centres, mut groups) = settled(rows, vec![Moments::of(rows.iter()).centre()]);
    while centres.len() < most {
        progress.check()?;
        let spread = |k: usize| -> f64 {
            let own = members(rows, &groups, k);
            own.map(|row| row.weight * squared(&row.at, &centres[k]))
                .sum()
        };
        let spreads: Vec<f64> = (0..centres.len()).map(spread).collect();
        let widest = largest(spreads.len(), |k| spreads[k]);
        if spreads[widest] <= 1e-12 * total {
            break;
        }
        let centre = centres[widest];
        let step = widest_direction(members(rows, &groups, widest), &centre)?;
        centres[widest] = std::array::from_fn(|d| centre[d] - step[d]);
        centres.push(std::array::from_fn(|d| centre[d] + step[d]));
        (centres, groups) = settled(rows, centres);
    }
    let moments = (0..centres.len()).map(|k| Moments::of(members(rows, &groups, k)));
    let components = moments.map(|moments| moments.component(total, width));
    Ok(components
        .filter(|component| component.share > 0.0)
        .collect())
}

/// The rows of group `k`.
fn members<'a>(rows: &'a [Row], groups: &'a [usize], k: usize) -> impl Iterator<Item = &'a Row> {
    let own = rows
        .iter()
        .zip(groups)
        .filter(move |(_, group)| **group == k);
    own.map(|(row, _)| row)
}

fn squared(a: &Signature, b: &Signature) -> f64 {
    (0..WIDTH).map(|d| (a[d] - b[d]).powi(2)).sum()
}

/// Centres after some rounds of assigning rows to the nearest; and the group of every row.
fn settled(rows: &[Row], mut centres: Vec<Signature>) -> (Vec<Signature>, Vec<usize>) {
    let assigned = |centres: &[Signature]| -> Vec<usize> {
        rows.iter().map(|row| nearest(centres, &row.at)).collect()
    };
    let mut groups = assigned(&centres);
    for _ in 0..SETTLING {
        for (k, centre) in centres.iter_mut().enumerate() {
            if groups.contains(&k) {
                *centre = Moments::of(members(rows, &groups, k)).centre();
            }
        }
        let next = assigned(&centres);
        if next == groups {
            break;
        }
        groups = next;
    }
    (centres, groups)
}

/// The direction in which a group is widest, one standard deviation long; positive in its largest part.
fn widest_direction<'a>(
    rows: impl Iterator<Item = &'a Row>,
    centre: &Signature,
) -> Result<Signature> {
    let mut covariance = Small::zeros(WIDTH, WIDTH);
    let mut weight = 0.0;
    for row in rows {
        weight += row.weight;
        for i in 0..WIDTH {
            for j in 0..WIDTH {
                let product = (row.at[i] - centre[i]) * (row.at[j] - centre[j]);
                covariance.set(i, j, covariance.get(i, j) + row.weight * product);
            }
        }
    }
    let eigen = covariance.eigen()?;
    let length = (eigen.values[0].max(0.0) / weight.max(f64::MIN_POSITIVE)).sqrt();
    let direction: Signature = std::array::from_fn(|d| eigen.vectors.get(d, 0));
    let is_larger = |x: f64, most: f64| x.abs() > most.abs() + 1e-9;
    let larger = |most: f64, &x: &f64| if is_larger(x, most) { x } else { most };
    let largest = direction.iter().fold(0.0, larger);
    Ok(direction.map(|x| x * length * if largest < 0.0 { -1.0 } else { 1.0 }))
}

/// The components with the two joined that one Gaussian describes best together.
fn joined(components: &[Component]) -> Vec<Component> {
    let logs = |c: &Component| c.share * c.variance[..c.width].iter().map(|v| v.ln()).sum::<f64>();
    let own = |c: &Component| c.share * c.share.ln();
    let pairs = (0..components.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let costs = pairs.map(|(at, bt)| {
        let (a, b) = (&components[at], &components[bt]);
        let both = merged(a, b);
        let cost = logs(&both) - logs(a) - logs(b) - 2.0 * (own(&both) - own(a) - own(b));
        (cost, at, bt, both)
    });
    let least = costs.min_by(|x, y| x.0.total_cmp(&y.0));
    let (_, a, b, both) = least.expect("two components at least");
    let others = (0..components.len()).filter(|&k| k != a && k != b);
    others.map(|k| components[k]).chain([both]).collect()
}

fn merged(a: &Component, b: &Component) -> Component {
    let share = a.share + b.share;
    let mix = |x: f64, y: f64| (a.share * x + b.share * y) / share;
    let centre: Signature = std::array::from_fn(|d| mix(a.centre[d], b.centre[d]));
    let about = |c: &Component, d: usize| c.variance[d] + (c.centre[d] - centre[d]).powi(2);
    Component {
        share,
        centre,
        variance: std::array::from_fn(|d| mix(about(a, d), about(b, d))),
        width: a.width,
    }
}
