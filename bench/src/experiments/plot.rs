//! The plot of an experiment, as SVG.

use std::path::Path;

use anyhow::{Context, Result};
use catapults_simulator::picture::{Chart, Panel};

use super::description::Description;

/// Draws all panels.
pub fn svg(description: &Description, panels: &[Panel]) -> String {
    let Description { title, source, x, y, .. } = description;
    Chart { title, source, x, y, panels }.svg()
}

/// Leaves it there.
///
/// # Errors
///
/// Those of writing the file.
pub fn write(path: &Path, svg: &str) -> Result<()> {
    std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))
}
