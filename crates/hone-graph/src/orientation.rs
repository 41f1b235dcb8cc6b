//! [`Orientation`]: what the arcs of a matrix mean, a directed graph or an undirected one.

/// What the arcs of a matrix mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// A directed graph.
    Directed,
    /// An undirected graph.
    Undirected,
    /// An undirected graph where every arc has its reverse, with the same weight; else a directed one.
    #[default]
    Detect,
}

impl Orientation {
    /// Directed if so, else undirected.
    pub fn directed_if(directed: bool) -> Self {
        if directed {
            Orientation::Directed
        } else {
            Orientation::Undirected
        }
    }
}
