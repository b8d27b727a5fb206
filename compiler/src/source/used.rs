//! The files that a source uses. Their texts stand behind its own, so that a place says which file it is in.
//!
//! ```text
//! text of the policy \n text of the first used file \n text of the second one
//! 0 …                   start …                         start …
//! ```

use std::collections::BTreeMap;

use super::Source;
use crate::diagnostics::Diagnostic;
use crate::vocabulary::At;

/// The files that a source uses, and those that they use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Each once.
    pub(crate) files: Vec<Used>,
    /// Which of them a `use` brings in, by where its path is written.
    pub(crate) brought: BTreeMap<u32, usize>,
    /// What is wrong with the uses.
    pub(crate) wrong: Vec<Diagnostic>,
    /// All texts, one behind the other; empty if it uses no file.
    whole: String,
}

/// A file whose functions a source uses.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    /// Its path, for messages.
    pub(crate) name: String,
    /// Where its text starts in [`Source::whole`].
    pub(crate) start: u32,
    /// Where its text ends.
    pub(crate) end: u32,
    /// The path in the `use` that brought it in first.
    pub(crate) by: At,
}

/// One of the files of a source.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its path, for messages.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Where its text starts in [`Source::whole`].
    pub start: u32,
}

impl Source {
    /// The text of the file and of all that it uses. Places are counted in it.
    pub fn whole(&self) -> &str {
        if self.uses.files.is_empty() { &self.text } else { &self.uses.whole }
    }

    /// Puts a file behind what is there, and returns where it starts. The path in the `use` is at `by`.
    pub(crate) fn append(&mut self, name: String, text: &str, by: At) -> u32 {
        let uses = &mut self.uses;
        if uses.files.is_empty() {
            uses.whole.clone_from(&self.text);
        }
        uses.whole.push('\n');
        let start = offset(uses.whole.len());
        uses.whole.push_str(text);
        uses.files.push(Used { name, start, end: offset(uses.whole.len()), by });
        start
    }

    /// The used file that a place is in. `None`: it is in the file itself.
    pub(crate) fn used_at(&self, place: u32) -> Option<&Used> {
        self.uses.files.iter().rev().find(|used| used.start <= place)
    }

    /// The files that it uses, and that these use.
    pub fn used(&self) -> impl Iterator<Item = File<'_>> {
        self.uses.files.iter().map(|used| self.file(used.start))
    }

    /// The file that a place is in.
    pub fn file(&self, place: u32) -> File<'_> {
        match self.used_at(place) {
            Some(used) => File {
                name: &used.name,
                text: self.whole().get(used.start as usize..used.end as usize).unwrap_or_default(),
                start: used.start,
            },
            None => File { name: &self.name, text: &self.text, start: 0 },
        }
    }

    /// The line and the column of a place in its file, both from 1; a column is a character.
    pub fn position(&self, place: u32) -> (usize, usize) {
        let file = self.file(place);
        let mut offset = ((place - file.start) as usize).min(file.text.len());
        while !file.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &file.text[..offset];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }
}

/// All texts together are no longer than a source may be.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_and_characters() {
        let source = Source::new("x.sched", "a\n\u{e9}b\n");
        let positions: Vec<_> = [0, 1, 2, 3, 4, 5, 6, 7, 99].into_iter().map(|at| source.position(at)).collect();
        assert_eq!(positions, [(1, 1), (1, 2), (2, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 1), (3, 1)]);
    }

    #[test]
    fn a_place_is_in_one_file() {
        let mut source = Source::new("x.sched", "a\nb");
        let first = source.append("y.sched".to_owned(), "c\nd\n", At::default());
        let second = source.append("z.sched".to_owned(), "e", At::default());
        let place = |at| (source.file(at).name.to_owned(), source.position(at));
        assert_eq!(place(2), ("x.sched".to_owned(), (2, 1)));
        assert_eq!(place(first), ("y.sched".to_owned(), (1, 1)));
        assert_eq!(place(first + 2), ("y.sched".to_owned(), (2, 1)));
        assert_eq!(place(second), ("z.sched".to_owned(), (1, 1)));
        assert_eq!(&source.whole()[second as usize..], "e");
        assert_eq!((source.file(second).text, source.file(0).text), ("e", "a\nb"));
    }
}
