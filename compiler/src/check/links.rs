//! Threadrefs of threads: links from one thread to another. They are assigned, compared and followed.

use super::expressions::{Lowering, named};
use super::scope::Binding;
use super::statements::Body;
use super::symbols::{Member, Symbol};
use crate::diagnostics::Diagnostic;
use crate::policy::{
    BinaryOperator, ContainerKind, ContainerRef, Entity, Expression, LinkId, Referent, StatementKind, Thread,
};
use crate::syntax::ast::{self, ExpressionKind, Name, Reference};
use crate::vocabulary::At;

/// The word for no thread.
const NONE: &str = "none";

impl Lowering<'_, '_> {
    /// Whether a place is a link of a thread.
    pub(super) fn is_link(&self, place: &ast::Place) -> bool {
        let ast::Place::Member { member, .. } = place else { return false };
        matches!(self.symbols.find_member(Entity::Thread, &member.text), Some((Member::Link(_), _)))
    }

    /// A comparison, if one of the operands is a link. `None`: neither is.
    pub(super) fn linked(&mut self, left: &ast::Expression, right: &ast::Expression) -> Option<Option<Expression>> {
        let place = |operand: &ast::Expression| {
            if let ExpressionKind::Place(place) = &operand.kind {
                self.is_link(place).then(|| place.clone())
            } else {
                None
            }
        };
        let (link, other) = match (place(left), place(right)) {
            (Some(link), _) => (link, right),
            (None, Some(link)) => (link, left),
            (None, None) => return None,
        };
        let (of, to) = (self.link(&link), self.referent(other));
        Some(of.zip(to).map(|((thread, link), to)| Expression::Linked { thread, link, to }))
    }

    /// The thread and the link that a place names.
    fn link(&mut self, place: &ast::Place) -> Option<(Thread, LinkId)> {
        let ast::Place::Member { thread, member } = place else { return None };
        self.link_of(thread, member)
    }

    fn link_of(&mut self, thread: &Reference, link: &Name) -> Option<(Thread, LinkId)> {
        let thread = self.owner(thread);
        match self.symbols.find_member(Entity::Thread, &link.text) {
            Some((Member::Link(link), _)) => Some((thread?, link)),
            Some((Member::Attribute(_) | Member::Import(_), declared)) => {
                let title = format!("`{}` is a value, not a threadref", link.text);
                let diagnostic = Diagnostic::error("E0309", title, link.at, "names no thread");
                self.diagnostics.push(diagnostic.related(declared, "declared here"));
                None
            }
            None => {
                self.symbols.unknown_member(Entity::Thread, link, self.diagnostics);
                None
            }
        }
    }

    /// What an operand refers to: `none`, a thread, the thread in a threadref, or the thread of another link.
    fn referent(&mut self, operand: &ast::Expression) -> Option<Referent> {
        let ExpressionKind::Place(place) = &operand.kind else {
            self.no_referent(operand.at);
            return None;
        };
        if self.is_link(place) {
            return self.link(place).map(|(thread, link)| Referent::Linked(thread, link));
        }
        let Some(reference) = named(place) else {
            self.no_referent(operand.at);
            return None;
        };
        let name = &reference.name.text;
        match (self.scope.find(name), self.symbols.find(name)) {
            (Some(Binding::Thread(local)), _) if reference.index.is_none() => Some(Referent::Thread(local)),
            (Some(Binding::Held(slot)), _) if reference.index.is_none() => {
                Some(Referent::Held(ContainerRef::One(slot)))
            }
            (None, Some((Symbol::Container(id), _)))
                if self.policy.containers.get(id.0)?.kind == ContainerKind::Threadref =>
            {
                self.slot(&reference).map(|slot| Referent::Held(ContainerRef::One(slot)))
            }
            (None, None) if name == NONE && !self.symbols.is_known(name) => Some(Referent::None),
            (None, None) if !self.symbols.is_known(name) => self.thread(&reference).map(|_| Referent::None),
            (Some(Binding::Thread(_) | Binding::Held(_) | Binding::Value(..) | Binding::Cursor), _) | (None, _) => {
                self.no_referent(operand.at);
                None
            }
        }
    }

    fn no_referent(&mut self, at: At) {
        let title = "a threadref names a thread, not a value";
        let diagnostic = Diagnostic::error("E0309", title, at, "expected a thread");
        let help = "write the name of a thread, a threadref, one of another thread (`u.owner`), or `none`";
        self.diagnostics.push(diagnostic.help(help));
    }
}

impl Body<'_, '_, '_> {
    /// `t.owner = u;`
    pub(super) fn linking(
        &mut self,
        place: &ast::Place,
        operator: Option<BinaryOperator>,
        value: &ast::Expression,
    ) -> Option<StatementKind> {
        let of = self.lowering.link(place);
        if let Some(operator) = operator {
            let title = format!("`{}=` computes, but a threadref is not a value", operator.word());
            let diagnostic = Diagnostic::error("E0309", title, place.at(), "names a thread, or none");
            self.lowering.diagnostics.push(diagnostic.help("assign it with `=`"));
            return None;
        }
        let (to, (thread, link)) = (self.lowering.referent(value)?, of?);
        if let Thread::First(container) = thread {
            let name = &self.lowering.policy.containers.get(container.0)?.name;
            let title = format!("threadrefs of the first thread of `{name}` can only be read");
            let diagnostic = Diagnostic::error("E0310", title, place.at(), "cannot be assigned");
            let help = format!("visit it: `foreach t in {name} {{ t.THREADREF = …; break; }}`");
            self.lowering.diagnostics.push(diagnostic.help(help));
            return None;
        }
        Some(StatementKind::Link { thread, link, to })
    }

    /// `foreach u in t.owner { … }`
    pub(super) fn follow(
        &mut self,
        cursor: &Name,
        thread: &Reference,
        link: &Name,
        body: &ast::Block,
    ) -> Option<StatementKind> {
        let of = self.lowering.link_of(thread, link);
        self.lowering.scope.open();
        let id = self.lowering.scope.visit(cursor, Entity::Thread, self.lowering.symbols, self.lowering.diagnostics);
        self.turns += 1;
        let body = self.block(body);
        self.turns -= 1;
        self.lowering.scope.close();
        let (thread, link) = of?;
        Some(StatementKind::Follow { cursor: id, thread, link, body })
    }
}
