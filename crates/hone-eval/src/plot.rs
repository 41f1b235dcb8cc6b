//! Plots as SVG text: points and lines on linear or logarithmic axes.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// A plot of several lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What is shown.
    pub title: String,
    /// Names of the horizontal and the vertical axis.
    pub axes: (String, String),
    /// Whether the axes are logarithmic.
    pub log: (bool, bool),
    /// Names below the points of the horizontal axis, when it counts things (0, 1, 2, …).
    pub ticks: Vec<String>,
    /// Name and points of each line.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
/// The frame of the points.
const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 210.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = HEIGHT - 96.0;
const COLORS: [&str; 10] = [
    "#1b6ca8", "#d1495b", "#2e8540", "#edae49", "#7d4e9f", "#00798c", "#8c564b", "#444444",
    "#e377c2", "#17becf",
];

/// A linear or logarithmic map from values to pixels.
struct Axis {
    log: bool,
    from: (f64, f64),
    to: (f64, f64),
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, log: bool, to: (f64, f64)) -> Self {
        let from = (0.0, 1.0);
        let mut axis = Axis { log, from, to };
        let ends = values.map(|v| axis.scaled(v));
        let ends = ends
            .map(|v| (v, v))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (low, high) = ends.unwrap_or(from);
        let pad = if high > low { 0.04 * (high - low) } else { 0.5 };
        axis.from = (low - pad, high + pad);
        axis
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.log {
            value.max(1e-12).log10()
        } else {
            value
        }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (self.scaled(value) - self.from.0) / (self.from.1 - self.from.0);
        self.to.0 + share * (self.to.1 - self.to.0)
    }

    /// Round values along the axis, with their text.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (low, high) = self.from;
        if self.log {
            let powers = (low.ceil() as i32)..=(high.floor() as i32);
            return powers.map(|p| (10f64.powi(p), format!("1e{p}"))).collect();
        }
        let raw = (high - low) / 5.0;
        let unit = 10f64.powf(raw.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|s| s * unit);
        let step = steps.into_iter().find(|s| *s >= raw).unwrap_or(raw);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        ((low / step).ceil() as i64..=(high / step).floor() as i64)
            .map(|k| (k as f64 * step, format!("{:.digits$}", k as f64 * step)))
            .collect()
    }
}

/// Text safe in XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

impl Plot {
    /// The plot as one `<svg>` element.
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|l| l.1.iter());
        let x = Axis::new(points().map(|p| p.0), self.log.0, (LEFT, RIGHT));
        let y = Axis::new(points().map(|p| p.1), self.log.1, (BOTTOM, TOP));
        let title = escape(&self.title);
        let mut out = format!(
            r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" font-family="sans-serif" font-size="12"><title>{title}</title><text x="{LEFT}" y="18" font-size="14">{title}</text>"#
        );
        self.draw_axes(&mut out, &x, &y);
        for (k, (name, line)) in self.lines.iter().enumerate() {
            let color = COLORS[k % COLORS.len()];
            let pixels = line.iter().map(|p| (x.at(p.0), y.at(p.1)));
            let path = pixels.clone().map(|(px, py)| format!("{px:.1},{py:.1}"));
            let path = path.collect::<Vec<_>>().join(" ");
            let _ = write!(
                out,
                r#"<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.6"/>"#
            );
            for (p, (px, py)) in line.iter().zip(pixels) {
                let tip = escape(&format!("{name}: {:.4}", p.1));
                let _ = write!(
                    out,
                    r#"<circle cx="{px:.1}" cy="{py:.1}" r="3" fill="{color}"><title>{tip}</title></circle>"#
                );
            }
            let (lx, ly) = (RIGHT + 16.0, TOP + 8.0 + 16.0 * k as f64);
            let (square, text, name) = (ly - 9.0, lx + 15.0, escape(name));
            let _ = write!(
                out,
                r#"<rect x="{lx}" y="{square:.1}" width="10" height="10" fill="{color}"/><text x="{text}" y="{ly}">{name}</text>"#
            );
        }
        out + "</svg>"
    }

    fn draw_axes(&self, out: &mut String, x: &Axis, y: &Axis) {
        for (value, text) in y.ticks() {
            let (at, left, middle) = (y.at(value), LEFT - 6.0, y.at(value) + 4.0);
            let _ = write!(
                out,
                r##"<line x1="{LEFT}" x2="{RIGHT}" y1="{at:.1}" y2="{at:.1}" stroke="#ddd"/><text x="{left}" y="{middle:.1}" text-anchor="end">{text}</text>"##
            );
        }
        let below = BOTTOM + 16.0;
        let names = self.ticks.iter().map(|name| escape(name));
        let named = (0..).map(f64::from).zip(names).collect();
        let numbers = self.ticks.is_empty();
        for (value, text) in if numbers { x.ticks() } else { named } {
            let at = x.at(value);
            let anchor = match numbers {
                true => r#""middle""#.to_string(),
                false => format!(r#""end" transform="rotate(-30 {at:.1} {below})""#),
            };
            let _ = write!(
                out,
                r##"<line x1="{at:.1}" x2="{at:.1}" y1="{TOP}" y2="{BOTTOM}" stroke="#eee"/><text x="{at:.1}" y="{below}" text-anchor={anchor}>{text}</text>"##
            );
        }
        let (a, b) = (escape(&self.axes.0), escape(&self.axes.1));
        let (middle, center, foot) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0, HEIGHT - 8.0);
        let _ = write!(
            out,
            r##"<text x="{middle}" y="{foot}" text-anchor="middle">{a}</text><text x="16" y="{center}" text-anchor="middle" transform="rotate(-90 16 {center})">{b}</text><path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#555"/>"##
        );
    }
}
