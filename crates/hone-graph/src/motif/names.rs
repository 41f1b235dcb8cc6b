//! [`catalogue`]: what motifs and the positions in them are called here and in the literature, and how they are drawn.
//!
//! Graphlets and node orbits have the numbers of Pržulj (2007, doi:10.1093/bioinformatics/btl301), edge orbits E0 to E11 after the columns of ORCA
//! (Hočevar and Demšar 2014, doi:10.1093/bioinformatics/btt717), triads M1 to M13 of Benson, Gleich and Leskovec (2016) and
//! the identifiers of mfinder (Milo et al. 2002): the smallest number whose bit 3i + j says whether there is an arc from
//! i to j.

use serde::Serialize;

use super::orbit::{ArcOrbit, Graphlet, NODE_ORBITS, Orbit, Triad};
use super::set::Motif;

/// The classes of three nodes that are not connected complete the census of triads: MAN code and drawing.
pub(super) const UNCONNECTED: [(&str, &str); 3] =
    [("003", "A, B, C"), ("012", "A → B, C"), ("102", "A ↔ B, C")];

/// Number and drawing of each graphlet.
const GRAPHLETS: [(&str, &str); Graphlet::COUNT] = [
    ("G0", "A – B"),
    ("G1", "A – B – C"),
    ("G2", "A – B – C – A"),
    ("G3", "A – B – C – D"),
    ("G4", "A – B – C, B – D"),
    ("G5", "A – B – C – D – A"),
    ("G6", "A – B – C – D – B"),
    ("G7", "A – B – C – D – A, B – D"),
    ("G8", "A – B – C – D – A, A – C, B – D"),
];

/// Numbers of the node orbits.
const NODE_ORBIT_NUMBERS: [&str; NODE_ORBITS.len()] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14",
];

/// Graphlet and nodes of each node orbit.
const NODES: [(Graphlet, &str); NODE_ORBITS.len()] = [
    (Graphlet::Edge, "A, B"),
    (Graphlet::Path3, "A, C"),
    (Graphlet::Path3, "B"),
    (Graphlet::Triangle, "A, B, C"),
    (Graphlet::Path4, "A, D"),
    (Graphlet::Path4, "B, C"),
    (Graphlet::Star4, "A, C, D"),
    (Graphlet::Star4, "B"),
    (Graphlet::Cycle4, "A, B, C, D"),
    (Graphlet::TailedTriangle, "A"),
    (Graphlet::TailedTriangle, "C, D"),
    (Graphlet::TailedTriangle, "B"),
    (Graphlet::Diamond, "A, C"),
    (Graphlet::Diamond, "B, D"),
    (Graphlet::Clique4, "A, B, C, D"),
];

/// Number and edges of each edge orbit.
const EDGES: [(&str, &str); Orbit::COUNT] = [
    ("", "A – B"),
    ("E0", "A – B – C"),
    ("E1", "A – B – C – A"),
    ("E2", "A – B, C – D"),
    ("E3", "B – C"),
    ("E4", "A – B – C, B – D"),
    ("E5", "A – B – C – D – A"),
    ("E6", "A – B"),
    ("E8", "B – C, B – D"),
    ("E7", "C – D"),
    ("E10", "B – D"),
    ("E9", "A – B – C – D – A"),
    ("E11", "A – B – C – D – A, A – C, B – D"),
];

const TRIADS: [&str; Triad::COUNT] = [
    "A → B",
    "A ↔ B",
    "A ← B → C",
    "A → B ← C",
    "A → B → C",
    "A ↔ B ← C",
    "A ↔ B → C",
    "A → B → C, A → C",
    "A → B → C → A",
    "A ↔ B ↔ C",
    "A ← B → C, A ↔ C",
    "A → B ← C, A ↔ C",
    "A → B → C, A ↔ C",
    "A → B ↔ C ↔ A",
    "A ↔ B ↔ C ↔ A",
];

/// A motif, or a position in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// `graphlet`, `node orbit`, `edge orbit`, `triad` (also a dyad) or `arc orbit`.
    pub kind: &'static str,
    /// The name in options and outputs; of triads their MAN code.
    pub name: &'static str,
    /// G0 to G8, 0 to 14, E0 to E11, M1 to M13; empty where there is none.
    pub number: &'static str,
    /// mfinder's identifier of a triad.
    pub mfinder: Option<u32>,
    /// Paths of the motif, separated by commas.
    pub drawing: &'static str,
    /// The nodes or edges of the drawing that are in the position; empty for a whole motif.
    pub position: String,
}

/// All motifs and positions: graphlets, node orbits, edge orbits, triads, arc orbits.
///
/// ```
/// use hone_graph::motif::catalogue;
/// let loops = catalogue().into_iter().find(|named| named.name == "030T").expect("a triad");
/// assert_eq!((loops.number, loops.mfinder, loops.drawing), ("M5", Some(38), "A → B → C, A → C"));
/// ```
pub fn catalogue() -> Vec<Named> {
    let named = |kind, name, number, drawing, position: &str| Named {
        kind,
        name,
        number,
        mfinder: None,
        drawing,
        position: position.to_owned(),
    };
    let graphlets = Graphlet::ALL.into_iter().zip(GRAPHLETS);
    let graphlets = graphlets.map(|(graphlet, (number, drawing))| {
        named("graphlet", graphlet.name(), number, drawing, "")
    });
    let nodes = NODE_ORBITS.into_iter().zip(NODE_ORBIT_NUMBERS).zip(NODES);
    let nodes = nodes.map(|((name, number), (graphlet, nodes))| {
        let drawing = GRAPHLETS[graphlet.index()].1;
        named("node orbit", name, number, drawing, nodes)
    });
    let edges = Orbit::ALL.into_iter().zip(EDGES);
    let edges = edges.map(|(orbit, (number, edges))| {
        let drawing = GRAPHLETS[orbit.graphlet().index()].1;
        named("edge orbit", orbit.name(), number, drawing, edges)
    });
    let unconnected = UNCONNECTED.into_iter();
    let unconnected = unconnected.map(|(name, drawing)| named("triad", name, "", drawing, ""));
    let triads = Triad::ALL.into_iter().zip(TRIADS);
    let triads = triads.map(|(triad, drawing)| Named {
        mfinder: (triad.size() == 3).then(|| mfinder(drawing)),
        ..named(
            "triad",
            triad.name(),
            triad.alias().unwrap_or_default(),
            drawing,
            "",
        )
    });
    let arcs = ArcOrbit::ALL.into_iter().map(|orbit| {
        let drawing = TRIADS[orbit.triad().index()];
        named(
            "arc orbit",
            orbit.name(),
            "",
            drawing,
            &positions(drawing, orbit),
        )
    });
    let undirected = graphlets.chain(nodes).chain(edges);
    undirected
        .chain(unconnected)
        .chain(triads)
        .chain(arcs)
        .collect()
}

/// What the node orbits are called in outputs: their names, or their numbers in the literature.
pub fn node_orbits_called(numbers: bool) -> [&'static str; NODE_ORBITS.len()] {
    if numbers {
        NODE_ORBIT_NUMBERS
    } else {
        NODE_ORBITS
    }
}

impl Motif {
    /// What it is called in outputs: its name, or its [number](Motif::number).
    pub fn called(self, numbers: bool) -> &'static str {
        if numbers { self.number() } else { self.name() }
    }

    /// The number in the literature, as the [`catalogue`] has it; the name where there is none.
    pub fn number(self) -> &'static str {
        let number = match self {
            Motif::Orbit(orbit) => EDGES[orbit.index()].0,
            Motif::Graphlet(graphlet) => GRAPHLETS[graphlet.index()].0,
            Motif::Triad(triad) => triad.alias().unwrap_or_default(),
            Motif::ArcOrbit(_) => "",
        };
        if number.is_empty() {
            self.name()
        } else {
            number
        }
    }

    /// The name of the motif that has this number.
    pub(super) fn numbered(number: &str) -> Option<&'static str> {
        let all = catalogue().into_iter();
        let mut motifs = all.filter(|named| named.kind != "node orbit" && !named.number.is_empty());
        let named = motifs.find(|named| named.number.eq_ignore_ascii_case(number));
        named.map(|named| named.name)
    }
}

/// The nodes between which a drawing has arcs, A being 0.
fn arcs(drawing: &str) -> [[bool; 3]; 3] {
    let mut arcs = [[false; 3]; 3];
    let node = |letter: &str| usize::from(letter.as_bytes()[0] - b'A');
    for path in drawing.split(", ") {
        let parts: Vec<&str> = path.split(' ').collect();
        for link in parts.windows(3).step_by(2) {
            let (a, b) = (node(link[0]), node(link[2]));
            arcs[a][b] |= link[1] != "←";
            arcs[b][a] |= link[1] != "→";
        }
    }
    arcs
}

/// The smallest number of a triad under all numberings of its nodes.
fn mfinder(drawing: &str) -> u32 {
    let arcs = arcs(drawing);
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let number = |order: [usize; 3]| {
        let bit = |at: usize| u32::from(arcs[order[at / 3]][order[at % 3]]) << at;
        (0..9).map(bit).sum()
    };
    orders.map(number).into_iter().min().unwrap_or_default()
}

/// The arcs of a drawing that look as the orbit says.
fn positions(drawing: &str, orbit: ArcOrbit) -> String {
    let arcs = arcs(drawing);
    let relation =
        |from: usize, to: usize| usize::from(arcs[from][to]) + 2 * usize::from(arcs[to][from]);
    let looks = |&(s, t): &(usize, usize)| {
        let third = (0..3).find(|&node| node != s && node != t);
        s != t
            && arcs[s][t]
            && third.is_some_and(|w| (arcs[t][s], relation(s, w), relation(t, w)) == orbit.view())
    };
    let pairs = (0..3).flat_map(|s| (0..3).map(move |t| (s, t)));
    let letter = |node: usize| ["A", "B", "C"][node];
    let shown = pairs
        .filter(looks)
        .map(|(s, t)| format!("{} → {}", letter(s), letter(t)));
    shown.collect::<Vec<_>>().join(", ")
}
