//! `catapults HOST …`: the command of a host, such as `catapults linux status`.

use super::run::up_to_date;
use super::{compile_any, is_standard_input};
use crate::built;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks::{self, Found};
use crate::streams;
use catapults_compiler::framework;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

/// Becomes the command of the host that the first word names. Policies among the words are built first, and what is made of them is
/// in their place. Returns only if that fails.
pub fn host(console: &Console, words: &[OsString]) -> Result<(), Failure> {
    let (name, words) = words.split_first().ok_or(Failure::Said)?;
    let found = frameworks::find(console, &name.to_string_lossy())?;
    let mut command = Filling { console, found: &found, output: None }.command(&found.framework.running.command)?;
    // What follows `--` is a program's.
    let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
    for word in &words[..own] {
        match is_policy(word) {
            true => command.arg(artefact(console, &found, Path::new(word))?),
            false => command.arg(word),
        };
    }
    command.args(&words[own..]);
    streams::as_they_were();
    let error = command.exec();
    Err(not_started(&command, "`command`", &error))
}

/// Whether this is the name of a host that has a command. A description that cannot be read is told when it is used.
pub fn is_host(name: &OsStr) -> bool {
    let Some(place) = name.to_str().and_then(|name| frameworks::all().remove(name)) else { return false };
    let host = place.read().ok().and_then(|source| framework::read(&source).ok());
    host.is_none_or(|host| !host.running.command.is_empty())
}

/// What stands for something in a line of a framework description.
pub(super) struct Filling<'a> {
    pub console: &'a Console,
    pub found: &'a Found,
    /// `{output}`
    pub output: Option<&'a Path>,
}

impl Filling<'_> {
    /// The text with what its words stand for. What is in this command is written out, or built, for that.
    pub fn filled(&self, text: &str) -> Result<String, Failure> {
        let mut text = text.to_owned();
        if let Some(output) = self.output {
            text = text.replace("{output}", &output.display().to_string());
        }
        if text.contains("{framework}") {
            let folder = self.found.folders(self.console)?.framework;
            text = text.replace("{framework}", &folder.display().to_string());
        }
        if text.contains("{built}") {
            text = text.replace("{built}", &built::built(self.console, self.found)?.display().to_string());
        }
        Ok(text)
    }

    /// A program and its first arguments.
    pub fn command(&self, words: &[String]) -> Result<Command, Failure> {
        let filled = words.iter().map(|word| self.filled(word)).collect::<Result<Vec<_>, _>>()?;
        let (program, arguments) = filled.split_first().ok_or(Failure::Said)?;
        if words.first().is_some_and(|word| word.contains("{built}")) {
            is_built(Path::new(program))?;
        }
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }
}

/// A program cannot be started that this line of the description names.
pub(super) fn not_started(command: &Command, line: &str, error: &io::Error) -> Failure {
    let help = format!("it is what {line} in the framework description names: correct that, or install it");
    let advice = [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied].map(|kind| (kind, help.as_str()));
    let program = Path::new(command.get_program());
    Failure::of_system("E0510", program, "the host's command cannot be started", error, &advice)
}

/// A file in `{built}`.
pub(super) fn is_built(file: &Path) -> Result<(), Failure> {
    if file.is_file() {
        return Ok(());
    }
    let help = "build all of it anew: make build";
    Err(Failure::of_file("E0513", file, "a part of the host is not built", help))
}

fn is_policy(word: &OsStr) -> bool {
    let path = Path::new(word);
    path.extension().is_some_and(|ending| ending == "sched" || ending == "hierarchy") && !is_standard_input(path)
}

fn artefact(console: &Console, found: &Found, policy: &Path) -> Result<PathBuf, Failure> {
    let accepted = compile_any(console, policy, &found.framework)?;
    let made = up_to_date(console, found, &accepted, policy)?;
    Ok(absolute(&made).unwrap_or(made))
}
