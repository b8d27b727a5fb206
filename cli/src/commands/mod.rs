//! One file per command.

pub mod build;
pub mod check;
pub mod completions;
pub mod explain;
pub mod explore;
pub mod fmt;
pub mod framework;
pub mod grammar;
pub mod ir;
pub mod run;
pub mod trace;

use crate::console::Console;
use crate::failure::Failure;
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The files in their order, each once however often and by whatever path it is given.
pub fn distinct(files: &[PathBuf]) -> Vec<&Path> {
    let mut seen = HashSet::new();
    let first = |file: &&PathBuf| seen.insert(file.canonicalize().unwrap_or_else(|_| file.to_path_buf()));
    files.iter().filter(first).map(PathBuf::as_path).collect()
}

/// The text of a file, which may be anything.
pub fn read_source(path: &Path) -> Result<Source, Failure> {
    // One byte more than is accepted, so that an endless file ends.
    let bytes = read_at_most(path, Source::LONGEST as u64 + 1).map_err(|error| unreadable(path, &error))?;
    Source::from_bytes(path.display().to_string(), bytes)
        .map_err(|refused| Failure::Diagnostics(Box::new((refused.source, refused.diagnostics))))
}

/// The policy in a file. Its warnings have been shown.
pub fn compile(console: &Console, path: &Path, framework: &Framework) -> Result<Verified<Policy>, Failure> {
    compile_source(console, path, &read_source(path)?, framework)
}

/// The policy in the text of a file.
pub fn compile_source(
    console: &Console,
    path: &Path,
    source: &Source,
    framework: &Framework,
) -> Result<Verified<Policy>, Failure> {
    match catapults_compiler::compile(source, framework) {
        Ok((policy, diagnostics)) => {
            console.diagnostics(source, &diagnostics);
            Ok(policy)
        }
        Err(diagnostics) => {
            console.diagnostics(source, &diagnostics);
            let name = path.display();
            console.summary(&match diagnostics.errors() {
                1 => format!("`{name}` is refused because of the error above"),
                errors => format!("`{name}` is refused because of the {errors} errors above"),
            });
            Err(Failure::Said)
        }
    }
}

fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let advice = [
        (io::ErrorKind::NotFound, "check the path; relative paths start at the current directory"),
        (io::ErrorKind::IsADirectory, "give the file itself"),
        (io::ErrorKind::PermissionDenied, "make it readable: chmod +r"),
    ];
    Failure::of_system("E0501", path, "the file cannot be read", error, &advice)
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
