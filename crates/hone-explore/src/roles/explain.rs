//! Why a node has its role, and what would have given it another role.
//!
//! A ratio supports a role if it makes the role more likely than the next one. The three strongest are named with the
//! graph's average, unless they equal it.

use serde::Serialize;

use super::Roles;
use super::otherwise::{Change, rounded, said_to_change};
use super::signature::{RATIOS, Signature, WITHOUT_ARCS, is_defined, is_isolated, plain};

/// Reasons that are named.
const REASONS: usize = 3;

/// Why a node has its role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The role.
    pub role: String,
    /// The membership of the node.
    pub membership: f64,
    /// The ratios that support the role most, the strongest first: at most three, and none that equals the average.
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
    /// The ratios that would have made it so: the one whose least change is enough, then those that change with it. None where
    /// no change of one ratio is enough.
    pub changes: Vec<Value>,
}

/// A ratio and what it would have to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// Its name, one of [`RATIOS`].
    pub ratio: &'static str,
    /// Its value.
    pub value: f64,
}

/// A ratio that supports a role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// Its name, one of [`RATIOS`].
    pub ratio: &'static str,
    /// That of the node.
    pub value: f64,
    /// The mean over the nodes that can have it.
    pub average: f64,
}

/// An explanation and its sentences in parts, which many nodes share.
pub(crate) struct Why {
    /// The membership in percent.
    pub(crate) percent: u8,
    reasons: Vec<Reason>,
    otherwise: Option<Otherwise>,
    /// The reasons in words.
    because: Vec<String>,
    /// The second sentence.
    second: String,
}

impl Why {
    /// The reasons in words, as many as there may be, and the second sentence.
    pub(crate) fn parts(&self) -> [Option<&str>; REASONS + 1] {
        std::array::from_fn(|at| match at {
            REASONS => Some(self.second.as_str()),
            _ => self.because.get(at).map(String::as_str),
        })
    }
}

impl Roles {
    /// Why the node called `id` has its role.
    pub fn explain(&self, node: u32, id: &str) -> Explanation {
        let (own, why) = (self.role_of(node), self.why(node));
        let name = &self.roles[own].name;
        let mut text = format!("{id} is {} ({} %)", being(name), why.percent);
        if !why.because.is_empty() {
            text += &format!(" because {}", listed(&why.because));
        }
        Explanation {
            role: name.clone(),
            membership: f64::from(self.memberships(node)[own]),
            text: format!("{text}. {}", why.second),
            reasons: why.reasons,
            otherwise: why.otherwise,
        }
    }

    /// Why a node has its role, in parts.
    pub(crate) fn why(&self, node: u32) -> Why {
        let (own, at) = (self.role_of(node), self.signatures[node as usize]);
        let runner_up = self.runner_up(node, own);
        let ratios = self.ratios(node);
        let said = |d: usize| phrase(d, ratios[d], Some(self.averages[d]));
        let (otherwise, second) = match runner_up {
            None => (
                None,
                "All nodes of this graph have the same role.".to_owned(),
            ),
            Some(_) if is_isolated(&at) => (
                None,
                "Any edge would have given it another role.".to_owned(),
            ),
            Some(next) => self.other(&ratios, self.otherwise(node, own).as_ref(), next),
        };
        let telling = self.telling(node, own, runner_up);
        let reason = |&d: &usize| Reason {
            ratio: RATIOS[d],
            value: ratios[d],
            average: self.averages[d],
        };
        Why {
            percent: (100.0 * self.memberships(node)[own]).round_ties_even() as u8,
            reasons: telling.iter().map(reason).collect(),
            because: telling.into_iter().map(said).collect(),
            otherwise,
            second,
        }
    }

    /// The ratios of a node as they are named.
    pub(super) fn ratios(&self, node: u32) -> Signature {
        let mut ratios = plain(&self.signatures[node as usize]);
        ratios[0] = ratios[0].round();
        ratios
    }

    fn runner_up(&self, node: u32, own: usize) -> Option<usize> {
        let at = &self.signatures[node as usize];
        let others = (0..self.roles.len()).filter(|&k| k != own);
        let density = |k: usize| self.mixture.components[k].log_density(at);
        others.max_by(|&a, &b| density(a).total_cmp(&density(b)))
    }

    /// Ratios in the order in which they speak for a role and against another, or against the average node. Open pairs
    /// repeat what closed pairs say, and what equals the average is no reason.
    fn telling(&self, node: u32, own: usize, other: Option<usize>) -> Vec<usize> {
        let at = &self.signatures[node as usize];
        let gap = |k: usize, d: usize| {
            let c = &self.mixture.components[k];
            (at[d] - c.centre[d]).powi(2) / c.variance[d] + c.variance[d].ln()
        };
        let says = |d: usize| other.map_or(0.0, |other| gap(other, d) - gap(own, d));
        let ratios = self.ratios(node);
        let can_have = |d: usize| match d {
            4 => self.pairs_around(node) > 0.0,
            _ => d != 3 && is_defined(&ratios, d),
        };
        let differs = |d: usize| rounded(d, ratios[d]) != rounded(d, self.averages[d]);
        let mut order: Vec<usize> = (0..self.width())
            .filter(|&d| can_have(d) && differs(d))
            .collect();
        order.sort_by(|&a, &b| says(b).total_cmp(&says(a)).then(a.cmp(&b)));
        order.truncate(REASONS);
        order
    }

    /// What a change would have made of a node with these ratios, as it is and as a sentence; without one, its next role.
    fn other(
        &self,
        now: &Signature,
        change: Option<&Change>,
        next: usize,
    ) -> (Option<Otherwise>, String) {
        let Some(&Change {
            role,
            ratios,
            first,
            ..
        }) = change
        else {
            let role = self.roles[next].name.clone();
            let text = format!(
                "No single change would have given it another role; the next role is {role}."
            );
            let changes = Vec::new();
            return (Some(Otherwise { role, changes }), text);
        };
        let mut said: Vec<String> = said_to_change(now, &ratios, first)
            .into_iter()
            .map(|d| phrase(d, ratios[d], None))
            .collect();
        let mutual = |ratios: &Signature| rounded(6, 1.0 - ratios[6] - ratios[7]);
        if first >= WITHOUT_ARCS && mutual(now) != mutual(&ratios) {
            let share = percent(1.0 - ratios[6] - ratios[7]);
            said.push(format!("it had arcs both ways with {share} of them"));
        }
        let role = self.roles[role].name.clone();
        let text = format!("It would have been {} if {}.", being(&role), listed(&said));
        let others = (0..self.width()).filter(|&d| d != first && ratios[d] != now[d]);
        let changes = std::iter::once(first).chain(others).map(|d| Value {
            ratio: RATIOS[d],
            value: ratios[d],
        });
        let changes = changes.collect();
        (Some(Otherwise { role, changes }), text)
    }
}

/// What a node with a role is: `a hub`, `in a chain`, `isolated`; numbers of roles that share a name follow.
pub(crate) fn being(name: &str) -> String {
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
fn phrase(ratio: usize, value: f64, average: Option<f64>) -> String {
    let show = |value: f64| match ratio {
        0 | 1 => number(value),
        _ => percent(value),
    };
    let shown = show(value);
    let verb = |now: &'static str, then: &'static str| if average.is_some() { now } else { then };
    let plural = if shown == "1" {
        "neighbour"
    } else {
        "neighbours"
    };
    let text = match RATIOS[ratio] {
        "degree" if shown == "0" => format!("it {} no neighbours", verb("has", "had")),
        "degree" => format!("it {} {shown} {plural}", verb("has", "had")),
        "neighbour-degree" => format!(
            "its neighbours {} {shown} {plural} each",
            verb("have", "had")
        ),
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
    average.map_or(text.clone(), |mean| {
        format!("{text} (average {})", show(mean))
    })
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * rounded(6, share))
}

/// Whole numbers as they are, others with one digit.
fn number(value: f64) -> String {
    let rounded = rounded(0, value);
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
