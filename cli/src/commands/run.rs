//! `catapults run`.

use super::host::{self, Filling};
use super::{compile_any, is_standard_input};
use crate::arguments::Run;
use crate::artefact::{self, Accepted, Place};
use crate::beneath;
use crate::cache;
use crate::console::Console;
use crate::described;
use crate::failure::Failure;
use crate::files::whole_text;
use crate::frameworks::{self, Found};
use crate::program;
use crate::streams;
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::ffi::{OsStr, OsString};
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

/// Becomes the program. Returns only if that fails.
pub fn run(console: &Console, arguments: &Run) -> Result<(), Failure> {
    if is_standard_input(&arguments.policy) {
        let title = "the policy cannot come from standard input, which the program reads";
        let diagnostic = Diagnostic::error("E0501", title, At::default(), "").help("write it to a file, and give that");
        return Err(Failure::of_usage("-", diagnostic));
    }
    let found = frameworks::find(console, &arguments.framework.framework)?;
    let running = &found.framework.running;
    if !running.is_described() {
        return Err(without_policy(&found.framework.name));
    }
    let description = arguments.description.as_deref().map(|path| described::read(console, path)).transpose()?;
    let mut imports = None;
    let sources = [OsStr::new("sched"), OsStr::new("hierarchy")];
    let artefact = if arguments.policy.extension().is_some_and(|ending| sources.contains(&ending)) {
        let accepted = compile_any(console, &arguments.policy, &found.framework)?;
        imports = Some(names_of_imports(&accepted));
        up_to_date(console, &found, &accepted, &arguments.policy)?
    } else {
        existing(&arguments.policy)?
    };
    let artefact = absolute(&artefact).unwrap_or(artefact);
    let (program, rest) = arguments.program.split_first().ok_or(Failure::Said)?;
    let mut environment = &running.environment;
    if running.by.is_empty() && !program::may_have(program, rest, &running.marks) {
        if running.others.is_empty() || program::starts_others(program) {
            warn(console, program, &arguments.policy, &found.framework.name);
        } else {
            environment = &running.others;
        }
    }
    if let Some(path) = arguments.description.as_deref().filter(|_| !environment.iter().any(is_for_descriptions)) {
        let title =
            format!("`{}` is not for this program, which tells the policy its variables itself", path.display());
        let help = "leave the option out: a program that contains the host registers its variables";
        return Err(Failure::of_usage("--program", Diagnostic::error("E0528", title, At::default(), "").help(help)));
    }
    let filling = Filling { console, found: &found, output: Some(&artefact) };
    let mut command = match running.by.as_slice() {
        [] => Command::new(program),
        by => {
            let mut command = filling.command(by)?;
            command.arg(program);
            command
        }
    };
    command.args(rest);
    for (name, value) in environment {
        let mut value = filling.filled(value)?;
        if name == "LD_PRELOAD" {
            host::is_built(Path::new(&value))?;
        }
        if value.contains("{sites}") {
            value = value.replace("{sites}", &beneath::sites_for(program, description.as_ref(), imports.as_ref())?);
        }
        command.env(name, with_what_was_there(name, value));
    }
    streams::as_they_were();
    let error = command.exec();
    let advice = [
        (io::ErrorKind::NotFound, "check the path; a program of the current directory is written ./NAME"),
        (io::ErrorKind::PermissionDenied, "is it a program? Make it executable: chmod +x"),
    ];
    if !running.by.is_empty() {
        return Err(host::not_started(&command, "`run by`", &error));
    }
    let program = command.get_program();
    Err(Failure::of_system("E0510", Path::new(program), "the program cannot be started", &error, &advice))
}

/// The variable by which a program that does not know of the host is told.
fn is_for_descriptions((_, value): &(String, String)) -> bool {
    value.contains("{sites}")
}

fn names_of_imports(accepted: &Accepted) -> BTreeSet<String> {
    let policies = accepted.policies();
    let of_threads = policies.iter().flat_map(|policy| policy.thread_imports.iter().map(|import| &import.name));
    of_threads
        .chain(policies.iter().flat_map(|policy| policy.imports.iter().map(|import| &import.name)))
        .cloned()
        .collect()
}

/// Lists of the environment keep what they had: it may be needed all the same.
fn with_what_was_there(name: &str, value: String) -> OsString {
    let mut whole = OsString::from(value);
    if let Some(before) = env::var_os(name).filter(|before| LISTS.contains(&name) && !before.is_empty()) {
        whole.push(":");
        whole.push(before);
    }
    whole
}

const LISTS: [&str; 3] = ["LD_PRELOAD", "GLIBC_TUNABLES", "PYTHONPATH"];

/// Warns, but runs it: it may start another program that has what it lacks. Of shells and the like this is expected.
fn warn(console: &Console, program: &OsStr, policy: &Path, framework: &str) {
    let starts_others = program::starts_others(program);
    let program = program.display().to_string();
    let title = format!("`{program}` itself does not contain the host `{framework}`");
    let diagnostic = match starts_others {
        true => Diagnostic::remark(title, At::default(), ""),
        false => Diagnostic::warning("E0523", title, At::default(), "")
            .help("run a program that is linked with the host's library, or that starts such programs"),
    };
    let policy = policy.display();
    let diagnostic = diagnostic.note("nor does a library that it is linked with").note(format!(
        "only programs that it starts, and that are linked with the host's library, could be scheduled by {policy}"
    ));
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    console.diagnostics(&Source::new(program.as_str(), ""), &diagnostics);
}

/// Nothing would tell the program of the policy: it would run without one.
fn without_policy(framework: &str) -> Failure {
    let title = format!("the framework `{framework}` has no `run`");
    let diagnostic = Diagnostic::error("E0514", title, At::default(), "")
        .note("its description does not say how a program is told of a policy: usually policies are compiled into programs")
        .help("use `catapults build`");
    Failure::of_usage("--framework", diagnostic)
}

/// An artefact that was built before. Its absence is reported here more clearly than by the host.
pub(super) fn existing(policy: &Path) -> Result<PathBuf, Failure> {
    let unreadable = |error: io::Error| super::unreadable(policy, &error);
    if policy.is_dir() {
        return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let mut start = Vec::new();
    fs::File::open(policy).and_then(|file| file.take(4).read_to_end(&mut start)).map_err(unreadable)?;
    // A host loads an object file.
    if start != *b"\x7fELF" {
        let title = "this is no policy that can be run";
        let help = "give a .sched or .hierarchy file, or the .so that `catapults build` makes of one";
        return Err(Failure::of_file("E0104", policy, title, help));
    }
    Ok(policy.to_owned())
}

/// The artefact of a policy. It is made now, unless the same command made it before from the same source.
pub(super) fn up_to_date(
    console: &Console,
    found: &Found,
    accepted: &Accepted,
    file: &Path,
) -> Result<PathBuf, Failure> {
    let recipe = artefact::recipe(found, None)?;
    let folders = found.folders(console)?;
    let folder = cache::folder(console)?.join(fingerprint(&[file, &folders.framework]));
    let place = Place { folder: &folder, option: cache::OPTION, force: true };
    let translation = artefact::translate(found, accepted, place)?;
    let output = artefact::output(recipe, accepted, &folder);
    let command = artefact::command(found, &folders, accepted, recipe, &translation, &output)?.join("\n");
    let record = folder.join("command");
    let same = fs::read_to_string(&record).is_ok_and(|before| before == command);
    let inputs: Vec<&Path> = translation.written().chain([folders.framework.as_path(), &folders.shared]).collect();
    if same && newer(&output, &inputs) {
        return Ok(output);
    }
    let made = artefact::make(console, found, accepted, recipe, &translation, place)?;
    whole_text(place.option, &record, &command)?;
    Ok(made)
}

/// A name for these paths.
fn fingerprint(paths: &[&Path]) -> String {
    let mut hasher = DefaultHasher::new();
    for path in paths {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Whether a file is newer than all headers and sources below these paths.
fn newer(file: &Path, than: &[&Path]) -> bool {
    let Ok(made) = fs::metadata(file).and_then(|metadata| metadata.modified()) else { return false };
    than.iter().all(|path| latest(path).is_some_and(|latest| latest < made))
}

/// When the file, or the newest header below the folder, was changed.
fn latest(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    }
    let entries = fs::read_dir(path).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let relevant = entries.filter(|entry| entry.is_dir() || entry.extension() == Some(OsStr::new("h")));
    Some(relevant.filter_map(|entry| latest(&entry)).max().unwrap_or(SystemTime::UNIX_EPOCH))
}
