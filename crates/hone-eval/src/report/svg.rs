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
/// Left, right, top and bottom margins.
const MARGIN: (f64, f64, f64, f64) = (70.0, 210.0, 34.0, 96.0);
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
    fn new(values: impl Iterator<Item = f64> + Clone, log: bool, to: (f64, f64)) -> Self {
        let scale = |v: f64| if log { v.max(1e-12).log10() } else { v };
        let low = values.clone().map(scale).fold(f64::INFINITY, f64::min);
        let high = values.map(scale).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let pad = if high > low { 0.04 * (high - low) } else { 0.5 };
        Axis {
            log,
            from: (low - pad, high + pad),
            to,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let v = if self.log {
            value.max(1e-12).log10()
        } else {
            value
        };
        self.to.0 + (v - self.from.0) / (self.from.1 - self.from.0) * (self.to.1 - self.to.0)
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
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|s| s * unit)
            .find(|s| *s >= raw)
            .unwrap_or(raw);
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let first = (low / step).ceil() as i64;
        (first..=(high / step).floor() as i64)
            .map(|k| (k as f64 * step, format!("{:.digits$}", k as f64 * step)))
            .collect()
    }
}

/// Text safe in XML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

impl Plot {
    /// The plot as one `<svg>` element.
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|l| l.1.iter());
        let x = Axis::new(
            points().map(|p| p.0),
            self.log.0,
            (MARGIN.0, WIDTH - MARGIN.1),
        );
        let y = Axis::new(
            points().map(|p| p.1),
            self.log.1,
            (HEIGHT - MARGIN.3, MARGIN.2),
        );
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" font-family=\"sans-serif\" \
             font-size=\"12\"><title>{0}</title><text x=\"{1}\" y=\"18\" font-size=\"14\">{0}</text>",
            escape(&self.title),
            MARGIN.0
        );
        self.draw_axes(&mut out, &x, &y);
        for (k, (name, line)) in self.lines.iter().enumerate() {
            let color = COLORS[k % COLORS.len()];
            let path: Vec<String> = line
                .iter()
                .map(|p| format!("{:.1},{:.1}", x.at(p.0), y.at(p.1)))
                .collect();
            let _ = write!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>",
                path.join(" ")
            );
            for p in line {
                let (px, py, tip) = (x.at(p.0), y.at(p.1), escape(&format!("{name}: {:.4}", p.1)));
                let _ = write!(
                    out,
                    "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\" fill=\"{color}\"><title>{tip}</title></circle>"
                );
            }
            let (lx, ly) = (WIDTH - MARGIN.1 + 16.0, MARGIN.2 + 8.0 + 16.0 * k as f64);
            let _ = write!(
                out,
                "<rect x=\"{lx}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{color}\"/>",
                ly - 9.0
            );
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{ly}\">{}</text>",
                lx + 15.0,
                escape(name)
            );
        }
        out + "</svg>"
    }

    fn draw_axes(&self, out: &mut String, x: &Axis, y: &Axis) {
        let (left, right, top, bottom) = (MARGIN.0, WIDTH - MARGIN.1, MARGIN.2, HEIGHT - MARGIN.3);
        for (value, text) in y.ticks() {
            let at = y.at(value);
            let _ = write!(
                out,
                "<line x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>"
            );
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 6.0,
                at + 4.0
            );
        }
        let named = self
            .ticks
            .iter()
            .enumerate()
            .map(|(k, t)| (k as f64, escape(t)));
        for (value, text) in if self.ticks.is_empty() {
            x.ticks()
        } else {
            named.collect()
        } {
            let at = x.at(value);
            let turn = if self.ticks.is_empty() {
                String::new()
            } else {
                format!(" transform=\"rotate(-30 {at:.1} {})\"", bottom + 16.0)
            };
            let anchor = if self.ticks.is_empty() {
                "middle"
            } else {
                "end"
            };
            let _ = write!(
                out,
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{bottom}\" stroke=\"#eee\"/>"
            );
            let _ = write!(
                out,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"{anchor}\"{turn}>{text}</text>",
                bottom + 16.0
            );
        }
        let (a, b) = (escape(&self.axes.0), escape(&self.axes.1));
        let middle = (left + right) / 2.0;
        let _ = write!(
            out,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{a}</text>",
            HEIGHT - 8.0
        );
        let center = (top + bottom) / 2.0;
        let _ = write!(
            out,
            "<text x=\"16\" y=\"{center}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {center})\">{b}</text>"
        );
        let _ = write!(
            out,
            "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#555\"/>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let axis = Axis::new([0.512, 0.93].into_iter(), false, (0.0, 100.0));
        let ticks: Vec<String> = axis.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(ticks, ["0.5", "0.6", "0.7", "0.8", "0.9"]);
        let log = Axis::new([100.0, 1e5].into_iter(), true, (0.0, 100.0));
        assert_eq!(log.ticks().len(), 4);
    }
}
