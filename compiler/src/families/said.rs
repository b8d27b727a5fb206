//! What was found when a scheduler was judged with each of its families.

use std::collections::{BTreeSet, HashSet};

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::source::Source;
use crate::syntax::ast::{Name, Scheduler};
use crate::vocabulary::At;

/// The findings, by family.
pub(super) struct Said<'a> {
    /// The names of the families.
    families: Vec<&'a Name>,
    /// Where members of threads are declared, and global variables are listed: what one family does not use, another one can.
    together: BTreeSet<u32>,
    all: Vec<Vec<Found>>,
    omitted: Diagnostics,
}

struct Found {
    one: Diagnostic,
    /// It stands in the file of the scheduler, which all families share.
    shared: bool,
}

impl<'a> Said<'a> {
    pub(super) fn new(tree: &'a Scheduler) -> Self {
        let files = tree.families.iter().filter_map(|family| family.tree.as_ref());
        let members = |file: &Scheduler| {
            let lists = [&file.attributes, &file.thread_imports, &file.imports, &file.globals, &file.properties];
            lists.into_iter().flatten().map(|one| one.name.at.start).collect::<Vec<u32>>()
        };
        Said {
            families: tree.families.iter().map(|family| &family.name).collect(),
            together: files.flat_map(|file| members(file)).collect(),
            all: Vec::new(),
            omitted: Diagnostics::new(),
        }
    }

    /// Adds what was found with one family.
    pub(super) fn add(&mut self, source: &Source, diagnostics: Diagnostics) {
        let shared = |one: &Diagnostic| source.used_at(one.primary.0.start).is_none();
        self.all.push(diagnostics.iter().map(|one| Found { shared: shared(one), one: one.clone() }).collect());
        if diagnostics.omitted() > 0 {
            self.omitted.append(diagnostics);
        }
    }

    /// Each once. `of_all`: what is not used, if all families are taken together. That decides of what several of them
    /// share.
    pub(super) fn together(self, of_all: &Diagnostics) -> Diagnostics {
        let mut together = self.omitted;
        let mut told: HashSet<(At, &str)> = HashSet::new();
        for (number, found) in
            self.all.iter().enumerate().flat_map(|(number, all)| all.iter().map(move |one| (number, one)))
        {
            let one = &found.one;
            let of_several = found.shared || self.together.contains(&one.primary.0.start);
            let everywhere = || self.all.iter().all(|family| family.iter().any(|other| other.one == *one));
            if one.severity == Severity::Error {
                // One mistake in the scheduler is told once, with the first family that shows it.
                if !told.insert((one.primary.0, &one.title)) {
                    continue;
                }
                let mut error = one.clone();
                if found.shared
                    && !everywhere()
                    && let Some(family) = self.families.get(number)
                {
                    error.notes.push(format!("it is so with the family `{}`", family.text));
                }
                together.push(error);
            } else if !of_several || one.code != UNUSED && everywhere() {
                together.push(one.clone());
            }
        }
        let of_several = |one: &&Diagnostic| {
            self.together.contains(&one.primary.0.start)
                || self
                    .all
                    .iter()
                    .flatten()
                    .any(|found| found.shared && found.one.code == UNUSED && found.one.primary.0 == one.primary.0)
        };
        of_all.iter().filter(of_several).for_each(|one| together.push(one.clone()));
        together
    }
}

/// The code for what is declared in vain.
const UNUSED: &str = "E0328";
