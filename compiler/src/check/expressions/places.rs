//! What expressions and statements name: variables, elements of arrays, threads and containers.

use super::*;
use crate::syntax::words::another_name;

impl Lowering<'_, '_> {
    pub(in crate::check) fn read(&mut self, place: &ast::Place) -> Option<(Expression, Type)> {
        let (name, index) = match place {
            ast::Place::Name(name) => (Some(name), None),
            ast::Place::Element { array, index, .. } => match &**array {
                ast::Place::Name(name) => (Some(name), Some(&**index)),
                ast::Place::Member { .. } | ast::Place::Element { .. } => (None, None),
            },
            ast::Place::Member { .. } => (None, None),
        };
        if let Some(name) = name
            && self.scope.find(&name.text).is_none()
            && let Some((Symbol::Constant(first), declared)) = self.symbols.find(&name.text)
        {
            let constant = self.policy.constants.get(first.0)?;
            let (ty, element) = (constant.value.ty(), constant.element);
            let expression = match self.element(name, element, index, declared)? {
                Part::Single => Expression::Constant(first),
                Part::Constant(index) => Expression::Constant(ConstantId(first.0 + index)),
                Part::Computed(length, index) => Expression::ConstantElement { first, length, index },
            };
            return Some((expression, ty));
        }
        let (place, ty) = self.place(place)?;
        Some((Expression::Read(place), ty))
    }

    /// A place that holds a value. Constants are not places.
    pub(in crate::check) fn place(&mut self, place: &ast::Place) -> Option<(Place, Type)> {
        match place {
            ast::Place::Name(name) => self.variable(name, None),
            ast::Place::Member { thread, member } => self.member(thread, member, None),
            ast::Place::Element { array, index, .. } => match &**array {
                ast::Place::Name(name) => self.variable(name, Some(index)),
                ast::Place::Member { thread, member } => self.member(thread, member, Some(index)),
                // The parser makes no element of an element.
                ast::Place::Element { .. } => None,
            },
        }
    }

    fn member(&mut self, named: &Reference, member: &Name, index: Option<&ast::Expression>) -> Option<(Place, Type)> {
        let thread = self.owner(named);
        let of = thread.map_or(Entity::Thread, |thread| self.entity(thread));
        let Some((found, declared)) = self.symbols.find_member(of, &member.text) else {
            if thread.is_some() || self.symbols.find_member(Entity::Node, &member.text).is_none() {
                self.symbols.unknown_member(of, member, self.diagnostics);
            }
            return None;
        };
        Some(match found {
            Member::Attribute(first) => {
                let attribute = self.policy.attributes.get(first.0)?;
                let (ty, element) = (attribute.ty, attribute.element);
                let part = self.element(member, element, index, declared)?;
                let thread = thread?;
                let place = match part {
                    Part::Single => Place::Attribute(thread, first),
                    Part::Constant(index) => Place::Attribute(thread, AttributeId(first.0 + index)),
                    Part::Computed(length, index) => Place::AttributeElement { thread, first, length, index },
                };
                (place, ty)
            }
            Member::Link(_) => {
                let title = format!("`{}` is a threadref, not a value", member.text);
                let diagnostic = Diagnostic::error("E0309", title, member.at, "names a thread, or none");
                let (link, name) = (format!("{}.{}", named.name.text, member.text), another_name(&named.name.text));
                let help = format!("visit the thread with `foreach {name} in {link}`, or compare: `{link} == {name}`");
                self.diagnostics.push(diagnostic.related(declared, "declared here").help(help));
                return None;
            }
            Member::Import(id) => {
                self.element(member, None, index, declared)?;
                (Place::ThreadImport(thread?, id), self.policy.thread_imports.get(id.0)?.ty)
            }
        })
    }

    /// Which part of the named thing is meant. `element` is set if it is an array.
    fn element(
        &mut self,
        name: &Name,
        element: Option<Element>,
        index: Option<&ast::Expression>,
        declared: At,
    ) -> Option<Part> {
        match (element, index) {
            (None, None) => Some(Part::Single),
            (None, Some(index)) => {
                self.no_array(name, index, Some(declared));
                None
            }
            (Some(Element { length, .. }), None) => {
                let title = format!("`{}` is an array of {length}", name.text);
                let help = format!("write which element: `{}[0]`", name.text);
                let diagnostic = Diagnostic::error("E0327", title, name.at, "expected one element");
                self.diagnostics.push(diagnostic.related(declared, "declared here").help(help));
                None
            }
            (Some(Element { length, .. }), Some(index)) => self.index(name, length, index, declared),
        }
    }

    fn no_array(&mut self, name: &Name, index: &ast::Expression, declared: Option<At>) {
        let title = format!("`{}` is not an array", name.text);
        let diagnostic = Diagnostic::error("E0327", title, index.at, "has no elements");
        self.diagnostics.push(match declared {
            Some(declared) => diagnostic.related(declared, "declared here").help("leave the index out"),
            None => diagnostic.help("leave the index out"),
        });
    }

    /// The index in the brackets after the name of an array.
    fn index(&mut self, name: &Name, length: usize, index: &ast::Expression, declared: At) -> Option<Part> {
        let lowered = self.of_type(index, Type::Int)?;
        let (bits, constants) = (self.policy.int_bits, &self.policy.constants);
        match constants::known(&lowered, bits, constants) {
            Some(Value::Int(value)) => match usize::try_from(value).ok().filter(|value| *value < length) {
                Some(value) => Some(Part::Constant(value)),
                None => {
                    let last = length - 1;
                    let title = format!("`{}` has no element {value}", name.text);
                    let label = if last == 0 {
                        "its only element is 0".to_owned()
                    } else {
                        format!("its elements are 0 to {last}")
                    };
                    let diagnostic = Diagnostic::error("E0327", title, index.at, label);
                    self.diagnostics.push(diagnostic.related(declared, "declared here"));
                    None
                }
            },
            Some(Value::Bool(_) | Value::Time(_) | Value::Float(_)) | None => {
                Some(Part::Computed(length, Box::new(lowered)))
            }
        }
    }

    /// One container, an element of an array, or an array.
    pub(in crate::check) fn reference(&mut self, reference: &Reference) -> Option<ContainerRef> {
        let first = self.container(&reference.name)?;
        let container = self.policy.containers.get(first.0)?;
        let (element, declared) = (container.element, container.at);
        if let (Some(Element { length, .. }), None) = (element, &reference.index) {
            return Some(ContainerRef::Whole { first, length });
        }
        Some(match self.element(&reference.name, element, reference.index.as_deref(), declared)? {
            Part::Single => ContainerRef::One(first),
            Part::Constant(index) => ContainerRef::One(ContainerId(first.0 + index)),
            Part::Computed(length, index) => ContainerRef::Element { first, length, index },
        })
    }

    fn variable(&mut self, name: &Name, index: Option<&ast::Expression>) -> Option<(Place, Type)> {
        match self.scope.find(&name.text) {
            Some(Binding::Value(id, ty)) => {
                if let Some(index) = index {
                    self.no_array(name, index, None);
                    return None;
                }
                return Some((Place::Local(id), ty));
            }
            Some(Binding::Thread(_) | Binding::Held(_) | Binding::Cursor) => {
                let title = format!("`{}` is a thread, not a value", name.text);
                let help = format!("write `{}.ATTRIBUTE` for one of its attributes", name.text);
                self.diagnostics.push(Diagnostic::error("E0309", title, name.at, "expected a value").help(help));
                return None;
            }
            None => {}
        }
        match self.symbols.find(&name.text) {
            Some((Symbol::Variable(first), declared)) => {
                let variable = self.policy.variables.get(first.0)?;
                if self.symbols.is_unlisted(name) {
                    let title = format!("the family does not list the global variable `{}`", name.text);
                    let unlisted = Diagnostic::error("E0338", title, name.at, "not seen here");
                    let length = variable.element.map(|element| format!("[{}]", element.length)).unwrap_or_default();
                    let list = format!("list it: `global {{ {} {}{length}; }}`", variable.ty.word(), name.text);
                    self.diagnostics.push(unlisted.related(declared, "declared here").help(list));
                    return None;
                }
                if self.reach == Reach::Shared && !variable.global {
                    self.out_of_reach(name, declared, Entity::Thread);
                    return None;
                }
                let (ty, element) = (variable.ty, variable.element);
                let place = match self.element(name, element, index, declared)? {
                    Part::Single => Place::Variable(first),
                    Part::Constant(index) => Place::Variable(VariableId(first.0 + index)),
                    Part::Computed(length, index) => Place::VariableElement { first, length, index },
                };
                Some((place, ty))
            }
            Some((Symbol::Import(id), declared)) => {
                self.element(name, None, index, declared)?;
                Some((Place::Import(id), self.policy.imports.get(id.0)?.ty))
            }
            Some((Symbol::Container(_), at)) => {
                let title = format!("`{}` is a container, not a value", name.text);
                let help = format!("write `|{}|` for the number of threads in it", name.text);
                self.diagnostics.push(
                    Diagnostic::error("E0309", title, name.at, "expected a value")
                        .related(at, "declared here")
                        .help(help),
                );
                None
            }
            Some((Symbol::Function(_), at)) => {
                let title = format!("`{}` is a function, not a value", name.text);
                let diagnostic = Diagnostic::error("E0309", title, name.at, "expected a value");
                self.diagnostics
                    .push(diagnostic.related(at, "declared here").help("call it: write its arguments in parentheses"));
                None
            }
            Some((Symbol::Family(_), at)) => {
                let title = format!("`{}` is a family of nodes, not a value", name.text);
                let family = Diagnostic::error("E0309", title, name.at, "expected a value").related(at, "named here");
                let help =
                    format!("write `n is {}` to ask of a node, or `|{}|` for how many there are", name.text, name.text);
                self.diagnostics.push(family.help(help));
                None
            }
            Some((Symbol::Constant(_), _)) => None,
            None if self.means_none(name) => {
                let diagnostic = Diagnostic::error("E0309", "`none` is not a value", name.at, "means no thread");
                let help = "assign it to a threadref of a thread, or compare it with one: `t.owner = none;`";
                self.diagnostics.push(diagnostic.help(help));
                None
            }
            None => {
                let fits = |symbol| !matches!(symbol, Symbol::Container(_) | Symbol::Function(_) | Symbol::Family(_));
                self.symbols.unknown(name, Wanted::Variable, Some(self.scope), fits, self.diagnostics);
                None
            }
        }
    }

    /// The reference before `.`: a thread, or a container for the thread that leaves it next.
    pub(in crate::check) fn owner(&mut self, reference: &Reference) -> Option<Thread> {
        if self.scope.find(&reference.name.text).is_none()
            && let Some((Symbol::Container(id), _)) = self.symbols.find(&reference.name.text)
            && self.policy.containers.get(id.0)?.kind != ContainerKind::Threadref
        {
            return match self.reference(reference)? {
                ContainerRef::One(container) => Some(Thread::First(container)),
                ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                    let name = &reference.name.text;
                    let title = format!("the element of `{name}` is known only at run time");
                    let diagnostic = Diagnostic::error("E0327", title, reference.at, "expected a constant index");
                    self.diagnostics.push(diagnostic.help(format!("write which: `{name}[0]`")));
                    None
                }
            };
        }
        self.thread(reference)
    }

    /// A reference that must name a thread, such as the one before `in`.
    pub(in crate::check) fn thread(&mut self, reference: &Reference) -> Option<Thread> {
        let name = &reference.name;
        if let Some(index) = &reference.index
            && self.scope.find(&name.text).is_some()
        {
            self.no_array(name, index, None);
            return None;
        }
        match self.scope.find(&name.text) {
            Some(Binding::Thread(id)) => return Some(Thread::Local(id)),
            Some(Binding::Held(slot)) => return Some(Thread::Slot(slot)),
            Some(Binding::Cursor) => {
                self.idle_cursor(name);
                return None;
            }
            Some(Binding::Value(..)) => {
                let title = format!("`{}` is a value, not a thread", name.text);
                self.diagnostics.push(Diagnostic::error("E0309", title, name.at, "expected a thread"));
                return None;
            }
            None => {}
        }
        match self.symbols.find(&name.text) {
            Some((Symbol::Container(id), at)) => {
                if self.policy.containers.get(id.0)?.kind == ContainerKind::Threadref {
                    return self.slot(reference).map(Thread::Slot);
                }
                let holds = self.policy.containers.get(id.0)?.holds;
                let (held, wanted, any) = match holds {
                    Entity::Thread => ("threads", "a thread or a threadref", "t"),
                    Entity::Node => ("nodes", "a node", "n"),
                };
                let title = format!("`{}` holds any number of {held} and names none of them", name.text);
                let diagnostic = Diagnostic::error("E0309", title, name.at, format!("expected {wanted}"))
                    .related(at, "declared here");
                self.diagnostics.push(diagnostic.help(format!("visit them with `foreach {any} in {}`", name.text)));
                None
            }
            Some((
                symbol @ (Symbol::Constant(_)
                | Symbol::Variable(_)
                | Symbol::Import(_)
                | Symbol::Function(_)
                | Symbol::Family(_)),
                at,
            )) => {
                let title = format!("`{}` is {}, not a thread", name.text, symbol.described());
                self.diagnostics
                    .push(Diagnostic::error("E0309", title, name.at, "expected a thread").related(at, "declared here"));
                None
            }
            None => {
                let fits = |symbol| matches!(symbol, Symbol::Container(_));
                self.symbols.unknown(name, Wanted::Thread, Some(self.scope), fits, self.diagnostics);
                None
            }
        }
    }

    /// A threadref that is known before run time.
    pub(in crate::check) fn slot(&mut self, reference: &Reference) -> Option<ContainerId> {
        match self.reference(reference)? {
            ContainerRef::One(slot) => Some(slot),
            ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                let name = &reference.name.text;
                let holds = match self.symbols.find(name) {
                    Some((Symbol::Container(id), _)) => self.policy.containers.get(id.0)?.holds,
                    Some(_) | None => Entity::Thread,
                };
                let (held, slot, any) = match holds {
                    Entity::Thread => ("thread", "threadref", "t"),
                    Entity::Node => ("node", "node", "n"),
                };
                let title = format!("the {slot} of `{name}` is known only at run time");
                let diagnostic = Diagnostic::error("E0327", title, reference.at, "expected a constant index");
                let help = format!("write which: `{name}[0]`; or visit the {held}: `foreach {any} in {name}[i]`");
                self.diagnostics.push(diagnostic.help(help));
                None
            }
        }
    }

    /// A name where only a container makes sense.
    pub(in crate::check) fn container(&mut self, name: &Name) -> Option<ContainerId> {
        match self.scope.find(&name.text) {
            Some(Binding::Cursor) => {
                self.idle_cursor(name);
                return None;
            }
            Some(binding @ (Binding::Thread(_) | Binding::Held(_) | Binding::Value(..))) => {
                let what = if matches!(binding, Binding::Value(..)) { "a value" } else { "a thread" };
                let title = format!("`{}` is {what}, not a container", name.text);
                self.diagnostics.push(Diagnostic::error("E0309", title, name.at, "expected a container"));
                return None;
            }
            None => {}
        }
        match self.symbols.find(&name.text) {
            Some((Symbol::Container(id), declared)) => {
                let holds = self.policy.containers.get(id.0)?.holds;
                if self.reach != Reach::Everything && (self.reach == Reach::Shared) != (holds == Entity::Node) {
                    self.out_of_reach(name, declared, holds);
                    return None;
                }
                Some(id)
            }
            Some((
                symbol @ (Symbol::Constant(_)
                | Symbol::Variable(_)
                | Symbol::Import(_)
                | Symbol::Function(_)
                | Symbol::Family(_)),
                at,
            )) => {
                let title = format!("`{}` is {}, not a container", name.text, symbol.described());
                self.diagnostics.push(
                    Diagnostic::error("E0309", title, name.at, "expected a container").related(at, "declared here"),
                );
                None
            }
            None => {
                let fits = |symbol| matches!(symbol, Symbol::Container(_));
                self.symbols.unknown(name, Wanted::Container, None, fits, self.diagnostics);
                None
            }
        }
    }

    /// Reports what this handler of a policy with nodes cannot name. `Thread`: it belongs to the instance of a node.
    fn out_of_reach(&mut self, name: &Name, declared: At, of: Entity) {
        let title = match of {
            Entity::Thread => {
                format!("`{}` belongs to the instance of a node, and this handler runs in none", name.text)
            }
            Entity::Node => format!("`{}` holds nodes, and this handler runs in the instance of one", name.text),
        };
        let diagnostic =
            Diagnostic::error("E0329", title, name.at, "cannot be named here").related(declared, "declared here");
        self.diagnostics.push(match of {
            Entity::Thread => {
                let help = match self.symbols.find(&name.text) {
                    Some((Symbol::Container(_), _)) => {
                        "keep nodes in containers of `nodes { … }`; threads move in the events of their node"
                    }
                    Some(_) | None => "declare in `global { … }` what handlers of all nodes share",
                };
                diagnostic.note("every node has `data` of its own; no node is meant here").help(help)
            }
            Entity::Node => diagnostic
                .note("only events that run in no instance move nodes, or look at them")
                .help("keep in `global { … }` what instances are to know of the nodes"),
        });
    }

    /// Whether a thread or a node is named.
    pub(in crate::check) fn entity(&self, thread: Thread) -> Entity {
        match thread {
            Thread::Local(local) => self.scope.entity(local),
            Thread::Slot(slot) | Thread::First(slot) => {
                self.policy.containers.get(slot.0).map_or(Entity::Thread, |slot| slot.holds)
            }
        }
    }

    /// What a container holds.
    pub(in crate::check) fn holds(&self, container: &ContainerRef) -> Entity {
        let first = container.candidates().next();
        first.and_then(|id| self.policy.containers.get(id.0)).map_or(Entity::Thread, |container| container.holds)
    }

    /// Reports a handler's `threadref tmp;` that is used outside `foreach tmp in …`.
    pub(in crate::check) fn idle_cursor(&mut self, name: &Name) {
        let title = format!("`{}` names a thread only within `foreach {} in …`", name.text, name.text);
        let diagnostic = Diagnostic::error("E0309", title, name.at, "names no thread here")
            .note("a threadref that is declared in a handler holds nothing: it is the cursor of a `foreach`");
        self.diagnostics.push(diagnostic.help("to keep a thread, declare the threadref in `data { … }`"));
    }
}

/// The part of a named thing that is meant.
enum Part {
    /// All of it: it is not an array.
    Single,
    /// This element.
    Constant(usize),
    /// The element at an index that is computed at run time, and the length of the array.
    Computed(usize, Box<Expression>),
}

/// A place that could be a container.
pub(in crate::check) fn named(place: &ast::Place) -> Option<Reference> {
    match place {
        ast::Place::Name(name) => Some(Reference::from(name.clone())),
        ast::Place::Element { array, index, at } => match &**array {
            ast::Place::Name(name) => Some(Reference { name: name.clone(), index: Some(index.clone()), at: *at }),
            ast::Place::Member { .. } | ast::Place::Element { .. } => None,
        },
        ast::Place::Member { .. } => None,
    }
}
