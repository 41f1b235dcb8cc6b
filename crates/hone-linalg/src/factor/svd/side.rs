//! [`Side`]: one side of a decomposition, in the memory of this process or in the space where it was computed.

use crate::dense::{Block, Panels};
use crate::space::{Map, Space, widths};

/// A factor in the memory of this process, or in that of a space.
#[derive(Debug)]
pub enum Side<T> {
    /// Here.
    Here(Panels),
    /// In its space.
    There(Vec<T>),
}

impl<T: Send + Sync> Side<T> {
    /// The factor, in the memory of this process.
    pub fn exported<S: Space<Tall = T>>(self, space: &S) -> Panels {
        match self {
            Side::Here(panels) => panels,
            Side::There(panels) => panels
                .into_iter()
                .map(|panel| space.export(panel))
                .collect::<Vec<_>>()
                .into(),
        }
    }

    /// A block of this process, in panels of the usual widths.
    pub(super) fn here(block: Block) -> Self {
        let widths = widths(block.cols());
        Side::Here(Panels::from(block).cut(&widths))
    }

    /// A copy in the same place.
    pub(super) fn copy<S: Space<Tall = T>>(&self, space: &S) -> Self {
        match self {
            Side::Here(panels) => Side::Here(panels.clone()),
            Side::There(panels) => {
                Side::There(panels.iter().map(|panel| space.copy(panel)).collect())
            }
        }
    }

    /// Changes the sign of all entries.
    pub(super) fn turn<S: Space<Tall = T>>(&mut self, space: &S) {
        match self {
            Side::Here(panels) => panels.scale_columns(&vec![-1.0; panels.cols()]),
            Side::There(panels) => {
                let columns = panels.iter().map(|panel| space.shape(panel).1).sum();
                space.map(panels, &Map::Scale(&vec![-1.0; columns]));
            }
        }
    }

    /// Adds zero columns up to `columns`.
    pub(super) fn widened<S: Space<Tall = T>>(self, space: &S, columns: usize) -> Self {
        match self {
            Side::Here(panels) => Side::Here(panels.widened(columns)),
            Side::There(mut panels) => {
                let own: usize = panels.iter().map(|panel| space.shape(panel).1).sum();
                let rows = panels.first().map_or(0, |panel| space.shape(panel).0);
                if own < columns {
                    panels.extend(
                        widths(columns - own)
                            .into_iter()
                            .map(|width| space.zeros(rows, width)),
                    );
                }
                Side::There(panels)
            }
        }
    }
}
