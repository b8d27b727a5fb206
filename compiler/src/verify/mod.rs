//! The gate: a policy comes out as [`Verified`] or not at all.
//!
//! One property per file, each with one public `check` and one error code. All read the same flow of knowledge through
//! each handler ([`flow`]), which begins with what the event type says of its start ([`situation`]). What is not proved
//! of a transfer becomes a [`Guard`], which every back-end evaluates before the transfer's effect.

mod apart;
mod between;
mod certain;
mod classes;
mod condition;
mod decided;
mod destruction;
mod dispatch;
mod draws;
mod effects;
mod elements;
mod elsewhere;
mod emptying;
mod explanation;
mod failure;
mod families;
mod first_situations;
mod flow;
mod guards;
mod limits;
mod loops;
mod open;
mod positions;
mod query_effects;
mod query_value;
mod reach;
mod repeated;
mod required;
mod sends;
mod situation;
mod slots;
mod sort_keys;
mod state;
mod storage;
mod termination;
mod transfers;
mod turned;
mod turns;
mod unreachable;
mod values;
mod walk;
mod ways;
mod work;

use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Framework, Move, Stage};
use crate::policy::{
    At, Container, ContainerId, ContainerRef, Element, Entity, Handler, LocalId, Policy, Statement, StatementId,
    StatementKind, text::Heads,
};

use between::Between;
pub use families::{OfFamily, Own, Unlike, fills, join as join_families};
use flow::{Course, End, Flow, Paths};
pub use guards::Left;
use guards::Remarks;
pub use limits::{Limit, Limits, Most, Multiple, Turns};
use situation::Situation;
use state::{State, Why};

/// Proof that `verify` has accepted what is inside, with what it learnt. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct Verified<T> {
    inner: T,
    facts: Vec<Facts>,
    /// See [`Verified::guards_left`].
    left: Vec<Left>,
}

/// What is known of one statement whenever it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Evaluated in this order before the statement has any effect. If one fails, the policy is out.
    pub guards: Vec<Guard>,
    /// As far as is known, the statement is never reached. It keeps every guard all the same.
    pub never: bool,
    /// For a transfer, send or destruction of a named thread: the containers in which the thread can be.
    pub positions: Vec<ContainerId>,
    /// For the same: whether the thread can be in hand, in no container yet. Always true when `positions` is empty.
    pub in_hand: bool,
    /// For an assignment to a sort key: the sorted containers in which the thread can be, where it must be re-filed.
    pub refile: Vec<ContainerId>,
}

/// What is left to be evaluated at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The source of the transfer, or the slot that is dispatched, holds a thread.
    Holds(ContainerRef),
    /// The threadref that is the destination is empty.
    Vacant(ContainerRef),
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
    /// The message if this guard of this statement fails: "`ready` is empty in `ready => current`".
    ///
    /// `heads` are those of its handler.
    pub fn guard_text(&self, heads: &Heads, statement: &Statement, guard: &Guard) -> String {
        let what = heads.head(statement);
        let what = what.trim_end_matches(';');
        match guard {
            Guard::Holds(container) => format!("`{}` is empty in `{what}`", heads.container(container)),
            Guard::Vacant(container) => {
                let held = self.inner.held_by(container).word();
                format!("`{}` already holds a {held} in `{what}`", heads.container(container))
            }
        }
    }

    /// Each guard that is left, in source order: why it could not be proved, and what would remove it.
    pub fn explain_guards(&self) -> impl Iterator<Item = &Diagnostic> {
        self.left.iter().map(|left| &left.remark)
    }

    /// The same, with what each guard tests.
    pub fn guards_left(&self) -> &[Left] {
        &self.left
    }

    /// Where the policy has verbatim text without an `else` part: it can be translated, but not interpreted.
    pub fn uninterpretable(&self) -> Option<At> {
        self.first_verbatim(true)
    }

    /// Where the policy has verbatim text, whose effect is not known.
    pub fn verbatim(&self) -> Option<At> {
        self.first_verbatim(false)
    }

    /// `alone`: only text without an `else` part.
    fn first_verbatim(&self, alone: bool) -> Option<At> {
        let such = |statement: &Statement| match &statement.kind {
            StatementKind::Verbatim { otherwise, .. } => !alone || otherwise.is_none(),
            StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => {
                statement.expressions().any(|expression| walk::has_verbatim(expression, alone))
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

    /// How many transfers, sends, destructions and dispatches there are, and how many of them keep a guard.
    pub fn share(&self) -> Share {
        let mut share = Share::default();
        for handler in self.inner.events.iter().chain(&self.inner.queries) {
            walk::statements(&handler.body, &mut |statement| {
                if statement.moves().is_some() || matches!(statement.kind, StatementKind::Dispatch { .. }) {
                    share.total += 1;
                    let facts = self.facts(statement.id);
                    share.guarded += usize::from(!facts.guards.is_empty() && !facts.never);
                }
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
    /// Those that are guarded at run time and, as far as is known, can be reached.
    pub guarded: usize,
}

/// Judges a policy. `None` if any property refuses it; the reasons are in `diagnostics`.
pub fn verify(policy: Policy, framework: &Framework, diagnostics: &mut Diagnostics) -> Option<Verified<Policy>> {
    let framework = &framework.as_met(policy.timers(), policy.has_nodes());
    let before = diagnostics.errors();
    required::check(&policy, framework, diagnostics);
    sort_keys::check(&policy, diagnostics);
    reach::check(&policy, framework, diagnostics);
    if diagnostics.errors() > before {
        return None;
    }
    let steps = values::steps(&policy);
    let firsts = repeated::firsts(&policy, framework);
    let judgement = |between: Between| {
        let nothing = Between::nothing(&policy);
        judge(&Known { policy: &policy, framework, steps: &steps, firsts: &firsts, between, nothing })
    };
    let judged = judgement(Between::of(&policy, framework, &steps, &firsts));
    if judged.diagnostics.has_errors() {
        // An error in one handler spoils what is known between handlers. So errors that exist without that knowledge
        // come first, unless that knowledge refutes them.
        let found: HashSet<_> = judged.diagnostics.iter().map(|one| (one.code, one.primary.0)).collect();
        let mut alone = judgement(Between::nothing(&policy)).diagnostics;
        alone.retain_errors(|one| {
            found.contains(&(one.code, one.primary.0)) || !judged.reached.contains(&one.primary.0)
        });
        diagnostics.append(if alone.has_errors() { alone } else { judged.diagnostics });
        return None;
    }
    diagnostics.append(judged.diagnostics);
    Some(Verified { inner: policy, facts: judged.facts, left: judged.left })
}

/// What is found out about a policy.
struct Judgement {
    diagnostics: Diagnostics,
    facts: Vec<Facts>,
    left: Vec<Left>,
    /// What some order of events reaches: statements, and the headers of handlers that can end after their last one.
    reached: HashSet<At>,
}

fn judge(known: &Known) -> Judgement {
    let policy = known.policy;
    let mut diagnostics = Diagnostics::new();
    let mut facts = vec![Facts::default(); walk::count(policy)];
    let mut left = Remarks::default();
    // The headers of handlers with an error. A handler for a family is judged once for each member, but reported once.
    let mut refused: Vec<At> = Vec::new();
    let mut reached = HashSet::new();
    let mut tests = decided::Tests::default();
    let mut failing = BTreeMap::new();
    let mut once_begun = Vec::new();
    for (index, handler) in policy.events.iter().chain(&policy.queries).enumerate() {
        // This handler is one with an earlier one, so the facts of its statements are the same.
        if let Some(first) = known.firsts.get(index).filter(|first| **first != index) {
            let (from, to) = (statements(&policy.events[*first]), statements(handler));
            for (from, to) in from.zip(to) {
                facts[to] = facts[from].clone();
            }
            continue;
        }
        let handling = Handling::of(known, handler);
        reached.extend(handling.reached());
        let before = diagnostics.errors();
        query_effects::check(&handling, &mut diagnostics);
        query_value::check(&handling, &mut diagnostics);
        transfers::check(&handling, &mut facts, &mut diagnostics);
        unreachable::check(&handling, &facts, &mut diagnostics);
        guards::explain(&handling, &facts, &mut left);
        loops::check(&handling, &facts, &mut diagnostics);
        termination::check(&handling, &facts, &mut diagnostics, &mut once_begun);
        slots::check(&handling, &mut diagnostics);
        // Nothing else is worth saying of a thread that can be anywhere.
        if elsewhere::check(&handling, &mut diagnostics) {
            classes::check(&handling, &mut diagnostics);
        }
        destruction::check(&handling, &mut diagnostics);
        sends::check(&handling, &mut diagnostics);
        draws::check(&handling, &mut diagnostics);
        dispatch::check(&handling, &mut diagnostics);
        failure::check(&handling, &mut diagnostics);
        if diagnostics.errors() > before {
            refused.push(handler.at);
        }
        // Where threads end depends on all of the above, so it is judged only if that is right.
        if !refused.contains(&handler.at) {
            storage::check(&handling, &mut diagnostics);
            work::check(&handling, &mut diagnostics);
        }
        if diagnostics.errors() == before {
            effects::check(&handling, &mut diagnostics);
        }
        failing.extend(certain::candidates(&handling, &facts));
        decided::look(&handling, &mut tests);
    }
    if diagnostics.has_errors() {
        once_begun.into_iter().for_each(|endless| diagnostics.push(endless.said(false)));
    } else {
        certain::check(known, &failing, once_begun, &mut diagnostics);
    }
    // An error makes conditions seem decided that are not.
    if !diagnostics.has_errors() {
        decided::check(tests, &mut diagnostics);
    }
    Judgement { diagnostics, facts, left: left.into_list(), reached }
}

/// The numbers of a handler's statements.
fn statements(handler: &Handler) -> Range<usize> {
    let first = handler.body.first().map_or(0, |statement| statement.id.0);
    first..first + walk::length(&handler.body)
}

/// What every handler is judged on.
struct Known<'a> {
    policy: &'a Policy,
    framework: &'a Framework,
    /// See [`values::steps`].
    steps: &'a [i64],
    /// See [`repeated::firsts`].
    firsts: &'a [usize],
    between: Between,
    /// What is known between events if nothing is.
    nothing: Between,
}

/// A handler and everything that is known of it, on which each property is checked.
struct Handling<'a> {
    policy: &'a Policy,
    handler: &'a Handler,
    /// `None` for a query.
    event: Option<&'a Event>,
    situations: Vec<Situation<'a>>,
    /// One for each situation.
    flows: Vec<Flow>,
    /// What is known before each statement that can be reached, in any situation and on any path.
    before: BTreeMap<StatementId, State>,
    /// Its statements as written in the source, made when the first one is quoted.
    heads: OnceCell<Heads>,
    course: Course<'a>,
}

/// So many paths are kept apart in a handler of at most `SHORT` statements. Longer handlers would soon have more.
const APART: usize = 8;
const SHORT: usize = 250;

impl<'a> Handling<'a> {
    fn of(known: &Known<'a>, handler: &'a Handler) -> Self {
        let Known { policy, framework, steps, firsts: _, between, nothing } = known;
        let event = match handler.returns {
            None => framework.events.iter().find(|event| event.name == handler.name),
            Some(_) => None,
        };
        let course = Course { policy, handler, steps };
        let mut situations = situation::situations(policy, framework, handler, event, between);
        // As far as is known, no order of events leads here. The handler is judged all the same, as if any could.
        if situations.is_empty() {
            situations = situation::situations(policy, framework, handler, event, nothing);
        }
        let follow = |situation: &Situation| flow::follow(course, situation.start.clone().unsure(), paths(handler));
        let flows: Vec<Flow> = situations.iter().map(follow).collect();
        let mut before: BTreeMap<StatementId, State> = BTreeMap::new();
        for (statement, states) in flows.iter().flat_map(|flow| &flow.before) {
            let known = before.remove(statement).into_iter().chain(states.iter().cloned());
            if let Some(joined) = known.reduce(State::join) {
                before.insert(*statement, joined);
            }
        }
        Handling { policy, handler, event, situations, flows, before, heads: OnceCell::new(), course }
    }

    /// The places of the statements and the ends that are reached.
    fn reached(&self) -> Vec<At> {
        let ends = self.flows.iter().flat_map(|flow| &flow.ends).map(|end| end.at);
        let mut reached: Vec<At> = ends.collect();
        walk::statements(&self.handler.body, &mut |statement| {
            if self.all_before(statement.id).next().is_some() {
                reached.push(statement.at);
            }
        });
        reached
    }

    /// What is known before a statement, in any situation; `None` if it is never reached.
    fn before(&self, statement: StatementId) -> Option<&State> {
        self.before.get(&statement)
    }

    /// The same, not joined: one of these states holds.
    fn all_before(&self, statement: StatementId) -> impl Iterator<Item = &State> {
        self.flows.iter().filter_map(move |flow| flow.before.get(&statement)).flatten()
    }

    /// The bad ends of the handler, each with its situation. Paths to the same end are one.
    fn bad_ends(&self, bad: impl Fn(&Situation<'a>, &End) -> bool) -> Vec<(&Situation<'a>, End)> {
        let mut all = Vec::new();
        for (situation, flow) in self.situations.iter().zip(&self.flows) {
            let mut ends: BTreeMap<Option<StatementId>, End> = BTreeMap::new();
            for end in flow.ends.iter().filter(|end| bad(situation, end)) {
                match ends.entry(end.statement) {
                    Entry::Vacant(place) => {
                        place.insert(end.clone());
                    }
                    Entry::Occupied(mut known) => {
                        let joined = known.get().state.clone().join(end.state.clone());
                        known.get_mut().state = joined;
                    }
                }
            }
            all.extend(ends.into_values().map(|end| (situation, end)));
        }
        all
    }

    fn container(&self, container: ContainerId) -> &'a Container {
        &self.policy.containers[container.0]
    }

    /// The name of a container in backquotes.
    fn name(&self, container: ContainerId) -> String {
        format!("`{}`", self.container(container).name)
    }

    /// The names of containers in backquotes. An array of which all elements are among them is named once.
    fn names(&self, containers: &[ContainerId]) -> Vec<String> {
        let mut names = Vec::new();
        for id in containers {
            let whole = self.container(*id).element.filter(|Element { index, length }| {
                (id.0 - index..id.0 - index + length).all(|other| containers.contains(&ContainerId(other)))
            });
            let name = match whole {
                Some(_) => format!("`{}`", Element::array(&self.container(*id).name)),
                None => self.name(*id),
            };
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The name of what is referred to, without backquotes.
    fn reference(&self, container: &ContainerRef) -> String {
        self.heads().container(container)
    }

    /// Whether a local names a thread or a node.
    fn entity(&self, local: LocalId) -> Entity {
        situation::entity(self.handler, local.0)
    }

    /// What a container holds.
    fn holds(&self, container: &ContainerRef) -> Entity {
        container.candidates().next().map_or(Entity::Thread, |id| self.container(id).holds)
    }

    /// Whether a statement of the handler sends a thread to a node.
    fn sends(&self) -> bool {
        let mut sends = false;
        walk::statements(&self.handler.body, &mut |statement| {
            sends |= matches!(statement.kind, StatementKind::Send { .. });
        });
        sends
    }

    /// The name of a local in backquotes.
    fn local(&self, local: LocalId) -> String {
        format!("`{}`", self.handler.locals[local.0].name)
    }

    /// A statement as written, in backquotes, without its `;`.
    fn statement(&self, statement: &Statement) -> String {
        format!("`{}`", self.heads().head(statement).trim_end_matches(';'))
    }

    /// Adds the call in the handler to a diagnostic of a statement that stands in a function.
    fn called(&self, statement: &Statement, diagnostic: Diagnostic) -> Diagnostic {
        match statement.called {
            Some(call) => diagnostic.related(call, "called here"),
            None => diagnostic,
        }
    }

    /// The names in the handler, collected when they are first needed.
    fn heads(&self) -> &Heads {
        self.heads.get_or_init(|| Heads::of(self.policy, self.handler))
    }

    /// Where the rules demand that a parameter goes; empty if no rule that can apply names it.
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

/// How the paths through a handler are followed.
fn paths(handler: &Handler) -> Paths {
    Paths::Apart(if walk::length(&handler.body) > SHORT { 1 } else { APART })
}

/// Adds where a fact is known from.
fn known_from(diagnostic: Diagnostic, why: Why, fact: &str) -> Diagnostic {
    match why {
        Why::Unknown => diagnostic,
        Why::Between => diagnostic.note(format!("{fact} whenever this event is raised, whatever has happened before")),
        Why::Given => diagnostic.note(format!("{fact} whenever this event is raised")),
        Why::Tested(at) => diagnostic.related(at, format!("{fact} after this test")),
        Why::Moved(at) => diagnostic.related(at, format!("{fact} after this")),
    }
}

/// "`a`", "`a` or `b`", "`a`, `b` or `c`"
fn alternatives(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
