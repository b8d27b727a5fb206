//! What a host needs beside its description, such as an object to preload: where it is, or how it is made.

use crate::cache;
use crate::console::Console;
use crate::embedded;
use crate::failure::Failure;
use crate::files::{Unfinished, to_its_place, unwritable};
use crate::frameworks::{Found, Place};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder of what the framework's Makefile builds, `{built}`. Lists in the environment can have it: no white space and no
/// colon is in its path. For a framework that is in this command, it is built now, if it was not before.
pub fn built(console: &Console, found: &Found) -> Result<PathBuf, Failure> {
    let name = &found.framework.name;
    let framework = found.folders(console)?.framework;
    let in_a_tree = framework.join("../../build").join(name);
    let installed = framework.join("../../../../lib/catapults").join(name);
    let there = [in_a_tree, installed].into_iter().find_map(|folder| folder.canonicalize().ok());
    let folder = match (there, &found.place) {
        (Some(folder), _) => folder,
        (None, Place::Embedded(_)) => make(console, name)?,
        (None, Place::File(description)) => {
            let title = format!("what the framework `{name}` needs is not built");
            let help = format!("build it: `make -C {}`", framework.display());
            return Err(Failure::of_file("E0513", description, title, help));
        }
    };
    plain(&folder)
}

fn plain(folder: &Path) -> Result<PathBuf, Failure> {
    cache::plain(folder).map_err(|error| unwritable("TMPDIR", folder, &error))
}

/// Builds what is in this command. It appears as a whole or not at all, even if several commands do this at once.
fn make(console: &Console, name: &str) -> Result<PathBuf, Failure> {
    let tree = embedded::folder(console)?;
    let built = tree.join("build").join(name);
    let wrong = |error: io::Error| unwritable(cache::OPTION, &built, &error);
    let unfinished = Unfinished::beside(&tree.join("build"));
    fs::create_dir_all(tree.join("build")).map_err(wrong)?;
    // Make takes white space in a path for its end.
    let plain = plain(tree)?;
    let makefile = plain.join("frameworks").join(name).join("Makefile");
    let build = plain.join(unfinished.path.file_name().unwrap_or_default());
    let spinner = console.spinner(format!("{name}: what it needs is built for the first time"));
    let made = run(&makefile, &build, "all");
    spinner.finish_and_clear();
    let made = made?;
    if !made.status.success() {
        console.note(String::from_utf8_lossy(&[made.stdout, made.stderr].concat()).trim_end());
        let title = format!("what the framework `{name}` needs cannot be built: {}", made.status);
        let advice = run(&makefile, &build, "advice")?;
        let help = format!("its messages are above; {}", String::from_utf8_lossy(&advice.stdout).trim());
        return Err(Failure::of("run", Diagnostic::error("E0507", title, At::default(), "").help(help)));
    }
    to_its_place(&unfinished.path.join(name), &built).map_err(wrong)?;
    Ok(built)
}

fn run(makefile: &Path, build: &Path, target: &str) -> Result<Output, Failure> {
    let mut command = Command::new("make");
    command.args(["--silent", "--file"]).arg(makefile).arg(target).stdin(Stdio::null());
    // What an outer make says to its own does not concern this one.
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env_remove("MFLAGS").env_remove("OUT").env("BUILD", build);
    command.output().map_err(|error| {
        let help = "install it (on Debian: apt-get install make gcc libc6-dev), or add its folder to PATH";
        let advice = [(io::ErrorKind::NotFound, help)];
        Failure::of_system("E0506", Path::new("make"), "the build command cannot be started", &error, &advice)
    })
}
