//! The files of the repository, for tests that hold its rules.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::root;

/// The files of the repository, those not yet committed included, in order.
pub fn tracked(wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listing = String::from_utf8(output.stdout).unwrap();
    let present: BTreeSet<&str> = listing.lines().filter(|path| root().join(path).is_file()).collect();
    assert!(!present.is_empty());
    present.into_iter().filter(|path| wanted(path)).map(str::to_owned).collect()
}

/// What a file holds, by its path from the root.
pub fn text(path: &str) -> String {
    String::from_utf8_lossy(&fs::read(root().join(path)).unwrap()).into_owned()
}

/// The files of this ending in some folders, and in those within them, in order.
pub fn below(folders: &[&str], ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut next: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                next.push(path);
            } else if path.extension().is_some_and(|end| end == ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Nothing is wrong; else the advice stands before what is.
pub fn none(wrong: &[String], advice: &str) {
    assert!(wrong.is_empty(), "{advice}:\n  {}", wrong.join("\n  "));
}
