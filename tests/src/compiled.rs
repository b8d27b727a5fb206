//! Policies as C: built, loaded by `tests/run/driver.c`, and given steps.

use crate::replay::Step;
use crate::{limited, root};
use catapults_compiler::emit::{self, File, Part, emit};
use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{Entity, Float, Policy, Type, Value};
use catapults_compiler::verify::Verified;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Sanitizers beneath both the driver and the policies of random tests.
const SANITIZERS: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The driver for a framework, built.
pub struct Driver<'a> {
    framework: &'a Framework,
    /// The folder of the framework description.
    home: PathBuf,
    /// Where files go.
    folder: PathBuf,
    /// What loads policies; none for a framework whose build `steps` makes a program that has the policy in it.
    program: Option<PathBuf>,
    /// The build whose command compiles policies; none: the framework's first.
    build: Option<&'static str>,
}

/// The files of a translation.
pub struct Written {
    /// Where they are.
    pub sources: Vec<PathBuf>,
    /// What they are when they are traced.
    pub traced: Vec<PathBuf>,
}

impl Written {
    /// Writes all of them into a folder, which is made.
    ///
    /// # Errors
    /// What the system said.
    pub fn into(folder: &Path, files: &[File]) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let mut written = Written { sources: Vec::new(), traced: Vec::new() };
        for file in files {
            let path = folder.join(&file.name);
            fs::write(&path, &file.text).map_err(|error| error.to_string())?;
            match file.part {
                Part::Source => written.sources.push(path),
                Part::Traced => written.traced.push(path),
                Part::Included => {}
            }
        }
        Ok(written)
    }
}

/// How a policy is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By the framework's own command.
    AsBuilt,
    /// By the same command, and under the sanitizers.
    Sanitized,
}

impl<'a> Driver<'a> {
    /// Builds the driver in a folder.
    ///
    /// # Errors
    /// What the compiler said.
    pub fn build(framework: &'a Framework, folder: &Path) -> Result<Self, String> {
        let home = root().join("frameworks").join(&framework.name);
        if framework.builds.iter().any(|build| build.name == "steps") {
            return Ok(Driver::of_build(framework, folder, "steps"));
        }
        let table = folder.join("table.h");
        fs::write(&table, table_of(framework)).map_err(|error| error.to_string())?;
        let program = folder.join("driver");
        let mut command = Command::new("cc");
        command.args(["-std=gnu17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fwrapv"]).args(SANITIZERS);
        command.arg(format!("-DHEADER=\"{}\"", framework.header));
        command.arg(format!("-DHANDLERS={}_handlers", framework.name));
        command.arg(format!("-DTABLE=\"{}\"", table.display()));
        command.arg(format!("-I{}", home.join("include").display()));
        command.arg(format!("-I{}", root().join("frameworks/shared").display()));
        command.arg("-o").arg(&program).arg(root().join("tests/run/driver.c"));
        finish(command)?;
        Ok(Driver { framework, home, folder: folder.to_owned(), program: Some(program), build: None })
    }

    /// What a build of the framework makes of a policy is a program that takes steps, as `steps` does (docs/frameworks.md).
    pub fn of_build(framework: &'a Framework, folder: &Path, build: &'static str) -> Self {
        let home = root().join("frameworks").join(&framework.name);
        Driver { framework, home, folder: folder.to_owned(), program: None, build: Some(build) }
    }

    /// Compiles a policy to a shared object whose name starts with `name`.
    ///
    /// # Errors
    /// What the compiler said: generated code is to compile without a warning.
    pub fn policy(&self, policy: &Verified<Policy>, name: &str, mode: Mode) -> Result<PathBuf, String> {
        let files = emit(policy, self.framework).map_err(|error| error.to_string())?;
        let written = Written::into(&self.folder.join(name), &files)?;
        let output = self.folder.join(format!("{name}.so"));
        let ([source], [] | [_]) = (&written.sources[..], &written.traced[..]) else {
            return Err("a policy is one source here".to_owned());
        };
        // Where nothing is traced, no build names it.
        let traced = written.traced.first().unwrap_or(source);
        let wanted = |name: &str| self.framework.builds.iter().find(|build| build.name == name);
        let build = self.build.map_or(self.framework.builds.first(), wanted).ok_or("the framework has no build")?;
        let parts = [
            ("{source}", source.as_path()),
            ("{traced}", traced),
            ("{output}", &output),
            ("{framework}", &self.home),
            ("{shared}", &root().join("frameworks/shared")),
        ];
        let fill = |word: &str| {
            parts.iter().fold(word.to_owned(), |text, (part, path)| text.replace(part, &path.display().to_string()))
        };
        let mut words = emit::command(build, &[policy.policy()]).map(fill);
        let mut command = Command::new(words.next().ok_or("the build command is empty")?);
        command.args(words);
        // A cross compiler has no sanitizers.
        if mode == Mode::Sanitized && self.build != Some("simulated") {
            // Lines are enough to know of: half of the time of a compiler goes into what variables are called.
            command.args(SANITIZERS).args(["-O1", "-g1"]);
        }
        finish(command).map_err(|said| format!("{said}\nin {}", source.display()))?;
        Ok(output)
    }

    /// What a compiled policy decides in each of these scripts, as [`crate::replay::replay`] returns it.
    ///
    /// # Errors
    /// What the driver or a sanitizer said.
    pub fn replay(&self, object: &Path, scripts: &[Vec<Step>]) -> Result<Vec<Vec<String>>, String> {
        let mut text = String::new();
        for script in scripts {
            text.push_str("restart\n");
            script.iter().for_each(|step| text.push_str(&format!("{step}\n")));
        }
        let mut command = match &self.program {
            Some(program) => limited(program),
            None => limited(object),
        };
        let mut child = command
            .args(self.program.iter().map(|_| object))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut input = child.stdin.take().ok_or("no pipe")?;
        let feeder = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let result = child.wait_with_output().map_err(|error| error.to_string())?;
        let fed = feeder.join().map_err(|_| "the feeder failed")?;
        if !result.status.success() {
            return Err(format!("{}\n{}", result.status, String::from_utf8_lossy(&result.stderr)));
        }
        fed.map_err(|error| error.to_string())?;
        let output = String::from_utf8_lossy(&result.stdout);
        let mut lines = output.lines();
        let decided = |step: &Step, lines: &mut std::str::Lines| match lines.next() {
            Some("") | None => None,
            Some(decision) => Some(format!("{step} -> {}", self.answer(step, decision))),
        };
        Ok(scripts.iter().map(|script| script.iter().filter_map(|step| decided(step, &mut lines)).collect()).collect())
    }

    /// What the driver printed, as a policy writes it.
    fn answer(&self, step: &Step, printed: &str) -> String {
        let Step::Ask(asked, _) = step else { return printed.to_owned() };
        let query = self.framework.queries.iter().find(|query| query.name == *asked);
        let value = match query.map(|query| query.returns) {
            Some(Type::Time) => printed.parse().ok().map(Value::Time),
            Some(Type::Float) => printed.parse().ok().map(|number| Value::Float(Float::new(number))),
            Some(Type::Int | Type::Bool) | None => None,
        };
        value.map_or(printed.to_owned(), |value| value.to_string())
    }
}

/// What the driver must know of the framework's events and queries.
fn table_of(framework: &Framework) -> String {
    let mut table = String::new();
    for event in &framework.events {
        let (name, member, parameters) = (&event.name, event.name.replace('.', "_"), event.parameters.len());
        let node = event.names(0, Entity::Node);
        let global = event.is_global();
        let _ = writeln!(table, "EVENT(\"{name}\", {member}, {parameters}, {}, {node}, {global})", event.dispatches());
    }
    for query in &framework.queries {
        let (name, member, parameters) = (&query.name, query.name.replace('.', "_"), query.parameters.len());
        let _ = writeln!(table, "QUERY(\"{name}\", {member}, {parameters}, {})", query.returns.word());
    }
    table
}

fn finish(mut command: Command) -> Result<(), String> {
    let result = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    if result.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&result.stderr).into_owned()) }
}
