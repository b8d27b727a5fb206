//! The scenarios of the library: each policy keeps what its header claims, and a policy that did not would be found out.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{Decides, Draft, FileName, Found, Subject, Surroundings};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::{compile, compile_hierarchy, compile_scenarios};
use catapults_simulator::sim::{Deciding, Keep, Nowhere, RunBy, simulate};
use catapults_tests::{brought, framework_at, native, root, shipped_policies};

/// What decides in all scenarios of a file.
#[derive(Clone)]
enum Under {
    Policy(Rc<Verified<Policy>>),
    Hierarchy(Rc<Hierarchy>),
}

impl Under {
    fn deciding(&self) -> Deciding<'_> {
        match self {
            Under::Policy(policy) => Deciding::Policy(policy),
            Under::Hierarchy(hierarchy) => Deciding::Hierarchy(hierarchy),
        }
    }
}

impl Decides for Under {
    fn subject(&self) -> Subject<'_> {
        self.deciding().subject()
    }
}

impl Surroundings for Under {
    type Policy = Under;

    fn policy(&mut self, _: &Draft) -> Found<Under> {
        Found::Policy(self.clone())
    }

    fn numbers(&mut self, file: &FileName) -> Result<Vec<i64>, String> {
        panic!("a scenario of the library is one file, without {}", file.path)
    }
}

/// What is not as expected in the scenarios of a policy, decided by the policy in `text`.
fn unexpected(name: &str, text: &str) -> Vec<String> {
    unexpected_at(name, text, &native())
}

fn unexpected_at(name: &str, text: &str, framework: &Framework) -> Vec<String> {
    let source = brought(Source::new(format!("{name}.sched"), text.to_owned()), &root().join("policies"));
    let (policy, _) = compile(&source, framework).unwrap_or_else(|errors| panic!("{}", errors.render(&source, false)));
    unexpected_under(name, Under::Policy(Rc::new(policy)), framework)
}

/// The same of a hierarchy, in which `other` gives the text of a policy by its name.
fn unexpected_in(name: &str, other: &dyn Fn(&str) -> String) -> Vec<String> {
    let path = root().join(format!("policies/{name}.hierarchy"));
    let source = Source::new(format!("{name}.hierarchy"), fs::read_to_string(path).unwrap());
    let mut find = |path: &str| {
        let source = Source::new(path.to_owned(), other(&self::name(Path::new(path))));
        Ok(brought(source, &root().join("policies")))
    };
    let judged = compile_hierarchy(&source, &native(), &mut find);
    let said: String = judged.said.iter().map(|(source, said)| said.render(source, false)).collect();
    let hierarchy = judged.hierarchy.unwrap_or_else(|| panic!("{said}"));
    unexpected_under(name, Under::Hierarchy(Rc::new(hierarchy)), &native())
}

fn unexpected_under(name: &str, under: Under, framework: &Framework) -> Vec<String> {
    let path = format!("policies/{name}.scenario");
    let text = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let scenarios = Source::new(path, text);
    let staged = compile_scenarios(&scenarios, framework, &|_| true, &mut under.clone());
    assert_eq!(staged.said.render(&scenarios, false), "");
    assert!(!staged.scenarios.is_empty());
    let mut unexpected = Vec::new();
    for (scenario, policy) in &staged.scenarios {
        assert!(!scenario.expectations.is_empty(), "{}: {} expects nothing", scenarios.name, scenario.name);
        let outcome =
            simulate(scenario, policy.deciding(), framework, RunBy::Interpreter, Keep::Beginning, &mut Nowhere)
                .unwrap();
        if !outcome.is_as_expected() {
            unexpected.push(format!("{}: {:?}, {:#?}", scenario.name, outcome.ending, outcome.verdicts));
        }
    }
    unexpected
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn each_policy_is_as_its_scenarios_expect() {
    for path in shipped_policies() {
        let unexpected = unexpected(&name(&path), &fs::read_to_string(&path).unwrap());
        assert!(unexpected.is_empty(), "{}: {}", path.display(), unexpected.join("\n"));
    }
}

/// Draws are as good where an `int` has 32 bits, for products that fit in no more.
#[test]
fn lottery_draws_alike_on_small_machines() {
    let freertos = framework_at("frameworks/freertos/freertos.framework");
    let unexpected = unexpected_at("lottery", &policy_text("lottery"), &freertos);
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

/// A policy in whose place `fifo` decides, with the same imports, is found out; and so is `fifo`, if the last comes first.
#[test]
fn another_policy_is_found_out() {
    let mut unnoticed = Vec::new();
    for path in shipped_policies() {
        let (name, text) = (name(&path), fs::read_to_string(&path).unwrap());
        let other =
            if name == "fifo" { text.replace("queue ready", "stack ready") } else { fifo_with_imports(&name, &text) };
        if unexpected(&name, &other).is_empty() {
            unnoticed.push(name);
        }
    }
    assert!(unnoticed.is_empty(), "their scenarios hold under another policy: {}", unnoticed.join(", "));
}

fn policy_text(name: &str) -> String {
    fs::read_to_string(root().join(format!("policies/{name}.sched"))).unwrap()
}

fn shipped_hierarchies() -> Vec<String> {
    let files = fs::read_dir(root().join("policies")).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "hierarchy"))
        .map(|path| name(&path))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

#[test]
fn each_hierarchy_is_as_its_scenarios_expect() {
    for name in shipped_hierarchies() {
        let unexpected = unexpected_in(&name, &policy_text);
        assert!(unexpected.is_empty(), "{name}: {}", unexpected.join("\n"));
    }
}

/// A policy of a hierarchy in whose place `fifo` decides, with the same imports, is found out.
#[test]
fn another_policy_in_a_hierarchy_is_found_out() {
    let mut unnoticed = Vec::new();
    for name in shipped_hierarchies() {
        let policies = RefCell::new(BTreeSet::new());
        unexpected_in(&name, &|policy| {
            policies.borrow_mut().insert(policy.to_owned());
            policy_text(policy)
        });
        for replaced in policies.into_inner().into_iter().filter(|policy| policy != "fifo") {
            let other = |policy: &str| {
                let text = policy_text(policy);
                if policy == replaced { fifo_with_imports(policy, &text) } else { text }
            };
            if unexpected_in(&name, &other).is_empty() {
                unnoticed.push(format!("{replaced} in {name}"));
            }
        }
    }
    assert!(unnoticed.is_empty(), "their scenarios hold under another policy: {}", unnoticed.join(", "));
}

/// As `fifo`, but with the variables that a policy imports.
fn fifo_with_imports(name: &str, text: &str) -> String {
    let sections: String = ["  threadimports {", "  imports {"].iter().map(|opening| section(text, opening)).collect();
    // A default may be a constant of the policy.
    let sections = sections.replace("default UNKNOWNCLASS", "default 0");
    format!(
        "scheduler {name} {{\n{sections}  data {{ threadref current; queue ready; }}\n  \
         event newthread, event_raised, switch_out(t) {{ t => ready; }}\n  \
         event schedule {{ ready => current; dispatch current; }}\n}}\n"
    )
}

/// A section of a policy that is formatted: one line, or up to a brace as far left as its first line.
fn section(text: &str, opening: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(opening));
    let Some(first) = lines.next() else { return String::new() };
    if first.contains('}') {
        return format!("{first}\n");
    }
    let inside = lines.take_while(|line| *line != "  }").collect::<Vec<_>>().join("\n");
    format!("{first}\n{inside}\n  }}\n")
}

/// `fifo` with other imports is what its name says.
#[test]
fn sections_are_found() {
    let text = "scheduler x {\n  imports {\n    int a default 1;\n  }\n\n  data {\n  }\n}\n";
    assert_eq!(section(text, "  imports {"), "  imports {\n    int a default 1;\n  }\n");
    assert_eq!(section(text, "  threadimports {"), "");
    let text = "scheduler x {\n  imports { int a default 1; } // one\n\n  data {\n  }\n}\n";
    assert_eq!(section(text, "  imports {"), "  imports { int a default 1; } // one\n");
}
