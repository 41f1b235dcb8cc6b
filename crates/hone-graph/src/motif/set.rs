//! Which motifs an embedding uses: [`Motif`] (one orbit or one graphlet) and [`MotifSet`].
//!
//! A set is written the same way in a configuration file and on the command line: `all` (or
//! `orbits`), `graphlets`, `triads`, `triad-orbits`, `size3`, or a list of names. The names of orbits and of what they are
//! orbits of overlap only where there is a single orbit, and there they mean the same weight.

use std::fmt;
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::arc_orbit::{ArcOrbit, Triad};
use super::orbit::{Graphlet, Orbit};
use crate::error::{Error, Result};
use crate::spelling;

/// What a weighted motif graph counts: one edge orbit, or a whole graphlet (the sum of its orbits); in directed graphs
/// also a triad or one of its arc orbits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Motif {
    /// Occurrences with the edge in this position.
    Orbit(Orbit),
    /// Occurrences with the edge in any position.
    Graphlet(Graphlet),
    /// Occurrences of a directed motif with the arc in any position.
    Triad(Triad),
    /// Occurrences of a directed motif with the arc in this position.
    ArcOrbit(ArcOrbit),
}

impl Motif {
    /// Name as written in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Motif::Orbit(orbit) => orbit.name(),
            Motif::Graphlet(graphlet) => graphlet.name(),
            Motif::Triad(triad) => triad.name(),
            Motif::ArcOrbit(orbit) => orbit.name(),
        }
    }

    /// Number of vertices.
    pub fn size(self) -> usize {
        match self {
            Motif::Orbit(orbit) => orbit.graphlet().size(),
            Motif::Graphlet(graphlet) => graphlet.size(),
            Motif::Triad(triad) => triad.size(),
            Motif::ArcOrbit(orbit) => orbit.triad().size(),
        }
    }

    /// The directed motif counted: a dyad or triad; none where directions are ignored.
    pub fn triad(self) -> Option<Triad> {
        match self {
            Motif::Orbit(_) | Motif::Graphlet(_) => None,
            Motif::Triad(triad) => Some(triad),
            Motif::ArcOrbit(orbit) => Some(orbit.triad()),
        }
    }

    /// Whether it is a motif of directed graphs alone.
    pub fn is_directed(self) -> bool {
        self.triad().is_some()
    }

    /// The graphlet counted; none where directions count.
    pub fn graphlet(self) -> Option<Graphlet> {
        match self {
            Motif::Orbit(orbit) => Some(orbit.graphlet()),
            Motif::Graphlet(graphlet) => Some(graphlet),
            Motif::Triad(_) | Motif::ArcOrbit(_) => None,
        }
    }

    /// The orbits whose counts add up to the weight; none where directions count.
    pub fn orbits(self) -> &'static [Orbit] {
        match self {
            Motif::Orbit(orbit) => &Orbit::ALL[orbit.index()..=orbit.index()],
            Motif::Graphlet(graphlet) => graphlet.orbits(),
            Motif::Triad(_) | Motif::ArcOrbit(_) => &[],
        }
    }

    /// The arc orbits whose counts add up to the weight; none where directions are ignored.
    pub fn arc_orbits(self) -> &'static [ArcOrbit] {
        match self {
            Motif::Orbit(_) | Motif::Graphlet(_) => &[],
            Motif::Triad(triad) => triad.orbits(),
            Motif::ArcOrbit(orbit) => &ArcOrbit::ALL[orbit.index()..=orbit.index()],
        }
    }

    /// An arc orbit, or the triad that has no other.
    fn of_arc(orbit: ArcOrbit) -> Motif {
        let triad = orbit.triad();
        if triad.orbits().len() == 1 {
            Motif::Triad(triad)
        } else {
            Motif::ArcOrbit(orbit)
        }
    }

    /// The weight of an edge with these orbit counts; `None` when the sum exceeds u64. Zero where directions count.
    pub fn weight(self, counts: &[u64; Orbit::COUNT]) -> Option<u64> {
        self.orbits()
            .iter()
            .try_fold(0u64, |sum, orbit| sum.checked_add(counts[orbit.index()]))
    }
}

impl Display for Motif {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Motif {
    type Err = Error;

    /// By name; where an orbit and a graphlet share a name they are the same, and the orbit is meant.
    fn from_str(name: &str) -> Result<Motif> {
        let orbit = Orbit::ALL
            .into_iter()
            .find(|orbit| orbit.name() == name)
            .map(Motif::Orbit);
        let graphlet = || {
            Graphlet::ALL
                .into_iter()
                .find(|graphlet| graphlet.name() == name)
                .map(Motif::Graphlet)
        };
        let directed = || {
            named_triad(name)
                .map(Motif::Triad)
                .or_else(|| named_arc(name))
        };
        orbit
            .or_else(graphlet)
            .or_else(directed)
            .ok_or_else(|| Error::config("motifs", unknown(name)))
    }
}

/// A dyad or triad by its name, its MAN code or M1 to M13.
fn named_triad(name: &str) -> Option<Triad> {
    let called = |other: &str| other.eq_ignore_ascii_case(name);
    Triad::ALL
        .into_iter()
        .find(|triad| called(triad.name()) || triad.alias().is_some_and(called))
}

fn named_arc(name: &str) -> Option<Motif> {
    ArcOrbit::ALL
        .into_iter()
        .find(|orbit| orbit.name().eq_ignore_ascii_case(name))
        .map(Motif::of_arc)
}

/// Sets of motifs that have a name.
const WORDS: [&str; 8] = [
    "all",
    "orbits",
    "graphlets",
    "triads",
    "triad-orbits",
    "size2",
    "size3",
    "size4",
];

fn unknown(name: &str) -> String {
    let orbits: Vec<_> = Orbit::ALL.iter().map(|orbit| orbit.name()).collect();
    let graphlets: Vec<_> = Graphlet::ALL
        .iter()
        .filter(|g| g.orbits().len() > 1)
        .map(|graphlet| graphlet.name())
        .collect();
    let triads: Vec<_> = Triad::ALL.iter().map(|triad| triad.name()).collect();
    let arcs = ArcOrbit::ALL.iter().map(|orbit| orbit.name());
    let known = orbits
        .iter()
        .chain(&graphlets)
        .chain(&triads)
        .copied()
        .chain(arcs)
        .chain(WORDS);
    let meant = spelling::closest(name, known);
    if !meant.is_empty() {
        let meant = spelling::either(&meant[..meant.len().min(3)]);
        return format!(
            "`{name}` is not a motif; did you mean {meant}? `hone count --help` lists all"
        );
    }
    format!(
        "`{name}` is not a motif; use `all` (the 13 orbits), `graphlets` (the 9 graphlets), `size2`, `size3`, `size4` \
         (orbits of at most that many nodes), for directed graphs `triads` or `triad-orbits`, or a list of the orbits \
         {}, the graphlets {}, and the directed motifs {} (also M1 to M13) and \
         positions of arcs in them, such as 030T-first",
        orbits.join(", "),
        graphlets.join(", "),
        triads.join(", ")
    )
}

/// A choice of motifs, as in a configuration.
///
/// ```
/// use hone_graph::motif::MotifSet;
/// let set: MotifSet = "triangle,clique4,path4".parse()?;
/// let names: Vec<_> = set.motifs().iter().map(|motif| motif.name()).collect();
/// assert_eq!(names, ["triangle", "clique4", "path4"]);
/// assert_eq!("size3".parse::<MotifSet>()?.motifs().len(), 3);
/// assert!("tringle".parse::<MotifSet>().is_err());
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MotifSet {
    /// All 13 edge orbits: `all` or `orbits`.
    #[default]
    Orbits,
    /// Chosen by the graph: `triads` if arcs keep their direction, else `all`; for structure only: `auto`.
    Auto,
    /// All 9 graphlets: `graphlets`.
    Graphlets,
    /// The 13 triads and two dyads of directed graphs: `triads`.
    Triads,
    /// Their 32 arc orbits: `triad-orbits`.
    TriadOrbits,
    /// The edge orbits of graphlets of at most this many vertices (2–4): `size3`, or `{ size = 3 }`.
    Size(usize),
    /// A list of names, in the order given, without repetition.
    List(Vec<Motif>),
}

impl MotifSet {
    /// The motifs, in order.
    pub fn motifs(&self) -> Vec<Motif> {
        match self {
            MotifSet::Orbits | MotifSet::Auto => Orbit::ALL.map(Motif::Orbit).to_vec(),
            MotifSet::Graphlets => Graphlet::ALL.map(Motif::Graphlet).to_vec(),
            MotifSet::Triads => Triad::ALL.map(Motif::Triad).to_vec(),
            MotifSet::TriadOrbits => ArcOrbit::ALL.map(Motif::of_arc).to_vec(),
            MotifSet::Size(size) => MotifSet::Orbits.at_most(*size).motifs(),
            MotifSet::List(motifs) => motifs.clone(),
        }
    }

    /// Those of at most `size` vertices (`--motif-size`).
    #[must_use]
    pub fn at_most(&self, size: usize) -> MotifSet {
        MotifSet::List(
            self.motifs()
                .into_iter()
                .filter(|motif| motif.size() <= size)
                .collect(),
        )
    }

    /// Fails if the set is empty, names a motif twice or has an invalid size.
    pub fn check(&self) -> Result<()> {
        match self {
            MotifSet::Size(size) if !(2..=4).contains(size) => Err(Error::config(
                "motifs",
                format!("size {size} is out of range; motifs have 2, 3 or 4 nodes"),
            )),
            MotifSet::List(motifs) => check_list(motifs),
            _ => Ok(()),
        }
    }

    fn from_names<S: AsRef<str>>(names: &[S]) -> Result<MotifSet> {
        let set = match names {
            [one] => MotifSet::from_word(one.as_ref())?,
            _ => MotifSet::List(
                names
                    .iter()
                    .map(|name| member(name.as_ref().trim()))
                    .collect::<Result<_>>()?,
            ),
        };
        set.check()?;
        Ok(set)
    }

    fn from_word(word: &str) -> Result<MotifSet> {
        let word = word.trim();
        let size = word
            .strip_prefix("size")
            .and_then(|n| n.trim_start_matches(['=', ':']).parse().ok());
        match (word, size) {
            ("all" | "orbits", _) => Ok(MotifSet::Orbits),
            ("auto", _) => Ok(MotifSet::Auto),
            ("graphlets", _) => Ok(MotifSet::Graphlets),
            ("triads", _) => Ok(MotifSet::Triads),
            ("triad-orbits", _) => Ok(MotifSet::TriadOrbits),
            (_, Some(size)) => Ok(MotifSet::Size(size)),
            _ => Ok(MotifSet::List(vec![word.parse()?])),
        }
    }
}

/// One of several names: a motif, not a set of them.
fn member(name: &str) -> Result<Motif> {
    name.parse()
        .map_err(|unknown| match MotifSet::from_word(name) {
            Ok(_) => Error::config(
                "motifs",
                format!("`{name}` is a whole set and cannot be combined with other names"),
            ),
            Err(_) => unknown,
        })
}

fn check_list(motifs: &[Motif]) -> Result<()> {
    if motifs.is_empty() {
        return Err(Error::config(
            "motifs",
            "no motif is left; name at least one (of the given size, if there is one), or `all`",
        ));
    }
    for (i, motif) in motifs.iter().enumerate() {
        if motifs[..i].iter().any(|other| other.name() == motif.name()) {
            return Err(Error::config("motifs", format!("`{motif}` is named twice")));
        }
    }
    Ok(())
}

impl FromStr for MotifSet {
    type Err = Error;

    fn from_str(text: &str) -> Result<MotifSet> {
        let names: Vec<&str> = text
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .collect();
        MotifSet::from_names(&names)
    }
}

impl Display for MotifSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MotifSet::Orbits => f.write_str("all"),
            MotifSet::Auto => f.write_str("auto"),
            MotifSet::Graphlets => f.write_str("graphlets"),
            MotifSet::Triads => f.write_str("triads"),
            MotifSet::TriadOrbits => f.write_str("triad-orbits"),
            MotifSet::Size(size) => write!(f, "size{size}"),
            MotifSet::List(motifs) => {
                let names: Vec<_> = motifs.iter().map(|motif| motif.name()).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

/// The shapes a set may take in a configuration file.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`all`, `graphlets`, `triads`, `{ size = 3 }` or a list of motif names"
)]
enum Written {
    Text(String),
    Names(Vec<String>),
    Size(Size),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    size: usize,
}

impl Serialize for MotifSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            MotifSet::List(motifs) => {
                serializer.collect_seq(motifs.iter().map(|motif| motif.name()))
            }
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for MotifSet {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<MotifSet, D::Error> {
        let set = match Written::deserialize(deserializer)? {
            Written::Text(text) => text.parse(),
            Written::Names(names) => MotifSet::from_names(&names),
            Written::Size(Size { size }) => {
                let set = MotifSet::Size(size);
                set.check().map(|()| set)
            }
        };
        set.map_err(|error| {
            // The field's name is already in the path of the deserializer.
            let Error::Config { message, .. } = error else {
                return serde::de::Error::custom(error);
            };
            serde::de::Error::custom(message)
        })
    }
}
