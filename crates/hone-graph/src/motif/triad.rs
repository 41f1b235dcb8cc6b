//! Triads: exact counts of the 13 connected directed motifs of three nodes, for each arc, and of the two dyads.
//!
//! For the arc s → t the nodes w around it fall into 16 cases, by the relation of s and of t to w (`orbit`). Nine of
//! these are triangles, found by one sweep (`triangles`); in the others w is linked to one end only, and their number is
//! the degree of that end minus the triangles. So only nine numbers per arc in triangles and three degrees per node are
//! stored, in narrow columns. All counts are below 2³², and integers: the same for any number of threads.
//!
//! Non-induced counts (`Occurrence::Subgraph`) are sums over the cases that contain the requested one: with the
//! arc marked, a subgraph can lie in a triad in exactly one way.

pub use super::orbit::{ArcOrbit, Triad};

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::column::{Column, Rank};
use super::names::UNCONNECTED;
use super::ranked::{Ranked, balanced, ranges, sweep};
use super::set::Motif;
use crate::Graph;
use crate::error::{Error, Result};
use crate::message::{message, set};
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::sparse::Pattern;

/// What counts as an occurrence of a triad.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Occurrence {
    /// Three nodes whose arcs are those of the triad, and no others ("structural").
    #[default]
    Induced,
    /// Three nodes whose arcs contain those of the triad; a mutual pair contains two one-way arcs ("functional").
    Subgraph,
}

/// Counts of dyads and triads on every arc of a directed graph.
#[derive(Debug, Clone)]
pub struct Triads {
    arcs: Arc<Pattern>,
    /// The same reversed: row i holds the nodes whose arcs enter node i.
    entering: Arc<Pattern>,
    /// Whether each arc has its reverse.
    mutual: Column,
    /// Common neighbours of the ends of each arc, and from an arc that has any to its place in `classes`.
    common: Column,
    rank: Rank,
    /// Common neighbours by their relations to source and target: (1, 1), (1, 2), …, (3, 3).
    classes: [Column; 9],
    /// Neighbours of each node by relation: arcs that only leave, only enter, both.
    degrees: [Column; 3],
}

/// The nodes around an arc, by their relations to source and target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    mutual: bool,
    /// `cases[a][b]` nodes have relation a to the source and b to the target; 1 at (0, 0), the arc itself.
    cases: [[u64; 4]; 4],
}

impl Around {
    /// How many occurrences contain the arc in that position.
    fn count(&self, orbit: ArcOrbit, occurrence: Occurrence) -> u64 {
        let (mutual, source, target) = orbit.view();
        let induced = occurrence == Occurrence::Induced;
        if mutual && !self.mutual || induced && self.mutual && !mutual {
            return 0;
        }
        if induced || source + target == 0 {
            return self.cases[source][target];
        }
        let holding = |part: usize| (0..4).filter(move |whole| whole & part == part);
        holding(source)
            .flat_map(|a| holding(target).map(move |b| self.cases[a][b]))
            .sum()
    }

    /// How many occurrences contain the arc in each position, in the order of [`ArcOrbit::ALL`].
    fn counts(&self, occurrence: Occurrence) -> [u64; ArcOrbit::COUNT] {
        ArcOrbit::ALL.map(|orbit| self.count(orbit, occurrence))
    }

    /// How many occurrences contain the arc in any of the positions.
    pub(super) fn sum(&self, orbits: &[ArcOrbit], occurrence: Occurrence) -> u64 {
        orbits
            .iter()
            .map(|&orbit| self.count(orbit, occurrence))
            .sum()
    }
}

/// Occurrences in the whole graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriadTotals {
    /// Sum over the arcs of each orbit's count, in the order of [`ArcOrbit::ALL`].
    pub orbits: [u128; ArcOrbit::COUNT],
    /// Occurrences of each dyad and triad, in the order of [`Triad::ALL`].
    pub triads: [u128; Triad::COUNT],
}

impl TriadTotals {
    /// Total weight of a motif over all arcs; zero where directions are ignored.
    pub fn weight(&self, motif: Motif) -> u128 {
        let orbits = motif.arc_orbits().iter();
        orbits.map(|orbit| self.orbits[orbit.index()]).sum()
    }

    /// The census of a graph of so many nodes: how many sets of three nodes are of each of the 16 classes, by MAN code.
    /// The totals must be of induced occurrences.
    pub fn census(&self, nodes: usize) -> [(&'static str, u128); 16] {
        let (n, triads) = (
            nodes as u128,
            Triad::ALL.into_iter().zip(self.triads).skip(2),
        );
        // Each pair of linked nodes is in n − 2 sets; those that are connected hold as many as their code says.
        let alone = |kind: Triad, digit: usize| {
            let connected = triads
                .clone()
                .map(|(triad, count)| count * u128::from(triad.name().as_bytes()[digit] - b'0'));
            self.triads[kind.index()] * n.saturating_sub(2) - connected.sum::<u128>()
        };
        let (one_way, mutual) = (alone(Triad::OneWay, 1), alone(Triad::Mutual, 0));
        let sets = n * n.saturating_sub(1) / 2 * n.saturating_sub(2) / 3;
        let linked = one_way + mutual + triads.clone().map(|(_, count)| count).sum::<u128>();
        let [none, asymmetric, symmetric] = UNCONNECTED.map(|(name, _)| name);
        let mut census = [(none, sets - linked); 16];
        census[1] = (asymmetric, one_way);
        census[2] = (symmetric, mutual);
        for (class, (triad, count)) in census[3..].iter_mut().zip(triads) {
            *class = (triad.name(), count);
        }
        census
    }
}

impl Triads {
    /// Counts dyads and triads on every arc. Every edge of an undirected graph is a pair of opposite arcs.
    ///
    /// Takes Σ_e min(d_u, d_v) steps, in parallel, and memory linear in the arcs. Fails when `progress` asks to stop.
    ///
    /// ```
    /// use hone_graph::GraphBuilder;
    /// use hone_graph::motif::triad::{Triad, Triads};
    /// // A feed-forward loop with a tail: 0 → 1 → 2, 0 → 2, 2 → 3.
    /// let graph = GraphBuilder::directed(4).edges(vec![(0, 1), (1, 2), (0, 2), (2, 3)]).build()?;
    /// let counts = Triads::count(&graph, &hone_graph::Silent)?;
    /// assert_eq!(counts.totals(Default::default()).triads[Triad::T030T.index()], 1);
    /// assert_eq!(counts.totals(Default::default()).triads[Triad::T021C.index()], 2);
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn count(graph: &Graph, progress: &dyn Progress) -> Result<Triads> {
        let (arcs, entering) = (graph.pattern(), graph.transposed());
        progress.stage("sorting nodes by degree", 0);
        let ranked = Ranked::new(&graph.symmetric_pattern(), progress)?;
        let labels = labels(graph, &entering, &ranked, progress)?;
        let (of_edges, swept) = triangles(&ranked, &labels, progress)?;
        progress.check()?;
        progress.stage("arranging triads", 0);
        // Of each arc its edge, by lower slot, whether it leaves the higher-ranked end, and whether it has its reverse.
        let find = |i: u32, j: u32| {
            let (a, b) = (ranked.rank[i as usize], ranked.rank[j as usize]);
            let (u, v) = (a.max(b) as usize, a.min(b));
            let k = ranked.lower(u).binary_search(&v);
            let k = k.expect("an arc is an edge");
            let mutual = labels[ranked.heads[u].start + k] == 3;
            (ranked.lower_start(u) + k, a > b, mutual)
        };
        let found = parallel::stretches(arcs.rows(), ROWS, |rows| {
            let of = |i: usize| arcs.row(i).iter().map(move |&j| (i as u32, j));
            let arcs = rows.flat_map(of).map(|(i, j)| find(i, j));
            arcs.collect::<Vec<_>>()
        });
        let found = found.concat();
        let common = Column::collect(found.len(), |arc| of_edges[found[arc].0].into());
        let mutual = Column::collect(found.len(), |arc| u64::from(found[arc].2));
        let nonzeros = |range: Range<usize>| of_edges[range].iter().filter(|&&t| t != 0).count();
        let rank = Rank::new(of_edges.len(), nonzeros);
        let places = parallel::collect_some(found.len(), |arc| {
            let (edge, higher, _) = found[arc];
            (of_edges[edge] > 0).then(|| (rank.below(edge, nonzeros), higher))
        });
        let classes = std::array::from_fn(|class| {
            Column::collect(places.len(), |at| {
                let (place, from_higher) = places[at];
                // Classes are by the label at the higher-ranked end, then at the lower.
                let turned = 3 * (class % 3) + class / 3;
                swept[place][if from_higher { class } else { turned }].into()
            })
        });
        let degrees = std::array::from_fn(|label| {
            Column::collect(arcs.rows(), |i| {
                let labels = &labels[ranked.range(ranked.rank[i] as usize)];
                let same = |&&other: &&u8| usize::from(other) == label + 1;
                labels.iter().filter(same).count() as u64
            })
        });
        let rank = Rank::new(common.len(), |range| common.nonzeros(range));
        Ok(Triads {
            arcs: arcs.clone(),
            entering,
            mutual,
            common,
            rank,
            classes,
            degrees,
        })
    }

    /// The arcs counted: row i holds those that leave node i.
    pub fn arcs(&self) -> &Arc<Pattern> {
        &self.arcs
    }

    /// The arcs reversed: row i holds the nodes whose arcs enter node i.
    pub fn entering(&self) -> &Arc<Pattern> {
        &self.entering
    }

    /// Sums of the counts over the arcs that leave node `i`, and over those that enter it, in the order of
    /// [`ArcOrbit::ALL`].
    pub fn node_sums(&self, i: usize) -> ([u64; ArcOrbit::COUNT], [u64; ArcOrbit::COUNT]) {
        let add = |sums: [u64; ArcOrbit::COUNT], around: Around| {
            let more = around.counts(Occurrence::Induced);
            std::array::from_fn(|orbit| sums[orbit] + more[orbit])
        };
        let zero = [0; ArcOrbit::COUNT];
        let leaving = self.around_row(i).map(|(_, around)| around);
        let entering = self
            .entering
            .row(i)
            .iter()
            .filter_map(|&j| self.around(j, i as u32));
        (leaving.fold(zero, add), entering.fold(zero, add))
    }

    /// Bytes in memory, without the arcs.
    pub fn bytes(&self) -> usize {
        let columns = self.columns().map(Column::bytes).sum::<usize>();
        columns + self.rank.bytes() + self.entering.memory()
    }

    /// All columns, in the order of a file.
    fn columns(&self) -> impl Iterator<Item = &Column> {
        let of_arcs = [&self.mutual, &self.common].into_iter();
        of_arcs.chain(&self.classes).chain(&self.degrees)
    }

    /// Counts of the arc from `i` to `j` in the order of [`ArcOrbit::ALL`]; `None` when there is no such arc.
    pub fn arc(&self, i: u32, j: u32, occurrence: Occurrence) -> Option<[u64; ArcOrbit::COUNT]> {
        Some(self.around(i, j)?.counts(occurrence))
    }

    /// The nodes around the arc from `i` to `j`.
    fn around(&self, i: u32, j: u32) -> Option<Around> {
        let k = self.arcs.row(i as usize).binary_search(&j).ok()?;
        let slot = self.arcs.range(i as usize).start + k;
        Some(self.around_slot(i as usize, j as usize, slot, self.place(slot)))
    }

    /// The nodes around each arc that leaves node `i`.
    pub(super) fn around_row(&self, i: usize) -> impl Iterator<Item = (u32, Around)> + '_ {
        let slots = self.arcs.range(i);
        let mut place = self.place(slots.start);
        self.arcs.row(i).iter().zip(slots).map(move |(&j, slot)| {
            let around = self.around_slot(i, j as usize, slot, place);
            place += usize::from(self.common.get(slot) > 0);
            (j, around)
        })
    }

    /// Arcs in triangles before a slot.
    fn place(&self, slot: usize) -> usize {
        self.rank.below(slot, |range| self.common.nonzeros(range))
    }

    fn around_slot(&self, i: usize, j: usize, slot: usize, place: usize) -> Around {
        let mutual = self.mutual.get(slot) != 0;
        let mut cases = [[0u64; 4]; 4];
        cases[0][0] = 1;
        if self.common.get(slot) > 0 {
            for (class, column) in self.classes.iter().enumerate() {
                cases[class / 3 + 1][class % 3 + 1] = column.get(place);
            }
        }
        // Neighbours of one end alone; the other end is a neighbour too.
        for relation in 1..4 {
            let (of_source, of_target) = if mutual { (3, 3) } else { (1, 2) };
            let both: u64 = cases[relation][1..].iter().sum();
            let own = both + u64::from(relation == of_source);
            cases[relation][0] = self.degrees[relation - 1].get(i).saturating_sub(own);
            let both: u64 = (1..4).map(|other| cases[other][relation]).sum();
            let own = both + u64::from(relation == of_target);
            cases[0][relation] = self.degrees[relation - 1].get(j).saturating_sub(own);
        }
        Around { mutual, cases }
    }

    /// Occurrences in the whole graph: of each orbit over all arcs, and of each dyad and triad.
    pub fn totals(&self, occurrence: Occurrence) -> TriadTotals {
        let of_rows = |rows: Range<usize>| {
            let mut sums = [0u128; ArcOrbit::COUNT];
            for (_, around) in rows.flat_map(|i| self.around_row(i)) {
                for (sum, count) in sums.iter_mut().zip(around.counts(occurrence)) {
                    *sum += u128::from(count);
                }
            }
            sums
        };
        let mut orbits = [0; ArcOrbit::COUNT];
        for part in parallel::stretches(self.arcs.rows(), ROWS, of_rows) {
            orbits
                .iter_mut()
                .zip(part)
                .for_each(|(sum, part)| *sum += part);
        }
        let sum = |triad: Triad| {
            let own = triad.orbits().iter();
            own.map(|orbit| orbits[orbit.index()]).sum::<u128>()
        };
        TriadTotals {
            orbits,
            triads: Triad::ALL.map(|triad| sum(triad) / triad.arcs() as u128),
        }
    }

    /// Writes all counts.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.columns().try_for_each(|column| column.save(out))
    }

    /// Reads what [`Triads::save`] wrote for this graph.
    pub(super) fn load(graph: &Graph, input: &mut dyn Read) -> io::Result<Triads> {
        let arcs = graph.pattern().clone();
        let (slots, nodes) = (arcs.nnz(), arcs.rows());
        let (mutual, common) = (Column::load(slots, input)?, Column::load(slots, input)?);
        let inside = common.nonzeros(0..slots);
        let mut columns = |count: usize, len: usize| -> io::Result<Vec<Column>> {
            (0..count).map(|_| Column::load(len, input)).collect()
        };
        let (classes, degrees) = (columns(9, inside)?, columns(3, nodes)?);
        let small = |column: &Column| (0..column.len()).all(|at| column.get(at) >> 32 == 0);
        if !classes.iter().chain(&degrees).all(small) {
            let message = "these are the triads of another graph";
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        let rank = Rank::new(slots, |range| common.nonzeros(range));
        let (Ok(classes), Ok(degrees)) = (classes.try_into(), degrees.try_into()) else {
            unreachable!("as many columns as were read")
        };
        Ok(Triads {
            arcs,
            entering: graph.transposed(),
            mutual,
            common,
            rank,
            classes,
            degrees,
        })
    }
}

/// Refuses a directed motif for a graph without directions.
pub(super) fn check_graph(motif: Motif, graph: &Graph) -> Result<()> {
    if graph.is_directed() {
        return Ok(());
    }
    let message = message![
        format!("`{motif}` is a directed motif, and the graph is undirected; read it with "),
        set("directed", true),
        ", or choose other motifs, such as `all`"
    ];
    Err(Error::config("motifs", message))
}

/// Rows per parallel task.
const ROWS: usize = 1 << 12;

/// Triangles on an edge by how their third node is linked to its ends: three labels times three.
type Classes = [u32; 9];

/// The label of every slot of the ranked graph: 1 for an arc that leaves the row's node, 2 for one that enters it, 3 for both.
fn labels(
    graph: &Graph,
    entering: &Pattern,
    ranked: &Ranked,
    progress: &dyn Progress,
) -> Result<Vec<u8>> {
    let n = ranked.nodes();
    let mut labels = vec![0u8; ranked.columns.len()];
    let start = |u: usize| ranked.heads[u].start;
    let bounds = balanced(n, 1 << 14, |u| (start(u + 1) - start(u) + 4) as u64);
    let slots: Vec<usize> = bounds.iter().map(|&u| start(u)).collect();
    let parts = ranges(&bounds).zip(cut(&mut labels, &slots)).collect();
    let blank = || vec![0u8; n];
    sweep(parts, progress, blank, |range, labels, mark| {
        let mut labels = labels.iter_mut();
        for u in range {
            let i = ranked.order[u];
            for (label, row) in [(1, graph.neighbors(i)), (2, entering.row(i as usize))] {
                for &j in row {
                    mark[ranked.rank[j as usize] as usize] |= label;
                }
            }
            for (&w, label) in ranked.row(u).iter().zip(&mut labels) {
                *label = std::mem::take(&mut mark[w as usize]);
            }
        }
    })?;
    Ok(labels)
}

/// Common neighbours of every edge, and the classes of those that have any, both in the order of lower slots.
///
/// For each edge {u, v} with v < u the row of v is walked over the labels of the row of u, as in the undirected sweep, and
/// each common neighbour adds one to the class (label at u, label at v): nine numbers per edge in triangles.
/// Cost: Σ_e min(d_u, d_v) steps. Memory: one byte per slot for labels and one per node and thread, 4 bytes
/// per edge, 36 per edge in triangles. Every edge belongs to one thread, and sums are of integers.
fn triangles(
    ranked: &Ranked,
    labels: &[u8],
    progress: &dyn Progress,
) -> Result<(Vec<u32>, Vec<Classes>)> {
    let n = ranked.nodes();
    let bounds = balanced(n, 1 << 14, |u| ranked.work[u] + 1);
    let starts: Vec<usize> = bounds.iter().map(|&u| ranked.lower_start(u)).collect();
    let mut common = vec![0u32; ranked.size()];
    let mut lists: Vec<Vec<Classes>> = vec![Vec::new(); bounds.len().saturating_sub(1)];
    progress.stage("counting triads", n as u64);
    let parts = ranges(&bounds)
        .zip(cut(&mut common, &starts).into_iter().zip(&mut lists))
        .collect();
    let blank = || vec![0u8; n];
    sweep(parts, progress, blank, |range, (common, list), mark| {
        let mut common = common.iter_mut();
        for u in range {
            let start = ranked.heads[u].start;
            ranked
                .row(u)
                .iter()
                .zip(&labels[start..])
                .for_each(|(&w, &label)| mark[w as usize] = label);
            for (at, (&v, common)) in ranked.lower(u).iter().zip(&mut common).enumerate() {
                ranked.ask_ahead(ranked.lower(u), at);
                let row = ranked
                    .row(v as usize)
                    .iter()
                    .zip(&labels[ranked.heads[v as usize].start..]);
                let classes = classes(row, mark);
                *common = classes.iter().sum();
                if *common > 0 {
                    list.push(classes);
                }
            }
            ranked.row(u).iter().for_each(|&w| mark[w as usize] = 0);
        }
    })?;
    let mut classes = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    lists.into_iter().for_each(|list| classes.extend(list));
    Ok((common, classes))
}

/// The classes of one edge: the labels of a row beside those that are marked.
#[inline]
fn classes<'a>(row: impl Iterator<Item = (&'a u32, &'a u8)>, mark: &[u8]) -> Classes {
    let mut seen = [0u32; 16];
    for (&w, &label) in row {
        let marked = mark[w as usize];
        if marked != 0 {
            seen[usize::from((marked << 2 | label) & 15)] += 1;
        }
    }
    std::array::from_fn(|at| seen[4 * (at / 3 + 1) + at % 3 + 1])
}
