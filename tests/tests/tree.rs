//! Hierarchies of schedulers: in the interpreter (`simulator/src/tree.rs`) the same happens as in the native dispatcher
//! (`tests/hierarchies/driver.c`), to every thread and to every scheduler as the thread that it is to its parent.
//!
//! A script is a line for each step. Whoever runs takes the next one; while nobody does, it happens outside.
//!
//! ```text
//! with period 20000000      the next thread that is created has this value, if its policy imports such a variable
//! create 2                  a thread, under the scheduler of this index
//! yield, yield_to 7, exit, block.lock, suspend 7, resume 7
//! unblock 7, at 5000000     anybody's, and all that can happen outside
//! ```
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
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::{Import, Type};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::Value;
use catapults_simulator::tree::{Out, Tree};
use catapults_tests::hierarchies::{judge, said};
use catapults_tests::{limited, native, root, shipped_policies};
use fastrand::Rng;

/// Random hierarchies, and scripts for each.
const RANDOM: u64 = 12;
const SCRIPTS: u64 = 20;
const STEPS: usize = 250;

#[test]
fn a_tree_decides_what_the_native_dispatcher_decides() {
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
    let (mut records, mut out) = (0, 0);
    for (name, text) in &texts {
        let judged = judge(&Source::new(format!("{name}.hierarchy"), text.as_str()), &bench.framework);
        let hierarchy = judged.hierarchy.as_ref().unwrap_or_else(|| panic!("{}\n{text}", said(&judged)));
        // Some policies refuse some schedulers, as they refuse threads.
        if let Err(refused) = Tree::new(hierarchy) {
            assert!(refused.event == "newthread", "{refused}\n{text}");
            continue;
        }
        let object = bench.build(hierarchy);
        for _ in 0..SCRIPTS {
            let (script, expected) = script(hierarchy, &mut rng);
            let happened = bench.run(&object, &script);
            if happened != expected {
                let place = happened.iter().zip(&expected).take_while(|(left, right)| left == right).count();
                let from = place.saturating_sub(12);
                panic!(
                    "record {place}:\nnative: {:?}\ninterpreter: {:?}\n{text}\n{}",
                    &happened[from.min(happened.len())..(place + 4).min(happened.len())],
                    &expected[from.min(expected.len())..(place + 4).min(expected.len())],
                    script.join("\n")
                );
            }
            out += u64::from(happened.last().is_some_and(|last| last.starts_with("out")));
            records += happened.len();
        }
    }
    // A policy of the library that is out ends a script; few do.
    assert!(records > 20_000 && out * 20 < texts.len() as u64 * SCRIPTS, "{records} records, {out} policies out");
    println!("differences 0 of {records} records of {} hierarchies", texts.len());
}

/// A tree of the library's policies, some of their variables given.
fn random(rng: &mut Rng, name: &str) -> String {
    let framework = native();
    let compiled = |path: &PathBuf| {
        let source = Source::new("x", fs::read_to_string(path).unwrap());
        catapults_compiler::compile(&source, &framework).unwrap().0
    };
    let mut policies = shipped_policies();
    // A scheduler of a tree is one instance.
    policies.retain(|path| !compiled(path).policy().has_nodes());
    // In every third place the one that is told how long its threads have run.
    let consumed = root().join("tests/hierarchies/least_consumed.sched");
    policies.extend(vec![consumed; policies.len() / 2]);
    let mut text = format!("hierarchy {name} {{\n");
    let count = rng.usize(2..9);
    let mut imports: Vec<Vec<Import>> = Vec::new();
    for index in 0..count {
        let path = &policies[rng.usize(0..policies.len())];
        let policy = path.file_stem().unwrap().to_string_lossy();
        let verified = compiled(path);
        let mut given = |list: &[Import]| -> String {
            let mut values = String::new();
            // What the host keeps it also sets.
            for import in list.iter().filter(|import| import.name != "consumed") {
                let value = match import.ty {
                    Type::Int => rng.i64(0..60).to_string(),
                    Type::Time => format!("{}ms", rng.i64(1..40)),
                    Type::Bool => rng.bool().to_string(),
                    Type::Float => format!("{}.5", rng.i64(0..9)),
                };
                values.push_str(&format!(" {} = {value};", import.name));
            }
            format!("{{{values} }}")
        };
        let own = given(&verified.policy().imports);
        // Far down as well as wide.
        let parent = (index > 0).then(|| if index % 2 == 0 { index - 1 } else { index / 2 });
        let under = parent.map_or(String::new(), |parent| format!(" under s{parent} {}", given(&imports[parent])));
        text.push_str(&format!("  scheduler s{index} : {policy}{under} with {own}\n"));
        imports.push(verified.policy().thread_imports.clone());
    }
    format!("{text}  default s{};\n}}\n", rng.usize(0..count))
}

/// A script, made while it is followed, and what happens in the interpreter.
fn script(hierarchy: &Hierarchy, rng: &mut Rng) -> (Vec<String>, Vec<String>) {
    let mut script = Vec::new();
    let mut tree = match Tree::new(hierarchy) {
        Ok(tree) => tree,
        Err(refused) => panic!("{refused}"),
    };
    let mut now = 0;
    let mut last = tree.start(hierarchy.default()).map(|thread| thread.0);
    for _ in 0..STEPS {
        let Ok(most) = last else { break };
        last = step(hierarchy, &mut tree, rng, most, &mut now, &mut script).map(|new| new.unwrap_or(most));
    }
    let mut happened: Vec<String> = tree.log().iter().map(ToString::to_string).collect();
    match last {
        Err(out) => happened.push(format!("out {out}")),
        // The script ends where the dispatcher looks for the next step.
        Ok(_) if tree.running().is_none() => happened.push("idle".to_owned()),
        Ok(_) => {}
    }
    (script, happened)
}

/// One step; the number of the thread that it created.
fn step(
    hierarchy: &Hierarchy,
    tree: &mut Tree,
    rng: &mut Rng,
    most: u32,
    now: &mut i64,
    script: &mut Vec<String>,
) -> Result<Option<u32>, Out> {
    let any = ThreadId(rng.u32(1..=most));
    let mut say = |text: String| script.push(text);
    let choice = rng.u32(0..100);
    if tree.running().is_none() {
        return match choice {
            0..50 => {
                say(format!("unblock {}", any.0));
                tree.outside(|tree| tree.unblock(any))
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
            let scheduler = rng.usize(0..hierarchy.nodes().len());
            let policy = hierarchy.policies()[hierarchy.nodes()[scheduler].policy].policy();
            let mut values = Vec::new();
            for import in &policy.thread_imports {
                if import.name == "consumed" || rng.bool() {
                    continue;
                }
                let value = match import.ty {
                    Type::Int => Value::Int(rng.i64(0..60)),
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
            say(format!("create {scheduler}"));
            return tree.create(scheduler, &values).map(|thread| Some(thread.0));
        }
        12..40 => {
            say("yield".to_owned());
            tree.yields()
        }
        40..48 => {
            say(format!("yield_to {}", any.0));
            // Of a thread that has ended there is nothing to be asked.
            if tree.lives(any) { tree.yields_to(any) } else { Ok(()) }
        }
        48..62 => {
            let event = ["block.io.read", "block.lock", "block.sleep"][rng.usize(0..3)];
            say(event.to_owned());
            tree.blocks(event)
        }
        62..76 => {
            say(format!("unblock {}", any.0));
            tree.unblock(any)
        }
        76..82 => {
            say(format!("suspend {}", any.0));
            tree.suspends(any)
        }
        82..90 => {
            say(format!("resume {}", any.0));
            tree.resumes(any)
        }
        90..93 => {
            say("exit".to_owned());
            tree.exits()
        }
        _ => {
            *now += rng.i64(0..30_000_000);
            say(format!("at {now}"));
            tree.set_now(*now);
            Ok(())
        }
    }
    .map(|()| None)
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
        for layer in ["dispatcher", "contexts"] {
            compiler.args(sources(&home.join(layer)));
        }
        compiler.arg(home.join(format!("contexts/{}.S", std::env::consts::ARCH))).arg("-ldl");
        finish(&mut compiler);
        Bench { framework: native(), folder, driver }
    }

    fn build(&self, hierarchy: &Hierarchy) -> PathBuf {
        let files = emit_hierarchy(hierarchy, &self.framework).unwrap();
        let sources: Vec<String> = files
            .iter()
            .map(|file| {
                let path = self.folder.path().join(&file.name);
                fs::write(&path, &file.text).unwrap();
                path.display().to_string()
            })
            .collect();
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
            let word = word.replace("{output}", &output.display().to_string());
            let word = word.replace("{framework}", &folder("frameworks/native"));
            words.push(word.replace("{shared}", &folder("frameworks/shared")));
        }
        finish(Command::new(&words[0]).args(&words[1..]));
        output
    }

    /// What has happened under the native dispatcher.
    fn run(&self, object: &Path, script: &[String]) -> Vec<String> {
        let mut child = limited(&self.driver)
            .arg(object)
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

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
