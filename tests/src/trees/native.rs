//! The native dispatcher under a script: `tests/hierarchies/driver.c` with the dispatcher's own files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catapults_compiler::emit::{command, emit_hierarchy};
use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;

use crate::compiled::Written;
use crate::root;

/// A run takes some milliseconds.
const SECONDS: &str = "60";

/// The program that follows scripts.
pub struct Driver(PathBuf);

impl Driver {
    /// Compiles it into a folder, of the runtime's files in another one, which has the layout of `frameworks`.
    ///
    /// # Errors
    /// What the C compiler says.
    pub fn build(frameworks: &Path, folder: &Path) -> Result<Self, String> {
        let (home, driver) = (frameworks.join("native"), folder.join("driver"));
        let mut compiler = Command::new("gcc");
        compiler
            .args(["-std=c17", "-D_GNU_SOURCE", "-ffreestanding", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&driver);
        for include in [home.clone(), home.join("include"), frameworks.join("shared")] {
            compiler.arg("-I").arg(include);
        }
        compiler.arg(root().join("tests/hierarchies/driver.c"));
        for layer in ["core", "dispatcher", "contexts"] {
            compiler.args(sources(&home.join(layer)));
        }
        for assembly in [std::env::consts::ARCH, "system"] {
            compiler.arg(home.join(format!("contexts/{assembly}.S")));
        }
        compiler.arg("-ldl");
        finish(&mut compiler)?;
        Ok(Driver(driver))
    }

    /// What has happened, or who has asked for each step.
    ///
    /// # Errors
    /// The program has ended otherwise than by itself: how, and what it has said.
    pub(super) fn run(&self, object: &Path, print: &str, script: &[String]) -> Result<Vec<String>, String> {
        let mut child = Command::new("timeout")
            .args(["--kill-after=5", SECONDS])
            .arg(&self.0)
            .args([object, Path::new(print)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // It reads nothing more once a policy is out.
        let _ = input.write_all(format!("{}\n", script.join("\n")).as_bytes());
        drop(input);
        let result = child.wait_with_output().unwrap();
        if !result.status.success() {
            return Err(format!("{}: {}", result.status, String::from_utf8_lossy(&result.stderr)));
        }
        Ok(String::from_utf8_lossy(&result.stdout).lines().map(str::to_owned).collect())
    }
}

/// A hierarchy as the driver loads it.
pub(super) fn build(hierarchy: &Hierarchy, framework: &Framework, into: &Path) -> PathBuf {
    let files = emit_hierarchy(hierarchy, framework).unwrap();
    let written = Written::into(into, &files).unwrap();
    let paths = |files: &[PathBuf]| files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let (sources, twins) = (paths(&written.sources), paths(&written.traced));
    let output = into.join(format!("{}.so", hierarchy.name()));
    let policies: Vec<_> = hierarchy.policies().iter().map(|policy| policy.policy()).collect();
    let build = &framework.builds[0];
    let folder = |path: &str| root().join(path).display().to_string();
    let mut words = Vec::new();
    for word in command(build, &policies) {
        if word == "{source}" {
            words.extend(sources.clone());
            continue;
        }
        if word == "{traced}" {
            words.extend(twins.clone());
            continue;
        }
        let word = word.replace("{output}", &output.display().to_string());
        let word = word.replace("{framework}", &folder("frameworks/native"));
        words.push(word.replace("{shared}", &folder("frameworks/shared")));
    }
    finish(Command::new(&words[0]).args(&words[1..])).unwrap();
    output
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    paths.sort();
    paths
}

fn finish(command: &mut Command) -> Result<(), String> {
    let result = command.output().unwrap();
    if result.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}\n{}", String::from_utf8_lossy(&result.stderr)))
}
