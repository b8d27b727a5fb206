//! Finds framework descriptions: in files, or in this command.

use crate::commands::{is_standard_input, read_source};
use crate::console::Console;
use crate::embedded;
use crate::failure::Failure;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A framework description, and where it is.
pub struct Found {
    pub framework: Framework,
    pub place: Place,
}

/// Where a framework description is.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    File(PathBuf),
    /// In this command, by its name.
    Embedded(String),
}

impl Place {
    /// The text of the description.
    pub fn read(&self) -> Result<Source, Failure> {
        match self {
            Place::File(path) => read_source(path),
            Place::Embedded(name) => {
                let path = embedded::description_path(name).display().to_string();
                Ok(Source::new(path, embedded::description(name).unwrap_or_default()))
            }
        }
    }

    /// The path of the description. What is in this command is written out for that.
    pub fn path(&self, console: &Console) -> Result<PathBuf, Failure> {
        match self {
            Place::File(path) => Ok(path.clone()),
            Place::Embedded(name) => Ok(embedded::folder(console)?.join(embedded::description_path(name))),
        }
    }
}

/// The folders that the commands of a framework description name.
pub struct Folders {
    /// `{framework}`: that of the description.
    pub framework: PathBuf,
    /// `{shared}`: what frameworks share.
    pub shared: PathBuf,
}

impl Found {
    /// The folders that its commands name. What is in this command is written out for that.
    pub fn folders(&self, console: &Console) -> Result<Folders, Failure> {
        folders_of(console, &self.place.path(console)?)
    }
}

/// The folders that the commands of the description in this file name. `shared` is the one beside the description's folder.
/// For a description that is elsewhere, it is the first one in the folders where frameworks are looked for.
pub fn folders_of(console: &Console, description: &Path) -> Result<Folders, Failure> {
    let framework = folder_of(description);
    let beside = framework.with_file_name("shared");
    let elsewhere = || folders().into_iter().map(|folder| folder.join("shared"));
    let is_it = |folder: &PathBuf| folder.join("catapults").is_dir();
    let shared = match std::iter::once(beside).chain(elsewhere()).find(is_it) {
        Some(shared) => shared,
        None => embedded::folder(console)?.join("frameworks/shared"),
    };
    Ok(Folders { framework, shared })
}

/// Where a framework description is: what is named, if it looks like a path; otherwise, that of this name.
/// `by`: what names it.
pub fn locate(wanted: &str, by: &str) -> Result<Place, Failure> {
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
    if is_path { Ok(Place::File(PathBuf::from(wanted))) } else { search(wanted, by) }
}

/// The absolute folder of a description.
fn folder_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    parent.canonicalize().unwrap_or_else(|_| parent.to_owned())
}

/// All descriptions that can be used by name, in the order of the names.
pub fn all() -> BTreeMap<String, Place> {
    let in_folder = |folder: PathBuf| {
        let names = names(&folder).into_iter();
        names.filter_map(move |name| {
            let path = candidates(&folder, &name).into_iter().find(|path| path.is_file())?;
            Some((name, Place::File(path)))
        })
    };
    let embedded = embedded::frameworks().into_iter().map(|name| (name.clone(), Place::Embedded(name)));
    let mut all = BTreeMap::new();
    let found = folders().into_iter().flat_map(in_folder).chain(embedded);
    for (name, place) in found.chain(folders_here().into_iter().flat_map(in_folder)) {
        all.entry(name).or_insert(place);
    }
    all
}

/// Reads the framework description that `--framework` names.
pub fn find(console: &Console, wanted: &str) -> Result<Found, Failure> {
    if is_standard_input(Path::new(wanted)) {
        let title = "a framework is a name or a file, but `-` is standard input";
        let diagnostic = Diagnostic::error("E0502", title, At::default(), "").help(PATH_OR_NAME);
        return Err(Failure::of_usage("--framework", diagnostic));
    }
    let place = locate(wanted, "--framework")?;
    let source = place.read()?;
    let framework = framework::read(&source).map_err(|diagnostics| {
        console.diagnostics(&source, &diagnostics);
        console.summary(&format!("the framework description `{}` cannot be used", source.name));
        Failure::Said
    })?;
    Ok(Found { framework, place })
}

fn search(name: &str, by: &str) -> Result<Place, Failure> {
    all().remove(name).ok_or_else(|| missing(name, by))
}

fn candidates(folder: &Path, name: &str) -> [PathBuf; 2] {
    let file = format!("{name}.framework");
    [folder.join(name).join(&file), folder.join(file)]
}

fn missing(wanted: &str, by: &str) -> Failure {
    let title = format!("there is no framework `{wanted}`");
    let mut diagnostic = Diagnostic::error("E0502", title, At::default(), "");
    for folder in existing([folders(), folders_here()].concat()) {
        diagnostic = diagnostic.note(format!("looked in {}", folder.display()));
    }
    let names: BTreeSet<String> = all().into_keys().collect();
    if let Some(meant) = nearest(wanted, &names) {
        diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
    }
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Failure::of_usage(by, diagnostic.help(format!("there is {names}; or give the path of a .framework file")))
}

const PATH_OR_NAME: &str = "`catapults framework list` has the names; or give the path of a .framework file";

/// The name of which this is most likely a misspelling.
pub fn nearest<'a>(wanted: &str, names: &'a BTreeSet<String>) -> Option<&'a String> {
    let allowed = (wanted.chars().count() / 3).min(3);
    let steps = |name: &String| strsim::damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase());
    let near = names.iter().map(|name| (steps(name), name)).filter(|(steps, _)| *steps <= allowed);
    near.min().map(|(_, name)| name)
}

/// The existing folders of frameworks that are named, and that belong to the program, in a clone or installed. What is in this
/// command comes after them.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(list) = env::var_os("CATAPULTS_FRAMEWORKS") {
        folders.extend(env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()));
    }
    if let Ok(program) = env::current_exe().and_then(|path| path.canonicalize()) {
        folders.extend(program.ancestors().map(|folder| folder.join("frameworks")));
        folders.extend(program.ancestors().nth(2).map(|prefix| prefix.join("share/catapults/frameworks")));
    }
    existing(folders)
}

/// Those that belong to the current directory. They come last: whoever could write to a folder above it could otherwise say what
/// builds execute.
fn folders_here() -> Vec<PathBuf> {
    let here = env::current_dir().unwrap_or_default();
    existing(here.ancestors().map(|folder| folder.join("frameworks")).collect())
}

fn existing(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
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
