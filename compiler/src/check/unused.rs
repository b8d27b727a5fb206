//! What a policy declares and never uses: the author forgot to use it, or no longer needs it.
//!
//! Only names are compared. Declarations in handlers hide nothing, so a name means the same wherever it occurs. A name
//! in verbatim text of any language is used there. A name that starts with `_` is left alone. Containers and functions
//! are checked where their uses are known anyway (`classes.rs`, `functions.rs`).

use std::collections::BTreeSet;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::syntax::ast::{
    Alternative, Block, Call, Expression, ExpressionKind, FileKind, Name, Place, Reference, Scheduler, Statement,
    StatementKind, Variable,
};
use crate::syntax::raw::{self, Part};

/// Warns of constants, variables, attributes, timers and imports that a policy without errors declares in vain.
pub fn unused(tree: &Scheduler, diagnostics: &mut Diagnostics) {
    let mut uses = Uses::new(diagnostics);
    uses.scheduler(tree);
    let Uses { names, members, calls, .. } = uses;
    for one in &tree.uses {
        if !one.functions.iter().any(|function| calls.contains(function.as_str())) {
            let title = format!("no function of `{}` is called", one.path.text);
            diagnostics.push(Diagnostic::warning("E0328", title, one.path.at, "").help("remove this `use`"));
        }
    }
    // One used name keeps all of its enumeration.
    let is_used = |name: &Name| names.read.contains(name.text.as_str()) || is_meant(&name.text);
    for all in tree.enumerations.iter().filter(|all| !all.iter().any(is_used)) {
        report_enumeration(all, diagnostics);
    }
    let enumerated = |name: &Name| tree.enumerations.iter().any(|all| all.contains(name));
    for constant in tree.constants.iter().filter(|constant| !enumerated(&constant.name)) {
        names.judge("constant", &constant.name, diagnostics);
    }
    for variable in tree.variables.iter().chain(&tree.globals) {
        names.judge("variable", &variable.name, diagnostics);
    }
    for attribute in &tree.attributes {
        members.judge("attribute", &attribute.name, diagnostics);
    }
    for property in &tree.properties {
        members.judge("property", &property.name, diagnostics);
    }
    for link in &tree.links {
        members.judge("threadref", link, diagnostics);
    }
    for timer in tree.timers.iter().filter(|timer| !members.assigned.contains(timer.name.text.as_str())) {
        report(&timer.name, format!("the timer `{}` is never armed", timer.name.text), true, diagnostics);
    }
    let imports = tree.imports.iter().map(|import| (import, &names));
    for (import, occurrences) in imports.chain(tree.thread_imports.iter().map(|import| (import, &members))) {
        let name = import.name.text.as_str();
        // An assigned import is for the application to read.
        if !occurrences.read.contains(name) && !occurrences.assigned.contains(name) {
            report(&import.name, format!("the import `{name}` is never used"), false, diagnostics);
        }
    }
}

/// Warns of constants that none of the values outside policies use.
pub(crate) fn unused_constants<'a>(
    constants: &'a [Variable],
    values: impl Iterator<Item = &'a Expression>,
    diagnostics: &mut Diagnostics,
) {
    let mut uses = Uses::new(diagnostics);
    let initial = constants.iter().filter_map(|constant| constant.initial.as_ref());
    initial.chain(values).for_each(|value| uses.expression(value));
    let names = uses.names;
    for constant in constants {
        names.judge("constant", &constant.name, diagnostics);
    }
}

/// Whether the author says that a name is not used.
pub(super) fn is_meant(name: &str) -> bool {
    name.starts_with('_')
}

/// What to do about a name that is not used.
pub(super) fn advice(name: &str) -> String {
    format!("remove it, or call it `_{name}` to keep it")
}

fn report(name: &Name, title: String, renamed: bool, diagnostics: &mut Diagnostics) {
    if !is_meant(&name.text) {
        let help = if renamed { advice(&name.text) } else { "remove it".to_owned() };
        diagnostics.push(Diagnostic::warning("E0328", title, name.at, "").help(help));
    }
}

fn report_enumeration(names: &[Name], diagnostics: &mut Diagnostics) {
    if let [first, .., last] = names {
        let title = format!("the constants of `{}` to `{}` are never used", first.text, last.text);
        diagnostics.push(Diagnostic::warning("E0328", title, first.at.to(last.at), "").help("remove the `enum`"));
    } else if let [only] = names {
        report(only, format!("the constant `{}` is never used", only.text), true, diagnostics);
    }
}

/// Names that occur and are not declared in a handler.
#[derive(Default)]
struct Occurrences<'a> {
    read: BTreeSet<&'a str>,
    assigned: BTreeSet<&'a str>,
}

impl Occurrences<'_> {
    fn judge(&self, what: &str, name: &Name, diagnostics: &mut Diagnostics) {
        if self.read.contains(name.text.as_str()) {
            return;
        }
        let fate = if self.assigned.contains(name.text.as_str()) { "assigned, but never read" } else { "never used" };
        report(name, format!("the {what} `{}` is {fate}", name.text), true, diagnostics);
    }
}

/// A variable of a handler, or a parameter of a function.
struct Local<'a> {
    what: &'static str,
    name: &'a Name,
    read: bool,
    assigned: bool,
}

struct Uses<'a, 'd> {
    diagnostics: &'d mut Diagnostics,
    /// Names on their own.
    names: Occurrences<'a>,
    /// Names after a thread and a dot.
    members: Occurrences<'a>,
    /// Functions that are called.
    calls: BTreeSet<&'a str>,
    /// Those in scope, the innermost last.
    locals: Vec<Local<'a>>,
}

impl<'a, 'd> Uses<'a, 'd> {
    fn new(diagnostics: &'d mut Diagnostics) -> Self {
        let (names, members) = (Occurrences::default(), Occurrences::default());
        Uses { diagnostics, names, members, calls: BTreeSet::new(), locals: Vec::new() }
    }

    fn scheduler(&mut self, tree: &'a Scheduler) {
        let sections =
            [&tree.constants, &tree.variables, &tree.globals, &tree.attributes, &tree.imports, &tree.thread_imports];
        for variable in sections.into_iter().flatten() {
            self.initial(variable);
        }
        for container in &tree.nodes {
            container.length.iter().for_each(|length| self.expression(length));
            self.members.read.extend(container.keys.iter().map(|key| key.attribute.text.as_str()));
        }
        for container in &tree.containers {
            container.length.iter().for_each(|length| self.expression(length));
            self.members.read.extend(container.keys.iter().map(|key| key.attribute.text.as_str()));
        }
        // A policy answers for its own functions, a file of functions for those in it.
        for function in tree.functions.iter().filter(|function| function.shared == (tree.kind == FileKind::Functions)) {
            let values = function.parameters.iter().filter(|parameter| parameter.ty.is_some());
            self.locals.extend(values.map(|parameter| Local::new("parameter", &parameter.name)));
            self.block(&function.body);
            self.close(0);
        }
        for handler in &tree.handlers {
            self.block(&handler.body);
        }
    }

    /// Removes the variables from this one on, and reports those that were not used.
    fn close(&mut self, from: usize) {
        for local in self.locals.drain(from..).filter(|local| !local.read) {
            let fate = if local.assigned { "assigned, but never read" } else { "never used" };
            let title = format!("the {} `{}` is {fate}", local.what, local.name.text);
            report(local.name, title, true, self.diagnostics);
        }
    }

    fn block(&mut self, block: &'a Block) {
        let from = self.locals.len();
        block.statements.iter().for_each(|statement| self.statement(statement));
        self.close(from);
    }

    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Declare(variables) => {
                for variable in variables {
                    self.initial(variable);
                    self.locals.push(Local::new("variable", &variable.name));
                }
            }
            StatementKind::Transfer { source, destination } => {
                self.reference(source);
                self.reference(destination);
            }
            StatementKind::Destroy(thread) | StatementKind::Dispatch(thread) => self.reference(thread),
            StatementKind::Assign { place, value, .. } => {
                self.expression(value);
                self.place(place, true);
            }
            StatementKind::If { condition, then, otherwise } => {
                self.expression(condition);
                self.block(then);
                self.block(otherwise);
            }
            StatementKind::Foreach { container, body, .. } => {
                self.reference(container);
                self.block(body);
            }
            StatementKind::Follow { thread, link, body, .. } => {
                self.reference(thread);
                self.member(&link.text, false);
                self.block(body);
            }
            StatementKind::Loop { start, condition, body, step, .. } => {
                let from = self.locals.len();
                start.iter().for_each(|start| self.statement(start));
                condition.iter().for_each(|condition| self.expression(condition));
                self.block(body);
                step.iter().for_each(|step| self.statement(step));
                self.close(from);
            }
            StatementKind::Return(value) => value.iter().for_each(|value| self.expression(value)),
            StatementKind::Call(call) => self.call(call),
            StatementKind::Verbatim { alternatives, otherwise } => {
                self.texts(alternatives);
                otherwise.iter().for_each(|otherwise| self.block(otherwise));
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Fail(reason) => reason.values.iter().for_each(|value| self.expression(value)),
            StatementKind::DeclareCursor(_) | StatementKind::Leave(_) | StatementKind::Lost => {}
        }
    }

    fn initial(&mut self, variable: &'a Variable) {
        if let Some(array) = &variable.array {
            self.expression(&array.length);
            array.list.iter().flat_map(|(list, _)| list).for_each(|element| self.expression(element));
        }
        variable.initial.iter().for_each(|initial| self.expression(initial));
    }

    fn expression(&mut self, expression: &'a Expression) {
        match &expression.kind {
            ExpressionKind::Place(place) => self.place(place, false),
            ExpressionKind::Size(container) => self.reference(container),
            ExpressionKind::In(thread, container) => {
                self.reference(thread);
                self.reference(container);
            }
            ExpressionKind::Is(node, _) => self.reference(node),
            ExpressionKind::Call(call) => self.call(call),
            ExpressionKind::Verbatim { alternatives, otherwise, .. } => {
                self.texts(alternatives);
                otherwise.iter().for_each(|otherwise| self.expression(otherwise));
            }
            ExpressionKind::Convert(_, operand)
            | ExpressionKind::Unary(_, operand)
            | ExpressionKind::Complement(operand) => self.expression(operand),
            ExpressionKind::Choose(condition, one, other) => {
                [condition, one, other].into_iter().for_each(|part| self.expression(part));
            }
            ExpressionKind::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Int(_)
            | ExpressionKind::Duration(_)
            | ExpressionKind::Now
            | ExpressionKind::Float(_)
            | ExpressionKind::Bool(_)
            | ExpressionKind::Lost => {}
        }
    }

    fn call(&mut self, call: &'a Call) {
        self.calls.insert(&call.name.text);
        call.arguments.iter().for_each(|argument| self.expression(argument));
    }

    fn reference(&mut self, reference: &'a Reference) {
        self.name(&reference.name.text, false);
        reference.index.iter().for_each(|index| self.expression(index));
    }

    fn place(&mut self, place: &'a Place, assigned: bool) {
        match place {
            Place::Name(name) => self.name(&name.text, assigned),
            Place::Member { thread, member } => {
                self.reference(thread);
                self.member(&member.text, assigned);
            }
            Place::Element { array, index, .. } => {
                self.place(array, assigned);
                self.expression(index);
            }
        }
    }

    fn name(&mut self, name: &'a str, assigned: bool) {
        match self.locals.iter_mut().rev().find(|local| local.name.text == name) {
            Some(local) if assigned => local.assigned = true,
            Some(local) => local.read = true,
            None => self.names.note(name, assigned),
        }
    }

    fn member(&mut self, name: &'a str, assigned: bool) {
        self.members.note(name, assigned);
    }

    /// It is unknown whether verbatim text reads or assigns a name, so it counts as both.
    fn texts(&mut self, alternatives: &'a [Alternative]) {
        for text in alternatives.iter().map(|alternative| alternative.text.as_str()) {
            for part in raw::parts(text) {
                if let Part::Name(name, member) = part {
                    let members = member.map(|member| &text[member]);
                    for assigned in [false, true] {
                        self.name(&text[name.clone()], assigned);
                        members.iter().for_each(|member| self.member(member, assigned));
                    }
                }
            }
        }
    }
}

impl<'a> Local<'a> {
    fn new(what: &'static str, name: &'a Name) -> Self {
        Local { what, name, read: false, assigned: false }
    }
}

impl<'a> Occurrences<'a> {
    fn note(&mut self, name: &'a str, assigned: bool) {
        if assigned {
            self.assigned.insert(name)
        } else {
            self.read.insert(name)
        };
    }
}
