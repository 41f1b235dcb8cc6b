//! The page: a template, its style and script, what the map is about as JSON, and the packed arrays.
//!
//! Names come from the user and go into JSON and, in the title alone, into markup: there every `<`, `>` and `&` is written in
//! a form that is never markup. The script sets all texts as texts.

use hone::motif::NODE_ORBITS;
use hone::{Progress, Result};
use serde::Serialize;

use super::colour::Colour;
use super::{Map, pack};
use crate::roles::{MotifScore, Role, being};

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: [&str; 5] = [
    include_str!("page/data.js"),
    include_str!("page/plot.js"),
    include_str!("page/colour.js"),
    include_str!("page/panels.js"),
    include_str!("page/main.js"),
];

/// What the script reads first.
#[derive(Serialize)]
struct Meta<'a> {
    title: &'a str,
    nodes: usize,
    edges: usize,
    /// Edges without directions, as packed.
    links: usize,
    ids: &'static str,
    near: usize,
    orbits: [&'static str; NODE_ORBITS.len()],
    means: [f64; NODE_ORBITS.len()],
    logs: [f64; NODE_ORBITS.len()],
    deviations: [f64; NODE_ORBITS.len()],
    most: [f64; NODE_ORBITS.len()],
    graphlets: Vec<(&'static str, f64)>,
    roles: Vec<MetaRole<'a>>,
    affinity: &'a [Vec<f64>],
    /// Whether edges are arcs.
    directed: bool,
    colours: Vec<MetaColour<'a>>,
}

#[derive(Serialize)]
struct MetaRole<'a> {
    name: &'a str,
    /// What its nodes are: `a hub`.
    being: String,
    nodes: usize,
    degree: f64,
    out_degree: Option<f64>,
    in_degree: Option<f64>,
    /// Motifs and how many standard deviations more, or less, of them it has.
    more: Vec<(&'a str, f64)>,
    less: Vec<(&'a str, f64)>,
    /// Typical nodes, by their number on the page.
    exemplars: Vec<u32>,
}

#[derive(Serialize)]
struct MetaColour<'a> {
    name: &'a str,
    categories: Option<&'a [String]>,
}

impl Map<'_> {
    /// The page as text.
    pub fn html(&self, progress: &dyn Progress) -> Result<String> {
        self.check()?;
        progress.stage("packing the map", 0);
        let order = self.order();
        progress.check()?;
        Ok(page(self, &order))
    }
}

fn page(map: &Map<'_>, order: &[u32]) -> String {
    let sections = pack::sections(map, order);
    let with_edges = sections.iter().any(|section| section.name == pack::LINKS);
    let sections: Vec<String> = sections
        .iter()
        .map(|section| {
            format!(
                "<script type=\"text/plain\" id=\"data-{}\">{}</script>",
                section.name, section.text
            )
        })
        .collect();
    let meta = serde_json::to_string(&meta(map, order, with_edges)).expect("plain data");
    // Within a script element only `<` could end it.
    let meta = meta
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    let script = SCRIPT.join("\n");
    let values = [
        ("title", escaped(&map.title)),
        ("style", STYLE.to_owned()),
        ("meta", meta),
        ("sections", sections.join("\n")),
        ("script", script),
    ];
    filled(TEMPLATE, &values)
}

/// A template with its `{{names}}` replaced, from left to right, so that a value is never taken for a template.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let total: usize = values.iter().map(|(_, value)| value.len()).sum();
    let mut text = String::with_capacity(template.len() + total);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after
            .split_once("}}")
            .expect("the template closes what it opens");
        text.push_str(before);
        text.push_str(
            &values
                .iter()
                .find(|(known, _)| *known == name)
                .expect("a name of the template")
                .1,
        );
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Text as markup that shows it.
pub(super) fn escaped(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars()
        .map(plain)
        .collect::<String>()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn meta<'a>(map: &'a Map<'_>, order: &[u32], with_edges: bool) -> Meta<'a> {
    let [means, logs, deviations, most] = orbit_facts(map.roles.counts());
    let links = if with_edges {
        map.graph.underlying().edges()
    } else {
        0
    };
    let scores = |scores: Vec<&'a MotifScore>| {
        scores
            .into_iter()
            .map(|score| (&*score.motif, score.z))
            .collect()
    };
    let number = |node: &u32| {
        order
            .iter()
            .position(|other| other == node)
            .map(|at| at as u32)
    };
    let role = |role: &'a Role| MetaRole {
        name: &role.name,
        being: being(&role.name),
        nodes: role.nodes,
        degree: role.degree,
        out_degree: role.out_degree,
        in_degree: role.in_degree,
        more: scores(role.more()),
        less: scores(role.less()),
        exemplars: role.exemplars.iter().filter_map(number).collect(),
    };
    let colour = |colour: &'a Colour| match colour {
        Colour::Categories { name, names, .. } => MetaColour {
            name,
            categories: Some(names),
        },
        Colour::Numbers { name, .. } => MetaColour {
            name,
            categories: None,
        },
    };
    Meta {
        title: &map.title,
        nodes: map.graph.nodes(),
        edges: map.graph.edges(),
        links,
        ids: if pack::text_ids(map.graph.ids()) {
            "text"
        } else {
            "integers"
        },
        near: pack::near(map),
        orbits: NODE_ORBITS,
        means,
        logs,
        deviations,
        most,
        graphlets: map.graphlets(),
        roles: map.roles.roles.iter().map(role).collect(),
        affinity: &map.roles.affinity,
        directed: map.graph.is_directed(),
        colours: map.colours.iter().map(colour).collect(),
    }
}

/// Mean, mean logarithm, its deviation, and the most of every node orbit.
fn orbit_facts(counts: &[[u64; NODE_ORBITS.len()]]) -> [[f64; NODE_ORBITS.len()]; 4] {
    let n = counts.len().max(1) as f64;
    let mean = |of: &dyn Fn(f64) -> f64, m: usize| {
        counts.iter().map(|row| of(row[m] as f64)).sum::<f64>() / n
    };
    let means = std::array::from_fn(|m| mean(&|x| x, m));
    let logs: [f64; NODE_ORBITS.len()] = std::array::from_fn(|m| mean(&f64::ln_1p, m));
    let deviations = std::array::from_fn(|m| {
        (mean(&|x| x.ln_1p().powi(2), m) - logs[m] * logs[m])
            .max(0.0)
            .sqrt()
    });
    let most = std::array::from_fn(|m| counts.iter().map(|row| row[m] as f64).fold(0.0, f64::max));
    [means, logs, deviations, most]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_taken_for_templates() {
        let values = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(filled("<{{a}}|{{b}}>", &values), "<{{b}}|x>");
        assert_eq!(
            escaped("</title><script>&\u{0}"),
            "&lt;/title&gt;&lt;script&gt;&amp; "
        );
    }
}
