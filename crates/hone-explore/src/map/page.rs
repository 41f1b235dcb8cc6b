//! The page: a template, its style and script, what the map is about as JSON, and arrays as compressed text: planes of
//! bytes, variable-length numbers, zlib, base64.
//!
//! Names come from the user and go into JSON and, in the title alone, into markup: there every `<`, `>` and `&` is written in
//! a form that is never markup. The script sets all texts as texts.
//!
//! Nodes are numbered along a curve over the picture (`Map::order`), so neighbours and edges are small differences. Counts
//! keep eleven bits and an exponent: exact up to 2047, within .05 % beyond. Of a graph of more than [`LARGE`] nodes fewer
//! neighbours and rougher counts are kept, and edges are left out where the page would be larger than [`PAGE`].

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hone::graph::{Graph, NodeId, NodeIds};
use hone::motif::{Graphlet, NODE_ORBITS};
use hone::parallel;
use hone::{Progress, Result};
use serde::Serialize;

use super::Map;
use super::colour::Colour;
use crate::roles::{Arcs, MotifScore, Role, Roles, Why, being};

/// From this many nodes on, less is stored per node.
const LARGE: usize = 200_000;
/// Neighbours of each node, in a small graph and in a large one.
const NEAR: [usize; 2] = [10, 5];
/// Edges that are kept; of more, none.
const EDGES: usize = 12_000_000;
/// Bytes of all sections, at most; edges are left out beyond.
const PAGE: usize = 58_000_000;
/// What the section of edges is called, and that of their directions.
const LINKS: &str = "edges";
const DIRECTIONS: &str = "directions";
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

/// What the script reads first.
#[derive(Serialize)]
struct Meta<'a> {
    title: &'a str,
    nodes: usize,
    edges: usize,
    /// Edges without directions, as packed.
    links: usize,
    ids: &'static str,
    near: usize,
    orbits: [&'static str; NODE_ORBITS.len()],
    means: [f64; NODE_ORBITS.len()],
    logs: [f64; NODE_ORBITS.len()],
    deviations: [f64; NODE_ORBITS.len()],
    most: [f64; NODE_ORBITS.len()],
    graphlets: Vec<(&'static str, f64)>,
    roles: Vec<MetaRole<'a>>,
    affinity: &'a [Vec<f64>],
    /// Whether edges are arcs.
    directed: bool,
    colours: Vec<MetaColour<'a>>,
}

#[derive(Serialize)]
struct MetaRole<'a> {
    name: &'a str,
    /// What its nodes are: `a hub`.
    being: String,
    nodes: usize,
    degree: f64,
    out_degree: Option<f64>,
    in_degree: Option<f64>,
    /// Motifs and how many standard deviations more, or less, of them it has.
    more: Vec<(&'a str, f64)>,
    less: Vec<(&'a str, f64)>,
    /// Typical nodes, by their number on the page.
    exemplars: Vec<u32>,
}

#[derive(Serialize)]
struct MetaColour<'a> {
    name: &'a str,
    categories: Option<&'a [String]>,
}

impl Map<'_> {
    /// The page as text.
    pub fn html(&self, progress: &dyn Progress) -> Result<String> {
        self.check()?;
        progress.stage("packing the map", 0);
        let order = self.order();
        progress.check()?;
        let sections = sections(self, &order);
        let with_edges = sections.iter().any(|section| section.name == LINKS);
        let meta = serde_json::to_string(&meta(self, &order, with_edges)).expect("plain data");
        // Within a script element only `<` could end it.
        let meta = meta
            .replace('<', "\\u003c")
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
        let sections: Vec<String> = sections.iter().map(Section::element).collect();
        let values = [
            ("title", escaped(&self.title)),
            ("style", STYLE.to_owned()),
            ("meta", meta),
            ("sections", sections.join("\n")),
            ("script", SCRIPT.join("\n")),
        ];
        Ok(filled(TEMPLATE, &values))
    }
}

/// A template with its `{{names}}` replaced, from left to right, so that a value is never taken for a template.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let total: usize = values.iter().map(|(_, value)| value.len()).sum();
    let mut text = String::with_capacity(template.len() + total);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after
            .split_once("}}")
            .expect("the template closes what it opens");
        text.push_str(before);
        text.push_str(
            &values
                .iter()
                .find(|(known, _)| *known == name)
                .expect("a name of the template")
                .1,
        );
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Text as markup that shows it.
pub(super) fn escaped(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars()
        .map(plain)
        .collect::<String>()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn meta<'a>(map: &'a Map<'_>, order: &[u32], with_edges: bool) -> Meta<'a> {
    let counts = map.roles.counts();
    let n = counts.len().max(1) as f64;
    let mean = |of: &dyn Fn(f64) -> f64, orbit: usize| {
        counts.iter().map(|row| of(row[orbit] as f64)).sum::<f64>() / n
    };
    let logs: [f64; NODE_ORBITS.len()] = std::array::from_fn(|orbit| mean(&f64::ln_1p, orbit));
    let deviation = |orbit: usize| {
        let squares = mean(&|x| x.ln_1p().powi(2), orbit);
        (squares - logs[orbit] * logs[orbit]).max(0.0).sqrt()
    };
    let most = |orbit: usize| {
        let counts = counts.iter().map(|row| row[orbit] as f64);
        counts.fold(0.0, f64::max)
    };
    // Each occurrence is counted once at the node, or at each of the nodes, in this orbit.
    let graphlets: [(Graphlet, usize, f64); 8] = [
        (Graphlet::Path3, 2, 1.0),
        (Graphlet::Triangle, 3, 3.0),
        (Graphlet::Path4, 5, 2.0),
        (Graphlet::Star4, 7, 1.0),
        (Graphlet::Cycle4, 8, 4.0),
        (Graphlet::TailedTriangle, 11, 1.0),
        (Graphlet::Diamond, 13, 2.0),
        (Graphlet::Clique4, 14, 4.0),
    ];
    let occurrences = |(graphlet, orbit, nodes): (Graphlet, usize, f64)| {
        let sum = counts.iter().map(|row| row[orbit] as f64).sum::<f64>();
        (graphlet.name(), sum / nodes)
    };
    let scores = |scores: Vec<&'a MotifScore>| {
        let pair = |score: &'a MotifScore| (&*score.motif, score.z);
        scores.into_iter().map(pair).collect()
    };
    let number = |node: &u32| {
        let at = order.iter().position(|other| other == node);
        at.map(|at| at as u32)
    };
    let role = |role: &'a Role| MetaRole {
        name: &role.name,
        being: being(&role.name),
        nodes: role.nodes,
        degree: role.degree,
        out_degree: role.out_degree,
        in_degree: role.in_degree,
        more: scores(role.more()),
        less: scores(role.less()),
        exemplars: role.exemplars.iter().filter_map(number).collect(),
    };
    let colour = |colour: &'a Colour| MetaColour {
        name: colour.name(),
        categories: match colour {
            Colour::Categories { names, .. } => Some(names),
            Colour::Numbers { .. } => None,
        },
    };
    Meta {
        title: &map.title,
        nodes: map.graph.nodes(),
        edges: map.graph.edges(),
        links: if with_edges {
            map.graph.underlying().edges()
        } else {
            0
        },
        ids: if are_texts(map.graph.ids()) {
            "text"
        } else {
            "integers"
        },
        near: near(map),
        orbits: NODE_ORBITS,
        means: std::array::from_fn(|orbit| mean(&|x| x, orbit)),
        logs,
        deviations: std::array::from_fn(deviation),
        most: std::array::from_fn(most),
        graphlets: graphlets.into_iter().map(occurrences).collect(),
        roles: map.roles.roles.iter().map(role).collect(),
        affinity: &map.roles.affinity,
        directed: map.graph.is_directed(),
        colours: map.colours.iter().map(colour).collect(),
    }
}

/// A named part of the page.
struct Section {
    name: &'static str,
    text: String,
}

impl Section {
    fn element(&self) -> String {
        let Section { name, text } = self;
        format!("<script type=\"text/plain\" id=\"data-{name}\">{text}</script>")
    }
}

/// How many neighbours of each node are packed.
fn near(map: &Map<'_>) -> usize {
    let most = NEAR[usize::from(map.graph.nodes() > LARGE)];
    map.neighbours
        .map_or(0, |neighbours| neighbours.k().min(most))
}

/// Whether ids are packed as text.
fn are_texts(ids: &NodeIds) -> bool {
    match ids {
        NodeIds::Sequential(_) => false,
        NodeIds::Integers(ids) => ids.iter().any(|id| id.abs() > EXACT),
        NodeIds::Text { .. } => true,
    }
}

/// All sections of a map, its nodes in this order.
fn sections(map: &Map<'_>, order: &[u32]) -> Vec<Section> {
    type Part<'a> = (&'static str, Box<dyn Fn() -> Vec<u8> + Sync + Send + 'a>);
    let mut number = vec![0u32; order.len()];
    order
        .iter()
        .zip(0..)
        .for_each(|(&node, at)| number[node as usize] = at);
    let number = &number;
    let graph = map.graph.underlying();
    let mut parts: Vec<Part<'_>> = vec![
        ("core", Box::new(|| core(map, order))),
        ("ids", Box::new(|| ids(map.graph.ids(), order))),
        ("colours", Box::new(|| colours(map, order))),
        ("counts", Box::new(|| counts(map, order))),
        ("reasons", Box::new(|| reasons(map.roles, order))),
        ("near", Box::new(|| neighbours(map, order, number))),
    ];
    if graph.edges() <= EDGES {
        parts.push((LINKS, Box::new(|| edges(&graph, order, number))));
        if map.graph.is_directed() {
            parts.push((
                DIRECTIONS,
                Box::new(|| directions(map.graph, &graph, order, number)),
            ));
        }
    }
    let packed = |_, (name, make): Part<'_>| Section {
        name,
        text: base64(&compressed(&make())),
    };
    within(parallel::map_each(parts, packed), PAGE)
}

/// Without edges, if all sections together have more bytes than this.
fn within(mut sections: Vec<Section>, most: usize) -> Vec<Section> {
    if sections
        .iter()
        .map(|section| section.text.len())
        .sum::<usize>()
        > most
    {
        sections.retain(|section| ![LINKS, DIRECTIONS].contains(&section.name));
    }
    sections
}

fn core(map: &Map<'_>, order: &[u32]) -> Vec<u8> {
    let places = map.places();
    let coordinate = |d: usize| {
        order
            .iter()
            .map(|&node| (places[node as usize][d] * 65535.0).round() as u16)
            .collect()
    };
    let mut bytes = Vec::with_capacity(5 * order.len());
    for d in 0..2 {
        let values: Vec<u16> = coordinate(d);
        planes(&values, &mut bytes);
    }
    bytes.extend(order.iter().map(|&node| map.roles.role_of(node) as u8));
    bytes
}

/// Low bytes, then high bytes.
fn planes(values: &[u16], bytes: &mut Vec<u8>) {
    bytes.extend(values.iter().map(|&value| value as u8));
    bytes.extend(values.iter().map(|&value| (value >> 8) as u8));
}

fn ids(ids: &NodeIds, order: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if are_texts(ids) {
        let texts: Vec<String> = order
            .iter()
            .map(|&node| ids.get(node).to_string())
            .collect();
        texts
            .iter()
            .for_each(|text| varint(text.len() as u64, &mut bytes));
        texts
            .iter()
            .for_each(|text| bytes.extend_from_slice(text.as_bytes()));
        return bytes;
    }
    let mut last = 0;
    for &node in order {
        let NodeId::Integer(id) = ids.get(node) else {
            unreachable!("text ids are packed above")
        };
        signed(id - last, &mut bytes);
        last = id;
    }
    bytes
}

fn colours(map: &Map<'_>, order: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for colour in &map.colours {
        match colour {
            Colour::Categories { of, .. } => {
                planes(
                    &order
                        .iter()
                        .map(|&node| of[node as usize])
                        .collect::<Vec<_>>(),
                    &mut bytes,
                );
            }
            Colour::Numbers { values, .. } => {
                for b in 0..4 {
                    bytes.extend(
                        order
                            .iter()
                            .map(|&node| values[node as usize].to_le_bytes()[b]),
                    );
                }
            }
        }
    }
    bytes
}

/// A count in 16 bits: eleven, and how often they are doubled. `keep` bits of the eleven stay.
fn packed_count(count: u64, keep: u32) -> u16 {
    let used = 64 - count.leading_zeros();
    let doubled = used.saturating_sub(11).min(31);
    let kept = (count >> doubled).min(2047);
    let rough = (64 - kept.leading_zeros()).saturating_sub(keep);
    (doubled as u16) << 11 | (kept >> rough << rough) as u16
}

fn counts(map: &Map<'_>, order: &[u32]) -> Vec<u8> {
    let keep = if order.len() > LARGE { 5 } else { 11 };
    let mut bytes = Vec::with_capacity(34 * order.len());
    for orbit in 0..NODE_ORBITS.len() {
        // Degrees, the first orbit, stay exact as far as they can.
        let keep = if orbit == 0 { 11 } else { keep };
        let of = |&node: &u32| packed_count(map.roles.counts()[node as usize][orbit], keep);
        planes(&order.iter().map(of).collect::<Vec<_>>(), &mut bytes);
    }
    if let Some(arcs) = map.roles.arcs() {
        for of in [|arcs: &Arcs| arcs.out, |arcs: &Arcs| arcs.into] {
            let of = |&node: &u32| packed_count(u64::from(of(&arcs[node as usize])), 11);
            planes(&order.iter().map(of).collect::<Vec<_>>(), &mut bytes);
        }
    }
    bytes
}

/// Why nodes have their roles: the parts of sentences, those that occur most often first; memberships in percent; and for each
/// node the numbers, from one on, of its reasons and of its second sentence, 0 where it has fewer.
fn reasons(roles: &Roles, order: &[u32]) -> Vec<u8> {
    let whys: Vec<Why> = parallel::map(order.len(), |at| roles.why(order[at]));
    let mut often: BTreeMap<&str, usize> = BTreeMap::new();
    for part in whys.iter().flat_map(Why::parts).flatten() {
        *often.entry(part).or_default() += 1;
    }
    let mut phrases: Vec<(&str, usize)> = often.into_iter().collect();
    phrases.sort_by_key(|&(_, times)| Reverse(times));
    let mut bytes = Vec::new();
    varint(phrases.len() as u64, &mut bytes);
    let lengths = phrases.iter().map(|(phrase, _)| phrase.len() as u64);
    lengths.for_each(|length| varint(length, &mut bytes));
    let texts = phrases.iter().flat_map(|(phrase, _)| phrase.bytes());
    bytes.extend(texts);
    bytes.extend(whys.iter().map(|why| why.percent));
    let number: BTreeMap<&str, u64> = phrases.iter().map(|&(phrase, _)| phrase).zip(1..).collect();
    for part in whys.iter().flat_map(Why::parts) {
        varint(part.map_or(0, |part| number[part]), &mut bytes);
    }
    bytes
}

fn neighbours(map: &Map<'_>, order: &[u32], number: &[u32]) -> Vec<u8> {
    let (Some(found), k) = (map.neighbours, near(map)) else {
        return Vec::new();
    };
    let mut bytes = Vec::new();
    for (at, &node) in order.iter().enumerate().filter(|_| k > 0) {
        let near = found.row(node as usize).iter().take(k);
        near.for_each(|&other| signed(i64::from(number[other as usize]) - at as i64, &mut bytes));
    }
    // As the page shows them, in hundredths: those of structure have no lower bound.
    let similar = |&node: &u32| found.similarities(node as usize).iter().take(k);
    order
        .iter()
        .flat_map(similar)
        .for_each(|&similarity| signed((f64::from(similarity) * 100.0).round() as i64, &mut bytes));
    bytes
}

/// The neighbours of a node that come after it, by their numbers, in order.
fn later(graph: &Graph, order: &[u32], number: &[u32], at: usize) -> Vec<(u32, u32)> {
    let neighbours = graph.neighbors(order[at]).iter();
    let numbered = neighbours.map(|&other| (number[other as usize], other));
    let mut later: Vec<(u32, u32)> = numbered.filter(|&(other, _)| other as usize > at).collect();
    later.sort_unstable();
    later
}

fn edges(graph: &Graph, order: &[u32], number: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for at in 0..order.len() {
        let later = later(graph, order, number, at);
        varint(later.len() as u64, &mut bytes);
        let mut last = at as u32;
        for (other, _) in later {
            varint(u64::from(other - last), &mut bytes);
            last = other;
        }
    }
    bytes
}

/// How each edge of [`edges`] is directed, in the same order: 1 for an arc from the node that comes first, 2 for one to it, 3 for
/// both; four edges per byte, the first in the lowest bits.
fn directions(arcs: &Graph, graph: &Graph, order: &[u32], number: &[u32]) -> Vec<u8> {
    let has = |from: u32, to: u32| u8::from(arcs.neighbors(from).binary_search(&to).is_ok());
    let code = |node: u32, other: u32| has(node, other) | has(other, node) << 1;
    let mut codes = Vec::new();
    for (at, &node) in order.iter().enumerate() {
        let later = later(graph, order, number, at);
        codes.extend(later.into_iter().map(|(_, other)| code(node, other)));
    }
    let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, code| byte << 2 | code);
    codes.chunks(4).map(byte).collect()
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

pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - three.len()));
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= three.len() {
                char::from(DIGITS[value as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_taken_for_templates() {
        let values = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(filled("<{{a}}|{{b}}>", &values), "<{{b}}|x>");
        assert_eq!(
            escaped("</title><script>&\u{0}"),
            "&lt;/title&gt;&lt;script&gt;&amp; "
        );
    }

    #[test]
    fn base64_as_everyone_writes_it() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ];
        for (plain, text) in cases {
            assert_eq!(base64(plain.as_bytes()), text);
        }
    }

    #[test]
    fn counts_are_exact_while_small_and_close_beyond() {
        let back = |code: u16| f64::from(code & 2047) * f64::from(code >> 11).exp2();
        for count in [
            0u64,
            1,
            5,
            2047,
            2048,
            99_999,
            123_456_789,
            4_000_000_000_000,
        ] {
            let found = back(packed_count(count, 11));
            assert!(
                (found - count as f64).abs() <= count as f64 / 1000.0,
                "{count}: {found}"
            );
            assert!(count > 2047 || found == count as f64);
            let rough = back(packed_count(count, 5));
            assert!(
                (rough - count as f64).abs() <= count as f64 / 16.0,
                "{count}: {rough}"
            );
        }
        assert!(
            back(packed_count(u64::MAX, 11)) > 1e12,
            "the largest stay large"
        );
    }

    #[test]
    fn pages_that_would_be_too_large_have_no_edges() {
        let sections = || {
            ["core", LINKS]
                .map(|name| Section {
                    name,
                    text: "x".repeat(10),
                })
                .into()
        };
        let names = |most| {
            within(sections(), most)
                .iter()
                .map(|section| section.name)
                .collect::<Vec<_>>()
        };
        assert_eq!((names(20), names(19)), (vec!["core", LINKS], vec!["core"]));
    }

    #[test]
    fn signed_numbers_alternate() {
        let mut bytes = Vec::new();
        [0, -1, 1, -64, 64]
            .iter()
            .for_each(|&value| signed(value, &mut bytes));
        assert_eq!(bytes, [0, 1, 2, 127, 128, 1]);
    }

    /// What `hone similar` says of a node is what its page says, far below −1 too.
    #[test]
    fn similarities_of_any_size_are_packed() {
        let graph = hone::graph::builtin("karate").expect("built in");
        let roles = crate::RoleOptions::default().find(&graph, &hone::Silent);
        let n = graph.nodes();
        let similarities: Vec<f32> = (0..n).map(|i| 1.0 - 0.37 * (i * i) as f32).collect();
        let rows = (0..n as u32).map(|i| (i + 1) % n as u32).collect();
        let found = crate::Neighbours::new(1, rows, similarities.clone());
        let map = Map {
            graph: &graph,
            title: String::new(),
            positions: &hone::dense::Block::zeros(n, 2),
            roles: &roles.expect("roles"),
            neighbours: Some(&found),
            colours: Vec::new(),
        };
        let order: Vec<u32> = (0..n as u32).collect();
        let (mut numbers, mut value, mut bits) = (Vec::new(), 0u64, 0);
        for byte in neighbours(&map, &order, &order) {
            value |= u64::from(byte & 127) << bits;
            bits += 7;
            if byte < 128 {
                numbers.push((value >> 1) as i64 ^ -((value & 1) as i64));
                (value, bits) = (0, 0);
            }
        }
        assert_eq!(numbers.len(), 2 * n);
        for (&code, similarity) in numbers[n..].iter().zip(similarities) {
            assert_eq!(
                format!("{:.2}", code as f64 / 100.0),
                format!("{similarity:.2}")
            );
        }
    }
}
