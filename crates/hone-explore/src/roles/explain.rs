//! Why a node has its role, and what would have given it another role.
//!
//! A ratio supports a role if it makes the role more likely than the next one. The three strongest are named with the
//! graph's average. What would have given the node another role is the smallest change of one ratio that makes another
//! role the most likely; ratios move from their value towards that of the typical node of each other role.

use serde::Serialize;

use super::Roles;
use super::signature::{SIDE, Signature, WITHOUT_ARCS, is_defined, is_isolated, plain};

/// Steps from a node's ratio to that of a typical node of another role.
const STEPS: usize = 200;

/// Why a node has its role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The role.
    pub role: String,
    /// The membership of the node.
    pub membership: f64,
    /// The three ratios that support the role most, the strongest first.
    pub reasons: Vec<Reason>,
    /// The role that it would have otherwise; none where there is no other.
    pub otherwise: Option<Otherwise>,
    /// Two sentences: why it has the role, and what would have given it another role.
    pub text: String,
}

/// What a node would have been otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Otherwise {
    /// The role.
    pub role: String,
    /// The ratio whose least change would have made it so, one of [`RATIOS`](super::RATIOS); none where no single change would.
    pub ratio: Option<&'static str>,
    /// What it would have to be.
    pub value: Option<f64>,
}

/// A ratio that supports a role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// Its name, one of [`RATIOS`](super::RATIOS).
    pub ratio: &'static str,
    /// That of the node.
    pub value: f64,
    /// The mean over the nodes that can have it.
    pub average: f64,
}

/// A change of one ratio after which another role is the most likely.
struct Change {
    ratio: usize,
    to: f64,
    role: usize,
    /// How far it is, in units of a signature.
    far: f64,
}

impl Roles {
    /// Why the node called `id` has its role.
    pub fn explain(&self, node: u32, id: &str) -> Explanation {
        let (own, at) = (self.role_of(node), self.signatures[node as usize]);
        let runner_up = self.runner_up(node, own);
        let values = plain(&at);
        if is_isolated(&at) && self.roles.len() > 1 {
            return self.alone(id, own, self.memberships(node)[own]);
        }
        let reasons: Vec<Reason> = self
            .telling(&at, own, runner_up)
            .into_iter()
            .map(|d| Reason {
                ratio: super::RATIOS[d],
                value: values[d],
                average: self.averages[d],
            })
            .collect();
        let membership = f64::from(self.memberships(node)[own]);
        let name = &self.roles[own].name;
        let said: Vec<String> = reasons
            .iter()
            .map(|r| phrase(r.ratio, r.value, Some(r.average)))
            .collect();
        let first = format!(
            "{id} is {} ({:.0} %) because {}.",
            being(name),
            100.0 * membership,
            listed(&said)
        );
        let (otherwise, second) = self.other(&at, own, runner_up);
        Explanation {
            role: name.clone(),
            membership,
            reasons,
            otherwise,
            text: format!("{first} {second}"),
        }
    }

    /// Why a node without neighbours has its role.
    fn alone(&self, id: &str, own: usize, membership: f32) -> Explanation {
        let name = &self.roles[own].name;
        let reasons = vec![Reason {
            ratio: super::RATIOS[0],
            value: 0.0,
            average: self.averages[0],
        }];
        let average = number(self.averages[0]);
        let text = format!(
            "{id} is {} because it has no neighbours (average {average}). Any edge would have given it another role.",
            being(name)
        );
        Explanation {
            role: name.clone(),
            membership: f64::from(membership),
            reasons,
            otherwise: None,
            text,
        }
    }

    fn runner_up(&self, node: u32, own: usize) -> Option<usize> {
        let at = &self.signatures[node as usize];
        let others = (0..self.roles.len()).filter(|&k| k != own);
        let density = |k: usize| self.mixture.components[k].log_density(at);
        others.max_by(|&a, &b| density(a).total_cmp(&density(b)))
    }

    /// Ratios in the order in which they speak for a role and against another, or against the average node. Open pairs
    /// repeat what closed pairs say.
    fn telling(&self, at: &Signature, own: usize, other: Option<usize>) -> Vec<usize> {
        let gap = |k: usize, d: usize| {
            let c = &self.mixture.components[k];
            (at[d] - c.centre[d]).powi(2) / c.variance[d] + c.variance[d].ln()
        };
        let says = |d: usize| other.map_or(0.0, |other| gap(other, d) - gap(own, d));
        let ratios = plain(at);
        let mut order: Vec<usize> = (0..self.width())
            .filter(|&d| d != 3 && is_defined(&ratios, d))
            .collect();
        order.sort_by(|&a, &b| says(b).total_cmp(&says(a)).then(a.cmp(&b)));
        order.truncate(3);
        order
    }

    /// The mean of each ratio over the nodes that can have it.
    pub(crate) fn averages(&self) -> Signature {
        self.averages
    }

    /// The role that the node is closest to having instead, and a sentence about it.
    fn other(
        &self,
        at: &Signature,
        own: usize,
        runner_up: Option<usize>,
    ) -> (Option<Otherwise>, String) {
        let Some(runner_up) = runner_up else {
            return (None, "All nodes of this graph have the same role.".into());
        };
        let ratios = plain(at);
        let may = (0..self.width()).filter(|&d| d != 3 && is_defined(&ratios, d));
        let Some(change) = may
            .filter_map(|d| self.change(at, own, d))
            .min_by(|a, b| a.far.total_cmp(&b.far))
        else {
            let role = self.roles[runner_up].name.clone();
            let text = format!(
                "No single change would have given it another role; the next role is {role}."
            );
            return (
                Some(Otherwise {
                    role,
                    ratio: None,
                    value: None,
                }),
                text,
            );
        };
        let mut moved = *at;
        moved[change.ratio] = change.to;
        let (role, ratio) = (
            self.roles[change.role].name.clone(),
            super::RATIOS[change.ratio],
        );
        let to = plain(&moved)[change.ratio];
        // Neighbours are whole: as many as are enough.
        let whole = |value: f64| {
            if change.to > at[change.ratio] {
                (value - 1e-9).ceil()
            } else {
                (value + 1e-9).floor()
            }
        };
        let value = match change.ratio {
            0 => whole(to),
            d if d >= WITHOUT_ARCS => whole(to * ratios[0].round()) / ratios[0].round().max(1.0),
            _ => to,
        };
        let text = format!(
            "It would have been {} if {}.",
            being(&role),
            phrase(ratio, value, None)
        );
        (
            Some(Otherwise {
                role,
                ratio: Some(ratio),
                value: Some(value),
            }),
            text,
        )
    }

    /// The least change of ratio `d` that makes another role the most likely.
    fn change(&self, at: &Signature, own: usize, d: usize) -> Option<Change> {
        let best = |at: &Signature| {
            let density = |k: usize| self.mixture.components[k].log_density(at);
            (1..self.roles.len()).fold(
                0,
                |best, k| if density(k) > density(best) { k } else { best },
            )
        };
        let towards = |k: usize| {
            let target = self.mixture.components[k].centre[d];
            (1..=STEPS).find_map(|step| {
                let mut moved = *at;
                moved[d] += (target - at[d]) * step as f64 / STEPS as f64;
                if d == 2 && moved[3] + at[2] > 0.0 {
                    // A pair is either closed or open.
                    moved[3] = 1.5 * (1.0 - moved[2] / 2.0);
                }
                if d >= WITHOUT_ARCS {
                    // What is gained on one side is lost on the other where all neighbours are taken.
                    let other = if d == WITHOUT_ARCS { d + 1 } else { d - 1 };
                    moved[other] = moved[other].min(SIDE - moved[d]);
                }
                let role = best(&moved);
                (role != own).then(|| Change {
                    ratio: d,
                    to: moved[d],
                    role,
                    far: (moved[d] - at[d]).abs(),
                })
            })
        };
        // No single change of a ratio leaves a node without neighbours.
        let others = (0..self.roles.len())
            .filter(|&k| k != own && !is_isolated(&self.mixture.components[k].centre));
        let changes = others.filter_map(towards);
        changes.min_by(|a, b| a.far.total_cmp(&b.far))
    }
}

/// What a node with a role is: `a hub`, `in a chain`, `isolated`; numbers of roles that share a name follow.
fn being(name: &str) -> String {
    let base = name
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end();
    let number = name[base.len()..].trim();
    let text = match base {
        "isolated" => base.to_owned(),
        _ if ["core", "periphery"].iter().any(|end| base.ends_with(end)) => {
            format!("in the {base}")
        }
        _ if ["chain", "near-clique"]
            .iter()
            .any(|end| base.ends_with(end)) =>
        {
            format!("in a {base}")
        }
        _ if base.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {base}"),
        _ => format!("a {base}"),
    };
    if number.is_empty() {
        text
    } else {
        format!("{text} ({number})")
    }
}

/// A ratio as part of a sentence: with the average as a reason, without it as what would have to be.
fn phrase(ratio: &str, value: f64, average: Option<f64>) -> String {
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    let (shown, mean): (String, Option<String>) = match ratio {
        "degree" | "neighbour-degree" => (number(value), average.map(number)),
        _ => (percent(value), average.map(percent)),
    };
    let verb = |now: &'static str, then: &'static str| if average.is_some() { now } else { then };
    let text = match ratio {
        "degree" => {
            let plural = if shown == "1" {
                "neighbour"
            } else {
                "neighbours"
            };
            format!("it {} {shown} {plural}", verb("has", "had"))
        }
        "neighbour-degree" => {
            let plural = if shown == "1" {
                "neighbour"
            } else {
                "neighbours"
            };
            format!(
                "its neighbours {} {shown} {plural} each",
                verb("have", "had")
            )
        }
        "closed-pairs" => format!(
            "{shown} of the pairs of its neighbours {} linked",
            verb("are", "were")
        ),
        "out-only" => format!(
            "it {} arcs to {shown} of its neighbours and none back",
            verb("has", "had")
        ),
        "in-only" => format!(
            "{shown} of its neighbours {} arcs to it and none back",
            verb("have", "had")
        ),
        "closed-around" => format!(
            "{shown} of the pairs around its neighbours {} linked",
            verb("are", "were")
        ),
        _ => format!(
            "{shown} of the triples of its neighbours {} a clique with it",
            verb("form", "formed")
        ),
    };
    mean.map_or(text.clone(), |mean| format!("{text} (average {mean})"))
}

/// Whole numbers as they are, others with one digit.
fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 {
        format!("{rounded:.0}")
    } else {
        format!("{rounded:.1}")
    }
}

/// Parts of a sentence: `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => parts.concat(),
    }
}
