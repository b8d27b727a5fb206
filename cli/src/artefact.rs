//! From a policy to what a host loads.

use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks::Found;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::emit::{self, emit};
use catapults_compiler::framework::Build;
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::At;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};
use std::{fs, io};

/// The `build` clause of that name; without a name the first.
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
        Failure::of("--as", Diagnostic::error("E0504", title, At::default(), "").help(help))
    })
}

/// Writes the generated files into a folder, unless they are there already; the result is the one to build.
pub fn translate(found: &Found, policy: &Verified<Policy>, folder: &Path) -> Result<PathBuf, Failure> {
    let files = emit(policy, &found.framework).map_err(|error| {
        let diagnostic = Diagnostic::error("E0505", error.to_string(), At::default(), "");
        Failure::of(
            &found.framework.name,
            diagnostic.help("give the framework description one of these after `language`"),
        )
    })?;
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut first = None;
    for file in files {
        let path = folder.join(&file.name);
        if fs::read(&path).ok().as_deref() != Some(file.text.as_bytes()) {
            let unfinished = beside(&path);
            let written = fs::write(&unfinished, &file.text).and_then(|()| fs::rename(&unfinished, &path));
            written.map_err(|error| {
                let _ = fs::remove_file(&unfinished);
                unwritable(&path, &error)
            })?;
        }
        first.get_or_insert(path);
    }
    Ok(first.unwrap_or_else(|| folder.to_owned()))
}

/// Where a build puts what it makes.
pub fn output(recipe: &Build, policy: &Verified<Policy>, folder: &Path) -> PathBuf {
    folder.join(recipe.output.replace("{policy}", &policy.policy().name))
}

/// The command of a build, complete.
pub fn command(found: &Found, policy: &Verified<Policy>, recipe: &Build, source: &Path, output: &Path) -> Vec<String> {
    let full = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let parts = [
        ("{source}", full(source)),
        ("{output}", full(output)),
        ("{framework}", full(&found.folder)),
        ("{shared}", full(&found.shared())),
    ];
    let fill = |word: &str| parts.iter().fold(word.to_owned(), |text, (name, value)| text.replace(name, value));
    emit::command(recipe, policy.policy()).map(fill).collect()
}

/// Runs the framework's command. What it makes appears whole or not at all, also when several do this at once.
pub fn make(
    console: &Console,
    found: &Found,
    policy: &Verified<Policy>,
    recipe: &Build,
    source: &Path,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let output = output(recipe, policy, folder);
    let unfinished = beside(&output);
    let command = command(found, policy, recipe, source, &unfinished);
    let done = execute(console, &command).and_then(|()| {
        replace(&output, &unfinished).map_err(|error| unwritable(&output, &error))?;
        Ok(output)
    });
    if done.is_err() {
        let _ = fs::remove_file(&unfinished).or_else(|_| fs::remove_dir_all(&unfinished));
    }
    done
}

/// Puts what was made into its place. A folder takes the place of an older one, which must not be there then.
fn replace(output: &Path, unfinished: &Path) -> io::Result<()> {
    if !(unfinished.is_dir() && output.is_dir()) {
        return fs::rename(unfinished, output);
    }
    let mut old = beside(output).into_os_string();
    old.push(".old");
    fs::rename(output, &old)?;
    fs::rename(unfinished, output)?;
    fs::remove_dir_all(&old)
}

/// Where a file is made before it takes its place, whole.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(format!(".{}", std::process::id()));
    PathBuf::from(name)
}

fn execute(console: &Console, command: &[String]) -> Result<(), Failure> {
    let Some((program, arguments)) = command.split_first() else {
        let diagnostic = Diagnostic::error("E0506", "the framework's build command is empty", At::default(), "");
        return Err(Failure::of("build", diagnostic.help("give the `build` clause a program and its arguments")));
    };
    let result = Command::new(program).args(arguments).stdin(Stdio::null()).output().map_err(|error| {
        let help = "install it (a C compiler on Debian: apt-get install gcc libc6-dev), or add its folder to PATH";
        let advice = [(io::ErrorKind::NotFound, help)];
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
    let help = "its messages stand above; if they are about the generated source, the mistake is the compiler's: please report it";
    Err(Failure::of("build", diagnostic.note(quoted(command)).help(help)))
}

/// A command as it can be given to a shell.
fn quoted(command: &[String]) -> String {
    let plain =
        |argument: &str| argument.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_=+./,:@%".contains(&byte));
    let quote = |argument: &String| match plain(argument) {
        true if !argument.is_empty() => argument.clone(),
        _ => format!("'{}'", argument.replace('\'', "'\\''")),
    };
    command.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// What could not be written, and why.
pub fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let elsewhere = "choose another place with --output, or make this one writable";
    let advice = [
        (io::ErrorKind::NotFound, elsewhere),
        (io::ErrorKind::PermissionDenied, elsewhere),
        (io::ErrorKind::ReadOnlyFilesystem, elsewhere),
        (io::ErrorKind::NotADirectory, "a file stands where a folder should be; choose another place with --output"),
        (io::ErrorKind::AlreadyExists, "a file stands where a folder should be; choose another place with --output"),
        (io::ErrorKind::IsADirectory, "a folder of this name is in the way; remove it, or choose another place"),
        (io::ErrorKind::StorageFull, "make room on the disk"),
    ];
    Failure::of_system("E0503", path, "it cannot be written", error, &advice)
}
