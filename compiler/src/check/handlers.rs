//! Finds the handler of each event and query: the policy's most specific one, else the framework's default.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{self, Absent, Event, Framework, Query, QueryDefault};
use crate::policy::{
    Asked, AttributeId, BinaryOperator, Block, Container, ContainerId, ContainerKind, ContainerRef, Element, Entity,
    Expression, Handler, Local, LocalId, LocalKind, Owner, Place, Policy, Source, Statement, StatementId,
    StatementKind, Thread,
};
use crate::syntax::ast::{self, HandlerKind};
use crate::syntax::words::nearest;
use crate::vocabulary::{At, StateClass, Type, Value};

use super::expressions::{Lowering, Reach};
use super::families;
use super::functions::{Calls, Functions};
use super::missing::Missing;
use super::scope::Scope;
use super::statements::{Body, Rights, list};
use super::symbols::Symbols;

/// The most parameters, variables and cursors of a handler. What is known of each is kept for every statement.
const MOST_LOCALS: usize = 100;

/// A handler that the policy writes.
struct Written {
    /// The events and families that it covers: what is written, or what was probably meant.
    covers: Vec<String>,
    /// `None` if it has errors.
    handler: Option<Handler>,
}

/// Fills in `policy.events`, the queries that the policy answers itself, and the framework's containers that are used.
/// The caller reports the required handlers that are missing.
pub(super) fn handle<'a>(
    tree: &ast::Scheduler,
    framework: &'a Framework,
    symbols: &Symbols<'_>,
    policy: &mut Policy,
    diagnostics: &mut Diagnostics,
) -> Missing<'a> {
    let (mut events, mut queries): (Vec<Written>, Vec<Written>) = (Vec::new(), Vec::new());
    let functions = Functions::of(tree, framework);
    let mut first: BTreeMap<(bool, &str), At> = BTreeMap::new();
    for handler in &tree.handlers {
        for name in &handler.names {
            let whole = if handler.names.len() > 1 { name.at } else { handler.at };
            let Some(earlier) = first.insert((handler.kind == HandlerKind::Event, &name.text), whole) else { continue };
            let title = format!("`{}` is handled twice", name.text);
            let diagnostic = if handler.at.start <= earlier.start && earlier.end <= handler.at.end {
                let again = Diagnostic::error("E0308", title, name.at, "named again");
                again.related(earlier, "named first").help("name it once")
            } else {
                let second = Diagnostic::error("E0308", title, whole, "the second handler");
                second.related(earlier, "the first handler").help("join them into one")
            };
            diagnostics.push(diagnostic);
        }
        let covers: Vec<String> =
            handler.names.iter().map(|name| known_name(name, handler.kind, tree, framework, diagnostics)).collect();
        let lowered = resolve(handler, &covers, framework, symbols, &functions, policy, diagnostics);
        let written = Written { covers, handler: lowered };
        match handler.kind {
            HandlerKind::Event => events.push(written),
            HandlerKind::Query => queries.push(written),
        }
    }
    functions.check_uncalled(symbols, policy, diagnostics);
    let bodies = framework.events.iter().filter_map(|event| default_body(model(event, framework, &events)));
    let used: Vec<&str> = bodies.flat_map(destinations).collect();
    let kept = framework.containers.iter().filter(|container| used.contains(&container.name.as_str()));
    policy.containers.extend(kept.map(|container| Container {
        name: container.name.clone(),
        holds: Entity::Thread,
        element: None,
        kind: ContainerKind::Queue,
        class: container.class,
        owner: Owner::Framework,
        at: At::default(),
    }));
    for event in &framework.events {
        let handler = match model(event, framework, &events) {
            Model::Policy(written, handler) => {
                handler.map(|handler| Handler { written: written.to_owned(), ..handler.clone() })
            }
            Model::Default(body) => Some(default_handler(event, body, policy)),
            Model::Nothing => None,
        };
        policy.events.extend(handler.map(|mut handler| {
            handler.body.splice(..0, expired(event, &handler, policy));
            handler.body.splice(..0, families::counted(event, &handler, policy));
            Handler { name: event.name.clone(), global: event.is_global(), ..handler }
        }));
    }
    for query in &framework.queries {
        let handler = most_specific(&query.name, &queries).and_then(|(written, handler)| Some((written, handler?)));
        policy.queries.extend(handler.map(|(written, handler)| Handler {
            name: query.name.clone(),
            written: written.to_owned(),
            ..handler.clone()
        }));
    }
    if tree.lost.handlers { Missing::default() } else { missing(framework, &events, &queries) }
}

/// Disarms a timer that has expired, before its handler does anything else.
fn expired(event: &Event, handler: &Handler, policy: &Policy) -> Option<Statement> {
    event.timer.as_ref()?;
    let id = policy.attributes.iter().position(|attribute| attribute.timer.as_ref() == Some(&event.name))?;
    let place = Place::Attribute(Thread::Local(LocalId(0)), AttributeId(id));
    let value = Expression::Literal(Value::zero(Type::Time));
    Some(Statement { id: StatementId(0), kind: StatementKind::Set { place, value }, at: handler.at, called: None })
}

/// Answers the queries that the policy does not answer. Needs the state classes of its containers.
pub(super) fn answer(framework: &Framework, policy: &mut Policy) {
    let mut written: BTreeMap<String, Handler> =
        std::mem::take(&mut policy.queries).into_iter().map(|handler| (handler.name.clone(), handler)).collect();
    let mut queries = Vec::new();
    for query in &framework.queries {
        let value = match (written.remove(&query.name), &query.default) {
            (Some(handler), _) => {
                queries.push(handler);
                continue;
            }
            (None, QueryDefault::Required) => continue,
            (None, QueryDefault::Count(classes)) => sum(
                of_classes(policy, classes).map(Expression::Size),
                BinaryOperator::Add,
                Expression::Literal(Value::Int(0)),
            ),
            (None, QueryDefault::In(parameter, classes)) => {
                let thread = Thread::Local(LocalId(*parameter));
                let each = of_classes(policy, classes).map(|container| Expression::In(thread, container, Asked::In));
                sum(each, BinaryOperator::Or, Expression::Literal(Value::Bool(false)))
            }
        };
        let body = vec![statement(StatementKind::Return { value: Some(value) })];
        let entities = vec![Entity::Thread; query.parameters.len()];
        queries.push(framework_handler(&query.name, &query.parameters, &entities, Some(query.returns), body));
    }
    policy.queries = queries;
}

/// The handler that an event has.
enum Model<'a> {
    /// The policy's, with the name that is written for the event. `None`: it has errors.
    Policy(&'a str, Option<&'a Handler>),
    /// The framework's.
    Default(&'a ast::Block),
    /// None: the event is optional, or its missing handler is reported.
    Nothing,
}

fn model<'a>(event: &'a Event, framework: &'a Framework, events: &'a [Written]) -> Model<'a> {
    if let Some((written, handler)) = most_specific(&event.name, events) {
        return Model::Policy(written, handler);
    }
    match &event.absent {
        Absent::Required | Absent::Optional => Model::Nothing,
        Absent::Body(body) => Model::Default(body),
        // The reader allows no chain of `Like`.
        Absent::Like(other) => framework
            .events
            .iter()
            .find(|event| event.name == *other)
            .map_or(Model::Nothing, |event| model(event, framework, events)),
    }
}

/// The longest name that covers an event, with its handler.
fn most_specific<'a>(event: &str, written: &'a [Written]) -> Option<(&'a str, Option<&'a Handler>)> {
    let names = written.iter().flat_map(|written| written.covers.iter().map(move |name| (name, written)));
    let covering = names.filter(|(name, _)| framework::covers(name, event));
    covering.max_by_key(|(name, _)| name.len()).map(|(name, written)| (name.as_str(), written.handler.as_ref()))
}

/// The handler as the policy writes it, with its body resolved.
fn resolve(
    handler: &ast::Handler,
    covers: &[String],
    framework: &Framework,
    symbols: &Symbols<'_>,
    functions: &Functions<'_>,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> Option<Handler> {
    let before = diagnostics.errors();
    let name = &handler.written();
    let covered = |name: &str| covers.iter().any(|written| framework::covers(written, name));
    let events = framework.events.iter().chain(&framework.unraised);
    let events: Vec<&Event> = events.filter(|event| covered(&event.name)).collect();
    let queries: Vec<&Query> = framework.queries.iter().filter(|query| covered(&query.name)).collect();
    let members: Vec<(&str, &[String])> = match handler.kind {
        HandlerKind::Event => events.iter().map(|event| (event.name.as_str(), event.parameters.as_slice())).collect(),
        HandlerKind::Query => queries.iter().map(|query| (query.name.as_str(), query.parameters.as_slice())).collect(),
    };
    if members.is_empty() {
        return None;
    }
    let word = if handler.kind == HandlerKind::Event { "event" } else { "query" };
    for (member, parameters) in &members {
        if parameters.len() != handler.parameters.len() {
            let title = format!(
                "`{member}` has {}, this handler has {}",
                count(parameters.len()),
                count(handler.parameters.len())
            );
            let alike = members.iter().all(|(_, others)| others.len() == parameters.len());
            let help = if alike {
                format!("write `{word} {name}{}`", in_parentheses(parameters))
            } else {
                format!("give it a handler of its own: `event {member}{} {{ … }}`", in_parentheses(parameters))
            };
            diagnostics.push(Diagnostic::error("E0306", title, handler.at, "").help(help));
            break;
        }
    }
    let returns = match handler.kind {
        HandlerKind::Event => None,
        HandlerKind::Query => queries.first().map(|query| query.returns),
    };
    if let (Some((stated, at)), Some(returns)) = (handler.returns, returns)
        && stated != returns
    {
        let title = format!("`{name}` answers with a value of type `{}`", returns.word());
        diagnostics.push(Diagnostic::error("E0303", title, at, format!("not `{}`", stated.word())));
    }
    let rights = Rights {
        no_dispatch: events
            .iter()
            .find(|event| !event.dispatches())
            .map(|event| event.name.as_str())
            .or(returns.map(|_| name.as_str())),
        dispatching: framework
            .events
            .iter()
            .filter(|event| event.dispatches())
            .map(|event| event.name.as_str())
            .collect(),
        no_fail: events
            .iter()
            .find(|event| !event.may_fail)
            .map(|event| event.name.as_str())
            .or(returns.map(|_| name.as_str())),
        returns,
    };
    if let Some(first) = events.first() {
        let unlike = |event: &Event| event.entities.iter().zip(&first.entities).any(|(one, other)| one != other);
        let other = |event: &&&Event| event.is_global() != first.is_global() || unlike(event);
        if let Some(other) = events.iter().find(other) {
            let title = format!("`{}` and `{}` cannot share a handler", first.name, other.name);
            let label = if first.is_global() == other.is_global() {
                "the one names a node where the other names a thread"
            } else {
                "the one runs in the instance of a node, the other in none"
            };
            let apart = Diagnostic::error("E0329", title, handler.at, label);
            diagnostics.push(apart.help("write a handler for each"));
            return None;
        }
    }
    let entity = |index: usize| {
        let known = events.first().and_then(|event| event.entities.get(index));
        known.copied().unwrap_or(Entity::Thread)
    };
    let reach = match events.first() {
        _ if !policy.has_nodes() => Reach::Everything,
        Some(event) if event.is_global() => Reach::Shared,
        Some(_) | None => Reach::Instance,
    };
    let mut scope = Scope::default();
    for (index, parameter) in handler.parameters.iter().enumerate() {
        scope.declare_thread(parameter, entity(index), symbols, diagnostics);
    }
    // Missing parameters have been reported. Their uses are not.
    for missing in members.iter().flat_map(|(_, parameters)| parameters.iter().skip(handler.parameters.len())) {
        let name = ast::Name { text: missing.clone(), at: handler.at };
        if scope.find(missing).is_none() && !symbols.is_known(missing) {
            scope.declare_thread(&name, Entity::Thread, symbols, diagnostics);
        }
    }
    let called = BTreeMap::new();
    let arriving = events.first().and_then(|event| families::arriving(event));
    let lowering = Lowering { policy, symbols, scope: &mut scope, called, reach, arriving, diagnostics };
    let calls = Calls::new(functions);
    let body = Body { lowering, rights: &rights, loops: Vec::new(), turns: 0, calls }.block(&handler.body);
    if scope.locals.len() > MOST_LOCALS {
        let title =
            format!("a handler has at most {MOST_LOCALS} names of its own, this one has {}", scope.locals.len());
        let many = Diagnostic::error("E0322", title, handler.at, "parameters, variables and cursors");
        diagnostics.push(many.help("use a variable again, or keep values in `data { … }`"));
    }
    (diagnostics.errors() == before).then(|| Handler {
        name: name.clone(),
        written: name.clone(),
        locals: scope.locals,
        parameters: handler.parameters.len(),
        global: false,
        returns,
        body,
        owner: Owner::Policy,
        at: handler.at,
    })
}

/// What the handler covers. If the framework has nothing of that name, this is reported, and the name that was probably
/// meant is used instead, so that the body is checked and no handler seems to be missing.
fn known_name(
    name: &ast::Name,
    kind: HandlerKind,
    tree: &ast::Scheduler,
    framework: &Framework,
    diagnostics: &mut Diagnostics,
) -> String {
    let events = framework.events.iter().chain(&framework.unraised);
    let events: Vec<&str> = events.map(|event| event.name.as_str()).collect();
    let queries: Vec<&str> = framework.queries.iter().map(|query| query.name.as_str()).collect();
    let (kind, other, known, others) = match kind {
        HandlerKind::Event => ("event", "query", events, queries),
        HandlerKind::Query => ("query", "event", queries, events),
    };
    if known.iter().any(|event| framework::covers(&name.text, event)) {
        return name.text.clone();
    }
    let of_timer = framework.timer.as_ref().filter(|_| kind == "event");
    let of_timer = of_timer.and_then(|timer| name.text.strip_prefix(&format!("{}.", timer.name)));
    if of_timer.is_some_and(|timer| tree.lost.names.contains(timer)) {
        return name.text.clone();
    }
    if diagnostics.is_full() {
        // The error is only counted, and the search for a similar name takes time.
        diagnostics.push(Diagnostic::error("E0305", "", name.at, ""));
        return name.text.clone();
    }
    let title = format!("framework `{}` has no {kind} `{}`", framework.name, name.text);
    let diagnostic = Diagnostic::error("E0305", title, name.at, format!("unknown {kind}"));
    if kind == "event" && framework.of_nodes.contains(&name.text) {
        let of_nodes = diagnostic.note(format!("`{}` is an event of nodes, and this policy keeps none", name.text));
        diagnostics.push(of_nodes.help("declare a collection for them: `nodes { queue all; }`"));
        return name.text.clone();
    }
    if others.contains(&name.text.as_str()) {
        let article = if other == "event" { "an" } else { "a" };
        let help = format!("`{}` is {article} {other}: write `{other} {}`", name.text, name.text);
        diagnostics.push(diagnostic.help(help));
        return name.text.clone();
    }
    let families = families(&known);
    let meant = match (of_timer, &framework.timer) {
        // Only the timers' names are compared: whole event names are so long that all are similar.
        (Some(timer), Some(event)) => nearest(timer, tree.timers.iter().map(|timer| timer.name.text.as_str()))
            .and_then(|meant| known.iter().copied().find(|known| *known == format!("{}.{meant}", event.name))),
        (_, _) => nearest(&name.text, known.iter().copied().chain(families.iter().map(String::as_str))),
    };
    if let Some(timer) = of_timer.filter(|_| meant.is_none()) {
        let wanted = if timer == "*" { "NAME" } else { timer };
        let undeclared = diagnostic.note("such an event is raised when a timer expires");
        diagnostics.push(undeclared.help(format!("declare the timer: `thread {{ timer {wanted}; }}`")));
        return name.text.clone();
    }
    let plural = if kind == "query" { "queries" } else { "events" };
    let family = format!("{}.*", name.text);
    diagnostics.push(match meant {
        _ if families.contains(&family) => {
            let help = format!("`{}` is a family: `{family}` handles all of its events", name.text);
            diagnostic.help(help)
        }
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => {
            let diagnostic = diagnostic.note(format!("its {plural}: {}", list(&known)));
            // The longest one: for `block.io.read`, `block.io.*` rather than `block.*`.
            match self::families(&[&name.text]).iter().rev().find(|family| families.contains(*family)) {
                Some(family) => {
                    let members = "handles all events of the family, whatever they are called in a framework";
                    diagnostic.help(format!("`{family}` {members}"))
                }
                None => diagnostic,
            }
        }
    });
    if families.contains(&family) { family } else { meant.unwrap_or(&name.text).to_owned() }
}

/// `block.io.*` and `block.*` for `block.io.read`.
fn families(names: &[&str]) -> BTreeSet<String> {
    let prefixes =
        |name: &&str| name.match_indices('.').map(|(dot, _)| format!("{}.*", &name[..dot])).collect::<Vec<_>>();
    names.iter().flat_map(prefixes).collect()
}

/// The events and queries that the framework requires and the policy leaves out.
fn missing<'a>(framework: &'a Framework, events: &[Written], queries: &[Written]) -> Missing<'a> {
    let required = |event: &&Event| matches!(event.absent, Absent::Required);
    let unheard = |event: &&Event| most_specific(&event.name, events).is_none();
    let unasked = |query: &&Query| query.default == QueryDefault::Required;
    let unanswered = |query: &&Query| most_specific(&query.name, queries).is_none();
    Missing {
        events: framework.events.iter().filter(required).filter(unheard).collect(),
        queries: framework.queries.iter().filter(unasked).filter(unanswered).collect(),
    }
}

fn default_body(model: Model<'_>) -> Option<&ast::Block> {
    match model {
        Model::Default(body) => Some(body),
        Model::Policy(..) | Model::Nothing => None,
    }
}

fn destinations(body: &ast::Block) -> impl Iterator<Item = &str> {
    body.statements.iter().filter_map(|statement| transfer(statement)?.1)
}

/// The thread and the destination of a statement in a default body. The reader allows only these statements.
fn transfer(statement: &ast::Statement) -> Option<(&str, Option<&str>)> {
    if let ast::StatementKind::Transfer { source, destination } = &statement.kind {
        Some((&source.name.text, Some(&destination.name.text)))
    } else if let ast::StatementKind::Destroy(thread) = &statement.kind {
        Some((&thread.name.text, None))
    } else {
        None
    }
}

fn default_handler(event: &Event, body: &ast::Block, policy: &Policy) -> Handler {
    let lower = |(thread, destination): (&str, Option<&str>)| {
        let source = Source::Thread(LocalId(event.parameters.iter().position(|parameter| parameter == thread)?));
        let Some(destination) = destination else {
            return Some(statement(StatementKind::Destroy { source }));
        };
        let owned = |container: &Container| container.owner == Owner::Framework && container.name == destination;
        let destination = ContainerId(policy.containers.iter().position(owned)?);
        Some(statement(StatementKind::Transfer { source, destination: destination.into() }))
    };
    let body = body.statements.iter().filter_map(transfer).filter_map(lower).collect();
    framework_handler(&event.name, &event.parameters, &event.entities, None, body)
}

fn framework_handler(
    name: &str,
    parameters: &[String],
    entities: &[Entity],
    returns: Option<Type>,
    body: Block,
) -> Handler {
    let local = |(parameter, entity): (&String, &Entity)| {
        let kind = match entity {
            Entity::Thread => LocalKind::Thread,
            Entity::Node => LocalKind::Node,
        };
        Local { name: parameter.clone(), kind }
    };
    Handler {
        name: name.to_owned(),
        written: name.to_owned(),
        locals: parameters.iter().zip(entities).map(local).collect(),
        parameters: parameters.len(),
        global: false,
        returns,
        body,
        owner: Owner::Framework,
        at: At::default(),
    }
}

fn statement(kind: StatementKind) -> Statement {
    Statement { id: StatementId(0), kind, at: At::default(), called: None }
}

/// The containers of these classes, arrays as a whole.
fn of_classes(policy: &Policy, classes: &[StateClass]) -> impl Iterator<Item = ContainerRef> {
    let fits = |(index, container): (usize, &Container)| {
        let id = ContainerId(index);
        let all = match container.element {
            _ if container.holds == Entity::Node => return None,
            None => ContainerRef::One(id),
            Some(Element { index: 0, length }) => ContainerRef::Whole { first: id, length },
            Some(_) => return None,
        };
        classes.contains(&container.class).then_some(all)
    };
    policy.containers.iter().enumerate().filter_map(fits)
}

fn sum(parts: impl Iterator<Item = Expression>, operator: BinaryOperator, nothing: Expression) -> Expression {
    parts.reduce(|left, right| Expression::Binary(operator, Box::new(left), Box::new(right))).unwrap_or(nothing)
}

fn count(parameters: usize) -> String {
    match parameters {
        0 => "no parameter".to_owned(),
        1 => "1 parameter".to_owned(),
        more => format!("{more} parameters"),
    }
}

pub(super) fn in_parentheses(parameters: &[String]) -> String {
    if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) }
}
