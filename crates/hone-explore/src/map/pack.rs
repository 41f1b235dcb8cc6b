//! Arrays of a map as compressed text: planes of bytes, variable-length numbers, zlib, base64.
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
use hone::motif::NODE_ORBITS;
use hone::parallel;

use super::Map;
use super::colour::Colour;
use crate::roles::{Arcs, Roles, Why};

/// From this many nodes on, less is stored per node.
pub(super) const LARGE: usize = 200_000;
/// Neighbours of each node, in a small graph and in a large one.
const NEAR: [usize; 2] = [10, 5];
/// Edges that are kept; of more, none.
const EDGES: usize = 12_000_000;
/// Bytes of all sections, at most; edges are left out beyond.
const PAGE: usize = 58_000_000;
/// What the section of edges is called, and that of their directions.
pub(super) const LINKS: &str = "edges";
const DIRECTIONS: &str = "directions";
/// Integers beyond this are not exact in the page, and go as text.
const EXACT: i64 = 1 << 53;

/// A named part of the page.
pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) text: String,
}

/// How many neighbours of each node are packed.
pub(super) fn near(map: &Map<'_>) -> usize {
    let most = NEAR[usize::from(map.graph.nodes() > LARGE)];
    map.neighbours
        .map_or(0, |neighbours| neighbours.k().min(most))
}

/// Whether ids are packed as text.
pub(super) fn text_ids(ids: &NodeIds) -> bool {
    match ids {
        NodeIds::Sequential(_) => false,
        NodeIds::Integers(ids) => ids.iter().any(|id| id.abs() > EXACT),
        NodeIds::Text { .. } => true,
    }
}

/// All sections of a map, its nodes in this order.
pub(super) fn sections(map: &Map<'_>, order: &[u32]) -> Vec<Section> {
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
    if text_ids(ids) {
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

fn edges(graph: &Graph, order: &[u32], number: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, &node) in order.iter().enumerate() {
        let later = graph
            .neighbors(node)
            .iter()
            .map(|&other| number[other as usize]);
        let mut later: Vec<u32> = later.filter(|&other| other as usize > at).collect();
        later.sort_unstable();
        varint(later.len() as u64, &mut bytes);
        let mut last = at as u32;
        for other in later {
            varint(u64::from(other - last), &mut bytes);
            last = other;
        }
    }
    bytes
}

/// How each edge of [`edges`] is directed, in the same order: 1 for an arc from the node that comes first, 2 for one to it, 3 for
/// both; four edges per byte, the first in the lowest bits.
fn directions(arcs: &Graph, graph: &Graph, order: &[u32], number: &[u32]) -> Vec<u8> {
    let mut codes = Vec::new();
    for (at, &node) in order.iter().enumerate() {
        let later = graph
            .neighbors(node)
            .iter()
            .map(|&other| (number[other as usize], other));
        let mut later: Vec<(u32, u32)> = later.filter(|&(other, _)| other as usize > at).collect();
        later.sort_unstable();
        let has = |from: u32, to: u32| u8::from(arcs.neighbors(from).binary_search(&to).is_ok());
        codes.extend(
            later
                .into_iter()
                .map(|(_, other)| has(node, other) | has(other, node) << 1),
        );
    }
    codes
        .chunks(4)
        .map(|four| four.iter().rev().fold(0, |byte, code| byte << 2 | code))
        .collect()
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
