//! Which motifs an embedding uses: [`Motif`] (one orbit or one graphlet), [`MotifSet`], and [`Delta`], how many occurrences
//! an edge needs.
//!
//! A set is written the same way in a configuration file and on the command line: `all` (or
//! `orbits`), `graphlets`, `triads`, `triad-orbits`, `size3`, or a list of names. The names of orbits and of what they are
//! orbits of overlap only where there is a single orbit, and there they mean the same weight.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::orbit::{ArcOrbit, Graphlet, Orbit, Triad};
use crate::error::{Error, Result};
use crate::message::{Message, call, message, quoted, setting};
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

    /// The orbits whose counts are summed for the motif, as bits in the order of [`Orbit::ALL`].
    pub fn orbit_bits(self) -> u32 {
        let orbits = self.orbits().iter();
        orbits.fold(0, |bits, orbit| bits | 1 << orbit.index())
    }

    /// All motifs that have a name of their own: graphlets and triads with a single orbit are that orbit or triad alone.
    fn all() -> impl Iterator<Item = Motif> {
        let several = |graphlet: &Graphlet| graphlet.orbits().len() > 1;
        let graphlets = Graphlet::ALL.into_iter().filter(several);
        let several = |orbit: &ArcOrbit| orbit.triad().orbits().len() > 1;
        let arcs = ArcOrbit::ALL.into_iter().filter(several);
        (Orbit::ALL.into_iter().map(Motif::Orbit))
            .chain(graphlets.map(Motif::Graphlet))
            .chain(Triad::ALL.into_iter().map(Motif::Triad))
            .chain(arcs.map(Motif::ArcOrbit))
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

    /// By name, or by number in the literature; where an orbit and a graphlet share a name they are the same, and the orbit is
    /// meant.
    fn from_str(given: &str) -> Result<Motif> {
        let name = Motif::numbered(given).unwrap_or(given);
        let called = |motif: &Motif| match motif.is_directed() {
            true => motif.name().eq_ignore_ascii_case(name),
            false => motif.name() == name,
        };
        Motif::all()
            .find(called)
            .ok_or_else(|| Error::config("motifs", unknown(given)))
    }
}

/// Sets of motifs that have a name.
const SETS: [(&str, MotifSet); 9] = [
    ("all", MotifSet::Orbits),
    ("orbits", MotifSet::Orbits),
    ("auto", MotifSet::Auto),
    ("graphlets", MotifSet::Graphlets),
    ("triads", MotifSet::Triads),
    ("triad-orbits", MotifSet::TriadOrbits),
    ("size2", MotifSet::Size(2)),
    ("size3", MotifSet::Size(3)),
    ("size4", MotifSet::Size(4)),
];

/// Other words for motifs, without signs and in small letters.
const OTHERS: [(&str, &str); 24] = [
    ("link", "edge"),
    ("k2", "edge"),
    ("wedge", "path3"),
    ("path2", "path3"),
    ("p3", "path3"),
    ("star3", "path3"),
    ("k3", "triangle"),
    ("c3", "triangle"),
    ("clique3", "triangle"),
    ("p4", "path4"),
    ("claw", "star4"),
    ("square", "cycle4"),
    ("c4", "cycle4"),
    ("4cycle", "cycle4"),
    ("paw", "tailed-triangle"),
    ("k4", "clique4"),
    ("4clique", "clique4"),
    ("ffl", "030T"),
    ("feedforward", "030T"),
    ("feedforwardloop", "030T"),
    ("feedback", "030C"),
    ("feedbackloop", "030C"),
    ("cycle3", "030C"),
    ("reciprocal", "mutual"),
];

fn unknown(name: &str) -> Message {
    let names = || Motif::all().map(Motif::name);
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let word = letters.collect::<String>().to_lowercase();
    let other = OTHERS.iter().find(|(other, _)| *other == word);
    let meant = match other {
        Some((_, motif)) => vec![*motif],
        None => spelling::closest(name, names().chain(SETS.iter().map(|set| set.0))),
    };
    if !meant.is_empty() {
        let meant = spelling::either(&meant[..meant.len().min(3)]);
        return message![
            quoted(name),
            format!(" is not a motif; did you mean {meant}? "),
            call("motif::catalogue"),
            " lists all"
        ];
    }
    message![
        quoted(name),
        " is not a motif, nor one of the sets all, graphlets, size2, size3, size4, and of directed graphs triads and \
         triad-orbits; ",
        call("motif::catalogue"),
        " lists all"
    ]
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
        let message = match self {
            MotifSet::Size(size) if !(2..=4).contains(size) => {
                format!("size {size} is out of range; motifs have 2, 3 or 4 nodes")
            }
            MotifSet::List(motifs) if motifs.is_empty() => {
                "no motif is left; name at least one (of the given size, if there is one), or `all`"
                    .to_owned()
            }
            MotifSet::List(motifs) => {
                let named = |i: usize| motifs[..i].iter().any(|m| m.name() == motifs[i].name());
                match (0..motifs.len()).find(|&i| named(i)) {
                    Some(i) => format!("`{}` is named twice", motifs[i]),
                    None => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        Err(Error::config("motifs", message))
    }

    fn from_names<S: AsRef<str>>(names: &[S]) -> Result<MotifSet> {
        let set = match names {
            [one] => MotifSet::from_word(one.as_ref())?,
            _ => {
                let motifs = names.iter().map(|name| member(name.as_ref().trim()));
                MotifSet::List(motifs.collect::<Result<_>>()?)
            }
        };
        set.check()?;
        Ok(set)
    }

    fn from_word(word: &str) -> Result<MotifSet> {
        let word = word.trim();
        let size = word.strip_prefix("size");
        let size = size.and_then(|n| n.trim_start_matches(['=', ':']).parse().ok());
        match (SETS.into_iter().find(|set| set.0 == word), size) {
            (Some((_, set)), _) => Ok(set),
            (None, Some(size)) => Ok(MotifSet::Size(size)),
            (None, None) => Ok(MotifSet::List(vec![word.parse()?])),
        }
    }
}

/// One of several names: a motif, not a set of them.
fn member(name: &str) -> Result<Motif> {
    name.parse().map_err(|unknown| {
        if MotifSet::from_word(name).is_err() {
            return unknown;
        }
        let message = format!("`{name}` is a whole set and cannot be combined with other names");
        Error::config("motifs", message)
    })
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
        match (self, SETS.iter().find(|set| set.1 == *self)) {
            (_, Some((name, _))) => f.write_str(name),
            (MotifSet::Size(size), _) => write!(f, "size{size}"),
            (other, _) => {
                let names: Vec<_> = other.motifs().into_iter().map(Motif::name).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

/// The shapes that sets, thresholds and samples may take in a configuration.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Written {
    Number(u64),
    Text(String),
    Names(Vec<String>),
    ByName(BTreeMap<String, u64>),
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
        in_settings(match Written::deserialize(deserializer) {
            Ok(Written::Text(text)) => text.parse(),
            Ok(Written::Names(names)) => MotifSet::from_names(&names),
            Ok(Written::ByName(sizes)) if sizes.keys().eq(["size"]) => {
                let set = MotifSet::Size(sizes["size"] as usize);
                set.check().map(|()| set)
            }
            _ => Err(Error::config(
                "motifs",
                "`all`, `graphlets`, `triads`, `{ size = 3 }` or a list of motif names",
            )),
        })
    }
}

/// A value of a configuration, whose deserializer names the field.
pub(super) fn in_settings<T, E: serde::de::Error>(value: Result<T>) -> std::result::Result<T, E> {
    value.map_err(|error| match error {
        Error::Config { message, .. } => E::custom(message),
        other => E::custom(other),
    })
}

/// The threshold of sec. 2.2: a number for all motifs, or numbers by motif (1 for those not named).
///
/// ```
/// use hone_graph::motif::Delta;
/// let delta: Delta = "triangle=3,clique4=2".parse()?;
/// assert_eq!((delta.of("triangle".parse()?), delta.of("edge".parse()?)), (3, 1));
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// The same for all motifs.
    All(u64),
    /// By name of the motif.
    ByMotif(BTreeMap<String, u64>),
}

impl Default for Delta {
    fn default() -> Self {
        Delta::All(1)
    }
}

impl Delta {
    /// That of one motif.
    pub fn of(&self, motif: Motif) -> u64 {
        match self {
            Delta::All(delta) => *delta,
            Delta::ByMotif(deltas) => deltas.get(motif.name()).copied().unwrap_or(1),
        }
    }

    /// Fails on thresholds of 0, and on motifs that are not among those used.
    pub fn check(&self, motifs: &MotifSet) -> Result<()> {
        let zero = |field: &str| {
            let message = "must be at least 1: an edge without the motif is never in W_t";
            Err(Error::config(field, message))
        };
        let deltas = match self {
            Delta::All(0) => return zero("delta"),
            Delta::All(_) => return Ok(()),
            Delta::ByMotif(deltas) => deltas,
        };
        let used = motifs.motifs();
        for (name, delta) in deltas {
            let field = format!("delta.{name}");
            if !used.iter().any(|motif| motif.name() == name) {
                let message = match name.parse::<Motif>() {
                    Err(Error::Config { message, .. }) => message,
                    _ => message![
                        format!(
                            "`{name}` is not among the motifs used ({motifs}); name them one by one with "
                        ),
                        setting("motifs"),
                        ", with it among them, or leave it out here"
                    ],
                };
                return Err(Error::config(field, message));
            }
            if *delta == 0 {
                return zero(&field);
            }
        }
        Ok(())
    }
}

/// The canonical name of a motif: `030T` for `M5`.
fn canonical(name: &str) -> String {
    let motif = name.parse::<Motif>();
    motif.map_or_else(|_| name.to_owned(), |motif| motif.name().to_owned())
}

impl FromStr for Delta {
    type Err = Error;

    /// `3`, or `triangle=3,clique4=2`.
    fn from_str(text: &str) -> Result<Delta> {
        let wrong = |part: &str| {
            let message = format!(
                "`{part}` is neither a whole number nor MOTIF=NUMBER, such as triangle=3,clique4=2"
            );
            Error::config("delta", message)
        };
        if let Ok(delta) = text.trim().parse() {
            return Ok(Delta::All(delta));
        }
        let mut deltas = BTreeMap::new();
        for part in text.split(',').map(str::trim) {
            let (name, delta) = part.split_once('=').ok_or_else(|| wrong(part))?;
            let delta = delta.trim().parse().map_err(|_| wrong(part))?;
            if deltas.insert(canonical(name.trim()), delta).is_some() {
                let message = format!("`{}` is named twice", name.trim());
                return Err(Error::config("delta", message));
            }
        }
        Ok(Delta::ByMotif(deltas))
    }
}

impl Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delta::All(delta) => delta.fmt(f),
            Delta::ByMotif(deltas) => {
                let parts = deltas.iter().map(|(name, delta)| format!("{name}={delta}"));
                f.write_str(&parts.collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl Serialize for Delta {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Delta::All(delta) => serializer.serialize_u64(*delta),
            Delta::ByMotif(deltas) => deltas.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Delta, D::Error> {
        in_settings(match Written::deserialize(deserializer) {
            Ok(Written::Number(delta)) => Ok(Delta::All(delta)),
            Ok(Written::ByName(deltas)) => {
                let deltas = deltas.into_iter();
                let deltas = deltas.map(|(name, delta)| (canonical(&name), delta));
                Ok(Delta::ByMotif(deltas.collect()))
            }
            Ok(Written::Text(text)) => text.parse(),
            _ => Err(Error::config(
                "delta",
                "a whole number, or a number for each motif such as { triangle = 3 }",
            )),
        })
    }
}
