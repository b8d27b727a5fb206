//! What the compiler says. Each `.sched`, `.hierarchy`, `.scenario` or `.framework` file in `tests/figures`, and in the folders of `tests/ui`, one for each stage, is a case; beside it
//! stands what is said, in a file that ends in `.stderr` (empty if the case is accepted). `UPDATE=1` rewrites it.
//!
//! A policy, hierarchy or scenario is checked against the native framework, or against the one of `tests/ui/frameworks` that its first line names:
//! `// framework: NAME`. A case that is named `E0123-…` or has a code among the words of its name must give that code.

use std::fs;
use std::path::{Path, PathBuf};

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::is_of_functions;
use catapults_compiler::{check_functions, compile, framework};
use catapults_tests::repository::below;
use catapults_tests::{brought, framework_for, hierarchies, root, scenarios};
use libtest_mimic::{Arguments, Failed, Trial};

/// Of the files that are cases.
const ENDINGS: [&str; 4] = ["sched", "hierarchy", "scenario", "framework"];

fn main() {
    let mut trials = Vec::new();
    for folder in ["tests/ui", "tests/figures"] {
        let mut cases: Vec<PathBuf> = ENDINGS.iter().flat_map(|ending| below(&[folder], ending)).collect();
        cases.retain(|path| !path.parent().is_some_and(|folder| folder.ends_with("frameworks")));
        cases.sort();
        assert!(!cases.is_empty(), "{folder} has no cases");
        for case in cases {
            let name = case.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            trials.push(Trial::test(name.clone(), move || judge(&case, &name)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn judge(case: &Path, name: &str) -> Result<(), Failed> {
    let ending = case.extension().unwrap_or_default().to_string_lossy();
    let said = said(name, fs::read(case).unwrap(), &ending);
    let stem = case.file_stem().unwrap().to_string_lossy();
    for code in stem.split('-').filter(|word| word.len() == 5 && word.starts_with("E0")) {
        if !said.contains(&format!("[{code}]")) {
            return Err(format!("{code} is not among what was said:\n{said}").into());
        }
    }
    let expected = case.with_extension("stderr");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&expected, &said).unwrap();
    }
    let expectation = fs::read_to_string(&expected).unwrap_or_default();
    if said == expectation && expected.exists() {
        return Ok(());
    }
    Err(format!("expected (UPDATE=1 accepts what was said):\n{expectation}\nsaid:\n{said}").into())
}

fn said(name: &str, bytes: Vec<u8>, ending: &str) -> String {
    let source = match Source::from_bytes(name, bytes) {
        Ok(source) => source,
        Err(unreadable) => return unreadable.diagnostics.render(&unreadable.source, false),
    };
    let diagnostics: Diagnostics = match ending {
        "framework" => framework::check(&source).map_or_else(|errors| errors, |(_, warnings)| warnings),
        "hierarchy" => return hierarchies::said(&hierarchies::judge(&source, &framework_for(&source))),
        "scenario" => scenarios::judge(&source, &framework_for(&source)).said,
        _ => {
            let source = brought(source, &root().join(name).with_file_name(""));
            let framework = framework_for(&source);
            return match is_of_functions(&source) {
                true => check_functions(&source, &framework),
                false => compile(&source, &framework).map_or_else(|errors| errors, |(_, warnings)| warnings),
            }
            .render(&source, false);
        }
    };
    diagnostics.render(&source, false)
}
