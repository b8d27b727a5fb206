//! What the `catapults` command says, and how it ends. Each file `tests/cli/*.md` is a case, and so are `docs/realtime.md` and `docs/wcet.md`, run at the root of the repository:
//! blocks of commands and their output (`? 1` is an exit status, `...` any lines, `[..]` any text). The format is trycmd's.
//! `TRYCMD=overwrite` writes what was said into the files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use catapults_tests::clocks::folder_of_sdcc;
use catapults_tests::{catapults, root};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn says_what_is_written() {
    std::env::set_current_dir(root()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Only `build` makes folders, and nobody knows which file is tried first.
    fs::create_dir_all("build/tests/cli").unwrap();
    let cases = trycmd::TestCases::new();
    cases.register_bin("catapults", catapults());
    cases.env("NO_COLOR", "1").env("XDG_CACHE_HOME", folder.path().to_string_lossy());
    // It would be looked for in the usual cache.
    cases.env("CATAPULTS_SDCC", folder_of_sdcc().unwrap().to_string_lossy());
    cases.case("tests/cli/*.md");
    cases.case("docs/realtime.md");
    cases.case("docs/wcet.md");
    cases.run();
}

/// The table that the document shows is the file that it judges.
#[test]
fn the_document_shows_its_table() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let document = text("docs/realtime.md");
    let shown = document.split("```csv\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(shown, text("tests/cli/admit/car.csv"));
}

/// The demonstration needs nothing but the program, which lies outside of a clone here and is started there. It is copied by
/// another process: while one that has a file open to write it may be forked, nobody may start the file.
#[test]
fn the_demonstration_works_alone() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("catapults");
    assert!(Command::new("cp").arg(catapults()).arg(&program).status().unwrap().success());
    let demo =
        Command::new(&program).arg("demo").current_dir(folder.path()).env_remove("CATAPULTS_FRAMEWORKS").output();
    let demo = demo.unwrap();
    assert!(demo.status.success() && String::from_utf8_lossy(&demo.stdout).contains("under cow"), "{demo:?}");
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

/// A policy among the words for a host's command is built, and what is made of it is given; what follows `--` is a program's.
#[test]
fn a_host_is_told_what_was_built() {
    let cache = tempfile::tempdir().unwrap();
    let said = Command::new(catapults())
        .args(["starter", "load", "policies/fifo.sched", "--", "wc", "policies/fifo.sched"])
        .current_dir(root())
        .env("CATAPULTS_FRAMEWORKS", root().join("tests/cli/frameworks"))
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && said.stderr.is_empty(), "{said:?}");
    assert!(out.starts_with("told: load /") && out.ends_with("/fifo.c -- wc policies/fifo.sched\n"), "{out}");
}

/// A report says why a file is refused: with the code, and the place of each error.
#[test]
fn a_report_says_why_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.xml");
    let (refused, good) = ("tests/ui/scenario/E0704-empty.scenario", "tests/cli/turns.scenario");
    let mut test = Command::new(catapults());
    test.current_dir(root()).args(["test", refused, good, "--junit"]).arg(&report);
    assert_eq!(test.output().unwrap().status.code(), Some(1));
    let text = fs::read_to_string(&report).unwrap();
    let error = text.lines().find(|line| line.contains("<error ")).unwrap();
    assert!(error.contains("type=\"E0706\""), "{text}");
    assert!(
        error.contains("message=\"tests/ui/scenario/E0704-empty.scenario:1:10: error[E0706]: there is no policy"),
        "{text}"
    );
    assert!(
        text.contains("E0704-empty.scenario:1:10: error[E0704]: the scenario `empty` has no thread</error>"),
        "{text}"
    );
    assert!(text.contains("errors=\"1\""), "{text}");
    assert_eq!(text.matches("<testcase ").count(), 4, "{text}");
}

/// Of a folder, scenarios that name no policy are not run, and said; all others are. `--policy` says what they are for.
#[test]
fn scenarios_without_a_policy_are_told_from_those_that_fail() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = fs::read(root().join("policies/fifo.sched")).unwrap();
    fs::write(folder.path().join("fifo.sched"), fifo).unwrap();
    let thread = "thread a { run 1ms; }";
    fs::write(folder.path().join("fifo.scenario"), format!("scenario one {{ {thread} }}")).unwrap();
    fs::write(folder.path().join("any.scenario"), format!("scenario other {{ {thread} expect end of a = 1ms; }}"))
        .unwrap();
    let mixed = format!("scenario named {{ policy \"fifo.sched\"; {thread} }} scenario unnamed {{ {thread} }}");
    fs::write(folder.path().join("mixed.scenario"), mixed).unwrap();
    let run = |arguments: &[&str]| {
        let mut test = Command::new(catapults());
        test.env("CATAPULTS_FRAMEWORKS", root().join("frameworks")).current_dir(folder.path()).arg("test");
        let done = test.args(arguments).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let (status, said, told) = run(&[".", "--junit", "report.xml"]);
    assert_eq!(status, Some(0), "{said}{told}");
    assert!(said.contains("any.scenario: other ... not run: it names no policy\n"), "{said}");
    assert!(
        said.contains("mixed.scenario: named ... ok\n") && said.contains("mixed.scenario: unnamed ... not run"),
        "{said}"
    );
    assert!(said.ends_with("test result: ok. 2 passed; 0 failed; 2 not run\n"), "{said}");
    assert!(told.contains("2 scenarios are not run") && told.contains("--policy"), "{told}");
    assert_eq!(fs::read_to_string(folder.path().join("report.xml")).unwrap().matches("<skipped").count(), 2);
    let (status, said, _) = run(&[".", "--policy", "fifo.sched"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.ends_with("test result: ok. 4 passed; 0 failed\n"), "{said}");
    // Whoever asks for the very file wants an answer; and so does whoever has none at all.
    let (status, said, told) = run(&["any.scenario"]);
    assert!(status == Some(1) && told.contains("error[E0706]") && told.contains("--policy"), "{said}{told}");
    let (status, said, told) = run(&[".", "--only", "other"]);
    assert!(status == Some(1) && told.contains("no scenario names a policy"), "{said}{told}");
    let (status, said, told) = run(&[".", "--policy", "nowhere.sched"]);
    assert!(status == Some(1) && told.contains("error[E0501]"), "{said}{told}");
    // What names a policy that is not there is wrong.
    fs::write(folder.path().join("wrong.scenario"), format!("scenario w {{ policy \"nowhere.sched\"; {thread} }}"))
        .unwrap();
    let (status, said, _) = run(&["."]);
    assert!(status == Some(1) && said.ends_with("FAILED. 2 passed; 0 failed; 1 file refused; 2 not run\n"), "{said}");
}

/// The policy is complained of once, and each file that names it is refused for it.
#[test]
fn a_report_says_of_each_file_what_is_wrong_with_its_policy() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.sched"), "scheduler bad { data { } }").unwrap();
    for name in ["bad.scenario", "bad.more.scenario"] {
        fs::write(folder.path().join(name), "scenario s { thread a { run 1ms; } }").unwrap();
    }
    let report = folder.path().join("report.xml");
    let mut test = Command::new(catapults());
    test.current_dir(root()).arg("test").arg(folder.path().join("bad.sched")).arg("--junit").arg(&report);
    let output = test.output().unwrap();
    let code = |text: &str| text.split_once("error[").unwrap().1[..5].to_owned();
    let said = String::from_utf8(output.stderr).unwrap();
    let text = fs::read_to_string(&report).unwrap();
    let errors: Vec<&str> = text.lines().filter(|line| line.contains("<error ")).collect();
    assert_eq!(errors.len(), 2, "{text}");
    for error in errors {
        assert!(error.contains(&format!("type=\"{}\"", code(&said))), "{said}{text}");
    }
}

/// A file that cannot be read is one that fails, and no reason to leave the others.
#[test]
fn a_test_of_several_files_goes_on_after_one_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.xml");
    let mut test = Command::new(catapults());
    test.current_dir(root()).args(["test", "nowhere.scenario", "/bin/true", "tests/cli/turns.scenario", "--junit"]);
    let output = test.arg(&report).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("error[E0501]") && told.contains("error[E0103]"), "{told}");
    assert!(said.ends_with("test result: FAILED. 3 passed; 0 failed; 2 files refused\n"), "{said}");
    let text = fs::read_to_string(&report).unwrap();
    assert!(text.contains("type=\"E0501\"") && text.contains("type=\"E0103\""), "{text}");
}

/// Names that are shown short keep what they differ in.
#[test]
fn a_summary_tells_threads_of_long_names_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (scenario, trace) = (folder.path().join("long.scenario"), folder.path().join("long.trace"));
    let name = |middle: &str| format!("{}{middle}{}", "a".repeat(60), "b".repeat(60));
    let text = format!("scenario s {{ thread {} {{ run 1ms; }} thread {} {{ run 1ms; }} }}", name("x"), name("y"));
    fs::write(&scenario, text).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(catapults()).current_dir(root()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (scenario, trace) = (scenario.to_str().unwrap(), trace.to_str().unwrap());
    run(&["sim", "--policy", "policies/fifo.sched", "--trace", trace, scenario]);
    let summary = run(&["trace", "summary", trace]);
    let names: std::collections::BTreeSet<&str> = summary
        .lines()
        .filter_map(|line| line.split_whitespace().next().filter(|name| name.contains("aaa") || name.contains("bbb")))
        .collect();
    assert_eq!(names.len(), 2, "{summary}");
}

/// Whatever is to be written, and by whatever name: what is read stays as it was.
#[test]
fn an_output_never_replaces_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str]| {
        Command::new(catapults())
            .env("CATAPULTS_FRAMEWORKS", root().join("frameworks"))
            .current_dir(folder.path())
            .args(arguments)
            .output()
            .unwrap()
    };
    let policy = fs::read(root().join("policies/fifo.sched")).unwrap();
    for name in ["fifo.sched", "other.sched", "fifo.c"] {
        fs::write(path(name), &policy).unwrap();
    }
    fs::write(path("numbers"), "1\n2\n").unwrap();
    let scenario = "scenario s { policy \"other.sched\"; thread a * 2 { run file \"numbers\"; } }";
    fs::write(path("a.scenario"), scenario).unwrap();
    fs::copy(root().join("tests/cli/linux.txt"), path("linux.txt")).unwrap();
    assert!(run(&["sim", "a.scenario", "--trace", "a.trace"]).status.success());
    for name in ["a.json", "a.svg", "a.html"] {
        fs::copy(path("a.trace"), path(name)).unwrap();
    }
    fs::write(path("scenario.svg"), scenario).unwrap();
    fs::write(path("scenario.html"), scenario).unwrap();
    fs::copy(path("other.sched"), path("other.script")).unwrap();
    symlink("a.trace", path("link.trace")).unwrap();
    let all = || {
        let mut all: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let before = all();
    for arguments in [
        &["trace", "import", "linux.txt", "-o", "linux.txt"][..],
        &["trace", "to-scenario", "a.trace", "-o", "a.trace"],
        &["trace", "to-scenario", "a.trace", "-o", "link.trace"],
        &["trace", "to-scenario", "link.trace", "-o", "./a.trace"],
        &["trace", "export", "a.json"],
        &["trace", "plot", "a.svg"],
        &["trace", "html", "a.html"],
        &["trace", "html", "a.trace", "a.html"],
        &["sim", "scenario.html", "--html", "./scenario.html"],
        &["sim", "a.scenario", "--trace", "a.scenario"],
        &["sim", "a.scenario", "--trace", "other.sched"],
        &["sim", "a.scenario", "--trace", "numbers"],
        &["sim", "a.scenario", "--policy", "fifo.sched", "--trace", "fifo.sched"],
        &["sim", "scenario.svg", "--plot", "./scenario.svg"],
        &["sim", "fifo.sched", "--trace", "fifo.sched"],
        &["test", "a.scenario", "--junit", "a.scenario"],
        &["test", "a.scenario", "--junit", "other.sched"],
        &["explore", "fifo.sched", "other.script", "--save", "other.script"],
        &["build", "--as", "source", "fifo.c", "-o", "."],
    ] {
        let done = run(arguments);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("error[E0519]"), "{arguments:?}: {said}");
        assert!(all() == before, "{arguments:?}: something changed");
    }
}

/// What was there stays until all of the new is written; nothing else is left behind.
#[test]
fn an_output_is_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("a.trace");
    fs::write(&trace, "what was there").unwrap();
    let sim = |file: &str, output: &Path| {
        let mut sim = Command::new(catapults());
        sim.current_dir(root()).args(["sim", file, "--trace"]).arg(output).output().unwrap()
    };
    let refused = sim("tests/ui/scenario/E0704-empty.scenario", &trace);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&trace).unwrap(), "what was there");
    fs::set_permissions(&trace, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(sim("policies/fifo.sched", &trace).status.success());
    assert!(fs::read(&trace).unwrap().starts_with(b"CATTRACE"));
    assert_eq!(fs::metadata(&trace).unwrap().permissions().mode() & 0o7777, 0o640);
    let full = sim("policies/fifo.sched", Path::new("/dev/full"));
    assert_eq!(full.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&full.stderr).contains("error[E0503]"), "{full:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
}

/// `catapults fmt` with what stands on standard input.
fn fmt(arguments: &[&str], folder: &Path, input: &[u8]) -> Output {
    let mut child = Command::new(catapults())
        .arg("fmt")
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Whoever is refused reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

const UGLY: &str = "scheduler x{ // why\n\n\nthread{int a;}}";
const PRETTY: &str = "scheduler x { // why\n  thread { int a; }\n}\n";

#[test]
fn fmt_formats_standard_input() {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let good = fmt(&["-"], root(), UGLY.as_bytes());
    assert_eq!((text(&good.stdout), text(&good.stderr)), (PRETTY.to_owned(), String::new()));
    let same = fmt(&["--check", "-"], root(), PRETTY.as_bytes());
    assert!(same.status.success() && same.stdout.is_empty() && same.stderr.is_empty(), "{same:?}");
    let checked = fmt(&["--check", "-"], root(), UGLY.as_bytes());
    assert_eq!(checked.status.code(), Some(1));
    assert!(text(&checked.stdout).contains("\n-scheduler x{ // why\n"), "{checked:?}");
    assert!(text(&checked.stdout).contains("\n+scheduler x { // why\n"), "{checked:?}");
    for (bad, code) in [
        (&b"scheduler x { thread { int } }"[..], "error[E0101]"),
        (b"\xff\xfe", "error[E0103]"),
        (b"", "error[E0104]"),
        (&vec![b' '; (4 << 20) + 1], "error[E0105]"),
    ] {
        let refused = fmt(&["-"], root(), bad);
        assert_eq!(refused.status.code(), Some(1));
        assert!(refused.stdout.is_empty() && text(&refused.stderr).contains(code), "{refused:?}");
    }
}

#[test]
fn fmt_replaces_files_whole_and_leaves_the_rest_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    fs::create_dir_all(path("below/.hidden")).unwrap();
    for name in ["a.sched", "below/b.sched", "below/.hidden/c.sched", "d.txt"] {
        fs::write(path(name), UGLY).unwrap();
    }
    fs::write(path("below/bad.sched"), "scheduler x {").unwrap();
    fs::write(path("latin.sched"), b"scheduler x { /* \xe9 */ }").unwrap();
    fs::write(path("crlf.sched"), format!("\u{feff}{}", PRETTY.replace('\n', "\r\n"))).unwrap();
    fs::set_permissions(path("a.sched"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../a.sched", path("below/link.sched")).unwrap();
    symlink("..", path("below/up")).unwrap();

    let done = fmt(&["below/link.sched"], folder.path(), b"");
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        "below/link.sched: formatted\n1 file formatted, 0 left as before\n"
    );
    assert!(path("below/link.sched").is_symlink());
    assert_eq!(read("a.sched"), PRETTY);
    assert_eq!(fs::metadata(path("a.sched")).unwrap().permissions().mode() & 0o7777, 0o640);

    let before = fs::metadata(path("a.sched")).unwrap().modified().unwrap();
    let done = fmt(&["."], folder.path(), b"");
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert_eq!(before, fs::metadata(path("a.sched")).unwrap().modified().unwrap(), "nothing changed");
    for (name, expected) in [
        ("below/b.sched", PRETTY),
        ("crlf.sched", PRETTY),
        ("below/.hidden/c.sched", UGLY),
        ("d.txt", UGLY),
        ("below/bad.sched", "scheduler x {"),
    ] {
        assert_eq!(read(name), expected, "{name}");
    }
    assert_eq!(fs::read(path("latin.sched")).unwrap(), b"scheduler x { /* \xe9 */ }");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("[E0109]") && said.contains("[E0103]") && said.ends_with("error: 2 errors\n"), "{said}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 5, "nothing else is left behind: {left:?}");
}

/// Root may write everything; then there is nothing to see.
#[test]
fn fmt_leaves_what_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.sched");
    fs::write(&file, UGLY).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let may = fs::OpenOptions::new().append(true).open(&file).is_ok();
    let done = fmt(&["a.sched"], folder.path(), b"");
    assert_eq!(done.status.success(), may, "{done:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), if may { PRETTY } else { UGLY });
    assert!(may || String::from_utf8_lossy(&done.stderr).contains("error[E0503]"), "{done:?}");
}
