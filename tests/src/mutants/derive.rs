//! Broken policies out of whole ones: one change in the syntax tree, or two.

use catapults_compiler::syntax::ast::{
    BinaryOperator, Block, Container, ContainerKind, Expression, ExpressionKind, HandlerKind, Reference, Scheduler,
    StateClass, Statement, StatementKind, UnaryOperator,
};

/// A change. Statements are numbered through all handlers and functions, outer ones before those inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Leaves a statement out.
    Drop(usize),
    /// Does a statement twice.
    Duplicate(usize),
    /// Does a statement after the one that follows it.
    Swap(usize),
    /// `a => b` becomes `b => a`.
    Reverse(usize),
    /// A transfer goes to this container.
    Redirect(usize, String),
    /// A transfer comes from this container.
    TakeFrom(usize, String),
    /// A transfer goes to the element behind the one meant.
    NextElement(usize),
    /// A transfer comes from the element behind the one meant.
    FromNextElement(usize),
    /// The two indices of a transfer change places.
    SwapIndices(usize),
    /// A condition is negated.
    Negate(usize),
    /// The first expression that has an opposite becomes that: `min` and `max`, `&` and `|`, `<<` and `>>`, `==` and `!=`, the two values of `c ? a : b`,
    /// `random(n)` and `n`.
    Oppose(usize),
    /// Leaves a handler out, by its number.
    DropHandler(usize),
    /// A container gets a state class, or another one.
    WrongClass(usize, StateClass),
    /// A sort key of a container is this attribute.
    WrongKey(usize, usize, String),
    /// A sort key of a container runs the other way.
    ReverseKey(usize, usize),
    /// A sorted container is not sorted any more.
    Unsorted(usize),
}

/// Every single change of a policy, in order.
pub fn mutations(tree: &Scheduler) -> Vec<Mutation> {
    let mut found = Vec::new();
    let containers: Vec<String> = tree.containers.iter().map(|container| container.name.text.clone()).collect();
    let mut tree = tree.clone();
    let handlers = tree.handlers.len();
    for site in 0..count(&tree) {
        at(&mut tree, site, &mut |statements, index| {
            let last = index + 1 == statements.len();
            match &statements[index].kind {
                StatementKind::Transfer { source, destination } => {
                    found.extend([Mutation::Drop(site), Mutation::Duplicate(site), Mutation::Reverse(site)]);
                    let others = |from: &Reference| {
                        containers.iter().filter(|other| **other != from.name.text).cloned().collect()
                    };
                    if destination.index.is_some() {
                        found.push(Mutation::NextElement(site));
                    }
                    if source.index.is_some() {
                        found.push(Mutation::FromNextElement(site));
                    }
                    if source.index.is_some() && destination.index.is_some() {
                        found.push(Mutation::SwapIndices(site));
                    }
                    let (to, from): (Vec<String>, Vec<String>) = (others(destination), others(source));
                    found.extend(to.into_iter().map(|container| Mutation::Redirect(site, container)));
                    found.extend(from.into_iter().map(|container| Mutation::TakeFrom(site, container)));
                }
                StatementKind::Destroy(_) => found.extend([Mutation::Drop(site), Mutation::Duplicate(site)]),
                StatementKind::If { .. } => found.extend([Mutation::Drop(site), Mutation::Negate(site)]),
                StatementKind::Loop { condition: Some(_), .. } => {
                    found.extend([Mutation::Drop(site), Mutation::Negate(site)]);
                }
                StatementKind::Assign { .. }
                | StatementKind::Dispatch(_)
                | StatementKind::Call(_)
                | StatementKind::Foreach { .. }
                | StatementKind::Follow { .. }
                | StatementKind::Loop { condition: None, .. }
                | StatementKind::Return(_)
                | StatementKind::Verbatim { .. }
                | StatementKind::Leave(_)
                | StatementKind::Fail(_) => found.push(Mutation::Drop(site)),
                StatementKind::Declare(_)
                | StatementKind::DeclareCursor(_)
                | StatementKind::Block(_)
                | StatementKind::Lost => {}
            }
            if own_expressions(&mut statements[index]).any(oppose) {
                found.push(Mutation::Oppose(site));
            }
            if !last {
                found.push(Mutation::Swap(site));
            }
        });
    }
    found.extend((0..handlers).map(Mutation::DropHandler));
    for (index, container) in tree.containers.iter().enumerate() {
        found.extend(StateClass::ALL.map(|class| Mutation::WrongClass(index, class)));
        for (key, sorted) in container.keys.iter().enumerate() {
            found.push(Mutation::ReverseKey(index, key));
            let others = tree.attributes.iter().filter(|attribute| attribute.name.text != sorted.attribute.text);
            found.extend(others.map(|attribute| Mutation::WrongKey(index, key, attribute.name.text.clone())));
        }
        if !container.keys.is_empty() {
            found.push(Mutation::Unsorted(index));
        }
    }
    found
}

/// The policy with a change; `None` if there is nothing to be changed.
pub fn mutated(tree: &Scheduler, mutation: &Mutation) -> Option<Scheduler> {
    let mut mutant = tree.clone();
    match mutation {
        Mutation::Drop(site) => at(&mut mutant, *site, &mut |statements, index| {
            statements.remove(index);
        }),
        Mutation::Duplicate(site) => at(&mut mutant, *site, &mut |statements, index| {
            statements.insert(index, statements[index].clone());
        }),
        Mutation::Swap(site) => at(&mut mutant, *site, &mut |statements, index| {
            if index + 1 < statements.len() {
                statements.swap(index, index + 1);
            }
        }),
        Mutation::Reverse(site) => at(&mut mutant, *site, &mut |statements, index| {
            if let StatementKind::Transfer { source, destination } = &mut statements[index].kind {
                std::mem::swap(source, destination);
            }
        }),
        Mutation::Redirect(site, container) => at(&mut mutant, *site, &mut |statements, index| {
            if let StatementKind::Transfer { destination, .. } = &mut statements[index].kind {
                rename(destination, container, &tree.containers);
            }
        }),
        Mutation::TakeFrom(site, container) => at(&mut mutant, *site, &mut |statements, index| {
            if let StatementKind::Transfer { source, .. } = &mut statements[index].kind {
                rename(source, container, &tree.containers);
            }
        }),
        Mutation::NextElement(site) => at(&mut mutant, *site, &mut |statements, index| {
            if let StatementKind::Transfer { destination, .. } = &mut statements[index].kind {
                next_element(destination);
            }
        }),
        Mutation::FromNextElement(site) => at(&mut mutant, *site, &mut |statements, index| {
            if let StatementKind::Transfer { source, .. } = &mut statements[index].kind {
                next_element(source);
            }
        }),
        Mutation::SwapIndices(site) => at(&mut mutant, *site, &mut |statements, index| {
            if let StatementKind::Transfer { source, destination } = &mut statements[index].kind {
                std::mem::swap(&mut source.index, &mut destination.index);
            }
        }),
        Mutation::Negate(site) => at(&mut mutant, *site, &mut |statements, index| {
            if let StatementKind::If { condition, .. } | StatementKind::Loop { condition: Some(condition), .. } =
                &mut statements[index].kind
            {
                let inner = Box::new(condition.clone());
                *condition = Expression { kind: ExpressionKind::Unary(UnaryOperator::Not, inner), at: condition.at };
            }
        }),
        Mutation::Oppose(site) => at(&mut mutant, *site, &mut |statements, index| {
            own_expressions(&mut statements[index]).any(oppose);
        }),
        Mutation::DropHandler(index) => {
            if *index < mutant.handlers.len() {
                mutant.handlers.remove(*index);
            }
        }
        Mutation::WrongClass(index, class) => {
            let container = mutant.containers.get_mut(*index)?;
            if container.class.map(|(class, _)| class) != Some(*class) {
                container.class = Some((*class, container.at));
            }
        }
        Mutation::WrongKey(index, key, attribute) => {
            mutant.containers.get_mut(*index)?.keys.get_mut(*key)?.attribute.text.clone_from(attribute);
        }
        Mutation::ReverseKey(index, key) => {
            let key = mutant.containers.get_mut(*index)?.keys.get_mut(*key)?;
            key.reverse = !key.reverse;
        }
        Mutation::Unsorted(index) => {
            let container = mutant.containers.get_mut(*index)?;
            container.kind = match container.kind {
                ContainerKind::Pqueue => ContainerKind::Queue,
                ContainerKind::Pstack => ContainerKind::Stack,
                same @ (ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack) => same,
            };
            container.keys.clear();
        }
    }
    (mutant != *tree).then_some(mutant)
}

/// Lets a reference name another container: an array at the same index, or at 0.
fn rename(reference: &mut Reference, container: &str, containers: &[Container]) {
    reference.name.text = container.to_owned();
    let array = containers.iter().any(|other| other.name.text == container && other.length.is_some());
    let zero = || Box::new(Expression { kind: ExpressionKind::Int(0), at: reference.at });
    reference.index = reference.index.take().or_else(|| Some(zero())).filter(|_| array);
}

/// `ready[i]` becomes `ready[i + 1]`.
fn next_element(reference: &mut Reference) {
    if let Some(index) = reference.index.take() {
        let at = index.at;
        let one = Box::new(Expression { kind: ExpressionKind::Int(1), at });
        let kind = ExpressionKind::Binary(BinaryOperator::Add, index, one);
        reference.index = Some(Box::new(Expression { kind, at }));
    }
}

/// What a statement computes by itself.
fn own_expressions(statement: &mut Statement) -> impl Iterator<Item = &mut Expression> {
    match &mut statement.kind {
        StatementKind::Assign { value, .. } | StatementKind::Return(Some(value)) => Some(value),
        StatementKind::If { condition, .. } | StatementKind::Loop { condition: Some(condition), .. } => Some(condition),
        StatementKind::Declare(_)
        | StatementKind::DeclareCursor(_)
        | StatementKind::Transfer { .. }
        | StatementKind::Destroy(_)
        | StatementKind::Dispatch(_)
        | StatementKind::Call(_)
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { condition: None, .. }
        | StatementKind::Return(None)
        | StatementKind::Leave(_)
        | StatementKind::Fail(_)
        | StatementKind::Verbatim { .. }
        | StatementKind::Block(_)
        | StatementKind::Lost => None,
    }
    .into_iter()
}

/// Makes the first expression that has an opposite that, from the outside in; whether there is one.
fn oppose(expression: &mut Expression) -> bool {
    match &mut expression.kind {
        ExpressionKind::Choose(_, one, other) => {
            std::mem::swap(one, other);
            true
        }
        ExpressionKind::Call(call) => {
            // What can be drawn is drawn no more, or is beyond.
            if let ("random", [bound]) = (call.name.text.as_str(), call.arguments.as_mut_slice()) {
                let bound = std::mem::replace(bound, Expression { kind: ExpressionKind::Lost, at: expression.at });
                *expression = bound;
                return true;
            }
            let opposite = match call.name.text.as_str() {
                "min" => "max",
                "max" => "min",
                _ => return call.arguments.iter_mut().any(oppose),
            };
            call.name.text = opposite.to_owned();
            true
        }
        ExpressionKind::Binary(operator, left, right) => {
            let opposites = [
                (BinaryOperator::BitAnd, BinaryOperator::BitOr),
                (BinaryOperator::ShiftLeft, BinaryOperator::ShiftRight),
                (BinaryOperator::Equal, BinaryOperator::NotEqual),
            ];
            for (one, other) in opposites {
                if *operator == one || *operator == other {
                    *operator = if *operator == one { other } else { one };
                    return true;
                }
            }
            oppose(left) || oppose(right)
        }
        ExpressionKind::Complement(operand) => oppose(operand),
        ExpressionKind::Unary(_, operand) | ExpressionKind::Convert(_, operand) => oppose(operand),
        ExpressionKind::Int(_)
        | ExpressionKind::Duration(_)
        | ExpressionKind::Now
        | ExpressionKind::Float(_)
        | ExpressionKind::Bool(_)
        | ExpressionKind::Place(_)
        | ExpressionKind::Size(_)
        | ExpressionKind::In(..)
        | ExpressionKind::Is(..)
        | ExpressionKind::Verbatim { .. }
        | ExpressionKind::Lost => false,
    }
}

/// What is done in handlers, then in functions.
fn bodies(tree: &mut Scheduler) -> impl Iterator<Item = &mut Block> {
    let handlers = tree.handlers.iter_mut().map(|handler| &mut handler.body);
    handlers.chain(tree.functions.iter_mut().map(|function| &mut function.body))
}

/// How many statements there are.
fn count(tree: &Scheduler) -> usize {
    let mut tree = tree.clone();
    let mut sites = 0;
    for body in bodies(&mut tree) {
        visit(body, &mut |_, _| {
            sites += 1;
            true
        });
    }
    sites
}

/// Changes the statement of a number: `change` is given the block that it is in, and its place there.
fn at(tree: &mut Scheduler, site: usize, change: &mut dyn FnMut(&mut Vec<Statement>, usize)) {
    let mut number = 0;
    for body in bodies(tree) {
        let go_on = visit(body, &mut |statements, index| {
            number += 1;
            if number <= site {
                return true;
            }
            change(statements, index);
            false
        });
        if !go_on {
            return;
        }
    }
}

/// Visits the statements of a block until the visitor has enough.
fn visit(block: &mut Block, visitor: &mut dyn FnMut(&mut Vec<Statement>, usize) -> bool) -> bool {
    for index in 0..block.statements.len() {
        if !visitor(&mut block.statements, index) {
            return false;
        }
        let go_on = match &mut block.statements[index].kind {
            StatementKind::If { then, otherwise, .. } => visit(then, visitor) && visit(otherwise, visitor),
            StatementKind::Foreach { body, .. }
            | StatementKind::Follow { body, .. }
            | StatementKind::Loop { body, .. }
            | StatementKind::Block(body) => visit(body, visitor),
            StatementKind::Declare(_)
            | StatementKind::DeclareCursor(_)
            | StatementKind::Transfer { .. }
            | StatementKind::Destroy(_)
            | StatementKind::Dispatch(_)
            | StatementKind::Call(_)
            | StatementKind::Assign { .. }
            | StatementKind::Return(_)
            | StatementKind::Leave(_)
            | StatementKind::Fail(_)
            | StatementKind::Verbatim { .. }
            | StatementKind::Lost => true,
        };
        if !go_on {
            return false;
        }
    }
    true
}

impl Mutation {
    /// What sort of change it is, for the table.
    pub fn sort(&self) -> &'static str {
        match self {
            Mutation::Drop(_) => "drop a statement",
            Mutation::Duplicate(_) => "duplicate a transfer",
            Mutation::Swap(_) => "swap two statements",
            Mutation::Reverse(_) => "reverse a transfer",
            Mutation::Redirect(..) => "redirect a transfer",
            Mutation::TakeFrom(..) => "take from elsewhere",
            Mutation::NextElement(_) | Mutation::FromNextElement(_) | Mutation::SwapIndices(_) => "wrong element",
            Mutation::Negate(_) => "negate a condition",
            Mutation::Oppose(_) => "oppose an expression",
            Mutation::DropHandler(_) => "drop a handler",
            Mutation::WrongClass(..) => "wrong class",
            Mutation::WrongKey(..) | Mutation::ReverseKey(..) | Mutation::Unsorted(_) => "wrong key",
        }
    }

    /// Where it is and what it does.
    pub fn describe(&self, tree: &Scheduler) -> String {
        let container = |index: usize| tree.containers.get(index).map_or("?", |container| container.name.text.as_str());
        let line = |site: usize| {
            let mut line = 0;
            at(&mut tree.clone(), site, &mut |statements, index| line = statements[index].at.line);
            line
        };
        let sort = self.sort();
        match self {
            Mutation::Drop(site)
            | Mutation::Duplicate(site)
            | Mutation::Swap(site)
            | Mutation::Reverse(site)
            | Mutation::NextElement(site)
            | Mutation::FromNextElement(site)
            | Mutation::SwapIndices(site)
            | Mutation::Negate(site)
            | Mutation::Oppose(site) => format!("{sort} (line {})", line(*site)),
            Mutation::Redirect(site, to) => format!("{sort} to `{to}` (line {})", line(*site)),
            Mutation::TakeFrom(site, from) => format!("{sort}, `{from}` (line {})", line(*site)),
            Mutation::DropHandler(index) => match tree.handlers.get(*index) {
                Some(handler) => {
                    let kind = if handler.kind == HandlerKind::Event { "event" } else { "query" };
                    format!("drop the {kind} handler `{}`", handler.written())
                }
                None => sort.to_owned(),
            },
            Mutation::WrongClass(index, class) => format!("`{}` is {}", container(*index), class.word()),
            Mutation::WrongKey(index, _, attribute) => format!("`{}` is sorted on `{attribute}`", container(*index)),
            Mutation::ReverseKey(index, _) => format!("`{}` is sorted the other way", container(*index)),
            Mutation::Unsorted(index) => format!("`{}` is not sorted", container(*index)),
        }
    }
}
