//! Counts as bytes, for checkpoints: the narrow columns unchanged, little-endian.
//!
//! Loading needs the graph that was counted. Lengths and the shape of every column are checked, so that no input
//! causes a panic; the caller has to know that the counts belong to the graph (checkpoints store a checksum).

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use super::column::{Column, read_bytes};
use super::counts::{Counts, Values};
use super::estimate::Estimated;
use super::formula::Primitives;
use super::sample::Sampled;
use super::triad::Triads;
use crate::Graph;
use crate::sparse::Pattern;
use crate::storage::Pages;

const ABSENT: u8 = 0;
const EXACT: u8 = 1;
const ESTIMATED: u8 = 2;
/// More common neighbours of an edge than any graph has, and more of everything else: products and sums of them over a
/// node's edges stay within 127 bits.
const MOST_COMMON: f32 = 1e12;
const MOST: f32 = 1e26;
/// Bytes that the facts of a sample take at most.
const LONGEST_FACTS: u64 = 1 << 20;

impl Counts {
    /// Writes all counts.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.values {
            Values::Absent => out.write_all(&[ABSENT])?,
            Values::Exact(exact) => {
                out.write_all(&[EXACT])?;
                for column in exact.columns() {
                    column.save(out)?;
                }
            }
            Values::Estimated(estimated) => {
                out.write_all(&[ESTIMATED])?;
                let facts = serde_json::to_vec(&estimated.facts)?;
                out.write_all(&(facts.len() as u64).to_le_bytes())?;
                out.write_all(&facts)?;
                for x in 0..6 {
                    for slots in estimated.slots.chunks(1 << 16) {
                        let bytes = slots.iter().flat_map(|slot| slot[x].to_le_bytes());
                        out.write_all(&bytes.collect::<Vec<u8>>())?;
                    }
                }
            }
        }
        out.write_all(&[u8::from(self.triads().is_some())])?;
        self.triads().map_or(Ok(()), |triads| triads.save(out))
    }

    /// Reads what [`Counts::save`] wrote for this graph.
    pub fn load(graph: &Graph, input: &mut dyn Read) -> io::Result<Counts> {
        let pattern = graph.symmetric_pattern();
        let mut kind = [0];
        input.read_exact(&mut kind)?;
        let mut counts = match kind[0] {
            ABSENT => Counts::new(pattern, Values::Absent),
            EXACT => load_exact(pattern, input)?,
            ESTIMATED => load_estimated(&pattern, input)?,
            _ => return Err(invalid("not motif counts")),
        };
        input.read_exact(&mut kind)?;
        if kind[0] == 1 {
            counts = counts.with_triads(Triads::load(graph, input)?);
        }
        match input.read(&mut kind)? {
            0 => Ok(counts),
            _ => Err(invalid("there is more than the motif counts of this graph")),
        }
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

fn load_exact(pattern: Arc<Pattern>, input: &mut dyn Read) -> io::Result<Counts> {
    let (slots, nodes) = (pattern.nnz(), pattern.rows());
    let (t, c) = (Column::load(slots, input)?, Column::load(slots, input)?);
    let inside = t.nonzeros(0..slots);
    let mut next = |len: usize| Column::load(len, input);
    let (k, q, r) = (next(inside)?, next(inside)?, next(inside)?);
    let (d, triangles, s) = (next(nodes)?, next(nodes)?, next(nodes)?);
    // The factors of products; everything else is only summed.
    let fits = |i: usize| {
        let range = pattern.range(i);
        d.get(i) == range.len() as u64 && range.into_iter().all(|slot| t.get(slot) < d.get(i))
    };
    if !(0..nodes).all(fits) {
        return Err(invalid("these are the motif counts of another graph"));
    }
    let primitives = Primitives {
        t,
        c,
        k,
        q,
        r,
        triangles,
        s,
    };
    Ok(Counts::of_primitives(pattern, primitives))
}

fn load_estimated(pattern: &Arc<Pattern>, input: &mut dyn Read) -> io::Result<Counts> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_FACTS {
        return Err(invalid("these are not facts of a sample"));
    }
    let mut facts = Vec::new();
    input.take(length).read_to_end(&mut facts)?;
    let facts: Sampled = serde_json::from_slice(&facts)?;
    let mut slots = Pages::<[f32; 6]>::zeros(pattern.nnz());
    for x in 0..6 {
        let most = if x == 0 { MOST_COMMON } else { MOST };
        let bytes = read_bytes(4 * slots.len(), input)?;
        for (slot, bytes) in slots.iter_mut().zip(bytes.as_chunks().0) {
            slot[x] = f32::from_le_bytes(*bytes);
        }
        if !slots.iter().all(|slot| slot[x].abs() <= most) {
            return Err(invalid("an estimate is larger than any graph's"));
        }
    }
    let estimated = Estimated::new(pattern, slots, facts);
    let values = Values::Estimated(Box::new(estimated));
    Ok(Counts::new(pattern.clone(), values))
}
