//! Why a node has its role, and what would have given it another role.
//!
//! A ratio supports a role if it makes the role more likely than the next one. The three strongest are named with the
//! graph's average, unless they equal it.
//!
//! What would have given it another role is the smallest change of one ratio, with all that must change with it.
//! Ratios depend on each other. Pairs of neighbours are closed or open; arcs join a node to each of its neighbours one way, the
//! other way, or both; triples are cliques only where pairs are linked (Kruskal 1963, Katona 1968; Goodman 1959), and linked
//! neighbours have each other as neighbours. A change is made of whole neighbours, pairs and triples, in steps of a percent, or of
//! two percent of large numbers. Each is carried out: the new ratios are classified again, as they are and as the sentence
//! rounds them. Cost: some hundred densities per node.

use serde::Serialize;

use super::Roles;
use super::mixture::largest;
use super::signature::{RATIOS, Signature, WIDTH, WITHOUT_ARCS, is_defined, is_isolated, scaled};

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
            None => (None, "All nodes of this graph have the same role.".into()),
            Some(_) if is_isolated(&at) => {
                (None, "Any edge would have given it another role.".into())
            }
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
        let Some(change) = change else {
            let role = self.roles[next].name.clone();
            let text = format!(
                "No single change would have given it another role; the next role is {role}."
            );
            let changes = Vec::new();
            return (Some(Otherwise { role, changes }), text);
        };
        let (to, first) = (&change.ratios, change.first);
        let said = said_to_change(now, to, first).into_iter();
        let mut said: Vec<String> = said.map(|d| phrase(d, to[d], None)).collect();
        let mutual = |ratios: &Signature| rounded(6, 1.0 - ratios[6] - ratios[7]);
        if first >= WITHOUT_ARCS && mutual(now) != mutual(to) {
            let share = percent(1.0 - to[6] - to[7]);
            said.push(format!("it had arcs both ways with {share} of them"));
        }
        let role = self.roles[change.role].name.clone();
        let text = format!("It would have been {} if {}.", being(&role), listed(&said));
        let others = (0..self.width()).filter(|&d| d != first && to[d] != now[d]);
        let value = |d: usize| Value {
            ratio: RATIOS[d],
            value: to[d],
        };
        let changes = std::iter::once(first).chain(others).map(value).collect();
        (Some(Otherwise { role, changes }), text)
    }
}

/// What a node with a role is: `a hub`, `in a chain`, `isolated`; numbers of roles that share a name follow.
pub(crate) fn being(name: &str) -> String {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let base = base.trim_end();
    let ends = |ends: [&str; 2]| ends.iter().any(|end| base.ends_with(end));
    let article = match base {
        "isolated" => "",
        _ if ends(["core", "periphery"]) => "in the ",
        _ if ends(["chain", "near-clique"]) => "in a ",
        _ if base.starts_with(['a', 'e', 'i', 'o', 'u']) => "an ",
        _ => "a ",
    };
    match name[base.len()..].trim() {
        "" => format!("{article}{base}"),
        number => format!("{article}{base} ({number})"),
    }
}

/// A ratio as part of a sentence: with the average as a reason, without it as what would have to be.
fn phrase(ratio: usize, value: f64, average: Option<f64>) -> String {
    let show = |value: f64| match ratio {
        0 | 1 => number(value),
        _ => percent(value),
    };
    let shown = show(value);
    let now = average.is_some();
    let (has, have) = if now { ("has", "have") } else { ("had", "had") };
    let (are, form) = if now {
        ("are", "form")
    } else {
        ("were", "formed")
    };
    let s = if shown == "1" { "" } else { "s" };
    let text = match RATIOS[ratio] {
        "degree" if shown == "0" => format!("it {has} no neighbours"),
        "degree" => format!("it {has} {shown} neighbour{s}"),
        "neighbour-degree" => format!("its neighbours {have} {shown} neighbour{s} each"),
        "closed-pairs" => format!("{shown} of the pairs of its neighbours {are} linked"),
        "out-only" => format!("it {has} arcs to {shown} of its neighbours and none back"),
        "in-only" => format!("{shown} of its neighbours {have} arcs to it and none back"),
        "closed-around" => format!("{shown} of the pairs around its neighbours {are} linked"),
        _ => format!("{shown} of the triples of its neighbours {form} a clique with it"),
    };
    match average {
        Some(mean) => format!("{text} (average {})", show(mean)),
        None => text,
    }
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

/// Relative steps of large numbers.
const STEP: f64 = 1.02;
/// What is left of equal ratios is rounding.
const EQUAL: f64 = 1e-9;

/// A role that a node would have, and the ratios that would have given it.
#[derive(Debug, Clone)]
struct Change {
    role: usize,
    /// The ratios afterwards, as they are named.
    ratios: Signature,
    /// The ratio that was changed; others follow.
    first: usize,
    /// How far it is, in units of a signature.
    far: f64,
}

/// The search for the smallest change of one node.
struct Search<'a> {
    roles: &'a Roles,
    own: usize,
    at: Signature,
    /// The ratios as they are named.
    now: Signature,
    /// Logarithms of the densities at `at`.
    logs: Vec<f64>,
    /// Pairs around the neighbours, linked or not.
    around: f64,
    best: Option<Change>,
}

impl Roles {
    /// The smallest change of one ratio after which a node has another role than its own; none if there is none, or for a node
    /// without neighbours.
    fn otherwise(&self, node: u32, own: usize) -> Option<Change> {
        let at = self.signatures[node as usize];
        if is_isolated(&at) || self.roles.len() < 2 {
            return None;
        }
        let now = self.ratios(node);
        let components = self.mixture.components.iter();
        let mut search = Search {
            roles: self,
            own,
            at,
            now,
            logs: components.map(|c| c.log_density(&at)).collect(),
            around: self.pairs_around(node),
            best: None,
        };
        let (k, most) = (now[0], self.nodes() as f64 - 1.0);
        search.along(0, &numbers(1.0, most), false);
        search.along(1, &numbers(if k == 1.0 { 1.0 } else { 10.0 }, most), false);
        search.along(2, &shares(pairs(k)), false);
        search.along(4, &shares(search.around), false);
        search.along(5, &shares(triples(k)), false);
        if self.width() == WIDTH {
            for exchanged in [false, true] {
                search.along(WITHOUT_ARCS, &shares(k), exchanged);
            }
            search.along(WITHOUT_ARCS + 1, &shares(k), false);
        }
        search.best
    }
}

impl Search<'_> {
    /// Looks for the first of these values of ratio `d` above and below its own that give another role.
    fn along(&mut self, d: usize, values: &[f64], exchanged: bool) {
        let now = self.now[d];
        self.first(d, values.iter().filter(|&&v| v > now + EQUAL), exchanged);
        let below = values.iter().rev().filter(|&&v| v < now - EQUAL);
        self.first(d, below, exchanged);
    }

    fn first<'v>(&mut self, d: usize, values: impl Iterator<Item = &'v f64>, exchanged: bool) {
        for &value in values {
            let Some(ratios) = self.after(d, value, exchanged) else {
                continue;
            };
            let moved = self.signature(&ratios);
            let limit = self.best.as_ref().map_or(f64::INFINITY, |best| best.far);
            if (moved[d] - self.at[d]).abs() >= limit {
                return;
            }
            let gaps = moved.iter().zip(&self.at).map(|(a, b)| (a - b).powi(2));
            let far = gaps.sum::<f64>().sqrt();
            let role = self.likeliest(&moved);
            if role == self.own || far >= limit {
                continue;
            }
            let said = self.signature(&as_said(&self.now, &ratios, d));
            if self.roles.role_at(&moved) == role && self.roles.role_at(&said) == role {
                self.best = Some(Change {
                    role,
                    ratios,
                    first: d,
                    far,
                });
                return;
            }
        }
    }

    /// The ratios after ratio `d` has become `value`, with what follows from it; none where no node has them. What one kind of
    /// one-way arcs gains the other loses if `exchanged`, else arcs both ways do.
    fn after(&self, d: usize, value: f64, exchanged: bool) -> Option<Signature> {
        let mut to = self.now;
        to[d] = value;
        if d == 0 {
            self.follow_degree(&mut to);
        }
        if d == 2 {
            to[3] = 1.0 - value;
        }
        let (all, (low, high)) = (triples(to[0]), cliques(&to));
        match d {
            0 | 2 if low > high => return None,
            0 | 2 if all > 0.0 => to[5] = (to[5] * all).round().clamp(low, high) / all,
            0 | 2 => to[5] = 0.0,
            5 if !(low..=high).contains(&(value * all).round()) => return None,
            _ => {}
        }
        let least = self.least_around(&to, d == 1);
        match d {
            0 | 2 if to[1] < least - EQUAL => to[1] = (10.0 * least - EQUAL).ceil() / 10.0,
            1 if value < least - EQUAL => return None,
            _ => {}
        }
        if d >= WITHOUT_ARCS {
            let other = 2 * WITHOUT_ARCS + 1 - d;
            if exchanged {
                to[other] -= value - self.now[d];
            }
            if to[other] < -EQUAL || to[d] + to[other] > 1.0 + EQUAL {
                return None;
            }
            to[other] = to[other].max(0.0);
        }
        (to[1] <= self.roles.nodes() as f64 - 1.0).then_some(to)
    }

    /// Shares of another number of neighbours: about the same, of whole things. Pairs that were not there are open.
    fn follow_degree(&self, to: &mut Signature) {
        let k = to[0];
        if k < 2.0 {
            (to[2], to[3]) = (0.0, 0.0);
            to[1] = to[1].round().max(1.0);
        } else {
            to[2] = whole(to[2], pairs(k));
            to[3] = 1.0 - to[2];
        }
        to[6] = whole(to[6], k);
        to[7] = whole(to[7], k).min(1.0 - to[6]);
    }

    /// What neighbours have at least: this node, the neighbours that they are linked to, and what lies around them. Their geometric
    /// mean may be lower than the mean by as much as it is now.
    fn least_around(&self, to: &Signature, alone: bool) -> f64 {
        let linked = |ratios: &Signature| 1.0 + ratios[2] * (ratios[0] - 1.0);
        let beyond = if alone && self.around > 0.0 {
            2.0 / to[0]
        } else {
            0.0
        };
        (linked(to) + beyond) * (self.now[1] / linked(&self.now)).min(1.0)
    }

    /// Ratios as they are named, scaled; those that have not changed keep their bits.
    fn signature(&self, ratios: &Signature) -> Signature {
        let moved = scaled(ratios);
        std::array::from_fn(|d| {
            if ratios[d] == self.now[d] {
                self.at[d]
            } else {
                moved[d]
            }
        })
    }

    /// The most likely role at a place that differs in a few ratios.
    fn likeliest(&self, moved: &Signature) -> usize {
        let width = self.roles.width();
        let log = |k: usize| {
            let c = &self.roles.mixture.components[k];
            let changed = (0..width).filter(|&d| moved[d] != self.at[d]);
            let gain = |d: usize| {
                ((self.at[d] - c.centre[d]).powi(2) - (moved[d] - c.centre[d]).powi(2))
                    / c.variance[d]
            };
            self.logs[k] + 0.5 * changed.map(gain).sum::<f64>()
        };
        largest(self.logs.len(), log)
    }
}

/// The ratios that a change is said to lead to: rounded where it is said, the others as they are, and none that the node cannot
/// have any more.
fn as_said(now: &Signature, to: &Signature, first: usize) -> Signature {
    let mut said: Signature = std::array::from_fn(|d| if is_defined(to, d) { now[d] } else { 0.0 });
    let changed = said_to_change(now, to, first);
    changed.iter().for_each(|&d| said[d] = rounded(d, to[d]));
    if changed.contains(&2) {
        said[3] = 1.0 - said[2];
    }
    said
}

/// The ratios that a sentence about a change names: the one that was changed, and those that then differ when rounded, or are
/// new. Open pairs are what closed pairs leave, and about the same shares of other numbers of neighbours are no change.
fn said_to_change(now: &Signature, to: &Signature, first: usize) -> Vec<usize> {
    let differs = |d: usize| rounded(d, now[d]) != rounded(d, to[d]);
    let is_new = |d: usize| d == 2 && !is_defined(now, d);
    let changes = |d: usize| match (first, d) {
        (_, 3) => false,
        (0, 2 | 6 | 7) => is_new(d),
        (0, 5) => (to[d] - now[d]).abs() * triples(to[0]) > 0.5 + EQUAL,
        _ => differs(d) || is_new(d),
    };
    let follows = |&d: &usize| d != first && is_defined(to, d) && changes(d);
    std::iter::once(first)
        .chain((0..WIDTH).filter(follows))
        .collect()
}

/// A ratio as sentences have it: tenths of numbers, percents of shares.
fn rounded(d: usize, value: f64) -> f64 {
    let units = if d < 2 { 10.0 } else { 100.0 };
    (units * value).round_ties_even() / units
}

fn pairs(k: f64) -> f64 {
    k * (k - 1.0) / 2.0
}

fn triples(k: f64) -> f64 {
    k * (k - 1.0) * (k - 2.0) / 6.0
}

/// The nearest share of `all` things that is made of whole ones.
fn whole(share: f64, all: f64) -> f64 {
    if all > 0.0 {
        (share * all).round() / all
    } else {
        0.0
    }
}

/// Shares of `all` things that are made of whole ones, about a percent apart, ascending.
fn shares(all: f64) -> Vec<f64> {
    let mut values: Vec<f64> = (0..=100)
        .map(|q| whole(f64::from(q) / 100.0, all))
        .collect();
    values.dedup();
    values
}

/// Numbers from one to `most`, in steps of a `per`th or of two percent.
fn numbers(per: f64, most: f64) -> Vec<f64> {
    let next = |&last: &f64| Some((last + 1.0).max((last * STEP).round()));
    let units = std::iter::successors(Some(per), next);
    let values = units.map(|units| units / per);
    values.take_while(|&value| value <= most).collect()
}

/// The least and the largest number of cliques with a node of this share of linked pairs among its neighbours.
fn cliques(ratios: &Signature) -> (f64, f64) {
    let k = ratios[0];
    let linked = ratios[2] * pairs(k);
    let least = linked * (4.0 * linked - k * k) / (3.0 * k);
    // As many pairs as this many nodes have.
    let nodes = 0.5 + (0.25 + 2.0 * linked).sqrt();
    let most = triples(nodes).clamp(0.0, triples(k));
    let (low, high) = (least * (1.0 - EQUAL) - EQUAL, most * (1.0 + EQUAL) + EQUAL);
    (low.ceil().max(0.0), high.floor())
}
