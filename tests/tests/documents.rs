//! Every policy in a document is compiled: blocks of ```` ```sched ````, which must be accepted, and of
//! ```` ```sched fail ````, which must give the error of the page that they stand on. Frameworks, in blocks of
//! ```` ```framework ```` and ```` ```framework fail ````, hierarchies, in ```` ```hierarchy ```` and so on, and scenarios, likewise. The policies
//! of hierarchies and scenarios are those of the library. A scenario that must be accepted is simulated, and what it expects must be so.
//!
//! What a block leaves out is added: the scheduler around it, and the containers and handlers that every policy has. In a
//! block `// framework: NAME` names a description in `tests/ui/frameworks`, `\xNN` stands for a byte, and a line that ends in `(N times)` for as many.
//!
//! Simulations that `docs/choosing.md` names are run, too: everything that is expected in them must be so.

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::source::Source;
use catapults_compiler::syntax::is_of_functions;
use catapults_compiler::{check_functions, compile, framework};
use catapults_simulator::sim::{Deciding, Keep, Nowhere, RunBy, simulate};
use catapults_tests::examples::{Example, documents, examples};
use catapults_tests::{brought, catapults, framework_for, hierarchies, limited, root, scenarios};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn main() {
    let mut trials = Vec::new();
    for document in documents() {
        let name = document.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        for example in examples(&document) {
            trials.push(Trial::test(format!("{name}:{}", example.line), move || judge(&example)));
        }
    }
    assert!(!trials.is_empty());
    let named = simulations("docs/choosing.md");
    assert!(named.len() > 20, "docs/choosing.md names {named:?}");
    let command = catapults();
    for simulation in named {
        let command = command.clone();
        trials.push(Trial::test(format!("docs/choosing.md: {simulation}"), move || shows(&command, &simulation)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// What stands behind `catapults` in the commands of a document that simulate.
fn simulations(document: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let spans = text.split('`').skip(1).step_by(2);
    spans
        .filter_map(|span| span.strip_prefix("catapults "))
        .filter(|rest| rest.starts_with("sim "))
        .map(str::to_owned)
        .collect()
}

/// The command ends with an error if something is not as expected.
fn shows(command: &Path, simulation: &str) -> Result<(), Failed> {
    let mut command = limited(command);
    let output = command.args(simulation.split(' ')).current_dir(root()).env("NO_COLOR", "1").output()?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() && said.contains("as expected: ") { Ok(()) } else { Err(said.into()) }
}

/// The code for what is declared in vain.
const UNUSED: &str = "E0328";

fn judge(example: &Example) -> Result<(), Failed> {
    let name = example.file_name().unwrap_or("example");
    let (said, codes) = match Source::from_bytes(name, example.completed()) {
        Err(unreadable) => shown(&unreadable.diagnostics, &unreadable.source),
        Ok(source) if example.language == "framework" => {
            shown(&framework::check(&source).map_or_else(|errors| errors, |(_, warnings)| warnings), &source)
        }
        Ok(source) if example.language == "hierarchy" => {
            let judged = hierarchies::judge(&source, &framework_for(&source));
            let codes = judged.said.iter().flat_map(|(_, diagnostics)| diagnostics.iter());
            let mut codes: Vec<String> = codes.map(|diagnostic| diagnostic.code.to_owned()).collect();
            codes.dedup();
            (hierarchies::said(&judged), codes)
        }
        Ok(source) if example.language == "scenario" => {
            let framework = framework_for(&source);
            let staged = scenarios::judge(&source, &framework);
            for (scenario, policy) in &staged.scenarios {
                let outcome = simulate(
                    scenario,
                    Deciding::Policy(&policy.0),
                    &framework,
                    RunBy::Interpreter,
                    Keep::Beginning,
                    &mut Nowhere,
                )?;
                if !outcome.is_as_expected() {
                    return Err(format!("{:?}: {:#?}", outcome.ending, outcome.verdicts).into());
                }
            }
            shown(&staged.said, &source)
        }
        Ok(source) if is_of_functions(&source) => {
            let source = brought(source, &root().join("policies"));
            shown(&check_functions(&source, &framework_for(&source)), &source)
        }
        Ok(source) => {
            let source = brought(source, &root().join("policies"));
            let framework = framework_for(&source);
            shown(&compile(&source, &framework).map_or_else(|errors| errors, |(_, warnings)| warnings), &source)
        }
    };
    // What an example declares may be there for what it leaves out.
    let codes: Vec<String> =
        codes.into_iter().filter(|code| code != UNUSED || example.fails.as_deref() == Some(UNUSED)).collect();
    match &example.fails {
        None if codes.is_empty() => Ok(()),
        None => Err(format!("it should be accepted:\n{said}").into()),
        Some(code) if codes.len() == 1 && codes.contains(code) => Ok(()),
        Some(code) => Err(format!("it should give {code} and nothing else:\n{said}").into()),
    }
}

fn shown(diagnostics: &Diagnostics, source: &Source) -> (String, Vec<String>) {
    let mut codes: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.code.to_owned()).collect();
    codes.dedup();
    (diagnostics.render(source, false), codes)
}
