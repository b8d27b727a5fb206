//! Hierarchies in the tests: their policies are those of the library, and of `tests/hierarchies` and `tests/ui`.

use std::fs;
use std::path::PathBuf;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::NotFound;
use catapults_compiler::policy::{Import, Type};
use catapults_compiler::source::Source;
use catapults_compiler::{Judged, compile, compile_hierarchy};
use fastrand::Rng;

use crate::{brought, named_policy, native, root, shipped_policies};

/// What becomes of a hierarchy, wherever it stands.
pub fn judge(source: &Source, framework: &Framework) -> Judged {
    compile_hierarchy(source, framework, &mut |policy| {
        for folder in [
            "policies",
            "tests/hierarchies",
            "tests/ui/accepted",
            "tests/ui/syntax",
            "tests/ui/check",
            "tests/ui/verify",
        ] {
            let path = format!("{folder}/{policy}");
            if let Ok(bytes) = fs::read(root().join(&path)) {
                let source = Source::from_bytes(path, bytes).map_err(NotFound::Unreadable);
                return source.map(|source| brought(source, &root().join(folder)));
            }
        }
        let library = shipped_policies();
        let known = library.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
        Err(NotFound::Missing { why: format!("there is no policies/{policy}"), known: known.collect() })
    })
}

/// All that is said, as people read it.
pub fn said(judged: &Judged) -> String {
    let said = judged.said.iter().filter(|(_, diagnostics)| diagnostics.iter().next().is_some());
    said.map(|(source, diagnostics)| diagnostics.render(source, false)).collect()
}

/// A tree of the library's policies, some of their variables given.
pub fn random(rng: &mut Rng, name: &str) -> String {
    let framework = native();
    let compiled = |path: &PathBuf| {
        let source = named_policy("x", path);
        compile(&source, &framework).unwrap().0
    };
    let mut policies = shipped_policies();
    // A scheduler of a tree is one instance.
    policies.retain(|path| !compiled(path).policy().has_nodes());
    // In many places those that are told how long threads have run.
    let consumed = root().join("tests/hierarchies/least_consumed.sched");
    policies.extend(vec![consumed; policies.len() / 3]);
    let ticking = root().join("tests/hierarchies/ticking.sched");
    policies.extend(vec![ticking; policies.len() / 3]);
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
            for import in list.iter().filter(|import| !["consumed", "release"].contains(&import.name.as_str())) {
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
