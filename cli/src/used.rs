//! The files whose functions a policy uses: beside the file that uses them, or in the library.

use crate::commands::{is_standard_input, read_at_most};
use crate::failure::plain;
use crate::library::FUNCTIONS;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::{self, NotUsed, Wanted};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The ending of families of nodes.
const FAMILY: &str = "family";

/// What stands before the path of a file of the library, which is in the program.
const LIBRARY: &str = "<library>/";

/// Brings the used files into the text of a file. What is not found is reported when the text is compiled.
pub fn brought(source: Source, path: &Path) -> Source {
    let (own, own_folder) = (source.name.clone(), folder(path));
    syntax::bring(source, &mut |wanted: Wanted<'_>| {
        if let Some(user) = wanted.user.strip_prefix(LIBRARY) {
            let beside = Path::new(user).with_file_name(wanted.path);
            return of_library(&beside.to_string_lossy()).or_else(|| of_library(wanted.path)).ok_or_else(unheard_of);
        }
        let folder = if wanted.user == own { own_folder.clone() } else { folder(Path::new(wanted.user)) };
        find(&folder, wanted.path)
    })
}

/// Whether a file that was brought is in the program, by its name.
pub fn is_of_library(name: &str) -> bool {
    name.starts_with(LIBRARY)
}

/// A policy of the library, with what it uses.
pub fn of_policy(name: &str, text: &str) -> Source {
    let source = Source::new(format!("{LIBRARY}{name}.sched"), text);
    brought(source, Path::new(""))
}

/// Where the files are that a file uses. Standard input is where the command is.
fn folder(path: &Path) -> PathBuf {
    let folder = if is_standard_input(path) { None } else { path.parent() };
    folder.unwrap_or(Path::new("")).to_path_buf()
}

fn find(folder: &Path, path: &str) -> Result<Source, NotUsed> {
    let file = folder.join(path);
    if file.is_dir() {
        return Err(NotUsed::Refused("it is a folder".to_owned()));
    }
    match read_at_most(&file, Source::LONGEST as u64 + 1) {
        Ok(bytes) => Source::from_bytes(file.display().to_string(), bytes).map_err(NotUsed::Unreadable),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            of_library(path).ok_or_else(|| NotUsed::Missing {
                looked: vec![format!("`{}`", file.display()), format!("`{path}` in the library of policies")],
                known: known(folder, path),
            })
        }
        Err(error) => Err(NotUsed::Refused(plain(&error))),
    }
}

fn of_library(path: &str) -> Option<Source> {
    let (_, text) = FUNCTIONS.iter().find(|(known, _)| *known == path)?;
    Some(Source::new(format!("{LIBRARY}{path}"), *text))
}

/// What a file of the library uses is there, too.
fn unheard_of() -> NotUsed {
    NotUsed::Missing { looked: vec!["it in the library of policies".to_owned()], known: Vec::new() }
}

/// The paths that could have been meant: of the library, and of the files beside the one that is missing.
fn known(folder: &Path, path: &str) -> Vec<String> {
    // The library has no families.
    let family = Path::new(path).extension() == Some(OsStr::new(FAMILY));
    let library = FUNCTIONS.iter().filter(|_| !family);
    let mut known: Vec<String> = library.map(|(path, _)| (*path).to_owned()).collect();
    let before = Path::new(path).parent().unwrap_or(Path::new(""));
    let beside = folder.join(before);
    let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { &beside };
    for entry in fs::read_dir(beside).into_iter().flatten().flatten() {
        let file = entry.path();
        let ends = |end: &str| file.extension() == Some(OsStr::new(end));
        let is_one = if family { ends(FAMILY) } else { ends("sched") && is_of_functions(&file) };
        if let (true, Some(name)) = (is_one, file.file_name()) {
            known.push(before.join(name).to_string_lossy().into_owned());
        }
    }
    known.sort();
    known.dedup();
    known
}

fn is_of_functions(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    syntax::is_of_functions(&Source::new("", text))
}
