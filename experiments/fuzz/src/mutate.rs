//! Mutations of bytes that know a little of what files are made of: numbers in text, little-endian numbers, lines,
//! words of a format, and parts of other files.

/// Random numbers, the same for a seed on every machine (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 when there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 {
            0
        } else {
            (self.next() % end as u64) as usize
        }
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Inputs do not grow beyond this.
pub(crate) const LONGEST: usize = 1 << 16;

/// Numbers that lie at the edges of types and formats.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "15",
    "16",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "1e39",
    "nan",
];

/// The same as bits.
const WORDS: [u64; 16] = [
    0,
    1,
    2,
    4,
    7,
    8,
    16,
    127,
    128,
    255,
    256,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// A few mutations of `input`, one after the other; `other` is an input to take parts of.
pub(crate) fn mutate(input: &[u8], other: &[u8], tokens: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let most = if random.below(4) == 0 { 12 } else { 3 };
    let times = 1 + random.below(most);
    for _ in 0..times {
        once(&mut bytes, other, tokens, random);
        bytes.truncate(LONGEST);
    }
    bytes
}

fn once(bytes: &mut Vec<u8>, other: &[u8], tokens: &[&str], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(14) {
        0 => change(
            bytes,
            at,
            |byte, random| byte ^ 1 << random.below(8),
            random,
        ),
        1 => change(bytes, at, |_, random| random.next() as u8, random),
        2 => change(
            bytes,
            at,
            |byte, random| byte.wrapping_add(random.below(9) as u8).wrapping_sub(4),
            random,
        ),
        3 => bytes.insert(at, random.next() as u8),
        4 => drop(bytes.drain(at..end(at, bytes, random))),
        5 => bytes.truncate(at),
        6 => number(bytes, at, random),
        7 => word(bytes, at, random),
        8 | 9 => {
            let token = random.pick(tokens).as_bytes();
            splice(bytes, at, token, random);
        }
        10 => {
            let part = bytes[at..end(at, bytes, random)].to_vec();
            let most = if random.below(8) == 0 { 400 } else { 3 };
            let times = 1 + random.below(most);
            let room = LONGEST.saturating_sub(bytes.len());
            let more: Vec<u8> = part.repeat(times.min(room / part.len().max(1)));
            bytes.splice(at..at, more);
        }
        11 => {
            let from = random.below(other.len() + 1);
            let part = other[from..end(from, other, random)].to_vec();
            splice(bytes, at, &part, random);
        }
        12 => line(bytes, at, random),
        _ => {
            let part: Vec<u8> = bytes.drain(at..end(at, bytes, random)).collect();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, part);
        }
    }
}

/// Where a stretch that begins at `at` ends: a few bytes on, now and then many.
fn end(at: usize, bytes: &[u8], random: &mut Random) -> usize {
    let longest = if random.below(4) == 0 {
        bytes.len()
    } else {
        16
    };
    (at + 1 + random.below(longest)).min(bytes.len())
}

fn change(bytes: &mut [u8], at: usize, to: impl Fn(u8, &mut Random) -> u8, random: &mut Random) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = to(*byte, random);
    }
}

/// Puts a part in, or over what is there.
fn splice(bytes: &mut Vec<u8>, at: usize, part: &[u8], random: &mut Random) {
    let over = if random.below(2) == 0 { 0 } else { part.len() };
    let end = (at + over).min(bytes.len());
    bytes.splice(at..end, part.iter().copied());
}

/// Replaces the next number in the text.
fn number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(begin) = bytes[at..]
        .iter()
        .position(u8::is_ascii_digit)
        .map(|p| at + p)
    else {
        return;
    };
    let length = bytes[begin..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let other = random.pick(&NUMBERS).bytes().collect::<Vec<_>>();
    bytes.splice(begin..begin + length, other);
}

/// Replaces a little-endian number of 2, 4 or 8 bytes.
fn word(bytes: &mut [u8], at: usize, random: &mut Random) {
    let (value, width) = (WORDS[random.below(WORDS.len())], [2, 4, 8][random.below(3)]);
    let value = if random.below(4) == 0 {
        value.wrapping_sub(random.next() % 4)
    } else {
        value
    };
    for (byte, new) in bytes
        .iter_mut()
        .skip(at)
        .zip(value.to_le_bytes())
        .take(width)
    {
        *byte = new;
    }
}

/// Repeats or removes a line.
fn line(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let begin = bytes[..at]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |p| p + 1);
    let end = bytes[at..]
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(bytes.len(), |p| at + p + 1);
    if random.below(2) == 0 {
        bytes.drain(begin..end);
    } else {
        let line = bytes[begin..end].to_vec();
        bytes.splice(begin..begin, line);
    }
}
