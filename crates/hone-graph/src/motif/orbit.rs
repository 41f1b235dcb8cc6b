//! What is counted: the 13 edge orbits, 9 graphlets and 15 node orbits of 2–4 vertices.
//!
//! Two edges of a graphlet are in the same orbit when an automorphism of the graphlet maps one to
//! the other. All occurrences are *induced* subgraphs. The order of [`Orbit::ALL`] is the order of
//! columns in every file and array; node orbits carry the numbers of the counter ORCA.

use std::fmt;
use std::fmt::Display;

/// One of the 13 edge orbits of the connected graphlets of 2–4 vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Orbit {
    /// The edge itself.
    Edge,
    /// Either edge of an induced path of 3 vertices.
    Path3,
    /// An edge of a triangle.
    Triangle,
    /// An outer edge of an induced path of 4 vertices.
    Path4End,
    /// The middle edge of an induced path of 4 vertices.
    Path4Mid,
    /// An edge of an induced star of 4 vertices.
    Star4,
    /// An edge of a chordless cycle of 4 vertices.
    Cycle4,
    /// The tail of a tailed triangle.
    TailedTail,
    /// The triangle edges of a tailed triangle that touch the tail.
    TailedNear,
    /// The triangle edge of a tailed triangle opposite to the tail.
    TailedFar,
    /// The chord of a diamond (chordal 4-cycle).
    DiamondChord,
    /// A rim edge of a diamond.
    DiamondRim,
    /// An edge of a 4-clique.
    Clique4,
}

impl Orbit {
    /// How many there are.
    pub const COUNT: usize = 13;

    /// All of them, in the order of columns.
    pub const ALL: [Orbit; Orbit::COUNT] = [
        Orbit::Edge,
        Orbit::Path3,
        Orbit::Triangle,
        Orbit::Path4End,
        Orbit::Path4Mid,
        Orbit::Star4,
        Orbit::Cycle4,
        Orbit::TailedTail,
        Orbit::TailedNear,
        Orbit::TailedFar,
        Orbit::DiamondChord,
        Orbit::DiamondRim,
        Orbit::Clique4,
    ];

    const NAMES: [&'static str; Orbit::COUNT] = [
        "edge",
        "path3",
        "triangle",
        "path4-end",
        "path4-mid",
        "star4",
        "cycle4",
        "tailed-tail",
        "tailed-near",
        "tailed-far",
        "diamond-chord",
        "diamond-rim",
        "clique4",
    ];

    /// Position in [`Orbit::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name as written in files and options.
    pub fn name(self) -> &'static str {
        Orbit::NAMES[self.index()]
    }

    /// The graphlet it is an orbit of.
    pub fn graphlet(self) -> Graphlet {
        match self {
            Orbit::Edge => Graphlet::Edge,
            Orbit::Path3 => Graphlet::Path3,
            Orbit::Triangle => Graphlet::Triangle,
            Orbit::Path4End | Orbit::Path4Mid => Graphlet::Path4,
            Orbit::Star4 => Graphlet::Star4,
            Orbit::Cycle4 => Graphlet::Cycle4,
            Orbit::TailedTail | Orbit::TailedNear | Orbit::TailedFar => Graphlet::TailedTriangle,
            Orbit::DiamondChord | Orbit::DiamondRim => Graphlet::Diamond,
            Orbit::Clique4 => Graphlet::Clique4,
        }
    }
}

impl Display for Orbit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One of the 9 connected graphs of 2–4 vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Graphlet {
    /// Two adjacent vertices.
    Edge,
    /// Path of 3 vertices.
    Path3,
    /// Triangle.
    Triangle,
    /// Path of 4 vertices.
    Path4,
    /// Star of 4 vertices (claw).
    Star4,
    /// Cycle of 4 vertices.
    Cycle4,
    /// Triangle with a pendant edge (paw).
    TailedTriangle,
    /// Chordal 4-cycle.
    Diamond,
    /// Complete graph of 4 vertices.
    Clique4,
}

impl Graphlet {
    /// How many there are.
    pub const COUNT: usize = 9;

    /// All of them, in the order of columns.
    pub const ALL: [Graphlet; Graphlet::COUNT] = [
        Graphlet::Edge,
        Graphlet::Path3,
        Graphlet::Triangle,
        Graphlet::Path4,
        Graphlet::Star4,
        Graphlet::Cycle4,
        Graphlet::TailedTriangle,
        Graphlet::Diamond,
        Graphlet::Clique4,
    ];

    const NAMES: [&'static str; Graphlet::COUNT] = [
        "edge",
        "path3",
        "triangle",
        "path4",
        "star4",
        "cycle4",
        "tailed-triangle",
        "diamond",
        "clique4",
    ];

    /// Position in [`Graphlet::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name as written in files and options.
    pub fn name(self) -> &'static str {
        Graphlet::NAMES[self.index()]
    }

    /// Number of vertices.
    pub fn size(self) -> usize {
        match self {
            Graphlet::Edge => 2,
            Graphlet::Path3 | Graphlet::Triangle => 3,
            _ => 4,
        }
    }

    /// Number of edges.
    pub fn edges(self) -> usize {
        match self {
            Graphlet::Edge => 1,
            Graphlet::Path3 => 2,
            Graphlet::Triangle | Graphlet::Path4 | Graphlet::Star4 => 3,
            Graphlet::Cycle4 | Graphlet::TailedTriangle => 4,
            Graphlet::Diamond => 5,
            Graphlet::Clique4 => 6,
        }
    }

    /// Its edge orbits: neighbours in [`Orbit::ALL`].
    pub fn orbits(self) -> &'static [Orbit] {
        let range = match self {
            Graphlet::Edge => 0..1,
            Graphlet::Path3 => 1..2,
            Graphlet::Triangle => 2..3,
            Graphlet::Path4 => 3..5,
            Graphlet::Star4 => 5..6,
            Graphlet::Cycle4 => 6..7,
            Graphlet::TailedTriangle => 7..10,
            Graphlet::Diamond => 10..12,
            Graphlet::Clique4 => 12..13,
        };
        &Orbit::ALL[range]
    }
}

impl Display for Graphlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
