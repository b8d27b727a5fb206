//! A guard that is said to fail (E0417, E0418) fails in the explorer, and where no guard is left none fails: random policies.
//!
//! What is refused cannot be explored. So what is explored is its twin, which tests a product first: nobody knows which values that has, and
//! no path beyond it is taken for one that can be taken.

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Severity;
use catapults_compiler::source::Source;
use catapults_simulator::explorer::{Kind, Options, explore};
use catapults_tests::choices::Choices;
use catapults_tests::native;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// So many policies.
const CASES: usize = 1000;

fn test(choices: &mut Choices) -> String {
    let container = choices.one_of(&["ready", "other", "third"]);
    let compares = choices.one_of(&["==", ">", "<", "!="]);
    let number = choices.one_of(&["0", "1", "2"]);
    match choices.below(8) {
        0 => "busy".to_owned(),
        1 => format!("load {compares} {number}"),
        2 => format!("n {compares} {number}"),
        3 => format!("m {compares} n"),
        4 => format!("t.p {compares} {number}"),
        5 => "flag".to_owned(),
        _ => format!("|{container}| {compares} {number}"),
    }
}

fn statement(choices: &mut Choices, depth: usize) -> String {
    let from = choices.one_of(&["ready", "other", "third"]);
    let to = choices.one_of(&["ready", "other", "third"]);
    match choices.below(13) {
        0 => "n = load;".to_owned(),
        1 => "m = n;".to_owned(),
        2 => format!("flag = |{from}| > 0;"),
        3 => "t.p = load;".to_owned(),
        4 => format!("n = |{from}|;"),
        5 | 6 if depth < 2 => {
            let (condition, then) = (test(choices), statement(choices, depth + 1));
            format!("if ({condition}) {{ {then} }} else {{ {} }}", statement(choices, depth + 1))
        }
        7 => format!("if (|{from}| > 0) {from} => {to};"),
        _ => format!("\n{from} => {to};\n"),
    }
}

fn policy(bytes: &[u8], twin: bool) -> String {
    let mut choices = Choices::new(bytes);
    let body: String = (0..3).map(|_| statement(&mut choices, 0)).collect();
    // The explorer has imports be what they are compared with, and beside it.
    let first = "if (load * 3 == 1 && load != -1 && load != 0 && load != 1 && load != 2) { wide = 1; }";
    let first = if twin { first } else { "" };
    framed(&format!("{first} {body}"))
}

/// A policy of which this follows in `switch_out`.
fn framed(body: &str) -> String {
    format!(
        "scheduler example {{
           thread {{ int p; }}
           imports {{ int load default 0; bool busy default false; }}
           data {{ threadref current; queue ready; queue other : READY; queue third : READY; int n; int m; int wide; bool flag; }}
           event newthread(t) {{ t => ready; }}
           event event_raised(t) {{ t => ready; }}
           event switch_out(t) {{ t => other; {body} }}
           event schedule {{ if (|ready| > 0) ready => current; else if (|other| > 0) other => current;
                             else third => current; dispatch current; }}
         }}"
    )
}

#[test]
fn what_is_certain_to_fail_fails_and_what_is_proved_does_not() {
    let framework = native();
    let options = Options { threads: 3, states: 20_000, bound: 3, starvation: false, ..Options::default() };
    let mut runner = TestRunner::deterministic();
    let strategy = vec(any::<u8>(), 40);
    let (mut refused, mut warned, mut proved) = (0, 0, 0);
    for _ in 0..CASES {
        let bytes = strategy.new_tree(&mut runner).unwrap().current();
        let text = policy(&bytes, false);
        match compile(&Source::new("certain.sched", text.clone()), &framework) {
            Ok((verified, _)) if verified.guards_left().is_empty() => {
                proved += 1;
                let report = explore(&verified, &framework, &options, &mut |_, _| {}).unwrap();
                assert!(report.counterexample.is_none(), "{:?}\n{text}", report.counterexample);
            }
            Ok((_, said)) => {
                let Some(warning) = said.iter().find(|one| one.code == "E0418") else { continue };
                warned += usize::from(twin_fails(&bytes, &warning.title, &options));
            }
            Err(diagnostics) => {
                let mut errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
                let Some(error) = errors.next().filter(|one| one.code == "E0417") else { continue };
                refused += usize::from(twin_fails(&bytes, &error.title, &options));
            }
        }
    }
    let counts = format!("{refused} refused, {warned} warned of, {proved} proved");
    println!("{counts}");
    assert!(refused * 50 > CASES && warned * 50 > CASES && proved * 10 > CASES, "{counts} of {CASES}");
}

/// A guard of the twin fails, if the twin is accepted.
fn twin_fails(bytes: &[u8], title: &str, options: &Options) -> bool {
    let (framework, text) = (native(), policy(bytes, true));
    let Ok((twin, _)) = compile(&Source::new("twin.sched", text.clone()), &framework) else { return false };
    let report = explore(&twin, &framework, options, &mut |_, _| {}).unwrap();
    let found = report.counterexample.unwrap_or_else(|| panic!("{title}: nothing fails:\n{text}"));
    assert_eq!(found.kind, Kind::Guard, "{}\n{text}", found.what);
    true
}

/// Numbers that hang together cannot have any values: nothing fails where it could only if they did.
#[test]
fn what_hangs_together_is_not_taken_for_free() {
    for body in [
        "n = load; m = n; if (n < 1) { if (m > 1) ready => third; }",
        "n = load * 6; if (n == 1) ready => third;",
        "if (load * 6 == 1) ready => third;",
        "n = load; m = n - n; if (m > 0) ready => third;",
        "n = load; if (n - n > 0) ready => third;",
        "t.p = load; n = t.p; if (t.p < 1) { if (n > 1) ready => third; }",
    ] {
        let source = Source::new("together.sched", framed(body));
        let said = compile(&source, &native()).map(|_| ()).map_err(|diagnostics| diagnostics.render(&source, false));
        assert_eq!(said, Ok(()), "{body}");
    }
}
