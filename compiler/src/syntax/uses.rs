//! Files of functions: how they are read, and how they come into the policies that use them.
//!
//! [`bring`] puts the texts of used files behind that of a source, so that messages find their places; the caller reads
//! the files. So it does with those of families of nodes. [`functions_of_used`] parses files of functions, each once, and
//! those that a file uses before it: a function calls those before it.

use std::collections::BTreeSet;

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::source::{Source, Unreadable, Used};
use crate::vocabulary::At;

use super::ast::{FileKind, Name, Scheduler, Use};
use super::lexer::{TokenKind, unescape};
use super::parser::{Parse, Parser, Reported};
use super::words::nearest;
use super::{Dialect, families};

/// So many files are brought into one policy.
const MOST_FILES: usize = 100;

/// A file that is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Its path from the folder of the file that uses it, and from the library.
    pub path: &'a str,
    /// The file that uses it.
    pub user: &'a str,
}

/// Why a file cannot be used.
#[derive(Debug)]
pub enum NotUsed {
    /// There is none of this path.
    Missing {
        /// The places where it was looked for.
        looked: Vec<String>,
        /// Paths of files that are there.
        known: Vec<String>,
    },
    /// It cannot be read, for this reason.
    Refused(String),
    /// It is no text.
    Unreadable(Box<Unreadable>),
}

/// Brings in the files that a source uses, and those that they use. What is wrong is reported when it is compiled.
#[must_use]
pub fn bring(source: Source, find: &mut dyn FnMut(Wanted<'_>) -> Result<Source, NotUsed>) -> Source {
    let (uses, families) = (of_text(&source), families::paths(&source));
    let open = vec![source.name.clone()];
    let mut bringing = Bringing { source, find, open };
    bringing.all(uses.into_iter().map(|one| one.path), Brings::Functions);
    bringing.all(families, Brings::Family);
    bringing.source
}

/// Whether a text is a file of functions.
pub fn is_of_functions(source: &Source) -> bool {
    let mut unheard = Diagnostics::new();
    let mut parser = Parser::new(source, None, "E0101", &mut unheard);
    parser.uses();
    parser.is_word("function")
}

/// Parses the functions of the files that a policy uses, and puts them before its own.
pub fn functions_of_used(source: &Source, dialect: &Dialect, tree: &mut Scheduler, diagnostics: &mut Diagnostics) {
    for wrong in &source.uses.wrong {
        diagnostics.push(wrong.clone());
    }
    if source.uses.files.is_empty() {
        let told: BTreeSet<u32> = source.uses.wrong.iter().map(|wrong| wrong.primary.0.start).collect();
        for one in tree.uses.iter().filter(|one| !told.contains(&one.path.at.start)) {
            diagnostics.push(missing(&one.path, &[], &[]));
        }
        tree.lost.functions = !tree.uses.is_empty();
        return;
    }
    let own = std::mem::take(&mut tree.functions);
    let mut uses = std::mem::take(&mut tree.uses);
    tree.lost.functions |= source.uses.wrong.iter().any(|wrong| wrong.severity == Severity::Error);
    let mut reading = Reading { source, dialect, tree, diagnostics, read: vec![None; source.uses.files.len()] };
    reading.all(&mut uses);
    tree.uses = uses;
    tree.functions.extend(own);
}

/// What is in a file that is brought in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brings {
    Functions,
    Family,
}

struct Bringing<'f> {
    source: Source,
    find: &'f mut dyn FnMut(Wanted<'_>) -> Result<Source, NotUsed>,
    /// The files that are being read, each used by the one before it.
    open: Vec<String>,
}

impl Bringing<'_> {
    fn all(&mut self, paths: impl IntoIterator<Item = Name>, what: Brings) {
        for path in paths {
            if let Err(wrong) = self.one(&path, what) {
                self.source.uses.wrong.push(*wrong);
            }
        }
    }

    fn one(&mut self, written: &Name, what: Brings) -> Result<(), Box<Diagnostic>> {
        let path = match what {
            Brings::Functions => plain(written)?,
            Brings::Family => of_family(written)?,
        };
        let user = self.source.file(written.at.start).name.to_owned();
        let found = match (self.find)(Wanted { path: &path, user: &user }) {
            Ok(found) => found,
            Err(NotUsed::Missing { looked, known }) => return Err(Box::new(missing(written, &looked, &known))),
            Err(NotUsed::Refused(why)) => {
                let title = format!("`{}` cannot be used: {why}", written.text);
                let refused = Diagnostic::error("E0335", title, written.at, "");
                return Err(Box::new(refused.help("name a file that can be read")));
            }
            Err(NotUsed::Unreadable(unreadable)) => {
                let Unreadable { source, diagnostics } = *unreadable;
                let start = self.append(source, written.at)?;
                let moved = |at: At| At { start: at.start + start, end: at.end + start, ..at };
                self.source.uses.wrong.extend(diagnostics.placed(moved).iter().cloned());
                return Ok(());
            }
        };
        if self.open.contains(&found.name) {
            let title = format!("`{}` uses itself", found.name);
            let cycle = Diagnostic::error("E0336", title, written.at, "used here again");
            let way = self.open.iter().skip_while(|name| **name != found.name).chain([&found.name]);
            let way: Vec<String> = way.map(|name| format!("`{name}`")).collect();
            let cycle =
                if way.len() > 2 { cycle.note(format!("each uses the next: {}", way.join(", "))) } else { cycle };
            return Err(Box::new(cycle.help("move what both need to a file of its own, or leave this `use` out")));
        }
        if let Some(known) = self.source.uses.files.iter().position(|used| used.name == found.name) {
            let by = self.source.uses.files[known].by;
            let again = self.source.file(by.start).start == self.source.file(written.at.start).start;
            // Two families can share a file.
            if again && what == Brings::Functions {
                let title = format!("`{}` is used already", written.text);
                let again = Diagnostic::warning("E0328", title, written.at, "a second time");
                self.source.uses.wrong.push(again.related(by, "the first time").help("remove this `use`"));
            }
            self.source.uses.brought.insert(written.at.start, known);
            return Ok(());
        }
        self.open.push(found.name.clone());
        let number = self.source.uses.files.len();
        self.append(found, written.at)?;
        self.source.uses.brought.insert(written.at.start, number);
        let uses = of_used(&self.source, &self.source.uses.files[number]);
        self.all(uses.into_iter().map(|one| one.path), Brings::Functions);
        self.open.pop();
        Ok(())
    }

    fn append(&mut self, found: Source, by: At) -> Result<u32, Box<Diagnostic>> {
        let text = found.text.strip_prefix('\u{feff}').unwrap_or(&found.text);
        let title = if self.source.uses.files.len() == MOST_FILES {
            format!("a policy uses at most {MOST_FILES} files")
        } else if self.source.whole().len() + text.len() >= Source::LONGEST {
            format!("with what it uses, the policy is longer than {} bytes", Source::LONGEST)
        } else {
            return Ok(self.source.append(found.name, text, by));
        };
        Err(Box::new(Diagnostic::error("E0335", title, by, "").help("use fewer files")))
    }
}

/// The path of a family, which may stand anywhere: other schedulers use it, too.
fn of_family(written: &Name) -> Result<String, Box<Diagnostic>> {
    if written.text.split('/').all(str::is_empty) {
        let nothing = Diagnostic::error("E0335", "this path names no file", written.at, "");
        return Err(Box::new(nothing.help("write the path of a family from the folder of this file")));
    }
    Ok(written.text.clone())
}

/// The path without `.`: it leads down from a folder, so a policy and what it uses can be moved together.
fn plain(written: &Name) -> Result<String, Box<Diagnostic>> {
    let parts = || written.text.split('/').filter(|part| !part.is_empty() && *part != ".");
    let wrong = if written.text.starts_with('/') {
        Some("it is absolute")
    } else if parts().any(|part| part == "..") {
        Some("it leads upward")
    } else if parts().next().is_none() {
        Some("it names no file")
    } else {
        None
    };
    let Some(why) = wrong else { return Ok(parts().collect::<Vec<_>>().join("/")) };
    let title = format!("`{}` cannot be used: {why}", written.text);
    let note = "a path leads down from the folder of the file that uses it, or from the library of policies";
    Err(Box::new(
        Diagnostic::error("E0335", title, written.at, "")
            .note(note)
            .help("put the file into this folder or one below it, and name it from there"),
    ))
}

pub(super) fn missing(written: &Name, looked: &[String], known: &[String]) -> Diagnostic {
    let title = format!("there is no file `{}` to use", written.text);
    let diagnostic = Diagnostic::error("E0335", title, written.at, "");
    let diagnostic = match looked {
        [] => diagnostic.note("this text has no folder in which files could be"),
        looked => diagnostic.note(format!("looked for {}", looked.join(", and for "))),
    };
    match nearest(&written.text, known.iter().map(String::as_str)) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None if known.is_empty() => diagnostic.help("name a file beside this one, or below its folder"),
        None => {
            let known: Vec<String> = known.iter().map(|path| format!("`{path}`")).collect();
            diagnostic.help(format!("name a file beside this one, or below its folder; there is {}", known.join(", ")))
        }
    }
}

fn of_text(source: &Source) -> Vec<Use> {
    if source.text.len() > Source::LONGEST {
        return Vec::new();
    }
    Parser::new(source, None, "E0101", &mut Diagnostics::new()).uses()
}

fn of_used(source: &Source, used: &Used) -> Vec<Use> {
    Parser::of_used(source, used, None, &mut Diagnostics::new()).uses()
}

struct Reading<'a> {
    source: &'a Source,
    dialect: &'a Dialect,
    tree: &'a mut Scheduler,
    diagnostics: &'a mut Diagnostics,
    /// The names of the functions of each file that has been read.
    read: Vec<Option<Vec<String>>>,
}

impl Reading<'_> {
    fn all(&mut self, uses: &mut [Use]) {
        for one in uses {
            if let Some(number) = self.source.uses.brought.get(&one.path.at.start) {
                one.functions = self.file(*number);
            }
        }
    }

    /// The names of the functions of a file.
    fn file(&mut self, number: usize) -> Vec<String> {
        if let Some(names) = &self.read[number] {
            return names.clone();
        }
        self.read[number] = Some(Vec::new());
        let used = &self.source.uses.files[number];
        let mut read = Parser::of_used(self.source, used, Some(self.dialect), self.diagnostics).used_file(used);
        self.all(&mut read.uses);
        let names: Vec<String> = read.functions.iter().map(|function| function.name.text.clone()).collect();
        self.tree.functions.extend(read.functions);
        self.tree.lost.names.extend(read.lost.names);
        self.tree.lost.functions |= names.is_empty();
        self.read[number] = Some(names.clone());
        names
    }
}

impl Parser<'_> {
    // Production: file.
    pub(crate) fn file(&mut self) -> Scheduler {
        let uses = self.uses();
        let read = match self.word() {
            Some("function") => self.functions(),
            Some("family") => self.scheduler(FileKind::Family),
            Some(_) | None => self.scheduler(FileKind::Policy),
        };
        Scheduler { uses, ..read }
    }

    /// A file that a policy uses.
    fn used_file(&mut self, used: &Used) -> Scheduler {
        let uses = self.uses();
        if self.is_word("function") {
            return Scheduler { uses, ..self.functions() };
        }
        if !matches!(self.token.kind, TokenKind::Bad(_)) {
            let (what, at) = if self.is_end() {
                ("has no functions", used.by)
            } else if self.is_word("scheduler") {
                ("is a policy, not a file of functions", self.token.at)
            } else {
                ("is no file of functions", self.token.at)
            };
            let title = format!("`{}` {what}", used.name);
            let other = Diagnostic::error("E0112", title, at, "").note(NOTHING_ELSE);
            self.report(other.help("move the functions to a file of their own, and use that"));
        } else {
            let _reported = self.expected("`function`");
        }
        Scheduler { uses, kind: FileKind::Functions, ..Scheduler::default() }
    }

    // Production: use.
    pub(super) fn uses(&mut self) -> Vec<Use> {
        let mut uses = Vec::new();
        while self.is_word("use") {
            match self.used() {
                Ok(path) => uses.push(Use { path, functions: Vec::new() }),
                Err(Reported) => self.skip_use(),
            }
        }
        uses
    }

    fn used(&mut self) -> Parse<Name> {
        self.advance();
        if self.token.kind != TokenKind::Text {
            return Err(self.expected("the path of a file as a string"));
        }
        let at = self.advance().at;
        let path = Name { text: unescape(self.written(at)), at };
        self.expect_semicolon()?;
        Ok(path)
    }

    fn skip_use(&mut self) {
        let begins = ["scheduler", "family", "function", "use"];
        while !self.is_end() && !begins.iter().any(|word| self.is_word(word)) {
            if self.eat_sign(";") {
                break;
            }
            self.advance();
        }
    }

    fn functions(&mut self) -> Scheduler {
        let mut file = Scheduler { kind: FileKind::Functions, ..Scheduler::default() };
        while !self.is_end() {
            let start = self.token.at;
            let read = if self.is_word("function") { self.function() } else { Err(self.no_function()) };
            match read {
                Ok(mut function) => {
                    function.shared = true;
                    file.functions.push(function);
                }
                Err(Reported) => self.skip_part(start),
            }
        }
        file.lost = std::mem::take(&mut self.lost);
        file
    }

    fn no_function(&mut self) -> Reported {
        if matches!(self.token.kind, TokenKind::Bad(_)) {
            return self.expected("a function");
        }
        let at = self.token.at;
        if let Some(reported) = self.late_use(at) {
            return reported;
        }
        let title = format!("a file of functions has no `{}`", self.written(at));
        let other = Diagnostic::error("E0112", title, at, "not a function").note(NOTHING_ELSE);
        self.report(other.help("remove it, or give functions what they need as parameters"))
    }

    /// Refuses a `use` that does not stand at the beginning of its file.
    pub(super) fn late_use(&mut self, at: At) -> Option<Reported> {
        if !self.is_word("use") || self.following.kind != TokenKind::Text {
            return None;
        }
        let late = Diagnostic::error("E0101", "`use` stands at the beginning of a file", at, "too late");
        Some(self.report(late.help("move it before everything but comments")))
    }

    /// Skips what is no function, with its block.
    fn skip_part(&mut self, start: At) {
        if self.token.at == start {
            self.advance();
        }
        self.skip_statement(start);
        if !self.is_end() && self.is_sign("}") {
            self.advance();
        }
    }
}

const NOTHING_ELSE: &str = "it has functions alone: what is kept, and what is done, is a policy's";
