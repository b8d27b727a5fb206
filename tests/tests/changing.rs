//! The application may change an imported variable between any two reads: the explorer looks at that, and what it finds happens again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use catapults_compiler::compile;
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_simulator::explorer::{Kind, Options, Report, explore};
use catapults_simulator::script::Step;
use catapults_tests::native;
use catapults_tests::replay::{parse, replay};

/// A policy that decides by what it imports; `other` holds whom `switch_out` sends there. Since an element of an array decides where
/// threads begin, the compiler does not refuse what certainly fails later.
fn policy(schedule: &str) -> Verified<Policy> {
    let text = format!(
        "scheduler changing {{
           imports {{ int load default 0; bool open default false; }}
           threadimports {{ int wish default 0; }}
           data {{ threadref current; queue ready; queue other : READY; int _kinds[2]; }}
           event newthread(t) {{ if (_kinds[|ready| & 1] == 0) t => ready; else t => other; }}
           event event_raised(t) {{ t => ready; }}
           event switch_out(t) {{ if (t.wish > 0) t => other; else t => ready; }}
           event schedule {{ {schedule} dispatch current; }}
         }}"
    );
    let source = Source::new("changing.sched", text);
    compile(&source, &native()).unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(&source, false))).0
}

const TAKE: &str = "if (|ready| > 0) ready => current; else other => current;";

fn explored(schedule: &str) -> Report {
    let policy = policy(schedule);
    let report = explore(&policy, &native(), &Options { threads: 2, ..Options::default() }, &mut |_, _| {}).unwrap();
    if let Some(found) = &report.counterexample {
        // What would be saved decides in the interpreter what it says.
        let script = found.scenario.script("found");
        let lines: Vec<&str> =
            script.lines().filter(|line| !line.starts_with("//") && !line.starts_with("policy ")).collect();
        let steps: Vec<&str> = lines.iter().map(|line| line.split(" -> ").next().unwrap()).collect();
        let decided: Vec<&str> = lines.iter().copied().filter(|line| line.contains(" -> ")).collect();
        assert_eq!(replay(&policy, &parse(&steps.join("\n")).unwrap()), decided);
    }
    report
}

/// Goes wrong when the handler finds two values, and only then.
fn needs_a_change(schedule: &str) {
    let report = explored(schedule);
    let found = report.counterexample.unwrap_or_else(|| panic!("nothing found of: {schedule}"));
    assert_eq!(found.kind, Kind::Guard);
    assert!(found.scenario.moments.iter().any(|moment| matches!(moment.step, Step::LetRead(..))), "{}", found.scenario);
}

#[test]
fn two_reads_of_a_variable_can_differ() {
    needs_a_change(&format!("if (load > 0) {{ {TAKE} }} if (load <= 0) {{ {TAKE} }}"));
    needs_a_change(&format!("if (open) {{ {TAKE} }} if (!open) {{ {TAKE} }}"));
    // The third differs from the first two.
    needs_a_change(&format!("if (load > 0) {{ }} if (load > 0) {{ {TAKE} }} if (load <= 0) {{ {TAKE} }}"));
}

#[test]
fn a_variable_of_a_thread_too() {
    let twice = "if (|ready| > 0) { foreach t in ready { if (t.wish > 0 && |current| == 0) t => current; }
                 foreach t in ready { if (t.wish <= 0 && |current| == 0) t => current; } }
                 else other => current;";
    needs_a_change(twice);
}

#[test]
fn what_the_policy_assigned_can_be_changed_before_it_reads_it() {
    needs_a_change(&format!("load = 1; if (load > 0) {{ {TAKE} }}"));
}

#[test]
fn a_copy_does_not_change() {
    let report = explored(&format!("int now_ = load; if (now_ > 0) {{ {TAKE} }} if (now_ <= 0) {{ {TAKE} }}"));
    assert!(report.counterexample.is_none(), "{:?}", report.counterexample);
    assert!(report.limits.iter().all(|limit| !limit.contains("while a handler runs")), "{:?}", report.limits);
}

/// In more ways than are tried: it is said.
#[test]
fn reads_beyond_the_bound_are_a_limit() {
    let reads = "if (load > 0) { } ".repeat(8);
    let report = explored(&format!("{reads} {TAKE}"));
    assert!(report.counterexample.is_none(), "{:?}", report.counterexample);
    assert!(report.limits.iter().any(|limit| limit.contains("while a handler runs")), "{:?}", report.limits);
}
