//! Functions: calls are inlined, so that no later stage knows of functions.
//!
//! Inlined statements end only after the last one. So a `return` in the middle becomes an `else`: the statements after
//! `if (c) return 1;` move into the `else` part. That is possible unless a `return` stands in a loop.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::{Block, ContainerId, Expression, LocalId, Place, Policy, Statement, StatementKind, Thread};
use crate::syntax::ast;
use crate::syntax::parser::DEEPEST;
use crate::syntax::words::another_name;
use crate::vocabulary::{At, Entity, Type, Value};

use super::constants;
use super::expressions::{Builtin, Lowering, Reach, builtin};
use super::scope::Scope;
use super::shared;
use super::statements::{Body, Rights, at};
use super::symbols::{Symbol, Symbols, Wanted};
use super::unused::{advice, is_meant};

/// How many calls are inlined in one handler, those in functions included: a function doubles what it calls twice.
const MOST_CALLS: usize = 200;
/// How many statements these calls expand to.
const MOST_STATEMENTS: usize = 10_000;
/// How many `return`s a function has. Each can nest the statements after it one level deeper.
const MOST_RETURNS: usize = 50;

/// The functions of a policy.
pub(super) struct Functions<'a> {
    list: &'a [ast::Function],
    /// What those of other files know.
    shared: Symbols<'a>,
    /// Whether each function is called, by index.
    called: Vec<Cell<bool>>,
}

/// The calls of one handler.
pub(super) struct Calls<'c> {
    functions: &'c Functions<'c>,
    /// The index of the function that is being inlined, in [`Functions::list`].
    pub(super) within: Option<usize>,
    count: usize,
    statements: usize,
    /// For the function that is being inlined: the call in the handler, and the number of loops around it.
    pub(super) from: Option<(At, usize)>,
    /// The threadrefs passed for threads to the functions that are being inlined.
    pub(super) held: Vec<Held>,
    /// How deep blocks are nested, a function's blocks within its caller's.
    pub(super) depth: usize,
}

/// A threadref that was passed to a function. The parameter names the thread in it.
pub(super) struct Held {
    pub(super) slot: ContainerId,
    pub(super) parameter: String,
    /// The argument.
    pub(super) at: At,
}

/// Who receives the value of a call.
#[derive(Clone)]
pub(super) enum Answer {
    /// The call is a statement.
    Nobody,
    /// It is assigned.
    Place(Place),
    /// The caller returns it.
    Caller,
}

/// A call whose arguments have been resolved.
pub(super) struct Prepared {
    function: usize,
    arguments: Vec<Argument>,
    at: At,
}

enum Argument {
    /// With its place.
    Thread(Thread, At),
    Value(Expression, At),
}

/// Enters the names of functions.
pub(super) fn declare<'a>(list: &'a [ast::Function], symbols: &mut Symbols<'a>, diagnostics: &mut Diagnostics) {
    for (index, function) in list.iter().enumerate() {
        symbols.declare(&function.name, Symbol::Function(index), diagnostics);
        if builtin(&function.name.text).is_some() {
            let title = format!("`{}` is a function of the language", function.name.text);
            let diagnostic = Diagnostic::error("E0302", title, function.name.at, "declared twice");
            diagnostics.push(diagnostic.help("choose another name"));
        }
        if function.shared {
            shared::judge(function, diagnostics);
        }
    }
}

impl<'a> Functions<'a> {
    pub(super) fn of(tree: &'a ast::Scheduler, framework: &'a Framework) -> Self {
        let list = &tree.functions;
        let shared = Symbols::shared(framework, &tree.lost, list);
        Functions { list, shared, called: vec![Cell::new(false); list.len()] }
    }

    /// Checks functions that no handler calls, for the errors in them.
    pub(super) fn check_uncalled(&self, symbols: &Symbols<'_>, policy: &Policy, diagnostics: &mut Diagnostics) {
        // The last one first, because it calls those before it.
        for (index, function) in self.list.iter().enumerate().rev() {
            if self.called[index].get() {
                continue;
            }
            let name = &function.name.text;
            let title = format!("the function `{name}` is never called");
            // After an error, a call may have been refused before it was counted.
            if !diagnostics.has_errors() && !is_meant(name) && !function.shared {
                diagnostics.push(Diagnostic::warning("E0323", title, function.name.at, "").help(advice(name)));
            }
            // Only a call shows whether its parameters are threads or nodes.
            if policy.has_nodes() && function.parameters.iter().any(|parameter| parameter.ty.is_none()) {
                continue;
            }
            let rights = Rights { no_dispatch: None, dispatching: Vec::new(), no_fail: None, returns: None };
            let mut scope = Scope::default();
            let mut arguments = Vec::new();
            for parameter in &function.parameters {
                arguments.push(match parameter.ty {
                    None => {
                        let thread = scope.declare_thread(&parameter.name, Entity::Thread, symbols, diagnostics);
                        Argument::Thread(Thread::Local(thread), parameter.name.at)
                    }
                    Some(ty) => Argument::Value(Expression::Literal(Value::zero(ty)), parameter.name.at),
                });
            }
            let (scope, called, reach) = (&mut scope, BTreeMap::new(), Reach::Everything);
            let lowering = Lowering { policy, symbols, scope, called, reach, arriving: None, diagnostics };
            let mut body = Body { lowering, rights: &rights, loops: Vec::new(), turns: 0, calls: Calls::new(self) };
            let prepared = Prepared { function: index, arguments, at: function.at };
            body.inline(prepared, Answer::Nobody, &mut Block::new());
        }
    }
}

impl<'c> Calls<'c> {
    pub(super) fn new(functions: &'c Functions<'c>) -> Self {
        Calls { functions, within: None, from: None, count: 0, statements: 0, held: Vec::new(), depth: 0 }
    }
}

impl Body<'_, '_, '_> {
    /// The type of the value that a `return` has here.
    pub(super) fn returns(&self) -> Option<Type> {
        match self.calls.within {
            Some(function) => self.calls.functions.list.get(function).and_then(|function| function.returns),
            None => self.rights.returns,
        }
    }

    /// Inlines the calls in an expression, from left to right, before the statement that contains it. Calls that not
    /// every evaluation makes are left: [`Lowering::expression`] refuses them.
    pub(super) fn make_calls(&mut self, expression: &ast::Expression, block: &mut Block) {
        use ast::ExpressionKind::{Binary, Call, Complement, Convert, Unary};
        if let Unary(_, operand) | Convert(_, operand) | Complement(operand) = &expression.kind {
            self.make_calls(operand, block);
        } else if let Binary(operator, left, right) = &expression.kind {
            self.make_calls(left, block);
            if operator.goes_on_if().is_none() {
                self.make_calls(right, block);
            }
        } else if let ast::ExpressionKind::Choose(condition, ..) = &expression.kind {
            self.make_calls(condition, block);
        } else if let ast::ExpressionKind::Place(place) = &expression.kind {
            self.make_calls_in(place, block);
        } else if let ast::ExpressionKind::Size(named) | ast::ExpressionKind::Is(named, _) = &expression.kind {
            self.make_calls_of(named, block);
        } else if let ast::ExpressionKind::In(thread, container) = &expression.kind {
            self.make_calls_of(thread, block);
            self.make_calls_of(container, block);
        } else if let Call(call) = &expression.kind
            && builtin(&call.name.text) == Some(Builtin::Random)
        {
            let drawn = self.draw(call, expression.at, block);
            self.lowering.called.insert(expression.at.start, drawn.map(|local| (local, Type::Int)));
        } else if let Call(call) = &expression.kind
            && builtin(&call.name.text).is_some()
        {
            // It is not inlined, but its arguments may contain calls.
            call.arguments.iter().for_each(|argument| self.make_calls(argument, block));
        } else if let Call(call) = &expression.kind {
            let found = self.lowering.symbols.find(&call.name.text);
            let ty = match found {
                Some((Symbol::Function(index), _)) => self.calls.functions.list.get(index).and_then(|it| it.returns),
                Some(_) | None => None,
            };
            let Some(prepared) = self.prepared(call, Some(ty.unwrap_or(Type::Int)), expression.at, block) else {
                self.lowering.called.insert(expression.at.start, None);
                return;
            };
            let ty = ty.unwrap_or(Type::Int);
            let local = self.lowering.scope.unnamed_value(&call.name, ty);
            self.inline(prepared, Answer::Place(Place::Local(local)), block);
            self.lowering.called.insert(expression.at.start, Some((local, ty)));
        }
    }

    /// `random(n)`: each draw is made once, in order.
    fn draw(&mut self, call: &ast::Call, place: At, block: &mut Block) -> Option<LocalId> {
        let [below] = call.arguments.as_slice() else {
            let title = format!("`random` takes one value, not {}", call.arguments.len());
            let diagnostic = Diagnostic::error("E0324", title, place, "");
            self.lowering.diagnostics.push(diagnostic.help("write `random(n)`: a number from 0 to `n - 1`"));
            return None;
        };
        self.make_calls(below, block);
        let bound = self.lowering.of_type(below, Type::Int)?;
        let (bits, known) = (self.lowering.policy.int_bits, &self.lowering.policy.constants);
        if let Some(Value::Int(number)) = constants::known(&bound, bits, known)
            && number < 1
        {
            let title = format!("there is no number from 0 to below {number}");
            let diagnostic = Diagnostic::error("E0311", title, below.at, "nothing to draw");
            self.lowering.diagnostics.push(diagnostic.help("write `random(n)` with an `n` above 0"));
            return None;
        }
        let local = self.lowering.scope.unnamed_value(&call.name, Type::Int);
        let value = Expression::Random(Box::new(bound));
        block.push(at(place, StatementKind::Set { place: Place::Local(local), value }));
        Some(local)
    }

    /// The value to assign. If it was drawn just before, the draw itself replaces the variable.
    pub(super) fn drawn(&mut self, value: Expression, block: &mut Block) -> Expression {
        if let Expression::Read(place @ Place::Local(local)) = &value
            && let Some(StatementKind::Set { place: assigned, value: Expression::Random(_) }) =
                block.last().map(|statement| &statement.kind)
            && assigned == place
            && self.lowering.scope.forget_last(*local)
            && let Some(StatementKind::Set { value, .. }) = block.pop().map(|statement| statement.kind)
        {
            return value;
        }
        value
    }

    /// As `make_calls`, for the index of a place.
    pub(super) fn make_calls_in(&mut self, place: &ast::Place, block: &mut Block) {
        match place {
            ast::Place::Name(_) => {}
            ast::Place::Member { thread, .. } => self.make_calls_of(thread, block),
            ast::Place::Element { array, index, .. } => {
                self.make_calls_in(array, block);
                self.make_calls(index, block);
            }
        }
    }

    /// As `make_calls`, for the index of a container.
    pub(super) fn make_calls_of(&mut self, reference: &ast::Reference, block: &mut Block) {
        if let Some(index) = &reference.index {
            self.make_calls(index, block);
        }
    }

    /// Resolves the function and the arguments of a call. `wanted` is the type of the value that is needed.
    pub(super) fn prepared(
        &mut self,
        call: &ast::Call,
        wanted: Option<Type>,
        at: At,
        block: &mut Block,
    ) -> Option<Prepared> {
        let name = &call.name;
        if builtin(&name.text).is_some() {
            let (title, help) = match name.text.as_str() {
                "empty" => {
                    ("`empty(c)` is a condition, not a statement".to_owned(), "write `if (empty(c))`".to_owned())
                }
                word => (format!("`{word}` gives a value and is no statement"), format!("assign it: `x = {word}(…)`")),
            };
            self.lowering.diagnostics.push(Diagnostic::error("E0324", title, at, "changes nothing").help(help));
            return None;
        }
        let (found, declared) = match self.lowering.symbols.find(&name.text) {
            Some((Symbol::Function(index), declared)) => (index, declared),
            Some((
                symbol @ (Symbol::Constant(_)
                | Symbol::Variable(_)
                | Symbol::Import(_)
                | Symbol::Container(_)
                | Symbol::Family(_)),
                declared,
            )) => {
                let title = format!("`{}` is {}, not a function", name.text, symbol.described());
                let diagnostic = Diagnostic::error("E0309", title, name.at, "cannot be called");
                self.lowering.diagnostics.push(diagnostic.related(declared, "declared here"));
                return None;
            }
            None => {
                let fits = |symbol| matches!(symbol, Symbol::Function(_));
                self.lowering.symbols.unknown(name, Wanted::Function, None, fits, self.lowering.diagnostics);
                return None;
            }
        };
        let functions = self.calls.functions;
        let function = functions.list.get(found)?;
        functions.called[found].set(true);
        if self.calls.within.is_some_and(|within| found >= within) {
            let title = format!("`{}` is called before the end of its declaration", name.text);
            self.lowering.diagnostics.push(
                Diagnostic::error("E0324", title, name.at, "not declared yet")
                    .related(declared, "declared here")
                    .note("a function calls only those declared before it, so that none calls itself")
                    .help("declare it earlier, or write a loop"),
            );
            return None;
        }
        if function.parameters.len() != call.arguments.len() {
            let (has, given) = (function.parameters.len(), call.arguments.len());
            let parameters = if has == 1 { "parameter" } else { "parameters" };
            let title = format!("`{}` has {has} {parameters}, this call gives it {given}", name.text);
            let diagnostic = Diagnostic::error("E0306", title, at, "").related(function.at, "declared here");
            self.lowering.diagnostics.push(diagnostic);
            return None;
        }
        if wanted.is_some() && wanted != function.returns {
            let (wanted, gives) = (wanted.map_or("", Type::word), function.returns.map(Type::word));
            let found = gives.map_or("none".to_owned(), |gives| format!("one of type `{gives}`"));
            let title = format!("expected a value of type `{wanted}`, found {found}");
            let diagnostic = Diagnostic::error("E0303", title, at, "").related(function.at, "declared here");
            self.lowering.diagnostics.push(diagnostic.help("write the type of a function's value before its name"));
            return None;
        }
        let pairs = function.parameters.iter().zip(&call.arguments);
        let arguments: Vec<Option<Argument>> =
            pairs.map(|(parameter, argument)| self.argument(parameter, argument, block)).collect();
        let arguments = arguments.into_iter().collect::<Option<Vec<Argument>>>()?;
        Some(Prepared { function: found, arguments, at })
    }

    fn argument(
        &mut self,
        parameter: &ast::Parameter,
        argument: &ast::Expression,
        block: &mut Block,
    ) -> Option<Argument> {
        if let Some(ty) = parameter.ty {
            self.make_calls(argument, block);
            return Some(Argument::Value(self.lowering.of_type(argument, ty)?, argument.at));
        }
        if let ast::ExpressionKind::Place(place) = &argument.kind
            && let Some(reference) = reference(place, argument.at)
        {
            // `thread` reports what is wrong with it.
            return self.lowering.thread(&reference).map(|thread| Argument::Thread(thread, argument.at));
        }
        let title = format!("`{}` is a thread", parameter.name.text);
        let diagnostic = Diagnostic::error("E0309", title, argument.at, "expected a thread")
            .related(parameter.name.at, "declared without a type");
        self.lowering.diagnostics.push(match self.lowering.written_link(argument) {
            Some((thread, link)) => {
                let (link, name) = (format!("{}.{}", thread.name.text, link.text), another_name(&thread.name.text));
                let visit = format!("give it `{name}` in `foreach {name} in {link} {{ … }}`");
                diagnostic.note(format!("`{link}` may name no thread")).help(visit)
            }
            None => diagnostic
                .help("give it a parameter of the handler, the thread that a `foreach` visits, or a threadref"),
        });
        None
    }

    /// Inlines a function at its call.
    pub(super) fn inline(&mut self, call: Prepared, answer: Answer, block: &mut Block) {
        let Some(function) = self.calls.functions.list.get(call.function) else { return };
        self.calls.count += 1;
        if self.calls.count > MOST_CALLS {
            let title = format!("a handler makes at most {MOST_CALLS} calls, including those in functions");
            if self.calls.count == MOST_CALLS + 1 {
                self.too_much(title, call.at);
            }
            return;
        }
        let before = self.lowering.diagnostics.errors();
        let known = self.lowering.symbols;
        if function.shared {
            self.lowering.symbols = &self.calls.functions.shared;
        }
        let hidden = self.lowering.scope.leave();
        let held = self.calls.held.len();
        self.lowering.scope.open();
        for (parameter, argument) in function.parameters.iter().zip(call.arguments) {
            let Lowering { scope, symbols, diagnostics, .. } = &mut self.lowering;
            match argument {
                Argument::Thread(thread, place) => {
                    if let Some(slot) = thread.held_by() {
                        let parameter = parameter.name.text.clone();
                        self.calls.held.push(Held { slot, parameter, at: place });
                    }
                    scope.rename_thread(&parameter.name, thread, symbols, diagnostics);
                }
                Argument::Value(value, place) => {
                    let ty = parameter.ty.unwrap_or(Type::Int);
                    let local = Place::Local(scope.declare_value(&parameter.name, ty, symbols, diagnostics));
                    block.push(at(place, StatementKind::Set { place: local, value }));
                }
            }
        }
        let within = self.calls.within.replace(call.function);
        let from = self.calls.from;
        self.calls.from = from.or(Some((call.at, self.loops.len())));
        let turns = std::mem::take(&mut self.turns);
        let body = self.block(&function.body);
        self.turns = turns;
        self.calls.from = from;
        self.calls.within = within;
        self.calls.held.truncate(held);
        self.lowering.scope.close();
        self.lowering.scope.come_back(hidden);
        self.lowering.symbols = known;
        if self.lowering.diagnostics.errors() > before {
            return;
        }
        if function.returns.is_some() && !always_ends(&body) {
            if self.lowering.symbols.are_some_lost() {
                return; // perhaps a `return`, too
            }
            let title = format!("the function `{}` can end without a value", function.name.text);
            let diagnostic = Diagnostic::error("E0324", title, function.at, "no value on some path");
            self.lowering.diagnostics.push(diagnostic.help("end every path with `return` and a value"));
            return;
        }
        if count(&body, &|statement| matches!(statement.kind, StatementKind::Return { .. })) > MOST_RETURNS {
            self.too_much(format!("a function returns at most {MOST_RETURNS} times"), function.at);
            return;
        }
        let mut body = shape(body, &answer, self.lowering.diagnostics);
        called_at(&mut body, call.at);
        self.calls.statements += count(&body, &|_| true);
        if self.calls.statements > MOST_STATEMENTS {
            let title = format!("the calls of a handler expand to at most {MOST_STATEMENTS} statements");
            self.too_much(title, call.at);
        } else if depth(&body) > DEEPEST {
            let title = format!(
                "with the functions that it calls, `{}` is nested more than {DEEPEST} levels deep",
                function.name.text
            );
            self.too_much(title, function.at);
        } else {
            block.extend(body);
        }
    }

    fn too_much(&mut self, title: String, place: At) {
        self.lowering
            .diagnostics
            .push(Diagnostic::error("E0322", title, place, "").help("call fewer functions, or write shorter ones"));
    }
}

/// Records the call that these statements are inlined for. The outermost call is recorded last, and so remains.
fn called_at(block: &mut Block, call: At) {
    for statement in block {
        statement.called = Some(call);
        for inner in statement.blocks_mut() {
            called_at(inner, call);
        }
    }
}

/// A place that may name a thread: `t`, `slots[1]`.
fn reference(place: &ast::Place, at: At) -> Option<ast::Reference> {
    match place {
        ast::Place::Name(name) => Some(name.clone().into()),
        ast::Place::Element { array, index, .. } => match &**array {
            ast::Place::Name(name) => Some(ast::Reference { name: name.clone(), index: Some(index.clone()), at }),
            ast::Place::Member { .. } | ast::Place::Element { .. } => None,
        },
        ast::Place::Member { .. } => None,
    }
}

/// The statements of a function without its `return`s.
fn shape(body: Block, answer: &Answer, diagnostics: &mut Diagnostics) -> Block {
    let mut shaped = Block::new();
    let mut rest = body.into_iter();
    while let Some(statement) = rest.next() {
        match statement.kind {
            StatementKind::Return { value } => {
                shaped.extend(answered(answer, value, statement.at));
                if let Some(after) = rest.next() {
                    let title = "this is never reached after `return`";
                    let diagnostic = Diagnostic::error("E0407", title, after.at, "never reached");
                    diagnostics.push(diagnostic.related(statement.at, "the function has ended here"));
                }
                return shaped;
            }
            StatementKind::If { condition, mut then, mut otherwise } if returns(&then) || returns(&otherwise) => {
                let after = rest.collect::<Block>();
                if always_ends(&then) {
                    otherwise.extend(after);
                } else if always_ends(&otherwise) {
                    then.extend(after);
                } else if let Some(next) = after.first() {
                    diagnostics.push(
                        Diagnostic::error("E0324", "some paths return here, and some go on", statement.at, "")
                            .related(next.at, "they go on here")
                            .help("let all paths of one branch return, or write what follows into the branches"),
                    );
                }
                let (then, otherwise) = (shape(then, answer, diagnostics), shape(otherwise, answer, diagnostics));
                shaped.push(at(statement.at, StatementKind::If { condition, then, otherwise }));
                return shaped;
            }
            kind @ (StatementKind::Set { .. }
            | StatementKind::Link { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. }) => {
                let statement = at(statement.at, kind);
                if let Some(inner) = first_return(std::slice::from_ref(&statement)) {
                    diagnostics.push(
                        Diagnostic::error("E0324", "a function cannot return out of a loop", inner, "within a loop")
                            .related(statement.at, "the loop")
                            .help("keep the value in a variable, and return it after the loop"),
                    );
                }
                shaped.push(statement);
            }
        }
    }
    shaped
}

fn answered(answer: &Answer, value: Option<Expression>, place: At) -> Option<Statement> {
    match (answer, value) {
        (Answer::Caller, value) => Some(at(place, StatementKind::Return { value })),
        (Answer::Place(target), Some(value)) => Some(at(place, StatementKind::Set { place: target.clone(), value })),
        (Answer::Place(_), None) | (Answer::Nobody, _) => None,
    }
}

/// Whether control never reaches the end of a block.
fn always_ends(block: &[Statement]) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StatementKind::Return { .. } | StatementKind::Dispatch { .. } | StatementKind::Fail { .. } => true,
        StatementKind::If { then, otherwise, .. } => always_ends(then) && always_ends(otherwise),
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Foreach { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Loop { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Verbatim { .. } => false,
    })
}

/// How many statements, at any depth, satisfy `such`.
fn count(block: &[Statement], such: &impl Fn(&Statement) -> bool) -> usize {
    block
        .iter()
        .map(|statement| {
            let [first, second] = inner(statement);
            usize::from(such(statement)) + count(first, such) + count(second, such)
        })
        .sum()
}

/// How many levels of blocks there are.
fn depth(block: &[Statement]) -> usize {
    let deeper = block.iter().map(|statement| inner(statement).into_iter().map(depth).max().unwrap_or(0));
    if block.is_empty() { 0 } else { 1 + deeper.max().unwrap_or(0) }
}

fn inner(statement: &Statement) -> [&[Statement]; 2] {
    match &statement.kind {
        StatementKind::If { then, otherwise, .. } => [then, otherwise],
        StatementKind::Foreach { body, .. } | StatementKind::Follow { body, .. } => [body, &[]],
        StatementKind::Loop { body, step, .. } => [body, step],
        StatementKind::Verbatim { otherwise: Some(otherwise), .. } => [otherwise, &[]],
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Return { .. }
        | StatementKind::Verbatim { otherwise: None, .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => [&[], &[]],
    }
}

fn returns(block: &[Statement]) -> bool {
    first_return(block).is_some()
}

/// Where the first `return` in a block is, at any depth.
fn first_return(block: &[Statement]) -> Option<At> {
    block.iter().find_map(|statement| match &statement.kind {
        StatementKind::Return { .. } => Some(statement.at),
        StatementKind::If { then, otherwise, .. } => first_return(then).or_else(|| first_return(otherwise)),
        StatementKind::Foreach { body, .. } | StatementKind::Follow { body, .. } | StatementKind::Loop { body, .. } => {
            first_return(body)
        }
        StatementKind::Set { .. }
        | StatementKind::Link { .. }
        | StatementKind::Transfer { .. }
        | StatementKind::Send { .. }
        | StatementKind::Destroy { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Verbatim { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Fail { .. } => None,
    })
}
