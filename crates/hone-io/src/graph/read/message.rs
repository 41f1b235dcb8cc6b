//! [`Chunk`]s as bytes, for other processes: numbers in little-endian order, arrays after their lengths.
//!
//! A message has some chunks, each after its length, so that they can be decoded in parallel. Whatever arrives is checked
//! and decoded without a panic: lengths against what is there, names as UTF-8, numbers of names against their count.

use std::ops::Range;

use super::comments::Tally;
use super::join::Chunk;
use crate::parallel;
use hone_graph::Names;
use hone_graph::number::Ends;

/// Cuts chunks into messages of about `most` bytes, of at least one chunk each.
pub(super) fn cut(chunks: &[Chunk], most: u64) -> Vec<Range<usize>> {
    let (mut messages, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for (at, chunk) in chunks.iter().enumerate() {
        if at > begin && bytes + chunk.bytes() > most {
            messages.push(begin..at);
            (begin, bytes) = (at, 0);
        }
        bytes += chunk.bytes();
    }
    if begin < chunks.len() {
        messages.push(begin..chunks.len());
    }
    messages
}

/// Chunks as one message.
pub(super) fn encode(chunks: &[Chunk]) -> Vec<u8> {
    let encoded = parallel::map(chunks.len(), |at| one(&chunks[at]));
    let mut out = Vec::with_capacity(encoded.iter().map(|bytes| bytes.len() + 8).sum());
    encoded.iter().for_each(|bytes| put_bytes(&mut out, bytes));
    out
}

/// The chunks of a message, still encoded.
pub(super) fn split(message: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut rest, mut pieces) = (Rest(message), Vec::new());
    while !rest.0.is_empty() {
        pieces.push(rest.bytes()?);
    }
    Some(pieces)
}

/// The chunk of some bytes; none if they are not those of a chunk.
pub(super) fn decode(bytes: &[u8]) -> Option<Chunk> {
    let mut rest = Rest(bytes);
    let ends = match rest.number()? {
        0 => Ends::Nodes(rest.pairs()?),
        1 => Ends::Narrow(rest.pairs()?),
        2 => Ends::Wide(rest.wide_pairs()?),
        3 => {
            let names = rest.names()?;
            let pairs = rest.pairs()?;
            if pairs.iter().any(|&(u, v)| u.max(v) as usize >= names.len()) {
                return None;
            }
            Ends::Text(names, pairs)
        }
        _ => return None,
    };
    let weights: Vec<f32> = rest
        .array::<4>()?
        .iter()
        .map(|&bytes| f32::from_le_bytes(bytes))
        .collect();
    if !weights.is_empty() && weights.len() != ends.len() {
        return None;
    }
    let (read, skipped, headers) = (rest.tally()?, rest.tally()?, rest.tally()?);
    rest.0.is_empty().then_some(Chunk {
        ends,
        weights,
        read,
        skipped,
        headers,
    })
}

fn one(chunk: &Chunk) -> Vec<u8> {
    let mut out = Vec::with_capacity(chunk.bytes() as usize + 256);
    match &chunk.ends {
        Ends::Nodes(pairs) => put_pairs(&mut out, 0, pairs),
        Ends::Narrow(pairs) => put_pairs(&mut out, 1, pairs),
        Ends::Wide(pairs) => {
            put_number(&mut out, 2);
            put_number(&mut out, pairs.len() as u64);
            for (u, v) in pairs {
                out.extend_from_slice(&u.to_le_bytes());
                out.extend_from_slice(&v.to_le_bytes());
            }
        }
        Ends::Text(names, pairs) => {
            put_number(&mut out, 3);
            put_number(&mut out, names.len() as u64);
            let names = || (0..names.len() as u32).map(|i| names.get(i));
            // No line and no value of a Parquet file is longer than 32 bits can say.
            let length = |name: &str| u32::try_from(name.len()).unwrap_or(u32::MAX);
            names().for_each(|name| out.extend_from_slice(&length(name).to_le_bytes()));
            put_number(&mut out, names().map(str::len).sum::<usize>() as u64);
            names().for_each(|name| out.extend_from_slice(name.as_bytes()));
            put_list(&mut out, pairs);
        }
    }
    put_number(&mut out, chunk.weights.len() as u64);
    chunk
        .weights
        .iter()
        .for_each(|weight| out.extend_from_slice(&weight.to_le_bytes()));
    for tally in [&chunk.read, &chunk.skipped, &chunk.headers] {
        put_number(&mut out, tally.count);
        put_bytes(&mut out, &tally.example);
    }
    out
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_pairs(out: &mut Vec<u8>, kind: u64, pairs: &[(u32, u32)]) {
    put_number(out, kind);
    put_list(out, pairs);
}

fn put_list(out: &mut Vec<u8>, pairs: &[(u32, u32)]) {
    put_number(out, pairs.len() as u64);
    for &(u, v) in pairs {
        out.extend_from_slice(&(u64::from(v) << 32 | u64::from(u)).to_le_bytes());
    }
}

/// Bytes that were not decoded yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// The next bytes, so many.
    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    /// An array of values of `N` bytes, after its length.
    fn array<const N: usize>(&mut self) -> Option<&'a [[u8; N]]> {
        let length = self.number()?.checked_mul(N as u64)?;
        Some(self.take(length)?.as_chunks().0)
    }

    fn pairs(&mut self) -> Option<Vec<(u32, u32)>> {
        let pair = |&bytes: &[u8; 8]| {
            let both = u64::from_le_bytes(bytes);
            (both as u32, (both >> 32) as u32)
        };
        Some(self.array()?.iter().map(pair).collect())
    }

    fn wide_pairs(&mut self) -> Option<Vec<(i64, i64)>> {
        let pair = |&bytes: &[u8; 16]| {
            let both = u128::from_le_bytes(bytes);
            (both as u64 as i64, (both >> 64) as u64 as i64)
        };
        Some(self.array()?.iter().map(pair).collect())
    }

    fn names(&mut self) -> Option<Names> {
        let lengths = self
            .array::<4>()?
            .iter()
            .map(|&bytes| u32::from_le_bytes(bytes));
        let text = str::from_utf8(self.bytes()?).ok()?;
        Names::listed(lengths, text)
    }

    fn tally(&mut self) -> Option<Tally> {
        Some(Tally {
            count: self.number()?,
            example: self.bytes()?.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks() -> Vec<Chunk> {
        let mut text = Ends::Narrow(Vec::new());
        for (u, v) in [("ann", "bob"), ("bob", "ü"), ("7", "ann"), ("", "x")] {
            assert!(text.push(u, v));
        }
        let mut read = Tally::default();
        read.add(b"#1 2");
        let narrow = vec![(0, u32::MAX), (7, 7)];
        vec![
            Chunk::new(Ends::Nodes(vec![(3, 4)]), vec![0.5]),
            Chunk {
                read,
                ..Chunk::new(Ends::Narrow(narrow), vec![1.0, f32::MAX])
            },
            Chunk::new(Ends::Wide(vec![(i64::MIN, -1), (i64::MAX, 0)]), Vec::new()),
            Chunk::new(text, Vec::new()),
            Chunk::new(Ends::Narrow(Vec::new()), Vec::new()),
        ]
    }

    fn shown(chunk: &Chunk) -> String {
        let ends = match &chunk.ends {
            Ends::Text(names, pairs) => {
                format!(
                    "{:?} {pairs:?}",
                    (0..names.len() as u32)
                        .map(|i| names.get(i).to_owned())
                        .collect::<Vec<_>>()
                )
            }
            other => format!("{other:?}"),
        };
        format!(
            "{ends} {:?} {:?} {:?} {:?}",
            chunk.weights, chunk.read, chunk.skipped, chunk.headers
        )
    }

    #[test]
    fn chunks_arrive_as_they_were_sent() {
        let chunks = chunks();
        let message = encode(&chunks);
        let pieces = split(&message).expect("whole chunks");
        assert_eq!(pieces.len(), chunks.len());
        for (chunk, piece) in chunks.iter().zip(pieces) {
            assert_eq!(shown(&decode(piece).expect("a chunk")), shown(chunk));
        }
        assert!(split(&[]).is_some_and(|pieces| pieces.is_empty()));
    }

    #[test]
    fn damaged_messages_are_noticed() {
        for chunk in &chunks() {
            let bytes = one(chunk);
            for length in 0..bytes.len() {
                assert!(
                    decode(&bytes[..length]).is_none(),
                    "{length} of {}",
                    bytes.len()
                );
            }
            // Whatever a byte becomes, there is no panic.
            for at in 0..bytes.len() {
                for value in [0, 1, 2, 3, 127, 255] {
                    let mut bytes = bytes.clone();
                    bytes[at] = value;
                    let _ = decode(&bytes).map(|chunk| hone_graph::number::join(vec![chunk.ends]));
                    let _ = split(&bytes);
                }
            }
        }
    }

    #[test]
    fn messages_have_whole_chunks() {
        let chunks = chunks();
        let all: u64 = chunks.iter().map(Chunk::bytes).sum();
        assert_eq!(cut(&chunks, all), vec![0..5]);
        assert_eq!(
            cut(&chunks, 0),
            (0..5).map(|at| at..at + 1).collect::<Vec<_>>()
        );
        assert!(cut(&[], 9).is_empty());
    }
}
