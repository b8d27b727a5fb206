//! What the `catapults` command is given: wrong usage, standard input, files of another kind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use std::fs;

use catapults_tests::command::{SCENARIO, folder, policy, run, said, with_input};
use catapults_tests::root;

/// What no files can make right has a status of its own.
#[test]
fn wrong_usage_has_its_own_status() {
    let folder = folder();
    let two = format!("{SCENARIO}{}", SCENARIO.replace("scenario s", "scenario t"));
    fs::write(folder.path().join("two.scenario"), two).unwrap();
    for arguments in [
        &[][..],
        &["nosuch"],
        &["framework"],
        &["trace"],
        &["check"],
        &["run", "fifo.sched"],
        &["run", "-", "--", "true"],
        &["new"],
        &["new", "-"],
        &["new", "a-b"],
        &["new", "a.sched"],
        &["new", "queue"],
        &["new", "a", "--like", "nosuch"],
        &["new", "a", "--framework", "nosuch"],
        &["check", "--framework", "nosuch", "fifo.sched"],
        &["check", "--framework", "fifo.sched", "fifo.sched"],
        &["check", "--most-guarded", "-1", "fifo.sched"],
        &["check", "--message-format", "xml", "fifo.sched"],
        &["explore", "--threads", "-1", "fifo.sched"],
        &["explore", "--states", "0", "fifo.sched"],
        &["explore", "--seconds", "-1", "fifo.sched"],
        &["explore", "--bound", "-1", "fifo.sched"],
        &["explore", "--save", ".", "fifo.sched"],
        &["explore", "--save", "a.scenario", "-"],
        &["explore", "--save", "fifo.sched", "fifo.sched"],
        &["explore", "--save", "a", "fifo.sched"],
        &["explore", "--save", "a.json", "fifo.sched"],
        &["sim", "--only", "nosuch", "fifo.scenario"],
        &["sim", "--trace", "b.trace", "two.scenario"],
        &["sim", "--plot", "b.svg", "two.scenario"],
        &["sim", "--plot", "b.svg", "--policy", "fifo.sched", "--policy", "fifo.sched", "fifo.scenario"],
        &["sim", "--html", "b.html", "--policy", "fifo.sched", "--policy", "fifo.sched", "two.scenario"],
        &["sim", "--html", "b.html", "--html", "c.html", "fifo.scenario"],
        &["sim", "--html", "b.html", "--trace", "./b.html", "fifo.scenario"],
        &["sim", "--plot", "b.svg", "--trace", "./b.svg", "fifo.scenario"],
        &["sim", "--compiled", "--framework", "freertos", "fifo.scenario"],
        &["test", "--only", "nosuch", "fifo.scenario"],
        &["test", "--only", "nosuch", "."],
        &["run", "--framework", "freertos", "fifo.sched", "--", "true"],
        &["grammar", "--framework", "freertos", "--hierarchies"],
        &["fmt", "-", "fifo.sched"],
        &["build", "--as", "nosuch", "fifo.sched"],
        &["build", "fifo.sched", "-o", "fifo.so"],
        &["sim", "--seed", "-1", "fifo.sched"],
        &["sim", "--processors", "0", "fifo.sched"],
        &["sim", "--from", "2s", "--to", "1s", "fifo.sched"],
        &["sim", "--from", "-1s", "fifo.sched"],
        &["sim", "--policy", "fifo.sched", "fifo.sched"],
        &["sim", "--plot", "a.png", "fifo.sched"],
        &["sim", "--html", "a.svg", "fifo.sched"],
        &["explain", "E9999"],
        &["trace", "show", "a.trace", "--newest", "-1"],
        &["trace", "show", "a.trace", "--from", "2s", "--to", "1s"],
        &["trace", "show", "a.trace", "--processor", "-1"],
        &["trace", "show", "a.trace", "--kind", "nosuch"],
        &["trace", "plot", "a.trace", "-o", "a.png"],
        &["trace", "html", "a.trace", "-o", "a.svg"],
        &["trace", "html", "a.trace", "a.trace", "a.trace"],
        &["trace", "html", "a.trace", "--from", "2s", "--to", "1s"],
        &["trace", "export", "a.trace", "-o", "a.txt"],
        &["trace", "to-scenario", "a.trace", "--most", "-1"],
        &["trace", "import", "a.trace"],
        &["trace", "import", "a.trace", "-o", "-"],
        &["trace", "to-scenario", "a.trace", "-o", "-"],
        &["sim", "fifo.sched", "--trace", "-"],
    ] {
        let refused = run(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", said(&refused));
        assert!(refused.stdout.is_empty() && !refused.stderr.is_empty(), "{arguments:?}: {}", said(&refused));
        assert!(!said(&refused).contains("to pass '-1"), "this helps nobody: {}", said(&refused));
    }
    for arguments in [&["check", "nosuch.sched"][..], &["sim", "nosuch.scenario"], &["trace", "show", "fifo.sched"]] {
        assert_eq!(run(folder.path(), arguments).status.code(), Some(1), "{arguments:?}");
    }
}

/// `-` stands for it wherever a file is read once; what it has is told by its first word.
#[test]
fn standard_input_is_read() {
    let folder = folder();
    let of = |arguments: &[&str], input: &str| with_input(folder.path(), arguments, input);
    let (fifo, commented) = (policy("fifo.sched"), format!("/* one */ // two\n{SCENARIO}"));
    let hierarchy = fs::read_to_string(root().join("policies/desktop.hierarchy")).unwrap();
    for (arguments, input, part) in [
        (&["check", "-"][..], fifo.as_str(), "1 policy is safe to run\n"),
        (&["check", "-"], &commented, "1 scenario can be simulated\n"),
        (&["check", "-", "fifo.sched"], &fifo, "2 policies are safe to run\n"),
        (&["explore", "--threads", "1", "-"], &fifo, "proved for 1 thread"),
        (&["ir", "-"], &fifo, "fifo"),
        (&["sim", "-"], &fifo, "usual under fifo"),
        (&["sim", "-"], &commented, "s under fifo"),
        (&["sim", "fifo.scenario", "--policy", "-"], &fifo, "s under fifo"),
        (&["test", "-"], &commented, "1 passed"),
        (&["build", "--as", "source", "-o", "made", "-"], &fifo, "fifo.c"),
        (&["fmt", "-"], &fifo, "scheduler fifo"),
    ] {
        let done = of(arguments, input);
        assert!(done.status.success(), "{arguments:?}: {}", said(&done));
        assert!(String::from_utf8_lossy(&done.stdout).contains(part), "{arguments:?}: {}", said(&done));
    }
    let refused = of(&["check", "-"], "scheduler x { thread { int } }");
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("--> <stdin>:1:"), "{}", said(&refused));
    let refused = of(&["check", "-"], &hierarchy);
    assert!(said(&refused).contains("<stdin>") && said(&refused).contains("E0605"), "{}", said(&refused));
    // A file of this name has a path.
    fs::write(folder.path().join("-"), "scheduler").unwrap();
    assert!(of(&["check", "-"], &fifo).status.success());
    assert_eq!(of(&["check", "./-"], &fifo).status.code(), Some(1));
}

/// Whatever takes a file reads standard input for `-`, or says that it does not.
#[test]
fn standard_input_is_read_or_refused() {
    let folder = folder();
    let fifo = policy("fifo.sched");
    let recording = "a recording must be a file, but `-` is standard input";
    for (arguments, status, part) in [
        (&["trace", "show", "-"][..], 2, recording),
        (&["trace", "summary", "-"], 2, recording),
        (&["trace", "plot", "-"], 2, recording),
        (&["trace", "plot", "-", "-o", "b.svg"], 2, recording),
        (&["trace", "html", "-", "-o", "b.html"], 2, recording),
        (&["trace", "html", "a.trace", "-"], 2, recording),
        (&["trace", "export", "-"], 2, recording),
        (&["trace", "to-scenario", "-"], 2, recording),
        (&["trace", "compare", "-", "a.trace"], 2, recording),
        (&["trace", "compare", "a.trace", "-"], 2, recording),
        (&["run", "-", "--", "true"], 2, "cannot come from standard input"),
        (&["check", "--framework", "-", "fifo.sched"], 2, "`-` is standard input"),
        (&["build", "fifo.sched", "-o", "-"], 2, "`-` is standard input, not an output"),
        (&["sim", "fifo.scenario", "--plot", "-"], 2, "`-` is standard input, not an output"),
        (&["sim", "fifo.scenario", "--html", "-"], 2, "`-` is standard input, not an output"),
        (&["sim", "fifo.scenario", "--trace", "-"], 2, "`-` is standard input, not an output"),
        (&["test", "fifo.scenario", "--junit", "-"], 2, "`-` is standard input, not an output"),
        (&["explore", "fifo.sched", "--save", "-"], 2, "`-` is standard input, not an output"),
        (&["sim", "-", "--policy", "-"], 2, "standard input cannot be both"),
        (&["test", "-", "--policy", "-"], 2, "standard input can be given once"),
        (&["test", "fifo.scenario", "--policy", "-"], 0, "1 passed"),
        (&["fmt", "-", "fifo.sched"], 2, "not formatted together with files"),
        (&["new", "-"], 2, "`-` is standard input, not a name"),
        (&["new", "made", "--like", "-"], 0, "made.sched: a policy to start from"),
    ] {
        let done = with_input(folder.path(), arguments, &fifo);
        assert_eq!(done.status.code(), Some(status), "{arguments:?}: {}", said(&done));
        assert!(said(&done).contains(part), "{arguments:?}: {}", said(&done));
    }
    assert!(!folder.path().join("-").exists());
    let native = fs::read_to_string(root().join("frameworks/native/native.framework")).unwrap();
    let done = with_input(&root().join("frameworks/native"), &["framework", "check", "-"], &native);
    assert!(done.status.success() && said(&done).contains("1 framework description is sound"), "{}", said(&done));
    let json = fs::read_to_string(root().join("tests/cli/rtapp.json")).unwrap();
    let policy_file = root().join("policies/fixed_priority.sched");
    let done = with_input(folder.path(), &["sim", "-", "--policy", policy_file.to_str().unwrap()], &json);
    assert!(done.status.success() && said(&done).contains("workload under fixed_priority"), "{}", said(&done));
    // There is no name by which a policy could be found.
    let unnamed = SCENARIO.replace("policy \"fifo.sched\";", "");
    for arguments in [&["check", "-"][..], &["sim", "-"], &["test", "-"]] {
        let refused = with_input(folder.path(), arguments, &unnamed);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {}", said(&refused));
        assert!(said(&refused).contains("error[E0706]: the scenario names no policy"), "{}", said(&refused));
        assert!(
            said(&refused).contains("policy \"edf.sched\";") && !said(&refused).contains("-.sched"),
            "{}",
            said(&refused)
        );
    }
    for arguments in [&["sim", "-", "--policy", "fifo.sched"][..], &["test", "-", "--policy", "fifo.sched"]] {
        let done = with_input(folder.path(), arguments, &unnamed);
        assert!(done.status.success(), "{arguments:?}: {}", said(&done));
    }
}

/// A description of another kind is told for what it is, and nobody gave `--framework`.
#[test]
fn what_is_no_framework_is_told_by_its_name() {
    let folder = folder();
    for (given, what) in [
        ("fifo.sched", "`fifo.sched` is a policy, not a framework description"),
        ("./fifo.sched", "is a policy, not a framework description"),
        ("nosuch", "there is no framework `nosuch`"),
    ] {
        let refused = run(folder.path(), &["framework", "check", given]);
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
        assert!(said(&refused).contains(what) && !said(&refused).contains("--> --framework"), "{}", said(&refused));
    }
    let refused = run(folder.path(), &["check", "--framework", "nosuch", "fifo.sched"]);
    assert!(said(&refused).contains("--> --framework"), "{}", said(&refused));
}

/// Whatever is given to whatever command: it says what is wrong, where, and what to do, ends with a status that says so, and changes nothing.
#[test]
fn whatever_is_given_is_answered() {
    let folder = folder();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    put("empty", b"");
    put("binary", b"\xff\x00\x01 binary \x80");
    put("object", b"\x7fELF\x02\x01\x01\x00");
    put("packed", b"\x1f\x8b\x08\x00");
    put("cut.trace", &fs::read(folder.path().join("a.trace")).unwrap()[..100]);
    put("tabs.scenario", b"scenario s {\r\n\tpolicy \"fifo.sched\";\r\n\tthread a * -1 { run 1ms; }\r\n}\r\n");
    put(
        "huge.scenario",
        b"\xef\xbb\xbfscenario s { policy \"fifo.sched\"; thread a * 99999999999999999999 { run 1ms; } }",
    );
    put("nowhere.scenario", b"scenario s { policy \"nowhere.sched\"; thread a { run 1ms; } }");
    put("folder.scenario", b"scenario s { policy \"below\"; thread a { run 1ms; } }");
    put("numbers.scenario", b"scenario s { policy \"fifo.sched\"; thread a { run file \"binary\"; } }");
    put("workload.json", b"{\"tasks\": {");
    fs::create_dir(folder.path().join("below")).unwrap();
    let all = || {
        let mut all: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all.into_iter().map(|path| (fs::read(&path).ok(), path)).collect::<Vec<_>>()
    };
    let before = all();
    let bad = [
        "missing",
        "missing.sched",
        "missing.scenario",
        "missing.trace",
        "fifo.sched/below",
        "below",
        "empty",
        "binary",
        "object",
        "packed",
        "cut.trace",
        "tabs.scenario",
        "huge.scenario",
        "nowhere.scenario",
        "folder.scenario",
        "numbers.scenario",
        "workload.json",
    ];
    let commands: [&[&str]; 23] = [
        &["new", "made", "--like"],
        &["new", "--framework", "fifo.sched"],
        &["check"],
        &["explore", "--threads", "1"],
        &["explore", "--threads", "1", "--save", "found.scenario"],
        &["build", "-o", "made"],
        &["sim"],
        &["sim", "--plot", "b.svg", "--trace", "b.trace"],
        &["sim", "--html", "b.html"],
        &["sim", "fifo.scenario", "--policy"],
        &["test"],
        &["test", "fifo.scenario", "--policy"],
        &["ir"],
        &["framework", "check"],
        &["check", "fifo.sched", "--framework"],
        &["trace", "show"],
        &["trace", "plot"],
        &["trace", "html"],
        &["trace", "html", "a.trace"],
        &["trace", "export"],
        &["trace", "to-scenario", "-o", "b.scenario"],
        &["trace", "compare", "a.trace"],
        &["trace", "import", "-o", "b.trace"],
    ];
    let mut answers = 0;
    for command in commands {
        for file in bad {
            // A scenario that has its own policy needs no other.
            if command.starts_with(&["test", "fifo.scenario"]) && !file.starts_with("missing") {
                continue;
            }
            let done = run(folder.path(), &[command, &[file]].concat());
            let said = said(&done);
            assert!(matches!(done.status.code(), Some(1 | 2)), "{command:?} {file}: {} {said}", done.status);
            assert!(said.contains("error[E") && said.contains("--> "), "{command:?} {file}: {said}");
            // What must be, or is expected, is what to do.
            let told =
                [" = help: ", " = note: ", "this must be ", "expected "].into_iter().any(|part| said.contains(part));
            assert!(told, "{command:?} {file}: {said}");
            assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{command:?} {file}: {said}");
            answers += 1;
        }
    }
    assert!(answers > 250, "{answers}");
    assert!(all() == before, "something changed");
    for file in ["empty", "binary", "below", "missing", "fifo.scenario"] {
        let done = run(folder.path(), &["run", file, "--", "true"]);
        assert!(done.status.code() == Some(1) && said(&done).contains(" = help: "), "run {file}: {}", said(&done));
    }
}
