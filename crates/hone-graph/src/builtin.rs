//! Small built-in graphs for first steps, examples and tests: `builtin:karate` and others.

use super::{Generator, Graph, GraphBuilder, NodeIds};
use crate::error::{Error, Result};
use crate::progress::Silent;
use crate::spelling;

/// The prefix that makes an input name a built-in graph instead of a file.
pub const BUILTIN_PREFIX: &str = "builtin:";

/// Every built-in graph: its name and what it is.
pub const BUILTINS: [(&str, &str); 7] = [
    (
        "karate",
        "Zachary's karate club: 34 members, 78 friendships (Zachary 1977)",
    ),
    (
        "florentine",
        "marriages of 15 Florentine families, 20 edges, named nodes (Padgett and Ansell 1993)",
    ),
    (
        "petersen",
        "the Petersen graph: 10 nodes, 15 edges, 3-regular, no triangle",
    ),
    ("star", "a hub with 10 leaves"),
    ("grid", "a grid of 5 by 5 nodes, 40 edges"),
    ("barbell", "two cliques of 5 nodes joined by a path of 3"),
    ("ring-of-cliques", "six cliques of 5 nodes in a ring"),
];

/// Friends of each karate club member that have a larger number, members numbered from 0.
const KARATE: [&[u32]; 34] = [
    &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
    &[2, 3, 7, 13, 17, 19, 21, 30],
    &[3, 7, 8, 9, 13, 27, 28, 32],
    &[7, 12, 13],
    &[6, 10],
    &[6, 10, 16],
    &[16],
    &[],
    &[30, 32, 33],
    &[33],
    &[],
    &[],
    &[],
    &[33],
    &[32, 33],
    &[32, 33],
    &[],
    &[],
    &[32, 33],
    &[33],
    &[32, 33],
    &[],
    &[32, 33],
    &[25, 27, 29, 32, 33],
    &[25, 27, 31],
    &[31],
    &[29, 33],
    &[33],
    &[31, 33],
    &[32, 33],
    &[32, 33],
    &[32, 33],
    &[33],
    &[],
];

/// The Florentine families; Pucci, who married into none of the others, is left out as usual.
const FAMILIES: [&str; 15] = [
    "Acciaiuoli",
    "Albizzi",
    "Barbadori",
    "Bischeri",
    "Castellani",
    "Ginori",
    "Guadagni",
    "Lamberteschi",
    "Medici",
    "Pazzi",
    "Peruzzi",
    "Ridolfi",
    "Salviati",
    "Strozzi",
    "Tornabuoni",
];

/// Marriages, as indices into [`FAMILIES`].
const MARRIAGES: [(u32, u32); 20] = [
    (0, 8),
    (1, 5),
    (1, 6),
    (1, 8),
    (2, 4),
    (2, 8),
    (3, 6),
    (3, 10),
    (3, 13),
    (4, 10),
    (4, 13),
    (6, 7),
    (6, 14),
    (8, 11),
    (8, 12),
    (8, 14),
    (9, 12),
    (10, 13),
    (11, 13),
    (11, 14),
];

/// The built-in graph called `name` (without the prefix), or an error that lists the known names.
///
/// ```
/// let karate = hone_graph::builtin("karate")?;
/// assert_eq!((karate.nodes(), karate.edges()), (34, 78));
/// # Ok::<(), hone_graph::Error>(())
/// ```
pub fn builtin(name: &str) -> Result<Graph> {
    let builder = match name {
        "karate" => GraphBuilder::undirected(34).edges(karate()),
        "florentine" => GraphBuilder::undirected(FAMILIES.len())
            .ids(names(&FAMILIES))
            .edges(MARRIAGES.to_vec()),
        "petersen" => GraphBuilder::undirected(10).edges(petersen()),
        "star" => GraphBuilder::undirected(11).edges((1..=10).map(|leaf| (0, leaf)).collect()),
        "grid" => GraphBuilder::undirected(25).edges(grid(5)),
        "barbell" => return Generator::Barbell { size: 5, path: 3 }.graph(0, &Silent),
        "ring-of-cliques" => {
            return Generator::RingOfCliques {
                cliques: 6,
                size: 5,
            }
            .graph(0, &Silent);
        }
        _ => return Err(unknown(name)),
    };
    builder.build()
}

fn unknown(name: &str) -> Error {
    let hint = spelling::hint(name, BUILTINS.iter().map(|known| known.0));
    Error::input(
        format!("{BUILTIN_PREFIX}{name}"),
        format!("no such built-in graph{hint}"),
        "",
    )
}

fn names(names: &[&str]) -> NodeIds {
    let mut offsets = vec![0];
    let mut bytes = String::new();
    for name in names {
        bytes.push_str(name);
        offsets.push(bytes.len());
    }
    NodeIds::Text { offsets, bytes }
}

fn karate() -> Vec<(u32, u32)> {
    (0..)
        .zip(KARATE)
        .flat_map(|(u, friends)| friends.iter().map(move |&v| (u, v)))
        .collect()
}

/// An outer cycle, an inner star that joins every second node, and the spokes between them.
fn petersen() -> Vec<(u32, u32)> {
    (0..5)
        .flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)])
        .collect()
}

fn grid(side: u32) -> Vec<(u32, u32)> {
    let right = (0..side * side)
        .filter(|i| i % side + 1 < side)
        .map(|i| (i, i + 1));
    let down = (0..side * (side - 1)).map(|i| (i, i + side));
    right.chain(down).collect()
}
