#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{CONTRACT, Contract, Handlers, Host, Instance, Memory};
use crate::framework::{self, Framework};
use crate::source::Source;
use crate::syntax::{NotUsed, bring};

/// Combinations that no language has today, each with the hosts whose headers it is compiled with.
const OTHERS: [(Host, &[&str]); 3] = [
    (Host::new(Instance::Pointer, Handlers::Name, Contract::Small, Memory::Own), &["freertos", "rabbit"]),
    (Host::new(Instance::Pointer, Handlers::Name, Contract::Shared, Memory::Own), &["native", "pth"]),
    (Host::new(Instance::Object, Handlers::Name, Contract::Shared, Memory::Own), &["native", "pth"]),
];

#[test]
fn each_combination_of_answers_is_c() {
    for (host, frameworks) in OTHERS {
        let mut compiled = 0;
        for name in frameworks {
            let framework = described(name);
            for path in policies() {
                let Some(text) = translated(&path, &framework, host) else { continue };
                // Like a file of a host that has the instance.
                let text = format!("{text}\n#define CATAPULTS_DEFINE_INSTANCE\n{text}");
                let file = format!("{host:?}, {name}, {}", path.display());
                cc(&["-fsyntax-only"], name, host.contract, &text, &file);
                compiled += 1;
            }
        }
        assert!(compiled > 30, "{host:?}: {compiled}");
    }
}

/// The verifier of a kernel would refuse what lacks either word.
#[test]
fn in_an_arena_each_pointer_says_where_it_leads_and_each_loop_may_end() {
    let host = Host::new(Instance::Pointer, Handlers::Name, Contract::Shared, Memory::Arena);
    let framework = described("linux");
    let (mut pointers, mut loops) = (0, 0);
    for path in policies() {
        let Some(text) = translated(&path, &framework, host) else { continue };
        for line in text.lines() {
            for after in line.split("struct ").skip(1) {
                let rest = after.trim_start_matches(|character: char| character.is_alphanumeric() || character == '_');
                assert!(!rest.starts_with(" *"), "{}: {line}", path.display());
                pointers += usize::from(rest.starts_with(" CATAPULTS_MEMORY *"));
            }
            let looping = ["for (", "while ("].iter().any(|head| line.trim_start().starts_with(head));
            // A thread that is visited alone needs no second turn.
            if looping && !line.contains(" = NULL) {") {
                assert!(line.contains("CATAPULTS_LOOP("), "{}: {line}", path.display());
                loops += 1;
            }
            assert!(!line.contains("catapults_stop "), "{}: {line}", path.display());
        }
    }
    assert!(pointers > 500 && loops > 20, "{pointers} pointers, {loops} loops");
}

/// An element whose place is not known is found as the header of the host says.
#[test]
fn in_an_arena_elements_are_found_by_the_host() {
    let host = Host::new(Instance::Pointer, Handlers::Name, Contract::Shared, Memory::Arena);
    let text = translated(&root().join("policies/feedback.sched"), &described("linux"), host).unwrap();
    assert!(text.contains("catapults_list_pop(&CATAPULTS_ELEMENT_OF(self->ready, from))"), "{text}");
    let plain: Vec<_> = text.lines().filter(|line| line.contains("ready[")).collect();
    assert_eq!(plain.len(), 1, "{plain:?}");
}

/// Stops are numbers there, by which a host finds the line and the text.
#[test]
fn in_an_arena_a_stop_is_a_number() {
    let host = Host::new(Instance::Pointer, Handlers::Name, Contract::Shared, Memory::Arena);
    let text = translated(&root().join("tests/run/refusal.sched"), &described("linux"), host).unwrap();
    let stops = text.lines().find_map(|line| line.strip_prefix("#define CATAPULTS_STOPS(of)")).unwrap();
    assert!(stops.starts_with(" of(FAIL, ") || stops.starts_with(" of(GUARD, "), "{stops}");
    let count = stops.matches(" of(").count();
    assert!(text.contains(&format!("return {count}; /* refusal.sched:")), "{text}");
    assert!(!text.contains(&format!("return {}; /* refusal.sched:", count + 1)), "{text}");
}

/// Today's languages have one instance if handlers are called by name.
#[test]
fn a_small_host_can_have_two_schedulers() {
    let host = Host::new(Instance::Pointer, Handlers::Name, Contract::Small, Memory::Own);
    let generated = translated(&root().join("policies/fifo.sched"), &described("rabbit"), host).unwrap();
    ran("rabbit", host.contract, &format!("{generated}{TWO}"), "two-schedulers");
}

/// Threads 0 and 1 belong to one scheduler, 2 to the other: each dispatches its own.
const TWO: &str = r"
#include <stdlib.h>

int main(void) {
    static CATAPULTS_INSTANCE schedulers[2];
    static CATAPULTS_THREAD threads[3];
    for (int i = 0; i < 2; i++)
        CATAPULTS_START(&schedulers[i]);
    for (int i = 0; i < 3; i++) {
        CATAPULTS_ADOPT(&threads[i]);
        CATAPULTS_HANDLER_newthread(&schedulers[i / 2], &threads[i].base);
    }
    if (CATAPULTS_HANDLER_schedule(&schedulers[1]) != &threads[2].base)
        abort();
    if (CATAPULTS_HANDLER_threads_ready(&schedulers[0]) != 2 || CATAPULTS_HANDLER_threads_ready(&schedulers[1]) != 0)
        abort();
    if (CATAPULTS_HANDLER_schedule(&schedulers[0]) != &threads[0].base)
        abort();
    CATAPULTS_HANDLER_switch_out(&schedulers[0], &threads[0].base);
    if (CATAPULTS_HANDLER_schedule(&schedulers[0]) != &threads[1].base)
        abort();
}
";

/// What is said here about the headers is true.
#[test]
fn the_contracts_are_those_of_the_headers() {
    for (contract, framework) in [(Contract::Shared, "native"), (Contract::Small, "rabbit")] {
        let said = ran(framework, contract, NUMBERS, &format!("numbers-{contract:?}"));
        let said: Vec<u64> = said.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let version = if contract == Contract::Shared { u64::from(CONTRACT) } else { 0 };
        assert_eq!(said, [version, contract.most_containers() as u64], "{contract:?}");
    }
}

/// The version (0 for none), and the highest container number that a thread can keep.
const NUMBERS: &str = r#"
#include <stdio.h>

#include "catapults/policy.h"

#ifndef CATAPULTS_CONTRACT
#define CATAPULTS_CONTRACT 0u
#endif

int main(void) {
    struct catapults_thread t = {.container = 0};
    t.container--;
    printf("%u %u\n", CATAPULTS_CONTRACT, t.container);
}
"#;

/// `None`: it is not for this host.
fn translated(path: &Path, framework: &Framework, host: Host) -> Option<String> {
    let source = Source::from_bytes(path.display().to_string(), fs::read(path).unwrap()).ok()?;
    let source = bring(source, &mut |wanted| {
        let used = fs::read_to_string(path.with_file_name(wanted.path));
        used.map(|text| Source::new(wanted.path, text)).map_err(|error| NotUsed::Refused(error.to_string()))
    });
    let (policy, _) = crate::compile(&source, framework).ok()?;
    let fits = policy.policy().containers.len() <= host.contract.most_containers();
    // What verbatim text names is up to its author.
    let plain = policy.verbatim().is_none() && policy.policy().preamble.is_empty();
    (fits && plain && !policy.policy().has_nodes()).then(|| super::unit(&policy, framework, host, None))
}

fn described(name: &str) -> Framework {
    let path = root().join(format!("frameworks/{name}/{name}.framework"));
    framework::read(&Source::from_bytes(name, fs::read(path).unwrap()).unwrap()).unwrap()
}

fn policies() -> Vec<PathBuf> {
    let folders = ["policies", "tests/run"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let paths = files.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "sched")).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn cc(arguments: &[&str], framework: &str, contract: Contract, text: &str, what: &str) {
    let shared = match contract {
        Contract::Shared => "frameworks/shared",
        Contract::Small => "frameworks/shared/small",
    };
    let mut command = Command::new("cc");
    command.args(["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-fwrapv", "-x", "c", "-"]).args(arguments);
    command.arg("-I").arg(root().join(format!("frameworks/{framework}/include")));
    command.arg("-I").arg(root().join(shared));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = child.wait_with_output().unwrap();
    assert!(said.status.success(), "{what}:\n{}\n{text}", String::from_utf8_lossy(&said.stderr));
}

/// What a program prints.
fn ran(framework: &str, contract: Contract, text: &str, name: &str) -> String {
    let program = std::env::temp_dir().join(format!("catapults-{name}-{}", std::process::id()));
    cc(&["-o", &program.display().to_string()], framework, contract, text, name);
    let done = Command::new(&program).output();
    fs::remove_file(&program).unwrap();
    let done = done.unwrap();
    assert!(done.status.success(), "{name}: {}\n{text}", done.status);
    String::from_utf8(done.stdout).unwrap()
}
