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
const KARATE: &str = "1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31; 2 3 7 13 17 19 21 30; 3 7 8 9 13 27 28 32; 7 12 13; 6 \
     10; 6 10 16; 16; ; 30 32 33; 33; ; ; ; 33; 32 33; 32 33; ; ; 32 33; 33; 32 33; ; 32 33; 25 27 29 \
     32 33; 25 27 31; 31; 29 33; 33; 31 33; 32 33; 32 33; 32 33; 33;";

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

/// The later families that each married into.
const MARRIAGES: &str = "8; 5 6 8; 4 8; 6 10 13; 10 13; ; 7 14; ; 11 12 14; 12; 13; 13 14; ; ;";

/// The built-in graph called `name` (without the prefix), or an error that lists the known names.
///
/// ```
/// let karate = hone_graph::builtin("karate")?;
/// assert_eq!((karate.nodes(), karate.edges()), (34, 78));
/// # Ok::<(), hone_graph::Error>(())
/// ```
pub fn builtin(name: &str) -> Result<Graph> {
    let (nodes, edges) = match name {
        "karate" => (34, later_neighbours(KARATE)),
        "florentine" => (15, later_neighbours(MARRIAGES)),
        // An outer cycle, an inner star that joins every second node, and the spokes between them.
        "petersen" => {
            let edges = |i: u32| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)];
            (10, (0..5).flat_map(edges).collect())
        }
        "star" => (11, (1..=10).map(|leaf| (0, leaf)).collect()),
        "grid" => {
            let right = (0..25).filter(|i| i % 5 < 4).map(|i| (i, i + 1));
            (25, right.chain((0..20).map(|i| (i, i + 5))).collect())
        }
        "barbell" => return Generator::Barbell { size: 5, path: 3 }.graph(0, &Silent),
        "ring-of-cliques" => {
            let (cliques, size) = (6, 5);
            return Generator::RingOfCliques { cliques, size }.graph(0, &Silent);
        }
        _ => {
            let hint = spelling::hint(name, BUILTINS.iter().map(|known| known.0));
            let message = format!("no such built-in graph{hint}");
            return Err(Error::input(format!("{BUILTIN_PREFIX}{name}"), message, ""));
        }
    };
    let ids = match name {
        "florentine" => NodeIds::from_texts(&FAMILIES),
        _ => NodeIds::Sequential(nodes),
    };
    GraphBuilder::undirected(nodes)
        .ids(ids)
        .edges(edges)
        .build()
}

/// Edges from each node to the later ones in its part of a text.
fn later_neighbours(text: &'static str) -> Vec<(u32, u32)> {
    let rows = (0..).zip(text.split(';'));
    let numbers = |row: &'static str| row.split_whitespace().map(|v| v.parse().expect("a number"));
    rows.flat_map(|(u, row)| numbers(row).map(move |v| (u, v)))
        .collect()
}
