//! The native half of the Python package `hone_embed`: arrays in, arrays out.
//!
//! Python decides what an object is and what it means (`python/hone_embed`); this half takes NumPy
//! arrays and plain values, releases the interpreter while the library works, and turns its errors
//! into exceptions. One file a concern:
//!
//! | file | concern |
//! |---|---|
//! | `work` | threads, signals, progress and panics of long work |
//! | `error` | library errors as Python exceptions, with the same text |
//! | `memory` | memory lent by NumPy and to it; the only `unsafe` code here |
//! | `graph` | graphs from matrices, edge lists, files and generators |
//! | `embed` | configurations and the embedding |
//! | `model` | other graphs in the space of a fit |
//! | `motif` | counts, weighted motif graphs, motif matrices as operators |
//! | `statistics` | census, coefficients, significance, comparisons, clusters |
//! | `draw` | pictures of motif graphs |
//! | `evaluate` | link prediction, settings that suit a graph |
//! | `explore` | similar nodes, roles, layouts, maps |
//! | `store` | embeddings on disk |

mod draw;
mod embed;
mod error;
mod evaluate;
mod explore;
mod graph;
mod memory;
mod model;
mod motif;
mod statistics;
mod store;
mod work;

use pyo3::prelude::*;

/// Native half of `hone_embed`; use the package, not this module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::draw::draw;
    #[pymodule_export]
    use crate::embed::{embed, features, idle, parse_bytes, presets, resolve};
    #[pymodule_export]
    use crate::error::{line, parameters};
    #[pymodule_export]
    use crate::evaluate::{
        evaluate_labels, evaluate_link, link_split, methods, tune, tuned_candidates,
    };
    #[pymodule_export]
    use crate::explore::{Roles, Space, suggest};
    #[pymodule_export]
    use crate::graph::{
        Graph, adjacency, attributes_difference, generate, read, read_recorded, table_columns,
    };
    #[pymodule_export]
    use crate::memory::Vectors;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::motif::{
        MotifOperator, count_edges, count_nodes, count_totals, motif_graph, motif_names,
        node_orbit_names, triangles, update_edges,
    };
    #[pymodule_export]
    use crate::statistics::{
        coefficients, compare, motif_catalogue, motif_cluster, significance, triad_census,
    };
    #[pymodule_export]
    use crate::store::{read_embedding, write, write_embedding};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
