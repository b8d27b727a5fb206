//! The program that is bounded: a host with the policy in it, as the framework builds it, and what the host says of its code.

use super::super::error;
use crate::artefact::{self, Accepted, Place};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{Unfinished, unwritable};
use crate::frameworks::Found;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::At;
use catapults_wcet::costs::Costs;
use catapults_wcet::host::Host;
use catapults_wcet::image::Image;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The build that makes it: a folder with `image.ihx`, `image.noi`, `costs`, and listings.
const BUILD: &str = "image";

/// A program, read.
pub struct Program {
    pub image: Image,
    pub costs: Costs,
    /// The file in which the host says it.
    pub told_by: PathBuf,
    /// What is taken off the paths of the host's sources: the folders that are the same for all.
    pub folders: Vec<PathBuf>,
}

impl Program {
    /// Builds it in a folder for that, and reads it.
    pub fn of(console: &Console, found: &Found, policy: Verified<Policy>) -> Result<Program, Failure> {
        let framework = &found.framework;
        if !framework.builds.iter().any(|build| build.name == BUILD) {
            let title = format!("how many clocks code takes is not known of `{}`", framework.name);
            let help = format!("leave --unit out; or take a framework with a build `{BUILD}`, such as `rabbit`");
            return Err(Failure::of_usage("--unit", error(title, help)));
        }
        let recipe = artefact::recipe(found, Some(BUILD))?;
        let accepted = Accepted::Policy(Box::new(policy));
        let scratch = Unfinished::beside(&env::temp_dir().join("catapults-clocks"));
        let place = Place { folder: &scratch.path, option: "TMPDIR", force: true };
        let translation = artefact::translate(found, &accepted, place)?;
        let made = artefact::make(console, found, &accepted, recipe, &translation, place)?;
        let folders = found.folders(console)?;
        let told_by = folders.framework.join("costs");
        // The compiler's paths are those that it was given, with `..` in them.
        let mut shorter = vec![folders.framework.join("../shared/small"), folders.framework.clone()];
        shorter.push(scratch.path.canonicalize().unwrap_or_else(|_| scratch.path.clone()));
        shorter.push(scratch.path.clone());
        let read = |name: &str| text(&made.join(name));
        let costs = Costs::read(&read("costs")?).map_err(|(line, why)| {
            let name = format!("{}:{line}", told_by.display());
            Failure::of(&name, Diagnostic::error("E0556", why, At::default(), "").help(OF_HOST))
        })?;
        let image = Image::read(&read("image.ihx")?, &read("image.noi")?, &listings(&made)?).map_err(|unreadable| {
            let title = format!("what the framework built is no program: {}", unreadable.why);
            Failure::of(&unreadable.at, Diagnostic::error("E0556", title, At::default(), "").help(OF_HOST))
        })?;
        if let Some(name) = Host::absent(&image, &costs) {
            let title = format!("there is no function `{name}` in the program");
            let name = told_by.display().to_string();
            return Err(Failure::of(&name, Diagnostic::error("E0556", title, At::default(), "").help(OF_HOST)));
        }
        Ok(Program { image, costs, told_by, folders: shorter })
    }

    /// A path of the host's or of generated code, as people know it.
    pub fn short<'p>(&self, path: &'p str) -> &'p str {
        let path_of = Path::new(path);
        let rest = self.folders.iter().find_map(|folder| path_of.strip_prefix(folder).ok()).and_then(Path::to_str);
        rest.unwrap_or(path)
    }
}

const OF_HOST: &str =
    "this is a mistake of the framework's description or tools; docs/wcet.md (\"In clocks\") says what they make";

/// The linker's listings, by name.
fn listings(folder: &Path) -> Result<Vec<(String, String)>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| unwritable("TMPDIR", folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "rst"));
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| text(path).map(|text| (name(path), text))).collect()
}

/// A policy's own text can be in it, in any encoding.
fn text(path: &Path) -> Result<String, Failure> {
    let read = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    read.map_err(|error| {
        let advice = [(io::ErrorKind::NotFound, "the framework's build `image` did not make it")];
        Failure::of_system("E0556", path, "the program cannot be read", &error, &advice)
    })
}
