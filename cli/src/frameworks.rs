//! Finds framework descriptions.

use crate::commands::{is_standard_input, read_source};
use crate::console::Console;
use crate::failure::Failure;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::vocabulary::At;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A framework description, and where it is.
pub struct Found {
    pub framework: Framework,
    /// The folder of the description: `{framework}` in its commands.
    pub folder: PathBuf,
}

impl Found {
    /// What frameworks share, `{shared}` in their commands: the folder `shared` beside the description's. For a
    /// description that is elsewhere, it is the first one in the folders where frameworks are looked for.
    pub fn shared(&self) -> PathBuf {
        shared(&self.folder)
    }
}

/// The folder `shared` of a description in this folder.
pub fn shared(folder: &Path) -> PathBuf {
    let beside = folder.with_file_name("shared");
    let elsewhere = || folders().into_iter().map(|folder| folder.join("shared"));
    let is_it = |folder: &PathBuf| folder.join("catapults").is_dir();
    std::iter::once(beside.clone()).chain(elsewhere()).find(is_it).unwrap_or(beside)
}

/// The path of a framework description: what is named, if it looks like a path; otherwise, that of this name.
/// `by`: what names it.
pub fn locate(wanted: &str, by: &str) -> Result<PathBuf, Failure> {
    let (known, ending) = match Path::new(wanted).extension().and_then(OsStr::to_str) {
        Some("sched") => ("a policy", "check"),
        Some("hierarchy") => ("a hierarchy of policies", "check"),
        Some("scenario") => ("a file of scenarios", "check"),
        Some("trace") => ("a recording", "trace summary"),
        Some(_) | None => ("", ""),
    };
    if !known.is_empty() {
        let title = format!("`{wanted}` is {known}, not a framework description");
        let help = format!(
            "`catapults {ending}` is for those; descriptions end in .framework, and `catapults framework list` has some"
        );
        return Err(Failure::of_usage(by, Diagnostic::error("E0502", title, At::default(), "").help(help)));
    }
    let is_path = wanted.contains('/') || wanted.ends_with(".framework") || is_standard_input(Path::new(wanted));
    if is_path { Ok(PathBuf::from(wanted)) } else { search(wanted, by) }
}

/// The absolute folder of a description.
pub fn folder_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    parent.canonicalize().unwrap_or_else(|_| parent.to_owned())
}

/// All descriptions that can be used by name, in the order of the names. There is at least one.
pub fn all() -> Result<BTreeMap<String, PathBuf>, Failure> {
    let mut all = BTreeMap::new();
    let folders = folders();
    for folder in &folders {
        for name in names(folder) {
            let found = candidates(folder, &name).into_iter().find(|path| path.is_file());
            if let Some(path) = found {
                all.entry(name).or_insert(path);
            }
        }
    }
    if all.is_empty() {
        let diagnostic =
            Diagnostic::error("E0502", "there is no framework that can be used by name", At::default(), "");
        return Err(Failure::of("framework list", looked_in(diagnostic, &folders).help(NO_NAMES)));
    }
    Ok(all)
}

/// Reads the framework description that `--framework` names.
pub fn find(console: &Console, wanted: &str) -> Result<Found, Failure> {
    if is_standard_input(Path::new(wanted)) {
        let title = "a framework is a name or a file, but `-` is standard input";
        let diagnostic = Diagnostic::error("E0502", title, At::default(), "").help(PATH_OR_NAME);
        return Err(Failure::of_usage("--framework", diagnostic));
    }
    let path = locate(wanted, "--framework")?;
    let source = read_source(&path)?;
    let framework = framework::read(&source).map_err(|diagnostics| {
        console.diagnostics(&source, &diagnostics);
        console.summary(&format!("the framework description `{}` cannot be used", path.display()));
        Failure::Said
    })?;
    Ok(Found { framework, folder: folder_of(&path) })
}

fn search(name: &str, by: &str) -> Result<PathBuf, Failure> {
    let folders = folders();
    let mut candidates = folders.iter().flat_map(|folder| candidates(folder, name));
    candidates.find(|path| path.is_file()).ok_or_else(|| missing(name, by, &folders))
}

fn candidates(folder: &Path, name: &str) -> [PathBuf; 2] {
    let file = format!("{name}.framework");
    [folder.join(name).join(&file), folder.join(file)]
}

fn missing(wanted: &str, by: &str, folders: &[PathBuf]) -> Failure {
    let title = format!("there is no framework `{wanted}`");
    let mut diagnostic = looked_in(Diagnostic::error("E0502", title, At::default(), ""), folders);
    let names: BTreeSet<String> = folders.iter().flat_map(|folder| names(folder)).collect();
    if let Some(meant) = nearest(wanted, &names) {
        diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
    }
    diagnostic = if names.is_empty() {
        diagnostic.help(NO_NAMES)
    } else {
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        diagnostic.help(format!("there is {names}; or give the path of a .framework file"))
    };
    Failure::of_usage(by, diagnostic)
}

const PATH_OR_NAME: &str = "`catapults framework list` has the names; or give the path of a .framework file";

const NO_NAMES: &str =
    "set CATAPULTS_FRAMEWORKS to the folder of the frameworks, or give the path of a .framework file";

fn looked_in(diagnostic: Diagnostic, folders: &[PathBuf]) -> Diagnostic {
    folders.iter().fold(diagnostic, |diagnostic, folder| diagnostic.note(format!("looked in {}", folder.display())))
}

/// The name of which this is most likely a misspelling.
pub fn nearest<'a>(wanted: &str, names: &'a BTreeSet<String>) -> Option<&'a String> {
    let allowed = (wanted.chars().count() / 3).min(3);
    let steps = |name: &String| strsim::damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase());
    let near = names.iter().map(|name| (steps(name), name)).filter(|(steps, _)| *steps <= allowed);
    near.min().map(|(_, name)| name)
}

/// The existing folders in which frameworks may be, in the order of the search.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(list) = env::var_os("CATAPULTS_FRAMEWORKS") {
        folders.extend(env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()));
    }
    let program = env::current_exe().and_then(|path| path.canonicalize()).ok();
    let here = env::current_dir().ok();
    for start in [&program, &here].into_iter().flatten() {
        folders.extend(start.ancestors().map(|ancestor| ancestor.join("frameworks")));
    }
    if let Some(prefix) = program.as_deref().and_then(Path::parent).and_then(Path::parent) {
        folders.push(prefix.join("share/catapults/frameworks"));
    }
    let mut seen = BTreeSet::new();
    folders.retain(|folder| folder.is_dir() && seen.insert(folder.clone()));
    folders
}

/// The names of the frameworks in a folder.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let name = |path: PathBuf| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let described =
            path.extension() == Some(OsStr::new("framework")) || path.join(format!("{stem}.framework")).is_file();
        described.then_some(stem)
    };
    entries.filter_map(|entry| name(entry.ok()?.path())).collect()
}
