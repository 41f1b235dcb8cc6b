//! What is counted on arcs: two dyads, 13 triads, and the 32 positions an arc can have in them.
//!
//! Triads carry the MAN codes of Davis and Leinhardt (1972): numbers of mutual, asymmetric and null dyads, and a letter
//! where these do not decide (D down, U up, T transitive, C cyclic). M1 to M13 are the names of Benson, Gleich and Leskovec
//! (2016).
//!
//! Seen from an arc s → t, a third node w has one of four relations to s and one of four to t, and the arc is one-way or
//! mutual. That is the triad with the arc marked, up to isomorphism: the 2 · 15 cases in which w touches the arc are the 30
//! arc orbits of the triads, one each, and without w there are the two dyads.

use std::fmt::{self, Display};

/// A connected directed graph of two or three vertices: a dyad or a triad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Triad {
    /// An arc without a reverse.
    OneWay,
    /// Two opposite arcs.
    Mutual,
    /// A ← B → C.
    T021D,
    /// A → B ← C.
    T021U,
    /// A → B → C.
    T021C,
    /// A ↔ B ← C.
    T111D,
    /// A ↔ B → C.
    T111U,
    /// A → B → C, A → C.
    T030T,
    /// A → B → C → A.
    T030C,
    /// A ↔ B ↔ C.
    T201,
    /// A ← B → C, A ↔ C.
    T120D,
    /// A → B ← C, A ↔ C.
    T120U,
    /// A → B → C, A ↔ C.
    T120C,
    /// A → B ↔ C ↔ A.
    T210,
    /// All six arcs.
    T300,
}

impl Triad {
    /// How many there are, including the two dyads.
    pub const COUNT: usize = 15;

    /// All of them, in the order of columns.
    pub const ALL: [Triad; Triad::COUNT] = [
        Triad::OneWay,
        Triad::Mutual,
        Triad::T021D,
        Triad::T021U,
        Triad::T021C,
        Triad::T111D,
        Triad::T111U,
        Triad::T030T,
        Triad::T030C,
        Triad::T201,
        Triad::T120D,
        Triad::T120U,
        Triad::T120C,
        Triad::T210,
        Triad::T300,
    ];

    /// Name, the other name in the literature, and the first of its arc orbits.
    const FACTS: [(&'static str, &'static str, u8); Triad::COUNT] = [
        ("one-way", "", 0),
        ("mutual", "", 1),
        ("021D", "M8", 2),
        ("021U", "M10", 3),
        ("021C", "M9", 4),
        ("111D", "M12", 6),
        ("111U", "M11", 9),
        ("030T", "M5", 12),
        ("030C", "M1", 15),
        ("201", "M13", 16),
        ("120D", "M6", 18),
        ("120U", "M7", 20),
        ("120C", "M2", 22),
        ("210", "M3", 26),
        ("300", "M4", 31),
    ];

    /// Position in [`Triad::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name as written in files and options: the MAN code of a triad.
    pub fn name(self) -> &'static str {
        Triad::FACTS[self.index()].0
    }

    /// M1 to M13, as in the literature on motif clustering; none of a dyad.
    pub fn alias(self) -> Option<&'static str> {
        Some(Triad::FACTS[self.index()].1).filter(|alias| !alias.is_empty())
    }

    /// Number of vertices.
    pub fn size(self) -> usize {
        if self.index() < 2 { 2 } else { 3 }
    }

    /// Number of arcs.
    pub fn arcs(self) -> usize {
        match self {
            Triad::OneWay => 1,
            Triad::Mutual | Triad::T021D | Triad::T021U | Triad::T021C => 2,
            Triad::T111D | Triad::T111U | Triad::T030T | Triad::T030C => 3,
            Triad::T201 | Triad::T120D | Triad::T120U | Triad::T120C => 4,
            Triad::T210 => 5,
            Triad::T300 => 6,
        }
    }

    /// Whether all its arcs have a reverse, so that a node has as many incoming as outgoing ones.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Triad::Mutual | Triad::T201 | Triad::T300)
    }

    /// Its arc orbits: neighbours in [`ArcOrbit::ALL`].
    pub fn orbits(self) -> &'static [ArcOrbit] {
        let first = |at: usize| {
            Triad::FACTS
                .get(at)
                .map_or(ArcOrbit::COUNT, |facts| facts.2 as usize)
        };
        &ArcOrbit::ALL[first(self.index())..first(self.index() + 1)]
    }
}

impl Display for Triad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A position of an arc in a dyad or triad: one of 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArcOrbit(u8);

/// What an arc orbit looks like from the arc s → t: whether t → s is there, how s and w are joined, and how t and w are
/// (1: by an arc to w, 2: by one from w, 3: by both, 0: not at all).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    pub(super) mutual: bool,
    pub(super) source: usize,
    pub(super) target: usize,
}

/// Names of the orbits and what they look like: mutual, relation of the source, relation of the target.
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
        let at = Triad::ALL.partition_point(|triad| triad.orbits()[0] <= self);
        Triad::ALL[at - 1]
    }

    /// What it looks like from the arc.
    pub(super) fn view(self) -> View {
        let [mutual, source, target] = ORBITS[self.index()].1;
        View {
            mutual: mutual == 1,
            source,
            target,
        }
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
