//! `catapults build`.

use super::compile_any;
use crate::arguments::Build;
use crate::artefact::{self, Place};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::folder_ready;
use crate::frameworks;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;

pub fn build(console: &Console, arguments: &Build) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let of_a_file = ["so", "o", "a", "c", "h"];
    let ending = arguments.output.extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| of_a_file.contains(&ending)) && !arguments.output.is_dir() {
        let title = "--output is a folder, but this looks like a file";
        let help = "name the folder for the files, which have the policy's name";
        let diagnostic = Diagnostic::error("E0503", title, At::default(), "").help(help);
        return Err(Failure::of_usage(&arguments.output.display().to_string(), diagnostic));
    }
    folder_ready("--output", &arguments.output)?;
    let recipe = match arguments.kind.as_deref() {
        Some("source") => None,
        wanted => Some(artefact::recipe(&found, wanted)?),
    };
    let accepted = compile_any(console, &arguments.file, &found.framework)?;
    let place = Place { folder: &arguments.output, option: "--output", force: arguments.force };
    // What is beside a source that we made was made from it.
    if let Some(recipe) = recipe {
        artefact::may_replace(&found, &accepted, recipe, place)?;
    }
    let translation = artefact::translate(&found, &accepted, place)?;
    let Some(recipe) = recipe else {
        let said =
            translation.written().map(|file| format!("{} (source, for {})\n", file.display(), found.framework.name));
        return console.result(&said.collect::<String>());
    };
    let made = artefact::make(console, &found, &accepted, recipe, &translation, place)?;
    console.result(&format!("{} ({}, for {})\n", made.display(), recipe.name, found.framework.name))
}
