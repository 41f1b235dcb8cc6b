//! The number of roles, and their initial groups: groups are split until there are many, then merged while
//! that lowers the cost.
//!
//! The widest group is split along its widest direction, until there are [`MOST`]; then the two groups that a single
//! Gaussian describes best are merged, again and again. The mixture is fitted again at every size, and the one
//! with the least integrated completed likelihood cost is kept. Nothing is random, and rows are sorted, so neither a
//! seed nor the order of nodes matters. Cost: O(rows · MOST²) on at most [`SAMPLE`] rows.

use hone::dense::Small;
use hone::parallel;
use hone::{Error, Progress, Result};

use super::mixture::{Component, Mixture, Moments, RESOLUTION, Row};
use super::signature::{Signature, WIDTH, is_isolated};

/// Maximum number of roles that are tried.
pub const MOST: usize = 12;
/// Rows used to choose the number of roles; of more, evenly spaced ones.
const SAMPLE: usize = 20_000;
/// Iterations of a fit.
const ITERATIONS: usize = 60;
/// Assignments to the nearest centre after a split.
const SETTLING: usize = 20;
/// Rows whose squared distance is at most this differ by rounding.
const EQUAL: f64 = 1e-12;

/// The mixture with `wanted` components, or with the lowest cost. Fewer than requested if there are fewer distinct
/// rows. The first `width` ratios are used.
pub(crate) fn choose(
    rows: &[Row],
    wanted: Option<usize>,
    width: usize,
    progress: &dyn Progress,
) -> Result<Mixture> {
    let rows = &thinned(rows);
    let nodes: f64 = rows.iter().map(|row| row.weight).sum();
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

/// Exactly `wanted` groups, the largest first: each row belongs to the nearest of some rows that are far apart. For where a
/// mixture has fewer groups than were asked for. Fails if there are fewer different rows.
pub(crate) fn nearest(
    rows: &[Row],
    wanted: usize,
    width: usize,
    progress: &dyn Progress,
) -> Result<Vec<Component>> {
    let gap = |centres: &[Signature], row: &Row| {
        let gaps = centres.iter().map(|centre| squared(&row.at, centre));
        gaps.fold(f64::INFINITY, f64::min)
    };
    let (alone, others): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| is_isolated(&row.at));
    let mut centres: Vec<Signature> = alone.iter().take(1).map(|row| row.at).collect();
    let others = thinned(&others);
    for group in split(&others, wanted - centres.len(), width, progress)? {
        let near = |row: &&Row| squared(&row.at, &group.centre);
        let middle = others.iter().min_by(|a, b| near(a).total_cmp(&near(b)));
        centres.extend(
            middle
                .filter(|row| gap(&centres, row) > EQUAL)
                .map(|row| row.at),
        );
    }
    while centres.len() < wanted {
        progress.check()?;
        let gaps = parallel::collect(rows.len(), |i| gap(&centres, &rows[i]));
        let farthest =
            (0..rows.len()).fold(0, |best, i| if gaps[i] > gaps[best] { i } else { best });
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
    let apart = (0..wanted).map(|k| {
        let others = centres[..k].iter();
        others
            .map(|other| squared(&centres[k], other))
            .fold(f64::INFINITY, f64::min)
    });
    // So narrow that each of these rows clearly belongs to its own group.
    let variance = (apart.fold(f64::INFINITY, f64::min) / 8.0).min(RESOLUTION * RESOLUTION);
    let mut sizes = vec![0.0; wanted];
    let components: Vec<Component> = centres
        .iter()
        .map(|&centre| Component {
            share: 1.0 / wanted as f64,
            centre,
            variance: [variance; WIDTH],
            width,
        })
        .collect();
    for row in rows {
        sizes[nearest_of(&centres, row)] += row.weight;
    }
    let mut order: Vec<usize> = (0..wanted).collect();
    order.sort_by(|&a, &b| f64::total_cmp(&sizes[b], &sizes[a]));
    Ok(order.into_iter().map(|k| components[k]).collect())
}

/// The centre that is nearest to a row, the first among equals.
fn nearest_of(centres: &[Signature], row: &Row) -> usize {
    let gap = |k: usize| squared(&row.at, &centres[k]);
    (1..centres.len()).fold(0, |best, k| if gap(k) < gap(best) { k } else { best })
}

/// At most [`SAMPLE`] rows, each for as many nodes as lie between it and the next.
fn thinned(rows: &[Row]) -> Vec<Row> {
    if rows.len() <= SAMPLE {
        return rows.to_vec();
    }
    let pieces = (0..SAMPLE).map(|s| &rows[s * rows.len() / SAMPLE..(s + 1) * rows.len() / SAMPLE]);
    pieces
        .map(|piece| Row {
            at: piece[piece.len() / 2].at,
            weight: piece.iter().map(|row| row.weight).sum(),
        })
        .collect()
}

/// Centres of up to `most` groups, as components.
fn split(
    rows: &[Row],
    most: usize,
    width: usize,
    progress: &dyn Progress,
) -> Result<Vec<Component>> {
    let total: f64 = rows.iter().map(|row| row.weight).sum();
    let (mut centres, mut groups) = settled(rows, vec![mean(rows, |_| true)]);
    while centres.len() < most {
        progress.check()?;
        let spread = |k: usize| -> f64 {
            let own = rows.iter().zip(&groups).filter(|(_, group)| **group == k);
            own.map(|(row, _)| row.weight * squared(&row.at, &centres[k]))
                .sum()
        };
        let spreads: Vec<f64> = (0..centres.len()).map(spread).collect();
        let widest = (0..spreads.len()).fold(
            0,
            |best, k| if spreads[k] > spreads[best] { k } else { best },
        );
        if spreads[widest] <= 1e-12 * total {
            break;
        }
        let step = widest_direction(rows, &groups, widest, &centres[widest])?;
        let shifted = |sign: f64| std::array::from_fn(|d| centres[widest][d] + sign * step[d]);
        let (low, high) = (shifted(-1.0), shifted(1.0));
        centres[widest] = low;
        centres.push(high);
        (centres, groups) = settled(rows, centres);
    }
    let component = |k: usize| {
        let mut moments = Moments::new(width);
        rows.iter()
            .zip(&groups)
            .filter(|(_, group)| **group == k)
            .for_each(|(row, _)| moments.add(&row.at, row.weight));
        moments.component(total)
    };
    let components = (0..centres.len()).map(component);
    Ok(components
        .filter(|component| component.share > 0.0)
        .collect())
}

fn mean(rows: &[Row], own: impl Fn(usize) -> bool) -> Signature {
    let (mut sum, mut weight) = ([0.0; WIDTH], 0.0);
    for (_, row) in rows.iter().enumerate().filter(|(at, _)| own(*at)) {
        weight += row.weight;
        (0..WIDTH).for_each(|d| sum[d] += row.weight * row.at[d]);
    }
    sum.map(|sum: f64| if weight > 0.0 { sum / weight } else { 0.0 })
}

fn squared(a: &Signature, b: &Signature) -> f64 {
    (0..WIDTH).map(|d| (a[d] - b[d]).powi(2)).sum()
}

/// Centres after some rounds of assigning rows to the nearest; and the group of every row.
fn settled(rows: &[Row], mut centres: Vec<Signature>) -> (Vec<Signature>, Vec<usize>) {
    let mut groups: Vec<usize> = rows.iter().map(|row| nearest_of(&centres, row)).collect();
    for _ in 0..SETTLING {
        for k in 0..centres.len() {
            if groups.contains(&k) {
                centres[k] = mean(rows, |at| groups[at] == k);
            }
        }
        let next: Vec<usize> = rows.iter().map(|row| nearest_of(&centres, row)).collect();
        if next == groups {
            break;
        }
        groups = next;
    }
    (centres, groups)
}

/// The direction in which a group is widest, one standard deviation long; positive in its largest part.
fn widest_direction(
    rows: &[Row],
    groups: &[usize],
    k: usize,
    centre: &Signature,
) -> Result<Signature> {
    let mut covariance = Small::zeros(WIDTH, WIDTH);
    let mut weight = 0.0;
    for (row, _) in rows.iter().zip(groups).filter(|(_, group)| **group == k) {
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
    let largest = direction.iter().fold(0.0f64, |most, x| {
        if x.abs() > most.abs() + 1e-9 {
            *x
        } else {
            most
        }
    });
    Ok(direction.map(|x| x * length * if largest < 0.0 { -1.0 } else { 1.0 }))
}

/// The components with the two joined that one Gaussian describes best together.
fn joined(components: &[Component]) -> Vec<Component> {
    let pairs = (0..components.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let costs = pairs.map(|(a, b)| (a, b, merged(&components[a], &components[b])));
    let logs = |c: &Component| c.share * c.variance[..c.width].iter().map(|v| v.ln()).sum::<f64>();
    let own = |c: &Component| c.share * c.share.ln();
    let cost = |a: &Component, b: &Component, m: &Component| {
        logs(m) - logs(a) - logs(b) - 2.0 * (own(m) - own(a) - own(b))
    };
    let costs = costs.map(|(a, b, m)| (cost(&components[a], &components[b], &m), a, b, m));
    let (_, a, b, both) = costs
        .min_by(|x, y| x.0.total_cmp(&y.0))
        .expect("two components at least");
    let others = components
        .iter()
        .enumerate()
        .filter(|(k, _)| *k != a && *k != b)
        .map(|(_, component)| *component);
    others.chain([both]).collect()
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
