//! A drawing as SVG text: panels side by side, legends and a caption.
//!
//! Areas of discs and widths of lines grow with the counts they stand for; darker is more. Colours suit any colour
//! vision (one hue, from light to dark), and every node has its id and count as a tooltip. Ids are
//! escaped; characters that XML does not know are replaced.

use std::fmt::Write;

use super::quadtree::Point;

/// One motif graph, ready to be drawn.
pub(super) struct Panel {
    /// What is shown.
    pub(super) title: String,
    /// Weight of every node.
    pub(super) nodes: Vec<f64>,
    /// Pairs of nodes with the weight of the edge, and whether there is an arc in each direction.
    pub(super) edges: Vec<Line>,
}

/// An edge of a panel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) ends: (u32, u32),
    pub(super) weight: f64,
    /// Whether there is an arrow at the first and at the second end.
    pub(super) arrows: (bool, bool),
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
/// What has no weight.
const FAINT: &str = "#e3e6ea";
const INK: &str = "#22303c";

/// From places of the layout to places on the page.
struct Frame {
    scale: f64,
    offset: Point,
    height: f64,
    /// Largest radius, so small that neighbours can be told apart.
    radius: f64,
}

impl Frame {
    fn new(positions: &[Point]) -> Self {
        let end = |pick: fn(f64, f64) -> f64, axis: usize| {
            positions
                .iter()
                .map(|p| p[axis])
                .reduce(pick)
                .unwrap_or(0.0)
        };
        let low = [0, 1].map(|axis| end(f64::min, axis));
        let size = [0, 1].map(|axis| (end(f64::max, axis) - low[axis]).max(1e-9));
        let room = WIDTH - 2.0 * MARGIN;
        let height = (size[1] / size[0] * room + 2.0 * MARGIN).clamp(HEIGHT.0, HEIGHT.1);
        // A handful of nodes does not fill the page.
        let scale = (room / size[0])
            .min((height - 2.0 * MARGIN) / size[1])
            .min(90.0);
        let offset = [0, 1].map(|axis| {
            let full = [WIDTH, height][axis];
            (full - size[axis] * scale) / 2.0 - low[axis] * scale
        });
        Frame {
            scale,
            offset,
            height,
            radius: (0.42 * scale).clamp(2.5, RADIUS),
        }
    }

    fn at(&self, p: Point) -> Point {
        [0, 1].map(|axis| p[axis] * self.scale + self.offset[axis])
    }
}

/// Sizes and colours of one panel.
struct Scale {
    node: f64,
    edge: f64,
    radius: f64,
    stroke: f64,
    /// Whether all edges weigh the same: then none stands out.
    even: bool,
}

impl Scale {
    fn new(panel: &Panel, frame: &Frame) -> Self {
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let edge = most(&mut panel.edges.iter().map(|line| line.weight));
        let even = panel
            .edges
            .iter()
            .all(|line| line.weight == 0.0 || line.weight == edge);
        let stroke = (0.6 * frame.radius).min(STROKE) * if even { 0.25 } else { 1.0 };
        Scale {
            node: most(&mut panel.nodes.iter().copied()),
            edge,
            radius: frame.radius,
            stroke,
            even,
        }
    }

    /// The colour of an edge.
    fn color(&self, weight: f64) -> String {
        match weight {
            0.0 => FAINT.to_string(),
            _ if self.even => shade(0.2, &EDGE_STOPS),
            _ => shade(weight / self.edge, &EDGE_STOPS),
        }
    }

    /// The area grows with the weight.
    fn radius(&self, weight: f64) -> f64 {
        if weight > 0.0 {
            (self.radius * (weight / self.node).sqrt()).max(1.4)
        } else {
            1.2
        }
    }

    fn stroke(&self, weight: f64) -> f64 {
        if weight > 0.0 {
            (self.stroke * (weight / self.edge).sqrt()).max(0.5)
        } else {
            0.5
        }
    }
}

/// From light to dark with one hue; what is large is dark.
fn shade(share: f64, stops: &[[f64; 3]; 3]) -> String {
    let at = share.clamp(0.0, 1.0).sqrt() * 2.0;
    let (low, part) = ((at.floor() as usize).min(1), at - at.floor().min(1.0));
    let mix = |c: usize| (stops[low][c] + (stops[low + 1][c] - stops[low][c]) * part).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

const EDGE_STOPS: [[f64; 3]; 3] = [
    [168.0, 190.0, 210.0],
    [74.0, 121.0, 167.0],
    [8.0, 48.0, 107.0],
];
const NODE_STOPS: [[f64; 3]; 3] = [
    [253.0, 200.0, 120.0],
    [240.0, 130.0, 50.0],
    [166.0, 54.0, 3.0],
];

/// The whole drawing.
pub(super) fn render(page: &Page<'_>, panels: &[Panel]) -> String {
    let frame = Frame::new(page.positions);
    let (count, lines) = (panels.len() as f64, page.caption.len() as f64);
    let width = count * WIDTH + (count + 1.0) * GAP;
    let height = GAP + HEAD + frame.height + LEGEND + lines * LINE_HEIGHT + GAP;
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} \
         {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"12\" fill=\"{INK}\">\n<title>{0}</title>\n<desc>{1}</desc>\n\
         <metadata>{2}</metadata>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escape(page.title),
        escape(&page.caption.join(" ")),
        escape(page.origin)
    );
    for (k, panel) in panels.iter().enumerate() {
        let x = GAP + k as f64 * (WIDTH + GAP);
        let _ = writeln!(out, "<g transform=\"translate({x:.0} {GAP:.0})\">");
        draw_panel(page, panel, &frame, k, &mut out);
        out.push_str("</g>\n");
    }
    for (k, line) in page.caption.iter().enumerate() {
        let y = height - GAP - (lines - 1.0 - k as f64) * LINE_HEIGHT;
        let _ = writeln!(
            out,
            "<text x=\"{GAP:.0}\" y=\"{y:.0}\" fill=\"#55606b\">{}</text>",
            escape(line)
        );
    }
    out + "</svg>\n"
}

fn draw_panel(page: &Page<'_>, panel: &Panel, frame: &Frame, number: usize, out: &mut String) {
    let scale = Scale::new(panel, frame);
    let letter = char::from(b'a' + (number % 26) as u8);
    let _ = writeln!(
        out,
        "<text x=\"4\" y=\"24\" font-size=\"17\"><tspan font-weight=\"bold\">{letter}</tspan>  {}</text>",
        escape(&panel.title)
    );
    let _ = writeln!(
        out,
        "<g transform=\"translate(0 {HEAD:.0})\"><rect width=\"{WIDTH:.0}\" height=\"{:.0}\" rx=\"6\" fill=\"#fbfcfd\" \
         stroke=\"#e8ebee\"/>",
        frame.height
    );
    draw_edges(page, panel, frame, &scale, out);
    draw_nodes(page, panel, frame, &scale, out);
    draw_labels(page, panel, frame, &scale, out);
    out.push_str("</g>\n");
    draw_legend(panel, &scale, HEAD + frame.height, out);
}

fn draw_edges(page: &Page<'_>, panel: &Panel, frame: &Frame, scale: &Scale, out: &mut String) {
    let mut order: Vec<&Line> = panel.edges.iter().collect();
    order.sort_by(|a, b| a.weight.total_cmp(&b.weight).then(a.ends.cmp(&b.ends)));
    out.push_str("<g fill=\"none\" stroke-linecap=\"round\">\n");
    for line in order {
        let (u, v) = (line.ends.0 as usize, line.ends.1 as usize);
        let (a, b) = (frame.at(page.positions[u]), frame.at(page.positions[v]));
        let stroke = scale.stroke(line.weight);
        let color = scale.color(line.weight);
        let _ = writeln!(
            out,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{color}\" stroke-width=\"{stroke:.2}\"/>",
            a[0], a[1], b[0], b[1]
        );
        let radii = (scale.radius(panel.nodes[u]), scale.radius(panel.nodes[v]));
        for (shown, tip, tail, radius) in [
            (line.arrows.0, a, b, radii.0),
            (line.arrows.1, b, a, radii.1),
        ] {
            if shown {
                arrow(tip, tail, radius, stroke, &color, out);
            }
        }
    }
    out.push_str("</g>\n");
}

/// The head of an arrow whose tip touches the disc at `tip`.
fn arrow(tip: Point, tail: Point, radius: f64, stroke: f64, color: &str, out: &mut String) {
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
    let _ = writeln!(
        out,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{color}\"/>",
        point[0],
        point[1],
        base[0] - half * y,
        base[1] + half * x,
        base[0] + half * y,
        base[1] - half * x
    );
}

fn draw_nodes(page: &Page<'_>, panel: &Panel, frame: &Frame, scale: &Scale, out: &mut String) {
    let mut order: Vec<usize> = (0..panel.nodes.len()).collect();
    // Those without the motif below, then the large ones, so that none is hidden.
    let rank = |i: usize| {
        if panel.nodes[i] > 0.0 {
            -panel.nodes[i]
        } else {
            f64::NEG_INFINITY
        }
    };
    order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)).then(a.cmp(&b)));
    out.push_str("<g stroke=\"#ffffff\" stroke-width=\"0.7\">\n");
    for i in order {
        let [x, y] = frame.at(page.positions[i]);
        let weight = panel.nodes[i];
        let color = if weight > 0.0 {
            shade(weight / scale.node, &NODE_STOPS)
        } else {
            "#c9cfd6".to_string()
        };
        let tip = escape(&format!("{}: {}", (page.ids)(i as u32), figure(weight)));
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.2}\" fill=\"{color}\"><title>{tip}</title></circle>",
            scale.radius(weight)
        );
    }
    out.push_str("</g>\n");
}

/// Ids beside their nodes, unless another is in the way.
fn draw_labels(page: &Page<'_>, panel: &Panel, frame: &Frame, scale: &Scale, out: &mut String) {
    let mut taken: Vec<[f64; 4]> = Vec::new();
    out.push_str("<g font-size=\"11\">\n");
    for &i in page.labelled {
        let [x, y] = frame.at(page.positions[i as usize]);
        let (x, y) = (x + scale.radius(panel.nodes[i as usize]) + 2.5, y + 3.8);
        let id = (page.ids)(i);
        let text: String = if id.chars().count() > 24 {
            id.chars().take(23).chain(['…']).collect()
        } else {
            id
        };
        let area = [x, y - 9.0, x + 6.2 * text.chars().count() as f64, y + 2.0];
        let free = taken
            .iter()
            .all(|t| area[2] < t[0] || t[2] < area[0] || area[3] < t[1] || t[3] < area[1]);
        if free && area[2] < WIDTH {
            taken.push(area);
            // A pale copy below keeps it legible on edges.
            for style in [
                " stroke=\"#fbfcfd\" stroke-width=\"3\" stroke-linejoin=\"round\"",
                "",
            ] {
                let _ = writeln!(
                    out,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\"{style}>{}</text>",
                    escape(&text)
                );
            }
        }
    }
    out.push_str("</g>\n");
}

/// Three sizes of nodes and of edges with the counts they stand for.
fn draw_legend(panel: &Panel, scale: &Scale, top: f64, out: &mut String) {
    let y = top + 30.0;
    let mut x = 8.0;
    if scale.edge == 0.0 {
        let what = if panel.edges.is_empty() {
            "no edges"
        } else {
            "the motif does not occur"
        };
        let _ = writeln!(out, "<text x=\"{x:.0}\" y=\"{:.0}\">{what}</text>", y + 4.0);
        return;
    }
    let _ = writeln!(
        out,
        "<text x=\"{x:.0}\" y=\"{:.0}\" fill=\"#55606b\">node</text>",
        y + 4.0
    );
    x += 38.0;
    for value in samples(scale.node) {
        let (radius, text) = (scale.radius(value), figure(value));
        x += radius;
        let color = shade(value / scale.node, &NODE_STOPS);
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.2}\" fill=\"{color}\"/>"
        );
        x += radius + 5.0;
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\">{text}</text>", y + 4.0);
        x += 7.5 * text.chars().count() as f64 + 12.0;
    }
    x = x.max(WIDTH / 2.0);
    let _ = writeln!(
        out,
        "<text x=\"{x:.0}\" y=\"{:.0}\" fill=\"#55606b\">edge</text>",
        y + 4.0
    );
    x += 36.0;
    for value in samples(scale.edge) {
        let (color, text) = (scale.color(value), figure(value));
        let stroke = scale.stroke(value);
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {y:.1}h24\" stroke=\"{color}\" stroke-width=\"{stroke:.2}\" stroke-linecap=\"round\"/>"
        );
        x += 31.0;
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\">{text}</text>", y + 4.0);
        x += 7.5 * text.chars().count() as f64 + 12.0;
    }
}

/// The largest weight, and smaller ones that look different.
fn samples(most: f64) -> Vec<f64> {
    let round = |value: f64| {
        let unit = 10f64.powf(value.log10().floor());
        [1.0, 2.0, 5.0]
            .into_iter()
            .map(|step| step * unit)
            .rfind(|v| *v <= value * 1.000_001)
            .unwrap_or(value)
    };
    let mut values = vec![most];
    for part in [0.3, 0.05] {
        let value = round(most * part);
        if value >= 1.0 && values.last().is_some_and(|last| value < 0.7 * last) {
            values.push(value);
        }
    }
    if values.len() == 1 && most > 1.0 {
        values.push(1.0);
    }
    values.reverse();
    values
}

/// A count in readable form.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        format!("{value:.0}")
    } else {
        format!("{value:.3e}")
    }
}

/// Text safe in XML; characters that it does not know are replaced.
fn escape(text: &str) -> String {
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
