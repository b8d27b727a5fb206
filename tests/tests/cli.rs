//! What the `catapults` command says, and how it ends. Each file `tests/cli/*.md` is a case, run at the root of the repository:
//! blocks of commands and their output (`? 1` is an exit status, `...` any lines, `[..]` any text). The format is trycmd's.
//! `TRYCMD=overwrite` writes what was said into the files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use catapults_tests::root;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The command, built as this test was.
fn catapults() -> PathBuf {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "catapults-cli"])
        .args(if cfg!(debug_assertions) { &[][..] } else { &["--release"] })
        .current_dir(root())
        .status()
        .unwrap();
    assert!(status.success());
    // This test is target/PROFILE/deps/cli-HASH.
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("catapults")
}

#[test]
fn says_what_is_written() {
    std::env::set_current_dir(root()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    cases.register_bin("catapults", catapults());
    cases.env("NO_COLOR", "1").env("XDG_CACHE_HOME", folder.path().to_string_lossy());
    cases.case("tests/cli/*.md");
    cases.run();
}

/// Nobody reads: the end of `catapults ir policies/fifo.sched | true`.
#[test]
fn a_closed_pipe_is_no_panic() {
    for arguments in
        [&["ir", "policies/weather.sched"][..], &["explain"], &["check", "policies/fifo.sched"], &["--help"]]
    {
        let mut child = Command::new(catapults())
            .args(arguments)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let result = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&result.stderr);
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert!(matches!(result.status.code(), Some(0 | 141)), "{arguments:?}: {}", result.status);
    }
}
