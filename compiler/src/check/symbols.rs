//! The meaning of the names that a policy declares.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::{AttributeId, ConstantId, ContainerId, ImportId, LinkId, ThreadImportId, VariableId};
use crate::syntax::Dialect;
use crate::syntax::ast::{Function, Joined, Lost, Name};
use crate::syntax::words::nearest;
use crate::vocabulary::{At, Entity};

use super::expressions::BUILTINS;
use super::scope::Scope;
use super::statements::list;

/// What a name stands for everywhere in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Constant(ConstantId),
    Variable(VariableId),
    Import(ImportId),
    Container(ContainerId),
    /// Its index in the functions of the tree.
    Function(usize),
    /// A family of nodes, by its number.
    Family(usize),
}

/// What a name stands for after `t.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Attribute(AttributeId),
    Link(LinkId),
    Import(ThreadImportId),
}

/// All names declared in the sections of a policy.
pub(super) struct Symbols<'a> {
    /// The language that policies are translated into.
    pub(super) language: &'a str,
    /// The optional parts of the language that exist.
    pub(super) dialect: &'a Dialect,
    /// These are the names that a function of another file knows.
    pub(super) shared: bool,
    globals: BTreeMap<&'a str, (Symbol, At)>,
    members: BTreeMap<(Entity, &'a str), (Member, At)>,
    /// Names of the framework's containers, which a policy can neither use nor declare.
    taken: BTreeSet<&'a str>,
    /// Names of unknown meaning: declared twice, or perhaps declared in text that could not be read.
    lost: BTreeSet<&'a str>,
    /// Functions of used files are missing.
    lacks_functions: bool,
    /// The family that sees not all names, if the policy is of one.
    joined: Option<&'a Joined>,
}

impl Symbol {
    /// What kind of thing it is, with its article.
    pub(super) fn described(self) -> &'static str {
        match self {
            Symbol::Constant(_) => "a constant",
            Symbol::Variable(_) => "a variable",
            Symbol::Import(_) => "an import",
            Symbol::Container(_) => "a container",
            Symbol::Function(_) => "a function",
            Symbol::Family(_) => "a family of nodes",
        }
    }
}

impl<'a> Symbols<'a> {
    pub(super) fn new(framework: &'a Framework, lost: &'a Lost) -> Self {
        Symbols {
            language: &framework.language,
            dialect: &framework.dialect,
            shared: false,
            taken: framework.containers.iter().map(|container| container.name.as_str()).collect(),
            lost: lost.names.iter().map(String::as_str).collect(),
            lacks_functions: lost.functions,
            joined: None,
            globals: BTreeMap::new(),
            members: BTreeMap::new(),
        }
    }

    /// What functions of other files know: each other.
    pub(super) fn shared(framework: &'a Framework, lost: &'a Lost, functions: &'a [Function]) -> Self {
        let known = functions.iter().enumerate().filter(|(_, function)| function.shared);
        let named = known.map(|(index, one)| (one.name.text.as_str(), (Symbol::Function(index), one.name.at)));
        Symbols { shared: true, taken: BTreeSet::new(), globals: named.collect(), ..Symbols::new(framework, lost) }
    }

    pub(super) fn declare(&mut self, name: &'a Name, symbol: Symbol, diagnostics: &mut Diagnostics) {
        if self.taken.contains(name.text.as_str()) {
            diagnostics.push(taken(name).help("choose another name"));
        }
        if let Some((_, first)) = self.globals.get(name.text.as_str()) {
            twice(name, *first, diagnostics);
            // It is unknown which of the two a use means.
            self.lost.insert(&name.text);
            return;
        }
        self.globals.insert(&name.text, (symbol, name.at));
    }

    pub(super) fn declare_member(&mut self, name: &'a Name, member: Member, diagnostics: &mut Diagnostics) {
        if let Some((_, first)) = self.members.get(&(Entity::Thread, name.text.as_str())) {
            twice(name, *first, diagnostics);
            return;
        }
        self.members.insert((Entity::Thread, &name.text), (member, name.at));
    }

    /// Enters a property of nodes, which the framework declares.
    pub(super) fn declare_property(&mut self, name: &'a str, attribute: AttributeId) {
        self.members.insert((Entity::Node, name), (Member::Attribute(attribute), At::default()));
    }

    /// From now on, the text of the family sees those global variables alone that it lists.
    pub(super) fn join(&mut self, joined: Option<&'a Joined>) {
        self.joined = joined;
    }

    /// Whether a name is that of a global variable that the family does not list in whose text it stands.
    pub(super) fn is_unlisted(&self, name: &Name) -> bool {
        self.joined.is_some_and(|family| {
            let within = family.extent.start <= name.at.start && name.at.end <= family.extent.end;
            within && family.unlisted.contains(&name.text)
        })
    }

    /// Marks names of which too little is known to report errors in their uses.
    pub(super) fn lose(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.lost.extend(names);
    }

    /// Whether there was text that could not be read.
    pub(super) fn are_some_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// What a name stands for, and where it is declared.
    pub(super) fn find(&self, name: &str) -> Option<(Symbol, At)> {
        self.globals.get(name).copied().filter(|_| !self.lost.contains(name))
    }

    /// Whether a name is or may be declared, or is the framework's.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.globals.contains_key(name) || self.lost.contains(name) || self.is_taken(name)
    }

    pub(super) fn find_member(&self, of: Entity, name: &str) -> Option<(Member, At)> {
        self.members.get(&(of, name)).copied().filter(|_| of == Entity::Node || !self.lost.contains(name))
    }

    /// The names that can follow the name of a thread or node.
    fn members_of(&self, of: Entity) -> impl Iterator<Item = &'a str> + '_ {
        self.members.keys().filter(move |(entity, _)| *entity == of).map(|(_, name)| *name)
    }

    /// Whether a name is that of a container of the framework.
    pub(super) fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    /// Reports an undeclared name, unless text that could not be read may declare it. `scope` has the handler's names,
    /// if they make sense here; `fits` selects the policy's names that do.
    pub(super) fn unknown(
        &self,
        name: &Name,
        wanted: Wanted,
        scope: Option<&Scope>,
        fits: impl Fn(Symbol) -> bool,
        diagnostics: &mut Diagnostics,
    ) {
        if self.lost.contains(name.text.as_str()) || self.lacks_functions && matches!(wanted, Wanted::Function) {
            return;
        }
        if self.is_taken(&name.text) {
            diagnostics.push(taken(name).help("declare a container of your own, and handlers that use it"));
            return;
        }
        if diagnostics.is_full() {
            // The error is only counted, and the search for a similar name takes time.
            diagnostics.push(Diagnostic::error("E0301", "", name.at, ""));
            return;
        }
        let title = format!("{} `{}` is not declared", wanted.described(), name.text);
        if diagnostics.iter().any(|said| said.code == "E0301" && said.title == title) {
            return; // one declaration mends all its uses
        }
        let own = matches!(wanted, Wanted::Function).then_some(BUILTINS).into_iter().flatten();
        let locals = scope.into_iter().flat_map(Scope::names).chain(own);
        let fitting = self.globals.iter().filter(|(_, (symbol, _))| fits(*symbol)).map(|(name, _)| *name);
        let meant = nearest(&name.text, locals.chain(fitting))
            .or_else(|| nearest(&name.text, self.globals.keys().copied()))
            .map(str::to_owned);
        let diagnostic = Diagnostic::error("E0301", title, name.at, "unknown name");
        let diagnostic = if self.shared { diagnostic.note(SHARED_KNOWS) } else { diagnostic };
        diagnostics.push(if let Some(meant) = meant {
            diagnostic.help(format!("did you mean `{meant}`?"))
        } else if self.shared {
            diagnostic.help("let its caller give it, as a parameter")
        } else if self.members.contains_key(&(Entity::Thread, name.text.as_str())) {
            let described =
                format!("`{}` is kept for each thread: write `t.{}` with the thread's name", name.text, name.text);
            diagnostic.help(described)
        } else {
            let threads: Vec<&str> = scope.into_iter().flat_map(Scope::threads).collect();
            diagnostic.help(wanted.declaration(&name.text, &threads))
        });
    }

    /// As `unknown`, for a name after `t.`.
    pub(super) fn unknown_member(&self, of: Entity, name: &Name, diagnostics: &mut Diagnostics) {
        if of == Entity::Thread && self.lost.contains(name.text.as_str()) {
            return;
        }
        if diagnostics.is_full() {
            diagnostics.push(Diagnostic::error("E0304", "", name.at, ""));
            return;
        }
        if of == Entity::Node {
            let title = format!("nodes have no property `{}`", name.text);
            let diagnostic = Diagnostic::error("E0304", title, name.at, "unknown property");
            let known: Vec<&str> = self.members_of(of).collect();
            diagnostics.push(match nearest(&name.text, known.iter().copied()) {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None if known.is_empty() => diagnostic.note("the framework tells none"),
                None => diagnostic.note(format!("known of a node are {}", list(&known))),
            });
            return;
        }
        let title = format!("threads have no attribute or import `{}`", name.text);
        let diagnostic = Diagnostic::error("E0304", title, name.at, "unknown attribute");
        let declare = "declare it in `thread { … }`, or in `threadimports { … }` if the application keeps it";
        diagnostics.push(self.among_members(diagnostic, name, declare.to_owned()));
    }

    /// As `unknown_member`, where only a link can stand.
    pub(super) fn unknown_link(&self, name: &Name, diagnostics: &mut Diagnostics) {
        if self.lost.contains(name.text.as_str()) {
            return;
        }
        if diagnostics.is_full() {
            diagnostics.push(Diagnostic::error("E0304", "", name.at, ""));
            return;
        }
        let title = format!("threads have no threadref `{}`", name.text);
        let diagnostic = Diagnostic::error("E0304", title, name.at, "unknown threadref");
        let declare = format!("declare it: `thread {{ threadref {}; }}`", name.text);
        diagnostics.push(self.among_members(diagnostic, name, declare));
    }

    /// Adds which name that is kept for threads is meant, or else which ones there are.
    fn among_members(&self, diagnostic: Diagnostic, name: &Name, declare: String) -> Diagnostic {
        let known: Vec<&str> = self.members_of(Entity::Thread).collect();
        if let Some(meant) = nearest(&name.text, known.iter().copied()) {
            return diagnostic.help(format!("did you mean `{meant}`?"));
        }
        let diagnostic = match known.len() {
            0 => diagnostic,
            1..=MOST_NAMED => diagnostic.note(format!("kept for each thread: {}", list(&known))),
            _ => diagnostic.note(format!("kept for each thread: {}, …", list(&known[..MOST_NAMED]))),
        };
        diagnostic.help(declare)
    }
}

const SHARED_KNOWS: &str = "a function of a file of functions knows what its caller gives it, and other such functions";

/// So many names that are kept for threads are listed.
const MOST_NAMED: usize = 8;

/// What a name must stand for where it is used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    Variable,
    Thread,
    Container,
    ThreadOrContainer,
    Function,
    Family,
}

impl Wanted {
    fn described(self) -> &'static str {
        match self {
            Self::Variable => "the variable",
            Self::Thread => "the thread",
            Self::Container => "the container",
            Self::ThreadOrContainer => "the thread or container",
            Self::Function => "the function",
            Self::Family => "the family",
        }
    }

    /// How to declare such a thing.
    fn declaration(self, name: &str, threads: &[&str]) -> String {
        match (self, threads) {
            (Self::Variable, _) => {
                "declare it in `data { … }`, or in `imports { … }` if it is a variable of the application".to_owned()
            }
            (Self::Thread, []) => {
                "no thread is named here: `foreach t in …` visits each in a container, and a threadref names the one that it holds"
                    .to_owned()
            }
            (Self::Thread, [thread]) => format!("the thread here is `{thread}`"),
            (Self::ThreadOrContainer, [thread]) => {
                format!("the thread here is `{thread}`; containers are declared in `data {{ … }}`")
            }
            (Self::Thread, threads) => format!("the threads here are {}", list(threads)),
            (Self::Container, _) => {
                format!("declare it in `data {{ … }}`: `queue {name};` or another kind of container")
            }
            (Self::ThreadOrContainer, _) => {
                "declare a container in `data { … }`; a thread is a parameter of the handler, or visited by a `foreach`"
                    .to_owned()
            }
            (Self::Function, _) if ["len", "length", "size", "sizeof", "count"].contains(&name) => {
                "the number of threads in a container is `|c|`".to_owned()
            }
            (Self::Family, _) => format!("name its file: `nodefamilies {{ \"{name}.family\" : {name}; }}`"),
            (Self::Function, _) => format!("declare it before the handler: `function {name}(…) {{ … }}`"),
        }
    }
}

fn taken(name: &Name) -> Diagnostic {
    let title = format!("`{}` is a container of the framework", name.text);
    Diagnostic::error("E0317", title, name.at, "not the policy's")
        .note("the framework keeps threads there in events that the policy leaves to it")
}

pub(super) fn twice(name: &Name, first: At, diagnostics: &mut Diagnostics) {
    let title = format!("`{}` is declared twice", name.text);
    let twice = Diagnostic::error("E0302", title, name.at, "the second time").related(first, "the first time");
    diagnostics.push(twice.help("rename or remove one of them"));
}
