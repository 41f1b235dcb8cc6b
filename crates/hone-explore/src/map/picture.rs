//! The points of a map as a picture for papers, with title and legend: SVG, or PNG of the same proportions.
//!
//! Both are drawn by the same steps on a [`Canvas`]. An SVG has its text as text. A PNG has that of `font/letters.ttf`,
//! which has Latin, Greek and Cyrillic letters, so that pictures are the same everywhere; others are frames. tiny-skia
//! draws it: resvg, which could draw the SVG itself, takes five times as long to compile, and much memory for many nodes.

use std::fmt::Write;

use hone::{Error, Result};
use tiny_skia::{Color, FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::colour::{Legend, Look, SHAPES, Scheme, ramp};
use super::{FEW_EDGES, MUTED, Map, OPACITY};
use crate::draw::{escape, figure};

/// Side of the square of points, the margin around it, and the height of the title.
const SIDE: f32 = 800.0;
const MARGIN: f32 = 20.0;
const HEAD: f32 = 30.0;
/// The legend: where it begins, its width, the distance of its lines.
const LEFT: f32 = SIDE + 2.0 * MARGIN;
const LEGEND: f32 = 190.0;
const LINE: f32 = 23.0;
const WIDTH: f32 = LEFT + LEGEND;
const HEIGHT: f32 = HEAD + SIDE + 2.0 * MARGIN;
/// Height of the ramp of a number.
const RAMP: f32 = 160.0;
/// Sizes of letters.
const TEXT: f32 = 14.0;
const TITLE: f32 = 18.0;
const INK: u32 = 0x1c2430;
const PAPER: u32 = 0xffffff;
const EDGE: u32 = 0xdde1e6;

const LETTERS: &[u8] = include_bytes!("font/letters.ttf");

type Point = [f32; 2];

/// What a picture is drawn on, in units of the SVG.
trait Canvas {
    fn points(&mut self, places: &[Point], radius: f32, look: &Look);
    fn lines(&mut self, ends: &[[Point; 2]]);
    fn block(&mut self, corner: Point, size: Point, colour: &str);
    /// A text from its left end on, its base at this place; a halo parts it from what lies below.
    fn text(&mut self, at: Point, size: f32, text: &str, halo: bool);
}

impl Map<'_> {
    /// A picture as SVG.
    pub fn svg(&self) -> Result<String> {
        let title = escape(&self.title);
        let mut svg = Svg(format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif" fill="#{INK:06x}">
<title>{title}</title>
<rect width="{WIDTH}" height="{HEIGHT}" fill="#{PAPER:06x}"/>
"##
        ));
        self.draw(&mut svg, &Letters::new())?;
        Ok(svg.0 + "</svg>\n")
    }

    /// The same as a PNG image of `width` pixels.
    pub fn png(&self, width: u32) -> Result<Vec<u8>> {
        if !(16..=16_384).contains(&width) {
            let message = format!("{width} pixels; give a number from 16 to 16384");
            return Err(Error::config("width", message));
        }
        let scale = width as f32 / WIDTH;
        let pixels = Pixmap::new(width, (scale * HEIGHT).round() as u32);
        let mut pixels = pixels.expect("neither empty nor large");
        pixels.fill(ink(PAPER, 1.0));
        let letters = Letters::new();
        let mut png = Png {
            pixels,
            scale: Transform::from_scale(scale, scale),
            letters: &letters,
        };
        self.draw(&mut png, &letters)?;
        let encoded = png.pixels.encode_png();
        encoded.map_err(|error| Error::config("png", error.to_string()))
    }

    fn draw(&self, canvas: &mut dyn Canvas, letters: &Letters) -> Result<()> {
        self.check()?;
        let (key, colour) = self.chosen()?;
        let places = self.places();
        let scheme = Scheme::new(key, &colour, &self.style, &places[..1]);
        let (mut looks, of) = scheme.looks(&colour);
        let shapes = usize::from(self.style.shapes);
        looks.iter_mut().for_each(|look| look.shape *= shapes);
        let on_paper = |[x, y]: Point| [MARGIN + x * SIDE, HEAD + MARGIN + (1.0 - y) * SIDE];
        let places: Vec<Point> = places[0].iter().map(|&at| on_paper(at)).collect();
        let title = letters.cut(&self.title, TITLE, WIDTH - 2.0 * MARGIN);
        canvas.text([MARGIN, HEAD], TITLE, &title, false);
        let graph = self.graph.underlying();
        if graph.edges() <= FEW_EDGES {
            let of = |u: u32| graph.neighbors(u).iter().map(move |&v| [u, v]);
            let edges = (0..graph.nodes() as u32)
                .flat_map(of)
                .filter(|[u, v]| u < v);
            let ends = edges.map(|ends| ends.map(|node| places[node as usize]));
            canvas.lines(&ends.collect::<Vec<_>>());
        }
        let mut alike: Vec<Vec<Point>> = vec![Vec::new(); looks.len()];
        for (&at, &look) in places.iter().zip(&of) {
            alike[usize::from(look)].push(at);
        }
        let order: Vec<usize> = match &scheme.legend {
            Legend::Groups { order, .. } => order.clone(),
            Legend::Numbers { .. } => (0..looks.len()).collect(),
        };
        let radius = SIDE * self.radius();
        for look in order {
            canvas.points(&alike[look], radius, &looks[look]);
        }
        if let (Legend::Groups { groups, order, .. }, true) = (&scheme.legend, self.style.names) {
            let mut taken: Vec<[f32; 4]> = Vec::new();
            // The largest first: where two would overlap, the smaller has none.
            for group in order.iter().map(|&group| &groups[group]) {
                let name = letters.cut(&group.name, TEXT, LEGEND);
                let (wide, [x, y]) = (letters.width(&name, TEXT), on_paper(group.middles[0]));
                // Above, so that a single point is seen, and below the title.
                let y = (y - TEXT).max(HEAD + TEXT);
                let x = (x - wide / 2.0).clamp(MARGIN, SIDE + MARGIN - wide);
                let area = [x, y - TEXT, x + wide, y + TEXT / 2.0];
                let is_free = |t: &[f32; 4]| {
                    area[2] < t[0] || t[2] < area[0] || area[3] < t[1] || t[3] < area[1]
                };
                if !group.look.muted && taken.iter().all(is_free) {
                    taken.push(area);
                    canvas.text([x, y + TEXT / 3.0], TEXT, &name, true);
                }
            }
        }
        legend(canvas, letters, &scheme, &looks);
        Ok(())
    }
}

/// What the colours mean, beside the points.
fn legend(canvas: &mut dyn Canvas, letters: &Letters, scheme: &Scheme, looks: &[Look]) {
    let top = HEAD + MARGIN + TEXT;
    let line = |canvas: &mut dyn Canvas, [x, y]: Point, text: &str| {
        let text = letters.cut(text, TEXT, WIDTH - x - MARGIN / 2.0);
        canvas.text([x, y], TEXT, &text, false);
    };
    line(canvas, [LEFT, top], &scheme.name);
    match &scheme.legend {
        Legend::Groups { groups, .. } => {
            let mut y = top;
            let groups = groups.iter().zip(looks);
            for (group, look) in groups.filter(|(group, _)| group.nodes > 0) {
                y += LINE;
                canvas.points(&[[LEFT + 7.0, y - 5.0]], 6.0, look);
                line(canvas, [LEFT + 22.0, y], &group.name);
            }
        }
        &Legend::Numbers {
            least,
            most,
            missing,
            log,
            ..
        } => {
            let (colours, begin, right) = (ramp(), top + LINE / 2.0, LEFT + 26.0);
            let high = RAMP / colours.len() as f32;
            for (look, row) in colours.iter().rev().zip(0..) {
                let corner = [LEFT, begin + high * row as f32];
                canvas.block(corner, [18.0, high + 1.0], &look.colour);
            }
            line(canvas, [right, begin + TEXT - 3.0], &figure(most.into()));
            line(canvas, [right, begin + RAMP], &figure(least.into()));
            if log {
                line(canvas, [right, begin + (RAMP + TEXT) / 2.0], "log scale");
            }
            if missing > 0 {
                let nodes = if missing == 1 { "node" } else { "nodes" };
                let text = format!("grey: {missing} {nodes} without");
                line(canvas, [LEFT, begin + RAMP + LINE], &text);
            }
        }
    }
}

/// Of the size and opacity of points.
fn share(look: &Look) -> f32 {
    if look.muted { MUTED } else { 1.0 }
}

/// The corners of a shape.
fn corners([x, y]: Point, radius: f32, look: &Look) -> impl Iterator<Item = Point> {
    let corners = SHAPES[look.shape].iter();
    corners.map(move |[dx, dy]| [x + radius * dx, y + radius * dy])
}

/// The text of an SVG.
struct Svg(String);

impl Svg {
    fn add(&mut self, line: std::fmt::Arguments<'_>) {
        self.0.write_fmt(line).expect("text takes all");
        self.0.push('\n');
    }
}

impl Canvas for Svg {
    fn points(&mut self, places: &[Point], radius: f32, look: &Look) {
        if places.is_empty() {
            return;
        }
        let r = radius * share(look);
        self.add(format_args!(
            r#"<g fill="{}" fill-opacity="{:.2}">"#,
            look.colour,
            share(look) * OPACITY
        ));
        for &[x, y] in places {
            if look.shape == 0 {
                self.add(format_args!(
                    r#"<circle cx="{x:.1}" cy="{y:.1}" r="{r:.2}"/>"#
                ));
                continue;
            }
            let corners = corners([x, y], r, look).map(|[x, y]| format!("{x:.1},{y:.1}"));
            let corners = corners.collect::<Vec<_>>().join(" ");
            self.add(format_args!(r#"<polygon points="{corners}"/>"#));
        }
        self.add(format_args!("</g>"));
    }

    fn lines(&mut self, ends: &[[Point; 2]]) {
        self.add(format_args!(r##"<g stroke="#{EDGE:06x}">"##));
        for [a, b] in ends {
            self.add(format_args!(
                r#"<path d="M{:.1} {:.1}L{:.1} {:.1}"/>"#,
                a[0], a[1], b[0], b[1]
            ));
        }
        self.add(format_args!("</g>"));
    }

    fn block(&mut self, [x, y]: Point, [wide, high]: Point, colour: &str) {
        self.add(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{wide:.1}" height="{high:.1}" fill="{colour}"/>"#
        ));
    }

    fn text(&mut self, [x, y]: Point, size: f32, text: &str, halo: bool) {
        let text = escape(text);
        let halo = match halo {
            true => format!(
                r##" stroke="#{PAPER:06x}" stroke-width="3" stroke-linejoin="round" paint-order="stroke""##
            ),
            false => String::new(),
        };
        self.add(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}"{halo}>{text}</text>"#
        ));
    }
}

/// The pixels of a PNG.
struct Png<'a> {
    pixels: Pixmap,
    scale: Transform,
    letters: &'a Letters,
}

fn ink(colour: u32, opacity: f32) -> Color {
    let [_, r, g, b] = colour.to_be_bytes();
    Color::from_rgba8(r, g, b, (opacity * 255.0).round() as u8)
}

fn paint(colour: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour);
    paint
}

/// A colour as it is written in a [`Look`].
fn parsed(colour: &str) -> u32 {
    u32::from_str_radix(&colour[1..], 16).expect("a colour of a scheme")
}

impl Canvas for Png<'_> {
    fn points(&mut self, places: &[Point], radius: f32, look: &Look) {
        let r = radius * share(look);
        let mut outline = PathBuilder::new();
        match look.shape {
            0 => outline.push_circle(0.0, 0.0, r),
            _ => {
                for (at, [x, y]) in corners([0.0; 2], r, look).enumerate() {
                    match at {
                        0 => outline.move_to(x, y),
                        _ => outline.line_to(x, y),
                    }
                }
                outline.close();
            }
        }
        let Some(outline) = outline.finish() else {
            return;
        };
        let paint = paint(ink(parsed(&look.colour), share(look) * OPACITY));
        for &[x, y] in places {
            let place = self.scale.pre_translate(x, y);
            self.pixels
                .fill_path(&outline, &paint, FillRule::Winding, place, None);
        }
    }

    fn lines(&mut self, ends: &[[Point; 2]]) {
        let mut outline = PathBuilder::new();
        for [a, b] in ends {
            outline.move_to(a[0], a[1]);
            outline.line_to(b[0], b[1]);
        }
        let (paint, stroke) = (paint(ink(EDGE, 1.0)), Stroke::default());
        if let Some(outline) = outline.finish() {
            self.pixels
                .stroke_path(&outline, &paint, &stroke, self.scale, None);
        }
    }

    fn block(&mut self, [x, y]: Point, [wide, high]: Point, colour: &str) {
        let paint = paint(ink(parsed(colour), 1.0));
        if let Some(block) = Rect::from_xywh(x, y, wide, high) {
            self.pixels.fill_rect(block, &paint, self.scale, None);
        }
    }

    fn text(&mut self, [x, y]: Point, size: f32, text: &str, halo: bool) {
        let Some(outline) = self.letters.outline(text) else {
            return;
        };
        let factor = size / self.letters.units;
        let place = self.scale.pre_translate(x, y).pre_scale(factor, -factor);
        if halo {
            let stroke = Stroke {
                width: 3.0 / factor,
                line_join: tiny_skia::LineJoin::Round,
                ..Stroke::default()
            };
            let paper = paint(ink(PAPER, 1.0));
            self.pixels
                .stroke_path(&outline, &paper, &stroke, place, None);
        }
        let paint = paint(ink(INK, 1.0));
        self.pixels
            .fill_path(&outline, &paint, FillRule::Winding, place, None);
    }
}

/// The letters of the font, and how wide they are.
struct Letters {
    face: Face<'static>,
    /// Of the font, in the height of a letter.
    units: f32,
}

impl Letters {
    fn new() -> Self {
        let face = Face::parse(LETTERS, 0).expect("the font of this crate");
        let units = face.units_per_em().into();
        Letters { face, units }
    }

    /// Letters with the places of their left ends; those that the font lacks are frames.
    fn set(&self, text: &str) -> (Vec<(GlyphId, f32)>, f32) {
        let mut right = 0.0;
        let place = |letter| {
            let glyph = self.face.glyph_index(letter).unwrap_or(GlyphId(0));
            let left = right;
            right += f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0));
            (glyph, left)
        };
        let placed = text.chars().map(place).collect();
        (placed, right)
    }

    fn width(&self, text: &str, size: f32) -> f32 {
        self.set(text).1 * size / self.units
    }

    /// As much of a text as fits.
    fn cut(&self, text: &str, size: f32, room: f32) -> String {
        let text: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if self.width(&text, size) <= room {
            return text;
        }
        let ends = text
            .char_indices()
            .map(|(end, _)| format!("{}…", &text[..end]));
        let fitting = ends.take_while(|cut| self.width(cut, size) <= room);
        fitting.last().unwrap_or_default()
    }

    fn outline(&self, text: &str) -> Option<Path> {
        let mut outline = Outline {
            path: PathBuilder::new(),
            left: 0.0,
        };
        for (glyph, left) in self.set(text).0 {
            outline.left = left;
            self.face.outline_glyph(glyph, &mut outline);
        }
        outline.path.finish()
    }
}

/// A path that grows letter by letter.
struct Outline {
    path: PathBuilder,
    left: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.left + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.left + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.left + x1, y1, self.left + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let left = self.left;
        self.path
            .cubic_to(left + x1, y1, left + x2, y2, left + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
