//! Tables and plots in every format.

use hone_eval::report::{Plot, Report, SEEDS, Style, Table};
use hone_eval::stats::Summary;

fn table() -> Table {
    let mut table = Table::new("AUC", vec!["a".into(), "b|c".into()]);
    let one = |v| Summary::of(&[v]);
    table.rows = vec![
        ("x".into(), vec![one(0.5), one(0.75)]),
        ("longer".into(), vec![Summary::of(&[0.6, 0.8]), None]),
    ];
    table
}

fn csv(table: Table) -> String {
    let report = Report {
        settings: vec![(SEEDS.into(), "1, 2".into())],
        tables: vec![table],
        ..Report::default()
    };
    report.csv()
}

#[test]
fn text_is_aligned_and_marks_the_best() {
    let text = table().text(true);
    assert!(
        text.contains("\x1b[1m0.700 ± 0.141\x1b[0m") && text.contains("\x1b[1m0.750\x1b[0m"),
        "{text}"
    );
    let plain = table().text(false);
    let widths: Vec<usize> = plain.lines().skip(1).map(|l| l.chars().count()).collect();
    assert!(widths.iter().all(|w| *w == widths[0]), "{plain}");
}

#[test]
fn markdown_and_csv() {
    let markdown = table().markdown();
    assert!(
        markdown.contains("| longer | **0.700 ± 0.141** | – |"),
        "{markdown}"
    );
    assert!(markdown.contains("b\\|c"));
    let csv = csv(table());
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.contains("\n\"AUC\",\"x\",\"a\",0.5,0,1,\"\",\"1, 2\"\n"));
}

#[test]
fn choices_are_shown_everywhere() {
    let mut table = table();
    table.chosen = vec![("longer".into(), vec!["q=1|2 (2 of 3), q=4 (1)".into()])];
    assert!(
        table
            .text(false)
            .contains("Chosen by validation for longer: q=1|2 (2 of 3), q=4 (1) on a\n")
    );
    let markdown = table.markdown();
    assert!(markdown.contains(
        "\n\n| chosen by validation | a |\n|---|---|\n| longer | q=1\\|2 (2 of 3), q=4 (1) |"
    ));
    let csv = csv(table);
    assert!(csv.contains("\"longer\",\"a\",0.7") && csv.contains(",\"q=1|2 (2 of 3)"));
}

#[test]
fn a_table_without_rows_is_its_notes() {
    let mut table = Table::new("p", vec!["a".into()]);
    table.notes.push("Not tested.".into());
    assert_eq!(table.text(false), "p\nNot tested.\n");
    assert_eq!(table.markdown(), "**p**\n\nNot tested.\n");
}

#[test]
fn three_digits_are_significant() {
    let mut table = table();
    table.style = Style::Significant;
    for (value, text) in [(0.012345, "0.0123"), (123.456, "123"), (1.5e9, "1.50e9")] {
        assert_eq!(table.show(Summary::of(&[value])), text);
    }
}

#[test]
fn plots_are_well_formed_also_without_points() {
    let lines = vec![
        ("a<b".to_string(), vec![(100.0, 0.1), (1000.0, 1.0)]),
        ("empty".to_string(), vec![]),
    ];
    for (log, lines) in [
        ((true, true), lines.clone()),
        ((false, false), lines),
        ((true, false), vec![]),
    ] {
        let axes = ("nodes".to_string(), "seconds".to_string());
        let svg = Plot {
            title: "t & u".into(),
            axes,
            log,
            ticks: vec![],
            lines,
        }
        .svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"));
        assert!(
            svg.contains("t &amp; u") && !svg.contains("a<b") && !svg.contains("NaN"),
            "{svg}"
        );
    }
}
