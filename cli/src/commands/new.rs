//! `catapults new`.

mod scenario;

use super::{compile_source, is_standard_input, read_source};
use crate::arguments::New;
use crate::artefact::quoted;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::all_new;
use crate::frameworks;
use crate::library::{self, Entry};
use crate::next;
use crate::used::{brought, is_of_library, of_policy};
use catapults_compiler::diagnostics::{Diagnostic, Diagnostics, Severity};
use catapults_compiler::framework::Framework;
use catapults_compiler::scenario::is_reserved;
use catapults_compiler::source::Source;
use catapults_compiler::syntax;
use catapults_compiler::vocabulary::At;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A policy and a scenario in which `NAME` stands for the name. Handlers and lines about events that a host lacks are
/// left out.
const START: (&str, &str) = (include_str!("new/start.sched"), include_str!("new/start.scenario"));

pub fn new(console: &Console, arguments: &New) -> Result<(), Failure> {
    let name = name(&arguments.name)?;
    is_free(&arguments.name, name)?;
    let framework = frameworks::find(console, &arguments.framework.framework)?.framework;
    let begun = match &arguments.like {
        None => {
            let scenario = Some(START.1.replace("NAME", name));
            Begun { text: of_framework(START.0, &framework), scenario, used: Vec::new() }
        }
        Some(like) => Begun::like(console, like, &framework)?,
    };
    // What is written is what has been compiled, and simulated.
    let policy = begun.named(name, &framework);
    // The name has no ending that this would replace.
    let [policy_file, scenario_file] = ["sched", "scenario"].map(|ending| arguments.name.with_extension(ending));
    // What it uses is not beside it yet.
    let beside = arguments.like.as_deref().filter(|_| !begun.used.is_empty()).unwrap_or(&policy_file);
    let source = brought(Source::new(policy_file.display().to_string(), policy.as_str()), beside);
    let (verified, _) = catapults_compiler::compile(&source, &framework).map_err(|errors| {
        console.diagnostics(&source, &errors);
        Failure::Said
    })?;
    let scenario = scenario::of(console, begun.scenario.as_deref(), &verified, &framework)?;
    let used = begun.used_beside(&policy_file)?;
    let mut files = vec![(&*policy_file, &*policy), (&*scenario_file, &*scenario)];
    files.extend(used.iter().map(|(path, text)| (path.as_path(), *text)));
    all_new(&files, &unmade, || {
        let framework = arguments.framework.framework.as_str();
        let copied = used.iter().map(|(path, _)| format!("{}: functions that it uses\n", path.display()));
        let (policy, scenario) = (policy_file.display().to_string(), scenario_file.display().to_string());
        console.result(&made(&policy, &scenario, &copied.collect::<String>(), framework))
    })
}

/// What was made, and what to do with it. `copied`: lines about what came with the policy.
fn made(policy: &str, scenario: &str, copied: &str, framework: &str) -> String {
    let option: &[&str] = if framework == "native" { &[] } else { &["--framework", framework] };
    let next = [["check", policy], ["sim", scenario], ["test", scenario]].map(|command| [&command, option].concat());
    format!(
        "{policy}: a policy to start from\n{scenario}: what threads do under it, and what is expected\n{copied}\n\
         Next: is it safe to run, what does it do, and is that as expected?\n\n{}",
        next::lines(&next)
    )
}

/// What the new policy begins with.
struct Begun {
    text: String,
    /// Scenarios that may be for it.
    scenario: Option<String>,
    /// Files whose functions it uses, and that are not in the library: their paths below its folder, and their texts.
    used: Vec<(PathBuf, String)>,
}

impl Begun {
    /// Begins with a policy of the library, or of a file.
    fn like(console: &Console, like: &Path, framework: &Framework) -> Result<Self, Failure> {
        let is_file = is_standard_input(like) || like.components().count() > 1 || like.extension().is_some();
        if !is_file {
            let entry = library::find(&like.to_string_lossy(), "--like")?;
            is_for(entry, framework)?;
            // How long it is in another language is said of the library's own.
            let lines = entry.policy.split_inclusive('\n').filter(|line| !line.starts_with("// Bossa:"));
            let scenario = entry.scenario.map(str::to_owned);
            return Ok(Begun { text: lines.collect(), scenario, used: Vec::new() });
        }
        // What there is to say of it points to the file as it is.
        let source = read_source(like)?;
        compile_source(console, like, &source, framework)?;
        let beside = Some(like.with_extension("scenario")).filter(|path| path.is_file());
        let scenario = beside.and_then(|path| read_source(&path).ok()).map(|source| source.text);
        let used = local(&source, like);
        Ok(Begun { text: source.text, scenario, used })
    }

    /// The files that it uses and that are not there yet, for the folder of the new policy.
    fn used_beside(&self, policy: &Path) -> Result<Vec<(PathBuf, &str)>, Failure> {
        let folder = policy.parent().unwrap_or(Path::new(""));
        let mut wanted = Vec::new();
        for (below, text) in &self.used {
            let file = folder.join(below);
            match fs::read(&file) {
                Ok(there) if there == text.as_bytes() => continue,
                Ok(_) => return Err(other(&file)),
                Err(_) => wanted.push((file, text.as_str())),
            }
        }
        for folder in wanted.iter().filter_map(|(file, _)| file.parent()).filter(|path| !path.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|error| unmade(folder, &error))?;
        }
        Ok(wanted)
    }

    /// The policy under another name: that of its scheduler, and in the first line of its comment.
    fn named(&self, name: &str, framework: &Framework) -> String {
        let source = Source::new("", self.text.as_str());
        let before = syntax::parse(&source, &framework.dialect, &mut Diagnostics::new()).name;
        let (start, end) = (before.at.start as usize, before.at.end as usize);
        let renamed = format!("{}{name}{}", &source.text[..start], &source.text[end..]);
        match renamed.strip_prefix(&format!("// {}: ", before.text)) {
            Some(rest) => format!("// {name}: {rest}"),
            None => renamed,
        }
    }
}

/// What a policy uses of files below its own folder.
fn local(source: &Source, policy: &Path) -> Vec<(PathBuf, String)> {
    let folder = if is_standard_input(policy) { None } else { policy.parent() };
    let below = |name: &str| Path::new(name).strip_prefix(folder.unwrap_or(Path::new(""))).ok().map(Path::to_path_buf);
    let known = source.used().filter(|file| !is_of_library(file.name));
    known.filter_map(|file| Some((below(file.name)?, file.text.to_owned()))).collect()
}

/// The library is for hosts that have what it uses.
fn is_for(entry: &Entry, framework: &Framework) -> Result<(), Failure> {
    let source = of_policy(entry.name, entry.policy);
    let Err(errors) = catapults_compiler::compile(&source, framework) else { return Ok(()) };
    let title = format!("the policy `{}` is not for the framework `{}`", entry.name, framework.name);
    let mut diagnostic = Diagnostic::error("E0525", title, At::default(), "");
    if let Some(first) = errors.in_order().into_iter().find(|one| one.severity == Severity::Error) {
        diagnostic = diagnostic.note(first.title.clone());
    }
    Err(Failure::of_usage("--like", diagnostic.help("begin with another one, such as `fifo`")))
}

/// The start without what this host does not raise.
fn of_framework(start: &str, framework: &Framework) -> String {
    let raises = |event: &str| match event.strip_suffix('*') {
        Some(group) => framework.events.iter().any(|known| known.name.starts_with(group)),
        None => framework.events.iter().any(|known| known.name == event),
    };
    let is_raised = |line: &str, before: &str| {
        let event = line.strip_prefix(before).and_then(|event| event.split_once('(')).map(|(event, _)| event);
        event.is_none_or(raises)
    };
    let is_wanted = |paragraph: &&str| paragraph.lines().all(|line| is_raised(line, "  event "));
    let of_paragraph = |paragraph: &str| {
        let lines = paragraph.split_inclusive('\n').filter(|line| is_raised(line, "  //   "));
        lines.collect::<String>()
    };
    start.split("\n\n").filter(is_wanted).map(of_paragraph).collect::<Vec<_>>().join("\n\n")
}

/// The name in a path, which is that of the scheduler, too.
fn name(path: &Path) -> Result<&str, Failure> {
    let wrong = |title: String, help: String| {
        Err(Failure::of_usage("NAME", Diagnostic::error("E0524", title, At::default(), "").help(help)))
    };
    if is_standard_input(path) {
        return wrong("`-` is standard input, not a name".to_owned(), GIVE_ONE.to_owned());
    }
    let shown = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    match path.file_name().and_then(|name| name.to_str()).filter(|name| is_identifier(name)) {
        Some(name) if is_reserved(name) => {
            wrong(format!("`{name}` is a word of the language, not a name"), format!("give another one: `my_{name}`"))
        }
        Some(name) => Ok(name),
        None if is_file_of_name(path) => {
            let help = format!("leave the ending out: `{}`", path.with_extension("").display());
            wrong(format!("`{shown}` is a file, not a name"), help)
        }
        None => wrong(format!("`{shown}` cannot be the name of a policy"), GIVE_ONE.to_owned()),
    }
}

/// Whether one of the files is named in place of what they have in common.
fn is_file_of_name(path: &Path) -> bool {
    let is_name = path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_identifier);
    is_name && path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

const GIVE_ONE: &str =
    "a name begins with a letter, and goes on with letters, digits and `_`: `catapults new my_policy`";

fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// A scenario is for the hierarchy of its name, if there is one.
const ENDINGS: [&str; 3] = ["sched", "scenario", "hierarchy"];

/// Nothing of this name is there, and a folder for it is.
fn is_free(path: &Path, name: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        let title = format!("there is no folder `{}`", folder.display());
        let make = quoted(&["mkdir", "-p", &folder.to_string_lossy()].map(str::to_owned));
        return Err(Failure::of_file("E0503", path, title, format!("make it first: `{make}`")));
    }
    let files = ENDINGS.map(|ending| path.with_extension(ending));
    match files.iter().find(|file| fs::symlink_metadata(file).is_ok()) {
        Some(there) => Err(exists(there, name)),
        None => Ok(()),
    }
}

fn exists(file: &Path, name: &str) -> Failure {
    let help = format!("nothing was written: give another name, such as `{name}_2`, or move what is there");
    Failure::of_file("E0520", file, "a file of this name exists already", help)
}

/// A file that the new policy would use instead of the one that it is to use.
fn other(file: &Path) -> Failure {
    let help = "nothing was written: choose another folder, `catapults new FOLDER/NAME`, or move what is there";
    Failure::of_file("E0520", file, "a file of this name exists already, and the new policy would use it", help)
}

/// Why a new file could not be made. One that came in the meantime is no other case than one that was there.
fn unmade(file: &Path, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return exists(file, &file.file_stem().unwrap_or_default().to_string_lossy());
    }
    let elsewhere =
        "nothing was written: choose another folder, `catapults new FOLDER/NAME`, or make this one writable";
    let advice = [
        (io::ErrorKind::NotFound, elsewhere),
        (io::ErrorKind::PermissionDenied, elsewhere),
        (io::ErrorKind::ReadOnlyFilesystem, elsewhere),
        (io::ErrorKind::NotADirectory, "a file stands where a folder should be: choose another folder"),
        (io::ErrorKind::InvalidFilename, "give a shorter name"),
    ];
    Failure::of_system("E0503", file, "it cannot be written", error, &advice)
}
