//! Hierarchies of schedulers: in the native dispatcher (`tests/hierarchies/driver.c`) happens what happens in that of the simulator, to every
//! thread and to every scheduler as the thread that it is to its parent. Each is written without regard to the other.
//!
//! A script is a line for each step. Whoever runs takes the next one; while nobody does, it happens outside.
//!
//! ```text
//! with period 20000000      the next thread that is created has this value, if its policy imports such a variable
//! create 2                  a thread, under the scheduler of this index
//! yield, yield_to 7, exit, block.lock, suspend 7, resume 7, tick
//! lock 3                    the word 3 names it, or it lends its turns to whom the word names
//! unlock 3 7                the word names thread 7, which waits by it; 0: nobody
//! redirect 7 3              thread 7, which waits by a word, waits by this one
//! remove 2, add 2           a scheduler goes, and comes again
//! replace 2 5               it gets the policy of scheduler 5
//! attach 2                  who runs is under it from now on
//! changed 7 priority 3      a variable of thread 7 is this from now on
//! released 7 5000000        a job of thread 7 begins, which was released then
//! also 7, decide            thread 7 is unblocked like others before it and after it; then a decision follows
//! unblock 7, at 5000000     anybody's, and all that can happen outside
//! ```
//!
//! Each script is followed twice: what happens is recorded, and who asks for each step is compared where nothing is recorded, as the
//! dispatcher then goes down and up the tree by a shorter way.
//!
//! Schedulers that are shipped, and random trees of the library's policies. `CATAPULTS_SEED` changes what is tried,
//! `CATAPULTS_ROUNDS` multiplies how much.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catapults_compiler::emit::{command, emit_hierarchy};
use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::policy::{Policy, Type};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::Value;
use catapults_simulator::sim::Out;
use catapults_tests::compiled::Written;
use catapults_tests::differential::number;
use catapults_tests::hierarchies::{judge, random, said};
use catapults_tests::simulated::{Log, Simulated};
use catapults_tests::{limited, native, root};
use fastrand::Rng;

/// Random hierarchies, and scripts for each.
const RANDOM: u64 = 12;
const SCRIPTS: u64 = 40;
const STEPS: usize = 250;
/// Locks.
const WORDS: usize = 3;

#[test]
fn the_simulator_decides_what_the_native_dispatcher_decides() {
    let bench = Bench::new();
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    let mut texts = Vec::new();
    for name in ["desktop", "isolation"] {
        texts.push((name.to_owned(), fs::read_to_string(root().join(format!("policies/{name}.hierarchy"))).unwrap()));
    }
    texts.extend((0..RANDOM * number("CATAPULTS_ROUNDS", 1)).map(|index| {
        let name = format!("random{index}");
        (name.clone(), random(&mut rng, &name))
    }));
    let (mut records, mut out, mut seen) = (0, 0, Seen::default());
    for (name, text) in &texts {
        let judged = judge(&Source::new(format!("{name}.hierarchy"), text.as_str()), &bench.framework);
        let hierarchy = judged.hierarchy.as_ref().unwrap_or_else(|| panic!("{}\n{text}", said(&judged)));
        // Some policies refuse some schedulers, as they refuse threads.
        if let Err(refused) = Simulated::new(hierarchy, &bench.framework, &mut Log::default()) {
            assert!(refused.event == "newthread", "{refused:?}\n{text}");
            continue;
        }
        let object = bench.build(hierarchy);
        for _ in 0..SCRIPTS {
            let followed = follow(hierarchy, &bench.framework, &mut rng, &mut seen);
            for (print, expected) in [("events", &followed.events), ("steps", &followed.steps)] {
                let mut happened = bench.run(&object, print, &followed.script);
                if print == "events" {
                    happened.retain(|line| followed.log.has_such(line));
                }
                if happened != *expected {
                    let place = happened.iter().zip(expected).take_while(|(left, right)| left == right).count();
                    let from = place.saturating_sub(12);
                    let line =
                        if print == "steps" { place } else { followed.before.partition_point(|count| *count <= place) };
                    panic!(
                        "{print} {place}, line {line}:\nnative: {:?}\nsimulator: {:?}\n{text}\n{}",
                        &happened[from.min(happened.len())..(place + 4).min(happened.len())],
                        &expected[from.min(expected.len())..(place + 4).min(expected.len())],
                        followed.told(&bench.run(&object, "steps", &followed.script))
                    );
                }
            }
            out += u64::from(followed.events.last().is_some_and(|last| last.starts_with("out")));
            records += followed.events.len();
        }
    }
    // A policy of the library that is out ends a script; few do.
    assert!(records > 20_000 && out * 20 < texts.len() as u64 * SCRIPTS, "{records} records, {out} policies out");
    let Seen { donated, attached, replaced, ended } = seen;
    assert!(donated.min(attached).min(replaced) > 100 && ended > 10, "{seen:?}");
    println!("differences 0 of {records} records of {} hierarchies", texts.len());
}

/// How often something has happened that steps may come to or not.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// A thread took a step on the turn of another.
    donated: usize,
    /// A thread went over to another scheduler.
    attached: usize,
    /// A scheduler got another policy.
    replaced: usize,
    /// A scheduler was removed.
    ended: usize,
}

/// What a step may change.
struct Look<'a> {
    /// Of the schedulers that are there.
    policies: Vec<Option<&'a str>>,
    /// Who runs, and under which scheduler it is.
    runs: Option<(u32, Option<usize>)>,
    on_its_own_turn: bool,
}

impl<'a> Look<'a> {
    fn at(hierarchy: &Hierarchy, tree: &Simulated<'a, '_>) -> Self {
        let policy = |index| tree.is_there(index).then(|| tree.policy(index).name.as_str());
        Look {
            policies: (0..hierarchy.nodes().len()).map(policy).collect(),
            runs: tree.running().map(|current| (current, tree.scheduler_of(current))),
            on_its_own_turn: tree.has_its_own_turn(),
        }
    }
}

impl Seen {
    fn count(&mut self, before: &Look, after: &Look, tree: &Simulated) {
        if let Some((thread, under)) = before.runs {
            self.donated += usize::from(!before.on_its_own_turn);
            self.attached += usize::from(tree.lives(thread) && tree.scheduler_of(thread) != under);
        }
        for (before, after) in before.policies.iter().zip(&after.policies) {
            self.replaced += usize::from(before.is_some() && after.is_some() && before != after);
            self.ended += usize::from(before.is_some() && after.is_none());
        }
    }
}

struct Followed {
    script: Vec<String>,
    log: Log,
    /// What happens.
    events: Vec<String>,
    /// How much of it has happened before each line of the script.
    before: Vec<usize>,
    /// Who asks for each line of the script, and for one more at its end; 0: nobody runs.
    steps: Vec<String>,
}

impl Followed {
    /// The script, each line with its number, who asks for it in the simulator and in the native dispatcher, and what happens by it.
    fn told(&self, native: &[String]) -> String {
        let ends = self.before.iter().skip(1).copied().chain([self.events.len()]);
        let happens = self.before.iter().zip(ends).map(|(from, to)| self.events[*from..to].join(", "));
        let lines = self.script.iter().zip(&self.steps).zip(happens).enumerate();
        let told = |(index, ((line, asks), happens)): (usize, ((&String, &String), String))| {
            let native = native.get(index).map_or("nobody", String::as_str);
            format!("{}\t{asks}, {native}: {line}\t{happens}\n", index + 1)
        };
        lines.map(told).collect()
    }
}

/// A script, made while it is followed in the simulator.
fn follow(hierarchy: &Hierarchy, framework: &Framework, rng: &mut Rng, seen: &mut Seen) -> Followed {
    let (mut script, mut steps, mut before) = (Vec::new(), Vec::new(), Vec::new());
    let runs = |tree: &Simulated| tree.running().unwrap_or(0).to_string();
    let mut log = Log::default();
    let mut tree = match Simulated::new(hierarchy, framework, &mut log) {
        Ok(tree) => tree,
        Err(refused) => panic!("{refused:?}"),
    };
    let mut now = 0;
    let mut last = tree.start(hierarchy.default());
    for _ in 0..STEPS {
        let Ok(most) = last else { break };
        let look = Look::at(hierarchy, &tree);
        let (taker, happened) = (runs(&tree), tree.log().lines().len());
        last = step(hierarchy, &mut tree, rng, most, &mut now, &mut script).map(|new| new.unwrap_or(most));
        steps.resize(script.len(), taker);
        before.resize(script.len(), happened);
        seen.count(&look, &Look::at(hierarchy, &tree), &tree);
    }
    let log = tree.log().clone();
    let mut events = log.lines();
    match last {
        Err(out) => {
            let why = ["a guard fails: ", "it refuses a thread: "]
                .iter()
                .fold(out.why.as_str(), |why, start| why.trim_start_matches(start));
            let out = format!("out {}: {why}", out.event);
            events.push(out.clone());
            steps.push(out);
        }
        Ok(_) => {
            steps.push(runs(&tree));
        }
    }
    Followed { script, log, events, before, steps }
}

/// One step; the number of the thread that it created.
fn step(
    hierarchy: &Hierarchy,
    tree: &mut Simulated,
    rng: &mut Rng,
    most: u32,
    now: &mut i64,
    script: &mut Vec<String>,
) -> Result<Option<u32>, Out> {
    let any = rng.u32(1..=most);
    let mut say = |text: String| script.push(text);
    let choice = rng.u32(0..100);
    if tree.running().is_none() {
        return match choice {
            0..50 => {
                say(format!("unblock {}", any));
                tree.outside(|tree| tree.unblocks(any))
            }
            _ => {
                *now += rng.i64(0..30_000_000);
                say(format!("at {now}"));
                let now = *now;
                tree.outside(|tree| {
                    tree.set_now(now);
                    Ok(())
                })
            }
        }
        .map(|()| None);
    }
    match choice {
        0..12 => {
            let there: Vec<usize> = (0..hierarchy.nodes().len()).filter(|one| tree.is_there(*one)).collect();
            let scheduler = there[rng.usize(0..there.len())];
            let values = values(tree.policy(scheduler), rng, &mut say);
            say(format!("create {scheduler}"));
            return tree.create(scheduler, &values).map(Some);
        }
        12..35 => {
            say("yield".to_owned());
            tree.yields()
        }
        35..41 => {
            say(format!("yield_to {}", any));
            // Of a thread that has ended there is nothing to be asked.
            tree.yields_to(any)
        }
        41..51 => {
            let event = ["block.io.read", "block.lock", "block.sleep"][rng.usize(0..3)];
            say(event.to_owned());
            tree.blocks(event)
        }
        51..61 => {
            say(format!("unblock {}", any));
            tree.unblocks(any)?;
            tree.goes_on()
        }
        61..65 => {
            say(format!("suspend {}", any));
            tree.suspends(any)
        }
        65..71 => {
            say(format!("resume {}", any));
            tree.resumes(any)
        }
        // The word would name a thread that there is not.
        71..73 if tree.has_its_own_turn() && tree.running().is_some_and(|current| !tree.is_named(current)) => {
            say("exit".to_owned());
            tree.exits()
        }
        71..78 => {
            say("tick".to_owned());
            tree.ticks()
        }
        78..80 => {
            let mut woken: Vec<u32> =
                (1..=most).filter(|thread| tree.is_blocked(*thread) && !tree.waits(*thread)).collect();
            rng.shuffle(&mut woken);
            woken.iter().for_each(|thread| say(format!("also {thread}")));
            say("decide".to_owned());
            tree.unblock_all(&woken)
        }
        80..87 => waiting(tree, rng, &mut say),
        87..94 => of_schedulers(hierarchy, tree, rng, &mut say),
        94..97 => told(tree, any, *now, rng, &mut say),
        _ => {
            *now += rng.i64(0..30_000_000);
            say(format!("at {now}"));
            tree.set_now(*now);
            Ok(())
        }
    }
    .map(|()| None)
}

/// The policy of a thread is told of it.
fn told(tree: &mut Simulated, thread: u32, now: i64, rng: &mut Rng, say: &mut dyn FnMut(String)) -> Result<(), Out> {
    let Some(under) = tree.scheduler_of(thread) else { return Ok(()) };
    let mut given = Vec::new();
    let values = values(tree.policy(under), rng, &mut |text| given.push(text));
    match values.first().zip(given.first()) {
        Some((&(name, value), given)) => {
            say(format!("changed {} {}", thread, given.trim_start_matches("with ")));
            tree.sets(thread, name, value)
        }
        None => {
            let instant = now - rng.i64(0..30_000_000);
            say(format!("released {} {instant}", thread));
            tree.releases(thread, instant)
        }
    }
}

/// For some of the variables that the policy imports of threads.
fn values<'a>(policy: &'a Policy, rng: &mut Rng, say: &mut dyn FnMut(String)) -> Vec<(&'a str, Value)> {
    let mut values = Vec::new();
    for import in &policy.thread_imports {
        if ["consumed", "release"].contains(&import.name.as_str()) || rng.bool() {
            continue;
        }
        let value = match import.ty {
            Type::Int => Value::Int(rng.i64(-5..80)),
            Type::Time => Value::Time(rng.i64(0..50_000_000)),
            Type::Bool => Value::Bool(rng.bool()),
            Type::Float => continue,
        };
        let number = match value {
            Value::Int(number) | Value::Time(number) => number,
            Value::Bool(truth) => i64::from(truth),
            Value::Float(_) => continue,
        };
        say(format!("with {} {number}", import.name));
        values.push((import.name.as_str(), value));
    }
    values
}

/// A lock is taken, given back, or another is waited for.
fn waiting(tree: &mut Simulated, rng: &mut Rng, say: &mut dyn FnMut(String)) -> Result<(), Out> {
    let word = rng.usize(0..WORDS);
    let waiting: Vec<u32> = (0..WORDS).flat_map(|word| tree.waiting_by(word)).collect();
    match rng.u32(0..10) {
        0..5 => {
            say(format!("lock {word}"));
            tree.locks(word)
        }
        5..9 => {
            // Most often one that it has.
            let mine = (0..WORDS).find(|word| tree.running().is_some() && tree.word(*word) == tree.running());
            let word = mine.unwrap_or(word);
            let heirs = tree.waiting_by(word);
            let heir = (!heirs.is_empty() && rng.bool()).then(|| heirs[rng.usize(0..heirs.len())]);
            say(format!("unlock {word} {}", heir.unwrap_or(0)));
            tree.unlocks(word, heir)
        }
        _ if waiting.is_empty() => Ok(()),
        _ => {
            let thread = waiting[rng.usize(0..waiting.len())];
            say(format!("redirect {} {word}", thread));
            tree.redirects(thread, word)
        }
    }
}

/// A scheduler goes or comes, gets another policy, or another thread.
fn of_schedulers(
    hierarchy: &Hierarchy,
    tree: &mut Simulated,
    rng: &mut Rng,
    say: &mut dyn FnMut(String),
) -> Result<(), Out> {
    let any = rng.usize(0..hierarchy.nodes().len());
    match rng.u32(0..8) {
        _ if tree.can_be_added(any) => {
            say(format!("add {any}"));
            tree.adds(any)
        }
        _ if !tree.is_there(any) => Ok(()),
        0..2 => {
            say(format!("remove {any}"));
            tree.removes(any)
        }
        2..4 => {
            let like = rng.usize(0..hierarchy.nodes().len());
            say(format!("replace {any} {like}"));
            tree.replaces(any, like)
        }
        _ => {
            let here = tree.running().and_then(|current| tree.scheduler_of(current)) == Some(any);
            // Others may take steps before it has a turn of its own.
            let at_once = tree.has_its_own_turn() && !here;
            let values = if at_once { values(tree.policy(any), rng, say) } else { Vec::new() };
            say(format!("attach {any}"));
            tree.attaches(any, &values)
        }
    }
}

struct Bench {
    framework: Framework,
    folder: tempfile::TempDir,
    driver: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, driver) = (root().join("frameworks/native"), folder.path().join("driver"));
        let mut compiler = Command::new("gcc");
        compiler
            .args(["-std=c17", "-D_GNU_SOURCE", "-ffreestanding", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&driver);
        for include in [home.clone(), home.join("include"), root().join("frameworks/shared")] {
            compiler.arg("-I").arg(include);
        }
        compiler.arg(root().join("tests/hierarchies/driver.c"));
        for layer in ["core", "dispatcher", "contexts"] {
            compiler.args(sources(&home.join(layer)));
        }
        compiler.arg(home.join(format!("contexts/{}.S", std::env::consts::ARCH))).arg("-ldl");
        finish(&mut compiler);
        Bench { framework: native(), folder, driver }
    }

    fn build(&self, hierarchy: &Hierarchy) -> PathBuf {
        let files = emit_hierarchy(hierarchy, &self.framework).unwrap();
        let written = Written::into(self.folder.path(), &files).unwrap();
        let paths = |files: &[PathBuf]| files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let (sources, twins) = (paths(&written.sources), paths(&written.traced));
        let output = self.folder.path().join(format!("{}.so", hierarchy.name()));
        let policies: Vec<_> = hierarchy.policies().iter().map(|policy| policy.policy()).collect();
        let build = &self.framework.builds[0];
        let folder = |path: &str| root().join(path).display().to_string();
        let mut words = Vec::new();
        for word in command(build, &policies) {
            if word == "{source}" {
                words.extend(sources.clone());
                continue;
            }
            if word == "{traced}" {
                words.extend(twins.clone());
                continue;
            }
            let word = word.replace("{output}", &output.display().to_string());
            let word = word.replace("{framework}", &folder("frameworks/native"));
            words.push(word.replace("{shared}", &folder("frameworks/shared")));
        }
        finish(Command::new(&words[0]).args(&words[1..]));
        output
    }

    /// What has happened under the native dispatcher.
    fn run(&self, object: &Path, print: &str, script: &[String]) -> Vec<String> {
        let mut child = limited(&self.driver)
            .args([object, Path::new(print)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // It reads nothing more once a policy is out.
        let _ = input.write_all(format!("{}\n", script.join("\n")).as_bytes());
        drop(input);
        let result = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{}: {said}\n{}", result.status, script.join("\n"));
        String::from_utf8_lossy(&result.stdout).lines().map(str::to_owned).collect()
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect();
    paths.sort();
    paths
}

fn finish(command: &mut Command) {
    let result = command.output().unwrap();
    assert!(result.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&result.stderr));
}
