//! Tables of text.

use std::fmt::Write;

/// Adds rows with the same number of cells. The first column is left-aligned, the others right-aligned.
pub fn table(text: &mut String, rows: &[Vec<String>]) {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(
            |(index, (cell, width))| if index == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") },
        );
        let _ = writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  "));
    }
}
