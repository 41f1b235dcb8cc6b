//! Numbers nodes with ids given by a caller, as the readers do for files: integers in ascending order, text in order of
//! first appearance.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::slice::ParallelSliceMut;

use crate::Edges;
use crate::error::{Error, Result};
use crate::ids::{Names, NodeIds, canonical_integer};
use crate::parallel;
use crate::sparse::offsets;

/// Edges per chunk.
const CHUNK: usize = 1 << 16;

impl NodeIds {
    /// The nodes of `count` edges between integer ids, and the edges between their numbers.
    ///
    /// ```
    /// use hone_graph::NodeIds;
    /// let edges = [(30, 10), (10, 20)];
    /// let (ids, pairs) = NodeIds::number_integers(edges.len(), |e| edges[e])?;
    /// assert_eq!(ids, NodeIds::Integers(vec![10, 20, 30]));
    /// assert_eq!(pairs, [(2, 0), (0, 1)]);
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn number_integers(
        count: usize,
        edge: impl Fn(usize) -> (i64, i64) + Sync,
    ) -> Result<(NodeIds, Edges)> {
        let chunk = |c: usize| {
            let edges = c * CHUNK..count.min((c + 1) * CHUNK);
            let narrow = |e| {
                let (u, v) = edge(e);
                Some((u32::try_from(u).ok()?, u32::try_from(v).ok()?))
            };
            let small: Option<Vec<_>> = edges.clone().map(narrow).collect();
            small.map_or_else(|| Ends::Wide(edges.map(&edge).collect()), Ends::Narrow)
        };
        let chunks = parallel::map(count.div_ceil(CHUNK), chunk);
        if count == 0 {
            return Ok((NodeIds::Sequential(0), Vec::new()));
        }
        join(chunks).ok_or_else(too_many)
    }

    /// The nodes of edges between names, and the edges between their numbers.
    pub fn number_texts<'a>(
        edges: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<(NodeIds, Edges)> {
        let mut names = Names::new();
        let pair = |(u, v)| names.intern(u).zip(names.intern(v));
        let pairs = edges
            .map(pair)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(too_many)?;
        Ok((names.into_ids(), pairs))
    }
}

fn too_many() -> Error {
    Error::config(
        "nodes",
        format!("more than {}; nodes are numbered in 32 bits", u32::MAX),
    )
}

/// The ids of nodes, and edges between their numbers.
type Numbered = (NodeIds, Edges);

/// Both ends of every edge of a `Chunk`.
#[derive(Debug)]
pub enum Ends {
    /// Final node numbers.
    Nodes(Edges),
    /// Integer ids that fit u32.
    Narrow(Edges),
    /// Integer ids.
    Wide(Vec<(i64, i64)>),
    /// Numbers of names of this chunk.
    Text(Names, Edges),
}

impl Ends {
    /// Number of edges.
    pub fn len(&self) -> usize {
        match self {
            Ends::Nodes(pairs) | Ends::Narrow(pairs) | Ends::Text(_, pairs) => pairs.len(),
            Ends::Wide(pairs) => pairs.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an edge between two ids, widening what is there if it must; whether there was room
    /// for the names.
    pub fn push(&mut self, u: &str, v: &str) -> bool {
        if let Ends::Text(names, pairs) = self {
            let pair = names.intern(u).zip(names.intern(v));
            pairs.extend(pair);
            return pair.is_some();
        }
        if let Some((u, v)) = canonical_integer(u.as_bytes()).zip(canonical_integer(v.as_bytes())) {
            return self.push_integers(u, v);
        }
        let text = std::mem::replace(self, Ends::Narrow(Vec::new())).into_text();
        text.is_some_and(|(names, pairs)| {
            *self = Ends::Text(names, pairs);
            self.push(u, v)
        })
    }

    /// [`Ends::push`] for two integers.
    pub fn push_integers(&mut self, u: i64, v: i64) -> bool {
        match self {
            Ends::Narrow(pairs) | Ends::Nodes(pairs) => {
                if let (Ok(u), Ok(v)) = (u.try_into(), v.try_into()) {
                    pairs.push((u, v));
                } else {
                    let wide = pairs.iter().map(|&(u, v)| (u.into(), v.into()));
                    *self = Ends::Wide(wide.chain([(u, v)]).collect());
                }
            }
            Ends::Wide(pairs) => pairs.push((u, v)),
            Ends::Text(..) => return self.push(&u.to_string(), &v.to_string()),
        }
        true
    }

    /// The ids as names; none when there are too many.
    fn into_text(self) -> Option<(Names, Edges)> {
        let mut names = Names::new();
        let mut number = |id: i64| names.intern(&id.to_string());
        let pairs: Option<Vec<_>> = match self {
            Ends::Text(names, pairs) => return Some((names, pairs)),
            Ends::Wide(pairs) => {
                let pairs = pairs.iter();
                pairs.map(|&(u, v)| number(u).zip(number(v))).collect()
            }
            Ends::Narrow(pairs) | Ends::Nodes(pairs) => {
                let pairs = pairs.iter().map(|&(u, v)| (u.into(), v.into()));
                pairs.map(|(u, v)| number(u).zip(number(v))).collect()
            }
        };
        Some((names, pairs?))
    }
}

/// Numbers the nodes of all chunks: integers ascending, text in order of first appearance; none
/// when there are too many.
pub fn join(ends: Vec<Ends>) -> Option<Numbered> {
    join_within(ends, &|_| Ok(())).ok().flatten()
}

/// The same, with `room` refusing this many additional bytes if they do not fit.
pub fn join_within(ends: Vec<Ends>, room: &dyn Fn(u64) -> Result<()>) -> Result<Option<Numbered>> {
    if ends.iter().any(|ends| matches!(ends, Ends::Text(..))) {
        return join_text(ends, room);
    }
    if !ends.iter().any(|ends| matches!(ends, Ends::Wide(_))) {
        return Ok(join_narrow(ends.into_iter().map(narrow).collect()));
    }
    let wide = |_, ends| match ends {
        Ends::Wide(pairs) => pairs,
        other => {
            let pairs = narrow(other).into_iter();
            pairs.map(|(u, v)| (u.into(), v.into())).collect()
        }
    };
    Ok(join_sorted::<i64>(parallel::map_each(ends, wide)))
}

/// The edges of a chunk whose ids fit u32.
pub fn narrow(ends: Ends) -> Edges {
    match ends {
        Ends::Narrow(pairs) | Ends::Nodes(pairs) => pairs,
        Ends::Wide(_) | Ends::Text(..) => unreachable!("only narrow chunks come here"),
    }
}

fn join_text(ends: Vec<Ends>, room: &dyn Fn(u64) -> Result<()>) -> Result<Option<Numbered>> {
    let local = parallel::map_each(ends, |_, ends| ends.into_text())
        .into_iter()
        .collect::<Option<Vec<_>>>();
    let Some(local) = local else { return Ok(None) };
    let mut names = Names::new();
    let mut chunks = Vec::with_capacity(local.len());
    for (local, pairs) in local {
        room(names.growth(local.len()))?;
        let numbers: Option<Vec<u32>> = (0..local.len() as u32)
            .map(|i| names.intern(local.get(i)))
            .collect();
        let Some(numbers) = numbers else {
            return Ok(None);
        };
        chunks.push((numbers, pairs));
    }
    let pairs = parallel::map_each(chunks, |_, (numbers, pairs): (Vec<u32>, Edges)| {
        let number = |(u, v)| (numbers[u as usize], numbers[v as usize]);
        pairs.into_iter().map(number).collect()
    });
    Ok(Some((names.into_ids(), concat(pairs, |node| node))))
}

/// Numbers ids by sorting them all.
fn join_sorted<T: Copy + Ord + Send + Sync + Into<i64>>(
    chunks: Vec<Vec<(T, T)>>,
) -> Option<Numbered> {
    let mut ids: Vec<T> = Vec::with_capacity(2 * chunks.iter().map(Vec::len).sum::<usize>());
    for chunk in &chunks {
        ids.extend(chunk.iter().flat_map(|&(u, v)| [u, v]));
    }
    ids.par_sort_unstable();
    ids.dedup();
    if ids.len() > u32::MAX as usize {
        return None;
    }
    let pairs = concat(chunks, |id| ids.partition_point(|&other| other < id) as u32);
    let ids = ids.into_iter().map(Into::into).collect();
    Some((NodeIds::from_integers(ids), pairs))
}

fn join_narrow(chunks: Vec<Edges>) -> Option<Numbered> {
    let total: usize = chunks.iter().map(Vec::len).sum();
    let largest = parallel::map(chunks.len(), |at| {
        chunks[at].iter().map(|&(u, v)| u.max(v)).max()
    });
    let largest = largest.into_iter().flatten().max().unwrap_or(0) as usize;
    if largest / 64 > 2 * total + (1 << 16) {
        return join_sorted(chunks);
    }
    let seen = Bitmap::new(&chunks, largest);
    let count = seen.count();
    if count > u32::MAX as usize {
        return None;
    }
    if total > 0 && count == largest + 1 {
        return Some((NodeIds::Sequential(count), concat(chunks, |id| id)));
    }
    let pairs = concat(chunks, |id| seen.rank(id));
    Some((NodeIds::Integers(seen.ids()), pairs))
}

/// Puts the chunks in a row, translating every id.
pub fn concat<T: Copy + Send + Sync>(
    chunks: Vec<Vec<(T, T)>>,
    node: impl Fn(T) -> u32 + Sync,
) -> Edges {
    let starts = offsets(chunks.iter().map(Vec::len));
    let mut pairs = vec![(0, 0); starts[chunks.len()]];
    let parts = parallel::cut(&mut pairs, &starts).into_iter().zip(chunks);
    parallel::map_each(parts.collect(), |_, (part, chunk)| {
        for (pair, (u, v)) in part.iter_mut().zip(chunk) {
            *pair = (node(u), node(v));
        }
    });
    pairs
}

/// A set of u32 ids with the rank of each: one bit per id, one count per word.
struct Bitmap {
    words: Vec<u64>,
    /// Members before each word.
    before: Vec<u32>,
}

impl Bitmap {
    fn new(chunks: &[Edges], largest: usize) -> Self {
        let words: Vec<AtomicU64> = (0..=largest / 64).map(|_| AtomicU64::new(0)).collect();
        parallel::for_each(chunks.len(), &|at| {
            for id in chunks[at].iter().flat_map(|&(u, v)| [u, v]) {
                let (word, bit) = (&words[id as usize / 64], 1 << (id % 64));
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        });
        let words: Vec<u64> = words.into_iter().map(AtomicU64::into_inner).collect();
        let counts = words.iter().map(|word| word.count_ones());
        let before = counts
            .scan(0u32, |sum, count| {
                Some(std::mem::replace(sum, sum.wrapping_add(count)))
            })
            .collect();
        Bitmap { words, before }
    }

    fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    fn rank(&self, id: u32) -> u32 {
        let (word, bit) = (id as usize / 64, id % 64);
        self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones()
    }

    /// Members, ascending.
    fn ids(&self) -> Vec<i64> {
        let bits = |(w, &word): (usize, &u64)| {
            let ones = (0..64i64).filter(move |bit| word >> bit & 1 == 1);
            ones.map(move |bit| 64 * w as i64 + bit)
        };
        self.words.iter().enumerate().flat_map(bits).collect()
    }
}
