//! A drawing as SVG text: panels side by side, legends and a caption.
//!
//! Areas of discs and widths of lines grow with the counts they stand for; darker is more. Colours suit any colour
//! vision (one hue, from light to dark), and every node has its id and count as a tooltip. Ids are
//! escaped; characters that XML does not know are replaced.

use std::fmt::Write;

use super::layout::Point;

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

/// Colours from light to dark.
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
    let end = |pick: fn(f64, f64) -> f64, axis: usize| {
        let values = page.positions.iter().map(|p| p[axis]);
        values.reduce(pick).unwrap_or(0.0)
    };
    let low = [0, 1].map(|axis| end(f64::min, axis));
    let size = [0, 1].map(|axis| (end(f64::max, axis) - low[axis]).max(1e-9));
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
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} \
         {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"12\" fill=\"{INK}\">\n<title>{0}</title>\n<desc>{1}</desc>\n\
         <metadata>{2}</metadata>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escape(page.title),
        escape(&page.caption.join(" ")),
        escape(page.origin)
    );
    for (k, (panel, letter)) in panels.iter().zip(('a'..='z').cycle()).enumerate() {
        let x = GAP + k as f64 * (WIDTH + GAP);
        let title = escape(&panel.title);
        let _ = writeln!(out, "<g transform=\"translate({x:.0} {GAP:.0})\">");
        let _ = writeln!(
            out,
            "<text x=\"4\" y=\"24\" font-size=\"17\"><tspan font-weight=\"bold\">{letter}</tspan>  {title}</text>"
        );
        let _ = writeln!(
            out,
            "<g transform=\"translate(0 {HEAD:.0})\"><rect width=\"{WIDTH:.0}\" height=\"{panel_height:.0}\" rx=\"6\" \
             fill=\"#fbfcfd\" stroke=\"#e8ebee\"/>"
        );
        let mut drawer = Drawer::new(page, panel, &places, radius, out);
        drawer.edges();
        drawer.nodes();
        drawer.labels();
        drawer.out.push_str("</g>\n");
        drawer.legend(HEAD + panel_height + 30.0);
        out = drawer.out + "</g>\n";
    }
    for (k, line) in page.caption.iter().enumerate() {
        let y = height - GAP - (lines - 1.0 - k as f64) * LINE_HEIGHT;
        let line = escape(line);
        let _ = writeln!(
            out,
            "<text x=\"{GAP:.0}\" y=\"{y:.0}\" fill=\"#55606b\">{line}</text>"
        );
    }
    out + "</svg>\n"
}

/// Draws one panel.
struct Drawer<'a> {
    page: &'a Page<'a>,
    panel: &'a Panel,
    /// Where the nodes are in the panel.
    places: &'a [Point],
    /// Largest weights of a node and of an edge, and how large they are drawn.
    node: f64,
    edge: f64,
    radius: f64,
    stroke: f64,
    /// Whether all edges weigh the same: then none stands out.
    even: bool,
    out: String,
}

impl<'a> Drawer<'a> {
    fn new(
        page: &'a Page<'a>,
        panel: &'a Panel,
        places: &'a [Point],
        radius: f64,
        out: String,
    ) -> Self {
        let weights = panel.edges.iter().map(|line| line.weight);
        let edge = weights.clone().fold(0.0, f64::max);
        let even = weights
            .clone()
            .all(|weight| weight == 0.0 || weight == edge);
        Drawer {
            page,
            panel,
            places,
            node: panel.nodes.iter().copied().fold(0.0, f64::max),
            edge,
            radius,
            stroke: (0.6 * radius).min(STROKE) * if even { 0.25 } else { 1.0 },
            even,
            out,
        }
    }

    fn edge_color(&self, weight: f64) -> String {
        match weight {
            0.0 => FAINT.to_owned(),
            _ if self.even => shade(0.2, &EDGE_STOPS),
            _ => shade(weight / self.edge, &EDGE_STOPS),
        }
    }

    /// The radius of a node of this weight: the area grows with it.
    fn radius_of(&self, weight: f64) -> f64 {
        match weight > 0.0 {
            true => (self.radius * (weight / self.node).sqrt()).max(1.4),
            false => 1.2,
        }
    }

    fn stroke_of(&self, weight: f64) -> f64 {
        match weight > 0.0 {
            true => (self.stroke * (weight / self.edge).sqrt()).max(0.5),
            false => 0.5,
        }
    }

    fn edges(&mut self) {
        let mut order: Vec<&Line> = self.panel.edges.iter().collect();
        order.sort_by(|a, b| a.weight.total_cmp(&b.weight).then(a.ends.cmp(&b.ends)));
        self.out
            .push_str("<g fill=\"none\" stroke-linecap=\"round\">\n");
        for line in order {
            let (u, v) = (line.ends.0 as usize, line.ends.1 as usize);
            let (a, b) = (self.places[u], self.places[v]);
            let (stroke, color) = (self.stroke_of(line.weight), self.edge_color(line.weight));
            let _ = writeln!(
                self.out,
                "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{color}\" stroke-width=\"{stroke:.2}\"/>",
                a[0], a[1], b[0], b[1]
            );
            let ends = [(line.arrows.0, a, b, u), (line.arrows.1, b, a, v)];
            for (_, tip, tail, node) in ends.into_iter().filter(|end| end.0) {
                let radius = self.radius_of(self.panel.nodes[node]);
                self.arrow(tip, tail, radius, stroke, &color);
            }
        }
        self.out.push_str("</g>\n");
    }

    /// The head of an arrow whose tip touches the disc at `tip`.
    fn arrow(&mut self, tip: Point, tail: Point, radius: f64, stroke: f64, color: &str) {
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
            self.out,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\" fill=\"{color}\"/>",
            point[0],
            point[1],
            base[0] - half * y,
            base[1] + half * x,
            base[0] + half * y,
            base[1] - half * x
        );
    }

    fn nodes(&mut self) {
        let nodes = &self.panel.nodes;
        // Those without the motif below, then the large ones, so that none is hidden.
        let rank = |i: usize| match nodes[i] > 0.0 {
            true => -nodes[i],
            false => f64::NEG_INFINITY,
        };
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)).then(a.cmp(&b)));
        self.out
            .push_str("<g stroke=\"#ffffff\" stroke-width=\"0.7\">\n");
        for i in order {
            let ([x, y], weight) = (self.places[i], nodes[i]);
            let radius = self.radius_of(weight);
            let color = match weight > 0.0 {
                true => shade(weight / self.node, &NODE_STOPS),
                false => "#c9cfd6".to_owned(),
            };
            let tip = escape(&format!(
                "{}: {}",
                (self.page.ids)(i as u32),
                figure(weight)
            ));
            let _ = writeln!(
                self.out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.2}\" fill=\"{color}\"><title>{tip}</title></circle>"
            );
        }
        self.out.push_str("</g>\n");
    }

    /// Ids beside their nodes, unless another is in the way.
    fn labels(&mut self) {
        let mut taken: Vec<[f64; 4]> = Vec::new();
        self.out.push_str("<g font-size=\"11\">\n");
        for &i in self.page.labelled {
            let [x, y] = self.places[i as usize];
            let radius = self.radius_of(self.panel.nodes[i as usize]);
            let (x, y) = (x + radius + 2.5, y + 3.8);
            let mut id = (self.page.ids)(i);
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
                let halo = " stroke=\"#fbfcfd\" stroke-width=\"3\" stroke-linejoin=\"round\"";
                for style in [halo, ""] {
                    let _ = writeln!(
                        self.out,
                        "<text x=\"{x:.1}\" y=\"{y:.1}\"{style}>{id}</text>"
                    );
                }
            }
        }
        self.out.push_str("</g>\n");
    }

    /// Three sizes of nodes and of edges with the counts they stand for, in the middle of a line at `y`.
    fn legend(&mut self, y: f64) {
        let base = y + 4.0;
        if self.edge == 0.0 {
            let what = match self.panel.edges[..] {
                [] => "no edges",
                _ => "the motif does not occur",
            };
            let _ = writeln!(self.out, "<text x=\"8\" y=\"{base:.0}\">{what}</text>");
            return;
        }
        let mut x = self.legend_title("node", 8.0, base) + 38.0;
        for value in samples(self.node) {
            let radius = self.radius_of(value);
            let color = shade(value / self.node, &NODE_STOPS);
            x += radius;
            let _ = writeln!(
                self.out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.2}\" fill=\"{color}\"/>"
            );
            x = self.legend_count(value, x + (radius + 5.0), base);
        }
        x = self.legend_title("edge", x.max(WIDTH / 2.0), base) + 36.0;
        for value in samples(self.edge) {
            let (color, stroke) = (self.edge_color(value), self.stroke_of(value));
            let _ = writeln!(
                self.out,
                "<path d=\"M{x:.1} {y:.1}h24\" stroke=\"{color}\" stroke-width=\"{stroke:.2}\" stroke-linecap=\"round\"/>"
            );
            x = self.legend_count(value, x + 31.0, base);
        }
    }

    fn legend_title(&mut self, what: &str, x: f64, base: f64) -> f64 {
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.0}\" y=\"{base:.0}\" fill=\"#55606b\">{what}</text>"
        );
        x
    }

    /// A count of the legend; where the next part begins.
    fn legend_count(&mut self, value: f64, x: f64, base: f64) -> f64 {
        let text = figure(value);
        let _ = writeln!(self.out, "<text x=\"{x:.1}\" y=\"{base:.1}\">{text}</text>");
        x + (7.5 * text.chars().count() as f64 + 12.0)
    }
}

/// From light to dark with one hue; what is large is dark.
fn shade(share: f64, stops: &[[f64; 3]; 3]) -> String {
    let at = share.clamp(0.0, 1.0).sqrt() * 2.0;
    let (low, part) = ((at.floor() as usize).min(1), at - at.floor().min(1.0));
    let mix = |c: usize| (stops[low][c] + (stops[low + 1][c] - stops[low][c]) * part).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// The largest weight, and smaller ones that look different.
fn samples(most: f64) -> Vec<f64> {
    let round = |value: f64| {
        let unit = 10f64.powf(value.log10().floor());
        let steps = [1.0, 2.0, 5.0].into_iter().map(|step| step * unit);
        let below = steps.rev().find(|v| *v <= value * 1.000_001);
        below.unwrap_or(value)
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
