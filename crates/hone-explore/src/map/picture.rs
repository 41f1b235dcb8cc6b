//! The points of a map as a picture for papers, with a legend: SVG, or PNG of the same proportions.

use std::fmt::Write;

use hone::{Error, Result};

use super::colour::Colour;
use super::page::escaped;
use super::{Map, glyphs};

/// The same colours as on the page.
const PALETTE: [u32; 12] = [
    0x3b7dd8, 0xe0782f, 0x2f9e6b, 0xc94f7c, 0x8a63d2, 0xb8930f, 0x1fa3b5, 0xd1495b, 0x6d8f2f,
    0xa0623a, 0x5b6fb5, 0xc05fc0,
];
/// Side of the square of points in an SVG, and the margin around it.
const SIDE: f32 = 800.0;
const MARGIN: f32 = 20.0;
/// Width of the legend beside it, and height of its letters.
const LEGEND: f32 = 190.0;
const TEXT: f32 = 10.0;
/// Letters of a line of a legend.
const LETTERS: usize = 22;
/// Lines of a legend.
const LINES: usize = 20;
/// Pixels that one point is sampled at in each direction.
const SAMPLES: usize = 3;

impl Map<'_> {
    /// A picture as SVG, coloured by the first of the colours, else by role.
    pub fn svg(&self) -> Result<String> {
        self.check()?;
        Ok(svg(self))
    }

    /// The same as a PNG image of `width` pixels; its legend shows letters without accents, digits and common signs.
    pub fn png(&self, width: usize) -> Result<Vec<u8>> {
        self.check()?;
        png(self, width)
    }
}

/// What the points are coloured by: names, and one of them per node.
fn groups(map: &Map<'_>) -> (String, Vec<String>, Vec<u16>) {
    let own = map.colours.iter().find_map(|colour| match colour {
        Colour::Categories { name, names, of } => Some((name.clone(), names.clone(), of.clone())),
        Colour::Numbers { .. } => None,
    });
    own.unwrap_or_else(|| {
        let names = map
            .roles
            .roles
            .iter()
            .map(|role| role.name.clone())
            .collect();
        (
            "role".into(),
            names,
            map.roles
                .assignments()
                .iter()
                .map(|&role| role as u16)
                .collect(),
        )
    })
}

fn colour(group: u16) -> u32 {
    PALETTE[group as usize % PALETTE.len()]
}

/// A name that fits beside the picture.
fn shortened(name: &str) -> String {
    match name.chars().count() > LETTERS {
        true => name.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// Radius of a point in a picture of this side.
fn radius(nodes: usize, side: f32) -> f32 {
    (side * 0.4 / (nodes.max(1) as f32).sqrt()).clamp(side / 1200.0, side / 130.0)
}

fn svg(map: &Map<'_>) -> String {
    let (title, names, of) = groups(map);
    let places = map.places();
    let (wide, high) = (SIDE + 2.0 * MARGIN + LEGEND, SIDE + 2.0 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <title>{}</title>\n<rect width=\"{wide}\" height=\"{high}\" fill=\"#fff\"/>\n",
        escaped(&map.title)
    );
    let size = radius(places.len(), SIDE);
    // Writing to a text cannot fail.
    for group in 0..names.len() as u16 {
        let _ = writeln!(
            text,
            "<g fill=\"#{:06x}\" fill-opacity=\".8\">",
            colour(group)
        );
        for (&[x, y], _) in places.iter().zip(&of).filter(|(_, of)| **of == group) {
            let (cx, cy) = (MARGIN + x * SIDE, MARGIN + (1.0 - y) * SIDE);
            let _ = writeln!(
                text,
                "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"{size:.2}\"/>"
            );
        }
        text.push_str("</g>\n");
    }
    let left = SIDE + 2.0 * MARGIN;
    let _ = writeln!(
        text,
        "<text x=\"{left}\" y=\"34\" font-weight=\"bold\">{}</text>",
        escaped(&title)
    );
    for (line, name) in names.iter().take(LINES).enumerate() {
        let y = 58 + 22 * line;
        let _ = writeln!(
            text,
            "<circle cx=\"{}\" cy=\"{}\" r=\"6\" fill=\"#{:06x}\"/>",
            left + 8.0,
            y - 5,
            colour(line as u16)
        );
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{y}\">{}</text>",
            left + 22.0,
            escaped(&shortened(name))
        );
    }
    text.push_str("</svg>\n");
    text
}

fn png(map: &Map<'_>, width: usize) -> Result<Vec<u8>> {
    if !(16..=16_384).contains(&width) {
        return Err(Error::config(
            "width",
            format!("{width} pixels; give a number from 16 to 16384"),
        ));
    }
    let (title, names, of) = groups(map);
    let places = map.places();
    // The same proportions as the SVG.
    let scale = width as f32 / (SIDE + 2.0 * MARGIN + LEGEND);
    let mut picture = Picture::new(width, (scale * (SIDE + 2.0 * MARGIN)).round() as usize);
    let size = radius(places.len(), scale * SIDE);
    for (&[x, y], &group) in places.iter().zip(&of) {
        let at = [MARGIN + x * SIDE, MARGIN + (1.0 - y) * SIDE].map(|c| c * scale);
        picture.disc(at, size, colour(group), 0.8);
    }
    let left = SIDE + 2.0 * MARGIN;
    picture.text([left, 24.0].map(|c| c * scale), scale, &title, 0x000000);
    for (line, name) in names.iter().take(LINES).enumerate() {
        let y = 53.0 + 22.0 * line as f32;
        picture.disc(
            [left + 8.0, y].map(|c| c * scale),
            6.0 * scale,
            colour(line as u16),
            1.0,
        );
        picture.text(
            [left + 22.0, y - 5.0].map(|c| c * scale),
            scale,
            name,
            0x333333,
        );
    }
    Ok(picture.encoded())
}

/// Pixels of three bytes, row by row.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn new(width: usize, height: usize) -> Self {
        Picture {
            width,
            height,
            pixels: vec![255u8; 3 * width * height],
        }
    }

    /// Lays a colour over a pixel, in part.
    fn blend(&mut self, x: usize, y: usize, colour: u32, cover: f32) {
        for (channel, pixel) in self.pixels[3 * (y * self.width + x)..][..3]
            .iter_mut()
            .enumerate()
        {
            let own = (colour >> (16 - 8 * channel) & 255) as f32;
            *pixel = (f32::from(*pixel) + (own - f32::from(*pixel)) * cover).round() as u8;
        }
    }

    /// Draws a disc, its rim smoothed by counting the samples of each pixel inside.
    fn disc(&mut self, [cx, cy]: [f32; 2], radius: f32, colour: u32, opacity: f32) {
        let range = |c: f32, end: usize| {
            (c - radius).floor().max(0.0) as usize
                ..((c + radius).ceil().max(0.0) as usize + 1).min(end)
        };
        let sample = |pixel: usize, s: usize| pixel as f32 + (s as f32 + 0.5) / SAMPLES as f32;
        for y in range(cy, self.height) {
            for x in range(cx, self.width) {
                let inside = (0..SAMPLES * SAMPLES)
                    .filter(|s| {
                        let (dx, dy) = (sample(x, s % SAMPLES) - cx, sample(y, s / SAMPLES) - cy);
                        dx * dx + dy * dy <= radius * radius
                    })
                    .count();
                self.blend(
                    x,
                    y,
                    colour,
                    opacity * inside as f32 / (SAMPLES * SAMPLES) as f32,
                );
            }
        }
    }

    /// Writes a line of text from its upper left corner on, cut at the edge of the picture; nothing where a letter would
    /// have less than a pixel per dot.
    fn text(&mut self, [x, y]: [f32; 2], scale: f32, text: &str, colour: u32) {
        let dot = (scale * TEXT / glyphs::HEIGHT as f32) as usize;
        let (left, top) = (x as usize, y as usize);
        let room = self.width.saturating_sub(left) / (dot * glyphs::ADVANCE).max(1);
        let shown: String = match text.chars().count() {
            length if length > room => text
                .chars()
                .take(room.saturating_sub(2))
                .chain("..".chars())
                .collect(),
            _ => text.to_owned(),
        };
        for (column, row) in glyphs::dots(&shown) {
            let (first, above) = (left + column * dot, top + row * dot);
            for py in above..(above + dot).min(self.height) {
                for px in first..(first + dot).min(self.width) {
                    self.blend(px, py, colour, 1.0);
                }
            }
        }
    }

    /// A PNG of 8-bit colours (ISO/IEC 15948): header, one block of data, end.
    fn encoded(&self) -> Vec<u8> {
        let mut rows = Vec::with_capacity(self.pixels.len() + self.height);
        for row in self.pixels.chunks_exact(3 * self.width) {
            // No filter.
            rows.push(0);
            rows.extend_from_slice(row);
        }
        let [width, height] = [self.width, self.height].map(|side| (side as u32).to_be_bytes());
        let header = [&width[..], &height, &[8, 2, 0, 0, 0]].concat();
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, data) in [
            (b"IHDR", header),
            (b"IDAT", super::pack::compressed(&rows)),
            (b"IEND", Vec::new()),
        ] {
            let mut sum = crc32fast::Hasher::new();
            sum.update(kind);
            sum.update(&data);
            file.extend((data.len() as u32).to_be_bytes());
            file.extend(kind);
            file.extend(&data);
            file.extend(sum.finalize().to_be_bytes());
        }
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_stays_in_the_picture_and_says_what_it_should() {
        let dark = |picture: &Picture| {
            picture
                .pixels
                .chunks_exact(3)
                .filter(|pixel| pixel[0] < 128)
                .count()
        };
        let mut picture = Picture::new(400, 100);
        picture.text([10.0, 10.0], 1.0, "hub", 0);
        // One pixel per dot.
        assert_eq!(dark(&picture), glyphs::dots("hub").count());
        // Cut at the edge, above and below it.
        for (at, text) in [
            ([380.0, 95.0], "a long name that does not fit"),
            ([500.0, 500.0], "outside"),
        ] {
            picture.text(at, 3.0, text, 0);
        }
        picture.disc([399.0, 99.0], 30.0, 0, 1.0);
        let mut tiny = Picture::new(16, 13);
        tiny.text([1.0, 1.0], 0.01, "hub", 0);
        assert_eq!(dark(&tiny), 0);
    }
}
