//! The scheduler, its sections and the headers of its handlers.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::{At, Entity, StateClass, Type, Value};

use super::Feature;
use super::ast::{
    Array, Container, ContainerKind, Expression, FileKind, HandlerKind, Name, Scheduler, SortKey, Variable,
};
use super::habits;
use super::lexer::TokenKind;
use super::parser::{Parse, Parser, Reported};
use super::words::nearest;

/// The words that start a part of a scheduler.
const PARTS: [&str; 12] = [
    "thread",
    "threadimports",
    "imports",
    "data",
    "nodefamilies",
    "nodes",
    "global",
    "properties",
    "event",
    "query",
    "function",
    "verbatim",
];

/// The types, for messages.
const A_TYPE: &str = "a type (`int`, `bool`, `time` or `float`)";

impl Parser<'_> {
    // Productions: scheduler, family.
    pub(crate) fn scheduler(&mut self, kind: FileKind) -> Scheduler {
        let mut scheduler = Scheduler { kind, ..Scheduler::default() };
        let opened = match self.scheduler_header(&mut scheduler) {
            Ok(opened) => opened,
            Err(Reported) => {
                self.lost.handlers = true;
                while !self.is_end() && !self.starts_part() {
                    self.advance();
                }
                self.previous
            }
        };
        self.parts(&mut scheduler);
        let what = if kind == FileKind::Family { "the family" } else { "the scheduler" };
        match self.expect_close(opened, what) {
            Ok(_) => scheduler.closed = Some(self.previous),
            Err(Reported) => self.lost.handlers = true,
        }
        let closed = self.previous;
        if !self.is_end() {
            self.after_the_end(closed, what);
            while !self.is_end() && !self.starts_part() {
                self.advance();
            }
            while !self.is_end() {
                self.parts(&mut scheduler);
                self.advance();
            }
        }
        scheduler.lost = std::mem::take(&mut self.lost);
        scheduler
    }

    fn scheduler_header(&mut self, scheduler: &mut Scheduler) -> Parse<At> {
        if self.is_end() {
            let empty = Diagnostic::error("E0104", "the file contains no scheduler", At::default(), "")
                .help("write `scheduler NAME { … }`; `catapults explain E0104` shows a whole one");
            let reported = self.report(empty);
            self.give_up();
            return Err(reported);
        }
        if scheduler.kind == FileKind::Family {
            self.advance();
            scheduler.name = self.name("a name for the family")?;
            return self.expect_sign("{");
        }
        if !self.is_word("scheduler") {
            let other = self.unexpected("`scheduler`").note("a policy is one `scheduler NAME { … }`");
            if self.is_word("hierarchy") && self.following.kind == TokenKind::Word {
                let help = "a hierarchy of schedulers stands in a file that ends in `.hierarchy`; `check`, `build`, `run` and `fmt` take it";
                let reported = self.report(other.help(help));
                self.give_up();
                return Err(reported);
            }
            return Err(self.report(other));
        }
        self.advance();
        scheduler.name = self.name("a name for the scheduler")?;
        self.expect_sign("{")
    }

    fn starts_part(&self) -> bool {
        self.word().is_some_and(|word| PARTS.contains(&word))
    }

    fn after_the_end(&mut self, closed: At, what: &str) {
        self.lost.handlers = true;
        let second = self.is_word("scheduler") || self.is_word("family");
        let title = if second {
            "a file holds one scheduler or family"
        } else {
            &format!("there is text after the end of {what}")
        };
        let help = if second {
            "move the second one to a file of its own"
        } else if self.is_sign(";") {
            "remove it: no `;` follows the `}`"
        } else {
            "remove it, or the `}` before it"
        };
        self.report(
            Diagnostic::error("E0110", title, self.token.at, "not part of it")
                .related(closed, format!("{what} ends here"))
                .help(help),
        );
    }

    // Productions: part, own.
    fn parts(&mut self, scheduler: &mut Scheduler) {
        while !self.is_end() && !self.is_sign("}") {
            let (start, kind) = (self.token.at, scheduler.kind);
            if let Some(Reported) = self.word().and_then(|word| self.misplaced_part(kind, word, start)) {
                self.skip_statement(start);
                continue;
            }
            let part = match self.word() {
                Some("thread") => self.section("the `thread` section", |parser| {
                    if let Some(reported) = parser.not_of_a_family(kind) {
                        return Err(reported);
                    }
                    if parser.is_word("timer") {
                        return parser.timers().map(|timers| scheduler.timers.extend(timers));
                    }
                    if parser.is_word("threadref") {
                        return parser.links().map(|links| scheduler.links.extend(links));
                    }
                    parser.typed("=", false).map(|variables| scheduler.attributes.extend(variables))
                }),
                Some("threadimports") => self.section("the `threadimports` section", |parser| {
                    parser.typed("default", true).map(|variables| scheduler.thread_imports.extend(variables))
                }),
                Some("imports") => self.section("the `imports` section", |parser| {
                    parser.typed("default", true).map(|variables| scheduler.imports.extend(variables))
                }),
                Some("data") => self.section("the `data` section", |parser| parser.datum(scheduler)),
                Some("nodefamilies") => {
                    self.demand(Feature::Families, "families of nodes", start);
                    self.section("the `nodefamilies` section", |parser| parser.family_named(scheduler))
                }
                Some("properties") => {
                    self.demand(Feature::Families, "properties of nodes", start);
                    self.section("the `properties` section", |parser| parser.properties(scheduler))
                }
                Some("nodes") => {
                    self.demand(Feature::Nodes, "nodes", start);
                    self.section("the `nodes` section", |parser| parser.collection(scheduler))
                }
                Some("global") => {
                    self.demand(Feature::Nodes, "variables that nodes share", start);
                    self.section("the `global` section", |parser| match parser.no_constant_of_a_family(kind) {
                        Some(reported) => Err(reported),
                        None => parser.shared_datum(scheduler),
                    })
                }
                Some("event") => self.handler(HandlerKind::Event).map(|handler| scheduler.handlers.extend(handler)),
                Some("query") => self.handler(HandlerKind::Query).map(|handler| scheduler.handlers.extend(handler)),
                Some("verbatim") => self.verbatim_part(scheduler),
                Some("function") => self.function().map(|function| scheduler.functions.push(function)),
                Some(_) | None => Err(self.no_part()),
            };
            if let Err(Reported) = part {
                self.lost.handlers = true;
                self.skip_statement(start);
            }
        }
    }

    fn no_part(&mut self) -> Reported {
        let at = self.token.at;
        if matches!(self.token.kind, TokenKind::Bad(_)) {
            return self.expected("a section or a handler");
        }
        if let Some(word) = self.word() {
            if ["dispatch", "arrival", "departure", "steal"].contains(&word) {
                let title = format!("`{word}` is an event");
                let bare = Diagnostic::error("E0101", title, at, "not a section");
                return self.report(bare.help(format!("write `event` before it: `event {word}(…) {{ … }}`")));
            }
            if word == "node" {
                let title = "nodes are kept in the `nodes` section";
                let outside = Diagnostic::error("E0101", title, at, "not in a section");
                return self.report(outside.help("put it into `nodes { … }`"));
            }
            if ["const", "int", "bool", "time", "float", "threadref", "queue", "stack", "pqueue", "pstack"]
                .contains(&word)
            {
                let title = "variables and containers are declared in a section";
                let outside = Diagnostic::error("E0101", title, at, "not in a section")
                    .help("put it into `data { … }`, or into `thread { … }` if each thread has one");
                let value = Type::from_word(word).is_some();
                let function = format!("a function is declared with `function {word} NAME(t) {{ … }}`");
                return self.report(if value { outside.help(function) } else { outside });
            }
            if let Some(reported) = self.late_use(at).or_else(|| self.function_of_other_languages(at)) {
                return reported;
            }
            if let Some(meant) = nearest(word, PARTS) {
                let misspelt = self.unexpected("a section or a handler").help(format!("did you mean `{meant}`?"));
                return self.report(misspelt);
            }
        }
        if self.is_sign(";") {
            let stray = self.unexpected("a section or a handler").help("remove it: no `;` follows the `}`");
            return self.report(stray);
        }
        let other = self
            .unexpected("a section or a handler")
            .note("a scheduler consists of `thread`, `threadimports`, `imports` and `data` sections, `event` and `query` handlers, and functions");
        self.report(other)
    }

    fn section(&mut self, what: &str, mut declaration: impl FnMut(&mut Self) -> Parse<()>) -> Parse<()> {
        self.advance();
        let opened = self.expect_sign("{")?;
        while !self.is_sign("}") && !self.is_end() && !self.starts_handler() {
            let start = self.token.at;
            if let Err(Reported) = declaration(self).and_then(|()| self.expect_semicolon()) {
                self.skip_statement(start);
            }
        }
        // An unclosed section keeps its declarations.
        let _reported = self.expect_close(opened, what);
        Ok(())
    }

    // Production: links.
    fn links(&mut self) -> Parse<Vec<Name>> {
        self.advance();
        let mut links = Vec::new();
        loop {
            let name = self.name("a name for the threadref")?;
            if self.is_sign("[") {
                let title = "an array of threadrefs cannot be kept for a thread";
                let array = Diagnostic::error("E0101", title, self.token.at, "not in the `thread` section");
                return Err(self.report(array.help("declare a threadref for each element, under a name of its own")));
            }
            if self.is_sign("=") {
                let set = self.unexpected("`;`").note("a threadref of a new thread names no thread");
                return Err(self.report(set.help(format!("assign in a handler: `t.{} = u;`", name.text))));
            }
            links.push(name);
            if !self.eat_sign(",") {
                return Ok(links);
            }
        }
    }

    // Production: timers.
    fn timers(&mut self) -> Parse<Vec<Variable>> {
        let start = self.token.at;
        let refused = self.demand(Feature::Timers, "timers", start);
        self.advance();
        let mut timers = Vec::new();
        loop {
            let name = self.name("a name for the timer")?;
            if self.is_sign("=") {
                let set = self.unexpected("`;`").note("a timer of a new thread is not armed");
                let arm = format!("arm it in the handler of an event: `t.{} = now + 10ms;`", name.text);
                self.report(set.help(arm));
                // The timer is declared nevertheless.
                self.advance();
                self.expression()?;
            }
            timers.push(Variable { ty: Type::Time, name, array: None, initial: None });
            if !self.eat_sign(",") {
                if refused {
                    self.lose(start);
                    timers.clear();
                }
                return Ok(timers);
            }
        }
    }

    /// A declaration of the `thread`, `threadimports` or `imports` section.
    fn typed(&mut self, initial: &str, required: bool) -> Parse<Vec<Variable>> {
        match self.word() {
            Some(_) if let Some(ty) = self.type_word() => self.variables(ty, initial, required),
            Some("timer") => Err(self.misplaced_timer()),
            Some("enum") => Err(self.misplaced_enumeration(A_TYPE)),
            Some("const" | "queue" | "stack" | "pqueue" | "pstack" | "threadref") => {
                let misplaced = self.unexpected(A_TYPE).help("constants and containers are declared in `data { … }`");
                Err(self.report(misplaced))
            }
            Some(word) if let Some(instead) = habits::ty(word) => {
                let foreign = self.unexpected(A_TYPE).help(instead);
                Err(self.report(foreign))
            }
            Some(_) | None => Err(self.expected(A_TYPE)),
        }
    }

    fn misplaced_timer(&mut self) -> Reported {
        let title = "timers are kept for threads";
        let outside = Diagnostic::error("E0101", title, self.token.at, "not in the `thread` section");
        self.report(outside.help("put it into `thread { … }`"))
    }

    /// The constants of a file that has no arrays. `file` is its kind: `a scenario`.
    pub(crate) fn constants(&mut self, file: &str) -> Parse<Vec<Variable>> {
        self.advance();
        let Some(ty) = self.type_word() else { return Err(self.expected("the type of the constant")) };
        let constants = self.variables(ty, "=", true)?;
        self.expect_semicolon()?;
        if let Some(array) = constants.iter().find(|constant| constant.array.is_some()) {
            let title = format!("{file} has no arrays");
            let alone = Diagnostic::error(self.code, title, array.name.at, "of an array");
            return Err(self.report(alone.help("declare a constant for each value")));
        }
        Ok(constants)
    }

    // Productions: variables, variable, imports, import, constant.
    pub(crate) fn variables(&mut self, ty: Type, initial: &str, required: bool) -> Parse<Vec<Variable>> {
        self.demand_type(ty);
        self.advance();
        self.named_variables(ty, initial, required)
    }

    /// As `variables`, after the type.
    pub(super) fn named_variables(&mut self, ty: Type, initial: &str, required: bool) -> Parse<Vec<Variable>> {
        let mut variables = Vec::new();
        loop {
            let name = self.name("a name")?;
            if let Some(length) = self.length()? {
                let array = self.array(length, initial, required)?;
                variables.push(Variable { ty, name, array: Some(array), initial: None });
                if self.eat_sign(",") {
                    continue;
                }
                return Ok(variables);
            }
            let present = self.eat_sign(initial) || self.eat_word(initial);
            if !present && required {
                let missing = self.unexpected(&format!("`{initial}`"));
                let missing = if initial == "default" {
                    missing.note("the default holds until the application registers its variable").help(format!(
                        "write `{} default {};`",
                        name.text,
                        Value::zero(ty)
                    ))
                } else {
                    missing
                };
                return Err(self.report(missing));
            }
            let initial = if present { Some(self.expression()?) } else { None };
            variables.push(Variable { ty, name, array: None, initial });
            if !self.eat_sign(",") {
                return Ok(variables);
            }
        }
    }

    // Production: list.
    /// The rest of an array's declaration, after its length.
    fn array(&mut self, length: Expression, initial: &str, required: bool) -> Parse<Array> {
        if initial == "default" {
            let title = "an import is a single variable of the application, not an array";
            let diagnostic = Diagnostic::error("E0101", title, length.at, "not in an import");
            return Err(self.report(diagnostic.help("import a variable for each element, under a name of its own")));
        }
        if !self.is_sign(initial) {
            if required {
                let missing = self.unexpected("`=`").help("write the value of each element: `= { 1, 2, 3 }`");
                return Err(self.report(missing));
            }
            return Ok(Array { length, list: None });
        }
        self.advance();
        let start = self.token.at;
        if !self.is_sign("{") {
            let single = self.unexpected("`{`").help("write the value of each element: `= { 1, 2, 3 }`");
            return Err(self.report(single));
        }
        self.advance();
        let mut elements = Vec::new();
        loop {
            elements.push(self.expression()?);
            if self.eat_sign("}") {
                return Ok(Array { length, list: Some((elements, self.since(start))) });
            }
            if !self.eat_sign(",") {
                return Err(self.expected("`,` or `}`"));
            }
            // A comma after the last element is allowed.
            if self.eat_sign("}") {
                return Ok(Array { length, list: Some((elements, self.since(start))) });
            }
        }
    }

    // Production: length.
    /// `[ expression ]` after a name that is declared.
    fn length(&mut self) -> Parse<Option<Expression>> {
        if !self.eat_sign("[") {
            return Ok(None);
        }
        if self.is_sign("]") {
            let missing = self.unexpected("the length of the array").help("write how many elements it has: `[4]`");
            return Err(self.report(missing));
        }
        let length = self.expression()?;
        self.expect_sign("]")?;
        if self.is_sign("[") {
            let second = self.unexpected("the end of the declaration");
            return Err(self.report(
                second.note("an array has one dimension").help("compute one index: `a[row * COLUMNS + column]`"),
            ));
        }
        Ok(Some(length))
    }

    // Production: datum.
    fn datum(&mut self, scheduler: &mut Scheduler) -> Parse<()> {
        if self.eat_word("const") {
            let Some(ty) = self.type_word() else { return Err(self.expected(A_TYPE)) };
            let constants = self.variables(ty, "=", true)?;
            scheduler.constants.extend(constants);
            return Ok(());
        }
        if self.eat_word("enum") {
            return self.enumeration(scheduler);
        }
        let kind = match self.word() {
            Some(_) if let Some(ty) = self.type_word() => {
                return self.variables(ty, "=", false).map(|variables| scheduler.variables.extend(variables));
            }
            Some("timer") => return Err(self.misplaced_timer()),
            Some("node") => return Err(self.misplaced_node()),
            Some("threadref") => ContainerKind::Threadref,
            Some("queue") => ContainerKind::Queue,
            Some("stack") => ContainerKind::Stack,
            Some("pqueue") => ContainerKind::Pqueue,
            Some("pstack") => ContainerKind::Pstack,
            Some(word) => {
                let unexpected = self.unexpected("a declaration");
                let types = [
                    "int",
                    "bool",
                    "time",
                    "float",
                    "const",
                    "enum",
                    "threadref",
                    "queue",
                    "stack",
                    "pqueue",
                    "pstack",
                ];
                let advice = match nearest(word, types) {
                    _ if word == "thread" => "a place for one thread is a `threadref`".to_owned(),
                    _ if let Some(instead) = habits::ty(word) => instead.to_owned(),
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => {
                        "declare an `int`, `bool`, `time`, `float`, `const`, `threadref`, `queue`, `stack`, `pqueue` or `pstack`"
                            .to_owned()
                    }
                };
                return Err(self.report(unexpected.help(advice)));
            }
            None => return Err(self.expected("a declaration")),
        };
        let declared = self.containers(kind, Entity::Thread)?;
        scheduler.containers.extend(declared);
        Ok(())
    }

    // Production: collection.
    fn collection(&mut self, scheduler: &mut Scheduler) -> Parse<()> {
        let kind = match self.word() {
            Some("node") => ContainerKind::Threadref,
            Some("queue") => ContainerKind::Queue,
            Some("stack") => ContainerKind::Stack,
            Some("pqueue") => ContainerKind::Pqueue,
            Some("pstack") => ContainerKind::Pstack,
            Some("threadref") => {
                let slot = self.unexpected("a collection of nodes");
                return Err(self.report(slot.help("a place for one node is a `node`")));
            }
            Some(_) if self.type_word().is_some() || self.is_word("const") => {
                let value = self.unexpected("a collection of nodes");
                return Err(self.report(value.help("what nodes share is declared in `global { … }`")));
            }
            Some(_) | None => {
                let other = self.unexpected("a collection of nodes");
                return Err(self.report(other.help("declare a `node`, `queue`, `stack`, `pqueue` or `pstack`")));
            }
        };
        let declared = self.containers(kind, Entity::Node)?;
        scheduler.nodes.extend(declared);
        Ok(())
    }

    // Production: shared.
    fn shared_datum(&mut self, scheduler: &mut Scheduler) -> Parse<()> {
        if self.type_word().is_some() || self.is_word("const") || self.is_word("enum") {
            let before = scheduler.variables.len();
            self.datum(scheduler)?;
            scheduler.globals.extend(scheduler.variables.drain(before..));
            return Ok(());
        }
        let other = self.unexpected("a variable or a constant");
        Err(self.report(match self.word() {
            Some("threadref" | "queue" | "stack" | "pqueue" | "pstack") => other
                .note("a thread is on one node, and nodes share no containers of threads")
                .help("declare it in `data { … }`, or in `nodes { … }` if it is to hold nodes"),
            Some(_) | None => other.help("declare an `int`, `bool`, `time`, `float` or `const`"),
        }))
    }

    fn misplaced_node(&mut self) -> Reported {
        let title = "nodes are kept in the `nodes` section";
        let outside = Diagnostic::error("E0101", title, self.token.at, "not in the `nodes` section");
        self.report(outside.help("put it into `nodes { … }`"))
    }

    // Productions: container, collected.
    fn containers(&mut self, kind: ContainerKind, holds: Entity) -> Parse<Vec<Container>> {
        let mut declared = Vec::new();
        let mut start = self.advance().at;
        if self.is_sign("<") {
            let typed = self.unexpected("a name for the container");
            let help =
                format!("a container holds {}s and nothing else: write `{} ready;`", holds.word(), self.written(start));
            return Err(self.report(typed.help(help)));
        }
        let sorted = matches!(kind, ContainerKind::Pqueue | ContainerKind::Pstack);
        loop {
            let name = self.name("a name for the container")?;
            let length = self.length()?;
            let keys = if sorted || self.is_word("sortable") || self.is_word("reverse") {
                self.sort_keys(sorted)?
            } else {
                Vec::new()
            };
            if holds == Entity::Node {
                if self.is_sign(":") {
                    let class = self.unexpected("`,` or `;`");
                    return Err(self.report(class.note("only threads have state classes")));
                }
                declared.push(Container { kind, name, length, keys, class: None, at: self.since(start) });
                if sorted || !self.eat_sign(",") {
                    return Ok(declared);
                }
                start = self.token.at;
                continue;
            }
            if let Some(class) = self.word().and_then(StateClass::from_word) {
                let help = format!("a state class follows a `:`: `{} : {}`", name.text, class.word());
                let bare = self.unexpected("`,` or `;`").help(help);
                self.report(bare);
            }
            let bare = self.word().is_some_and(|word| StateClass::from_word(word).is_some());
            let class = if bare || self.eat_sign(":") { Some(self.class()?) } else { None };
            declared.push(Container { kind, name, length, keys, class, at: self.since(start) });
            if sorted || !self.eat_sign(",") {
                return Ok(declared);
            }
            start = self.token.at;
        }
    }

    // Production: key.
    fn sort_keys(&mut self, sorted: bool) -> Parse<Vec<SortKey>> {
        if !sorted {
            let wrong = self.unexpected("`;`").note("only a `pqueue` or `pstack` is sorted");
            return Err(self.report(wrong));
        }
        let all = self.eat_word("reverse");
        if !self.is_word("sortable") {
            let missing =
                self.unexpected("`sortable on`").note("a `pqueue` or `pstack` is sorted by attributes of its threads");
            return Err(self.report(
                missing.help(
                    "write `sortable on ATTRIBUTE`; for threads in order of arrival declare a `queue` or `stack`",
                ),
            ));
        }
        self.advance();
        self.expect_word("on")?;
        let mut keys = Vec::new();
        loop {
            let reverse = self.eat_word("reverse") ^ all;
            let attribute = self.name("the name of an attribute")?;
            self.refuse_direction(&attribute.text);
            keys.push(SortKey { attribute, reverse });
            if !self.eat_sign(",") {
                return Ok(keys);
            }
        }
    }

    /// Reports and skips a word such as `desc`, which states a direction in other languages.
    fn refuse_direction(&mut self, key: &str) {
        let help = match self.word() {
            Some("desc" | "descending" | "DESC") => {
                format!("leave it out: the highest leaves first; with `reverse {key}`, the lowest does")
            }
            Some("asc" | "ascending" | "ASC" | "reverse" | "reversed") => {
                format!("write `reverse {key}` for the lowest to leave first, or `{key}` alone for the highest")
            }
            Some(_) | None => return,
        };
        let direction = self.unexpected("`,` or `;`").help(help);
        self.report(direction);
        self.advance();
    }

    // Production: class.
    pub(crate) fn class(&mut self) -> Parse<(StateClass, At)> {
        match self.word().and_then(StateClass::from_word) {
            Some(class) => Ok((class, self.advance().at)),
            None => {
                let unexpected = self.unexpected("a state class");
                let words = StateClass::ALL.map(StateClass::word);
                let advice = match self.word().and_then(|word| nearest(word, words)) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("the state classes are {}", words.map(|word| format!("`{word}`")).join(", ")),
                };
                Err(self.report(unexpected.help(advice)))
            }
        }
    }

    // Production: type.
    pub(crate) fn value_type(&mut self) -> Parse<(Type, At)> {
        let Some(ty) = self.type_word() else { return Err(self.expected(A_TYPE)) };
        self.demand_type(ty);
        Ok((ty, self.advance().at))
    }

    /// The type that is written here, if there is one.
    pub(crate) fn type_word(&self) -> Option<Type> {
        self.word().and_then(Type::from_word)
    }

    /// Reports a type that this framework does not have.
    pub(super) fn demand_type(&mut self, ty: Type) {
        match ty {
            Type::Int | Type::Bool => {}
            Type::Time => {
                // The type is read nevertheless, so that the parser understands what follows.
                self.demand(Feature::Time, "type `time`", self.token.at);
            }
            Type::Float => {
                self.demand(Feature::Floats, "type `float`", self.token.at);
            }
        }
    }
}
