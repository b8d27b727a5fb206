//! `docs/porting.md`, tried as a new user would: its host is built from a folder outside of the repository, and decides what the
//! interpreter decides. And the primitives that it lists are those that generated code uses.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use catapults_compiler::compile;
use catapults_compiler::emit::emit;
use catapults_compiler::framework::{self, Framework};
use catapults_compiler::policy::{BinaryOperator, Block, ContainerKind, Expression, Policy, Type};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_tests::replay::replay;
use catapults_tests::repository::below;
use catapults_tests::{catapults, framework_at, limited, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A copy of the host somewhere else.
struct Elsewhere(tempfile::TempDir);

impl Elsewhere {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = folder.path().join("frameworks/relay");
        fs::create_dir_all(&host).unwrap();
        for entry in fs::read_dir(root().join("tests/porting/relay")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), host.join(entry.file_name())).unwrap();
        }
        Elsewhere(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn description(&self) -> String {
        self.path("frameworks/relay/relay.framework").display().to_string()
    }

    fn catapults(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(catapults());
        command.args(arguments).current_dir(root()).env("CATAPULTS_FRAMEWORKS", self.path("frameworks"));
        command.output().unwrap()
    }

    /// A program of the host under a policy.
    fn program(&self, main: &str, object: &Path) -> PathBuf {
        let (host, program) = (self.path("frameworks/relay"), object.with_extension(main));
        let mut command = Command::new("cc");
        command.args(["-std=c17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program);
        command.arg("-I").arg(&host).arg("-I").arg(root().join("frameworks/shared"));
        command.arg(host.join("relay.c")).arg(host.join(format!("{main}.c"))).arg(object);
        succeeded(&command.output().unwrap());
        program
    }
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_host_is_a_folder_wherever_it_lies() {
    let elsewhere = Elsewhere::new();
    let said = succeeded(&elsewhere.catapults(&["framework", "check", "relay"]));
    assert_eq!(said, "1 framework description is sound\n");
    assert!(succeeded(&elsewhere.catapults(&["framework", "list"])).contains(&elsewhere.description()));
    let output = elsewhere.path("build").display().to_string();
    let last = elsewhere.path("frameworks/relay/last.sched").display().to_string();
    for (framework, policy, expected) in [
        ("relay", "policies/fifo.sched", "s waits a 1 b 1 c 1 a 2 b 2 c 2 s is awake a 3 b 3 c 3 0 left"),
        (elsewhere.description().as_str(), last.as_str(), "c is refused b 1 b 2 b 3 a 1 a 2 a 3 s waits 1 left"),
    ] {
        let explored = elsewhere.catapults(&["explore", "--threads", "2", "--framework", framework, policy]);
        assert!(matches!(explored.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&explored.stdout));
        succeeded(&elsewhere.catapults(&["build", "--framework", framework, "--output", &output, policy]));
        let name = Path::new(policy).file_stem().unwrap().to_string_lossy().into_owned();
        let program = elsewhere.program("example", &elsewhere.path(&format!("build/{name}.o")));
        let ran = limited(program).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout).trim().replace('\n', " "), expected, "{policy}");
    }
}

#[test]
fn the_host_decides_what_the_interpreter_decides() {
    let elsewhere = Elsewhere::new();
    let framework = framework_at("tests/porting/relay/relay.framework");
    let output = elsewhere.path("build").display().to_string();
    let (mut policies, mut decisions) = (0, 0);
    for path in written(&["policies", "tests/run", "tests/porting/relay"]) {
        let source = catapults_tests::policy_at(&root().join(&path));
        let Ok((policy, _)) = compile(&source, &framework) else { continue };
        // Its imported variables are not registered, and its guards end the program.
        if policy.share().guarded > 0 || policy.uninterpretable().is_some() {
            continue;
        }
        succeeded(&elsewhere.catapults(&["build", "--framework", "relay", "--output", &output, &source.name]));
        let object = elsewhere.path(&format!("build/{}.o", policy.policy().name));
        let program = elsewhere.program("workload", &object);
        for seed in 1..=3 {
            let trace = elsewhere.path("trace");
            let ran = Command::new("timeout")
                .arg("20")
                .arg(&program)
                .arg(seed.to_string())
                .env("RELAY_TRACE", &trace)
                .output();
            succeeded(&ran.unwrap());
            decisions += agrees(&policy, &fs::read_to_string(&trace).unwrap(), &source.name);
        }
        policies += 1;
    }
    assert!(policies >= 6 && decisions > 3000, "{policies} policies, {decisions} decisions");
}

/// How many decisions of the trace the interpreter takes, too: all of them.
fn agrees(policy: &Verified<Policy>, trace: &str, name: &str) -> usize {
    let steps: Vec<_> =
        trace.lines().map(|line| line.split_once(" -> ").map_or(line, |(step, _)| step).parse().unwrap()).collect();
    let decided: Vec<&str> = trace.lines().filter(|line| line.contains(" -> ")).collect();
    assert_eq!(decided, replay(policy, &steps), "{name}");
    decided.len()
}

/// The policies in these folders.
fn written(folders: &[&str]) -> Vec<PathBuf> {
    let mut files = below(folders, "sched");
    // One policy is about names that are taken, and has them all.
    files.retain(|path| !path.ends_with("names.sched"));
    files
}

/// What the others do not do.
const RARE: [&str; 2] = [
    "scheduler rare {
  imports { time spent default 3us; }
  data { threadref current; queue ready; }
  event newthread(t) { spent = 5us; t => ready; }
  event switch_out(t) { t => ready; }
  event event_raised(t) { t => ready; }
  event schedule { ready => current; dispatch current; }
}",
    "scheduler rare {
  data { threadref current; queue ready, other : READY; int turn, of = 2; }
  event newthread(t) { turn = max(min(turn, of), 0) + (1 << (of >> 1)); if (turn % of == 1) t => ready; else t => other; }
  event switch_out(t) { t => ready; }
  event event_raised(t) { t => ready; }
  event schedule { if (|ready| > 0) ready => current; else other => current; dispatch current; }
}",
];

/// A row of the document: names, and what a policy has that makes generated code use them.
struct Row {
    names: BTreeSet<String>,
    with: Vec<String>,
}

fn rows(language: &str) -> Vec<Row> {
    let text = fs::read_to_string(root().join("docs/porting.md")).unwrap();
    let (_, section) = text.split_once(&format!("### language {language}\n")).unwrap();
    let lines = section.split("###").next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let names = cells[0].split_whitespace().map(|name| name.trim_matches('`').to_owned());
        Row { names: names.collect(), with: cells[1].split(", ").map(str::to_owned).collect() }
    };
    lines.map(row).collect()
}

/// Also where nothing ever comes to them.
fn has_guards(policy: &Verified<Policy>, block: &Block) -> bool {
    block.iter().any(|statement| {
        !policy.facts(statement.id).guards.is_empty() || statement.blocks().any(|inner| has_guards(policy, inner))
    })
}

/// Whether a policy has something.
fn has(policy: &Verified<Policy>, what: &str) -> bool {
    let bodies = policy.policy().events.iter().chain(&policy.policy().queries).map(|handler| &handler.body);
    let guarded = bodies.into_iter().any(|body| has_guards(policy, body));
    let policy = policy.policy();
    let kind = |such: fn(&ContainerKind) -> bool| policy.containers.iter().any(|container| such(&container.kind));
    match what {
        "all" => true,
        "guards" => guarded,
        "imports" => !policy.imports.is_empty() || !policy.thread_imports.is_empty(),
        "attribute" => policy.attributes.iter().any(|attribute| attribute.timer.is_none()),
        "threadref" => kind(|kind| *kind == ContainerKind::Threadref),
        "threadref of threads" => !policy.links.is_empty(),
        "queue" => kind(|kind| *kind == ContainerKind::Queue),
        "stack" => kind(|kind| *kind == ContainerKind::Stack),
        "pqueue" => kind(|kind| matches!(kind, ContainerKind::Pqueue(_))),
        "pstack" => kind(|kind| matches!(kind, ContainerKind::Pstack(_))),
        "time" => policy.uses(Type::Time),
        "timer" => policy.timers().next().is_some(),
        "float" => policy.uses(Type::Float),
        "fail" => catapults_compiler::policy::text::print(policy).contains("fail \""),
        "division" => {
            policy.has(&|it| matches!(it, Expression::Binary(BinaryOperator::Divide | BinaryOperator::Remainder, ..)))
        }
        "min" => policy.has(&|it| matches!(it, Expression::Binary(operator, ..) if operator.is_called())),
        "random" => policy.uses_random(),
        "reasons" => policy.tells(),
        "shift" => policy.has(&|it| matches!(it, Expression::Binary(operator, ..) if operator.is_shift())),
        // An index that is computed can be anywhere, also in a transfer.
        "index" => {
            policy.containers.iter().any(|container| container.element.is_some())
                || policy.variables.iter().any(|variable| variable.element.is_some())
                || policy.constants.iter().any(|constant| constant.element.is_some())
                || policy.attributes.iter().any(|attribute| attribute.element.is_some())
        }
        "nodes" => policy.has_nodes(),
        other => panic!("docs/porting.md: what is `{other}`?"),
    }
}

/// What a generated file names and does not define.
fn primitives(text: &str) -> BTreeSet<String> {
    let mut defined = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("#define ")) {
        defined.extend(line.split([' ', '(']).next().map(str::to_owned));
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("#include")).collect();
    let text = lines.join("\n");
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map(str::to_owned);
    words.filter(|word| word.to_ascii_lowercase().starts_with("catapults_") && !defined.contains(word)).collect()
}

fn check(language: &str, framework: &Framework) {
    let rows = rows(language);
    let row_of: BTreeMap<&str, &Row> =
        rows.iter().flat_map(|row| row.names.iter().map(move |name| (name.as_str(), row))).collect();
    let (mut used, mut unlisted, mut compiled) = (BTreeSet::new(), BTreeSet::new(), 0);
    let rare = RARE.map(|text| (PathBuf::from("rare"), text.to_owned()));
    let written = written(&["policies", "tests/run", "tests/ui", "applications/weather"]);
    let texts = written.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap_or_default()));
    for (path, text) in texts.chain(rare) {
        let source = Source::new("x.sched", text);
        let Ok((policy, _)) = compile(&source, framework) else { continue };
        // What verbatim text names is its author's business.
        if policy.verbatim().is_some() || !policy.policy().preamble.is_empty() {
            continue;
        }
        compiled += 1;
        for name in primitives(&emit(&policy, framework).unwrap()[0].text) {
            let is_it = |listed: &&&str| match listed.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => **listed == name,
            };
            let listed = row_of.keys().find(is_it);
            let Some(listed) = listed else {
                unlisted.insert(name);
                continue;
            };
            let row = row_of[listed];
            let with = row.with.iter().any(|what| has(&policy, what));
            assert!(with, "{}: `{name}` is used without {}", path.display(), row.with.join(" or "));
            used.insert((*listed).to_owned());
        }
    }
    assert!(compiled > 10, "{compiled}");
    assert!(unlisted.is_empty(), "docs/porting.md does not list {unlisted:?} for {language}");
    let unused: Vec<&str> = row_of.keys().copied().filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "no policy uses {unused:?}, which docs/porting.md lists for {language}");
}

#[test]
fn the_primitives_of_linked_code_are_those_of_the_document() {
    check("c", &framework_at("frameworks/native/native.framework"));
}

/// On a host with all that the language has, and with the events of the library's policies.
#[test]
fn the_primitives_of_included_code_are_those_of_the_document() {
    let description = fs::read_to_string(root().join("frameworks/native/native.framework")).unwrap();
    let features = description.lines().find(|line| line.trim_start().starts_with("dialect")).unwrap().to_owned();
    let timer = description.lines().find(|line| line.trim_start().starts_with("timer event")).unwrap().to_owned();
    // There is one scheduler.
    let of_nodes = ["node ", "global ", "optional node ", "optional global "];
    let kept = description.lines().filter(|line| !of_nodes.iter().any(|start| line.trim_start().starts_with(start)));
    let embedded = kept
        .map(|line| format!("{line}\n").replace("( newthread | migrate )", "newthread"))
        .collect::<String>()
        .replace(&features, "  dialect { failure; loops; }")
        .replace(&timer, "")
        .replace("language c;", "language embedded_c;")
        .replace("int 64;", "int 16;");
    check("embedded_c", &framework::read(&Source::new("skeleton.framework", embedded)).unwrap());
}
