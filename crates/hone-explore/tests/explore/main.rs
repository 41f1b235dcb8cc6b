//! Answers checked against slow and simple definitions, and the laws that they must keep.

mod directed;
mod draw;
mod explain;
mod layout;
mod map;
mod neighbours;
mod planted;
mod roles;
mod suggest;
