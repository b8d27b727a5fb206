//! One file per command.

pub mod admit;
pub mod build;
pub mod check;
pub mod completions;
pub mod demo;
pub mod explain;
pub mod explore;
pub mod fmt;
pub mod framework;
pub mod grammar;
pub mod host;
pub mod ir;
pub mod manual;
pub mod new;
pub mod page;
pub mod replace;
pub mod run;
pub mod set;
pub mod sim;
pub mod test;
pub mod top;
pub mod trace;
pub mod unpack;
pub mod wcet;

use crate::artefact::Accepted;
use crate::console::Console;
use crate::failure::{Failure, plain};
use crate::files;
use crate::streams::Stream;
use crate::used::brought;
use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::NotFound;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::{Judged, compile_hierarchy};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The files in their order, each once, however often and by whatever path it is given.
pub fn distinct(files: &[PathBuf]) -> Vec<&Path> {
    let mut seen = HashSet::new();
    let plain = |file: &PathBuf| file.canonicalize().ok().filter(|_| !is_standard_input(file));
    let first = |file: &&PathBuf| seen.insert(plain(file).unwrap_or_else(|| file.to_path_buf()));
    files.iter().filter(first).map(PathBuf::as_path).collect()
}

/// Whether the path is `-`, standard input. A file with this name is `./-`.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The content of standard input, which can be read only once.
static STANDARD_INPUT: OnceLock<Result<Vec<u8>, io::ErrorKind>> = OnceLock::new();

fn standard_input() -> Result<Source, Failure> {
    input_is_open()?;
    let read = STANDARD_INPUT.get_or_init(|| {
        files::is_read(Path::new("/dev/stdin"));
        let mut bytes = Vec::new();
        let most = Source::LONGEST_SCENARIOS as u64 + 1;
        io::stdin().lock().take(most).read_to_end(&mut bytes).map(|_| bytes).map_err(|error| error.kind())
    });
    let name = "<stdin>";
    let bytes = read.clone().map_err(|kind| unreadable(Path::new(name), &kind.into()))?;
    no_binary(Path::new(name), &bytes)?;
    Source::from_bytes(name, bytes)
        .map_err(|refused| Failure::Diagnostics(Box::new((refused.source, refused.diagnostics))))
}

/// Refuses to read from a closed standard input, as by `<&-`.
fn input_is_open() -> Result<(), Failure> {
    if !Stream::Input.is_closed() {
        return Ok(());
    }
    let help = "give the path of a file, or the output of another command: `… | catapults …`";
    Err(Failure::of_file("E0501", Path::new("<stdin>"), "standard input is closed", help))
}

/// The first word of standard input, which says what it contains.
fn first_word() -> String {
    first_of_input(|rest| rest.chars().take_while(char::is_ascii_alphanumeric).collect())
}

/// Whether a file is a workload of rt-app.
pub fn is_of_rtapp(path: &Path) -> bool {
    if is_standard_input(path) {
        first_of_input(|rest| rest.starts_with('{'))
    } else {
        path.extension() == Some(OsStr::new("json"))
    }
}

/// What standard input begins with, after white space and comments.
fn first_of_input<T: Default>(what: impl FnOnce(&str) -> T) -> T {
    let Ok(source) = standard_input() else { return T::default() };
    let mut rest = source.text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let comment = match () {
            () if rest.starts_with("//") => rest.split_once('\n'),
            () if rest.starts_with("/*") => rest.split_once("*/"),
            () => break,
        };
        let Some((_, after)) = comment else { break };
        rest = after.trim_start();
    }
    what(rest)
}

/// The text of a file, which may be anything, with what it uses.
pub fn read_source(path: &Path) -> Result<Source, Failure> {
    read_alone(path).map(|source| brought(source, path))
}

/// The text of a file without what it uses.
pub fn read_alone(path: &Path) -> Result<Source, Failure> {
    if is_standard_input(path) {
        return standard_input();
    }
    // One byte more than is accepted, so that reading an endless file ends.
    let longest = Source::longest(&path.to_string_lossy()) as u64;
    let bytes = read_at_most(path, longest + 1).map_err(|error| unreadable(path, &error))?;
    no_binary(path, &bytes)?;
    Source::from_bytes(path.display().to_string(), bytes)
        .map_err(|refused| Failure::Diagnostics(Box::new((refused.source, refused.diagnostics))))
}

/// Refuses files that are known not to be text.
fn no_binary(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let known: [(&[u8], &str, &str); 3] = [
        (
            b"CATTRACE",
            "this is a recording, not a text",
            "`catapults trace summary` reads it, and `catapults trace to-scenario` makes a scenario of it",
        ),
        (b"\x7fELF", "this is a program or a library, not a text", "give the source from which it was made"),
        (b"\x1f\x8b", "this is compressed by gzip, not a text", "decompress it first: `gunzip`"),
    ];
    match known.into_iter().find(|(start, ..)| bytes.starts_with(start)) {
        Some((_, title, help)) => Err(Failure::of_file("E0103", path, title, help)),
        None => Ok(()),
    }
}

/// Refuses files that are known not to be policies, before they are read as such.
pub fn no_policy(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let (what, help) = match ending {
        _ if is_of_scenarios(path) => ("a file of scenarios", "`catapults sim`, `test` and `check` take those"),
        _ if is_hierarchy(path) => (
            "a hierarchy of policies",
            "`catapults check`, `build`, `run` and `sim` take those; give the policies that it names",
        ),
        _ if is_of_rtapp(path) => ("a workload of rt-app", "`catapults sim --policy FILE.sched` takes it"),
        "framework" => ("a framework description", "`catapults framework check` takes it"),
        _ => return Ok(()),
    };
    Err(Failure::of_file("E0104", path, format!("this is {what}, not a policy"), help))
}

/// Compiles a policy. Its warnings have been shown.
pub fn compile(console: &Console, path: &Path, framework: &Framework) -> Result<Verified<Policy>, Failure> {
    compile_source(console, path, &read_source(path)?, framework)
}

/// Compiles a policy from the text of a file.
pub fn compile_source(
    console: &Console,
    path: &Path,
    source: &Source,
    framework: &Framework,
) -> Result<Verified<Policy>, Failure> {
    no_policy(path)?;
    match catapults_compiler::compile(source, framework) {
        Ok((policy, diagnostics)) => {
            console.diagnostics(source, &diagnostics);
            Ok(policy)
        }
        Err(diagnostics) => {
            console.diagnostics(source, &diagnostics);
            console.summary(&because(path, diagnostics.errors()));
            Err(Failure::Said)
        }
    }
}

fn because(path: &Path, errors: usize) -> String {
    let name = path.display();
    match errors {
        1 => format!("`{name}` is refused because of the error above"),
        errors => format!("`{name}` is refused because of the {errors} errors above"),
    }
}

/// Whether a file contains a hierarchy instead of a policy.
pub fn is_hierarchy(path: &Path) -> bool {
    if is_standard_input(path) {
        first_word() == "hierarchy"
    } else {
        path.extension() == Some(OsStr::new("hierarchy"))
    }
}

/// Whether a file contains scenarios.
pub fn is_of_scenarios(path: &Path) -> bool {
    if is_standard_input(path) { first_word() == "scenario" } else { path.extension() == Some(OsStr::new("scenario")) }
}

/// Compiles a policy or hierarchy. All warnings have been shown, including those of a hierarchy's policies.
pub fn compile_any(console: &Console, path: &Path, framework: &Framework) -> Result<Accepted, Failure> {
    if !is_hierarchy(path) {
        return compile(console, path, framework).map(|policy| Accepted::Policy(Box::new(policy)));
    }
    let Judged { hierarchy, said } = judge(path, &read_source(path)?, framework);
    said.iter().for_each(|(source, diagnostics)| console.diagnostics(source, diagnostics));
    let errors: usize = said.iter().map(|(_, diagnostics)| diagnostics.errors()).sum();
    hierarchy.map(|hierarchy| Accepted::Hierarchy(Box::new(hierarchy))).ok_or_else(|| {
        console.summary(&because(path, errors));
        Failure::Said
    })
}

/// Judges a hierarchy. Its policies are looked for in the file's folder.
pub fn judge(path: &Path, source: &Source, framework: &Framework) -> Judged {
    let folder = path.parent().unwrap_or(Path::new(""));
    compile_hierarchy(source, framework, &mut |policy| {
        let file = folder.join(policy);
        let missing = |why: String| {
            let beside = file.parent().map(|folder| names(folder, policy)).unwrap_or_default();
            Err(NotFound::Missing { why, known: beside })
        };
        match read_at_most(&file, Source::LONGEST as u64 + 1) {
            Ok(bytes) => {
                let read = Source::from_bytes(file.display().to_string(), bytes);
                read.map(|source| brought(source, &file)).map_err(NotFound::Unreadable)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing(format!("there is no {}", file.display())),
            Err(error) => missing(format!("{} cannot be read: {}", file.display(), plain(&error))),
        }
    })
}

/// The policies in a folder, in the form of a missing one: a path from the same start, or a name.
fn names(folder: &Path, like: &str) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let before = like.rfind('/').map_or("", |slash| &like[..=slash]);
    let policies = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let policies = policies.filter(|path| path.extension() == Some(OsStr::new("sched")));
    let mut names = Vec::new();
    for path in policies {
        let (stem, name) = (path.file_stem(), path.file_name());
        names.extend(stem.map(|stem| stem.to_string_lossy().into_owned()));
        names.extend(name.map(|name| format!("{before}{}", name.to_string_lossy())));
    }
    names.sort();
    names
}

pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    files::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::of_system("E0501", path, "the file cannot be read", error, &UNREADABLE)
}

/// Like `unreadable`, for a file that an option names.
fn unreadable_by(option: &str, path: &Path, error: &io::Error) -> Failure {
    let what = format!("`{}` cannot be read", path.display());
    Failure::of_system("E0501", Path::new(option), &what, error, &UNREADABLE)
}

const UNREADABLE: [(io::ErrorKind, &str); 5] = [
    (io::ErrorKind::NotADirectory, "check the path: a file is in it where a folder should be"),
    (io::ErrorKind::InvalidFilename, "check the path: it is too long"),
    (io::ErrorKind::NotFound, "check the path; relative paths start at the current directory"),
    (io::ErrorKind::IsADirectory, "give the file itself"),
    (io::ErrorKind::PermissionDenied, "make it readable: chmod +r"),
];

/// The last line of a command that judges files, if it refused some.
fn refused(console: &Console, errors: usize, refused: usize, files: usize) -> Result<(), Failure> {
    if refused == 0 {
        return Ok(());
    }
    let place = if files == 1 { String::new() } else { format!(" in {refused} of {}", counted(files, "file")) };
    console.summary(&format!("{}{place}", counted(errors, "error")));
    Err(Failure::Said)
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
