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

mod descent;
pub mod draw;
mod exact;
mod forest;
mod layout;
mod map;
mod neighbours;
mod neighbours_file;
mod roles;
mod search;
mod space;
mod suggest;
mod top;

pub use layout::{Layout, LayoutMethod, Placed};
pub use map::{Colour, Map, read_attributes, read_labels};
pub use neighbours::{Neighbour, Neighbours};
pub use neighbours_file::{Answer, AnswerTable, NeighbourTable};
pub use roles::{
    Explanation, MOST as MOST_ROLES, MotifScore, Otherwise, RATIOS, Reason, Role, RoleOptions,
    RoleTable, Roles, Value,
};
pub use search::{EXACT_LIMIT, Found, Method, Search};
pub use space::{By, Query, STRUCTURE_WEIGHT, Space};
pub use suggest::{find_node, suggest};
