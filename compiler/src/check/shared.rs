//! Functions of files of functions: they compute a value of the values that they are given, and know nothing of the
//! policies that use them. So each means the same in all of them, and can be judged alone.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::syntax::ast::{FileKind, Function, Scheduler};
use crate::vocabulary::At;

use super::functions::{Functions, declare};
use super::nothing;
use super::symbols::Symbols;
use super::unused::unused;

/// Judges a file of functions on its own.
pub fn check_functions(tree: &Scheduler, framework: &Framework, diagnostics: &mut Diagnostics) {
    let mut symbols = Symbols::new(framework, &tree.lost);
    declare(&tree.functions, &mut symbols, diagnostics);
    Functions::of(tree, framework).check_uncalled(&symbols, &nothing(framework), diagnostics);
    if !diagnostics.has_errors() {
        unused(tree, diagnostics);
    }
}

/// The refusal of a file of functions, or of a family of nodes, that should be a policy.
pub fn no_policy(tree: &Scheduler) -> Diagnostic {
    if tree.kind == FileKind::Family {
        let family = Diagnostic::error("E0104", "this is a family of nodes, not a policy", tree.name.at, "a family");
        let name = &tree.name.text;
        return family
            .help(format!("check a scheduler that names it: `nodefamilies {{ \"{name}.family\" : {name}; }}`"));
    }
    let at = tree.functions.first().map_or(At::default(), |function| function.at);
    Diagnostic::error("E0104", "this is a file of functions, not a policy", at, "no scheduler")
        .help("name it in the policies that need it: `use \"PATH\";`; `catapults check` judges it alone")
}

/// Refuses a function that does more than to compute, by its head.
pub(super) fn judge(function: &Function, diagnostics: &mut Diagnostics) {
    if function.returns.is_none() {
        let title = format!("the shared function `{}` has no value", function.name.text);
        let without = Diagnostic::error("E0337", title, function.at, "").note(ONLY_COMPUTES);
        diagnostics.push(without.help("write the type of its value before its name"));
    }
    if let Some(thread) = function.parameters.iter().find(|parameter| parameter.ty.is_none()) {
        let title = format!("the shared function `{}` takes a thread", function.name.text);
        let moving = Diagnostic::error("E0337", title, thread.name.at, "a thread, because it has no type");
        let help = "write a type before it, and give it what is kept of the thread";
        diagnostics.push(moving.note(ONLY_COMPUTES).help(help));
    }
}

/// Refuses what does more than to compute, in a shared function. Returns whether it may stand there.
pub(super) fn may(symbols: &Symbols<'_>, what: &str, at: At, diagnostics: &mut Diagnostics) -> bool {
    if symbols.shared {
        let title = format!("{what} cannot stand in a shared function");
        let more = Diagnostic::error("E0337", title, at, "not here").note(ONLY_COMPUTES);
        diagnostics.push(more.help("return a value by which the caller decides"));
    }
    !symbols.shared
}

const ONLY_COMPUTES: &str = "functions of a file of functions compute values of values, and do nothing else";
