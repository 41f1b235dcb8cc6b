//! Messages: sizes, misspelt names, time.

use hone_base::clock::{Work, timed, totals};
use hone_base::error::{beside, human_bytes};
use hone_base::spelling::{edits, hint, plain};

#[test]
fn sizes_are_rounded_up_in_powers_of_1024() {
    let cases = [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1025, "1.1 KiB"),
        (60 << 20, "60 MiB"),
        ((60 << 20) + 1, "60.1 MiB"),
        (8 << 30, "8 GiB"),
        ((1 << 30) - 1, "1 GiB"),
        (3 << 40, "3 TiB"),
    ];
    for (bytes, text) in cases {
        assert_eq!(human_bytes(bytes), text, "{bytes}");
    }
}

#[test]
fn sizes_have_the_units_of_the_limit() {
    let cases = [
        (5_000_000, 5_000_000, "5 MB"),
        (19_712_345, 5_000_000, "19.8 MB"),
        (8_000_000_000, 8_000_000_000, "8 GB"),
        (1 << 30, 5 << 20, "1 GiB"),
        (5 << 20, 5 << 20, "5 MiB"),
        (999_999, 1_000_000, "1 MB"),
    ];
    for (bytes, limit, text) in cases {
        assert_eq!(beside(bytes, limit), text, "{bytes} beside {limit}");
    }
}

#[test]
fn edits_are_counted_up_to_a_third_of_the_name() {
    for (wanted, name, expected) in [
        ("ann", "ann", Some(0)),
        ("ann", "anne", Some(1)),
        ("dmi", "dim", Some(1)),
        ("ab", "xy", None),
        ("a", "b", None),
        ("kitten", "sitting", None),
        ("kittensss", "sittingss", Some(3)),
        ("", "x", None),
    ] {
        assert_eq!(edits(wanted, name), expected, "{wanted} {name}");
    }
}

#[test]
fn names_are_suggested_or_listed() {
    let names = ["svd", "als", "bregman"];
    assert_eq!(hint("SVDs", names), "; did you mean `svd`?");
    assert_eq!(hint("bergman", names), "; did you mean `bregman`?");
    assert_eq!(hint("adam", names), "; use one of svd, als, bregman");
    assert_eq!(hint("adam", []), "");
    assert_eq!(
        hint("hone-x", ["hone", "hone-w", "hone-p", "hone-q"]),
        "; did you mean `hone-w`, `hone-p` or `hone-q`?"
    );
    assert_eq!(
        hint("ax", ["a1", "a2", "a3", "a4"]),
        "; use one of a1, a2, a3, a4"
    );
}

#[test]
fn messages_of_deserialisers_are_plain() {
    for (message, expected) in [
        (
            "unknown field `dimm`, expected `dim` or `solver`",
            "`dimm` is not a setting here; did you mean `dim`?",
        ),
        (
            "unknown field `q`, expected `dim`",
            "`q` is not a setting here; use dim",
        ),
        (
            "unknown field `q`, there are no fields",
            "`q` is not a setting here",
        ),
        (
            "unknown variant `adam`, expected one of `svd`, `als`, `nmf` at line 1 column 9",
            "`adam` is not among its values; use one of svd, als, nmf",
        ),
        (
            "invalid type: string \"x at line y\", expected usize",
            "found string \"x at line y\", expected a whole number",
        ),
    ] {
        assert_eq!(plain(message), expected);
    }
}

#[test]
fn sums_grow_by_what_was_done() {
    let before = totals()[Work::Combine as usize];
    assert_eq!(timed(Work::Combine, 40, || 7), 7);
    timed(Work::Combine, 2, || {
        std::thread::sleep(std::time::Duration::from_millis(2));
    });
    let after = totals()[Work::Combine as usize];
    assert_eq!(
        (after.calls - before.calls, after.bytes - before.bytes),
        (2, 42)
    );
    assert!(after.seconds - before.seconds >= 0.002);
}
