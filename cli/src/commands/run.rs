//! `catapults run`.

use super::compile_any;
use crate::arguments::Run;
use crate::artefact::{self, Accepted, Place};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::whole_text;
use crate::frameworks::{self, Found};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

/// Becomes the program: returns only if that fails.
pub fn run(console: &Console, arguments: &Run) -> Result<(), Failure> {
    let found = frameworks::find(console, &arguments.framework.framework)?;
    if found.framework.run_environment.is_empty() {
        return Err(without_policy(&found.framework.name));
    }
    let sources = [OsStr::new("sched"), OsStr::new("hierarchy")];
    let artefact = if arguments.policy.extension().is_some_and(|ending| sources.contains(&ending)) {
        let accepted = compile_any(console, &arguments.policy, &found.framework)?;
        up_to_date(console, &found, &accepted, &arguments.policy)?
    } else {
        existing(&arguments.policy)?
    };
    let artefact = absolute(&artefact).unwrap_or(artefact);
    let (program, rest) = arguments.program.split_first().ok_or(Failure::Said)?;
    let mut command = Command::new(program);
    command.args(rest);
    for (name, value) in &found.framework.run_environment {
        let folder = found.folder.display().to_string();
        command.env(name, value.replace("{output}", &artefact.display().to_string()).replace("{framework}", &folder));
    }
    let error = command.exec();
    let advice = [
        (io::ErrorKind::NotFound, "check the path; a program of the current directory is written ./NAME"),
        (io::ErrorKind::PermissionDenied, "is it a program? Make it executable: chmod +x"),
    ];
    Err(Failure::of_system("E0510", Path::new(program), "the program cannot be started", &error, &advice))
}

/// Nothing tells the program of the policy: it would run as it does without.
fn without_policy(framework: &str) -> Failure {
    let title = format!("the framework `{framework}` has no `run`");
    let diagnostic = Diagnostic::error("E0514", title, At::default(), "")
        .note("its description does not say how a program is told of a policy: usually policies are compiled into programs")
        .help("use `catapults build`");
    Failure::of("--framework", diagnostic)
}

/// Something that was built before; a missing one is better said here than by the host.
fn existing(policy: &Path) -> Result<PathBuf, Failure> {
    fs::File::open(policy).map_err(|error| super::unreadable(policy, &error))?;
    if policy.is_dir() {
        return Err(super::unreadable(policy, &io::Error::from(io::ErrorKind::IsADirectory)));
    }
    Ok(policy.to_owned())
}

/// The artefact of a policy, made now unless it was made before of the same source by the same command.
pub(super) fn up_to_date(
    console: &Console,
    found: &Found,
    accepted: &Accepted,
    file: &Path,
) -> Result<PathBuf, Failure> {
    let recipe = artefact::recipe(found, None)?;
    let folder = cache().join(fingerprint(&[file, &found.folder]));
    let place = Place { folder: &folder, option: "XDG_CACHE_HOME" };
    let sources = artefact::translate(found, accepted, place)?;
    let output = artefact::output(recipe, accepted, &folder);
    let command = artefact::command(found, accepted, recipe, &sources, &output)?.join("\n");
    let record = folder.join("command");
    let same = fs::read_to_string(&record).is_ok_and(|before| before == command);
    let (framework, shared) = (found.folder.as_path(), found.shared());
    let inputs: Vec<&Path> = sources.iter().map(PathBuf::as_path).chain([framework, &shared]).collect();
    if same && newer(&output, &inputs) {
        return Ok(output);
    }
    let made = artefact::make(console, found, accepted, recipe, &sources, place)?;
    whole_text(place.option, &record, &command)?;
    Ok(made)
}

fn cache() -> PathBuf {
    let given = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    given("XDG_CACHE_HOME")
        .or_else(|| given("HOME").map(|home| home.join(".cache")))
        .map_or_else(|| PathBuf::from("build"), |folder| folder.join("catapults"))
}

/// A name that stands for these paths.
fn fingerprint(paths: &[&Path]) -> String {
    let mut hasher = DefaultHasher::new();
    for path in paths {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Whether a file is newer than every header and source below these.
fn newer(file: &Path, than: &[&Path]) -> bool {
    let Ok(made) = fs::metadata(file).and_then(|metadata| metadata.modified()) else { return false };
    than.iter().all(|path| latest(path).is_some_and(|latest| latest < made))
}

/// When the file, or the latest header below the folder, changed.
fn latest(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    }
    let entries = fs::read_dir(path).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let relevant = entries.filter(|entry| entry.is_dir() || entry.extension() == Some(OsStr::new("h")));
    Some(relevant.filter_map(|entry| latest(&entry)).max().unwrap_or(SystemTime::UNIX_EPOCH))
}
