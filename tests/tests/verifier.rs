//! What the kernel's verifier takes to accept policies as programs of BPF (frameworks/linux), for each policy of the library and of
//! `tests/run` that the dialect allows. `tests/verifier/costs.txt` has it; nothing may grow by a tenth. `UPDATE=1` writes the file.
//!
//! The kernel of this machine is asked. Another version looks at more or less: there only what no kernel would accept is a failure.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use catapults_compiler::emit::{self, emit};
use catapults_compiler::framework::Framework;
use catapults_compiler::source::Source;
use catapults_tests::compiled::Written;
use catapults_tests::differential::{allowed, files, name};
use catapults_tests::{framework_at, root};

const COSTS: &str = "tests/verifier/costs.txt";
/// No program may take more: a fifth of what the kernel allows, and most of its stack.
const MOST_INSTRUCTIONS: u64 = 200_000;
const MOST_STACK: u64 = 400;

/// What a policy takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cost {
    /// Of all programs.
    instructions: u64,
    states: u64,
    /// The deepest frame of one function, in bytes.
    stack: u64,
    /// The program that takes most instructions.
    worst: String,
    most: u64,
}

#[test]
fn the_verifier_takes_no_more_than_it_did() {
    let framework = framework_at("frameworks/linux/linux.framework");
    let folder = tempfile::tempdir().unwrap();
    let loader = loader();
    let mut costs = BTreeMap::new();
    for path in files("policies", "sched").into_iter().chain(files("tests/run", "sched")) {
        let Some(object) = object(&framework, &path, folder.path()) else { continue };
        let said = Command::new(&loader).arg("cost").arg(&object).output().unwrap();
        assert!(said.status.success(), "{}: {}", name(&path), String::from_utf8_lossy(&said.stderr));
        costs.insert(name(&path), cost(&String::from_utf8(said.stdout).unwrap()));
    }
    assert!(costs.len() > 30, "{} policies", costs.len());
    for (policy, Cost { worst, most, stack, .. }) in &costs {
        assert!(*most <= MOST_INSTRUCTIONS, "{policy}: the verifier looks at {most} instructions of `{worst}`");
        assert!(*stack <= MOST_STACK, "{policy}: a function has {stack} bytes of stack");
    }

    let text = written(&costs);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(root().join(COSTS), text).unwrap();
        return;
    }
    let known = fs::read_to_string(root().join(COSTS)).unwrap();
    if known.lines().next() != text.lines().next() {
        println!("{COSTS} is of another kernel; only the bounds were looked at: {}", kernel());
        return;
    }
    let known = read(&known);
    let mut wrong = Vec::new();
    for (policy, cost) in &costs {
        let Some((instructions, states)) = known.get(policy) else {
            wrong.push(format!("{policy} is not in the table"));
            continue;
        };
        for (what, now, before) in
            [("instructions", cost.instructions, *instructions), ("states", cost.states, *states)]
        {
            if now * 10 > before * 11 {
                wrong.push(format!("{policy}: the verifier looks at {now} {what}, and looked at {before}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\nif that is right: UPDATE=1 cargo test -p catapults-tests --test verifier",
        wrong.join("\n")
    );
}

/// A loop that takes years: the kernel ends it, and nothing goes on as if it had been done.
#[test]
fn a_loop_without_an_end_takes_the_policy_out() {
    let framework = framework_at("frameworks/linux/linux.framework");
    let folder = tempfile::tempdir().unwrap();
    let text = "scheduler spinning {
  data { threadref current; queue ready; int turns; }
  event newthread(t) { t => ready; }
  event switch_out(t) { while (turns < 1000000000000) { turns = turns + 1; } t => ready; }
  event event_raised(t) { t => ready; }
  event schedule { ready => current; dispatch current; }
}
";
    let path = folder.path().join("spinning.sched");
    fs::write(&path, text).unwrap();
    let object = object(&framework, &path, folder.path()).unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "newthread 1\nschedule\nswitch_out 1\nschedule\n").unwrap();
    let mut command = Command::new(loader());
    let said = command.arg("steps").arg(&object).stdin(fs::File::open(&script).unwrap()).output().unwrap();
    assert_eq!((said.status.code(), &*String::from_utf8_lossy(&said.stdout)), (Some(1), "\n1\n"));
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(text.contains("`switch_out` has used up what the kernel allows a loop: the policy is out"), "{text}");
}

/// A loader that the kernel does not let load says what is missing.
#[test]
fn who_may_not_load_is_told_what_is_missing() {
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-all", "--inh-caps=-all", "--reuid=65534", "--clear-groups"]);
    let said = command.arg(loader()).args(["cost", "none.bpf.o"]).output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(1), "{text}");
    assert!(text.contains("it lacks CAP_BPF and CAP_PERFMON"), "{text}");
}

#[test]
fn wrong_usage_of_the_loader_is_status_2() {
    for arguments in [&[][..], &["steps"], &["cost"], &["load"]] {
        let said = Command::new(loader()).args(arguments).output().unwrap();
        assert_eq!(said.status.code(), Some(2), "{arguments:?}");
    }
}

/// The path of the loader, which is built if it is not there.
fn loader() -> String {
    let made = Command::new("make")
        .args(["--silent", "-C"])
        .arg(root().join("frameworks/linux"))
        .arg("loader")
        .env_remove("MAKEFLAGS")
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// A policy, compiled. `None`: it is not for this host.
fn object(framework: &Framework, path: &Path, folder: &Path) -> Option<std::path::PathBuf> {
    let source = Source::from_bytes(name(path), fs::read(path).unwrap()).ok()?;
    let source = catapults_tests::brought(source, path.parent().unwrap());
    let compiled = allowed(&source, framework)?;
    let (policy, _) = compiled.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false)));
    let written = Written::into(folder, &emit(&policy, framework).unwrap()).unwrap();
    let output = written.sources[0].with_extension("bpf.o");
    let build = framework.builds.iter().find(|build| build.name == "programs").unwrap();
    let parts = [
        ("{source}", written.sources[0].clone()),
        ("{output}", output.clone()),
        ("{framework}", root().join("frameworks/linux")),
        ("{shared}", root().join("frameworks/shared")),
    ];
    let fill = |word: &str| {
        parts.iter().fold(word.to_owned(), |text, (part, path)| text.replace(part, &path.display().to_string()))
    };
    let mut words = emit::command(build, &[policy.policy()]).map(fill);
    let said = Command::new(words.next().unwrap()).args(words).output().unwrap();
    assert!(said.status.success(), "{}: {}", name(path), String::from_utf8_lossy(&said.stderr));
    Some(output)
}

/// What the loader says of one object, in sum.
fn cost(said: &str) -> Cost {
    let mut all = Cost::default();
    for line in said.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, program, instructions, states, stack] = words[..] else { panic!("{line}") };
        let instructions: u64 = instructions.parse().unwrap();
        all.instructions += instructions;
        all.states += states.parse::<u64>().unwrap();
        all.stack = all.stack.max(stack.parse().unwrap());
        if instructions > all.most {
            (all.most, all.worst) = (instructions, program.to_owned());
        }
    }
    all
}

fn written(costs: &BTreeMap<String, Cost>) -> String {
    let mut text = format!(
        "# {}, clang-19: what the verifier looks at, by policy\n# {:42} {:>12} {:>8} {:>6}  most: program, instructions\n",
        kernel(),
        "policy",
        "instructions",
        "states",
        "stack"
    );
    for (policy, Cost { instructions, states, stack, worst, most }) in costs {
        let _ = writeln!(text, "{policy:44} {instructions:12} {states:8} {stack:6}  {worst} {most}");
    }
    text
}

/// The instructions and states of each policy.
fn read(text: &str) -> BTreeMap<String, (u64, u64)> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0].to_owned(), (words[1].parse().unwrap(), words[2].parse().unwrap()))
    });
    rows.collect()
}

/// The version of the kernel, without what does not change the verifier much: `Linux 6.18`.
fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    format!("Linux {}", release.trim().split('.').take(2).collect::<Vec<_>>().join("."))
}
