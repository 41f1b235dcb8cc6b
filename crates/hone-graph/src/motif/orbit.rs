//! What is counted, by name: the 13 edge orbits, 9 graphlets and 15 node orbits of 2–4 vertices; on arcs two dyads, 13 triads,
//! and the 32 positions an arc can have in them.
//!
//! Two edges of a graphlet are in the same orbit when an automorphism of the graphlet maps one to
//! the other. All occurrences are *induced* subgraphs. The order of [`Orbit::ALL`] is the order of
//! columns in every file and array; node orbits carry the numbers of the counter ORCA.
//!
//! Triads carry the MAN codes of Davis and Leinhardt (1972): numbers of mutual, asymmetric and null dyads, and a letter
//! where these do not decide (D down, U up, T transitive, C cyclic). M1 to M13 are the names of Benson, Gleich and Leskovec
//! (2016). Seen from an arc s → t, a third node w has one of four relations to s and one of four to t, and the arc is one-way
//! or mutual. That is the triad with the arc marked, up to isomorphism: the 2 · 15 cases in which w touches the arc are the 30
//! arc orbits of the triads, one each, and without w there are the two dyads.

use std::fmt::{self, Display};

macro_rules! named {
    ($(#[$attribute:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $kind {
            $($(#[$doc])* $variant,)+
        }

        impl $kind {
            /// How many there are.
            pub const COUNT: usize = [$($name),+].len();

            /// All of them, in the order of columns.
            pub const ALL: [$kind; $kind::COUNT] = [$($kind::$variant),+];

            /// Position among all.
            pub fn index(self) -> usize {
                self as usize
            }

            /// Name as written in files and options.
            pub fn name(self) -> &'static str {
                [$($name),+][self.index()]
            }
        }

        impl Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// One of the 13 edge orbits of the connected graphlets of 2–4 vertices.
    Orbit {
        /// The edge itself.
        Edge = "edge",
        /// Either edge of an induced path of 3 vertices.
        Path3 = "path3",
        /// An edge of a triangle.
        Triangle = "triangle",
        /// An outer edge of an induced path of 4 vertices.
        Path4End = "path4-end",
        /// The middle edge of an induced path of 4 vertices.
        Path4Mid = "path4-mid",
        /// An edge of an induced star of 4 vertices.
        Star4 = "star4",
        /// An edge of a chordless cycle of 4 vertices.
        Cycle4 = "cycle4",
        /// The tail of a tailed triangle.
        TailedTail = "tailed-tail",
        /// The triangle edges of a tailed triangle that touch the tail.
        TailedNear = "tailed-near",
        /// The triangle edge of a tailed triangle opposite to the tail.
        TailedFar = "tailed-far",
        /// The chord of a diamond (chordal 4-cycle).
        DiamondChord = "diamond-chord",
        /// A rim edge of a diamond.
        DiamondRim = "diamond-rim",
        /// An edge of a 4-clique.
        Clique4 = "clique4",
    }
}

named! {
    /// One of the 9 connected graphs of 2–4 vertices.
    Graphlet {
        /// Two adjacent vertices.
        Edge = "edge",
        /// Path of 3 vertices.
        Path3 = "path3",
        /// Triangle.
        Triangle = "triangle",
        /// Path of 4 vertices.
        Path4 = "path4",
        /// Star of 4 vertices (claw).
        Star4 = "star4",
        /// Cycle of 4 vertices.
        Cycle4 = "cycle4",
        /// Triangle with a pendant edge (paw).
        TailedTriangle = "tailed-triangle",
        /// Chordal 4-cycle.
        Diamond = "diamond",
        /// Complete graph of 4 vertices.
        Clique4 = "clique4",
    }
}

/// Vertices, edges and the first orbit of each graphlet.
const GRAPHLETS: [(usize, usize, usize); Graphlet::COUNT] = [
    (2, 1, 0),
    (3, 2, 1),
    (3, 3, 2),
    (4, 3, 3),
    (4, 3, 5),
    (4, 4, 6),
    (4, 4, 7),
    (4, 5, 10),
    (4, 6, 12),
];

impl Orbit {
    /// The graphlet it is an orbit of.
    pub fn graphlet(self) -> Graphlet {
        let at = GRAPHLETS.partition_point(|graphlet| graphlet.2 <= self.index());
        Graphlet::ALL[at - 1]
    }
}

impl Graphlet {
    /// Number of vertices.
    pub fn size(self) -> usize {
        GRAPHLETS[self.index()].0
    }

    /// Number of edges.
    pub fn edges(self) -> usize {
        GRAPHLETS[self.index()].1
    }

    /// Its edge orbits: neighbours in [`Orbit::ALL`].
    pub fn orbits(self) -> &'static [Orbit] {
        let next = GRAPHLETS.get(self.index() + 1);
        let end = next.map_or(Orbit::COUNT, |next| next.2);
        &Orbit::ALL[GRAPHLETS[self.index()].2..end]
    }
}

/// Names of the 15 node orbits of 2–4 vertices; the position is ORCA's number of the orbit.
pub const NODE_ORBITS: [&str; 15] = [
    "degree",
    "path3-end",
    "path3-mid",
    "triangle",
    "path4-end",
    "path4-mid",
    "star4-leaf",
    "star4-centre",
    "cycle4",
    "tailed-end",
    "tailed-far",
    "tailed-centre",
    "diamond-rim",
    "diamond-chord",
    "clique4",
];

named! {
    /// A connected directed graph of two or three vertices: a dyad or a triad.
    #[non_exhaustive]
    Triad {
        /// An arc without a reverse.
        OneWay = "one-way",
        /// Two opposite arcs.
        Mutual = "mutual",
        /// A ← B → C.
        T021D = "021D",
        /// A → B ← C.
        T021U = "021U",
        /// A → B → C.
        T021C = "021C",
        /// A ↔ B ← C.
        T111D = "111D",
        /// A ↔ B → C.
        T111U = "111U",
        /// A → B → C, A → C.
        T030T = "030T",
        /// A → B → C → A.
        T030C = "030C",
        /// A ↔ B ↔ C.
        T201 = "201",
        /// A ← B → C, A ↔ C.
        T120D = "120D",
        /// A → B ← C, A ↔ C.
        T120U = "120U",
        /// A → B → C, A ↔ C.
        T120C = "120C",
        /// A → B ↔ C ↔ A.
        T210 = "210",
        /// All six arcs.
        T300 = "300",
    }
}

/// The other name of each triad in the literature, its arcs, and its first arc orbit.
const TRIADS: [(&str, usize, usize); Triad::COUNT] = [
    ("", 1, 0),
    ("", 2, 1),
    ("M8", 2, 2),
    ("M10", 2, 3),
    ("M9", 2, 4),
    ("M12", 3, 6),
    ("M11", 3, 9),
    ("M5", 3, 12),
    ("M1", 3, 15),
    ("M13", 4, 16),
    ("M6", 4, 18),
    ("M7", 4, 20),
    ("M2", 4, 22),
    ("M3", 5, 26),
    ("M4", 6, 31),
];

impl Triad {
    /// M1 to M13, as in the literature on motif clustering; none of a dyad.
    pub fn alias(self) -> Option<&'static str> {
        Some(TRIADS[self.index()].0).filter(|alias| !alias.is_empty())
    }

    /// Number of vertices.
    pub fn size(self) -> usize {
        if self.index() < 2 { 2 } else { 3 }
    }

    /// Number of arcs.
    pub fn arcs(self) -> usize {
        TRIADS[self.index()].1
    }

    /// Whether all its arcs have a reverse, so that a node has as many incoming as outgoing ones.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Triad::Mutual | Triad::T201 | Triad::T300)
    }

    /// Its arc orbits: neighbours in [`ArcOrbit::ALL`].
    pub fn orbits(self) -> &'static [ArcOrbit] {
        let next = TRIADS.get(self.index() + 1);
        let end = next.map_or(ArcOrbit::COUNT, |next| next.2);
        &ArcOrbit::ALL[TRIADS[self.index()].2..end]
    }
}

/// A position of an arc in a dyad or triad: one of 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArcOrbit(u8);

/// Names of the orbits and what they look like from the arc s → t: whether t → s is there, how s and w are joined, and how t
/// and w are (1: by an arc to w, 2: by one from w, 3: by both, 0: not at all).
const ORBITS: [(&str, [usize; 3]); ArcOrbit::COUNT] = [
    ("one-way", [0, 0, 0]),
    ("mutual", [1, 0, 0]),
    ("021D", [0, 1, 0]),
    ("021U", [0, 0, 2]),
    ("021C-first", [0, 0, 1]),
    ("021C-second", [0, 2, 0]),
    ("111D-one-way", [0, 0, 3]),
    ("111D-to-centre", [1, 0, 2]),
    ("111D-to-end", [1, 2, 0]),
    ("111U-one-way", [0, 3, 0]),
    ("111U-to-centre", [1, 0, 1]),
    ("111U-to-end", [1, 1, 0]),
    ("030T-first", [0, 1, 1]),
    ("030T-second", [0, 2, 2]),
    ("030T-direct", [0, 1, 2]),
    ("030C", [0, 2, 1]),
    ("201-to-centre", [1, 0, 3]),
    ("201-to-end", [1, 3, 0]),
    ("120D-one-way", [0, 1, 3]),
    ("120D-mutual", [1, 2, 2]),
    ("120U-one-way", [0, 3, 2]),
    ("120U-mutual", [1, 1, 1]),
    ("120C-first", [0, 3, 1]),
    ("120C-second", [0, 2, 3]),
    ("120C-along", [1, 1, 2]),
    ("120C-back", [1, 2, 1]),
    ("210-one-way", [0, 3, 3]),
    ("210-along-first", [1, 1, 3]),
    ("210-along-second", [1, 3, 2]),
    ("210-back-first", [1, 2, 3]),
    ("210-back-second", [1, 3, 1]),
    ("300", [1, 3, 3]),
];

impl ArcOrbit {
    /// How many there are, including the two of dyads.
    pub const COUNT: usize = 32;

    /// All of them, in the order of columns.
    pub const ALL: [ArcOrbit; ArcOrbit::COUNT] = {
        let mut all = [ArcOrbit(0); ArcOrbit::COUNT];
        let mut at = 0;
        while at < all.len() {
            all[at] = ArcOrbit(at as u8);
            at += 1;
        }
        all
    };

    /// Position in [`ArcOrbit::ALL`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Name as written in files and options; that of the triad if it has no other orbit.
    pub fn name(self) -> &'static str {
        ORBITS[self.index()].0
    }

    /// The dyad or triad it is an orbit of.
    pub fn triad(self) -> Triad {
        let at = TRIADS.partition_point(|triad| triad.2 <= self.index());
        Triad::ALL[at - 1]
    }

    /// Whether the arc has its reverse, and the relations of its source and target to the third node.
    pub(super) fn view(self) -> (bool, usize, usize) {
        let [mutual, source, target] = ORBITS[self.index()].1;
        (mutual == 1, source, target)
    }
}

impl Display for ArcOrbit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_one_orbit() {
        let mut cases: Vec<[usize; 3]> = ORBITS.iter().map(|orbit| orbit.1).collect();
        cases.sort_unstable();
        let all = (0..2).flat_map(|m| (0..4).flat_map(move |a| (0..4).map(move |b| [m, a, b])));
        assert_eq!(cases, all.collect::<Vec<_>>());
    }
}
