//! METIS adjacency files (the METIS manual, sec. 4.1): `N M [FORMAT [WEIGHTS]]`, then for each
//! one line per node with its neighbours, counted from 1; every edge stands in both lines.
//!
//! Read in a row; the format is for small and middling graphs.

use std::str;

use super::blocks::Fault;
use super::edges::weight;
use super::fields::without_end;
use super::join::Joined;
use super::options::{InputFormat, ReadOptions, refuse_table_options};
use super::source::Source;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::progress::Progress;

/// What the first line says.
struct Header {
    nodes: u32,
    edges: u64,
    /// Numbers of a line before its neighbours: size and weights of the node.
    lead: usize,
    has_weights: bool,
}

/// A line of this many bytes may take memory that counts.
const LONG: usize = 1 << 20;

/// One end of an edge: lower node, higher node, weight.
type End = (u32, u32, f32);

/// Reads a METIS file.
pub(super) fn read(
    mut source: Source,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Joined> {
    refuse_table_options(options, InputFormat::Metis)?;
    progress.stage("reading", 0);
    let before = source.lines();
    let text = source.take_all()?;
    let weighted = options.weighted || options.weight.is_some();
    let mut lines = text
        .split_inclusive(|&b| b == b'\n')
        .map(without_end)
        .zip(0u64..);
    let mut lines = lines.by_ref().filter(|(line, _)| !line.starts_with(b"%"));
    let Some((first, number)) = lines.find(|(line, _)| !line.trim_ascii().is_empty()) else {
        return Err(Error::input(
            source.path(),
            "the file has no header, only comments",
            "it begins with `NODES EDGES`",
        ));
    };
    let header = header(first, weighted)
        .map_err(|fault| fault.on_line(number).into_error(&source, before))?;
    let mut ends = ends(&source, before, lines, &header, progress)?;
    check_ends(&mut ends, &header)
        .map_err(|(message, remedy)| Error::input(source.path(), message, remedy))?;
    Ok(ends.into_joined(&header, weighted))
}

/// Reads one line for each node, and checks that there are as many as the header says.
fn ends<'a>(
    source: &Source,
    before: u64,
    lines: impl Iterator<Item = (&'a [u8], u64)>,
    header: &Header,
    progress: &dyn Progress,
) -> Result<Ends> {
    let mut ends = Ends::default();
    let mut node = 0;
    for (line, number) in lines {
        if node == header.nodes {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let message = format!("a line beyond the {} nodes of the header", header.nodes);
            let fault = Fault::new(line, message, "fix the number of nodes, or remove the line");
            return Err(fault.on_line(number).into_error(source, before));
        }
        if line.len() > LONG || node % (1 << 16) == 0 {
            // Two bytes of a line can be one end of an edge.
            source
                .allowance()
                .check(source.path(), (line.len() / 2 * size_of::<End>()) as u64)?;
        }
        ends.add_line(node, line, header)
            .map_err(|fault| fault.on_line(number).into_error(source, before))?;
        node += 1;
        if node.is_multiple_of(1 << 16) {
            progress.check()?;
        }
    }
    if node < header.nodes {
        let message = format!(
            "the header promises {} nodes, but there are lines for {node}",
            header.nodes
        );
        let remedy = "the file is truncated or its first line is wrong; a node without neighbours has an empty line";
        return Err(Error::input(source.path(), message, remedy));
    }
    Ok(ends)
}

/// Sorts the ends of edges, and refuses, with a remedy, those that are not what the header says.
fn check_ends(ends: &mut Ends, header: &Header) -> Result<(), (String, &'static str)> {
    if ends.up.is_empty() && ends.loops == 0 {
        return Err(("there are no edges".into(), "it needs at least one edge"));
    }
    ends.sort();
    if let Some((u, v)) = ends.one_sided() {
        let message = format!(
            "the edge between {} and {} is not in both lines with the same weight",
            u + 1,
            v + 1
        );
        return Err((
            message,
            "METIS lists each edge at both its nodes; use an edge list for a directed graph",
        ));
    }
    let found = ends.up.len() as u64;
    if found != header.edges && found + ends.loops != header.edges {
        let message = format!(
            "the header promises {} edges, but there are {found}",
            header.edges
        );
        return Err((message, "the second number counts each edge once; fix it"));
    }
    Ok(())
}

/// Reads `NODES EDGES [FORMAT [WEIGHTS]]`.
fn header(line: &[u8], weighted: bool) -> Result<Header, Fault> {
    let fault = |message: &str, remedy: &str| Err(Fault::new(line, message, remedy));
    let text = String::from_utf8_lossy(line);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let numbers: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|n| (2..=4).contains(&n.len())) else {
        return fault(
            "this is not a METIS header",
            "it is `NODES EDGES [FORMAT [WEIGHTS]]`, whole numbers; if it is something else, name that with the option `format`",
        );
    };
    let Ok(nodes) = u32::try_from(numbers[0]) else {
        return fault("more nodes than 32 bits can number", "split the graph");
    };
    let flags = format!("{:0>3}", words.get(2).unwrap_or(&"0"));
    let [
        sizes @ ("0" | "1"),
        node_weights @ ("0" | "1"),
        edge_weights @ ("0" | "1"),
    ] = [&flags[..1], &flags[1..2], &flags[2..]]
    else {
        return fault(
            "the format is not made of three digits 0 or 1",
            "it says whether there are node sizes, node weights, edge weights",
        );
    };
    if weighted && edge_weights == "0" {
        return fault(
            "the header says that there are no edge weights",
            "read without weights",
        );
    }
    let number_of_weights = if node_weights == "1" {
        numbers.get(3).copied().unwrap_or(1)
    } else {
        0
    };
    let lead = usize::from(sizes == "1")
        .saturating_add(usize::try_from(number_of_weights).unwrap_or(usize::MAX));
    Ok(Header {
        nodes,
        edges: numbers[1],
        lead,
        has_weights: edge_weights == "1",
    })
}

/// The ends of edges as they are listed, those at the lower node and those at the higher.
#[derive(Default)]
struct Ends {
    up: Vec<End>,
    down: Vec<End>,
    loops: u64,
}

impl Ends {
    fn add_line(&mut self, node: u32, line: &[u8], header: &Header) -> Result<(), Fault> {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let led = words.by_ref().take(header.lead).count();
        if led < header.lead {
            let message = format!(
                "{led} numbers where the header promises {} before the neighbours",
                header.lead
            );
            return Err(Fault::new(
                line,
                message,
                "give each node its size and weights, or fix the format",
            ));
        }
        while let Some(word) = words.next() {
            let neighbour = neighbour(word, header.nodes)?;
            let weight = match header.has_weights.then(|| words.next()) {
                None => 1.0,
                Some(Some(word)) => weight(word)?,
                Some(None) => {
                    return Err(Fault::new(
                        line,
                        "a neighbour without a weight",
                        "the header promises edge weights",
                    ));
                }
            };
            match neighbour.cmp(&node) {
                std::cmp::Ordering::Greater => self.up.push((node, neighbour, weight)),
                std::cmp::Ordering::Less => self.down.push((neighbour, node, weight)),
                std::cmp::Ordering::Equal => self.loops += 1,
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        // Weights are not negative, so their bits are in their order.
        self.up
            .sort_unstable_by_key(|end| (end.0, end.1, end.2.to_bits()));
        self.down
            .sort_unstable_by_key(|end| (end.0, end.1, end.2.to_bits()));
    }

    /// An edge that is not listed equally at both nodes.
    fn one_sided(&self) -> Option<(u32, u32)> {
        let differs = self
            .up
            .iter()
            .zip(&self.down)
            .find(|(up, down)| up != down)
            .map(|(up, down)| {
                if (up.0, up.1) <= (down.0, down.1) {
                    (up.0, up.1)
                } else {
                    (down.0, down.1)
                }
            });
        let shorter = self.up.len().min(self.down.len());
        let rest = self
            .up
            .get(shorter)
            .or(self.down.get(shorter))
            .map(|end| (end.0, end.1));
        differs.or(rest)
    }

    fn into_joined(self, header: &Header, weighted: bool) -> Joined {
        let loops = std::iter::repeat_n((0, 0, 0.0), self.loops as usize);
        let ends = || self.up.iter().copied().chain(loops.clone());
        Joined {
            ids: NodeIds::one_based(header.nodes),
            pairs: ends().map(|end| (end.0, end.1)).collect(),
            weights: weighted.then(|| ends().map(|end| end.2).collect()),
            ignored_weights: if header.has_weights && !weighted {
                self.up.len() as u64
            } else {
                0
            },
            symmetric: true,
            columns: None,
            notes: Vec::new(),
        }
    }
}

fn neighbour(word: &[u8], nodes: u32) -> Result<u32, Fault> {
    match str::from_utf8(word)
        .ok()
        .and_then(|word| word.parse::<u64>().ok())
    {
        Some(number) if (1..=u64::from(nodes)).contains(&number) => Ok((number - 1) as u32),
        Some(_) => Err(Fault::new(
            word,
            format!("a neighbour that is not within 1..{nodes}"),
            "nodes count from 1",
        )),
        None => Err(Fault::new(
            word,
            "a neighbour that is not a whole number",
            "nodes are numbered from 1",
        )),
    }
}
