//! `catapults fmt`.

use super::{counted, distinct, is_standard_input, read_alone, unreadable};
use crate::arguments::Fmt;
use crate::console::Console;
use crate::failure::Failure;
use crate::files;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::format::{Unformatted, format};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use serde_json::json;
use similar::TextDiff;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The endings of files that are formatted in folders.
const ENDINGS: [&str; 5] = ["sched", "family", "hierarchy", "scenario", "framework"];

/// Formats all files, even after errors.
pub fn fmt(console: &Console, arguments: &Fmt) -> Result<(), Failure> {
    if arguments.files == [Path::new("-")] {
        return standard_input(console, arguments.check);
    }
    if arguments.files.iter().any(|file| is_standard_input(file)) {
        let title = "standard input is not formatted together with files";
        let diagnostic = Diagnostic::error("E0511", title, At::default(), "");
        return Err(Failure::of_usage("-", diagnostic.help("give `-` alone, or ./- for a file of this name")));
    }
    let (mut errors, mut changed, mut whole) = (0, 0, 0);
    let mut fail = |failure: &Failure| {
        errors += failure.errors();
        console.failure(failure);
    };
    for given in distinct(&arguments.files) {
        let files = match gather(given) {
            Ok(files) => files,
            Err(failure) => {
                fail(&failure);
                continue;
            }
        };
        for file in files {
            match one(console, &file, arguments.check) {
                Ok(true) => changed += 1,
                Ok(false) => whole += 1,
                Err(failure) if failure.ends_all() => return Err(failure),
                Err(failure) => fail(&failure),
            }
        }
    }
    if errors > 0 {
        console.summary(&counted(errors, "error"));
    }
    if arguments.check && changed > 0 {
        let are = if changed == 1 { "is" } else { "are" };
        console.summary(&format!("{} {are} not formatted; `catapults fmt` does it", counted(changed, "file")));
    }
    if errors > 0 || (arguments.check && changed > 0) {
        return Err(Failure::Said);
    }
    let are = if changed + whole == 1 { "is" } else { "are" };
    console.result(&match changed {
        0 => format!("{} {are} formatted\n", counted(whole, "file")),
        _ => format!("{} formatted, {whole} left as before\n", counted(changed, "file")),
    })
}

/// Formats standard input to standard output, or shows only the difference.
fn standard_input(console: &Console, check: bool) -> Result<(), Failure> {
    let source = read_alone(Path::new("-"))?;
    let formatted = formatted(console, &source)?;
    if !check {
        return console.data(&formatted);
    }
    if formatted == source.text {
        return Ok(());
    }
    show(console, &source, &formatted)?;
    console.summary("standard input is not formatted");
    Err(Failure::Said)
}

/// Formats a file, or shows what would change. Whether it was not formatted.
fn one(console: &Console, file: &Path, check: bool) -> Result<bool, Failure> {
    let source = read_alone(file)?;
    let formatted = formatted(console, &source)?;
    if formatted == source.text {
        return Ok(false);
    }
    if check {
        show(console, &source, &formatted)?;
    } else {
        replace(file, &formatted)?;
        console.result(&format!("{}: formatted\n", file.display()))?;
    }
    Ok(true)
}

fn formatted(console: &Console, source: &Source) -> Result<String, Failure> {
    format(source).map_err(|why| match why {
        Unformatted::Refused(diagnostics) => Failure::Diagnostics(Box::new((source.clone(), diagnostics))),
        Unformatted::Mistake => {
            console.summary(&format!(
                "`{}` was not formatted, because that would change what it says: a mistake of the formatter; please report it",
                source.name
            ));
            Failure::Said
        }
    })
}

/// Shows the difference like `diff -u`.
fn show(console: &Console, before: &Source, after: &str) -> Result<(), Failure> {
    let diff = TextDiff::from_lines(before.text.as_str(), after);
    let name = &before.name;
    let shown = diff.unified_diff().context_radius(3).header(name, &format!("{name} (formatted)")).to_string();
    if console.is_json() {
        console.record(&json!({ "type": "unformatted", "file": name, "difference": shown }));
        return Ok(());
    }
    console.result(&shown)
}

/// The file, or all policies, families, hierarchies, scenarios and descriptions in and below the folder.
fn gather(given: &Path) -> Result<Vec<PathBuf>, Failure> {
    let metadata = fs::metadata(given).map_err(|error| unreadable(given, &error))?;
    if metadata.is_dir() {
        let mut files = Vec::new();
        collect(given, &mut files).map_err(|error| unreadable(given, &error))?;
        files.sort();
        return if files.is_empty() {
            let help = "give the folder that the policies are in, or a file";
            Err(Failure::of_file(
                "E0511",
                given,
                "there is no `.sched`, `.family`, `.hierarchy`, `.scenario` or `.framework` file in this folder",
                help,
            ))
        } else {
            Ok(files)
        };
    }
    if !metadata.is_file() {
        let help = "`catapults fmt -` formats standard input";
        return Err(Failure::of_file("E0511", given, "only regular files are formatted", help));
    }
    Ok(vec![given.to_owned()])
}

/// Does not follow links to folders, nor enter hidden folders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if !entry.file_name().to_string_lossy().starts_with('.') {
                collect(&path, files)?;
            }
        } else if ENDINGS.iter().any(|ending| path.extension() == Some(OsStr::new(ending))) && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Replaces the text of a file, as a whole or not at all.
fn replace(file: &Path, text: &str) -> Result<(), Failure> {
    let unwritable = |error: &io::Error| unwritable(file, error);
    files::replace(file, &unwritable, |out| {
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        // There may be no other copy of it.
        written.and_then(|()| out.get_ref().sync_all()).map_err(|error| unwritable(&error))
    })
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    let advice = [
        (io::ErrorKind::PermissionDenied, "make the file and its folder writable: chmod +w"),
        (io::ErrorKind::ReadOnlyFilesystem, "copy it elsewhere, or use `catapults fmt -`"),
        (io::ErrorKind::StorageFull, "make room on the disk"),
    ];
    Failure::of_system("E0503", file, "it cannot be written", error, &advice)
}
