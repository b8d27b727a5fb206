//! Families of nodes: the section `nodefamilies` of a scheduler, and the files that it names.
//!
//! [`super::bring`] puts the texts of these files behind that of the scheduler. [`families_of_used`] parses them.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Used};
use crate::vocabulary::{At, Type};

use super::Dialect;
use super::ast::{Family, FileKind, Name, Scheduler, Variable};
use super::lexer::{TokenKind, unescape};
use super::parser::{Parse, Parser, Reported};
use super::uses::{functions_of_used, missing};

/// Parses the files of a scheduler's families, each with the functions that it uses.
pub fn families_of_used(source: &Source, dialect: &Dialect, tree: &mut Scheduler, diagnostics: &mut Diagnostics) {
    let mut read: Vec<(usize, Option<Scheduler>)> = Vec::new();
    for family in &mut tree.families {
        let Some(number) = source.uses.brought.get(&family.path.at.start).copied() else {
            if !source.uses.wrong.iter().any(|wrong| wrong.primary.0 == family.path.at) {
                diagnostics.push(missing(&family.path, &[], &[]));
            }
            continue;
        };
        let known = read.iter().find(|(known, _)| *known == number).map(|(_, file)| file.clone());
        let file = known.unwrap_or_else(|| {
            let used = &source.uses.files[number];
            let mut file = Parser::of_used(source, used, Some(dialect), diagnostics).family_file(used);
            if let Some(file) = &mut file {
                functions_of_used(source, dialect, file, diagnostics);
            }
            read.push((number, file.clone()));
            file
        });
        family.tree = file.map(Box::new);
    }
}

/// Whether a text is a family of nodes.
pub fn is_family(source: &Source) -> bool {
    let mut unheard = Diagnostics::new();
    let mut parser = Parser::new(source, None, "E0101", &mut unheard);
    parser.uses();
    parser.is_word("family")
}

/// The paths of the families that a text names, if it is a scheduler.
pub(super) fn paths(source: &Source) -> Vec<Name> {
    // To read it whole takes time, and few have families.
    if source.text.len() > Source::LONGEST || !source.text.contains("nodefamilies") {
        return Vec::new();
    }
    let read = Parser::new(source, None, "E0101", &mut Diagnostics::new()).file();
    read.families.into_iter().map(|family| family.path).collect()
}

impl Parser<'_> {
    // Production: families.
    pub(super) fn family_named(&mut self, scheduler: &mut Scheduler) -> Parse<()> {
        let read = self.family_and_path();
        self.lost.families |= read.is_err();
        read.map(|family| scheduler.families.push(family))
    }

    fn family_and_path(&mut self) -> Parse<Family> {
        if self.token.kind != TokenKind::Text {
            let example = self.unexpected("the path of a family as a string");
            return Err(self.report(example.help("write `\"nodes/fast.family\" : fast;`")));
        }
        let at = self.advance().at;
        let path = Name { text: unescape(self.written(at)), at };
        self.expect_sign(":")?;
        let name = self.name("a name for the family")?;
        Ok(Family { path, name, tree: None })
    }

    // Production: property.
    pub(super) fn properties(&mut self, scheduler: &mut Scheduler) -> Parse<()> {
        let Some(ty) = self.type_word() else { return Err(self.expected("the type of the property")) };
        if ty == Type::Float {
            let float = self.unexpected("`int`, `bool` or `time`");
            return Err(self.report(float.note("no host tells a number with a fraction of a node")));
        }
        self.demand_type(ty);
        self.advance();
        loop {
            let name = self.name("a name for the property")?;
            if self.is_sign("=") || self.is_word("default") {
                let given = self.unexpected("`,` or `;`").note("the host says what a property is");
                return Err(self.report(given));
            }
            scheduler.properties.push(Variable { ty, name, array: None, initial: None });
            if !self.eat_sign(",") {
                return Ok(());
            }
        }
    }

    /// Refuses a part that stands in the wrong kind of file.
    pub(super) fn misplaced_part(&mut self, kind: FileKind, word: &str, at: At) -> Option<Reported> {
        let (title, help) = match (kind, word) {
            (FileKind::Family, "nodes" | "nodefamilies") => (
                format!("a family has no section `{word}`"),
                "move it to the scheduler that names the family: it keeps the nodes of all families",
            ),
            (FileKind::Policy | FileKind::Functions, "properties") => (
                "a scheduler has no section `properties`".to_owned(),
                "move it to the family whose nodes have them; what the framework tells of a node needs no declaration",
            ),
            (FileKind::Family | FileKind::Policy | FileKind::Functions, _) => return None,
        };
        Some(self.report(Diagnostic::error("E0113", title, at, "not here").help(help)))
    }

    /// Refuses a timer or a threadref in the `thread` section of a family.
    pub(super) fn not_of_a_family(&mut self, kind: FileKind) -> Option<Reported> {
        let what = match self.word() {
            Some("timer") if kind == FileKind::Family => "timers",
            Some("threadref") if kind == FileKind::Family => "threadrefs of threads",
            Some(_) | None => return None,
        };
        let title = format!("a family declares no {what}");
        let refused = Diagnostic::error("E0113", title, self.token.at, "not here");
        Some(self.report(refused.note("a thread can move to a node of another family")))
    }

    /// Refuses a constant in the `global` section of a family.
    pub(super) fn no_constant_of_a_family(&mut self, kind: FileKind) -> Option<Reported> {
        if kind != FileKind::Family || !self.is_word("const") && !self.is_word("enum") {
            return None;
        }
        let title = "the `global` section of a family lists variables";
        let constant = Diagnostic::error("E0113", title, self.token.at, "not a variable");
        Some(
            self.report(
                constant.help("declare a constant of the family in `data`; those of the scheduler need no list"),
            ),
        )
    }

    /// A file that a scheduler names as a family.
    fn family_file(&mut self, used: &Used) -> Option<Scheduler> {
        let uses = self.uses();
        if self.is_word("family") {
            return Some(Scheduler { uses, ..self.scheduler(FileKind::Family) });
        }
        let (what, at) = if self.is_end() {
            ("is empty", used.by)
        } else if self.is_word("scheduler") {
            ("is a policy, not a family", self.token.at)
        } else if self.is_word("function") {
            ("is a file of functions, not a family", self.token.at)
        } else {
            ("is not a family", self.token.at)
        };
        let title = format!("`{}` {what}", used.name);
        let other = Diagnostic::error("E0113", title, at, "");
        self.report(other.help("a family is `family NAME { … }`, with sections and handlers as in a scheduler"));
        None
    }
}
