//! The library of policies, which is part of the program.

use crate::failure::Failure;
use crate::frameworks::nearest;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use clap::builder::{PossibleValue, TypedValueParser};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;

/// A policy of the library.
pub struct Entry {
    pub name: &'static str,
    /// The text of its file.
    pub policy: &'static str,
    /// The text of the scenarios beside it.
    pub scenario: Option<&'static str>,
}

/// The files of `policies`, in the order of their names.
const POLICIES: &[Entry] = include!(concat!(env!("OUT_DIR"), "/policies.rs"));

/// The files of functions below `policies`, each with its path from there, in the order of the paths.
pub const FUNCTIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// Reads the name of a policy, or a path. Shells complete names; [`find`] judges them.
#[derive(Clone)]
pub struct PolicyOrPath;

impl TypedValueParser for PolicyOrPath {
    type Value = PathBuf;

    fn parse_ref(&self, _: &clap::Command, _: Option<&clap::Arg>, value: &OsStr) -> Result<PathBuf, clap::Error> {
        Ok(PathBuf::from(value))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(POLICIES.iter().map(|entry| PossibleValue::new(entry.name))))
    }
}

/// The policy of this name. `by`: what names it.
pub fn find(wanted: &str, by: &str) -> Result<&'static Entry, Failure> {
    POLICIES.iter().find(|entry| entry.name == wanted).ok_or_else(|| {
        let title = format!("the library has no policy `{wanted}`");
        let mut diagnostic = Diagnostic::error("E0525", title, At::default(), "");
        let names: BTreeSet<String> = POLICIES.iter().map(|entry| entry.name.to_owned()).collect();
        if let Some(meant) = nearest(wanted, &names) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Failure::of_usage(by, diagnostic.help(format!("there is {names}; or give the path of a .sched file")))
    })
}
