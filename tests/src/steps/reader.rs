//! Somebody who does what a page says, in a clone and a home of their own.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

use super::page::{Kind, Step, is_as_shown};
use crate::{catapults, limited, root};

/// What has to be built before, in the folder of what is built.
const BUILT: [&str; 1] = ["native/libcatapults.a"];

/// In the reader's folder, `clone` has links to what is in the clone that the tests are in. So what is saved or built there stays the reader's.
pub struct Reader {
    folder: TempDir,
}

/// Does a command after what earlier ones have left, and leaves the same to later ones.
const IN_TURN: &str = r#"
exec 2>&1
if [[ -e $0/exported ]]; then source "$0/exported"; cd "$(<"$0/folder")"; fi
eval "$1"
status=$?
export -p >"$0/exported"
pwd >"$0/folder"
exit $status
"#;

/// Statuses from here on are those of `timeout`, of what cannot be run, and of what a signal has ended.
const NOT_RUN: i32 = 124;

impl Reader {
    /// A reader who has nothing but a clone in which `make build` was done.
    ///
    /// # Errors
    /// What is not built, or cannot be written.
    pub fn new(built: &Path) -> Result<Self, String> {
        for name in BUILT {
            let file = built.join(name);
            if !file.exists() {
                return Err(format!("there is no {}; `make build` makes it", file.display()));
            }
        }
        let reader = Reader { folder: tempfile::tempdir().map_err(|error| error.to_string())? };
        reader.settle(built).map_err(|error| format!("{}: {error}", reader.folder.path().display()))?;
        Ok(reader)
    }

    fn settle(&self, built: &Path) -> io::Result<()> {
        for folder in ["home", "state", "clone/build/bin"] {
            fs::create_dir_all(self.path(folder))?;
        }
        for (from, to) in [(root(), "clone"), (built, "clone/build")] {
            for entry in fs::read_dir(from)? {
                let name = entry?.file_name();
                if name != "build" && name != "bin" && name != "target" && name != ".git" {
                    symlink(from.join(&name), self.path(to).join(&name))?;
                }
            }
        }
        symlink(catapults(), self.path("clone/build/bin/catapults"))?;
        fs::write(self.path("state/folder"), self.path("clone").into_os_string().into_encoded_bytes())?;
        fs::write(self.path("state/exported"), "")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Does a step. `Ok`: what was printed.
    ///
    /// # Errors
    /// What is not as the page says.
    pub fn does(&self, step: &Step, update: bool) -> Result<Vec<String>, String> {
        match &step.kind {
            Kind::File { name, text } => {
                fs::write(self.here(name), text).map_err(|error| format!("`{name}` cannot be saved: {error}"))?;
                Ok(Vec::new())
            }
            Kind::Change { name, before, after } => {
                let text =
                    fs::read_to_string(self.here(name)).map_err(|error| format!("`{name}` cannot be read: {error}"))?;
                let new = changed(&text, before, after).map_err(|times| {
                    format!(
                        "`{name}` has {times} places to change, and not one. Expected there:\n{}\nIt is:\n{text}",
                        before.join("\n")
                    )
                })?;
                fs::write(self.here(name), new).map_err(|error| format!("`{name}` cannot be saved: {error}"))?;
                Ok(Vec::new())
            }
            Kind::Command { text, shown, first } => {
                let (status, printed) = self.runs(text)?;
                let all = if printed.is_empty() { "nothing".to_owned() } else { printed.join("\n") };
                // What is refused says why, and the page shows that.
                let told =
                    if update { !printed.is_empty() } else { shown.as_ref().is_some_and(|shown| !shown.is_empty()) };
                if status >= NOT_RUN || (status != 0 && !told) {
                    return Err(format!("`{text}` ended with status {status}, and printed\n{all}"));
                }
                if let Some(shown) = shown.as_ref().filter(|_| !update) {
                    as_shown(shown, &printed, *first).map_err(|difference| {
                        format!("`{text}` does not print what is shown\n{difference}\nAll that it printed:\n{all}")
                    })?;
                }
                Ok(printed)
            }
        }
    }

    /// A file where the reader is.
    fn here(&self, name: &str) -> PathBuf {
        let folder = fs::read_to_string(self.path("state/folder")).unwrap_or_default();
        Path::new(folder.trim_end()).join(name)
    }

    /// The status of a command, and the lines that it prints.
    fn runs(&self, text: &str) -> Result<(i32, Vec<String>), String> {
        let mut command = limited("bash");
        command.arg("-c").arg(IN_TURN).arg(self.path("state")).arg(text).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path("home")).env("LC_ALL", "C.UTF-8");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = command.output().map_err(|error| format!("bash: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        Ok((output.status.code().unwrap_or(NOT_RUN), printed.lines().map(|line| line.trim_end().to_owned()).collect()))
    }
}

/// The first difference between what is shown from a line of the page on and what was printed.
fn as_shown(shown: &[String], printed: &[String], first: usize) -> Result<(), String> {
    let lines = shown.len().max(printed.len());
    for index in 0..lines {
        let (expected, came) = (shown.get(index), printed.get(index));
        if let (Some(expected), Some(came)) = (expected, came)
            && is_as_shown(expected, came)
        {
            continue;
        }
        let quoted = |line: Option<&String>| line.map_or_else(|| "nothing more".to_owned(), |line| format!("`{line}`"));
        return Err(format!("line {} shows: {}\nprinted instead: {}", first + index, quoted(expected), quoted(came)));
    }
    Ok(())
}

/// The text with these lines in place of those; else how many places there are.
fn changed(text: &str, before: &[String], after: &[String]) -> Result<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    let places: Vec<usize> = lines
        .windows(before.len().max(1))
        .enumerate()
        .filter(|(_, window)| *window == before)
        .map(|(at, _)| at)
        .collect();
    let [at] = places[..] else { return Err(places.len()) };
    let new = lines[..at]
        .iter()
        .copied()
        .chain(after.iter().map(String::as_str))
        .chain(lines[at + before.len()..].iter().copied());
    Ok(new.map(|line| format!("{line}\n")).collect())
}
