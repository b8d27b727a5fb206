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

/// Why something else than a link cannot be compared with `none`.
const ONLY_LINKS: &str = "only a `threadref` of `thread { … }` names a thread, or none";

impl Lowering<'_, '_> {
    /// Whether a place is a link of a thread.
    pub(super) fn is_link(&self, place: &ast::Place) -> bool {
        let ast::Place::Member { member, .. } = place else { return false };
        matches!(self.symbols.find_member(Entity::Thread, &member.text), Some((Member::Link(_), _)))
    }

    /// Whether nothing is kept under a name to which a thread, or none, is assigned: a link is meant.
    pub(super) fn is_meant_as_link(&self, place: &ast::Place, value: &ast::Expression) -> bool {
        let ast::Place::Member { member, .. } = place else { return false };
        let unknown = |of: Entity| self.symbols.find_member(of, &member.text).is_none();
        let names_thread = self.is_none(value) || self.whom(value).is_some() || self.written_link(value).is_some();
        unknown(Entity::Thread) && unknown(Entity::Node) && names_thread
    }

    /// The thread and the link, if an expression is a link of a thread.
    pub(super) fn written_link<'e>(&self, expression: &'e ast::Expression) -> Option<(&'e Reference, &'e Name)> {
        if let ExpressionKind::Place(place @ ast::Place::Member { thread, member }) = &expression.kind {
            self.is_link(place).then_some((thread, member))
        } else {
            None
        }
    }

    /// A comparison, if one of the operands is a link. `None`: neither is.
    pub(super) fn linked(&mut self, left: &ast::Expression, right: &ast::Expression) -> Option<Option<Expression>> {
        let pairs = [(left, right), (right, left)];
        let written = pairs.iter().find_map(|(one, other)| Some((self.written_link(one)?, *other)));
        let meant = || pairs.iter().find_map(|(one, other)| Some((self.meant_as_link(one, other)?, *other)));
        let ((thread, link), other) = written.or_else(meant)?;
        let (of, to) = (self.link_of(thread, link, ONLY_LINKS), self.referent(other));
        Some(of.zip(to).map(|((thread, link), to)| Expression::Linked { thread, link, to }))
    }

    /// What is compared with `none` is meant to be a link, unless it is kept of a node.
    fn meant_as_link<'e>(
        &self,
        one: &'e ast::Expression,
        other: &ast::Expression,
    ) -> Option<(&'e Reference, &'e Name)> {
        let ExpressionKind::Place(ast::Place::Member { thread, member }) = &one.kind else { return None };
        let of_node = self.symbols.find_member(Entity::Node, &member.text).is_some();
        (!of_node && self.is_none(other)).then_some((thread, member))
    }

    /// Whether an expression is `none`, and means no thread.
    pub(super) fn is_none(&self, expression: &ast::Expression) -> bool {
        matches!(&expression.kind, ExpressionKind::Place(ast::Place::Name(name)) if self.means_none(name))
    }

    /// Whether a name means no thread: nothing is declared under it.
    pub(super) fn means_none(&self, name: &Name) -> bool {
        name.text == NONE && self.scope.find(NONE).is_none() && !self.symbols.is_known(NONE)
    }

    /// The thread and the link that a place names.
    fn link(&mut self, place: &ast::Place) -> Option<(Thread, LinkId)> {
        let ast::Place::Member { thread, member } = place else { return None };
        self.link_of(thread, member, ONLY_LINKS)
    }

    /// The same. `needed` says of another attribute why it cannot stand here.
    fn link_of(&mut self, thread: &Reference, link: &Name, needed: &str) -> Option<(Thread, LinkId)> {
        let thread = self.owner(thread);
        match self.symbols.find_member(Entity::Thread, &link.text) {
            Some((Member::Link(link), _)) => Some((thread?, link)),
            Some((Member::Attribute(_) | Member::Import(_), declared)) => {
                let title = format!("`{}` is a value, not a threadref", link.text);
                let diagnostic = Diagnostic::error("E0309", title, link.at, "names no thread");
                let diagnostic = diagnostic.related(declared, "declared here");
                self.diagnostics.push(diagnostic.help(needed));
                None
            }
            None => {
                match thread.map_or(Entity::Thread, |thread| self.entity(thread)) {
                    Entity::Thread => self.symbols.unknown_link(link, self.diagnostics),
                    Entity::Node => self.symbols.unknown_member(Entity::Node, link, self.diagnostics),
                }
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
            (None, None) if self.means_none(&reference.name) => Some(Referent::None),
            (None, None) if !self.symbols.is_known(name) => self.thread(&reference).map(|_| Referent::None),
            (Some(Binding::Thread(_) | Binding::Held(_) | Binding::Value(..) | Binding::Cursor), _) | (None, _)
                if name == NONE =>
            {
                self.hidden_none(operand.at);
                None
            }
            (Some(Binding::Thread(_) | Binding::Held(_) | Binding::Value(..) | Binding::Cursor), _) | (None, _) => {
                self.no_referent(operand.at);
                None
            }
        }
    }

    /// Reports `none` where the policy has declared it as something that names no thread.
    fn hidden_none(&mut self, at: At) {
        let declared = self.scope.place(NONE).or_else(|| self.symbols.find(NONE).map(|(_, declared)| declared));
        let title = "`none` is declared, so it does not mean \"no thread\" here";
        let hidden = Diagnostic::error("E0309", title, at, "expected a thread");
        let hidden = declared.into_iter().fold(hidden, |hidden, declared| hidden.related(declared, "declared here"));
        self.diagnostics.push(hidden.help("give what is declared another name"));
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
        let needed =
            "`foreach` visits the threads in a container, or the thread that a `threadref` of `thread { … }` names";
        let of = self.lowering.link_of(thread, link, needed);
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
