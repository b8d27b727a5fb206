//! Names that scenarios can have, for those of a workload. Different names stay different, whatever is replaced.

use std::collections::{BTreeMap, BTreeSet};

use catapults_compiler::scenario::is_reserved;

/// The names of one kind: of tasks, or of locks.
#[derive(Default)]
pub(super) struct Names {
    given: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl Names {
    pub(super) fn of(&mut self, name: &str) -> String {
        if let Some(given) = self.given.get(name) {
            return given.clone();
        }
        let mut plain = identifier(name);
        // Reserved words are no names.
        while is_reserved(&plain) || self.taken.contains(&plain) {
            plain.push('_');
        }
        self.taken.insert(plain.clone());
        self.given.insert(name.to_owned(), plain.clone());
        plain
    }

    /// The names that were given.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.taken.iter().map(String::as_str)
    }
}

/// Made of letters, digits and underscores.
fn identifier(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("t{plain}") }
}
