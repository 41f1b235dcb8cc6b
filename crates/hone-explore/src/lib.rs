//! Exploration of node vectors and motif counts: similar nodes, structural roles, layouts and maps.
//!
//! ```
//! use hone::{Config, Hone, Silent, graph};
//! use hone_explore::{By, Space};
//!
//! let graph = graph::builtin("karate")?;
//! let embedding = Hone::new(Config::default())?.embed(&graph, &Silent)?.embedding;
//! let space = Space::of(&embedding, By::All)?;
//! let like_the_first = space.nearest(&space.query(&[0], &[])?, &[0], 3);
//! assert_eq!(like_the_first.len(), 3);
//! # Ok::<(), hone::Error>(())
//! ```
//!
//! | question | where |
//! |---|---|
//! | who is like X? | [`Space::nearest`] for one query, [`Search::all`] for every node |
//! | which roles are there, and why has X its role? | [`RoleOptions::find`], [`Roles::explain`] |
//! | where does each node lie on a picture? | [`Layout::place`] |
//! | what does the graph look like? | [`Map::html`] |
//! | what do its motif graphs look like? | [`draw::Drawing`] |
//! | which id was meant? | [`suggest`] |

/// Names of the variants of an enumeration, and the way back; names are those of its serialised form.
macro_rules! names {
    ($type:ident, $field:literal: $($name:literal),+) => {
        impl $type {
            /// The names of all.
            pub const NAMES: [&str; [$($name),+].len()] = [$($name),+];
        }

        impl std::str::FromStr for $type {
            type Err = hone::Error;

            fn from_str(name: &str) -> hone::Result<Self> {
                serde_json::from_value(name.into()).map_err(|_| {
                    let known = Self::NAMES.join(", ");
                    hone::Error::config($field, format!("`{name}` is not one of {known}"))
                })
            }
        }
    };
}

mod approximate;
pub mod draw;
mod layout;
mod map;
mod roles;
mod search;
mod space;
mod suggest;
mod tables;

pub use layout::{Layout, LayoutMethod, Placed};
pub use map::{Colour, Map, Palette, Scale, Style, read_attributes, read_labels};
pub use roles::{
    Explanation, MOST as MOST_ROLES, MotifScore, Otherwise, RATIOS, Reason, Role, RoleOptions,
    Roles, Value,
};
pub use search::{EXACT_LIMIT, Method, Neighbour, Neighbours, Search};
pub use space::{By, Query, STRUCTURE_WEIGHT, Space};
pub use suggest::{find_node, suggest};
pub use tables::Answer;
