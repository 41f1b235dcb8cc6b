//! Colours: what nodes can be coloured by, and what follows from it for the page and for pictures alike, a [`Scheme`].
//!
//! The most frequent groups have a colour each; the others share grey, as do nodes without a value, and lie below, small.
//! Numbers have 256 levels of a ramp, by their logarithm where they are skewed.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::path::Path;

use hone::attributes::{self, Shown};
use hone::graph::NodeIds;
use hone::motif::node_orbits_called;
use hone::progress::Progress;
use hone::{Error, Result};
use serde::{Deserialize, Serialize};

use super::Map;

/// Names that are kept of a column; nodes with rarer ones are among the others.
const NAMES: usize = 1000;
/// Columns of attributes that are offered.
const COLUMNS: usize = 40;
/// Of others and of nodes without a value.
const GREY: u32 = 0xb4b4b4;
/// Levels of a number.
const LEVELS: usize = 256;
/// From this skewness on, the logarithm of a number is shown: an exponential distribution has 2.
const SKEWED: f64 = 2.0;
/// Cells of the grid, in each direction, one of which is taken for the middle of a group.
const CELLS: usize = 24;
/// viridis (Smith and van der Walt, 2015): even steps for every kind of colour vision.
const RAMP: [u32; 6] = [0x440154, 0x414487, 0x2a788e, 0x22a884, 0x7ad151, 0xfde725];

/// Colours of groups; each set can be told apart with any kind of colour vision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Palette {
    /// Eight colours, as far apart as they can be with and without colour blindness, visible on white and on black.
    #[default]
    Distinct,
    /// The seven colours of Okabe and Ito (2008).
    OkabeIto,
    /// The nine muted colours of Tol (2021).
    Muted,
}

names!(Palette, "palette": "distinct", "okabe-ito", "muted");

impl Palette {
    fn colours(self) -> &'static [u32] {
        match self {
            Palette::Distinct => &[
                0x2c5bb7, 0xdb7f0b, 0x7ecc6c, 0x94287c, 0x2a9088, 0xbe77e0, 0x29582b, 0x886c18,
            ],
            Palette::OkabeIto => &[
                0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0xf0e442,
            ],
            Palette::Muted => &[
                0xcc6677, 0x332288, 0xddcc77, 0x117733, 0x88ccee, 0x882255, 0x44aa99, 0x999933,
                0xaa4499,
            ],
        }
    }
}

/// How colours follow from numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scale {
    /// By their logarithm where they are skewed.
    #[default]
    Auto,
    /// In proportion.
    Linear,
    /// By their logarithm.
    Log,
}

names!(Scale, "scale": "auto", "linear", "log");

/// How a map looks: a picture always, a page at first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Style {
    /// What nodes are coloured by: `role`, `degree`, `motif: NAME`, or the name of a label or an attribute; by default
    /// the first label, else roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// Colours of groups.
    pub palette: Palette,
    /// How colours follow from numbers.
    pub scale: Scale,
    /// Size of the points, as a multiple of the usual one.
    pub point_size: f32,
    /// Whether groups have their names on the map.
    pub names: bool,
    /// Whether groups have shapes, too.
    pub shapes: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            colour: None,
            palette: Palette::Distinct,
            scale: Scale::Auto,
            point_size: 1.0,
            names: true,
            shapes: false,
        }
    }
}

impl Style {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        if (0.1..=20.0).contains(&self.point_size) {
            return Ok(());
        }
        let message = format!("{} is not between 0.1 and 20", self.point_size);
        Err(Error::config("point_size", message))
    }
}

/// A value per node.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Colour {
    /// One of some names.
    Categories {
        /// What they are.
        name: String,
        /// Their names.
        names: Vec<String>,
        /// The place of every node's name; [`Colour::OTHER`] if it is not among them, [`Colour::NONE`] if there is none.
        of: Vec<u16>,
    },
    /// A number.
    Numbers {
        /// What it is.
        name: String,
        /// The number of every node; NaN if there is none.
        values: Vec<f32>,
    },
}

impl Colour {
    /// A name that is too rare to be kept.
    pub const OTHER: u16 = u16::MAX - 1;
    /// No name.
    pub const NONE: u16 = u16::MAX;

    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Colour::Categories { name, .. } | Colour::Numbers { name, .. } => name,
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Colour::Categories { of, .. } => of.len(),
            Colour::Numbers { values, .. } => values.len(),
        }
    }
}

/// How nodes get their colours, and what the legend says.
#[derive(Debug, Serialize)]
pub(super) struct Scheme {
    /// Where the page has the values.
    key: String,
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) legend: Legend,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Legend {
    Groups {
        /// The names of the values, and the group of each, of the others, and of nodes without one.
        names: Vec<String>,
        #[serde(rename = "groupOf")]
        group_of: Vec<usize>,
        /// In the order of the legend.
        groups: Vec<Group>,
        /// From the lowest to the uppermost.
        order: Vec<usize>,
    },
    Numbers {
        least: f32,
        most: f32,
        /// How many nodes have none.
        missing: usize,
        log: bool,
        /// The logarithm of 1 + x is that of x in this unit.
        unit: f32,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) nodes: usize,
    /// Where it is in each layout.
    pub(super) middles: Vec<[f32; 2]>,
    #[serde(flatten)]
    pub(super) look: Look,
}

/// How points look; muted are those of others and of nodes without a value.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Look {
    pub(super) colour: String,
    pub(super) muted: bool,
    pub(super) shape: usize,
}

impl Look {
    fn plain(colour: u32, shape: usize) -> Look {
        Look {
            colour: format!("#{colour:06x}"),
            muted: colour == GREY,
            shape,
        }
    }
}

/// The looks of numbers, from the least to the largest.
pub(super) fn ramp() -> Vec<Look> {
    let look = |level: usize| {
        let place = level as f64 / (LEVELS - 1) as f64 * (RAMP.len() - 1) as f64;
        let low = (place as usize).min(RAMP.len() - 2);
        let channel = |shift: u32| {
            let [a, b] = [RAMP[low], RAMP[low + 1]].map(|stop| f64::from(stop >> shift & 255));
            ((a + (b - a) * (place - low as f64)).round() as u32) << shift
        };
        Look::plain(channel(16) | channel(8) | channel(0), 0)
    };
    (0..LEVELS).map(look).collect()
}

impl Map<'_> {
    /// Everything that nodes can be coloured by: labels, roles, degrees, motifs, and attributes that are numbers.
    pub(super) fn colourings(&self) -> impl Iterator<Item = (String, Cow<'_, Colour>)> {
        let colours = self.colours.iter().enumerate();
        let (labels, numbers): (Vec<_>, Vec<_>) =
            colours.partition(|(_, colour)| matches!(colour, Colour::Categories { .. }));
        let role = || Colour::Categories {
            name: "role".into(),
            names: self.roles.roles.iter().map(|it| it.name.clone()).collect(),
            of: self
                .roles
                .assignments()
                .iter()
                .map(|&role| role as u16)
                .collect(),
        };
        let (counts, n) = (self.roles.counts(), self.graph.nodes());
        let orbits = self.roles.orbits().into_iter().zip(0..);
        let orbits = orbits.map(move |(called, orbit): (&str, usize)| {
            let name = match orbit {
                0 => "degree".to_owned(),
                _ => format!("motif: {called}"),
            };
            let colour = counted(&name, n, |node| counts[node][orbit] as f32);
            (format!("orbit-{orbit}"), Cow::Owned(colour))
        });
        let arcs = self.roles.arcs().into_iter().flat_map(move |arcs| {
            let out = counted("out-degree", n, |node| arcs[node].out as f32);
            let into = counted("in-degree", n, |node| arcs[node].into as f32);
            [("out", out), ("in", into)].map(|(key, colour)| (key.to_owned(), Cow::Owned(colour)))
        });
        let role = once(()).map(move |()| ("role".to_owned(), Cow::Owned(role())));
        let labels = labels.into_iter().map(own);
        labels
            .chain(role)
            .chain(arcs)
            .chain(orbits)
            .chain(numbers.into_iter().map(own))
    }

    /// The one that is shown first.
    pub(super) fn chosen(&self) -> Result<(String, Cow<'_, Colour>)> {
        let wanted = self.style.colour.as_deref();
        // Motifs are known by name and by number, whatever they are called.
        let orbit = wanted.and_then(|wanted| wanted.strip_prefix("motif: "));
        let orbit = orbit.and_then(|orbit| {
            let place = |numbers| {
                node_orbits_called(numbers)
                    .iter()
                    .position(|it| *it == orbit)
            };
            place(false).or_else(|| place(true))
        });
        let orbit = orbit.map(|orbit| format!("orbit-{orbit}"));
        let mut names = Vec::new();
        for (key, colour) in self.colourings() {
            if wanted.is_none_or(|wanted| wanted == colour.name()) || orbit.as_ref() == Some(&key) {
                return Ok((key, colour));
            }
            names.push(colour.name().to_owned());
        }
        let (wanted, names) = (wanted.unwrap_or_default(), names.join(", "));
        Err(Error::config(
            "colour",
            format!("`{wanted}` is not one of {names}"),
        ))
    }
}

/// A colour of the map's own.
fn own((at, colour): (usize, &Colour)) -> (String, Cow<'_, Colour>) {
    (format!("own-{at}"), Cow::Borrowed(colour))
}

/// A number of each node.
fn counted(name: &str, nodes: usize, count: impl Fn(usize) -> f32) -> Colour {
    Colour::Numbers {
        name: name.to_owned(),
        values: (0..nodes).map(count).collect(),
    }
}

impl Scheme {
    /// `places` has the nodes in each layout.
    pub(super) fn new(
        key: String,
        colour: &Colour,
        style: &Style,
        places: &[Vec<[f32; 2]>],
    ) -> Scheme {
        let legend = match colour {
            Colour::Categories { names, of, .. } => groups(names, of, style, places),
            Colour::Numbers { values, .. } => numbers(values, style.scale),
        };
        let name = colour.name().to_owned();
        Scheme { key, name, legend }
    }

    /// All looks, and for each node which it has.
    pub(super) fn looks(&self, colour: &Colour) -> (Vec<Look>, Vec<u16>) {
        match (&self.legend, colour) {
            (
                Legend::Groups {
                    groups, group_of, ..
                },
                Colour::Categories { of, .. },
            ) => {
                let group = |&value: &u16| group_of[place(value, group_of.len())] as u16;
                let looks = groups.iter().map(|group| group.look.clone());
                (looks.collect(), of.iter().map(group).collect())
            }
            (
                &Legend::Numbers {
                    least,
                    most,
                    log,
                    unit,
                    ..
                },
                Colour::Numbers { values, .. },
            ) => {
                let level = |value: f32| level(value, log, unit);
                let (low, span) = (level(least), level(most) - level(least));
                let look = |&value: &f32| match (level(value) - low) / span * LEVELS as f64 {
                    _ if !value.is_finite() => 0,
                    _ if span <= 0.0 => LEVELS as u16 / 2,
                    place => 1 + place.clamp(0.0, LEVELS as f64 - 1.0) as u16,
                };
                let looks = once(Look::plain(GREY, 0)).chain(ramp());
                (looks.collect(), values.iter().map(look).collect())
            }
            _ => unreachable!("a scheme is asked for the colour it was made of"),
        }
    }
}

/// Where a value is among `all` places, the last two of which are of others and of none.
fn place(value: u16, all: usize) -> usize {
    match value {
        Colour::NONE => all - 1,
        value => usize::from(value).min(all - 2),
    }
}

/// The most frequent names, in numeric order if they are numbers, else the largest group first.
fn groups(names: &[String], of: &[u16], style: &Style, places: &[Vec<[f32; 2]>]) -> Legend {
    let all = names.len() + 2;
    let mut nodes = vec![0; all];
    of.iter().for_each(|&value| nodes[place(value, all)] += 1);
    let mut named: Vec<usize> = (0..names.len()).filter(|&value| nodes[value] > 0).collect();
    named.sort_by_key(|&value| Reverse(nodes[value]));
    let colours = style.palette.colours();
    named.truncate(colours.len());
    let number = |&value: &usize| names[value].trim().parse::<f64>();
    if named
        .iter()
        .all(|value| number(value).is_ok_and(f64::is_finite))
    {
        named.sort_by(|a, b| {
            number(a)
                .unwrap_or(0.0)
                .total_cmp(&number(b).unwrap_or(0.0))
        });
    }
    let (other, none) = (named.len(), named.len() + 1);
    let mut group_of = vec![other; all];
    group_of[all - 1] = none;
    for (group, &value) in named.iter().enumerate() {
        group_of[value] = group;
    }
    let names_of = named.iter().map(|&value| names[value].as_str());
    let looks = colours
        .iter()
        .zip(0..)
        .map(|(&colour, at)| Look::plain(colour, at % SHAPES.len()));
    let special = ["(other)", "(none)"].map(|name| (name, Look::plain(GREY, 0)));
    let group = |(name, look): (&str, Look)| Group {
        name: name.to_owned(),
        nodes: 0,
        middles: Vec::new(),
        look,
    };
    let mut groups: Vec<Group> = names_of.zip(looks).chain(special).map(group).collect();
    let members = group_of.iter().zip(nodes);
    members.for_each(|(&group, nodes)| groups[group].nodes += nodes);
    for places in places {
        let group = |node: usize| group_of[place(of[node], all)];
        let found = middles(places, groups.len(), group);
        groups
            .iter_mut()
            .zip(found)
            .for_each(|(group, middle)| group.middles.push(middle));
    }
    let mut order: Vec<usize> = (0..groups.len())
        .filter(|&group| groups[group].nodes > 0)
        .collect();
    order.sort_by_key(|&group| (!groups[group].look.muted, Reverse(groups[group].nodes)));
    let names = names.to_vec();
    Legend::Groups {
        names,
        group_of,
        groups,
        order,
    }
}

/// The middle of each group: of its nodes in the cell of a grid where they are many among few others.
fn middles(places: &[[f32; 2]], groups: usize, group: impl Fn(usize) -> usize) -> Vec<[f32; 2]> {
    let cell = |v: f32| ((v * CELLS as f32) as usize).min(CELLS - 1);
    // Sums of both coordinates, and numbers of nodes; those of all nodes come last.
    let mut sums = vec![[[0f64; 3]; CELLS * CELLS]; groups + 1];
    for (node, &[x, y]) in places.iter().enumerate() {
        for of in [group(node), groups] {
            let sum = &mut sums[of][cell(x) * CELLS + cell(y)];
            *sum = [sum[0] + f64::from(x), sum[1] + f64::from(y), sum[2] + 1.0];
        }
    }
    let all = sums.pop().expect("the last");
    let middle = |cells: [[f64; 3]; CELLS * CELLS]| {
        let clear = |[_, _, n]: [f64; 3], all: &[f64; 3]| n * n / all[2].max(1.0);
        let best = cells.into_iter().zip(&all);
        let best = best.max_by(|a, b| clear(a.0, a.1).total_cmp(&clear(b.0, b.1)));
        let [x, y, n] = best.expect("a grid has cells").0;
        [x, y].map(|sum| (sum / n.max(1.0)) as f32)
    };
    sums.into_iter().map(middle).collect()
}

fn numbers(values: &[f32], scale: Scale) -> Legend {
    let known: Vec<f64> = values
        .iter()
        .filter(|x| x.is_finite())
        .map(|&x| x.into())
        .collect();
    let n = known.len().max(1) as f64;
    let mean = known.iter().sum::<f64>() / n;
    let moment = |power| known.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    let skewness = moment(3) / moment(2).powf(1.5);
    let mut sizes: Vec<f64> = known.iter().map(|x| x.abs()).filter(|&x| x > 0.0).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    // A twentieth of the values are smaller: what is near zero stays near it.
    let unit = sizes
        .get(sizes.len() / 20)
        .map_or(1.0, |&size| size.min(1.0));
    let end = |pick: fn(f64, f64) -> f64| known.iter().copied().reduce(pick).unwrap_or(0.0) as f32;
    Legend::Numbers {
        least: end(f64::min),
        most: end(f64::max),
        missing: values.len() - known.len(),
        log: match scale {
            Scale::Auto => skewness.abs() > SKEWED,
            Scale::Linear => false,
            Scale::Log => true,
        },
        unit: unit as f32,
    }
}

/// A number on its scale.
fn level(value: f32, log: bool, unit: f32) -> f64 {
    let value = f64::from(value);
    match log {
        true => value.signum() * (value.abs() / f64::from(unit)).ln_1p(),
        false => value,
    }
}

/// Corners of the shapes of groups, as large as a disc of radius one; the first is a disc.
pub(super) const SHAPES: [&[[f32; 2]]; 5] = [
    &[],
    &[
        [-0.886, -0.886],
        [0.886, -0.886],
        [0.886, 0.886],
        [-0.886, 0.886],
    ],
    &[[0.0, -1.555], [1.347, 0.777], [-1.347, 0.777]],
    &[[0.0, -1.253], [1.253, 0.0], [0.0, 1.253], [-1.253, 0.0]],
    &[[0.0, 1.555], [-1.347, -0.777], [1.347, -0.777]],
];

/// Colours by the columns of a file, and notes about what was missing.
type Colours = (Vec<Colour>, Vec<String>);

/// Labels of nodes: a table of ids and one or more columns, each value of which is a category. Of several labels, separated
/// by commas, a node shows the first. The process may hold `memory` bytes; by default what the machine has free.
pub fn read_labels(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<Colours> {
    read(file, ids, memory, progress, |column, notes| match column {
        Shown::Numbers { name, values } => {
            let text = |value: f32| (!value.is_nan()).then(|| value.to_string());
            let values: Vec<_> = values.into_iter().map(text).collect();
            categories(named(name, "label"), &values)
        }
        Shown::Words {
            name,
            mut words,
            of,
        } => {
            if are_lists(&words) {
                let file = file.display();
                notes.push(format!(
                    "nodes of {file} with several labels show the first"
                ));
                for word in &mut words {
                    *word = word.split(',').next().unwrap_or_default().trim().to_owned();
                }
            }
            categories(named(name, "label"), &of_nodes(&words, of))
        }
    })
}

/// Attributes of nodes: a column of numbers stays one, any other becomes categories.
pub fn read_attributes(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<Colours> {
    read(file, ids, memory, progress, |column, _| match column {
        Shown::Numbers { name, values } => Colour::Numbers {
            name: named(name, "attribute"),
            values,
        },
        Shown::Words { name, words, of } => {
            let name = named(name, "attribute");
            let number = |word: &String| word.parse().ok().filter(|x: &f32| x.is_finite());
            match words.iter().map(number).collect::<Option<Vec<f32>>>() {
                Some(numbers) => {
                    let number = |at: Option<u32>| at.map_or(f32::NAN, |at| numbers[at as usize]);
                    let values = of.into_iter().map(number).collect();
                    Colour::Numbers { name, values }
                }
                None => categories(name, &of_nodes(&words, of)),
            }
        }
    })
}

/// The word of each node.
fn of_nodes(words: &[String], of: Vec<Option<u32>>) -> Vec<Option<String>> {
    let word = |at: Option<u32>| at.map(|at| words[at as usize].clone());
    of.into_iter().map(word).collect()
}

/// As many columns of a file as a page offers.
fn read(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
    colour: impl Fn(Shown, &mut Vec<String>) -> Colour,
) -> Result<Colours> {
    let (columns, mut notes) = attributes::shown(file, ids, memory, progress)?;
    let colours = columns.into_iter().map(|column| colour(column, &mut notes));
    let mut colours: Vec<Colour> = colours.collect();
    if colours.len() > COLUMNS {
        let all = colours.len();
        notes.push(format!(
            "of {all} columns, the first {COLUMNS} are on the map"
        ));
        colours.truncate(COLUMNS);
    }
    Ok((colours, notes))
}

/// A name for a column; those without a header are called x1, x2, …
fn named(name: String, fallback: &str) -> String {
    let plain = name
        .strip_prefix('x')
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()));
    if plain { fallback.to_owned() } else { name }
}

/// Whether words are lists of labels: taken apart, there are fewer of them. `Rome, Italy` beside `Oslo, Norway` is not.
fn are_lists(words: &[String]) -> bool {
    let parts = words.iter().flat_map(|word| word.split(','));
    let parts: BTreeSet<&str> = parts.map(str::trim).collect();
    words.iter().any(|word| word.contains(',')) && parts.len() < words.len()
}

/// The most frequent words as categories, in order.
fn categories(name: String, words: &[Option<String>]) -> Colour {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut names: Vec<&str> = counts.keys().copied().collect();
    names.sort_by_key(|&word| (Reverse(counts[word]), word));
    names.truncate(NAMES);
    names.sort_unstable();
    let place = |word: &Option<String>| match word {
        Some(word) => names
            .binary_search(&word.as_str())
            .map_or(Colour::OTHER, |at| at as u16),
        None => Colour::NONE,
    };
    let of = words.iter().map(place).collect();
    let names = names.into_iter().map(str::to_owned).collect();
    Colour::Categories { name, names, of }
}
