//! [`Map`]: a graph as one self-contained page that opens from disk, as a picture, or as a table of points.
//!
//! The page contains all nodes with their positions, roles, motif counts, nearest neighbours and edges as compressed
//! arrays, and the script that shows them (`page/`); nothing is loaded from a network. `picture` draws the
//! same points as SVG or PNG. `colour` says which colour, size and shape they have in both.

mod colour;
mod page;
mod picture;
mod points;

use hone::dense::Block;
use hone::graph::Graph;
use hone::{Error, Result};

use crate::layout::Placed;
use crate::roles::Roles;
use crate::search::Neighbours;
use crate::space::By;

pub use colour::{Colour, Palette, Scale, Style, read_attributes, read_labels};

/// Edges that are drawn at first; more would hide the points.
const FEW_EDGES: usize = 1500;
/// Size and opacity of a muted point, as a share of those of others.
const MUTED: f32 = 0.6;
/// How much of what is below a point it covers.
const OPACITY: f32 = 0.85;

/// Everything that a map shows.
#[derive(Debug)]
pub struct Map<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// What it is called.
    pub title: String,
    /// Where nodes are, with the most similar nodes of each, by one meaning of similarity or more; the first is shown.
    pub layouts: &'a [(By, Placed)],
    /// The roles of the nodes, with their motif counts.
    pub roles: &'a Roles,
    /// What nodes can be coloured by besides role, degree and motifs.
    pub colours: Vec<Colour>,
    /// How it looks.
    pub style: Style,
}

impl Map<'_> {
    /// Refuses parts that do not belong together.
    fn check(&self) -> Result<()> {
        let n = self.graph.nodes();
        self.style.check()?;
        let parts = self.layouts.iter().flat_map(|(_, placed)| {
            let near = placed.neighbours.as_ref().filter(|near| !near.is_empty());
            let rows = placed.positions.rows();
            [
                ("positions", rows),
                ("neighbours", near.map_or(n, Neighbours::len)),
            ]
        });
        let colours = self
            .colours
            .iter()
            .map(|colour| (colour.name(), colour.nodes()));
        let mut parts = parts.chain([("roles", self.roles.nodes())]).chain(colours);
        if let Some((what, size)) = parts.find(|part| part.1 != n) {
            let message = format!("{size} rows for {n} nodes; give one per node");
            return Err(Error::config(what, message));
        }
        let refuse = |message: String| Err(Error::config("positions", message));
        for (_, Placed { positions, .. }) in self.layouts {
            if positions.cols() != 2 {
                return refuse(format!("{} columns; two are needed", positions.cols()));
            }
            let values = positions.as_slice();
            if let Some(at) = values.iter().position(|x| !x.is_finite()) {
                return refuse(format!("row {} is not finite", at / 2));
            }
        }
        match self.layouts {
            [] => refuse("none; give at least one layout".into()),
            _ => Ok(()),
        }
    }

    /// The nodes in each layout.
    fn places(&self) -> Vec<Vec<[f32; 2]>> {
        let places = |(_, placed): &(By, Placed)| places(&placed.positions);
        self.layouts.iter().map(places).collect()
    }

    /// Radius of a point, as a share of the side of the picture.
    fn radius(&self) -> f32 {
        let nodes = self.graph.nodes().max(1) as f32;
        self.style.point_size * (0.2 / nodes.sqrt()).clamp(1.0 / 1500.0, 1.0 / 130.0)
    }
}

/// Positions between 0 and 1, the same scale in both directions.
fn places(positions: &Block) -> Vec<[f32; 2]> {
    let ends = [0, 1].map(|j| {
        let column = (0..positions.rows()).map(|i| positions.get(i, j));
        column.fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| {
            (a.min(x), b.max(x))
        })
    });
    let span = (ends[0].1 - ends[0].0).max(ends[1].1 - ends[1].0);
    let scaled = |i: usize, j: usize| match span > 0.0 {
        true => {
            let middle = (ends[j].0 + ends[j].1) / 2.0;
            (0.5 + (positions.get(i, j) - middle) / span).clamp(0.0, 1.0)
        }
        false => 0.5,
    };
    let place = |i: usize| [scaled(i, 0), scaled(i, 1)];
    (0..positions.rows()).map(place).collect()
}

/// Nodes in the order of a Z-shaped curve over the picture: close nodes have close numbers, which packs well.
fn order(places: &[[f32; 2]]) -> Vec<u32> {
    let bit = |x: f32, b: u32| ((x * 65535.0) as u32 >> b & 1) << (2 * b);
    let spread = |x: f32| (0..16).fold(0, |bits, b| bits | bit(x, b));
    let code = |&node: &u32| {
        let [x, y] = places[node as usize];
        spread(x) | spread(y) << 1
    };
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    order.sort_by_cached_key(|node| (code(node), *node));
    order
}
