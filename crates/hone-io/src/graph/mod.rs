//! Readers and writers of graphs.

pub(crate) mod copy;
mod facts;
mod quote;
pub mod read;
mod write;

pub use facts::{GraphFacts, Input, Recorded, RecordedFile};
pub use hone_graph::*;
pub use quote::{is_id_header, quoted, quoted_line};
pub use read::{
    Column, Division, InputFormat, LONGEST_LINE, ReadNote, ReadOptions, Reading, Sizes,
    TableColumns, check_lines, read, read_divided, sizes, table_columns,
};
pub use write::{GraphFormat, WriteOptions, write_generated};

/// How the file of a graph was interpreted; none if it does not come from a file.
pub fn reading(graph: &Graph) -> Option<&Reading> {
    graph.extension()
}
