//! METIS adjacency files (the METIS manual, sec. 4.1): `N M [FORMAT [WEIGHTS]]`, then for each
//! one line per node with its neighbours, counted from 1; every edge stands in both lines.
//!
//! Read in a row; the format is for small and middling graphs.

use std::cmp::Ordering;
use std::str;

use super::blocks::Fault;
use super::edges::{Joined, weight};
use super::lines::without_end;
use super::options::{InputFormat, ReadOptions};
use super::source::Source;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::message::{message, setting};
use crate::progress::Progress;

/// A line of this many bytes may take memory that counts.
const LONG: usize = 1 << 20;
/// Nodes between two looks at the memory that is held.
const WATCH: u32 = 1 << 16;

/// One end of an edge: lower node, higher node, weight.
type End = (u32, u32, f32);

/// What the first line says.
struct Header {
    nodes: u32,
    edges: u64,
    /// Numbers of a line before its neighbours: size and weights of the node.
    lead: usize,
    has_weights: bool,
}

/// The ends of edges: those listed at the lower node, and those at the higher.
#[derive(Default)]
struct Ends {
    up: Vec<End>,
    down: Vec<End>,
    loops: u64,
}

/// Reads a METIS file.
pub(super) fn read(
    mut source: Source,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Joined> {
    options.refuse_idle(InputFormat::Metis)?;
    progress.stage("reading", 0);
    let before = source.lines();
    let text = source.take_all()?;
    let source = &source;
    let wrong = |number| move |fault: Fault| fault.on_line(number).into_error(source, before);
    let wrong_file =
        |message: String, remedy: &str| Err(Error::input(source.path(), message, remedy));
    let lines = text.split_inclusive(|&b| b == b'\n').map(without_end);
    let mut lines = lines
        .zip(0u64..)
        .filter(|(line, _)| !line.starts_with(b"%"));
    let is_blank = |line: &[u8]| line.trim_ascii().is_empty();
    let Some((first, number)) = lines.find(|(line, _)| !is_blank(line)) else {
        let message = "the file has no header, only comments".to_owned();
        return wrong_file(message, "it begins with `NODES EDGES`");
    };
    let header = header(first, options.keeps_weights()).map_err(wrong(number))?;
    let (mut ends, mut node) = (Ends::default(), 0);
    for (line, number) in lines {
        if node == header.nodes {
            if is_blank(line) {
                continue;
            }
            let message = format!("a line beyond the {node} nodes of the header");
            let remedy = "fix the number of nodes, or remove the line";
            return Err(wrong(number)(Fault::new(line, message, remedy)));
        }
        if line.len() > LONG || node.is_multiple_of(WATCH) {
            progress.check()?;
            // Two bytes of a line can be one end of an edge.
            let more = line.len() / 2 * size_of::<End>();
            source.allowance().check(source.path(), more as u64)?;
        }
        ends.add_line(node, line, &header).map_err(wrong(number))?;
        node += 1;
    }
    let promised = header.nodes;
    if node < promised {
        let message =
            format!("the header promises {promised} nodes, but there are lines for {node}");
        let remedy = "the file is truncated or its first line is wrong; a node without neighbours has an empty line";
        return wrong_file(message, remedy);
    }
    let (found, promised) = (ends.up.len() as u64, header.edges);
    if found + ends.loops == 0 {
        return wrong_file("there are no edges".into(), "it needs at least one edge");
    }
    if let Some((u, v)) = ends.sort() {
        let (u, v) = (u + 1, v + 1);
        let message =
            format!("the edge between {u} and {v} is not in both lines with the same weight");
        let remedy =
            "METIS lists each edge at both its nodes; use an edge list for a directed graph";
        return wrong_file(message, remedy);
    }
    if found != promised && found + ends.loops != promised {
        let message = format!("the header promises {promised} edges, but there are {found}");
        return wrong_file(message, "the second number counts each edge once; fix it");
    }
    let loops = std::iter::repeat_n((0, 0, 0.0), ends.loops as usize);
    let all = || ends.up.iter().copied().chain(loops.clone());
    let pairs = all().map(|(u, v, _)| (u, v)).collect();
    let kept = options.keeps_weights();
    let weights = kept.then(|| all().map(|(_, _, weight)| weight).collect());
    Ok(Joined {
        ignored_weights: if header.has_weights && !kept {
            found
        } else {
            0
        },
        symmetric: true,
        ..Joined::new(NodeIds::one_based(header.nodes), pairs, weights)
    })
}

/// Reads `NODES EDGES [FORMAT [WEIGHTS]]`.
fn header(line: &[u8], weighted: bool) -> Result<Header, Fault> {
    let fault = |message: &str, remedy: &str| Err(Fault::new(line, message, remedy));
    let text = String::from_utf8_lossy(line);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let numbers: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    let Some([nodes, edges, rest @ ..]) = numbers.as_deref().filter(|n| n.len() <= 4) else {
        let remedy = message![
            "it is `NODES EDGES [FORMAT [WEIGHTS]]`, whole numbers; if it is something else, name that with ",
            setting("format")
        ];
        return Err(Fault::new(line, "this is not a METIS header", remedy));
    };
    let Ok(nodes) = u32::try_from(*nodes) else {
        return fault("more nodes than 32 bits can number", "split the graph");
    };
    let flags = format!("{:0>3}", words.get(2).unwrap_or(&"0"));
    let [
        sizes @ (b'0' | b'1'),
        node_weights @ (b'0' | b'1'),
        edge_weights @ (b'0' | b'1'),
    ] = flags.as_bytes()
    else {
        return fault(
            "the format is not made of three digits 0 or 1",
            "it says whether there are node sizes, node weights, edge weights",
        );
    };
    if weighted && *edge_weights == b'0' {
        let message = "the header says that there are no edge weights";
        return fault(message, "read without weights");
    }
    let node_weights = match node_weights {
        b'1' => rest.get(1).copied().unwrap_or(1),
        _ => 0,
    };
    let lead = node_weights.saturating_add(u64::from(*sizes == b'1'));
    Ok(Header {
        nodes,
        edges: *edges,
        lead: usize::try_from(lead).unwrap_or(usize::MAX),
        has_weights: *edge_weights == b'1',
    })
}

impl Ends {
    fn add_line(&mut self, node: u32, line: &[u8], header: &Header) -> Result<(), Fault> {
        let fault = |message: String, remedy: &str| Err(Fault::new(line, message, remedy));
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let lead = words.by_ref().take(header.lead).count();
        if lead < header.lead {
            let promised = header.lead;
            let message = format!(
                "{lead} numbers where the header promises {promised} before the neighbours"
            );
            return fault(
                message,
                "give each node its size and weights, or fix the format",
            );
        }
        while let Some(word) = words.next() {
            let neighbour = neighbour(word, header.nodes)?;
            let weight = match header.has_weights.then(|| words.next()) {
                None => 1.0,
                Some(Some(word)) => weight(word)?,
                Some(None) => {
                    let message = "a neighbour without a weight".into();
                    return fault(message, "the header promises edge weights");
                }
            };
            match neighbour.cmp(&node) {
                Ordering::Greater => self.up.push((node, neighbour, weight)),
                Ordering::Less => self.down.push((neighbour, node, weight)),
                Ordering::Equal => self.loops += 1,
            }
        }
        Ok(())
    }

    /// Sorts both; an edge that is not listed equally at both nodes, if there is one.
    fn sort(&mut self) -> Option<(u32, u32)> {
        // Weights are not negative, so their bits are in their order.
        let key = |end: &End| (end.0, end.1, end.2.to_bits());
        self.up.sort_unstable_by_key(key);
        self.down.sort_unstable_by_key(key);
        let differ = |(up, down): &(&End, &End)| up != down;
        if let Some((up, down)) = self.up.iter().zip(&self.down).find(differ) {
            return Some((up.0, up.1).min((down.0, down.1)));
        }
        let shorter = self.up.len().min(self.down.len());
        let rest = self.up.get(shorter).or(self.down.get(shorter));
        rest.map(|end| (end.0, end.1))
    }
}

fn neighbour(word: &[u8], nodes: u32) -> Result<u32, Fault> {
    let number = str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    match number {
        Some(number) if (1..=u64::from(nodes)).contains(&number) => Ok((number - 1) as u32),
        Some(_) => {
            let message = format!("a neighbour that is not within 1..{nodes}");
            Err(Fault::new(word, message, "nodes count from 1"))
        }
        None => {
            let message = "a neighbour that is not a whole number";
            Err(Fault::new(word, message, "nodes are numbered from 1"))
        }
    }
}
