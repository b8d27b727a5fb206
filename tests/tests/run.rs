//! Compiled policies decide what the interpreter decides.
//!
//! Each file `tests/run/*.script` is a case. Its first line names the policy, `policy PATH` from the root of the repository;
//! the others are the steps of a host (`simulator/src/script.rs`), each with what the policy decides: `schedule -> 1`. Lines that
//! start with `//` are comments. `turns 1000 -> 1: 600, 2: 400` lets whoever `schedule` names run and be switched out, so many times,
//! and says how often each was named. With `turns 1000 of 5ms` each runs so long; timers expire, and whoever still runs is switched out. Both the interpreter and the compiled policy must decide exactly that. `UPDATE=1` writes the
//! interpreter's decisions into the files.
//!
//! Besides, the policies of the library, those of `tests/run` and random ones meet random orders of events, the compiled ones
//! under sanitizers. A difference is saved among the cases, with its policy. `CATAPULTS_SEED` changes what is tried,
//! `CATAPULTS_ROUNDS` multiplies how much.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use catapults_compiler::compile;
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::{Policy, Value};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::choices::Choices;
use catapults_tests::compiled::{Driver, Mode};
use catapults_tests::host::Host;
use catapults_tests::replay::{Replay, Step, replay};
use catapults_tests::{framework_at, native, policies, root};
use fastrand::Rng;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many random policies are accepted and compiled, a third of a second each.
const POLICIES: u64 = 24;
/// How many hosts each policy meets, and how many steps each takes.
const HOSTS: u64 = 60;
const STEPS: usize = 200;

/// What all cases share.
struct Bench {
    framework: &'static Framework,
    driver: Driver<'static>,
    _folder: tempfile::TempDir,
}

fn bench(framework: Framework) -> Arc<Bench> {
    let framework: &'static Framework = Box::leak(Box::new(framework));
    let folder = tempfile::tempdir().unwrap();
    let driver =
        Driver::build(framework, folder.path()).unwrap_or_else(|said| panic!("the driver does not compile:\n{said}"));
    Arc::new(Bench { framework, driver, _folder: folder })
}

fn main() {
    let small = bench(framework_at("frameworks/rabbit/rabbit.framework"));
    let bench = bench(native());
    let mut trials = small_trials(&small);
    for path in files("tests/run", "script") {
        let bench = bench.clone();
        trials.push(Trial::test(name(&path), move || scripted(&bench, &path)));
    }
    for path in files("policies", "sched").into_iter().chain(files("tests/run", "sched")) {
        let bench = bench.clone();
        trials.push(Trial::test(format!("{} in random orders", name(&path)), move || random_orders(&bench, &path)));
    }
    for group in 0..4 {
        let bench = bench.clone();
        trials.push(Trial::test(format!("random policies, group {group}"), move || random_policies(&bench, group)));
    }
    trials.push(Trial::test("answers of every type", answers));
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    drop((bench, small));
    conclusion.exit();
}

/// The same for a host with an `int` of 16 bits and a part of the language: whatever its dialect allows.
fn small_trials(bench: &Arc<Bench>) -> Vec<Trial> {
    let host = &bench.framework.name;
    let mut trials = Vec::new();
    for path in files("tests/run", "script") {
        let script = fs::read_to_string(&path).unwrap();
        // What an application sets must fit too.
        let most = i64::MAX >> (64 - u32::from(bench.framework.int_bits));
        if script.split_whitespace().filter_map(|word| word.parse::<i64>().ok()).any(|number| number > most) {
            continue;
        }
        let policy = script.lines().find_map(|line| line.strip_prefix("policy ")).map(str::trim).map(PathBuf::from);
        if policy.is_some_and(|policy| allowed(bench.framework, &root().join(policy))) {
            let (bench, name) = (bench.clone(), format!("{host}: {}", name(&path)));
            trials.push(Trial::test(name, move || scripted(&bench, &path)));
        }
    }
    for path in files("policies", "sched").into_iter().chain(files("tests/run", "sched")) {
        if allowed(bench.framework, &path) {
            let (bench, name) = (bench.clone(), format!("{host}: {} in random orders", name(&path)));
            trials.push(Trial::test(name, move || random_orders(&bench, &path)));
        }
    }
    for group in 0..2 {
        let (bench, name) = (bench.clone(), format!("{host}: random policies, group {group}"));
        trials.push(Trial::test(name, move || random_policies(&bench, group)));
    }
    trials
}

/// Whether a host's dialect and the width of its `int` allow a policy. Whatever else is wrong with it is a failure.
fn allowed(framework: &Framework, path: &Path) -> bool {
    let source = Source::from_bytes(name(path), fs::read(path).unwrap()).ok().unwrap();
    let beyond = |code: &str| code == "E0108" || code == "E0311";
    match compile(&source, framework) {
        Ok(_) => true,
        Err(diagnostics) => !diagnostics.iter().any(|diagnostic| beyond(diagnostic.code)),
    }
}

/// What blocks a thread has another name in another host.
fn translated(framework: &Framework, text: &str) -> String {
    let blocks: Vec<&str> =
        framework.events.iter().map(|event| event.name.as_str()).filter(|name| name.starts_with("block.")).collect();
    let line = |line: &str| match line.split_once(' ') {
        Some((event, thread)) if event.starts_with("block.") && !blocks.contains(&event) => match blocks.first() {
            Some(block) => format!("{block} {thread}\n"),
            None => format!("{line}\n"),
        },
        Some(_) | None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} has no .{ending}");
    files
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned()
}

fn verified(framework: &Framework, path: &Path) -> Result<Verified<Policy>, Failed> {
    let source = Source::from_bytes(name(path), fs::read(path)?);
    let source = source.map_err(|refused| refused.diagnostics.render(&refused.source, false))?;
    let (policy, _) = compile(&source, framework).map_err(|diagnostics| diagnostics.render(&source, false))?;
    Ok(policy)
}

/// One line of a script file.
enum Line {
    Policy(String),
    Step(Step, Option<String>),
    Turns(Turns, Option<String>),
    Comment(String),
}

/// Many turns.
#[derive(Clone, Copy)]
struct Turns {
    count: usize,
    /// How long each is, in nanoseconds.
    length: Option<i64>,
}

impl Turns {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no number of turns");
        let (count, length) = text.split_once(" of ").map_or((text, None), |(count, length)| (count, Some(length)));
        let length = match length.map(|length| format!("at {length}").parse()) {
            None => None,
            Some(Ok(Step::At(length))) => Some(length),
            Some(_) => return Err(wrong()),
        };
        Ok(Turns { count: count.parse().map_err(|_| wrong())?, length })
    }
}

impl fmt::Display for Turns {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.count)?;
        self.length.map_or(Ok(()), |length| write!(out, " of {}", Value::Time(length)))
    }
}

fn lines(text: &str) -> Result<Vec<Line>, String> {
    let line = |line: &str| {
        if let Some(policy) = line.strip_prefix("policy ") {
            return Ok(Line::Policy(policy.trim().to_owned()));
        }
        if line.trim().is_empty() || line.starts_with("//") {
            return Ok(Line::Comment(line.to_owned()));
        }
        let step = line.split_once(" -> ").map_or(line, |(step, _)| step);
        let decided = line.contains(" -> ").then(|| line.to_owned());
        if let Some(turns) = step.strip_prefix("turns ") {
            return Ok(Line::Turns(Turns::read(turns)?, decided));
        }
        Ok(Line::Step(step.parse()?, decided))
    };
    text.lines().map(line).collect()
}

fn scripted(bench: &Bench, path: &Path) -> Result<(), Failed> {
    let text = translated(bench.framework, &fs::read_to_string(path)?);
    let lines = lines(&text)?;
    let policy = lines.iter().find_map(|line| if let Line::Policy(path) = line { Some(path) } else { None });
    let policy = verified(bench.framework, &root().join(policy.ok_or("no line says `policy PATH`")?))?;
    let Followed { steps, interpreted, decisions } = follow(&policy, &lines);
    let expectation = |line: &Line| match line {
        Line::Step(_, decision) | Line::Turns(_, decision) => decision.clone(),
        Line::Policy(_) | Line::Comment(_) => None,
    };
    let mut expected: Vec<String> = lines.iter().filter_map(expectation).collect();
    if std::env::var_os("UPDATE").is_some() && bench.framework.name == "native" {
        fs::write(path, decided(&lines, &interpreted))?;
        expected.clone_from(&interpreted);
    }
    if let Some(difference) = difference(&expected, &interpreted) {
        return Err(format!("the interpreter: {difference}").into());
    }
    let stem = path.file_stem().unwrap().to_string_lossy();
    let object = bench.driver.policy(&policy, &format!("script-{stem}"), Mode::AsBuilt)?;
    let compiled = bench.driver.replay(&object, &[steps])?.remove(0);
    difference(&decisions, &compiled)
        .map_or(Ok(()), |difference| Err(format!("the compiled policy: {difference}").into()))
}

/// A script file, followed in the interpreter.
struct Followed {
    /// With those of the turns.
    steps: Vec<Step>,
    /// What is to stand in the file: a decision of a line.
    interpreted: Vec<String>,
    /// What each step decided.
    decisions: Vec<String>,
}

fn follow(policy: &Verified<Policy>, lines: &[Line]) -> Followed {
    let (mut replay, mut steps, mut interpreted) = (Replay::new(policy), Vec::new(), Vec::new());
    let mut take = |replay: &mut Replay, step: Step| {
        let before = replay.decisions.len();
        replay.step(&step);
        steps.push(step);
        replay.decisions[before..].first().cloned()
    };
    let mut now = 0;
    for line in lines {
        match line {
            Line::Policy(_) | Line::Comment(_) => {}
            Line::Step(step, _) => {
                if let Step::At(instant) = step {
                    now = *instant;
                }
                interpreted.extend(take(&mut replay, step.clone()));
            }
            Line::Turns(turns, _) => {
                let mut shares: BTreeMap<u32, usize> = BTreeMap::new();
                for _ in 0..turns.count {
                    let decision = take(&mut replay, Step::Raise("schedule".to_owned(), Vec::new()));
                    let named = decision.and_then(|text| text.rsplit(' ').next()?.parse().ok());
                    let Some(named) = named else { break };
                    *shares.entry(named).or_default() += 1;
                    if let Some(length) = turns.length {
                        now += length;
                        take(&mut replay, Step::At(now));
                        while take(&mut replay, Step::Expire).is_some_and(|decision| decision != "expire -> nothing") {}
                    }
                    if replay.runs(ThreadId(named)) {
                        take(&mut replay, Step::Raise("switch_out".to_owned(), vec![ThreadId(named)]));
                    }
                }
                let shares: Vec<String> = shares.iter().map(|(thread, count)| format!("{thread}: {count}")).collect();
                interpreted.push(format!("turns {turns} -> {}", shares.join(", ")));
            }
        }
    }
    Followed { steps, interpreted, decisions: replay.decisions }
}

/// The file with these decisions.
fn decided(lines: &[Line], decisions: &[String]) -> String {
    let mut decisions = decisions.iter().peekable();
    let mut text = String::new();
    for line in lines {
        text.push_str(&match line {
            Line::Policy(path) => format!("policy {path}"),
            Line::Comment(comment) => comment.clone(),
            Line::Step(step, _) => {
                let prefix = format!("{step} -> ");
                decisions.next_if(|decision| decision.starts_with(&prefix)).cloned().unwrap_or(step.to_string())
            }
            Line::Turns(..) => decisions.next().cloned().unwrap_or_default(),
        });
        text.push('\n');
    }
    text
}

fn difference(expected: &[String], found: &[String]) -> Option<String> {
    let first = (0..expected.len().max(found.len())).find(|index| expected.get(*index) != found.get(*index))?;
    let at = |list: &[String]| list.get(first).cloned().unwrap_or("nothing more".to_owned());
    Some(format!("decision {}: expected `{}`, found `{}`", first + 1, at(expected), at(found)))
}

fn random_orders(bench: &Bench, path: &Path) -> Result<(), Failed> {
    let policy = verified(bench.framework, path)?;
    let stem = path.file_stem().unwrap().to_string_lossy();
    let object = bench.driver.policy(&policy, &format!("random-{stem}"), Mode::Sanitized)?;
    let mut rng = Rng::with_seed(number("CATAPULTS_SEED", 1));
    agree(bench, &policy, &object, &mut rng, &|| Ok(name(path)))
}

fn random_policies(bench: &Bench, group: u64) -> Result<(), Failed> {
    let seed = number("CATAPULTS_SEED", 1) * 1000 + group;
    let mut rng = Rng::with_seed(seed);
    let mut accepted = 0;
    while accepted < POLICIES / 4 * number("CATAPULTS_ROUNDS", 1) {
        let text = policies::random_for(bench.framework, &bytes(&mut rng, 400));
        let source = Source::new("random.sched", text.clone());
        let Ok((policy, _)) = compile(&source, bench.framework) else { continue };
        accepted += 1;
        let object = bench.driver.policy(&policy, &format!("group-{group}"), Mode::Sanitized)?;
        let keep = || {
            let kept = root().join(format!("tests/run/difference-{seed}-{accepted}.sched"));
            fs::write(&kept, &text)?;
            Ok(name(&kept))
        };
        agree(bench, &policy, &object, &mut rng, &keep)?;
    }
    Ok(())
}

/// Gives many hosts' steps to both. Of a difference the script is saved; `keep` names the policy that is to be in it.
fn agree(
    bench: &Bench,
    policy: &Verified<Policy>,
    object: &Path,
    rng: &mut Rng,
    keep: &dyn Fn() -> Result<String, Failed>,
) -> Result<(), Failed> {
    let framework = bench.framework.with_timers(policy.policy().timers());
    let (mut scripts, mut decisions) = (Vec::new(), Vec::new());
    for _ in 0..HOSTS * number("CATAPULTS_ROUNDS", 1) {
        let bytes = bytes(rng, STEPS * 6);
        let mut choices = Choices::new(&bytes);
        let mut host = Host::new(policy, &framework)?;
        for _ in 0..STEPS {
            if !host.out {
                host.anything(&mut choices)?;
            }
        }
        scripts.push(host.script);
        decisions.push(host.decisions);
    }
    let compiled = bench.driver.replay(object, &scripts)?;
    for ((script, expected), found) in scripts.iter().zip(&decisions).zip(&compiled) {
        let Some(difference) = difference(expected, found) else { continue };
        let policy = keep()?;
        let mut lines = vec![Line::Policy(policy)];
        lines.extend(script.iter().map(|step| Line::Step(step.clone(), None)));
        let saved = root().join(format!("tests/run/difference-{}.script", rng.u32(..)));
        fs::write(&saved, decided(&lines, expected))?;
        return Err(format!("the compiled policy: {difference}\nsaved as {}", saved.display()).into());
    }
    Ok(())
}

/// Queries of types that no shipped framework has: the native one, and its header, with two of them changed.
fn answers() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let changed = |path: &str, changes: [(&str, &str); 3]| {
        let text = fs::read_to_string(root().join(path)).unwrap();
        changes.into_iter().fold(text, |text, (old, new)| {
            assert!(text.contains(old), "{path}: {old}");
            text.replace(old, new)
        })
    };
    let header = folder.path().join("answers.h");
    let text = changed(
        "frameworks/native/include/native_policy.h",
        [
            ("int64_t (*threads_ready)", "catapults_time (*threads_ready)"),
            ("int64_t (*threads_suspended)", "double (*threads_suspended)"),
            ("CATAPULTS_NATIVE_POLICY_H", "ANSWERS_H"),
        ],
    );
    fs::write(&header, text)?;
    let text = changed(
        "frameworks/native/native.framework",
        [
            ("query threads_ready : int     = count READY;", "query threads_ready : time;"),
            ("query threads_suspended : int = count BLOCKED;", "query threads_suspended : float;"),
            ("\"native_policy.h\"", &format!("{:?}", header.display().to_string())),
        ],
    );
    let source = Source::new("answers.framework", text);
    let framework = framework::read(&source).map_err(|diagnostics| diagnostics.render(&source, false))?;
    let driver = Driver::build(&framework, folder.path())?;
    let text = fs::read_to_string(root().join("policies/fifo.sched"))?;
    let queries = "  imports { time span default 0ms; float share default 0.0; }
  query threads_ready { return span; }
  query threads_suspended { return share; }\n}\n";
    let source = Source::new("answers.sched", text.trim_end().trim_end_matches('}').to_owned() + queries);
    let (policy, _) = compile(&source, &framework).map_err(|diagnostics| diagnostics.render(&source, false))?;

    let mut steps: Vec<Step> = Vec::new();
    for value in ["0ns", "1500us", "25ms", "-3s", "9223372036854775807ns", "-9223372036854775807ns"] {
        steps.push(format!("set_import span {value}").parse()?);
        steps.push("ask threads_ready".parse()?);
    }
    for value in ["0.1", "-0.0", "1e300", "5e-324", "0.30000000000000004", "123456789012345680.0", "inf", "-inf"] {
        steps.push(format!("set_import share {value}").parse()?);
        steps.push("ask threads_suspended".parse()?);
    }
    let expected = replay(&policy, &steps);
    assert_eq!(expected.len(), steps.len() / 2);
    let compiled = driver.replay(&driver.policy(&policy, "answers", Mode::Sanitized)?, &[steps])?.remove(0);
    difference(&expected, &compiled).map_or(Ok(()), |difference| Err(difference.into()))
}

fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    rng.fill(&mut bytes);
    bytes
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
