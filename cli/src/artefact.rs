//! Makes of a policy or hierarchy what a host loads.

use crate::blame;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{Unfinished, apart, to_its_place, unasked, unwritable, whole_text};
use crate::frameworks::{Folders, Found};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::emit::{self, File, Part, Refusal, emit, emit_hierarchy};
use catapults_compiler::framework::{Build, Framework};
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::At;
use std::io::Read;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};
use std::{fs, io};

/// What the compiler has accepted.
pub enum Accepted {
    Policy(Box<Verified<Policy>>),
    Hierarchy(Box<Hierarchy>),
}

impl Accepted {
    /// The name of the policy or hierarchy.
    pub fn name(&self) -> &str {
        match self {
            Accepted::Policy(policy) => &policy.policy().name,
            Accepted::Hierarchy(hierarchy) => hierarchy.name(),
        }
    }

    /// Its policies.
    pub fn policies(&self) -> Vec<&Policy> {
        match self {
            Accepted::Policy(policy) => vec![policy.policy()],
            Accepted::Hierarchy(hierarchy) => hierarchy.policies().iter().map(Verified::policy).collect(),
        }
    }

    fn files(&self, framework: &Framework) -> Result<Vec<File>, Refusal> {
        match self {
            Accepted::Policy(policy) => emit(policy, framework),
            Accepted::Hierarchy(hierarchy) => emit_hierarchy(hierarchy, framework),
        }
    }
}

/// The `build` clause with this name; without a name, the first.
pub fn recipe<'a>(found: &'a Found, wanted: Option<&str>) -> Result<&'a Build, Failure> {
    let builds = &found.framework.builds;
    let matching = builds.iter().find(|build| wanted.is_none_or(|wanted| wanted == build.name));
    matching.ok_or_else(|| {
        let framework = &found.framework.name;
        let title = match wanted {
            Some(wanted) => format!("the framework `{framework}` has no build `{wanted}`"),
            None => format!("the framework `{framework}` has no build"),
        };
        let names = builds.iter().map(|build| build.name.as_str()).chain(["source"]).map(|name| format!("`{name}`"));
        let help = format!("there is {}", names.collect::<Vec<_>>().join(", "));
        Failure::of_usage("--as", Diagnostic::error("E0504", title, At::default(), "").help(help))
    })
}

/// A folder in which something is made.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub folder: &'a Path,
    /// The option that chooses another folder.
    pub option: &'a str,
    /// Also replace files that this command did not make.
    pub force: bool,
}

/// The generated files, with their paths.
pub struct Translation(Vec<(File, PathBuf)>);

impl Translation {
    /// The files that every build needs.
    pub fn written(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter(|(file, _)| file.part != Part::Traced).map(|(_, path)| path.as_path())
    }

    fn of(&self, part: Part) -> impl Iterator<Item = &Path> {
        self.0.iter().filter(move |(file, _)| file.part == part).map(|(_, path)| path.as_path())
    }
}

/// Writes the generated files into a folder, unless they exist. Those that record are written once a build needs them.
pub fn translate(found: &Found, accepted: &Accepted, place: Place<'_>) -> Result<Translation, Failure> {
    let files = accepted.files(&found.framework).map_err(|error| {
        let diagnostic = Diagnostic::error("E0505", error.to_string(), At::default(), "");
        let help = match (&error, accepted) {
            (Refusal::UnknownLanguage { .. }, _) => "give the framework description one of these after `language`",
            (Refusal::Lacks { .. }, Accepted::Hierarchy(_)) => {
                "take `hierarchies` out of the `dialect` of the framework description"
            }
            (Refusal::Lacks { .. }, Accepted::Policy(_)) => {
                "take `nodes` out of the `dialect` of the framework description"
            }
            (Refusal::Untranslated { .. }, _) => "take that out of the `dialect` of the framework description",
            (Refusal::TooManyContainers { .. }, _) => "declare fewer containers",
        };
        Failure::of(&found.framework.name, diagnostic.help(help))
    })?;
    fs::create_dir_all(place.folder).map_err(|error| unwritable(place.option, place.folder, &error))?;
    let placed = files.into_iter().map(|file| {
        let path = place.folder.join(&file.name);
        (file, path)
    });
    let translation = Translation(placed.collect());
    let mut written = translation.0.iter().filter(|(file, _)| file.part != Part::Traced);
    written.try_for_each(|(file, path)| write(file, path, place))?;
    Ok(translation)
}

fn write(file: &File, path: &Path, place: Place<'_>) -> Result<(), Failure> {
    apart(place.option, path)?;
    if !is_ours(path) {
        unasked(place.option, path, place.force)?;
    }
    if fs::read(path).ok().as_deref() != Some(file.text.as_bytes()) {
        whole_text(place.option, path, &file.text)?;
    }
    Ok(())
}

/// Whether this command made the file, as its first lines say, or it is empty or missing.
fn is_ours(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(512).read_to_end(&mut start));
    read.is_ok() && (start.is_empty() || emit::is_generated(&String::from_utf8_lossy(&start)))
}

/// The path of a build's result.
pub fn output(recipe: &Build, accepted: &Accepted, folder: &Path) -> PathBuf {
    folder.join(recipe.output.replace("{policy}", accepted.name()))
}

/// Refuses to replace an artefact that was not built here. Beside one that was, there is its source.
pub fn may_replace(found: &Found, accepted: &Accepted, recipe: &Build, place: Place<'_>) -> Result<(), Failure> {
    let path = output(recipe, accepted, place.folder);
    let files = accepted.files(&found.framework).unwrap_or_default();
    let is_built = !files.is_empty()
        && files.iter().filter(|file| file.part != Part::Traced).all(|file| {
            let path = place.folder.join(&file.name);
            path.is_file() && is_ours(&path)
        });
    apart(place.option, &path)?;
    if is_built { Ok(()) } else { unasked(place.option, &path, place.force) }
}

/// The command of a build. The word `{source}` stands for all sources. `{traced}` stands for their versions with
/// statements that tell which statement moved a thread.
pub fn command(
    found: &Found,
    folders: &Folders,
    accepted: &Accepted,
    recipe: &Build,
    translation: &Translation,
    output: &Path,
) -> Result<Vec<String>, Failure> {
    const SOURCE: &str = "{source}";
    let full = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let parts =
        [("{output}", full(output)), ("{framework}", full(&folders.framework)), ("{shared}", full(&folders.shared))];
    let fill = |word: &str| parts.iter().fold(word.to_owned(), |text, (name, value)| text.replace(name, value));
    let sources: Vec<&Path> = translation.of(Part::Source).collect();
    let mut command = Vec::new();
    for word in emit::command(recipe, &accepted.policies()) {
        match sources[..] {
            _ if word == SOURCE => command.extend(sources.iter().map(|source| full(source))),
            _ if word == TRACED => command.extend(translation.of(Part::Traced).map(full)),
            [only] => command.push(fill(&word.replace(SOURCE, &full(only)))),
            _ if word.contains(SOURCE) => return Err(for_one_policy(found, recipe)),
            _ => command.push(fill(word)),
        }
    }
    Ok(command)
}

fn for_one_policy(found: &Found, recipe: &Build) -> Failure {
    let title = format!("the build `{}` is for a single policy", recipe.name);
    let note = format!(
        "the framework `{}` gives its command one generated file, but a hierarchy has several",
        found.framework.name
    );
    let help = "build another kind; the default is the first that the framework describes";
    Failure::of_usage("--as", Diagnostic::error("E0504", title, At::default(), "").note(note).help(help))
}

const TRACED: &str = "{traced}";

/// Runs the framework's command. Its result appears as a whole or not at all, even if several commands do this at once.
pub fn make(
    console: &Console,
    found: &Found,
    accepted: &Accepted,
    recipe: &Build,
    translation: &Translation,
    place: Place<'_>,
) -> Result<PathBuf, Failure> {
    let output = output(recipe, accepted, place.folder);
    apart(place.option, &output)?;
    let unfinished = Unfinished::beside(&output);
    let command = command(found, &found.folders(console)?, accepted, recipe, translation, &unfinished.path)?;
    if recipe.command.iter().any(|argument| argument.text == TRACED) {
        let mut traced = translation.0.iter().filter(|(file, _)| file.part == Part::Traced);
        traced.try_for_each(|(file, path)| write(file, path, place))?;
    }
    execute(console, &command, translation, accepted)?;
    to_its_place(&unfinished.path, &output).map_err(|error| unwritable(place.option, &output, &error))?;
    Ok(output)
}

fn execute(
    console: &Console,
    command: &[String],
    translation: &Translation,
    accepted: &Accepted,
) -> Result<(), Failure> {
    let Some((program, arguments)) = command.split_first() else {
        let diagnostic = Diagnostic::error("E0506", "the framework's build command is empty", At::default(), "");
        return Err(Failure::of("build", diagnostic.help("give the `build` clause a program and its arguments")));
    };
    let result = Command::new(program).args(arguments).stdin(Stdio::null()).output().map_err(|error| {
        let package = match program.as_str() {
            "cc" | "gcc" => " (on Debian: apt-get install gcc libc6-dev)".to_owned(),
            clang if clang.starts_with("clang") => format!(" (on Debian: apt-get install {clang})"),
            _ => String::new(),
        };
        let help = format!("install it{package}, or add its folder to PATH");
        let advice = [(io::ErrorKind::NotFound, help.as_str())];
        Failure::of_system("E0506", Path::new(program), "the build command cannot be started", &error, &advice)
    })?;
    let said = [result.stdout, result.stderr].concat();
    if !said.is_empty() {
        console.note(String::from_utf8_lossy(&said).trim_end());
    }
    if result.status.success() {
        return Ok(());
    }
    let diagnostic =
        Diagnostic::error("E0507", format!("the build command failed: {}", result.status), At::default(), "");
    let sources: Vec<&Path> = translation.written().collect();
    let blamed = blame::verbatim(&String::from_utf8_lossy(&said), &sources, &accepted.policies());
    let help = match blamed.as_slice() {
        [] => "its messages are above; if they are about the generated source, this is a mistake of the compiler: please report it"
            .to_owned(),
        places => format!("its messages are above; they are about the verbatim text of {}: correct it there", places.join(", ")),
    };
    Err(Failure::of("build", diagnostic.note(quoted(command)).help(help)))
}

/// A command in the form of a shell command.
pub fn quoted(command: &[String]) -> String {
    let plain =
        |argument: &str| argument.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=+./,:@%".contains(&byte));
    let quote = |argument: &String| match plain(argument) {
        true if !argument.is_empty() => argument.clone(),
        _ => format!("'{}'", argument.replace('\'', "'\\''")),
    };
    command.iter().map(quote).collect::<Vec<_>>().join(" ")
}
