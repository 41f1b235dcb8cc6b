//! Text of others on a terminal.

use std::borrow::Cow;
use std::io::Write;

use hone_base::terminal::{Results, json, line, shown};

/// Every character that is a control character or a mark of direction, by the tables of Unicode.
fn hostile() -> String {
    let marks = [0x61c, 0x200e, 0x200f, 0x2028, 0x2029];
    let codes = (0..0x20).chain(0x7f..0xa0).chain(marks);
    let codes = codes.chain(0x202a..=0x202e).chain(0x2066..=0x2069);
    codes.filter_map(char::from_u32).collect()
}

#[test]
fn what_acts_is_escaped_and_what_is_shown_stays() {
    let hostile = hostile();
    let acts = |c: char| hostile.contains(c);
    let text = shown(&hostile);
    assert!(text.chars().all(|c| !acts(c) || matches!(c, '\n' | '\t')));
    assert_eq!(text.matches('\\').count(), hostile.chars().count() - 2);
    assert!(!line(&hostile).contains(acts));
    for plain in [
        "",
        "plain",
        "ünïcode ☃ 木 \u{200d}",
        "a\\b \"c\" 'd'",
        "e\u{301}",
    ] {
        assert!(matches!(shown(plain), Cow::Borrowed(same) if same == plain));
        assert!(matches!(line(plain), Cow::Borrowed(same) if same == plain));
    }
    assert_eq!(line("a\nb\tc"), "a\\nb\\tc");
    assert_eq!(
        json("[\n\t\"\u{7f}\u{9b}\u{202e}é\"]"),
        "[\n\t\"\\u007f\\u009b\\u202eé\"]"
    );
}

/// The bytes that arrive of a text written in pieces.
fn written(terminal: bool, pieces: &[&[u8]]) -> Vec<u8> {
    let mut results = Results::shown_on(Vec::new(), terminal);
    for piece in pieces {
        results.write_all(piece).expect("in memory");
    }
    results.into_inner()
}

#[test]
fn results_on_a_terminal_are_escaped_wherever_the_pieces_end() {
    let text = format!("id\tü{}☃\n\u{202e}\n", hostile());
    for length in 1..7 {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
        assert_eq!(written(true, &pieces), shown(&text).as_bytes());
        assert_eq!(written(false, &pieces), text.as_bytes());
    }
    let binary = written(true, &[b"\x93NUMPY\x1b[31m\n"]);
    assert_eq!(binary, "\u{fffd}NUMPY\\u{1b}[31m\n".as_bytes());
}
