//! `catapults build`.

use super::compile;
use crate::arguments::Build;
use crate::artefact;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;

pub fn build(console: &Console, arguments: &Build) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let recipe = match arguments.kind.as_deref() {
        Some("source") => None,
        wanted => Some(artefact::recipe(&found, wanted)?),
    };
    let policy = compile(console, &arguments.file, &found.framework)?;
    let source = artefact::translate(&found, &policy, &arguments.output)?;
    let Some(recipe) = recipe else {
        return console.result(&format!("{} (source, for {})\n", source.display(), found.framework.name));
    };
    let made = artefact::make(console, &found, &policy, recipe, &source, &arguments.output)?;
    console.result(&format!("{} ({}, for {})\n", made.display(), recipe.name, found.framework.name))
}
