//! Which motifs an embedding uses: [`Motif`] (one orbit or one graphlet) and [`MotifSet`].
//!
//! A set is written the same way in a configuration file and on the command line: `all` (or
//! `orbits`), `graphlets`, `size3`, or a list of names. The names of orbits and graphlets overlap
//! only where the graphlet has a single orbit, and there they mean the same weight.

use std::fmt;
use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::orbit::{Graphlet, Orbit};
use crate::error::{Error, Result};

/// What a weighted motif graph counts: one edge orbit, or a whole graphlet (the sum of its orbits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Motif {
    /// Occurrences with the edge in this position.
    Orbit(Orbit),
    /// Occurrences with the edge in any position.
    Graphlet(Graphlet),
}

impl Motif {
    /// Name as written in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Motif::Orbit(orbit) => orbit.name(),
            Motif::Graphlet(graphlet) => graphlet.name(),
        }
    }

    /// The graphlet counted.
    pub fn graphlet(self) -> Graphlet {
        match self {
            Motif::Orbit(orbit) => orbit.graphlet(),
            Motif::Graphlet(graphlet) => graphlet,
        }
    }

    /// The orbits whose counts add up to the weight.
    pub fn orbits(self) -> &'static [Orbit] {
        match self {
            Motif::Orbit(orbit) => &Orbit::ALL[orbit.index()..=orbit.index()],
            Motif::Graphlet(graphlet) => graphlet.orbits(),
        }
    }

    /// The weight of an edge with these orbit counts; `None` when the sum exceeds u64.
    pub fn weight(self, counts: &[u64; Orbit::COUNT]) -> Option<u64> {
        self.orbits().iter().try_fold(0u64, |sum, orbit| sum.checked_add(counts[orbit.index()]))
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
        let orbit = Orbit::ALL.into_iter().find(|orbit| orbit.name() == name).map(Motif::Orbit);
        let graphlet = || Graphlet::ALL.into_iter().find(|graphlet| graphlet.name() == name).map(Motif::Graphlet);
        orbit.or_else(graphlet).ok_or_else(|| Error::config("motifs", unknown(name)))
    }
}

fn unknown(name: &str) -> String {
    let orbits: Vec<_> = Orbit::ALL.iter().map(|orbit| orbit.name()).collect();
    let graphlets: Vec<_> =
        Graphlet::ALL.iter().filter(|g| g.orbits().len() > 1).map(|graphlet| graphlet.name()).collect();
    format!(
        "`{name}` is no motif; use `all` (the 13 orbits), `graphlets` (the 9 graphlets), `size2`, `size3`, `size4` \
         (orbits of at most that many vertices), or a list of the orbits {} and the graphlets {}",
        orbits.join(", "),
        graphlets.join(", ")
    )
}

/// A choice of motifs, as it stands in a configuration.
///
/// ```
/// use hone::motif::MotifSet;
/// let set: MotifSet = "triangle,clique4,path4".parse()?;
/// let names: Vec<_> = set.motifs().iter().map(|motif| motif.name()).collect();
/// assert_eq!(names, ["triangle", "clique4", "path4"]);
/// assert_eq!("size3".parse::<MotifSet>()?.motifs().len(), 3);
/// assert!("tringle".parse::<MotifSet>().is_err());
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MotifSet {
    /// All 13 edge orbits: `all` or `orbits`.
    #[default]
    Orbits,
    /// All 9 graphlets: `graphlets`.
    Graphlets,
    /// The edge orbits of graphlets of at most this many vertices (2–4): `size3`, or `{ size = 3 }`.
    Size(usize),
    /// A list of names, in the order given, without repetition.
    List(Vec<Motif>),
}

impl MotifSet {
    /// The motifs, in order.
    pub fn motifs(&self) -> Vec<Motif> {
        match self {
            MotifSet::Orbits => Orbit::ALL.map(Motif::Orbit).to_vec(),
            MotifSet::Graphlets => Graphlet::ALL.map(Motif::Graphlet).to_vec(),
            MotifSet::Size(size) => MotifSet::Orbits.at_most(*size).motifs(),
            MotifSet::List(motifs) => motifs.clone(),
        }
    }

    /// Those of at most `size` vertices (`--motif-size`).
    #[must_use]
    pub fn at_most(&self, size: usize) -> MotifSet {
        MotifSet::List(self.motifs().into_iter().filter(|motif| motif.graphlet().size() <= size).collect())
    }

    /// Fails when the set is empty, names a motif twice or a size there is not.
    pub fn check(&self) -> Result<()> {
        match self {
            MotifSet::Size(size) if !(2..=4).contains(size) => {
                Err(Error::config("motifs", format!("size {size} is out of range; motifs have 2, 3 or 4 vertices")))
            }
            MotifSet::List(motifs) => check_list(motifs),
            _ => Ok(()),
        }
    }

    fn from_names<S: AsRef<str>>(names: &[S]) -> Result<MotifSet> {
        let set = match names {
            [one] => MotifSet::from_word(one.as_ref())?,
            _ => MotifSet::List(names.iter().map(|name| member(name.as_ref().trim())).collect::<Result<_>>()?),
        };
        set.check()?;
        Ok(set)
    }

    fn from_word(word: &str) -> Result<MotifSet> {
        let word = word.trim();
        let size = word.strip_prefix("size").and_then(|n| n.trim_start_matches(['=', ':']).parse().ok());
        match (word, size) {
            ("all" | "orbits", _) => Ok(MotifSet::Orbits),
            ("graphlets", _) => Ok(MotifSet::Graphlets),
            (_, Some(size)) => Ok(MotifSet::Size(size)),
            _ => Ok(MotifSet::List(vec![word.parse()?])),
        }
    }
}

/// One of several names: a motif, not a set of them.
fn member(name: &str) -> Result<Motif> {
    name.parse().map_err(|unknown| match MotifSet::from_word(name) {
        Ok(_) => Error::config("motifs", format!("`{name}` is a whole set and stands alone, not among other names")),
        Err(_) => unknown,
    })
}

fn check_list(motifs: &[Motif]) -> Result<()> {
    if motifs.is_empty() {
        return Err(Error::config(
            "motifs",
            "the list is empty; name at least one motif (of that size, if a size is given), or `all`",
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
        let names: Vec<&str> = text.split([',', ' ']).filter(|name| !name.is_empty()).collect();
        MotifSet::from_names(&names)
    }
}

impl Display for MotifSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MotifSet::Orbits => f.write_str("all"),
            MotifSet::Graphlets => f.write_str("graphlets"),
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
#[serde(untagged, expecting = "`all`, `graphlets`, `{ size = 3 }` or a list of motif names")]
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
            MotifSet::List(motifs) => serializer.collect_seq(motifs.iter().map(|motif| motif.name())),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for MotifSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<MotifSet, D::Error> {
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
            let Error::Config { message, .. } = error else { return serde::de::Error::custom(error) };
            serde::de::Error::custom(message)
        })
    }
}
