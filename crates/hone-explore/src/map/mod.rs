//! [`Map`]: a graph as one self-contained page that opens from disk, or as a picture.
//!
//! The page contains all nodes with their positions, roles, motif counts, nearest neighbours and edges as compressed
//! arrays, and the script that shows them (`page/`); nothing is loaded from a network. `picture` draws the
//! same points as SVG or PNG.

mod colour;
mod page;
mod picture;

use hone::dense::Block;
use hone::graph::Graph;
use hone::{Error, Result};

use crate::roles::Roles;
use crate::search::Neighbours;

pub use colour::{Colour, read_attributes, read_labels};

/// Everything that a map shows.
#[derive(Debug)]
pub struct Map<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// What it is called.
    pub title: String,
    /// Two columns, one row per node.
    pub positions: &'a Block,
    /// The roles of the nodes, with their motif counts.
    pub roles: &'a Roles,
    /// The most similar nodes of each node.
    pub neighbours: Option<&'a Neighbours>,
    /// What nodes can be coloured by besides role, degree and motifs.
    pub colours: Vec<Colour>,
}

impl Map<'_> {
    /// Refuses parts that do not belong together.
    fn check(&self) -> Result<()> {
        let n = self.graph.nodes();
        let neighbours = self.neighbours.filter(|neighbours| !neighbours.is_empty());
        let parts = [
            ("positions", self.positions.rows()),
            ("roles", self.roles.nodes()),
            ("neighbours", neighbours.map_or(n, Neighbours::len)),
        ];
        let colours = self
            .colours
            .iter()
            .map(|colour| (colour.name(), colour.nodes()));
        if let Some((what, size)) = parts.into_iter().chain(colours).find(|part| part.1 != n) {
            let message = format!("{size} rows for {n} nodes; give one per node");
            return Err(Error::config(what, message));
        }
        let message = match self
            .positions
            .as_slice()
            .iter()
            .position(|x| !x.is_finite())
        {
            _ if self.positions.cols() != 2 => {
                format!("{} columns; two are needed", self.positions.cols())
            }
            Some(at) => format!("row {} is not finite", at / 2),
            None => return Ok(()),
        };
        Err(Error::config("positions", message))
    }

    /// Positions between 0 and 1, the same scale in both directions.
    fn places(&self) -> Vec<[f32; 2]> {
        let ends = [0, 1].map(|j| {
            let column = (0..self.positions.rows()).map(|i| self.positions.get(i, j));
            column.fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| {
                (a.min(x), b.max(x))
            })
        });
        let span = (ends[0].1 - ends[0].0).max(ends[1].1 - ends[1].0);
        let scaled = |i: usize, j: usize| match span > 0.0 {
            true => {
                let middle = (ends[j].0 + ends[j].1) / 2.0;
                (0.5 + (self.positions.get(i, j) - middle) / span).clamp(0.0, 1.0)
            }
            false => 0.5,
        };
        let place = |i: usize| [scaled(i, 0), scaled(i, 1)];
        (0..self.positions.rows()).map(place).collect()
    }

    /// Nodes in the order of a Z-shaped curve over the picture: close nodes have close numbers, which packs well.
    fn order(&self) -> Vec<u32> {
        let bit = |x: f32, b: u32| ((x * 65535.0) as u32 >> b & 1) << (2 * b);
        let spread = |x: f32| (0..16).fold(0, |bits, b| bits | bit(x, b));
        let places = self.places();
        let code = |&node: &u32| {
            let [x, y] = places[node as usize];
            spread(x) | spread(y) << 1
        };
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        order.sort_by_cached_key(|node| (code(node), *node));
        order
    }
}
