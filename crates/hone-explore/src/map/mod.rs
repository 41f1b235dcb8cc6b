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
        let neighbours = self
            .neighbours
            .filter(|neighbours| !neighbours.is_empty())
            .map_or(n, Neighbours::len);
        let sizes = [
            ("positions", self.positions.rows()),
            ("roles", self.roles.nodes()),
            ("neighbours", neighbours),
        ];
        for (what, size) in sizes.into_iter().chain(
            self.colours
                .iter()
                .map(|colour| (colour.name(), colour.nodes())),
        ) {
            if size != n {
                return Err(Error::config(
                    what,
                    format!("{size} rows for {n} nodes; give one per node"),
                ));
            }
        }
        if self.positions.cols() != 2 {
            return Err(Error::config(
                "positions",
                format!("{} columns; two are needed", self.positions.cols()),
            ));
        }
        match self
            .positions
            .as_slice()
            .iter()
            .position(|x| !x.is_finite())
        {
            Some(at) => Err(Error::config(
                "positions",
                format!("row {} is not finite", at / 2),
            )),
            None => Ok(()),
        }
    }

    /// Positions between 0 and 1, the same scale in both directions.
    fn places(&self) -> Vec<[f32; 2]> {
        let n = self.positions.rows();
        let column = |j: usize| (0..n).map(move |i| self.positions.get(i, j));
        let ends = |j: usize| {
            column(j).fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| {
                (a.min(x), b.max(x))
            })
        };
        let ((x0, x1), (y0, y1)) = (ends(0), ends(1));
        let span = (x1 - x0).max(y1 - y0);
        let scaled = |x: f32, low: f32, high: f32| {
            if span > 0.0 {
                (0.5 + (x - (low + high) / 2.0) / span).clamp(0.0, 1.0)
            } else {
                0.5
            }
        };
        (0..n)
            .map(|i| {
                [
                    scaled(self.positions.get(i, 0), x0, x1),
                    scaled(self.positions.get(i, 1), y0, y1),
                ]
            })
            .collect()
    }

    /// Nodes in the order of a Z-shaped curve over the picture: close nodes have close numbers, which packs well.
    fn order(&self) -> Vec<u32> {
        let spread = |x: f32| {
            (0..16).fold(0u32, |bits, b| {
                bits | (((x * 65535.0) as u32 >> b & 1) << (2 * b))
            })
        };
        let codes: Vec<u32> = self
            .places()
            .iter()
            .map(|&[x, y]| spread(x) | spread(y) << 1)
            .collect();
        let mut order: Vec<u32> = (0..codes.len() as u32).collect();
        order.sort_by_key(|&node| (codes[node as usize], node));
        order
    }
}
