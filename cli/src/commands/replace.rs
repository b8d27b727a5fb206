//! `catapults replace`.

use super::{compile, is_hierarchy, is_standard_input};
use crate::arguments::Replace;
use crate::artefact::Accepted;
use crate::console::Console;
use crate::failure::Failure;
use crate::frameworks;
use crate::live::{Live, Refusal};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

pub fn replace(console: &Console, arguments: &Replace) -> Result<(), Failure> {
    let policy = arguments.policy.as_path();
    let live = Live::open(arguments.process)?;
    if is_hierarchy(policy) {
        return Err(refused(policy, "a hierarchy cannot take the place of a policy"));
    }
    let artefact = if is_standard_input(policy) || policy.extension() == Some(OsStr::new("sched")) {
        let found = frameworks::find(console, "native")?;
        let compiled = compile(console, policy, &found.framework)?;
        super::run::up_to_date(console, &found, &Accepted::Policy(Box::new(compiled)), policy)?
    } else {
        super::run::existing(policy)?
    };
    let file = File::open(&artefact).map_err(|error| super::unreadable(&artefact, &error))?;
    match live.ask("replace", Some(file.as_fd())) {
        Ok(_) => {
            console.note(&format!("process {} runs under {} now", arguments.process, policy.display()));
            Ok(())
        }
        Err(Refusal::Lost(failure)) => Err(failure),
        Err(Refusal::Said(why)) => Err(refused(policy, &format!("the policy is not put in force: {why}"))),
    }
}

fn refused(policy: &Path, title: &str) -> Failure {
    let diagnostic = Diagnostic::error("E0532", title, At::default(), "").note("the program goes on under the old one");
    let help = "`catapults explain E0532` says what a policy must have to take the place of another";
    Failure::of(&policy.display().to_string(), diagnostic.help(help))
}
