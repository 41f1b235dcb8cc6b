//! The page: a template, its style and script, what the map is about as JSON, and arrays as compressed text: planes of
//! bytes, variable-length numbers, zlib, base64.
//!
//! Names come from the user and go into JSON and, in the title alone, into markup: there every `<`, `>` and `&` is written in
//! a form that is never markup. The script sets all texts as texts.
//!
//! Nodes are numbered along a curve over the picture (`Map::order`), so neighbours and edges are small differences. Counts
//! keep eleven bits and an exponent: exact up to 2047, within .05 % beyond. Of a graph of more than [`LARGE`] nodes fewer
//! neighbours and rougher counts are kept, and edges are left out where the page would be larger than [`PAGE`].

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hone::graph::{Graph, NodeId, NodeIds};
use hone::motif::{Graphlet, Motif, NODE_ORBITS};
use hone::parallel;
use hone::{Progress, Result};
use serde_json::{Value, json};

use super::colour::{SHAPES, Scheme, ramp};
use super::{Colour, FEW_EDGES, MUTED, Map, OPACITY, order};
use crate::draw::escape;
use crate::layout::Placed;
use crate::roles::{MotifScore, Role, Why, being};
use crate::space::LARGE;

/// Neighbours of each node, in a small graph and in a large one.
const NEAR: [usize; 2] = [10, 5];
/// Edges that are kept; of more, none.
const EDGES: usize = 12_000_000;
/// Bytes of all sections, at most; edges are left out beyond.
const PAGE: usize = 58_000_000;
/// The sections of edges and of their directions.
const LINKS: [&str; 2] = ["edges", "directions"];
/// Integers beyond this are not exact in the page, and go as text.
const EXACT: i64 = 1 << 53;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: [&str; 5] = [
    include_str!("page/data.js"),
    include_str!("page/plot.js"),
    include_str!("page/colour.js"),
    include_str!("page/panels.js"),
    include_str!("page/main.js"),
];

impl Map<'_> {
    /// The page as text.
    pub fn html(&self, progress: &dyn Progress) -> Result<String> {
        self.check()?;
        let colour = self.chosen()?.0;
        progress.stage("packing the map", 0);
        let packer = Packer::new(self);
        progress.check()?;
        let sections = packer.sections();
        let with_edges = sections.iter().any(|section| section.0 == LINKS[0]);
        // Within a script element only `<` could end it.
        let meta = packer.meta(&colour, with_edges).to_string();
        let meta = meta
            .replace('<', "\\u003c")
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
        let element = |(name, text): &Section| {
            format!("<script type=\"text/plain\" id=\"data-{name}\">{text}</script>")
        };
        let values = [
            ("title", escape(&self.title)),
            ("style", STYLE.to_owned()),
            ("meta", meta),
            (
                "sections",
                sections.iter().map(element).collect::<Vec<_>>().join("\n"),
            ),
            ("script", script()),
        ];
        Ok(filled(TEMPLATE, &values))
    }
}

/// The modules as one: each but the first imports what stands above it.
fn script() -> String {
    let modules = SCRIPT.iter().flat_map(|module| module.lines());
    let lines =
        modules.filter(|line| !line.starts_with("import ") && !line.starts_with("// @ts-check"));
    let lines = lines.map(|line| line.strip_prefix("export ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// A template with its `{{names}}` replaced, from left to right, so that a value is never taken for a template.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after
            .split_once("}}")
            .expect("the template closes what it opens");
        let value = values.iter().find(|(known, _)| *known == name);
        text += before;
        text += &value.expect("a name of the template").1;
        rest = after;
    }
    text + rest
}

/// A named part of the page, as text.
type Section = (&'static str, String);

/// A map whose nodes are numbered along a curve over the picture.
struct Packer<'a> {
    map: &'a Map<'a>,
    /// The nodes in each layout.
    places: Vec<Vec<[f32; 2]>>,
    /// The nodes by their number, and the number of each node.
    order: Vec<u32>,
    number: Vec<u32>,
    /// Without directions.
    graph: Graph,
    /// How many neighbours of each node are packed, for each layout.
    near: Vec<usize>,
}

impl<'a> Packer<'a> {
    fn new(map: &'a Map<'a>) -> Self {
        let places = map.places();
        let order = order(&places[0]);
        let mut number = vec![0; order.len()];
        for (&node, at) in order.iter().zip(0..) {
            number[node as usize] = at;
        }
        let most = NEAR[usize::from(order.len() > LARGE)];
        let near = |placed: &Placed| {
            placed
                .neighbours
                .as_ref()
                .map_or(0, |near| near.k().min(most))
        };
        let near = map.layouts.iter().map(|(_, placed)| near(placed)).collect();
        Packer {
            map,
            places,
            order,
            number,
            graph: map.graph.underlying(),
            near,
        }
    }

    /// What the script reads first; nodes have this colour.
    fn meta(&self, colour: &str, with_edges: bool) -> Value {
        let (map, roles) = (self.map, self.map.roles);
        let counts = roles.counts();
        let n = counts.len().max(1) as f64;
        let of_orbits =
            |of: &dyn Fn(usize) -> f64| (0..NODE_ORBITS.len()).map(of).collect::<Vec<_>>();
        let sum = |of: &dyn Fn(f64) -> f64, orbit: usize| {
            counts.iter().map(|row| of(row[orbit] as f64)).sum::<f64>()
        };
        let logs = of_orbits(&|orbit| sum(&f64::ln_1p, orbit) / n);
        let deviation = |orbit: usize| {
            let squares = sum(&|x| x.ln_1p().powi(2), orbit) / n;
            (squares - logs[orbit] * logs[orbit]).max(0.0).sqrt()
        };
        let most = |orbit: usize| {
            counts
                .iter()
                .fold(0.0, |most, row| f64::max(most, row[orbit] as f64))
        };
        // Each occurrence is counted once at the node, or at each of the nodes, in this orbit.
        let graphlets = [
            (Graphlet::Path3, 2, 1.0),
            (Graphlet::Triangle, 3, 3.0),
            (Graphlet::Path4, 5, 2.0),
            (Graphlet::Star4, 7, 1.0),
            (Graphlet::Cycle4, 8, 4.0),
            (Graphlet::TailedTriangle, 11, 1.0),
            (Graphlet::Diamond, 13, 2.0),
            (Graphlet::Clique4, 14, 4.0),
        ];
        let graphlets = graphlets.map(|(graphlet, orbit, nodes)| {
            let called = Motif::Graphlet(graphlet).called(roles.numbers());
            json!([called, sum(&|x| x, orbit) / nodes])
        });
        // Motifs, and how many standard deviations more or less of them a role has.
        let scores = |scores: Vec<&MotifScore>| {
            scores
                .iter()
                .map(|score| json!([score.motif, score.z]))
                .collect::<Value>()
        };
        let role = |role: &Role| {
            let exemplars = role
                .exemplars
                .iter()
                .map(|&node| self.number[node as usize]);
            json!({"name": role.name, "being": being(&role.name), "nodes": role.nodes, "degree": role.degree,
                "out_degree": role.out_degree, "in_degree": role.in_degree, "more": scores(role.more()),
                "less": scores(role.less()), "exemplars": exemplars.collect::<Vec<_>>()})
        };
        let scheme = |(key, colour): (String, Cow<'_, Colour>)| {
            Scheme::new(key, &colour, &map.style, &self.places)
        };
        json!({
            "title": map.title,
            "nodes": map.graph.nodes(),
            "edges": map.graph.edges(),
            "directed": map.graph.is_directed(),
            // Edges without directions, as packed.
            "links": if with_edges { self.graph.edges() } else { 0 },
            "ids": if are_texts(map.graph.ids()) { "text" } else { "integers" },
            "near": self.near,
            "layouts": map.layouts.iter().map(|(by, _)| json!(by)).collect::<Value>(),
            "orbits": roles.orbits(),
            "means": of_orbits(&|orbit| sum(&|x| x, orbit) / n),
            "deviations": of_orbits(&deviation),
            "logs": logs,
            "most": of_orbits(&most),
            "graphlets": graphlets,
            "roles": roles.roles.iter().map(role).collect::<Value>(),
            "affinity": roles.affinity,
            "schemes": map.colourings().map(scheme).map(|scheme| json!(scheme)).collect::<Value>(),
            "colour": colour,
            "ramp": ramp().into_iter().map(|look| look.colour).collect::<Value>(),
            "shapes": SHAPES,
            "style": map.style,
            "radius": map.radius(),
            "muted": MUTED,
            "opacity": OPACITY,
            "fewEdges": FEW_EDGES,
        })
    }

    /// All sections that there is room for.
    fn sections(&self) -> Vec<Section> {
        let mut names = vec!["core", "ids", "colours", "counts", "reasons", "near"];
        if self.graph.edges() <= EDGES {
            names.extend(&LINKS[..1 + usize::from(self.map.graph.is_directed())]);
        }
        let pack = |_, name| {
            let bytes = match name {
                "core" => self.core(),
                "ids" => self.ids(),
                "colours" => self.colours(),
                "counts" => self.counts(),
                "reasons" => self.reasons(),
                "near" => self.neighbours(),
                "edges" => self.edges(),
                _ => self.directions(),
            };
            (name, base64(&compressed(&bytes)))
        };
        within(parallel::map_each(names, pack), PAGE)
    }

    /// A value of each node, in the order of the page.
    fn in_order<T>(&self, value: impl Fn(usize) -> T) -> Vec<T> {
        self.order
            .iter()
            .map(|&node| value(node as usize))
            .collect()
    }

    fn core(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (places, d) in self
            .places
            .iter()
            .flat_map(|places| [(places, 0), (places, 1)])
        {
            let coordinate = |node: usize| (places[node][d] * 65535.0).round() as u16;
            planes(&self.in_order(coordinate), &mut bytes);
        }
        bytes.extend(self.in_order(|node| self.map.roles.role_of(node as u32) as u8));
        bytes
    }

    fn ids(&self) -> Vec<u8> {
        let (ids, mut bytes) = (self.map.graph.ids(), Vec::new());
        if are_texts(ids) {
            let texts = self.in_order(|node| ids.get(node as u32).to_string());
            for text in &texts {
                varint(text.len() as u64, &mut bytes);
            }
            bytes.extend(texts.concat().bytes());
            return bytes;
        }
        let mut last = 0;
        for &node in &self.order {
            let NodeId::Integer(id) = ids.get(node) else {
                unreachable!("text ids are packed above")
            };
            signed(id - last, &mut bytes);
            last = id;
        }
        bytes
    }

    fn colours(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for colour in &self.map.colours {
            match colour {
                Colour::Categories { of, .. } => {
                    planes(&self.in_order(|node| of[node]), &mut bytes);
                }
                Colour::Numbers { values, .. } => {
                    for b in 0..4 {
                        bytes.extend(self.in_order(|node| values[node].to_le_bytes()[b]));
                    }
                }
            }
        }
        bytes
    }

    fn counts(&self) -> Vec<u8> {
        let (counts, mut bytes) = (self.map.roles.counts(), Vec::new());
        for orbit in 0..NODE_ORBITS.len() {
            // Degrees, the first orbit, stay exact as far as they can.
            let keep = if orbit > 0 && counts.len() > LARGE {
                5
            } else {
                11
            };
            let packed = self.in_order(|node| packed_count(counts[node][orbit], keep));
            planes(&packed, &mut bytes);
        }
        if let Some(arcs) = self.map.roles.arcs() {
            let packed = |count: u32| packed_count(count.into(), 11);
            planes(&self.in_order(|node| packed(arcs[node].out)), &mut bytes);
            planes(&self.in_order(|node| packed(arcs[node].into)), &mut bytes);
        }
        bytes
    }

    /// Why nodes have their roles: the parts of sentences, those that occur most often first; memberships in percent; and for
    /// each node the numbers, from one on, of its reasons and of its second sentence, 0 where it has fewer.
    fn reasons(&self) -> Vec<u8> {
        let why = |at: usize| self.map.roles.why(self.order[at]);
        let whys: Vec<Why> = parallel::map(self.order.len(), why);
        let parts = || whys.iter().flat_map(Why::parts);
        let mut frequencies: BTreeMap<&str, usize> = BTreeMap::new();
        for part in parts().flatten() {
            *frequencies.entry(part).or_default() += 1;
        }
        let mut phrases: Vec<(&str, usize)> = frequencies.into_iter().collect();
        phrases.sort_by_key(|&(_, times)| Reverse(times));
        let mut bytes = Vec::new();
        varint(phrases.len() as u64, &mut bytes);
        for (phrase, _) in &phrases {
            varint(phrase.len() as u64, &mut bytes);
        }
        bytes.extend(phrases.iter().flat_map(|(phrase, _)| phrase.bytes()));
        bytes.extend(whys.iter().map(|why| why.percent));
        let phrases = phrases.into_iter().map(|(phrase, _)| phrase);
        let number: BTreeMap<&str, u64> = phrases.zip(1..).collect();
        for part in parts() {
            varint(part.map_or(0, |part| number[part]), &mut bytes);
        }
        bytes
    }

    fn neighbours(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let layouts = self.map.layouts.iter().zip(&self.near);
        for ((_, placed), &near) in layouts.filter(|(_, near)| **near > 0) {
            let Some(found) = &placed.neighbours else {
                continue;
            };
            for (&node, at) in self.order.iter().zip(0..) {
                for other in &found.row(node as usize)[..near] {
                    signed(i64::from(self.number[other.row as usize]) - at, &mut bytes);
                }
            }
            // As the page shows them, in hundredths: those of structure have no lower bound.
            for &node in &self.order {
                for other in &found.row(node as usize)[..near] {
                    let hundredths = (f64::from(other.similarity) * 100.0).round();
                    signed(hundredths as i64, &mut bytes);
                }
            }
        }
        bytes
    }

    /// The neighbours of each node that come after it, by their numbers, in order.
    fn later(&self) -> impl Iterator<Item = (u32, Vec<(u32, u32)>)> {
        self.order.iter().zip(0..).map(|(&node, at)| {
            let neighbours = self.graph.neighbors(node).iter();
            let numbered = neighbours.map(|&other| (self.number[other as usize], other));
            let mut later: Vec<_> = numbered.filter(|&(other, _)| other > at).collect();
            later.sort_unstable();
            (node, later)
        })
    }

    fn edges(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for ((_, later), at) in self.later().zip(0..) {
            varint(later.len() as u64, &mut bytes);
            let mut last = at;
            for (other, _) in later {
                varint(u64::from(other - last), &mut bytes);
                last = other;
            }
        }
        bytes
    }

    /// How each edge is directed, in the same order: 1 for an arc from the node that comes first, 2 for one to it, 3 for
    /// both; four edges per byte, the first in the lowest bits.
    fn directions(&self) -> Vec<u8> {
        let has = |from: u32, to: u32| u8::from(self.map.graph.has_edge(from, to));
        let mut codes = Vec::new();
        for (node, later) in self.later() {
            let code = |(_, other)| has(node, other) | has(other, node) << 1;
            codes.extend(later.into_iter().map(code));
        }
        let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, code| byte << 2 | code);
        codes.chunks(4).map(byte).collect()
    }
}

/// Whether ids are packed as text.
fn are_texts(ids: &NodeIds) -> bool {
    match ids {
        NodeIds::Sequential(_) => false,
        NodeIds::Integers(ids) => ids.iter().any(|id| id.abs() > EXACT),
        NodeIds::Text { .. } => true,
    }
}

/// Without edges, if all sections together have more bytes than this.
fn within(mut sections: Vec<Section>, most: usize) -> Vec<Section> {
    let bytes: usize = sections.iter().map(|section| section.1.len()).sum();
    sections.retain(|section| bytes <= most || !LINKS.contains(&section.0));
    sections
}

/// Low bytes, then high bytes.
fn planes(values: &[u16], bytes: &mut Vec<u8>) {
    bytes.extend(values.iter().map(|&value| value as u8));
    bytes.extend(values.iter().map(|&value| (value >> 8) as u8));
}

/// A count in 16 bits: eleven, and how often they are doubled. `keep` bits of the eleven stay.
fn packed_count(count: u64, keep: u32) -> u16 {
    let used = 64 - count.leading_zeros();
    let doubled = used.saturating_sub(11).min(31);
    let kept = (count >> doubled).min(2047);
    let rough = (64 - kept.leading_zeros()).saturating_sub(keep);
    (doubled as u16) << 11 | (kept >> rough << rough) as u16
}

/// Seven bits per byte, the lowest first.
fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Signed numbers as 0, −1, 1, −2, …
fn signed(value: i64, bytes: &mut Vec<u8>) {
    varint(((value << 1) ^ (value >> 63)) as u64, bytes);
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| {
            bits << 8 | u32::from(*three.get(at).unwrap_or(&0))
        });
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(match digit <= three.len() {
                true => char::from(DIGITS[value as usize]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact_while_small_and_close_beyond() {
        let back = |code: u16| f64::from(code & 2047) * f64::from(code >> 11).exp2();
        for count in [
            0,
            1,
            5,
            2047,
            2048,
            99_999,
            123_456_789,
            4_000_000_000_000u64,
        ] {
            let (exact, found) = (count as f64, back(packed_count(count, 11)));
            assert!((found - exact).abs() <= exact / 1000.0, "{count}: {found}");
            assert!(count > 2047 || found == exact);
            let rough = back(packed_count(count, 5));
            assert!((rough - exact).abs() <= exact / 16.0, "{count}: {rough}");
        }
        assert!(
            back(packed_count(u64::MAX, 11)) > 1e12,
            "the largest stay large"
        );
    }

    #[test]
    fn pages_that_would_be_too_large_have_no_edges() {
        let names = |most| {
            let sections = ["core", LINKS[0]].map(|name| (name, "x".repeat(10)));
            let left = within(sections.into(), most).into_iter();
            left.map(|section| section.0).collect::<Vec<_>>()
        };
        assert_eq!(
            (names(20), names(19)),
            (vec!["core", LINKS[0]], vec!["core"])
        );
    }
}
