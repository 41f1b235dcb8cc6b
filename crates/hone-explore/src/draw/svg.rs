//! A drawing as SVG text: panels side by side, legends and a caption.
//!
//! Areas of discs and widths of lines grow with the counts they stand for; darker is more. Colours suit any colour
//! vision (one hue, from light to dark), and every node has its id and count as a tooltip. Ids are
//! escaped; characters that XML does not know are replaced.

use std::fmt::Write;

use super::layout::{Point, corners};

/// One motif graph, ready to be drawn.
pub(super) struct Panel {
    /// What is shown.
    pub(super) title: String,
    /// Weight of every node.
    pub(super) nodes: Vec<f64>,
    pub(super) edges: Vec<Line>,
}

/// An edge of a panel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) ends: [u32; 2],
    pub(super) weight: f64,
    /// Whether there is an arrow at the first and at the second end.
    pub(super) arrows: [bool; 2],
}

/// What all panels share.
pub(super) struct Page<'a> {
    pub(super) positions: &'a [Point],
    pub(super) ids: &'a dyn Fn(u32) -> String,
    /// Nodes whose ids are written beside them.
    pub(super) labelled: &'a [u32],
    pub(super) title: &'a str,
    pub(super) caption: &'a [String],
    /// What the picture is made of, for programs.
    pub(super) origin: &'a str,
}

/// Width of a panel, and its limits of height.
const WIDTH: f64 = 620.0;
const HEIGHT: (f64, f64) = (320.0, 760.0);
const MARGIN: f64 = 26.0;
const GAP: f64 = 18.0;
const HEAD: f64 = 46.0;
const LEGEND: f64 = 54.0;
const LINE_HEIGHT: f64 = 17.0;
/// Largest radius and width, at most.
const RADIUS: f64 = 15.0;
const STROKE: f64 = 7.0;

/// The whole drawing.
pub(super) fn render(page: &Page<'_>, panels: &[Panel]) -> String {
    let [low, high] = corners(page.positions);
    let size = [0, 1].map(|axis| (high[axis] - low[axis]).max(1e-9));
    let room = WIDTH - 2.0 * MARGIN;
    let panel_height = (size[1] / size[0] * room + 2.0 * MARGIN).clamp(HEIGHT.0, HEIGHT.1);
    // A handful of nodes does not fill the page.
    let scale = (room / size[0])
        .min((panel_height - 2.0 * MARGIN) / size[1])
        .min(90.0);
    let offset = [0, 1].map(|axis| {
        let full = [WIDTH, panel_height][axis];
        (full - size[axis] * scale) / 2.0 - low[axis] * scale
    });
    let place = |p: &Point| [0, 1].map(|axis| p[axis] * scale + offset[axis]);
    let places: Vec<Point> = page.positions.iter().map(place).collect();
    // So small that neighbours can be told apart.
    let radius = (0.42 * scale).clamp(2.5, RADIUS);

    let (count, lines) = (panels.len() as f64, page.caption.len() as f64);
    let width = count * WIDTH + (count + 1.0) * GAP;
    let height = GAP + HEAD + panel_height + LEGEND + lines * LINE_HEIGHT + GAP;
    let [title, caption, origin] = [page.title, &page.caption.join(" "), page.origin].map(escape);
    let mut out = format!(
        r##"<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#22303c">
<title>{title}</title>
<desc>{caption}</desc>
<metadata>{origin}</metadata>
<rect width="100%" height="100%" fill="#ffffff"/>
"##
    );
    for (k, (panel, letter)) in panels.iter().zip(('a'..='z').cycle()).enumerate() {
        let (x, title) = (GAP + k as f64 * (WIDTH + GAP), escape(&panel.title));
        let _ = writeln!(
            out,
            r##"<g transform="translate({x:.0} {GAP:.0})">
<text x="4" y="24" font-size="17"><tspan font-weight="bold">{letter}</tspan>  {title}</text>
<g transform="translate(0 {HEAD:.0})"><rect width="{WIDTH:.0}" height="{panel_height:.0}" rx="6" fill="#fbfcfd" stroke="#e8ebee"/>"##
        );
        let (nodes, edges) = panel.scales(radius);
        panel.draw_edges(&mut out, &places, &nodes, &edges);
        panel.draw_nodes(&mut out, &places, &nodes, page.ids);
        panel.draw_labels(&mut out, &places, &nodes, page);
        out += "</g>\n";
        legend(
            &mut out,
            HEAD + panel_height + 30.0,
            &nodes,
            &edges,
            panel.edges.is_empty(),
        );
        out += "</g>\n";
    }
    for (k, line) in page.caption.iter().enumerate() {
        let y = height - GAP - (lines - 1.0 - k as f64) * LINE_HEIGHT;
        let line = escape(line);
        let _ = writeln!(
            out,
            r##"<text x="{GAP:.0}" y="{y:.0}" fill="#55606b">{line}</text>"##
        );
    }
    out + "</svg>\n"
}

/// How weights are drawn.
struct Scale {
    /// The largest weight, and how large it is drawn.
    most: f64,
    largest: f64,
    /// The size of what has little weight.
    least: f64,
    /// Size and colour of what has none.
    absent: (f64, &'static str),
    /// Colours from light to dark.
    stops: [[f64; 3]; 3],
    /// Whether all weigh the same: then none stands out.
    even: bool,
}

impl Scale {
    /// The radius or width of a weight, whose square grows with it.
    fn size(&self, weight: f64) -> f64 {
        match weight > 0.0 {
            true => (self.largest * (weight / self.most).sqrt()).max(self.least),
            false => self.absent.0,
        }
    }

    /// From light to dark with one hue; what is large is dark.
    fn colour(&self, weight: f64) -> String {
        if weight == 0.0 {
            return self.absent.1.to_owned();
        }
        let share = if self.even { 0.2 } else { weight / self.most };
        let at = share.clamp(0.0, 1.0).sqrt() * 2.0;
        let (low, part) = ((at.floor() as usize).min(1), at - at.floor().min(1.0));
        let (from, to) = (self.stops[low], self.stops[low + 1]);
        let [r, g, b] = [0, 1, 2].map(|c| (from[c] + (to[c] - from[c]) * part).round() as u8);
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// The largest weight, and smaller ones that look different; ascending.
    fn samples(&self) -> Vec<f64> {
        let round = |value: f64| {
            let unit = 10f64.powf(value.log10().floor());
            let steps = [5.0, 2.0, 1.0].map(|step| step * unit);
            let below = steps.into_iter().find(|v| *v <= value * 1.000_001);
            below.unwrap_or(value)
        };
        let mut values = vec![self.most];
        for part in [0.3, 0.05] {
            let value = round(self.most * part);
            if value >= 1.0 && values.last().is_some_and(|last| value < 0.7 * last) {
                values.push(value);
            }
        }
        if values.len() == 1 && self.most > 1.0 {
            values.push(1.0);
        }
        values.reverse();
        values
    }
}

impl Panel {
    /// Those of nodes, the largest of this radius, and of edges.
    fn scales(&self, radius: f64) -> (Scale, Scale) {
        let weights = || self.edges.iter().map(|line| line.weight);
        let most = weights().fold(0.0, f64::max);
        let even = weights().all(|weight| weight == 0.0 || weight == most);
        let nodes = Scale {
            most: self.nodes.iter().copied().fold(0.0, f64::max),
            largest: radius,
            least: 1.4,
            absent: (1.2, "#c9cfd6"),
            stops: [
                [253.0, 200.0, 120.0],
                [240.0, 130.0, 50.0],
                [166.0, 54.0, 3.0],
            ],
            even: false,
        };
        let edges = Scale {
            most,
            largest: (0.6 * radius).min(STROKE) * if even { 0.25 } else { 1.0 },
            least: 0.5,
            absent: (0.5, "#e3e6ea"),
            stops: [
                [168.0, 190.0, 210.0],
                [74.0, 121.0, 167.0],
                [8.0, 48.0, 107.0],
            ],
            even,
        };
        (nodes, edges)
    }

    fn draw_edges(&self, out: &mut String, places: &[Point], nodes: &Scale, edges: &Scale) {
        let mut order: Vec<&Line> = self.edges.iter().collect();
        order.sort_by(|a, b| a.weight.total_cmp(&b.weight).then(a.ends.cmp(&b.ends)));
        *out += "<g fill=\"none\" stroke-linecap=\"round\">\n";
        for line in order {
            let ends = line.ends.map(|node| places[node as usize]);
            let (stroke, colour) = (edges.size(line.weight), edges.colour(line.weight));
            let [a, b] = ends;
            let _ = writeln!(
                out,
                r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="{colour}" stroke-width="{stroke:.2}"/>"#,
                a[0], a[1], b[0], b[1]
            );
            for end in (0..2).filter(|&end| line.arrows[end]) {
                let radius = nodes.size(self.nodes[line.ends[end] as usize]);
                arrow(out, ends[end], ends[1 - end], radius, stroke, &colour);
            }
        }
        *out += "</g>\n";
    }

    fn draw_nodes(
        &self,
        out: &mut String,
        places: &[Point],
        scale: &Scale,
        ids: &dyn Fn(u32) -> String,
    ) {
        // Those without the motif below, then the large ones, so that none is hidden.
        let rank = |i: usize| match self.nodes[i] > 0.0 {
            true => -self.nodes[i],
            false => f64::NEG_INFINITY,
        };
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)).then(a.cmp(&b)));
        *out += "<g stroke=\"#ffffff\" stroke-width=\"0.7\">\n";
        for i in order {
            let ([x, y], weight) = (places[i], self.nodes[i]);
            let (radius, colour) = (scale.size(weight), scale.colour(weight));
            let tip = escape(&format!("{}: {}", ids(i as u32), figure(weight)));
            let _ = writeln!(
                out,
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.2}" fill="{colour}"><title>{tip}</title></circle>"#
            );
        }
        *out += "</g>\n";
    }

    /// Ids beside their nodes, unless another is in the way.
    fn draw_labels(&self, out: &mut String, places: &[Point], scale: &Scale, page: &Page<'_>) {
        let mut taken: Vec<[f64; 4]> = Vec::new();
        *out += "<g font-size=\"11\">\n";
        for &i in page.labelled {
            let [x, y] = places[i as usize];
            let radius = scale.size(self.nodes[i as usize]);
            let (x, y) = (x + radius + 2.5, y + 3.8);
            let mut id = (page.ids)(i);
            if id.chars().count() > 24 {
                id = id.chars().take(23).chain(['…']).collect();
            }
            let area = [x, y - 9.0, x + 6.2 * id.chars().count() as f64, y + 2.0];
            let free = taken
                .iter()
                .all(|t| area[2] < t[0] || t[2] < area[0] || area[3] < t[1] || t[3] < area[1]);
            if free && area[2] < WIDTH {
                taken.push(area);
                let id = escape(&id);
                // A pale copy below keeps it legible on edges.
                let halo = r##" stroke="#fbfcfd" stroke-width="3" stroke-linejoin="round""##;
                for style in [halo, ""] {
                    let _ = writeln!(out, r#"<text x="{x:.1}" y="{y:.1}"{style}>{id}</text>"#);
                }
            }
        }
        *out += "</g>\n";
    }
}

/// The head of an arrow whose tip touches the disc at `tip`.
fn arrow(out: &mut String, tip: Point, tail: Point, radius: f64, stroke: f64, colour: &str) {
    let away = [tail[0] - tip[0], tail[1] - tip[1]];
    let length = away[0].hypot(away[1]);
    let size = 3.0 + 1.6 * stroke;
    if length < radius + size {
        return;
    }
    let [x, y] = away.map(|v| v / length);
    let point = [tip[0] + radius * x, tip[1] + radius * y];
    let base = [point[0] + size * x, point[1] + size * y];
    let half = 0.45 * size;
    let (left, right) = (
        [base[0] - half * y, base[1] + half * x],
        [base[0] + half * y, base[1] - half * x],
    );
    let _ = writeln!(
        out,
        r#"<path d="M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z" fill="{colour}"/>"#,
        point[0], point[1], left[0], left[1], right[0], right[1]
    );
}

/// Three sizes of nodes and of edges with the counts they stand for, in the middle of a line at `y`.
fn legend(out: &mut String, y: f64, nodes: &Scale, edges: &Scale, no_edges: bool) {
    let base = y + 4.0;
    if edges.most == 0.0 {
        let what = if no_edges {
            "no edges"
        } else {
            "the motif does not occur"
        };
        let _ = writeln!(out, r#"<text x="8" y="{base:.0}">{what}</text>"#);
        return;
    }
    let mut x = 8.0;
    for (what, scale) in [("node", nodes), ("edge", edges)] {
        let is_node = what == "node";
        if !is_node {
            x = f64::max(x, WIDTH / 2.0);
        }
        let _ = writeln!(
            out,
            r##"<text x="{x:.0}" y="{base:.0}" fill="#55606b">{what}</text>"##
        );
        x += if is_node { 38.0 } else { 36.0 };
        for value in scale.samples() {
            let (size, colour, text) = (scale.size(value), scale.colour(value), figure(value));
            if is_node {
                x += size;
                let _ = writeln!(
                    out,
                    r#"<circle cx="{x:.1}" cy="{y:.1}" r="{size:.2}" fill="{colour}"/>"#
                );
                x += size + 5.0;
            } else {
                let _ = writeln!(
                    out,
                    r#"<path d="M{x:.1} {y:.1}h24" stroke="{colour}" stroke-width="{size:.2}" stroke-linecap="round"/>"#
                );
                x += 31.0;
            }
            let _ = writeln!(out, r#"<text x="{x:.1}" y="{base:.1}">{text}</text>"#);
            x += 7.5 * text.chars().count() as f64 + 12.0;
        }
    }
}

/// A number in readable form.
pub(crate) fn figure(value: f64) -> String {
    match value.abs().log10().floor() as i32 {
        _ if value.fract() == 0.0 && value.abs() < 1e9 => format!("{value:.0}"),
        power @ -3..6 => format!("{value:.0$}", (2 - power).max(0) as usize),
        _ => format!("{value:.3e}"),
    }
}

/// Text safe in XML; characters that it does not know are replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c < ' ' || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
