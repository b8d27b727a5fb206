//! The names within one handler.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{ContainerId, Entity, Local, LocalId, LocalKind, Thread};
use crate::syntax::ast::Name;
use crate::vocabulary::{At, Type};

use super::symbols::{Symbol, Symbols, twice};

/// What a name stands for within a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// A parameter, or the thread or node that a `foreach` visits.
    Thread(LocalId),
    /// A parameter of a function whose argument is a threadref: the thread in it.
    Held(ContainerId),
    /// A variable.
    Value(LocalId, Type),
    /// `threadref tmp;` outside of a `foreach tmp in …`.
    Cursor,
}

/// Declarations in force, and all locals of the handler so far.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) locals: Vec<Local>,
    bound: BTreeMap<String, (Binding, At)>,
    /// What declarations in the open blocks have replaced, in order.
    replaced: Vec<(String, Option<(Binding, At)>)>,
    /// Where each open block starts in `replaced`.
    blocks: Vec<usize>,
}

impl Scope {
    /// Hides all names of the handler from a function.
    pub(super) fn leave(&mut self) -> BTreeMap<String, (Binding, At)> {
        std::mem::take(&mut self.bound)
    }

    /// Shows again what [`Scope::leave`] hid.
    pub(super) fn come_back(&mut self, bound: BTreeMap<String, (Binding, At)>) {
        self.bound = bound;
    }

    /// Declares a parameter of a function: another name for a thread of the handler, or for the thread in a threadref.
    pub(super) fn rename_thread(
        &mut self,
        name: &Name,
        thread: Thread,
        symbols: &Symbols<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        self.refuse_taken(name, symbols, diagnostics);
        self.bind(
            name,
            match thread {
                Thread::Local(local) => Binding::Thread(local),
                Thread::Slot(slot) | Thread::First(slot) => Binding::Held(slot),
            },
        );
    }

    pub(super) fn open(&mut self) {
        self.blocks.push(self.replaced.len());
    }

    pub(super) fn close(&mut self) {
        let start = self.blocks.pop().unwrap_or(0);
        for (name, before) in self.replaced.drain(start..).rev() {
            match before {
                Some(before) => self.bound.insert(name, before),
                None => self.bound.remove(&name),
            };
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<Binding> {
        self.bound.get(name).map(|(binding, _)| *binding)
    }

    /// Where a name of the handler is declared.
    pub(super) fn place(&self, name: &str) -> Option<At> {
        self.bound.get(name).map(|(_, at)| *at)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.bound.keys().map(String::as_str)
    }

    /// The names that stand for threads.
    pub(super) fn threads(&self) -> impl Iterator<Item = &str> {
        let named = self.bound.iter().filter(|(_, (binding, _))| match binding {
            Binding::Thread(_) | Binding::Held(_) => true,
            Binding::Value(..) | Binding::Cursor => false,
        });
        named.map(|(name, _)| name.as_str())
    }

    /// Declares a variable of the body.
    pub(super) fn declare_value(
        &mut self,
        name: &Name,
        ty: Type,
        symbols: &Symbols<'_>,
        diagnostics: &mut Diagnostics,
    ) -> LocalId {
        let hides = self.refuse_taken(name, symbols, diagnostics);
        let id = self.local(name, LocalKind::Value(ty));
        // A thread or container keeps its name, so that moving it by that name causes no further error.
        if !hides {
            self.bind(name, Binding::Value(id, ty));
        }
        id
    }

    /// Declares a parameter.
    pub(super) fn declare_thread(
        &mut self,
        name: &Name,
        entity: Entity,
        symbols: &Symbols<'_>,
        diagnostics: &mut Diagnostics,
    ) -> LocalId {
        self.refuse_taken(name, symbols, diagnostics);
        let id = self.local(name, kind_of(entity));
        self.bind(name, Binding::Thread(id));
        id
    }

    /// Whether a local names a thread or a node.
    pub(super) fn entity(&self, local: LocalId) -> Entity {
        match self.locals.get(local.0).map(|local| local.kind) {
            Some(LocalKind::Node) => Entity::Node,
            Some(LocalKind::Thread | LocalKind::Value(_)) | None => Entity::Thread,
        }
    }

    /// `threadref tmp;`
    pub(super) fn declare_cursor(&mut self, name: &Name, symbols: &Symbols<'_>, diagnostics: &mut Diagnostics) {
        self.refuse_taken(name, symbols, diagnostics);
        self.bind(name, Binding::Cursor);
    }

    /// The name after `foreach`: either declared before as a cursor, or new.
    pub(super) fn visit(
        &mut self,
        name: &Name,
        entity: Entity,
        symbols: &Symbols<'_>,
        diagnostics: &mut Diagnostics,
    ) -> LocalId {
        if self.find(&name.text) != Some(Binding::Cursor) {
            self.refuse_taken(name, symbols, diagnostics);
        }
        let id = self.local(name, kind_of(entity));
        self.bind(name, Binding::Thread(id));
        id
    }

    /// The result of a call within an expression: a variable without a name in the source.
    pub(super) fn unnamed_value(&mut self, name: &Name, ty: Type) -> LocalId {
        self.local(name, LocalKind::Value(ty))
    }

    /// Removes a value that nothing names, if it was declared last. Returns whether it was.
    pub(super) fn forget_last(&mut self, local: LocalId) -> bool {
        let is_last = local.0 + 1 == self.locals.len();
        if is_last {
            self.locals.pop();
        }
        is_last
    }

    fn local(&mut self, name: &Name, kind: LocalKind) -> LocalId {
        self.locals.push(Local { name: name.text.clone(), kind });
        LocalId(self.locals.len() - 1)
    }

    fn bind(&mut self, name: &Name, binding: Binding) {
        let before = self.bound.insert(name.text.clone(), (binding, name.at));
        self.replaced.push((name.text.clone(), before));
    }

    /// Reports a name that would hide another one: it would be too easy to move a thread to the wrong place. Returns
    /// whether it would hide a thread or a container.
    fn refuse_taken(&self, name: &Name, symbols: &Symbols<'_>, diagnostics: &mut Diagnostics) -> bool {
        if let Some((bound, first)) = self.bound.get(&name.text) {
            twice(name, *first, diagnostics);
            return matches!(bound, Binding::Thread(_) | Binding::Held(_));
        }
        if let Some((symbol, at)) = symbols.find(&name.text) {
            let title = format!("`{}` is already the name of {}", name.text, symbol.described());
            let hidden =
                Diagnostic::error("E0302", title, name.at, "it would be hidden here").related(at, "declared here");
            diagnostics.push(hidden.help("choose another name"));
            return matches!(symbol, Symbol::Container(_));
        }
        if symbols.is_taken(&name.text) {
            let title = format!("`{}` is a container of the framework", name.text);
            diagnostics.push(Diagnostic::error("E0317", title, name.at, "").help("choose another name"));
        }
        false
    }
}

fn kind_of(entity: Entity) -> LocalKind {
    match entity {
        Entity::Thread => LocalKind::Thread,
        Entity::Node => LocalKind::Node,
    }
}
