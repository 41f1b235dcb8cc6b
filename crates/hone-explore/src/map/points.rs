//! The points of a map as a table: positions, roles, what nodes can be coloured by, and neighbours.

use hone::Result;
use hone::store::table::{Column, Near, Nullable, points};

use super::{Colour, Map};
use crate::search::Neighbours;

impl Map<'_> {
    /// A Parquet file of a row per node, as Embedding Atlas reads it: `id`, `x`, `y`, `role`, labels and attributes by their names,
    /// and `neighbors`, a struct of `ids` (row numbers, the nearest first) and `distances` of prepared rows. Names that are too
    /// rare to be kept are `(other)`.
    pub fn points(&self) -> Result<Vec<u8>> {
        self.check()?;
        let placed = &self.layouts[0].1;
        let whole = |values| Nullable {
            values,
            present: None,
        };
        let floats = |j| {
            Column::Floats(
                (0..self.graph.nodes())
                    .map(|i| placed.positions.get(i, j))
                    .collect(),
            )
        };
        let roles = self.roles.assignments();
        let role = |&role: &u32| self.roles.roles[role as usize].name.clone();
        let mut columns = vec![
            ("x".to_owned(), whole(floats(0))),
            ("y".to_owned(), whole(floats(1))),
            (
                "role".to_owned(),
                whole(Column::Texts(roles.iter().map(role).collect())),
            ),
        ];
        columns.extend(
            self.colours
                .iter()
                .map(|colour| (colour.name().to_owned(), values(colour))),
        );
        let near = placed.neighbours.as_ref().filter(|near| !near.is_empty());
        let all = || {
            near.into_iter()
                .flat_map(|near| (0..near.len()).flat_map(|i| near.row(i)))
        };
        // Prepared rows at distance d have the similarity 1 − d²/2.
        let distance = |similarity: f32| (2.0 - 2.0 * similarity).max(0.0).sqrt();
        let near = Near {
            k: near.map_or(0, Neighbours::k),
            rows: all().map(|one| i64::from(one.row)).collect(),
            distances: all().map(|one| distance(one.similarity)).collect(),
        };
        points(self.graph.ids(), &columns, &near)
    }
}

/// The values of the nodes that have one.
fn values(colour: &Colour) -> Nullable {
    let (values, present): (_, Vec<bool>) = match colour {
        Colour::Numbers { values, .. } => {
            let there = values.iter().copied().filter(|value| !value.is_nan());
            let present = values.iter().map(|value| !value.is_nan());
            (Column::Floats(there.collect()), present.collect())
        }
        Colour::Categories { names, of, .. } => {
            let there = of.iter().filter(|&&at| at != Colour::NONE);
            let name = |&at: &u16| {
                names
                    .get(usize::from(at))
                    .map_or("(other)", String::as_str)
                    .to_owned()
            };
            let present = of.iter().map(|&at| at != Colour::NONE);
            (Column::Texts(there.map(name).collect()), present.collect())
        }
    };
    Nullable {
        values,
        present: Some(present),
    }
}
