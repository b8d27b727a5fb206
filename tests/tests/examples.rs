//! What `examples/run` says of examples that are not as their pages show. The examples themselves are run by `make examples`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use catapults_tests::{limited, root};
use std::fs;
use std::path::Path;

/// A clone in which something has been built, with one example.
fn clone(page: &str) -> tempfile::TempDir {
    let clone = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = clone.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for built in ["bin/catapults", "native/libcatapults.a", "pth/libcatapults_pth.so"] {
        write(&format!("build/{built}"), "");
    }
    write("examples/one/README.md", page);
    write("examples/one/one.sched", "scheduler one {\n  event newthread(t) { t => ready; }\n}\n");
    fs::copy(root().join("examples/run"), clone.path().join("examples/run")).unwrap();
    clone
}

/// Whether all is as it should be, and what is said.
fn run(clone: &Path, update: bool) -> (bool, String) {
    let mut command = limited("bash");
    command.arg("examples/run").current_dir(clone).env_remove("UPDATE");
    if update {
        command.env("UPDATE", "1");
    }
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

fn refused(page: &str, reason: &str) {
    let (good, said) = run(clone(page).path(), false);
    assert!(!good && said.contains(reason), "{page}\n{said}");
    assert!(said.ends_with("FAIL  one\nexamples: 0 of 1\n"), "{said}");
}

#[test]
fn a_page_that_is_right_passes() {
    let page = "# One\n\n```sched\nevent newthread(t) { t => ready; }\n```\n\n```console\n$ echo a \\\n    b\na b\n$ true\n```\n";
    let (good, said) = run(clone(page).path(), false);
    assert!(good && said.ends_with("examples: 1 of 1\n"), "{said}");
}

#[test]
fn what_is_wrong_is_said() {
    refused("# One\n", "has no command");
    refused(&"line\n".repeat(81), "has more than 80 lines");
    refused("```console\n$ echo a\nb\n```\n", "-b\n+a\n");
    refused("```console\n$ false\n```\n", "false\nexit status 1\n");
    refused("```console\n$ false | true\n```\n", "exit status 1\n");
    refused("```console\n$ no-such-tool\n```\n", "no-such-tool: command not found\na tool is missing");
    refused("```sched\nt => nowhere;\n```\n\n```console\n$ true\n```\n", "2: t => nowhere;\n");
}

#[test]
fn what_is_not_built_is_named() {
    let clone = clone("```console\n$ true\n```\n");
    fs::remove_file(clone.path().join("build/native/libcatapults.a")).unwrap();
    let (good, said) = run(clone.path(), false);
    assert!(!good, "{said}");
    assert_eq!(said, "examples: error: there is no build/native/libcatapults.a; `make build` makes it\n");
}

#[test]
fn a_page_can_be_written_anew() {
    let clone = clone("# One\n\n```console\n$ echo a\nold\n$ echo b\n```\n\nThe end.\n");
    assert!(run(clone.path(), true).0);
    let page = fs::read_to_string(clone.path().join("examples/one/README.md")).unwrap();
    assert_eq!(page, "# One\n\n```console\n$ echo a\na\n$ echo b\nb\n```\n\nThe end.\n");
    assert!(run(clone.path(), false).0);
}
