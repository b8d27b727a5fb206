//! What is said of loops is so (E0413): random small ones that are refused run on and on in the interpreter, and those of which nothing is
//! said end, whatever the application imports.
//!
//! What is refused cannot be interpreted. So what runs is its twin, in which every turn is counted, and the handler ends after many.

use std::fmt::Write as _;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Severity;
use catapults_compiler::framework::Framework;
use catapults_compiler::interp::{Machine, ThreadId, Variables};
use catapults_compiler::policy::{Float, Policy, Value};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::choices::Choices;
use catapults_tests::native;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Who takes so many turns does not end: ints have 16 bits here.
const MANY: u32 = 100_000;

/// What the loops of a policy have for counters and bounds.
const INTS: [&str; 6] = ["i", "j", "n", "m", "t.p", "t.q"];

/// The body of a handler as it is written: one loop a line.
struct Writer<'a> {
    choices: Choices<'a>,
    text: String,
    /// Whether turns are counted.
    twin: bool,
    loops: usize,
}

impl Writer<'_> {
    fn int(&mut self) -> &'static str {
        self.choices.one_of(&INTS)
    }

    fn number(&mut self) -> &'static str {
        self.choices.one_of(&["0", "1", "2", "3", "7", "10", "-1", "100"])
    }

    fn test(&mut self) -> String {
        let compares = self.choices.one_of(&["<", "<=", ">", ">=", "!=", "==", "<", ">"]);
        match self.choices.below(10) {
            0 => "lit".to_owned(),
            1 => "c".to_owned(),
            2 => format!("x {compares} {}", self.choices.one_of(&["0.0", "1.5", "100.0", "1e300"])),
            3 => format!("{} {compares} |ready|", self.int()),
            4 => format!("a {compares} {}", self.number()),
            5 => format!("{} {compares} {}", self.int(), self.int()),
            _ => format!("{} {compares} {}", self.int(), self.number()),
        }
    }

    fn condition(&mut self) -> String {
        match self.choices.below(12) {
            0 => format!("{} && {}", self.test(), self.test()),
            1 => format!("{} || {}", self.test(), self.test()),
            2 => format!("!({})", self.test()),
            3 => "true".to_owned(),
            _ => self.test(),
        }
    }

    fn assignment(&mut self) -> String {
        let int = self.int();
        match self.choices.below(9) {
            0 => format!("{int} = {};", self.number()),
            1 => format!("{int} = {};", self.int()),
            2 => format!("{int} = {int} / 2;"),
            3 => format!("{int} *= 2;"),
            4 => format!("x = x {} {};", self.choices.one_of(&["+", "-", "*"]), self.choices.one_of(&["1.0", "2.0"])),
            5 => format!("{int} {} {};", self.choices.one_of(&["+=", "-="]), self.number()),
            6 => format!("{int}--;"),
            _ => format!("{int}++;"),
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.choices.below(12) {
            0 => {
                let (test, then, otherwise) = (self.condition(), self.assignment(), self.assignment());
                let _ = write!(self.text, "if ({test}) {then} else {otherwise} ");
            }
            1 => {
                let (test, then) = (self.condition(), self.assignment());
                let _ = write!(self.text, "if ({test}) {then} ");
            }
            2 => {
                let test = self.condition();
                let _ = write!(self.text, "if ({test}) return; ");
            }
            3 => self.text.push_str("if (|ready| > 0) ready => other; "),
            4 => self.text.push_str("ready => ready; "),
            5 if depth == 0 => self.a_loop(depth + 1),
            6 => {
                let test = self.test();
                let _ = write!(self.text, "lit = {test}; ");
            }
            _ => {
                let assignment = self.assignment();
                let _ = write!(self.text, "{assignment} ");
            }
        }
    }

    fn a_loop(&mut self, depth: usize) {
        let number = self.loops;
        self.loops += 1;
        self.text.push('\n');
        if self.twin {
            let _ = write!(self.text, "came{number} = true; ");
        }
        let last = self.choices.chance(20);
        let (condition, step) = if self.choices.chance(40) {
            let (int, bound) = (self.int(), if self.choices.chance(50) { self.number() } else { self.int() });
            let (compares, step) = self.choices.one_of(&[
                ("<", "++"),
                (">", "--"),
                ("<=", "++"),
                ("!=", " += 2"),
                (">", " /= 2"),
                ("<", " *= 2"),
            ]);
            (format!("{int} {compares} {bound}"), format!("{int}{step}"))
        } else {
            let step = if self.choices.chance(30) { self.assignment() } else { String::new() };
            (self.condition(), step.trim_end_matches(';').to_owned())
        };
        let last = last && step.is_empty();
        let _ = if last {
            write!(self.text, "do {{ ")
        } else if step.is_empty() {
            write!(self.text, "while ({condition}) {{ ")
        } else {
            write!(self.text, "for (; {condition}; {step}) {{ ")
        };
        if self.twin {
            let _ = write!(self.text, "turns = turns + 1.0; if (turns > {MANY}.0) {{ over = true; return; }} ");
        }
        for _ in 0..=self.choices.below(3) {
            self.statement(depth);
        }
        self.text.push('}');
        if last {
            let _ = write!(self.text, " while ({condition});");
        }
    }
}

/// A policy with a loop in `switch_out`, and the lines of its loops.
fn policy(bytes: &[u8], twin: bool) -> String {
    let mut writer = Writer { choices: Choices::new(bytes), text: String::new(), twin, loops: 0 };
    let (i, j) = (writer.choices.one_of(&["0", "1", "n", "a", "10"]), writer.choices.one_of(&["0", "5", "m", "b"]));
    let x = writer.choices.one_of(&["0.0", "1.0", "w"]);
    if writer.choices.chance(40) {
        let assignment = writer.assignment();
        let _ = write!(writer.text, "{assignment} ");
    }
    writer.a_loop(0);
    format!(
        "scheduler example {{
           thread {{ int p; int q; }}
           imports {{ int a default 0; int b default 0; bool c default false; float w default 0.0; }}
           data {{ threadref current; queue ready; queue other : READY; int n; int m; bool lit;
                   float turns; bool over; bool came0; bool came1; bool came2; bool came3; }}
           event newthread(t) {{ t.p = a; t.q = b; n = b; m = a; lit = c; t => ready; }}
           event event_raised(t) {{ t => ready; }}
           event schedule {{ if (|ready| > 0) ready => current; else other => current; dispatch current; }}
           event switch_out(t) {{ t => ready; int i = {i}; int j = {j}; float x = {x};
             {} }}
         }}",
        writer.text
    )
}

/// What is said of a policy.
enum Said {
    /// It is refused for loops, and for nothing else: the numbers of those that never end, and of those that do not once they have begun.
    Endless(Vec<usize>, Vec<usize>),
    /// They end.
    Ends,
    /// Something else.
    Other,
}

fn said(text: &str, framework: &Framework) -> Said {
    let source = Source::new("loops.sched", text.to_owned());
    let first = 1 + text.lines().position(|line| line.contains("event switch_out")).unwrap();
    match compile(&source, framework) {
        Ok((_, warnings)) if warnings.iter().all(|one| one.code != "E0413") => Said::Ends,
        Ok(_) => Said::Other,
        Err(diagnostics) => {
            let errors = || diagnostics.iter().filter(|one| one.severity == Severity::Error);
            if errors().any(|one| one.code != "E0413") {
                return Said::Other;
            }
            let of = |once: bool| {
                errors()
                    .filter(|one| one.title.contains("once it has begun") == once)
                    .map(|one| usize::try_from(one.primary.0.line).unwrap() - first - 2)
                    .collect()
            };
            Said::Endless(of(false), of(true))
        }
    }
}

/// What became of a run: whether it took many turns, and to which loops it came.
struct Ran {
    over: bool,
    came: Vec<bool>,
}

fn run(twin: &Verified<Policy>, choices: &mut Choices, wide: bool) -> Ran {
    let policy = twin.policy();
    let mut machine = Machine::new(twin);
    let mut variables = Variables::default();
    let mut import = |choices: &mut Choices| {
        // Numbers that are written in loops, those beside them, and those at which counters wrap.
        let near = [0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, -1, -2, 99, 100, 101];
        let int = |choices: &mut Choices| match choices.below(8) {
            0 if wide => Value::Int(32_767),
            1 if wide => Value::Int(-32_768),
            _ => Value::Int(choices.one_of(&near)),
        };
        let float = choices.one_of(&[0.0, 1.0, 1.5, -2.0, 100.0, 99.5, 1e300, 1e301]);
        let values = [
            ("a", int(choices)),
            ("b", int(choices)),
            ("c", Value::Bool(choices.chance(50))),
            ("w", Value::Float(Float::new(float))),
        ];
        for (name, value) in values {
            variables.set(policy, name, value).unwrap();
        }
        variables.clone()
    };
    for number in 0..=choices.one_of(&[0, 0, 1, 2]) {
        let thread = ThreadId(number);
        machine.spawn(thread).unwrap();
        machine.raise("newthread", &[thread], &mut import(choices)).unwrap();
    }
    let variable = |machine: &Machine, name: &str| {
        let index = policy.variables.iter().position(|variable| variable.name == name).unwrap();
        machine.variables()[index] == Value::Bool(true)
    };
    for _ in 0..2 {
        let thread = machine.raise("schedule", &[], &mut import(choices)).unwrap().unwrap();
        // A guard that fails ends it, too.
        let stopped = machine.raise("switch_out", &[thread], &mut import(choices)).is_err();
        if stopped || variable(&machine, "over") {
            break;
        }
    }
    let came = (0..4).map(|number| variable(&machine, &format!("came{number}"))).collect();
    Ran { over: variable(&machine, "over"), came }
}

#[test]
fn what_is_refused_runs_on_and_what_is_accepted_ends() {
    let framework = Framework { int_bits: 16, ..native() };
    let mut runner = TestRunner::deterministic();
    let strategy = (vec(any::<u8>(), 60), vec(any::<u8>(), 10_000));
    let (mut refused, mut ends) = (0, 0);
    for _ in 0..CASES {
        let (bytes, inputs) = strategy.new_tree(&mut runner).unwrap().current();
        let text = policy(&bytes, false);
        let said = said(&text, &framework);
        if matches!(said, Said::Other) {
            continue;
        }
        let twin = Source::new("twin.sched", policy(&bytes, true));
        let Ok((twin, _)) = compile(&twin, &framework) else { continue };
        let mut choices = Choices::new(&inputs);
        // Loops within loops could take as many turns as the squares of their numbers.
        let single = text.matches("while (").count() + text.matches("for (").count() == 1;
        match said {
            Said::Ends => {
                ends += 1;
                for _ in 0..10 {
                    assert!(!run(&twin, &mut choices, single).over, "it is accepted and does not end:\n{text}");
                }
            }
            Said::Endless(always, once_begun) => {
                refused += 1;
                let mut runs = Vec::new();
                while choices.any_left() {
                    let ran = run(&twin, &mut choices, true);
                    let over = ran.over;
                    for number in &always {
                        assert!(!ran.came[*number] || over, "loop {number} is refused and ends:\n{text}");
                    }
                    runs.push(ran);
                    if over {
                        break;
                    }
                }
                let some = runs.iter().any(|ran| ran.over);
                assert!(once_begun.is_empty() || some, "no run of it is seen that does not end:\n{text}");
            }
            Said::Other => {}
        }
    }
    println!("{refused} refused, {ends} accepted");
    assert!(refused * 10 > CASES && ends * 10 > CASES, "{refused} refused, {ends} accepted of {CASES}");
}

/// So many policies.
const CASES: usize = 350;
