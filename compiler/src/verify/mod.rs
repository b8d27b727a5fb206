//! The gate: a policy comes out as [`Verified`] or not at all.
//!
//! One property per file, each with one public `check` and one error code. All of them read the same flow of knowledge
//! through each handler ([`flow`]), from what the event type says of its start ([`situation`]). What a property cannot
//! prove of a transfer becomes a [`Guard`], which every back-end evaluates before the transfer's effect.

mod classes;
mod condition;
mod destruction;
mod dispatch;
mod failure;
mod flow;
mod guards;
mod loops;
mod query_effects;
mod query_value;
mod situation;
mod slots;
mod state;
mod storage;
mod termination;
mod transfers;
mod unreachable;
mod walk;
mod work;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Framework, Move, Stage};
use crate::policy::{
    At, Container, ContainerId, Handler, LocalId, Policy, Statement, StatementId, StatementKind, text,
};

use flow::{End, Flow, Paths};
use guards::Remarks;
use situation::Situation;
use state::{Decision, State};

/// Proof that `verify` has accepted what is inside, with what it learnt. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    inner: T,
    facts: Vec<Facts>,
    /// See [`Verified::explain_guards`].
    left: Vec<Diagnostic>,
}

/// What is known of one statement whenever it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// To be evaluated in this order before the statement has any effect; when one fails the policy is out.
    pub guards: Vec<Guard>,
    /// Of a transfer or destruction of a named thread: the containers in which the thread can be.
    pub positions: Vec<ContainerId>,
    /// Of the same: whether the thread can be in hand, in no container yet. Always so when `positions` is empty.
    pub in_hand: bool,
    /// Of an assignment to a sort key: the sorted containers in which the thread can be, so that it must be re-filed.
    pub refile: Vec<ContainerId>,
}

/// What is left to be evaluated at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The source of the transfer, or the slot dispatched, holds a thread.
    Holds(ContainerId),
    /// The threadref that is the destination is empty.
    Vacant(ContainerId),
}

impl Verified<Policy> {
    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.inner
    }

    /// What is known of a statement.
    pub fn facts(&self, statement: StatementId) -> &Facts {
        &self.facts[statement.0]
    }
}

impl Verified<Policy> {
    /// What is said when this guard of this statement fails: "`ready` is empty in `ready => current`".
    pub fn guard_text(&self, statement: &Statement, guard: Guard) -> String {
        let policy = &self.inner;
        let name = |container: ContainerId| policy.containers.get(container.0).map_or("?", |container| &container.name);
        let handler =
            policy.events.iter().chain(&policy.queries).find(|handler| walk::contains(&handler.body, statement.id));
        let what = handler.map(|handler| text::statement_head(policy, handler, statement)).unwrap_or_default();
        let what = what.trim_end_matches(';');
        match guard {
            Guard::Holds(container) => format!("`{}` is empty in `{what}`", name(container)),
            Guard::Vacant(container) => format!("`{}` already holds a thread in `{what}`", name(container)),
        }
    }

    /// Each guard that is left, in the order of the source: why it could not be proved, and what would remove it.
    pub fn explain_guards(&self) -> impl Iterator<Item = &Diagnostic> {
        self.left.iter()
    }

    /// Where the policy has verbatim text for which nothing stands: it can be translated, and not be interpreted.
    pub fn uninterpretable(&self) -> Option<At> {
        self.first_verbatim(true)
    }

    /// Where the policy has verbatim text, of which nobody can tell what it does.
    pub fn verbatim(&self) -> Option<At> {
        self.first_verbatim(false)
    }

    /// `alone`: for which nothing stands.
    fn first_verbatim(&self, alone: bool) -> Option<At> {
        let such = |statement: &Statement| match &statement.kind {
            StatementKind::Verbatim { otherwise, .. } => !alone || otherwise.is_none(),
            StatementKind::Set { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return { .. }
            | StatementKind::Fail { .. } => {
                walk::expression(statement).is_some_and(|expression| walk::has_verbatim(expression, alone))
            }
        };
        let mut found = None;
        for handler in self.inner.events.iter().chain(&self.inner.queries) {
            walk::statements(&handler.body, &mut |statement| {
                if such(statement) {
                    found = found.or(Some(statement.at));
                }
            });
        }
        found
    }

    /// How many transfers, destructions and dispatches there are, and how many of them keep a guard.
    pub fn share(&self) -> Share {
        let mut share = Share::default();
        for handler in self.inner.events.iter().chain(&self.inner.queries) {
            walk::statements(&handler.body, &mut |statement| match &statement.kind {
                StatementKind::Transfer { .. } | StatementKind::Destroy { .. } | StatementKind::Dispatch { .. } => {
                    share.total += 1;
                    share.guarded += usize::from(!self.facts(statement.id).guards.is_empty());
                }
                StatementKind::Set { .. }
                | StatementKind::If { .. }
                | StatementKind::Foreach { .. }
                | StatementKind::Loop { .. }
                | StatementKind::Return { .. }
                | StatementKind::Verbatim { .. }
                | StatementKind::Fail { .. } => {}
            });
        }
        share
    }
}

/// How much of a policy is proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Statements that move or dispatch a thread.
    pub total: usize,
    /// Those of them that are guarded at run time.
    pub guarded: usize,
}

/// Judges a policy. `None` if any property refuses it; the reasons are in `diagnostics`.
pub fn verify(policy: Policy, framework: &Framework, diagnostics: &mut Diagnostics) -> Option<Verified<Policy>> {
    let errors = diagnostics.errors();
    let mut facts = vec![Facts::default(); walk::count(&policy)];
    let mut left = Remarks::default();
    // Handlers with an error, by their headers: one for a family is judged once for each member, and reported once.
    let mut refused: Vec<At> = Vec::new();
    for handler in policy.events.iter().chain(&policy.queries) {
        let handling = Handling::of(&policy, framework, handler);
        let before = diagnostics.errors();
        unreachable::check(&handling, diagnostics);
        query_effects::check(&handling, diagnostics);
        query_value::check(&handling, diagnostics);
        transfers::check(&handling, &mut facts, diagnostics);
        guards::explain(&handling, &facts, &mut left);
        loops::check(&handling, &facts, diagnostics);
        termination::check(&handling, &facts, diagnostics);
        slots::check(&handling, diagnostics);
        classes::check(&handling, diagnostics);
        destruction::check(&handling, diagnostics);
        dispatch::check(&handling, diagnostics);
        failure::check(&handling, diagnostics);
        if diagnostics.errors() > before {
            refused.push(handler.at);
        }
        // Where the threads end follows from all of this: it is judged when all of this is right.
        if !refused.contains(&handler.at) {
            storage::check(&handling, diagnostics);
            work::check(&handling, diagnostics);
        }
    }
    (diagnostics.errors() == errors).then_some(Verified { inner: policy, facts, left: left.into_list() })
}

/// A handler and everything that is known of it: what a property is checked on.
struct Handling<'a> {
    policy: &'a Policy,
    handler: &'a Handler,
    /// `None` for a query.
    event: Option<&'a Event>,
    situations: Vec<Situation<'a>>,
    /// One for each situation.
    flows: Vec<Flow>,
}

/// An explanation follows so many paths at once.
const PATHS: usize = 256;

impl<'a> Handling<'a> {
    fn of(policy: &'a Policy, framework: &'a Framework, handler: &'a Handler) -> Self {
        let event = match handler.returns {
            None => framework.events.iter().find(|event| event.name == handler.name),
            Some(_) => None,
        };
        let situations = situation::situations(policy, handler, event);
        let flows = situations
            .iter()
            .map(|situation| flow::follow(policy, handler, situation.start.clone(), Paths::Joined))
            .collect();
        Handling { policy, handler, event, situations, flows }
    }

    /// What is known before a statement, in whatever situation it is reached; `None` if it never is.
    fn before(&self, statement: StatementId) -> Option<State> {
        self.flows.iter().filter_map(|flow| flow.before.get(&statement).cloned()).reduce(State::join)
    }

    /// The ends of the handler, each with its situation.
    fn ends(&self) -> impl Iterator<Item = (&Situation<'a>, &End)> {
        self.situations
            .iter()
            .zip(&self.flows)
            .flat_map(|(situation, flow)| flow.ends.iter().map(move |end| (situation, end)))
    }

    /// The decisions on one path from the start of a situation to an end that is bad.
    fn path_to(&self, situation: &Situation, bad: impl Fn(&End) -> bool) -> Vec<Decision> {
        let separate = || flow::follow(self.policy, self.handler, situation.start.clone(), Paths::Separate(PATHS));
        let end = situation.paths.get_or_init(separate).ends.iter().find(|end| bad(end));
        end.map(|end| end.state.path.clone()).unwrap_or_default()
    }

    fn container(&self, container: ContainerId) -> &'a Container {
        &self.policy.containers[container.0]
    }

    /// The name of a container in backquotes.
    fn name(&self, container: ContainerId) -> String {
        format!("`{}`", self.container(container).name)
    }

    /// The name of a local in backquotes.
    fn local(&self, local: LocalId) -> String {
        format!("`{}`", self.handler.locals[local.0].name)
    }

    /// A statement as written, in backquotes, without its `;`.
    fn statement(&self, statement: &Statement) -> String {
        format!("`{}`", text::statement_head(self.policy, self.handler, statement).trim_end_matches(';'))
    }

    /// Where the rules demand of a parameter that it goes; empty if no rule that can apply speaks of it.
    fn destinations(&self, local: LocalId) -> Vec<Stage> {
        let moves = self.situations.iter().flat_map(|situation| &situation.rules).flat_map(|rule| &rule.moves);
        moves
            .filter_map(|step| match step {
                Move::Parameter(index, _, to) if *index == local.0 => Some(*to),
                Move::Parameter(..) | Move::One(..) => None,
            })
            .collect()
    }
}

/// Adds the decisions that lead to the place of a diagnostic.
fn along(mut diagnostic: Diagnostic, path: &[Decision]) -> Diagnostic {
    for decision in path {
        let outcome = if decision.outcome { "when this is true" } else { "when this is false" };
        diagnostic = diagnostic.related(decision.at, outcome);
    }
    diagnostic
}

/// "`a`", "`a` or `b`", "`a`, `b` or `c`"
fn alternatives(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
