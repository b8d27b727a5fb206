//! What `catapults new` writes can be used at once, whatever it begins with, and is written wholly or not at all.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use catapults_tests::command::{policy, run, said};
use catapults_tests::shipped_policies;

/// The names of the policies that are shipped.
fn library() -> Vec<String> {
    let name = |path: &std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    shipped_policies().iter().map(name).collect()
}

/// All in the folder is accepted, as expected, and laid out.
fn all_is_well(folder: &Path) {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    for arguments in [&[&["check"], &files[..]].concat()[..], &["test", "."], &["fmt", "--check", "."]] {
        let done = run(folder, arguments);
        assert!(done.status.success(), "{arguments:?}: {}", said(&done));
        assert!(!said(&done).contains("warning"), "{arguments:?}: {}", said(&done));
    }
}

#[test]
fn what_begins_with_a_policy_of_the_library_is_well() {
    let folder = tempfile::tempdir().unwrap();
    let library = library();
    for like in &library {
        let name = format!("my_{like}");
        let done = run(folder.path(), &["new", &name, "--like", like]);
        assert!(done.status.success() && done.stderr.is_empty(), "{like}: {}", said(&done));
        let text = fs::read_to_string(folder.path().join(format!("{name}.sched"))).unwrap();
        assert!(
            text.starts_with(&format!("// {name}: ")) && text.contains(&format!("\nscheduler {name} {{")),
            "{text}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2 * library.len());
    all_is_well(folder.path());
}

/// Without scenarios beside it, a policy gets one that is made for its variables.
#[test]
fn what_begins_with_a_policy_in_a_file_is_well() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("theirs")).unwrap();
    fs::create_dir(folder.path().join("mine")).unwrap();
    for like in library() {
        let file = format!("theirs/{like}.sched");
        fs::write(folder.path().join(&file), policy(&format!("{like}.sched"))).unwrap();
        let done = run(folder.path(), &["new", &format!("mine/{like}"), "--like", &file]);
        assert!(done.status.success() && done.stderr.is_empty(), "{like}: {}", said(&done));
        let text = fs::read_to_string(folder.path().join(format!("mine/{like}.scenario"))).unwrap();
        assert!(text.contains("scenario as_it_is {") && text.contains("\n  expect "), "{text}");
    }
    all_is_well(&folder.path().join("mine"));
}

/// The functions that it uses come with it, unless others stand where they would.
#[test]
fn what_is_used_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("theirs/of/one")).unwrap();
    fs::create_dir_all(path("mine")).unwrap();
    let policy = policy("fifo.sched").replacen("scheduler fifo {", "use \"of/twice.sched\";\n\nscheduler fifo {", 1);
    let policy =
        policy.replacen("event schedule {", "event schedule { int two = twice(|ready|); if (two > 9) yielded++;", 1);
    let policy = policy.replacen("data {", "data {\n    int yielded;", 1);
    fs::write(path("theirs/fifo.sched"), &policy).unwrap();
    let twice = "use \"one/once.sched\";\n\nfunction int twice(int n) { return 2 * once(n); }\n";
    fs::write(path("theirs/of/twice.sched"), twice).unwrap();
    fs::write(path("theirs/of/one/once.sched"), "function int once(int n) { return n; }\n").unwrap();
    for name in ["mine/first", "mine/second", "theirs/third"] {
        let done = run(folder.path(), &["new", name, "--like", "theirs/fifo.sched"]);
        assert!(done.status.success(), "{name}: {}", said(&done));
        let checked = run(folder.path(), &["check", &format!("{name}.sched")]);
        assert!(checked.status.success(), "{name}: {}", said(&checked));
    }
    assert_eq!(fs::read_to_string(path("mine/of/twice.sched")).unwrap(), twice);

    fs::write(path("mine/of/twice.sched"), "function int twice(int n) { return n + n; }\n").unwrap();
    let refused = run(folder.path(), &["new", "mine/fourth", "--like", "theirs/fifo.sched"]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("--> mine/of/twice.sched"), "{}", said(&refused));
    assert!(!path("mine/fourth.sched").exists());
}

/// What there is to say of the policy is said once, and of its own file.
#[test]
fn warnings_are_those_of_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    let warned = policy("fifo.sched").replacen("data {", "thread { int unused; }\n  data {", 1);
    fs::write(folder.path().join("warned.sched"), warned).unwrap();
    let done = run(folder.path(), &["new", "mine", "--like", "warned.sched"]);
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(said(&done).matches("warning[").count(), 1, "{}", said(&done));
    assert!(said(&done).contains("--> warned.sched:"), "{}", said(&done));
}

/// Scenarios that are not for the policy under its new name are left, and one is made.
#[test]
fn scenarios_that_do_not_fit_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("fifo.sched", &policy("fifo.sched"));
    for (index, text) in [
        "scenario s { policy \"fifo.sched\"; thread a { run 1ms; } expect end of a = 1ms; }\n",
        "scenario s { thread a { run 1ms; } expect end of a = 2ms; }\n",
        "scenario s { thread a { run file \"numbers\"; } expect end of a = 2ms; }\n",
        "scenario s { thread a {",
        "\0",
        "",
    ]
    .iter()
    .enumerate()
    {
        put("fifo.scenario", text);
        let name = format!("made_{index}");
        let done = run(folder.path(), &["new", &name, "--like", "./fifo.sched"]);
        assert!(done.status.success() && done.stderr.is_empty(), "{text}: {}", said(&done));
        let made = fs::read_to_string(folder.path().join(format!("{name}.scenario"))).unwrap();
        assert!(made.contains("scenario as_it_is {"), "{made}");
        let tested = run(folder.path(), &["test", &format!("{name}.scenario")]);
        assert!(tested.status.success(), "{made}: {}", said(&tested));
    }
}

#[test]
fn all_is_written_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["one.sched", "two.scenario", "three.hierarchy"] {
        fs::write(path(name), "what was there").unwrap();
    }
    symlink("nowhere", path("four.sched")).unwrap();
    for name in ["one", "two", "three", "four"] {
        let refused = run(folder.path(), &["new", name]);
        assert_eq!(refused.status.code(), Some(1), "{name}: {}", said(&refused));
        assert!(said(&refused).contains("error[E0520]") && refused.stdout.is_empty(), "{name}: {}", said(&refused));
    }
    // What is refused is not written.
    fs::write(path("bad.sched"), "scheduler bad { data { } }").unwrap();
    assert_eq!(run(folder.path(), &["new", "five", "--like", "bad.sched"]).status.code(), Some(1));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "nothing else is there");
    assert_eq!(fs::read_to_string(path("two.scenario")).unwrap(), "what was there");

    fs::create_dir(path("closed")).unwrap();
    fs::set_permissions(path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write everything.
    let may = fs::write(path("closed/tried"), "").is_ok();
    let done = run(folder.path(), &["new", "closed/six"]);
    assert_eq!(done.status.success(), may, "{}", said(&done));
    assert!(may || said(&done).contains("error[E0503]") && said(&done).contains(" = help: "), "{}", said(&done));
}

/// The three commands that it names work as they are written; and so do those of the demonstration.
#[test]
fn what_is_to_be_typed_next_works() {
    for arguments in [&["demo"][..], &["new", "mine"], &["new", "mine", "--framework", "freertos"]] {
        let folder = tempfile::tempdir().unwrap();
        let done = run(folder.path(), arguments);
        assert!(done.status.success(), "{}", said(&done));
        let text = said(&done);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  ") && line.contains("mine")).collect();
        assert_eq!(lines.len(), 3, "{text}");
        for line in lines {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", line]).current_dir(folder.path());
            shell.env("CATAPULTS_FRAMEWORKS", catapults_tests::root().join("frameworks"));
            let done = shell.output().unwrap();
            assert!(done.status.success(), "{line}: {}", said(&done));
        }
    }
}
