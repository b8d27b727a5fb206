//! `catapults framework`.

use super::{counted, is_standard_input};
use crate::arguments::CheckFrameworks;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks::{self, Folders, Place};
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::emit::{Refusal, can_have, languages};
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::syntax::Feature;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Judges all descriptions, even after errors.
pub fn check(console: &Console, arguments: &CheckFrameworks) -> Result<(), Failure> {
    let (mut errors, mut warnings, mut refused) = (0, 0, 0);
    for wanted in &arguments.files {
        let located = frameworks::locate(wanted, wanted);
        let judged = located.and_then(|place| Ok((place.read()?, place.path(console)?)));
        let wrong = match judged {
            Err(failure) => {
                console.failure(&failure);
                failure.errors()
            }
            Ok((source, path)) => {
                let diagnostics = match framework::check(&source) {
                    Ok((framework, mut diagnostics)) => {
                        surroundings(console, &framework, &path, &mut diagnostics)?;
                        diagnostics
                    }
                    Err(diagnostics) => diagnostics,
                };
                console.diagnostics(&source, &diagnostics);
                warnings += diagnostics.warnings();
                diagnostics.errors()
            }
        };
        errors += wrong;
        refused += usize::from(wrong > 0);
    }
    let files = arguments.files.len();
    super::refused(console, errors, refused, files)?;
    let also = if warnings > 0 { format!(", {}", counted(warnings, "warning")) } else { String::new() };
    let sound = if files == 1 {
        "1 framework description is".to_owned()
    } else {
        format!("{files} framework descriptions are")
    };
    console.result(&format!("{sound} sound{also}\n"))
}

/// Checks what a description says of its surroundings: its file, header and emitter.
fn surroundings(
    console: &Console,
    framework: &Framework,
    path: &Path,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failure> {
    let (name, places) = (&framework.name, framework.places);
    if !is_standard_input(path) && path.file_stem().is_some_and(|stem| *stem != **name) {
        let title = format!("`{}` describes a framework of another name", path.display());
        let other = Diagnostic::error("E0513", title, places.name, "the compiler does not find it by this name");
        diagnostics.push(other.help(format!("call the file `{name}.framework`, in a folder `{name}`")));
    }
    let known: Vec<&str> = languages().collect();
    if !known.contains(&framework.language.as_str()) {
        let title = format!("no policy can be translated into `{}`", framework.language);
        let unknown = Diagnostic::error("E0505", title, places.language, "no such language");
        diagnostics.push(unknown.help(format!("write one of these: {}", known.join(", "))));
    }
    for feature in Feature::ALL {
        let wanted = framework.dialect.features.contains(&feature);
        if let (true, Err(refusal @ (Refusal::Lacks { .. } | Refusal::Untranslated { .. }))) =
            (wanted, can_have(framework, feature))
        {
            let label = match &refusal {
                Refusal::Lacks { .. } => "one scheduler for all threads",
                Refusal::Untranslated { .. } | Refusal::UnknownLanguage { .. } | Refusal::TooManyContainers { .. } => {
                    "translates less"
                }
            };
            let one = Diagnostic::error("E0505", refusal.to_string(), places.language, label);
            diagnostics.push(one.help(format!("take `{}` out of `dialect`", feature.word())));
        }
    }
    let folders = header_folders(framework, &frameworks::folders_of(console, path)?);
    if !folders.iter().any(|folder| folder.join(&framework.header).is_file()) {
        let title = format!("the header `{}` is not found", framework.header);
        let mut missing = Diagnostic::error("E0513", title, places.header, "generated code includes it");
        for folder in &folders {
            missing = missing.note(format!("looked in {}", folder.display()));
        }
        diagnostics
            .push(missing.help("put it there, or name its folder in the `build` lines: `\"-I{framework}/FOLDER\"`"));
    }
    Ok(())
}

/// The folders in which compilers look for a header: those that builds name, and the description's.
fn header_folders(framework: &Framework, folders: &Folders) -> Vec<PathBuf> {
    let folder = &folders.framework;
    let (shared, beside) = (folders.shared.display().to_string(), folder.display().to_string());
    let arguments = framework.builds.iter().flat_map(|build| &build.command);
    let named = arguments.filter_map(|argument| argument.text.strip_prefix("-I"));
    let named = named.map(|named| PathBuf::from(named.replace("{framework}", &beside).replace("{shared}", &shared)));
    let mut all: Vec<PathBuf> = Vec::new();
    for folder in named.chain([folder.clone(), folder.join("include")]) {
        if !all.contains(&folder) {
            all.push(folder);
        }
    }
    all
}

/// The frameworks that can be used by name.
pub fn list(console: &Console) -> Result<(), Failure> {
    let all = frameworks::all();
    let widest = all.keys().map(String::len).max().unwrap_or_default();
    for (name, place) in all {
        let said = place.read().ok().and_then(|source| framework::read(&source).ok());
        let features = said.iter().flat_map(|framework| &framework.dialect.features);
        let features: Vec<&str> = features.map(|feature| feature.word()).collect();
        if console.is_json() {
            let (language, int) = said.as_ref().map(|said| (said.language.clone(), said.int_bits)).unzip();
            let file = match &place {
                Place::File(path) => Some(path.display().to_string()),
                Place::Embedded(_) => None,
            };
            console.record(&json!({
                "type": "framework", "name": name, "file": file, "language": language, "int": int, "features": features,
            }));
            continue;
        }
        let what = match &said {
            Some(said) => format!("{}, int {}, {}", said.language, said.int_bits, features.join(" ")),
            None => "cannot be used: see `catapults framework check`".to_owned(),
        };
        let place = match &place {
            Place::File(path) => path.display().to_string(),
            Place::Embedded(_) => "in this command".to_owned(),
        };
        console.result(&format!("{name:widest$}  {what}\n{:widest$}  {place}\n", ""))?;
    }
    Ok(())
}
