//! Pictures of motif graphs, side by side and with the same layout (figure 2 of the paper).
//!
//! Nodes and edges are as large as their counts: an edge by the occurrences of the motif that contain it (its weight in
//! W_t), a node by the sum over its edges (its motif degree). Nodes and edges without an occurrence are faint. The
//! layout is that of the graph itself, the same for all motifs, so that panels can be compared.
//!
//! Counting takes what `hone count` takes, the layout O(N log N + M) per step. More than [`LARGEST`] nodes or edges are
//! refused: nothing could be told apart in such a picture.

mod layout;
mod svg;

use serde::{Deserialize, Serialize};

use hone::error::{Error, Result};
use hone::graph::Graph;
use hone::motif::{self, Counts, Motif, MotifSet};
use hone::progress::Progress;
use svg::{Line, Page, Panel};
pub(crate) use svg::{escape, figure};

/// Maximum number of nodes, and of edges, that are drawn.
pub const LARGEST: usize = 100_000;
/// From this many nodes on, nodes are not labelled by default.
const MANY: usize = 60;
/// Maximum number of panels.
const PANELS: usize = 16;

/// What is drawn, and how.
///
/// ```
/// use hone::{Silent, graph};
/// use hone_explore::draw::Drawing;
/// let drawing = Drawing { motifs: "edge,triangle".parse()?, ..Drawing::default() };
/// let svg = drawing.svg(&graph::builtin("karate")?, "karate", &Silent)?;
/// assert!(svg.contains("<svg") && svg.contains("triangle"));
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Drawing {
    /// A panel for each motif.
    pub motifs: MotifSet,
    /// Edges with fewer occurrences are ignored.
    pub delta: u64,
    /// How many nodes are labelled with their ids, the largest first; by default all in a small graph.
    pub labels: Option<usize>,
    /// The title in the caption, instead of the graph's name.
    pub title: Option<String>,
    /// Whether motifs are called by their numbers in the literature, not by name.
    pub numbers: bool,
}

impl Default for Drawing {
    fn default() -> Self {
        let edge = "edge".parse().expect("a motif's name");
        Drawing {
            motifs: MotifSet::List(vec![edge]),
            delta: 1,
            labels: None,
            title: None,
            numbers: false,
        }
    }
}

impl Drawing {
    /// The picture of a graph called `name`, as the text of an SVG file.
    pub fn svg(&self, graph: &Graph, name: &str, progress: &dyn Progress) -> Result<String> {
        self.motifs.check()?;
        let motifs = self.motifs.motifs();
        if motifs.len() > PANELS {
            let message = format!(
                "{} panels do not fit side by side; at most {PANELS} do",
                motifs.len()
            );
            return Err(Error::config("motifs", message));
        }
        if let Some(motif) = motifs.iter().find(|motif| motif.is_directed()) {
            let message =
                format!("`{motif}` is a directed motif; pictures are of the undirected ones");
            return Err(Error::config("motifs", message));
        }
        let (nodes, edges) = (graph.nodes(), graph.edges());
        if nodes > LARGEST || edges > LARGEST {
            let message = format!(
                "{nodes} nodes and {edges} edges are more than a picture can show; draw a part of at most {LARGEST} nodes and \
                 edges"
            );
            return Err(Error::config("graph", message));
        }
        progress.stage("counting motifs", 0);
        let counts = motif::count(graph, progress)?;
        let positions = layout::layout(counts.pattern(), progress)?;
        let panels = motifs
            .iter()
            .map(|&motif| self.panel(graph, &counts, motif))
            .collect::<Result<Vec<_>>>()?;
        let title = self.title.as_deref().unwrap_or(name);
        let labelled = self.labelled(&panels, graph.nodes());
        let ids = |i: u32| graph.ids().get(i).to_string();
        let caption = caption(graph, title, panels.len());
        // What the picture is made of, to be kept in the file.
        let origin = serde_json::json!({"version": env!("CARGO_PKG_VERSION"), "drawing": self,
            "edge_fingerprint": graph.edge_fingerprint()});
        let page = Page {
            positions: &positions,
            ids: &ids,
            labelled: &labelled,
            title,
            caption: &caption,
            origin: &origin.to_string(),
        };
        Ok(svg::render(&page, &panels))
    }

    fn panel(&self, graph: &Graph, counts: &Counts, motif: Motif) -> Result<Panel> {
        let too_many = || Error::Numeric {
            stage: format!("weights of motif {motif}"),
            message: "a count exceeds 64 bits".into(),
        };
        let mut nodes = vec![0.0; graph.nodes()];
        let mut edges = Vec::with_capacity(graph.edges());
        for u in 0..graph.nodes() as u32 {
            for (v, orbits) in counts.row(u).filter(|&(v, _)| u < v) {
                let count = motif.weight(&orbits).ok_or_else(too_many)?;
                let weight = if count >= self.delta {
                    count as f64
                } else {
                    0.0
                };
                nodes[u as usize] += weight;
                nodes[v as usize] += weight;
                let arc = |from, to| graph.is_directed() && graph.has_edge(from, to);
                edges.push(Line {
                    ends: [u, v],
                    weight,
                    arrows: [arc(v, u), arc(u, v)],
                });
            }
        }
        let kept = edges.iter().filter(|line| line.weight > 0.0).count();
        let present = nodes.iter().filter(|weight| **weight > 0.0).count();
        let motif = motif.called(self.numbers);
        let title = format!("{motif}  ·  {present} nodes, {kept} edges");
        Ok(Panel {
            title,
            nodes,
            edges,
        })
    }

    /// Nodes whose ids are shown, the largest of the last panel first.
    fn labelled(&self, panels: &[Panel], nodes: usize) -> Vec<u32> {
        let wanted = self.labels.unwrap_or(if nodes <= MANY { nodes } else { 0 });
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        if let Some(panel) = panels.last() {
            order.sort_by(|&a, &b| {
                panel.nodes[b as usize]
                    .total_cmp(&panel.nodes[a as usize])
                    .then(a.cmp(&b))
            });
        }
        order.truncate(wanted);
        order
    }
}

fn caption(graph: &Graph, title: &str, panels: usize) -> Vec<String> {
    let kind = match graph.is_directed() {
        true => "directed",
        false => "undirected",
    };
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let size = format!("{title}: {nodes} nodes, {edges} edges, {kind}.");
    let what = "Width of an edge: occurrences of the motif that contain it. Size of a node: the sum over its edges.";
    let faint = "Faint: without the motif.";
    match panels {
        1 => vec![size, what.into(), faint.into()],
        _ => vec![
            format!("{size} {what}"),
            format!("{faint} The layout is the same for all panels."),
        ],
    }
}
