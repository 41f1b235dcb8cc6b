//! The memory that a run needs whose graph did not fit, estimated from the size of the graph.
//!
//! The needs of the stages are linear in nodes and edges, or maxima of such terms. So the work is tried, under a limit
//! of one byte, on a ring with as many nodes and edges, in which each node is linked to the next few; the refusal says
//! what it needs. For a large graph the need is extrapolated from two smaller rings.

use hone::graph::{Graph, GraphBuilder, Input, ReadOptions, Sizes, sizes};
use hone::{Error, Silent};

/// Bytes that may be used, whatever the limit, to read a file for its size alone.
const AGAIN: u64 = 256 << 20;
/// Edges of the largest ring: as many as can be, and bytes of the limit for each.
const LARGEST: u64 = 1 << 20;
const PER_EDGE: u64 = 128;
/// Edges that every ring may have: with fewer, what one part adds would be lost in what a process holds anyway.
const SMALLEST: u64 = 1 << 16;

/// Work on a graph under a limit of one byte.
pub(crate) type Work<'a> = &'a dyn Fn(&Graph) -> Result<(), Error>;

/// The refusal of a graph that cannot be read, with memory that is enough for the work that follows, too.
pub(crate) fn foreseen(error: anyhow::Error, input: &Input, work: Work) -> anyhow::Error {
    let (stage, need, limit, remedy) = match error.downcast::<Error>() {
        Ok(Error::Memory {
            stage,
            need,
            limit,
            remedy,
            ..
        }) => (stage, need, limit, remedy),
        Ok(other) => return other.into(),
        Err(other) => return other,
    };
    let options = ReadOptions {
        memory: Some(limit.max(AGAIN)),
        ..input.options.clone()
    };
    let sizes = sizes(&input.path, &options, &Silent).ok().flatten();
    match sizes.and_then(|sizes| {
        all(
            &sizes,
            (limit / PER_EDGE).clamp(SMALLEST, LARGEST),
            input,
            work,
        )
    }) {
        Some(more) => {
            let (stage, need) = (
                format!("{stage}, with the work that follows,"),
                need.max(more),
            );
            let remedy = "raise the memory limit, or give a smaller graph".to_owned();
            Error::Memory {
                stage,
                need,
                least: false,
                limit,
                remedy,
            }
            .into()
        }
        None => Error::Memory {
            stage,
            need,
            least: true,
            limit,
            remedy,
        }
        .into(),
    }
}

/// Bytes that the work on a graph of this size takes.
fn all(sizes: &Sizes, largest: u64, input: &Input, work: Work) -> Option<u64> {
    let parts = sizes.edges.max(sizes.nodes).div_ceil(largest).max(1);
    let of = |parts: u64| -> Option<u64> {
        let graph = ring(
            sizes.nodes.div_ceil(parts),
            sizes.edges.div_ceil(parts),
            input,
        )?;
        match work(&graph) {
            Err(Error::Memory { need, .. }) => Some(need),
            _ => None,
        }
    };
    let one = of(parts)?;
    // What one part more adds is seen by comparison with half of it.
    let added = if parts > 1 {
        2 * one.saturating_sub(of(2 * parts)?)
    } else {
        0
    };
    Some(one + added * (parts - 1) + sizes.leftover())
}

/// A ring of this many nodes and edges.
fn ring(nodes: u64, edges: u64, input: &Input) -> Option<Graph> {
    let nodes = u32::try_from(nodes.max(3)).ok()?;
    let step = |edge: u64| 1 + (edge / u64::from(nodes)) as u32 % (nodes - 1);
    let ends = |edge: u64| {
        let from = (edge % u64::from(nodes)) as u32;
        (
            from,
            ((u64::from(from) + u64::from(step(edge))) % u64::from(nodes)) as u32,
        )
    };
    let options = &input.options;
    let count = nodes as usize;
    let builder = if options.directed {
        GraphBuilder::directed(count)
    } else {
        GraphBuilder::undirected(count)
    };
    let builder = builder.edges((0..edges).map(ends).collect::<Vec<_>>());
    let weighted = options.weighted || options.weight.is_some();
    let builder = if weighted {
        builder.weights(vec![1.0; edges as usize])
    } else {
        builder
    };
    builder.build().ok()
}
