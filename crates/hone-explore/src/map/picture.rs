//! The points of a map as a picture for papers, with a legend: SVG, or PNG of the same proportions.

use hone::{Error, Result};

use super::Map;
use super::colour::Colour;
use super::page::{compressed, escaped};

/// The same colours as on the page.
const PALETTE: [u32; 12] = [
    0x3b7dd8, 0xe0782f, 0x2f9e6b, 0xc94f7c, 0x8a63d2, 0xb8930f, 0x1fa3b5, 0xd1495b, 0x6d8f2f,
    0xa0623a, 0x5b6fb5, 0xc05fc0,
];
/// Side of the square of points in an SVG, and the margin around it.
const SIDE: f32 = 800.0;
const MARGIN: f32 = 20.0;
/// Width of the legend beside it, where it begins, and height of its letters.
const LEGEND: f32 = 190.0;
const LEFT: f32 = SIDE + 2.0 * MARGIN;
const TEXT: f32 = 10.0;
/// Letters of a line of a legend, and its lines.
const LETTERS: usize = 22;
const LINES: usize = 20;
/// Samples of a pixel in each direction.
const SAMPLES: usize = 3;

/// Letters of a PNG as dots, seven lines of five below what they stand for: a font would be the largest part of the program.
/// The first stands for all others.
const FONT: &str = include_str!("letters.txt");
const HEIGHT: usize = 7;
/// Dots from the left edge of a letter to that of the next.
const ADVANCE: usize = 6;

/// What the points are coloured by: a title, names, and one of the names per node.
type Legend<'a> = (&'a str, Vec<&'a str>, Vec<u16>);

fn colour(group: usize) -> u32 {
    PALETTE[group % PALETTE.len()]
}

/// Radius of a point in a picture of this side.
fn radius(nodes: usize, side: f32) -> f32 {
    (side * 0.4 / (nodes.max(1) as f32).sqrt()).clamp(side / 1200.0, side / 130.0)
}

impl Map<'_> {
    /// The first of the colours that are categories, else roles.
    fn legend(&self) -> Legend<'_> {
        let own = self.colours.iter().find_map(|colour| match colour {
            Colour::Categories { name, names, of } => Some((
                &**name,
                names.iter().map(|name| &**name).collect(),
                of.clone(),
            )),
            Colour::Numbers { .. } => None,
        });
        own.unwrap_or_else(|| {
            let names = self.roles.roles.iter().map(|role| &*role.name);
            let of = self.roles.assignments().into_iter().map(|role| role as u16);
            ("role", names.collect(), of.collect())
        })
    }

    /// A picture as SVG, coloured by the first of the colours, else by role.
    pub fn svg(&self) -> Result<String> {
        self.check()?;
        let ((title, names, of), places) = (self.legend(), self.places());
        let (wide, high) = (LEFT + LEGEND, SIDE + 2.0 * MARGIN);
        let mut lines = vec![
            format!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="14">"#
            ),
            format!("<title>{}</title>", escaped(&self.title)),
            format!(r##"<rect width="{wide}" height="{high}" fill="#fff"/>"##),
        ];
        let size = radius(places.len(), SIDE);
        for group in 0..names.len() {
            lines.push(format!(
                r##"<g fill="#{:06x}" fill-opacity=".8">"##,
                colour(group)
            ));
            for (&[x, y], _) in places
                .iter()
                .zip(&of)
                .filter(|(_, of)| usize::from(**of) == group)
            {
                let (cx, cy) = (MARGIN + x * SIDE, MARGIN + (1.0 - y) * SIDE);
                lines.push(format!(
                    r#"<circle cx="{cx:.1}" cy="{cy:.1}" r="{size:.2}"/>"#
                ));
            }
            lines.push("</g>".into());
        }
        let title = escaped(title);
        lines.push(format!(
            r#"<text x="{LEFT}" y="34" font-weight="bold">{title}</text>"#
        ));
        for (at, name) in names.iter().take(LINES).enumerate() {
            let name: String = match name.chars().count() > LETTERS {
                true => name.chars().take(LETTERS - 1).chain(['…']).collect(),
                false => name.to_string(),
            };
            let (x, y, fill) = (LEFT + 8.0, 58 + 22 * at, colour(at));
            let (dot, left, name) = (y - 5, LEFT + 22.0, escaped(&name));
            lines.push(format!(
                r##"<circle cx="{x}" cy="{dot}" r="6" fill="#{fill:06x}"/>"##
            ));
            lines.push(format!(r#"<text x="{left}" y="{y}">{name}</text>"#));
        }
        lines.push("</svg>\n".into());
        Ok(lines.join("\n"))
    }

    /// The same as a PNG image of `width` pixels; its legend shows letters without accents, digits and common signs.
    pub fn png(&self, width: usize) -> Result<Vec<u8>> {
        self.check()?;
        if !(16..=16_384).contains(&width) {
            let message = format!("{width} pixels; give a number from 16 to 16384");
            return Err(Error::config("width", message));
        }
        let ((title, names, of), places) = (self.legend(), self.places());
        let scale = width as f32 / (LEFT + LEGEND);
        let at = |x: f32, y: f32| [x * scale, y * scale];
        let mut picture = Picture::new(width, (scale * (SIDE + 2.0 * MARGIN)).round() as usize);
        let size = radius(places.len(), scale * SIDE);
        for (&[x, y], &group) in places.iter().zip(&of) {
            let at = at(MARGIN + x * SIDE, MARGIN + (1.0 - y) * SIDE);
            picture.disc(at, size, colour(group.into()), 0.8);
        }
        picture.text(at(LEFT, 24.0), scale, title, 0x000000);
        for (line, name) in names.iter().take(LINES).enumerate() {
            let y = 53.0 + 22.0 * line as f32;
            picture.disc(at(LEFT + 8.0, y), 6.0 * scale, colour(line), 1.0);
            picture.text(at(LEFT + 22.0, y - 5.0), scale, name, 0x333333);
        }
        Ok(picture.encoded())
    }
}

/// Pixels of three bytes, row by row.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn new(width: usize, height: usize) -> Self {
        let pixels = vec![255u8; 3 * width * height];
        Picture {
            width,
            height,
            pixels,
        }
    }

    /// Lays a colour over a pixel, in part.
    fn blend(&mut self, x: usize, y: usize, colour: u32, cover: f32) {
        let pixel = &mut self.pixels[3 * (y * self.width + x)..][..3];
        for (channel, value) in pixel.iter_mut().enumerate() {
            let own = (colour >> (16 - 8 * channel) & 255) as f32;
            *value = (f32::from(*value) + (own - f32::from(*value)) * cover).round() as u8;
        }
    }

    /// Draws a disc, its rim smoothed by counting the samples of each pixel inside.
    fn disc(&mut self, [cx, cy]: [f32; 2], radius: f32, colour: u32, opacity: f32) {
        let range = |c: f32, end: usize| {
            let (low, high) = ((c - radius).floor().max(0.0), (c + radius).ceil().max(0.0));
            low as usize..(high as usize + 1).min(end)
        };
        let sample = |pixel: usize, s: usize| pixel as f32 + (s as f32 + 0.5) / SAMPLES as f32;
        for y in range(cy, self.height) {
            for x in range(cx, self.width) {
                let is_inside = |s: &usize| {
                    let (dx, dy) = (sample(x, s % SAMPLES) - cx, sample(y, s / SAMPLES) - cy);
                    dx * dx + dy * dy <= radius * radius
                };
                let inside = (0..SAMPLES * SAMPLES).filter(is_inside).count();
                let cover = opacity * inside as f32 / (SAMPLES * SAMPLES) as f32;
                self.blend(x, y, colour, cover);
            }
        }
    }

    /// Writes a line of text from its upper left corner on, cut at the edge of the picture; nothing where a letter would
    /// have less than a pixel per dot.
    fn text(&mut self, [x, y]: [f32; 2], scale: f32, text: &str, colour: u32) {
        let dot = (scale * TEXT / HEIGHT as f32) as usize;
        let (left, top) = (x as usize, y as usize);
        let fitting = self.width.saturating_sub(left) / (dot * ADVANCE).max(1);
        let cut = fitting.saturating_sub(2);
        let shown: String = match text.chars().count() {
            length if length > fitting => text.chars().take(cut).chain("..".chars()).collect(),
            _ => text.to_owned(),
        };
        for (column, row) in dots(&shown) {
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
        let blocks = [
            (b"IHDR", header),
            (b"IDAT", compressed(&rows)),
            (b"IEND", Vec::new()),
        ];
        for (kind, data) in blocks {
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

/// The dots of a text, each by column and row.
fn dots(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = FONT.lines().collect();
    let letters = || lines.chunks_exact(1 + HEIGHT);
    let mut dots = Vec::new();
    for (at, letter) in text.chars().enumerate() {
        let own = letters().find(|rows| rows[0].contains(letter));
        let rows = own.unwrap_or(&lines[..1 + HEIGHT]);
        for (y, row) in rows[1..].iter().enumerate() {
            let dark = row.bytes().enumerate().filter(|(_, dot)| *dot == b'#');
            dots.extend(dark.map(|(x, _)| (at * ADVANCE + x, y)));
        }
    }
    dots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_apart_and_within_their_lines() {
        let corner = (0..6).map(|y| (0, y)).chain((0..5).map(|x| (x, 6)));
        assert_eq!(dots("L"), corner.collect::<Vec<_>>());
        assert_eq!(dots("Köln"), dots("Koln"));
        assert_ne!(dots("core"), dots("CORE"));
        assert_eq!(dots(" L")[0], (ADVANCE, 0));
        assert_eq!(dots("\u{5d0}"), dots("\u{4e2d}"), "frames");
        let lines: Vec<&str> = FONT.lines().collect();
        let letters: Vec<&[&str]> = lines
            .chunks(1 + HEIGHT)
            .map(|letter| &letter[1..])
            .collect();
        for (at, letter) in letters.iter().enumerate() {
            let is_row = |row: &&str| row.len() == 5 && row.bytes().all(|dot| b".#".contains(&dot));
            assert!(
                letter.len() == HEIGHT && letter.iter().all(is_row),
                "{letter:?}"
            );
            assert!(!letters[..at].contains(letter), "{letter:?}");
        }
    }

    #[test]
    fn a_legend_stays_in_the_picture_and_says_what_it_should() {
        let dark = |picture: &Picture| {
            let pixels = picture.pixels.chunks_exact(3);
            pixels.filter(|pixel| pixel[0] < 128).count()
        };
        let mut picture = Picture::new(400, 100);
        picture.text([10.0, 10.0], 1.0, "hub", 0);
        // One pixel per dot.
        assert_eq!(dark(&picture), dots("hub").len());
        // Cut at the edge, above and below it.
        picture.text([380.0, 95.0], 3.0, "a long name that does not fit", 0);
        picture.text([500.0, 500.0], 3.0, "outside", 0);
        picture.disc([399.0, 99.0], 30.0, 0, 1.0);
        let mut tiny = Picture::new(16, 13);
        tiny.text([1.0, 1.0], 0.01, "hub", 0);
        assert_eq!(dark(&tiny), 0);
    }
}
