//! Locks, semaphores and messages in simulations go from thread to thread as on the hosts: random programs, which take no time, run on each host
//! (`tests/locks`) and are simulated for it. What threads pass is compared, in its order.
//!
//! `CATAPULTS_SEED` changes what is tried, `CATAPULTS_ROUNDS` multiplies how much.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::emit::emit;
use catapults_compiler::framework::Framework;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::Value;
use catapults_simulator::sim::{self, Deciding, Ending, Keep, Record, RunBy, Sink};
use catapults_tests::compiled::{Driver, Mode, Written};
use catapults_tests::differential::number;
use catapults_tests::{framework_at, limited, root};
use fastrand::Rng;

/// Programs under each policy.
const PROGRAMS: u64 = 60;

/// What threads pass: the thread, and the number of what it passes.
type Marks = Vec<(u32, i64)>;

/// What programs can do there.
struct Kind {
    framework: Framework,
    protocols: &'static [char],
    semaphores: bool,
    /// Whether threads send each other messages.
    messages: bool,
}

#[test]
fn locks_go_as_in_the_native_runtime() {
    let kind = Kind::of("native", &['i', 'n', '3', '6', '9'], true);
    let folder = tempfile::tempdir().unwrap();
    let build = format!("{}/locks", env!("CARGO_TARGET_TMPDIR"));
    make("native", &build, &["all"]);
    let program = folder.path().join("program");
    let mut compiler = compiler(&kind, &program, &["frameworks/native/include", "frameworks/shared"]);
    finish(compiler.arg(format!("{build}/native/libcatapults.a")).arg("-luring"));
    let driver = Driver::of_build(&kind.framework, folder.path(), "shared");
    kind.compare(|policy, name| {
        let object = driver.policy(policy, name, Mode::AsBuilt).unwrap();
        let program = program.clone();
        Box::new(move |words| ran(limited(&program).env("CATAPULTS_POLICY", &object).args(words)))
    });
}

#[test]
fn locks_go_as_in_pth() {
    let kind = Kind::of("pth", &['n'], false);
    let folder = tempfile::tempdir().unwrap();
    let build = format!("{}/locks", env!("CARGO_TARGET_TMPDIR"));
    make("pth", &build, &["all"]);
    let program = folder.path().join("program");
    let mut compiler = compiler(&kind, &program, &["frameworks/pth/include", "frameworks/shared"]);
    finish(
        compiler
            .arg(format!("-L{build}/pth"))
            .arg(format!("-Wl,-rpath,{build}/pth"))
            .args(["-lcatapults_pth", "-lpth"]),
    );
    let driver = Driver::build(&kind.framework, folder.path()).unwrap();
    kind.compare(|policy, name| {
        let object = driver.policy(policy, name, Mode::AsBuilt).unwrap();
        let program = program.clone();
        Box::new(move |words| ran(Command::new(&program).env("PTH_SCHED", &object).args(words)))
    });
}

#[test]
fn locks_go_as_in_freertos() {
    let kind = Kind::of("freertos", &['i'], true);
    let folder = tempfile::tempdir().unwrap();
    let home = root().join("frameworks/freertos");
    kind.compare(|policy, name| {
        let files = emit(policy, &kind.framework).unwrap();
        let generated = Written::into(&folder.path().join("generated").join(name), &files).unwrap();
        let (source, program) = (&generated.sources[0], folder.path().join(name));
        let mut tool = Command::new(home.join("tools/program"));
        tool.args(["posix", "none"]).arg(&program).arg(format!("-DCATAPULTS_COMPILED_IN=\"{}\"", source.display()));
        // A tick between a thread's coming and the switch to it makes that switch; who was preempted yields when it runs again.
        tool.arg("-DconfigTICK_RATE_HZ=1");
        for include in [home.join("include"), home.join("tests/posix"), root().join("frameworks/shared/small")] {
            tool.arg("-I").arg(include);
        }
        finish(tool.arg(root().join("tests/locks/freertos.c")).arg(home.join("tests/posix/trace.c")));
        Box::new(move |words| ran(limited(&program).args(words)))
    });
}

impl Kind {
    fn of(name: &str, protocols: &'static [char], semaphores: bool) -> Self {
        let framework = framework_at(&format!("frameworks/{name}/{name}.framework"));
        Kind { framework, protocols, semaphores, messages: name == "pth" }
    }

    /// `build` makes of a policy what runs a program under it.
    fn compare<'b>(&self, build: impl Fn(&Verified<Policy>, &str) -> Box<dyn Fn(&[String]) -> Marks + 'b>) {
        let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
        let (mut compared, mut waits) = (0, 0);
        for name in ["arrival", "latest", "urgent"] {
            let path = root().join(format!("tests/locks/{name}.sched"));
            let source = Source::new(path.display().to_string(), fs::read_to_string(&path).unwrap());
            let (policy, _) = catapults_compiler::compile(&source, &self.framework).unwrap();
            let knows_ceilings = policy.policy().thread_imports.iter().any(|import| import.name == "ceiling");
            let run = build(&policy, name);
            let mut programs = 0;
            while programs < PROGRAMS * number("CATAPULTS_ROUNDS", 1) {
                let program = self.program(&mut rng, knows_ceilings);
                let Some((simulated, waited)) = program.simulated(&policy, &self.framework) else { continue };
                programs += 1;
                let happened = run(&program.words);
                assert!(
                    happened == simulated,
                    "{} under {name}:\n  {}\n  runs      {happened:?}\n  simulated {simulated:?}\n{}",
                    self.framework.name,
                    program.words.join(" "),
                    program.scenario
                );
                (compared, waits) = (compared + simulated.len(), waits + waited);
            }
        }
        println!("{}: differences 0 of {compared} marks, {waits} waits", self.framework.name);
        assert!(compared > 3000 && waits > 200, "only {compared} marks and {waits} waits");
    }

    fn program(&self, rng: &mut Rng, knows_ceilings: bool) -> Program {
        let locks = rng.usize(1..4);
        let semaphores = if self.semaphores { rng.usize(0..3) } else { 0 };
        let usual = |protocol: &&char| knows_ceilings || !protocol.is_ascii_digit();
        let protocols: Vec<char> = self.protocols.iter().filter(usual).copied().collect();
        let protocols: String = (0..locks).map(|_| protocols[rng.usize(..protocols.len())]).collect();
        let values: String = (0..semaphores).map(|_| if rng.u8(..4) == 0 { '2' } else { '1' }).collect();
        let threads = rng.usize(2..8);
        // Who is created by whom.
        let creators: Vec<usize> = (1..threads).map(|thread| rng.usize(..thread)).collect();
        let mut kinds: Vec<String> = Vec::new();
        for thread in 0..threads {
            let created = (1..threads).filter(|other| creators[other - 1] == thread).collect();
            let priority = if thread == 0 { 1 } else { rng.u8(1..7) };
            let messages = if self.messages { threads } else { 0 };
            kinds.push(format!("{priority}{}", steps(rng, thread, created, locks, semaphores, messages)));
        }
        Program::new(&protocols, &values, kinds)
    }
}

/// Nobody waits in a ring of locks and semaphores: each takes them in the order of their numbers. `messages`: to how many threads.
fn steps(
    rng: &mut Rng,
    thread: usize,
    mut creates: Vec<usize>,
    locks: usize,
    semaphores: usize,
    messages: usize,
) -> String {
    let (mut text, mut held, mut mark) = (String::new(), Vec::new(), 0);
    let mut left = rng.usize(3..14);
    while left > 0 || !held.is_empty() || !creates.is_empty() {
        left = left.saturating_sub(1);
        let least = held.last().map_or(0, |last| last + 1);
        match rng.u8(..10) {
            0..=3 if left > 0 && least < locks + semaphores => {
                let taken = rng.usize(least..locks + semaphores);
                held.push(taken);
                let _ = if taken < locks { write!(text, "L{taken}") } else { write!(text, "W{}", taken - locks) };
            }
            4..=6 if !held.is_empty() => {
                let given = held.remove(rng.usize(..held.len()));
                let _ = if given < locks { write!(text, "U{given}") } else { write!(text, "P{}", given - locks) };
            }
            7 | 8 if messages > 0 && rng.u8(..3) > 0 => {
                let _ = match rng.u8(..3) {
                    0 => write!(text, "R{thread}"),
                    _ => write!(text, "G{}", rng.usize(..messages)),
                };
            }
            7 => text.push_str("Y0"),
            _ if !creates.is_empty() => {
                let _ = write!(text, "S{}", creates.remove(0));
            }
            _ => continue,
        }
        let _ = write!(text, "M{mark}");
        mark = (mark + 1) % 10;
    }
    text
}

struct Program {
    words: Vec<String>,
    scenario: String,
}

impl Program {
    fn new(protocols: &str, values: &str, kinds: Vec<String>) -> Self {
        let mut text = "scenario random {\n".to_owned();
        let locked = |lock: usize| kinds.iter().any(|kind| kind.contains(&format!("L{lock}")));
        for (lock, protocol) in protocols.chars().enumerate().filter(|(lock, _)| locked(*lock)) {
            let _ = match protocol {
                'i' => writeln!(text, "  lock L{lock} protocol inheritance;"),
                'n' => writeln!(text, "  lock L{lock} protocol none;"),
                ceiling => writeln!(text, "  lock L{lock} protocol ceiling {ceiling};"),
            };
        }
        for (semaphore, value) in values.chars().enumerate() {
            let _ = writeln!(text, "  semaphore S{semaphore} = {value};");
        }
        for (thread, kind) in kinds.iter().enumerate() {
            let (priority, steps) = kind.split_at(1);
            let _ = write!(text, "  thread T{thread} with {{ priority = {priority}; }} {{");
            let letters: Vec<char> = steps.chars().collect();
            for step in letters.chunks(2) {
                let _ = match step {
                    ['L', number] => write!(text, " lock L{number};"),
                    // Time passes, so that others hear of it before the thread goes on.
                    ['U', number] => write!(text, " unlock L{number}; run 1us;"),
                    ['W', number] => write!(text, " wait S{number};"),
                    ['P', number] => write!(text, " post S{number}; run 1us;"),
                    ['G', number] => write!(text, " send P{number}; run 1us;"),
                    ['R', number] => write!(text, " receive P{number};"),
                    ['S', number] => write!(text, " spawn T{number}; run 1us;"),
                    ['M', number] => write!(text, " set mark = {number};"),
                    _ => write!(text, " yield;"),
                };
            }
            text.push_str(" }\n");
        }
        text.push_str("}\n");
        let given = |list: &str| if list.is_empty() { "-".to_owned() } else { list.to_owned() };
        Program { words: [given(protocols), given(values)].into_iter().chain(kinds).collect(), scenario: text }
    }

    /// What threads pass, and how often one waits; `None`: one waits for ever, for a message.
    fn simulated(&self, policy: &Verified<Policy>, framework: &Framework) -> Option<(Marks, usize)> {
        let source = Source::new("random.scenario", self.scenario.clone());
        let mut diagnostics = Diagnostics::new();
        let drafts = scenario::read(&source, &mut diagnostics);
        let (deciding, none) =
            (Deciding::Policy(policy), &mut |_: &scenario::FileName| Err("there is none".to_owned()));
        let scenario = scenario::check(&drafts[0], &deciding.subject(), framework, none, &mut diagnostics)
            .unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)));
        let mut seen = Seen::default();
        let outcome =
            sim::simulate(&scenario, deciding, framework, RunBy::Interpreter, Keep::Beginning, &mut seen).unwrap();
        if self.scenario.contains(" receive ") && matches!(outcome.ending, Ending::Stuck(_)) {
            return None;
        }
        assert_eq!(outcome.ending, Ending::AllEnded, "{}", self.scenario);
        Some((seen.marks, seen.waits))
    }
}

#[derive(Default)]
struct Seen {
    names: BTreeMap<ThreadId, u32>,
    marks: Marks,
    waits: usize,
}

impl Sink for Seen {
    fn record(&mut self, record: &Record) {
        self.waits += usize::from(matches!(record.kind, sim::Kind::Blocked | sim::Kind::Lent));
    }

    fn named(&mut self, _: i64, thread: ThreadId, name: &str) {
        self.names.insert(thread, name[1..].parse().unwrap());
    }

    fn value(&mut self, _: i64, thread: Option<ThreadId>, name: &str, value: Value) {
        if let (Some(thread), "mark", Value::Int(mark)) = (thread, name, value) {
            self.marks.push((self.names[&thread], mark));
        }
    }
}

/// What a program prints.
fn ran(command: &mut Command) -> Marks {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{text}{said}", output.status);
    let mark = |line: &str| {
        let (thread, mark) = line.split_once(' ').unwrap();
        (thread.parse().unwrap(), mark.parse().unwrap())
    };
    text.lines().map(mark).collect()
}

/// Two at a time would build the same twice: each host has a folder of its own.
fn make(host: &str, build: &str, targets: &[&str]) {
    let mut make = Command::new("make");
    make.args(["--silent", "-j2", "-C"]).arg(root().join("frameworks").join(host)).arg(format!("BUILD={build}"));
    finish(make.args(targets).env_remove("MAKEFLAGS").env_remove("OUT"));
}

fn compiler(kind: &Kind, program: &Path, includes: &[&str]) -> Command {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"]).arg(program);
    let includes: Vec<PathBuf> = includes.iter().map(|include| root().join(include)).collect();
    compiler.args(includes.iter().flat_map(|include| [Path::new("-I"), include]));
    compiler.arg(root().join(format!("tests/locks/{}.c", kind.framework.name)));
    compiler
}

fn finish(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
}
