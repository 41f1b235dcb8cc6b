//! Storage of finished work: parts of Y in memory or in files, checkpoints, folders of factors.

pub(super) mod checkpoint;
pub(super) mod factors;
mod part_file;
pub(super) mod shelf;
