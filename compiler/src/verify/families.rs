//! The policies of all families of nodes as one.
//!
//! Each has been judged alone: on a node of its family, nothing else runs. A handler that all share stays as it is. Any
//! other becomes a choice by the family of the node, so what is known of a statement in it is known as before.

use std::ops::Range;

use crate::framework::Framework;
use crate::policy::{
    At, Attribute, BinaryOperator, Block, Constant, Container, ContainerId, Expression, Handler, Import, Local, Owner,
    Place, Policy, Renumbering, Statement, StatementId, StatementKind, Type, Value, Variable, VariableId,
};

use super::{Facts, Guard, Left, Verified, walk};

/// The policy of one family.
#[derive(Clone, Debug)]
pub struct OfFamily {
    /// What is known of it.
    pub verified: Verified<Policy>,
    /// What the scheduler calls the family.
    pub name: String,
    /// Where it does.
    pub at: At,
    /// What it declares itself.
    pub own: Own,
}

/// The places of what a family declares itself, in the lists of its policy. All else is the same in those of all families.
#[derive(Clone, Debug)]
pub struct Own {
    /// Of constants.
    pub constants: Range<usize>,
    /// Of variables.
    pub variables: Range<usize>,
    /// Of containers.
    pub containers: Range<usize>,
}

/// A handler that runs on no node, and is not the same with each family.
#[derive(Clone, Debug)]
pub struct Unlike {
    /// The event.
    pub event: String,
    /// The handler.
    pub at: At,
}

/// Whether some handler moves a thread into each container.
pub fn fills(policy: &Policy) -> impl Iterator<Item = bool> {
    let filled = walk::filled(policy);
    (0..policy.containers.len()).map(move |index| filled.contains(&ContainerId(index)))
}

/// The policy of all families, in the order of their numbers. `None`: there is no family.
///
/// # Errors
/// What happens to nodes themselves depends on families.
pub fn join(families: &[OfFamily], framework: &Framework) -> Result<Option<Verified<Policy>>, Unlike> {
    let Some(first) = families.first().map(|family| family.verified.policy()) else { return Ok(None) };
    let framework = &framework.as_met(first.timers(), true);
    let mut policy = Policy {
        constants: Vec::new(),
        attributes: Vec::new(),
        thread_imports: Vec::new(),
        imports: Vec::new(),
        variables: Vec::new(),
        containers: Vec::new(),
        events: Vec::new(),
        queries: Vec::new(),
        ..first.clone()
    };
    let mut shared = Shared::default();
    let renumberings: Vec<Renumbering> =
        families.iter().map(|family| declare(&mut policy, &mut shared, family)).collect();
    let here = VariableId(policy.variables.len());
    let (name, initial) = ("family".to_owned(), Value::Int(0));
    policy.variables.push(Variable { name, global: false, element: None, ty: Type::Int, initial });
    if let Some(families) = &mut policy.families {
        families.here = Some(here);
    }
    let (mut events, mut queries) = (Vec::new(), Vec::new());
    for event in &framework.events {
        let named = |policy: &Policy| policy.events.iter().position(|handler| handler.name == event.name);
        events.extend(Choice::of(families, &renumberings, named, |policy, it| &policy.events[it]));
    }
    for query in &framework.queries {
        let named = |policy: &Policy| policy.queries.iter().position(|handler| handler.name == query.name);
        queries.extend(Choice::of(families, &renumberings, named, |policy, it| &policy.queries[it]));
    }
    if let Some(unlike) = events.iter().find(|choice| choice.head.global && choice.ways.len() > 1) {
        return Err(Unlike { event: unlike.head.name.clone(), at: unlike.written });
    }
    policy.events = events.iter().map(|choice| choice.handler(families, &policy)).collect();
    policy.queries = queries.iter().map(|choice| choice.handler(families, &policy)).collect();
    policy.number_statements();

    let mut facts = vec![Facts::default(); walk::count(&policy)];
    for (choice, handler) in events.iter().zip(&policy.events).chain(queries.iter().zip(&policy.queries)) {
        choice.facts(families, &renumberings, handler, &mut facts);
    }
    let mut left: Vec<Left> = Vec::new();
    for one in families.iter().flat_map(|family| &family.verified.left) {
        if left.iter().all(|known| known.remark != one.remark) {
            left.push(one.clone());
        }
    }
    Ok(Some(Verified { inner: policy, facts, left }))
}

/// Adds what a family's policy declares, and is not there yet. What is the family's own has its name before it.
fn declare(all: &mut Policy, shared: &mut Shared, family: &OfFamily) -> Renumbering {
    let policy = family.verified.policy();
    let named = |name: &str| format!("{}_{name}", family.name);
    let mut numbers = Renumbering::default();
    let own = |range: &Range<usize>, place: usize| range.contains(&place);
    for (place, constant) in policy.constants.iter().enumerate() {
        let own = own(&family.own.constants, place);
        let name = if own { named(&constant.name) } else { constant.name.clone() };
        let one = Constant { name, ..constant.clone() };
        numbers.constants.push(number(&mut all.constants, &mut shared.constants, one, own));
    }
    for attribute in &policy.attributes {
        let same = |known: &Attribute| (known.of, &known.name) == (attribute.of, &attribute.name);
        numbers.attributes.push(found(&mut all.attributes, attribute, same));
    }
    for import in &policy.thread_imports {
        let same = |known: &Import| known.name == import.name;
        numbers.thread_imports.push(found(&mut all.thread_imports, import, same));
    }
    for import in &policy.imports {
        let same = |known: &Import| known.name == import.name;
        numbers.imports.push(found(&mut all.imports, import, same));
    }
    for (place, variable) in policy.variables.iter().enumerate() {
        let own = own(&family.own.variables, place);
        let name = if own { named(&variable.name) } else { variable.name.clone() };
        let one = Variable { name, ..variable.clone() };
        numbers.variables.push(number(&mut all.variables, &mut shared.variables, one, own));
    }
    for ((place, container), fills) in policy.containers.iter().enumerate().zip(fills(policy)) {
        let one = numbers.declared(container);
        // One that the framework lends may be used by one family alone.
        if container.owner == Owner::Framework {
            let same = |known: &Container| (known.owner, &known.name) == (one.owner, &one.name);
            numbers.containers.push(found(&mut all.containers, &one, same));
            continue;
        }
        let own = own(&family.own.containers, place);
        let name = if own { named(&container.name) } else { container.name.clone() };
        let number = number(&mut all.containers, &mut shared.containers, Container { name, ..one }, own);
        // A family that does not use it does not show its class.
        if fills {
            all.containers[number].class = container.class;
        }
        numbers.containers.push(number);
    }
    for preamble in &policy.preamble {
        if !all.preamble.contains(preamble) {
            all.preamble.push(preamble.clone());
        }
    }
    for ordered in [&mut shared.constants, &mut shared.variables, &mut shared.containers] {
        ordered.met = 0;
    }
    numbers
}

/// The numbers of what all families share, in the order in which each policy has it.
#[derive(Default)]
struct Shared {
    constants: Ordered,
    variables: Ordered,
    containers: Ordered,
}

/// The numbers that the first family has given, and how many of them the present one has met.
#[derive(Default)]
struct Ordered {
    numbers: Vec<usize>,
    met: usize,
}

/// The number of a part: of the next one that all families share, or of a new one.
fn number<T>(all: &mut Vec<T>, shared: &mut Ordered, one: T, own: bool) -> usize {
    if !own && let Some(known) = shared.numbers.get(shared.met) {
        shared.met += 1;
        return *known;
    }
    all.push(one);
    if !own {
        shared.numbers.push(all.len() - 1);
        shared.met = shared.numbers.len();
    }
    all.len() - 1
}

/// The number of a part that families have by its name.
fn found<T: Clone>(all: &mut Vec<T>, one: &T, same: impl Fn(&T) -> bool) -> usize {
    all.iter().position(same).unwrap_or_else(|| {
        all.push(one.clone());
        all.len() - 1
    })
}

/// What the families do when an event is raised, or a query asked.
struct Choice {
    /// Each with the families that do it. One at least.
    ways: Vec<Way>,
    /// The handler without its locals and its body.
    head: Handler,
    /// Where the first handler is written.
    written: At,
    /// The locals of all ways, parameters first.
    locals: Vec<Local>,
}

/// One thing to do.
struct Way {
    /// The families that do it, each with its handler, if it has one.
    families: Vec<(usize, Option<usize>)>,
    body: Block,
    /// How far the locals of its handlers have moved back.
    by: usize,
    /// Which handlers of a policy these are.
    of: fn(&Policy, usize) -> &Handler,
}

impl Choice {
    /// `None`: no family handles it.
    fn of(
        families: &[OfFamily],
        renumberings: &[Renumbering],
        named: impl Fn(&Policy) -> Option<usize>,
        of: fn(&Policy, usize) -> &Handler,
    ) -> Option<Choice> {
        let found: Vec<Option<usize>> = families.iter().map(|family| named(family.verified.policy())).collect();
        let handler = |family: usize, number: usize| of(families[family].verified.policy(), number);
        let (family, number) = found.iter().enumerate().find_map(|(family, number)| Some((family, (*number)?)))?;
        let first = handler(family, number);
        let mut choice = Choice {
            ways: Vec::new(),
            head: Handler { locals: Vec::new(), body: Block::new(), ..first.clone() },
            written: first.at,
            locals: first.locals[..first.parameters].to_vec(),
        };
        // What each way was made of, to find out which are the same.
        let mut plain: Vec<(Vec<Local>, Block)> = Vec::new();
        for (family, number) in found.iter().copied().enumerate() {
            let own = number.map(|number| handler(family, number));
            let made = own.map_or_else(Default::default, |own| (own.locals.clone(), renumberings[family].body(own, 0)));
            if let Some(same) = plain.iter().position(|known| *known == made) {
                choice.ways[same].families.push((family, number));
                continue;
            }
            let by = own.map_or(0, |own| choice.locals.len() - own.parameters);
            let mut body = own.map_or_else(Block::new, |own| renumberings[family].body(own, by));
            let policy = families[family].verified.policy();
            called_at(&mut body, &|at| policy.used_at(at).is_some(), families[family].at);
            choice.locals.extend(own.into_iter().flat_map(|own| own.locals[own.parameters..].iter().cloned()));
            choice.ways.push(Way { families: vec![(family, number)], body, by, of });
            plain.push(made);
        }
        if choice.ways.len() > 1 {
            // The scheduler's own, if all families have that; else where it names them.
            let own = found
                .iter()
                .enumerate()
                .all(|(family, number)| number.is_some_and(|number| handler(family, number).at == first.at));
            choice.head.at = if own { first.at } else { families[0].at };
            choice.head.written.clone_from(&choice.head.name);
        }
        Some(choice)
    }

    fn handler(&self, families: &[OfFamily], policy: &Policy) -> Handler {
        let mut body = Block::new();
        for (index, way) in self.ways.iter().enumerate().rev() {
            if index + 1 == self.ways.len() {
                body.clone_from(&way.body);
                continue;
            }
            let each = way.families.iter().filter_map(|(family, _)| is_here(policy, *family));
            let any = each.reduce(|one, other| Expression::Binary(BinaryOperator::Or, Box::new(one), Box::new(other)));
            let Some(condition) = any else { continue };
            let at = way.families.first().map_or(At::default(), |(family, _)| families[*family].at);
            let kind = StatementKind::If { condition, then: way.body.clone(), otherwise: std::mem::take(&mut body) };
            body.push(Statement { id: StatementId(0), kind, at, called: None });
        }
        Handler { locals: self.locals.clone(), body, ..self.head.clone() }
    }

    /// Enters what is known of the statements of the handler that was made of this choice.
    fn facts(&self, families: &[OfFamily], renumberings: &[Renumbering], handler: &Handler, facts: &mut [Facts]) {
        let mut block = &handler.body;
        for (index, way) in self.ways.iter().enumerate() {
            let mut body = block;
            if index + 1 < self.ways.len()
                && let Some(StatementKind::If { then, otherwise, .. }) = block.first().map(|statement| &statement.kind)
            {
                (body, block) = (then, otherwise);
            }
            let mut numbers = Vec::new();
            walk::statements(body, &mut |statement| numbers.push(statement.id));
            for (position, (family, number)) in way.families.iter().enumerate() {
                let Some(number) = number else { continue };
                let verified = &families[*family].verified;
                let own = (way.of)(verified.policy(), *number);
                let moved = |known: &Facts| moved(known, &renumberings[*family], own, way.by);
                let mut next = numbers.iter();
                walk::statements(&own.body, &mut |statement| {
                    let Some(to) = next.next() else { return };
                    let known = moved(verified.facts(statement.id));
                    let all = &mut facts[to.0];
                    *all = if position == 0 { known } else { either(all, known) };
                });
            }
        }
    }
}

/// For those who know of one file: what stands in the file of a family is reported where the scheduler names that.
fn called_at(block: &mut Block, is_elsewhere: &dyn Fn(At) -> bool, at: At) {
    for statement in block {
        if is_elsewhere(statement.called.unwrap_or(statement.at)) {
            statement.called = Some(at);
        }
        for inner in statement.blocks_mut() {
            called_at(inner, is_elsewhere, at);
        }
    }
}

/// Whether the node here is of a family.
fn is_here(policy: &Policy, family: usize) -> Option<Expression> {
    let families = policy.families.as_ref()?;
    let (here, number) = (families.here?, families.all.get(family)?.number);
    let here = Expression::Read(Place::Variable(here));
    Some(Expression::Binary(BinaryOperator::Equal, Box::new(here), Box::new(Expression::Constant(number))))
}

/// The same in the numbers of the policy of all families.
fn moved(facts: &Facts, numbers: &Renumbering, handler: &Handler, by: usize) -> Facts {
    let all = |ids: &[ContainerId]| ids.iter().map(|id| numbers.id(*id)).collect();
    let guard = |guard: &Guard| match guard {
        Guard::Holds(container) => Guard::Holds(numbers.container(container, handler, by)),
        Guard::Vacant(container) => Guard::Vacant(numbers.container(container, handler, by)),
    };
    Facts {
        guards: facts.guards.iter().map(guard).collect(),
        never: facts.never,
        positions: all(&facts.positions),
        in_hand: facts.in_hand,
        refile: all(&facts.refile),
    }
}

/// What is known of a statement that runs on nodes of several families.
fn either(one: &Facts, other: Facts) -> Facts {
    let mut both = one.clone();
    both.guards.extend(other.guards.into_iter().filter(|guard| !one.guards.contains(guard)));
    both.positions.extend(other.positions.into_iter().filter(|id| !one.positions.contains(id)));
    both.refile.extend(other.refile.into_iter().filter(|id| !one.refile.contains(id)));
    both.never &= other.never;
    both.in_hand |= other.in_hand;
    both
}
