//! `catapults grammar`.

use crate::arguments::Grammar;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;
use crate::frameworks::Found;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::syntax::Feature;
use catapults_compiler::vocabulary::At;
use catapults_compiler::{framework, hierarchy, scenario};

pub fn grammar(console: &Console, arguments: &Grammar) -> Result<(), Failure> {
    if arguments.framework_language {
        return console.data(&framework::grammar().to_string());
    }
    if arguments.scenarios {
        return console.data(&scenario::grammar().to_string());
    }
    let found = frameworks::find(console, &arguments.framework.framework)?;
    if arguments.hierarchies {
        return hierarchies(console, &found);
    }
    console.data(&found.framework.grammar().to_string())
}

/// The grammar of a framework's hierarchies, if it has any.
fn hierarchies(console: &Console, found: &Found) -> Result<(), Failure> {
    let dialect = &found.framework.dialect;
    if dialect.features.contains(&Feature::Hierarchies) {
        return console.data(&hierarchy::grammar(dialect).to_string());
    }
    let title = format!("framework `{}` has no hierarchies of schedulers", dialect.framework);
    let help = "leave `--hierarchies` out for the grammar of its policies";
    Err(Failure::of_usage("--hierarchies", Diagnostic::error("E0108", title, At::default(), "").help(help)))
}
