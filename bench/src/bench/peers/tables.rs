//! One row for each program, one column for each operation.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::program::Program;
use super::{COMPILED_IN, Figures};
use crate::statistics::{half_of_middle_half, median};

/// What is shown, and how its columns are headed.
const COLUMNS: [(&str, &str); 12] = [
    ("switch", "switch"),
    ("yield_2", "yield\n2"),
    ("yield_100", "\n100"),
    ("yield_10000", "\n10,000"),
    ("create_join", "create\n+ join"),
    ("mutex", "mutex\nfree"),
    ("condition", "condition\nhand-off"),
    ("lock", "100, one\nlock"),
    ("lock_held", "yielding\nwith it"),
    ("priority", "priority\n10,000"),
    ("memory_10000 resident_bytes", "bytes of\na thread"),
    ("memory_10000 table_bytes", "tables\nof pages"),
];

/// Medians, and half of the width of the middle half of the repeats.
pub fn medians(programs: &[Program], figures: &Figures) -> Table {
    table(programs, |program, figure| {
        let values = figures.get(program)?.get(figure)?;
        Some(format!("{}±{}", short(median(values)), short(half_of_middle_half(values))))
    })
}

/// The medians of others, in multiples of those of ours.
pub fn ratios(programs: &[Program], figures: &Figures) -> Table {
    table(programs, |program, figure| {
        let theirs = median(figures.get(program)?.get(figure)?);
        let ours = if figure == "priority" { super::PRIORITIES } else { COMPILED_IN };
        Some(format!("{:.2}", theirs / median(figures.get(ours)?.get(figure)?)))
    })
}

/// The medians and, in brackets, the ratios, for `bench/README.md`.
pub fn document(programs: &[Program], figures: &Figures) -> String {
    let mut text = String::from("|");
    for title in std::iter::once("").chain(COLUMNS.iter().map(|(_, title)| *title)) {
        let title = if title.starts_with('\n') { format!("yield {}", title.trim()) } else { title.replace('\n', " ") };
        text += &format!(" {title} |");
    }
    text += &format!("\n|---|{}\n", "---:|".repeat(COLUMNS.len()));
    for program in programs {
        text += &format!("| {} |", program.name);
        for (figure, _) in COLUMNS {
            let cell = figures.get(&program.name).and_then(|of| of.get(figure)).map(|values| short(median(values)));
            text += &format!(" {} |", cell.as_deref().unwrap_or("–"));
        }
        text.push('\n');
    }
    text.push('\n');
    if let Some(of) = figures.get(COMPILED_IN)
        && let (Some(bytes), Some(tables), Some(create)) = (
            of.get("memory_1000000 resident_bytes"),
            of.get("memory_1000000 table_bytes"),
            of.get("memory_1000000 create"),
        )
    {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "- 1,000,000 threads of ours: {:.0} bytes each, and {:.0} of tables of pages; creating them took {:.0} ns each.",
            median(bytes),
            median(tables),
            median(create)
        );
    }
    for (name, of) in figures {
        let counted = COLUMNS.iter().filter_map(|(figure, title)| {
            let instructions = median(of.get(&super::instructions_of(figure))?);
            let title = title.replace('\n', " ");
            Some(format!("{} {instructions:.0}", if title.starts_with(' ') { format!("yield{title}") } else { title }))
        });
        let counted: Vec<String> = counted.collect();
        if !counted.is_empty() {
            let _ = writeln!(text, "- Instructions of an operation of {name}: {}.", counted.join("; "));
        }
    }
    let versions = programs.iter().filter(|program| program.version != "here");
    let versions: Vec<String> = versions.map(|program| format!("{} {}", program.name, program.version)).collect();
    let _ = writeln!(text, "- Versions: {}.", versions.join("; "));
    text
}

fn table(programs: &[Program], cell: impl Fn(&str, &str) -> Option<String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(std::iter::once("").chain(COLUMNS.iter().map(|(_, title)| *title)));
    for program in programs {
        let mut row = vec![program.name.clone()];
        row.extend(COLUMNS.iter().map(|(figure, _)| cell(&program.name, figure).unwrap_or_default()));
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((1, 0));
    }
    table
}

/// Three digits or so.
fn short(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
