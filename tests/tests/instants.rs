//! What happens at one instant: the scenarios in `tests/instants`, each of which says what comes before what. The order is that of the
//! simulator, not of a host: it is the same under every framework that interrupts threads, and for policies that were compiled. Those in
//! `tests/instants/cooperative` are for frameworks that interrupt none.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{Action, Decides, Draft, FileName, Found, Phase, Scenario, Subject, Surroundings};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_compiler::{compile, compile_scenarios};
use catapults_simulator::sim::{Deciding, Keep, Nowhere, Object, RunBy, simulate};
use catapults_tests::compiled::{Driver, Mode};
use catapults_tests::differential::{can_be_simulated, frameworks};
use catapults_tests::{native, root};

#[test]
fn each_kind_of_what_happens_has_its_place() {
    for framework in frameworks().into_iter().filter(|framework| can_be_simulated(framework)) {
        let folder = if framework.hears.is_cooperative() { "tests/instants/cooperative" } else { "tests/instants" };
        let tried: usize =
            scenarios(folder).iter().map(|path| all_hold(path, framework, &|_| RunBy::Interpreter)).sum();
        println!("{}: {tried} scenarios", framework.name);
        assert!(tried > 0, "none is for {}", framework.name);
    }
}

#[test]
fn compiled_policies_meet_the_same() {
    let framework = native();
    let folder = tempfile::tempdir().unwrap();
    let driver = Driver::of_build(&framework, folder.path(), "shared");
    let policies = ["fixed_priority", "fifo", "round_robin", "priority_ceiling"].map(|name| format!("policies/{name}"));
    let policies = ["tests/instants/last_heard".to_owned()].into_iter().chain(policies);
    let objects: Vec<(String, Object)> = policies
        .map(|path| {
            let policy = policy(root().join(format!("{path}.sched")), &framework).unwrap();
            let name = policy.policy().name.clone();
            let object = driver.policy(&policy, &name, Mode::AsBuilt).unwrap();
            (name, Object::load(&object, &framework, true).unwrap())
        })
        .collect();
    let compiled = |name: &str| {
        let found = objects.iter().find(|(other, _)| other == name);
        RunBy::Objects(std::slice::from_ref(&found.unwrap_or_else(|| panic!("`{name}` is not compiled here")).1))
    };
    for path in scenarios("tests/instants") {
        all_hold(&path, &framework, &compiled);
    }
}

fn scenarios(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root().join(folder)).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "scenario")).collect();
    files.sort();
    files
}

/// `None`: it has events or parts that the framework lacks.
fn policy(path: PathBuf, framework: &Framework) -> Option<Verified<Policy>> {
    let source = catapults_tests::policy_at(&path);
    compile(&source, framework).ok().map(|(policy, _)| policy)
}

/// How many scenarios there are for policies that the framework's dialect allows.
fn all_hold<'a>(path: &Path, framework: &Framework, run_by: &dyn Fn(&str) -> RunBy<'a>) -> usize {
    let source = Source::new(path.display().to_string(), fs::read_to_string(path).unwrap());
    let judged =
        compile_scenarios(&source, framework, &|_| true, &mut Beside { framework, folder: path.parent().unwrap() });
    assert!(
        framework.name != "native" || judged.scenarios.len() == judged.names.len(),
        "{}",
        judged.said.render(&source, false)
    );
    let mut tried = 0;
    let hears_changes = framework.events.iter().any(|event| event.name == "changed");
    for (scenario, Known(policy)) in &judged.scenarios {
        if changes_variables(scenario) && !hears_changes {
            continue;
        }
        tried += 1;
        let deciding = Deciding::Policy(policy);
        let run_by = run_by(&policy.policy().name);
        let outcome = simulate(scenario, deciding, framework, run_by, Keep::Beginning, &mut Nowhere).unwrap();
        for verdict in &outcome.verdicts {
            let place = format!("{}: {}, {}", path.display(), scenario.name, framework.name);
            assert!(verdict.holds, "{place}: {}: {}", verdict.text, verdict.found);
        }
        assert!(outcome.is_as_expected(), "{}: {:?}", scenario.name, outcome.ending);
    }
    tried
}

/// Those of threads.
fn changes_variables(scenario: &Scenario) -> bool {
    let mut actions = scenario.moments.iter().flat_map(|moment| &moment.actions);
    let mut phases = scenario.threads.iter().flat_map(|thread| &thread.phases);
    actions.any(|action| matches!(action, Action::SetOf(..))) || phases.any(|phase| matches!(phase, Phase::Set(_)))
}

#[derive(Clone)]
struct Known(Rc<Verified<Policy>>);

impl Decides for Known {
    fn subject(&self) -> Subject<'_> {
        Deciding::Policy(&self.0).subject()
    }
}

/// Policies by their paths from the folder of the scenario.
struct Beside<'a> {
    framework: &'a Framework,
    folder: &'a Path,
}

impl Surroundings for Beside<'_> {
    type Policy = Known;

    fn policy(&mut self, draft: &Draft) -> Found<Known> {
        let path = &draft.policy.as_ref().unwrap().path;
        policy(self.folder.join(path), self.framework)
            .map_or(Found::Refused, |policy| Found::Policy(Known(Rc::new(policy))))
    }

    fn numbers(&mut self, file: &FileName) -> Result<Vec<i64>, String> {
        panic!("a scenario here is one file, without {}", file.path)
    }
}
