//! The descriptions of hosts that are shipped: nothing can be said against any of them.

use catapults_tests::{catapults, root};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Those in the folders under `frameworks`.
fn shipped() -> Vec<PathBuf> {
    let folders = fs::read_dir(root().join("frameworks")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "framework"));
    files.sort();
    assert!(files.len() > 1, "{files:?}");
    files
}

#[test]
fn are_sound() {
    for file in shipped() {
        let mut command = Command::new(catapults());
        let output = command.args(["framework", "check"]).arg(&file).current_dir(root()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{}:\n{said}", file.display());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1 framework description is sound\n");
    }
}

#[test]
fn can_be_used_by_their_names() {
    let output = Command::new(catapults()).args(["framework", "list"]).current_dir(root()).output().unwrap();
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    for file in shipped() {
        assert!(listed.contains(&*file.to_string_lossy()), "{} is not in\n{listed}", file.display());
    }
}
