//! C17 for hosts that build it freestanding.
//!
//! The file can be compiled by itself, or included by a dispatcher so that handlers inline into it. For the latter it
//! defines:
//! - `CATAPULTS_COMPILED_IN_HANDLERS`: the constant table of handlers, `fifo_handlers` (an object, not a pointer);
//! - `CATAPULTS_COMPILED_IN_INSTANCE`: the type of the scheduler's own data, `struct fifo`;
//! - `CATAPULTS_COMPILED_IN_THREAD`: the type of a thread, `struct fifo_thread`, whose first member is a
//!   `struct catapults_thread`;
//! - `CATAPULTS_COMPILED_IN_NOW`, if the policy uses `now`: the member of the scheduler's own data that holds it;
//! - `CATAPULTS_COMPILED_IN_THREADIMPORT_NAME` for each variable NAME of threads that the policy imports.
//!
//! The framework's header declares the table, `struct NAME_handlers`: one function pointer for each event and query, named
//! like it with `_` for `.`. A handler that several events share is one function.

mod arrays;
mod economy;
mod expression;
mod functions;
mod handler;
mod names;
mod values;
mod verbatim;

use super::File;
use crate::framework::Framework;
use crate::policy::{Container, ContainerId, ContainerKind, Element, Import, Policy, SortKey, StateClass, Type, Value};
use crate::verify::Verified;
use arrays::Group;
use names::Names;
use std::fmt::Write;

/// How generated code and its host find one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// By a table of handlers, which are given the scheduler's own data: it can be loaded, and there can be several.
    Loaded,
    /// By name: the host includes the file in each of its own that raises events. There is one scheduler, an object with a fixed
    /// address; what the policy imports is in it and in the threads, and the application sets it there.
    Embedded,
}

impl Style {
    /// The scheduler's own data, up to the name of a member.
    fn of_self(self) -> &'static str {
        match self {
            Style::Loaded => "self->",
            Style::Embedded => "self.",
        }
    }

    /// The highest number that a thread can keep of its container; 0 says that it is in none.
    pub(super) fn most_containers(self) -> usize {
        match self {
            Style::Loaded => usize::from(u16::MAX),
            Style::Embedded => usize::from(u8::MAX),
        }
    }

    /// What functions that are to be inlined begin with.
    fn inline(self) -> &'static str {
        match self {
            Style::Loaded => "static inline",
            Style::Embedded => "CATAPULTS_INLINE",
        }
    }

    /// What a stop says; a small host keeps no texts.
    fn text(self, text: &str) -> String {
        match self {
            Style::Loaded => string(text),
            Style::Embedded => format!("CATAPULTS_TEXT({})", string(text)),
        }
    }
}

/// One translation unit.
pub(super) fn emit(verified: &Verified<Policy>, framework: &Framework, style: Style) -> File {
    let framework = &framework.with_timers(verified.policy().timers());
    let mut unit = Unit {
        verified,
        policy: verified.policy(),
        framework,
        names: Names::new(verified.policy(), style),
        text: String::new(),
        definitions: String::new(),
    };
    let (functions, table, timeouts) = functions::functions(verified, framework, &mut unit.names);
    unit.head();
    unit.constants();
    unit.instance();
    unit.thread();
    unit.orders();
    if functions.uses_take {
        unit.take();
    }
    let helpers = arrays::definitions(unit.policy, &unit.names, &functions.helpers);
    unit.put(&helpers);
    let ways_in = economy::ways_in(unit.policy, &unit.names);
    unit.put(&ways_in);
    let loops = economy::loops(&unit.names);
    unit.put(&loops);
    unit.text.push_str(&functions.text);
    let start = unit.start();
    let adopt = unit.adopt();
    match style {
        Style::Loaded => unit.tail(&table, &timeouts, &start, &adopt),
        Style::Embedded => unit.for_host(&table, &timeouts, &functions.never_stop, &start, &adopt),
    }
    File { name: format!("{}.c", unit.policy.name), text: unit.text }
}

struct Unit<'a> {
    verified: &'a Verified<Policy>,
    policy: &'a Policy,
    framework: &'a Framework,
    names: Names,
    text: String,
    /// Of an embedded policy: what one file of the host has.
    definitions: String,
}

impl Unit<'_> {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn head(&mut self) {
        let policy = self.policy;
        let source = comment(&policy.source);
        self.put(&format!(
            "/*\n * {}: translated from {source} for the framework {}. Change that file, not this one.\n */\n",
            policy.name, policy.framework
        ));
        if self.names.style == Style::Embedded {
            self.put("#ifndef CATAPULTS_TRANSLATED\n#define CATAPULTS_TRANSLATED\n\n");
        }
        self.put(&format!("#include {}\n\n", string(&self.framework.header)));
        for header in ["list", "slot", "sorted", "values"] {
            self.put(&format!("#include \"catapults/{header}.h\"\n"));
        }
        if policy.uses(Type::Float) {
            self.put("#include \"catapults/floats.h\"\n");
        }
        if self.policy.timers().next().is_some() {
            self.put("#include \"catapults/timers.h\"\n");
        }
        self.put(&format!(
            "\n_Static_assert(sizeof(catapults_int) * 8 == {}, \"`int` has another width in this host\");\n",
            policy.int_bits
        ));
        for preamble in &policy.preamble {
            let text = verbatim::lines(&preamble.text).join("\n");
            self.put(&format!("\n/* {source}:{} */\n{text}\n", preamble.at.line));
        }
    }

    /// Enumeration constants where they fit into C's `int`, else objects. Of an array an embedded host has one copy.
    fn constants(&mut self) {
        let (mut small, mut large) = (String::new(), String::new());
        // Nobody warns of what stands in a file that is included.
        let unused = if self.names.style == Style::Loaded { " __attribute__((unused))" } else { "" };
        for (index, (constant, name)) in self.policy.constants.iter().zip(&self.names.constants).enumerate() {
            if let Some(Element { index: place, length }) = constant.element {
                if place == 0 {
                    let values = self.policy.constants[index..index + length].iter().map(|constant| constant.value);
                    let values = values.map(expression::literal).collect::<Vec<_>>().join(", ");
                    let (ty, name) = (type_name(constant.value.ty()), Element::array(name));
                    let _ = match self.names.style {
                        Style::Loaded => {
                            writeln!(large, "static const {ty} {name}[{length}]{unused} = {{{values}}};")
                        }
                        Style::Embedded => {
                            let _ = writeln!(self.definitions, "const {ty} {name}[{length}] = {{{values}}};");
                            writeln!(large, "extern const {ty} {name}[{length}];")
                        }
                    };
                }
                continue;
            }
            match constant.value {
                Value::Time(_) | Value::Float(_) => {
                    let (ty, value) = (type_name(constant.value.ty()), expression::literal(constant.value));
                    let _ = writeln!(large, "static const {ty} {name}{unused} = {value};");
                }
                Value::Int(value) if i32::try_from(value).is_err() => {
                    let value = expression::literal(constant.value);
                    let _ = writeln!(large, "static const catapults_int {name}{unused} = {value};");
                }
                Value::Int(value) => {
                    let _ = writeln!(small, "    {name} = {value},");
                }
                Value::Bool(value) => {
                    let _ = writeln!(small, "    {name} = {},", i32::from(value));
                }
            }
        }
        if !small.is_empty() {
            self.put(&format!("\nenum {{\n{small}}};\n"));
        }
        if !large.is_empty() {
            self.put(&format!("\n{large}"));
        }
    }

    /// The scheduler's own data, and the numbers of its containers.
    fn instance(&mut self) {
        let (policy, names) = (self.policy, &self.names);
        let mut rows = Vec::new();
        for (container, name) in policy.containers.iter().zip(&names.containers) {
            let Some(name) = declared(name, container.element) else { continue };
            let declaration = match container.kind {
                ContainerKind::Threadref => format!("struct catapults_thread *{name};"),
                ContainerKind::Queue | ContainerKind::Stack => {
                    format!("struct catapults_{} {name};", list(names.style, &container.kind))
                }
                ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => format!("struct catapults_sorted {name};"),
            };
            rows.push((declaration, format!("{}, {}", self.kind(&container.kind), class(container.class))));
        }
        for (variable, name) in policy.variables.iter().zip(&names.variables) {
            let Some(name) = declared(name, variable.element) else { continue };
            rows.push((format!("{} {name};", type_name(variable.ty)), String::new()));
        }
        for (import, name) in policy.imports.iter().zip(&names.imports) {
            rows.push(imported(names.style, import, name));
        }
        if policy.uses_now() {
            let note = "the instant of the event that is handled; the host writes it".to_owned();
            rows.push((format!("catapults_time {};", names.now), note));
        }
        if policy.timers().next().is_some() {
            rows.push((format!("struct catapults_timers {};", names.timers), "armed".to_owned()));
        }
        let mut text = String::from("\n/* Where threads are: catapults_thread.container. 0: in hand. */\nenum {\n");
        for (index, number) in names.numbers.iter().enumerate() {
            let _ = match policy.containers[index].element {
                None => writeln!(text, "    {number} = {},", index + 1),
                Some(Element { index: 0, length }) => {
                    writeln!(text, "    {number} = {}, /* and the other elements, to {} */", index + 1, index + length)
                }
                Some(_) => Ok(()),
            };
        }
        let _ = write!(text, "}};\n\n/* The scheduler. */\nstruct {} {{\n{}}};\n", names.policy, members(&rows));
        if names.style == Style::Embedded {
            let _ = write!(text, "\n#define self {0}_self\nextern struct {0} self;\n", names.policy);
            let _ = writeln!(self.definitions, "struct {0} {0}_self;", names.policy);
        }
        self.put(&text);
    }

    /// What the policy keeps for a thread.
    fn thread(&mut self) {
        let (policy, names) = (self.policy, &self.names);
        let thread = &names.thread;
        let mut rows = vec![("struct catapults_thread base;".to_owned(), String::new())];
        for (attribute, name) in policy.attributes.iter().zip(&names.attributes) {
            let Some(name) = declared(name, attribute.element) else { continue };
            let ty = if attribute.timer.is_some() { "struct catapults_timer" } else { type_name(attribute.ty) };
            rows.push((format!("{ty} {name};"), String::new()));
        }
        for (import, name) in policy.thread_imports.iter().zip(&names.thread_imports) {
            rows.push(imported(names.style, import, name));
        }
        let conversion = match names.style {
            Style::Loaded => format!(
                "static inline struct {thread} *{thread}(const struct catapults_thread *t) {{ return (struct {thread} *)t; }}"
            ),
            // A call that is inlined still costs a copy in some compilers.
            Style::Embedded => format!("#define {thread}(t) ((struct {thread} *)(t))"),
        };
        let text = format!(
            "\n/* A thread, with what the scheduler keeps for it. */\nstruct {thread} {{\n{}}};\n\n{conversion}\n",
            members(&rows)
        );
        self.put(&text);
    }

    /// The order of each sorted container.
    fn orders(&mut self) {
        for (container, name) in self.policy.containers.iter().zip(&self.names.orders) {
            let (ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys)) = &container.kind else { continue };
            if container.element.is_some_and(|element| element.index > 0) {
                continue;
            }
            let (thread, inline) = (&self.names.thread, self.names.style.inline());
            let mut text = format!("\n/* {} leaves `{}` first. */\n", self.keys(keys), Element::array(&container.name));
            let _ = writeln!(
                text,
                "{inline} int {name}(const struct catapults_thread *a, const struct catapults_thread *b) {{"
            );
            for key in keys {
                let member = &self.names.attributes[key.attribute.0];
                let before = if key.reverse { "<" } else { ">" };
                let _ = writeln!(text, "    if ({thread}(a)->{member} != {thread}(b)->{member})");
                let _ = writeln!(text, "        return {thread}(a)->{member} {before} {thread}(b)->{member} ? -1 : 1;");
            }
            if keys.is_empty() {
                text.push_str("    (void)a, (void)b;\n");
            }
            text.push_str("    return 0;\n}\n");
            self.text.push_str(&text);
        }
    }

    /// The way out of whatever container holds a thread.
    fn take(&mut self) {
        let (name, inline) = (&self.names.take, self.names.style.inline());
        let instance = match self.names.style {
            Style::Loaded => format!("struct {} *self, ", self.names.policy),
            Style::Embedded => String::new(),
        };
        let mut text = format!(
            "\n/* Takes a thread out of wherever it is. */\n\
             {inline} void {name}({instance}struct catapults_thread *t) {{\n"
        );
        let all: Vec<ContainerId> = (0..self.policy.containers.len()).map(ContainerId).collect();
        let groups = arrays::groups(self.policy, &all);
        for group in groups.iter().filter(|group| matches!(group, Group::Array(..))) {
            let (holds, removal) = (group.holds(&self.names, "t"), removal(self.policy, &self.names, group, "t"));
            let _ = write!(text, "    if ({holds}) {{\n        {removal}\n        return;\n    }}\n");
        }
        let singles = groups.iter().any(|group| matches!(group, Group::One(_)));
        text.push_str(if singles { "    switch (t->container) {\n" } else { "" });
        for group in groups.iter().filter(|group| matches!(group, Group::One(_))) {
            let (number, removal) = (group.number(&self.names, "t"), removal(self.policy, &self.names, group, "t"));
            let _ = write!(text, "    case {number}:\n        {removal}\n        break;\n");
        }
        text.push_str(if singles { "    }\n}\n" } else { "}\n" });
        self.put(&text);
    }

    /// The function that sets up an instance.
    fn start(&mut self) -> String {
        let wanted = format!("{}_start", self.names.policy);
        let name = self.names.file.take(&wanted);
        let (policy, names) = (self.policy, &self.names);
        let of_self = names.style.of_self();
        let mut text = match names.style {
            Style::Loaded => {
                format!("\nstatic void {name}(void *self_) {{\n    struct {} *self = self_;\n", names.policy)
            }
            Style::Embedded => format!("\nCATAPULTS_INLINE void {name}(void) {{\n"),
        };
        for (container, name) in policy.containers.iter().zip(&names.containers) {
            match container.element {
                None => {
                    let _ = writeln!(text, "    {}", emptied(names.style, container, name));
                }
                Some(Element { index: 0, length }) => {
                    let each = emptied(names.style, container, &format!("{}[i]", Element::array(name)));
                    let _ = write!(text, "    for (unsigned i = 0; i < {length}; i++)\n        {each}\n");
                }
                Some(_) => {}
            }
        }
        let variables = policy.variables.iter().map(|variable| (variable.element, variable.initial));
        text.push_str(&initialised(of_self, &variables.collect::<Vec<_>>(), &names.variables));
        for (import, name) in policy.imports.iter().zip(&names.imports) {
            text.push_str(&defaults(names.style, of_self, import, name));
        }
        if policy.uses_now() {
            let _ = writeln!(text, "    {of_self}{} = 0;", names.now);
        }
        if policy.timers().next().is_some() {
            let _ = writeln!(text, "    catapults_timers_init(&{of_self}{});", names.timers);
        }
        text.push_str("}\n");
        self.put(&text);
        name
    }

    /// The function that sets up a thread.
    fn adopt(&mut self) -> String {
        let wanted = format!("{}_adopt", self.names.policy);
        let name = self.names.file.take(&wanted);
        let (policy, names) = (self.policy, &self.names);
        let thread = &names.thread;
        let mut text = match names.style {
            Style::Loaded => format!(
                "\nstatic void {name}(void *self_, struct catapults_thread *t_) {{\n    struct {thread} *t = {thread}(t_);\n    (void)self_;\n"
            ),
            Style::Embedded => format!("\nCATAPULTS_INLINE void {name}(struct {thread} *t) {{\n"),
        };
        text.push_str("    t->base.container = 0;\n");
        let attributes = || policy.attributes.iter().zip(&names.attributes);
        let (plain, plain_names): (Vec<_>, Vec<_>) = attributes()
            .filter(|(attribute, _)| attribute.timer.is_none())
            .map(|(attribute, name)| ((attribute.element, attribute.initial), name.clone()))
            .unzip();
        text.push_str(&initialised("t->", &plain, &plain_names));
        for (number, (_, name)) in attributes().filter(|(attribute, _)| attribute.timer.is_some()).enumerate() {
            let _ = writeln!(text, "    catapults_timer_init(&t->{name}, &t->base, {number});");
        }
        for (import, name) in policy.thread_imports.iter().zip(&names.thread_imports) {
            text.push_str(&defaults(names.style, "t->", import, name));
        }
        text.push_str("}\n");
        self.put(&text);
        name
    }

    /// The tables, and the policy itself.
    fn tail(&mut self, table: &[(String, String)], timeouts: &[(String, String)], start: &str, adopt: &str) {
        let prefix = self.names.policy.clone();
        let of = |part: &str| format!("{prefix}_{part}");
        let (handlers, imports, thread_imports) = (of("handlers"), of("imports"), of("thread_imports"));
        let (handlers, imports) = (self.names.file.take(&handlers), self.names.file.take(&imports));
        let thread_imports = self.names.file.take(&thread_imports);
        let classes = self.names.file.take(&of("classes"));
        let timeout_table = self.names.file.take(&of("timeouts"));
        let (policy, names) = (self.policy, &self.names);

        let mut text = format!("\nstatic const struct {}_handlers {handlers} = {{\n", self.framework.name);
        for (member, function) in table {
            let _ = writeln!(text, "    .{member} = {function},");
        }
        text.push_str("};\n");
        let _ = writeln!(text, "\nstatic const uint8_t {classes}[] = {{");
        for (container, number) in policy.containers.iter().zip(&names.numbers) {
            let _ = writeln!(text, "    [{number}] = CATAPULTS_{},", class(container.class));
        }
        text.push_str("};\n");
        text.push_str(&import_table(&imports, &names.policy, &policy.imports, &names.imports));
        text.push_str(&import_table(&thread_imports, &names.thread, &policy.thread_imports, &names.thread_imports));
        if !timeouts.is_empty() {
            let _ = writeln!(text, "\nstatic const struct catapults_timeout {timeout_table}[] = {{");
            // In the order of the numbers that threads give their timers.
            for event in policy.attributes.iter().filter_map(|attribute| attribute.timer.as_ref()) {
                let function = timeouts.iter().find(|(name, _)| name == event).map_or("NULL", |(_, function)| function);
                let _ = writeln!(text, "    {{{}, {function}}},", string(event));
            }
            text.push_str("};\n");
        }
        let table_or_null =
            |name: &str, list: &[Import]| if list.is_empty() { "NULL".to_owned() } else { name.to_owned() };
        let _ = write!(
            text,
            "\nextern const struct catapults_policy catapults_policy;\n\
             __attribute__((visibility(\"default\"))) const struct catapults_policy catapults_policy = {{\n\
             \x20   .magic = CATAPULTS_MAGIC,\n\
             \x20   .contract = CATAPULTS_CONTRACT,\n\
             \x20   .framework_abi = {abi},\n\
             \x20   .instance_size = (sizeof(struct {instance}) + 15) / 16 * 16,\n\
             \x20   .thread_size = (sizeof(struct {thread}) + 15) / 16 * 16,\n\
             \x20   .imports_count = {imports_count},\n\
             \x20   .thread_imports_count = {thread_imports_count},\n\
             \x20   .framework = {framework},\n\
             \x20   .name = {name},\n\
             \x20   .source = {source},\n\
             \x20   .classes = {classes},\n\
             \x20   .imports = {imports},\n\
             \x20   .thread_imports = {thread_imports},\n\
             {now}{timers}\
             \x20   .start = {start},\n\
             \x20   .adopt = {adopt},\n\
             \x20   .handlers = &{handlers},\n\
             }};\n\n\
             /* For a dispatcher that includes this file, so that the handlers inline into it. */\n\
             #define CATAPULTS_COMPILED_IN_HANDLERS {handlers}\n\
             #define CATAPULTS_COMPILED_IN_INSTANCE struct {instance}\n\
             #define CATAPULTS_COMPILED_IN_THREAD struct {thread}\n",
            abi = self.framework.abi,
            instance = names.policy,
            thread = names.thread,
            imports_count = policy.imports.len(),
            thread_imports_count = policy.thread_imports.len(),
            framework = string(&policy.framework),
            name = string(&policy.name),
            source = string(&policy.source),
            now = if policy.uses_now() {
                format!("    .now = offsetof(struct {}, {}),\n", names.policy, names.now)
            } else {
                String::new()
            },
            timers = if timeouts.is_empty() {
                String::new()
            } else {
                let (policy, member, count) = (&names.policy, &names.timers, timeouts.len());
                format!(
                    "    .timers = offsetof(struct {policy}, {member}),\n    .timeouts_count = {count},\n    .timeouts = {timeout_table},\n"
                )
            },
            imports = table_or_null(&imports, &policy.imports),
            thread_imports = table_or_null(&thread_imports, &policy.thread_imports),
        );
        if policy.uses_now() {
            let _ = writeln!(text, "#define CATAPULTS_COMPILED_IN_NOW {}", names.now);
        }
        for import in &policy.thread_imports {
            let _ = writeln!(text, "#define CATAPULTS_COMPILED_IN_THREADIMPORT_{}", import.name);
        }
        self.put(&text);
    }

    /// For an embedded host: how each event is raised, each query asked, and each imported variable set.
    fn for_host(
        &mut self,
        table: &[(String, String)],
        timeouts: &[(String, String)],
        never_stop: &[String],
        start: &str,
        adopt: &str,
    ) {
        let expire = self.expire(timeouts, never_stop);
        let names = &self.names;
        let mut text = format!(
            "\n/* For the host, which includes this file wherever it raises an event. */\n#undef self\n\
             #define CATAPULTS_INSTANCE struct {}\n#define CATAPULTS_THREAD struct {}\n\
             #define CATAPULTS_START {start}\n#define CATAPULTS_ADOPT {adopt}\n",
            names.policy, names.thread
        );
        for class in [StateClass::Running, StateClass::Ready, StateClass::Blocked] {
            let _ = writeln!(text, "#define CATAPULTS_IS_{}(t) ({})", self::class(class), self.holds(class));
        }
        for (handler, function) in table {
            let _ = writeln!(text, "#define CATAPULTS_HANDLER_{handler} {function}");
            if never_stop.contains(function) {
                let _ = writeln!(text, "#define CATAPULTS_NEVER_STOPS_{handler}");
            }
        }
        for (import, name) in self.policy.imports.iter().zip(&names.imports) {
            let _ = writeln!(text, "#define CATAPULTS_IMPORT_{} {}_self.{}", import.name, names.policy, name.0);
        }
        for (import, name) in self.policy.thread_imports.iter().zip(&names.thread_imports) {
            let _ = writeln!(text, "#define CATAPULTS_THREADIMPORT_{}(t) {}(t)->{}", import.name, names.thread, name.0);
        }
        let list = |imports: &[Import]| {
            imports.iter().map(|import| format!(" of({}, {})", import.name, import.ty.word())).collect::<String>()
        };
        let _ = writeln!(text, "#define CATAPULTS_IMPORTS(of){}", list(&self.policy.imports));
        let _ = writeln!(text, "#define CATAPULTS_THREADIMPORTS(of){}", list(&self.policy.thread_imports));
        if self.policy.uses_now() {
            let _ = writeln!(text, "#define CATAPULTS_NOW {}_self.{}", names.policy, names.now);
        }
        if let Some(expire) = expire {
            let _ = write!(
                text,
                "#define CATAPULTS_TIMERS {}_self.{}\n#define CATAPULTS_EXPIRE {expire}\n#define CATAPULTS_TIMEOUTS(of)",
                names.policy, names.timers
            );
            for event in self.policy.attributes.iter().filter_map(|attribute| attribute.timer.as_ref()) {
                let _ = write!(text, " of({})", string(event));
            }
            text.push('\n');
        }
        let _ = write!(
            text,
            "\n#endif\n\n/* One file of the host has this; it can include this file a second time for it. */\n\
             #ifdef CATAPULTS_DEFINE_INSTANCE\n{}#endif\n",
            self.definitions
        );
        self.put(&text);
    }

    /// For an embedded host: the function that raises the event of a timer, by the number that the timer has; none without timers.
    fn expire(&mut self, timeouts: &[(String, String)], never_stop: &[String]) -> Option<String> {
        if timeouts.is_empty() {
            return None;
        }
        let name = self.names.file.take(&format!("{}_expire", self.names.policy));
        let mut text = format!(
            "\n/* The event of a timer, by the timer's number. */\n\
             CATAPULTS_INLINE const struct catapults_stop *{name}(uint32_t timeout, struct catapults_thread *t) {{\n    switch (timeout) {{\n"
        );
        for (number, event) in
            self.policy.attributes.iter().filter_map(|attribute| attribute.timer.as_ref()).enumerate()
        {
            let Some((_, function)) = timeouts.iter().find(|(name, _)| name == event) else { continue };
            let body = if never_stop.contains(function) {
                format!("{function}(t);\n        return NULL;")
            } else {
                format!("return {function}(t);")
            };
            let _ = write!(text, "    case {number}: /* {event} */\n        {body}\n");
        }
        text.push_str("    }\n    return NULL;\n}\n");
        self.put(&text);
        Some(name)
    }

    /// Whether the thread `t` of a macro is in a container of this class.
    fn holds(&self, wanted: StateClass) -> String {
        let all = (0..self.policy.containers.len()).map(ContainerId);
        let of_class: Vec<ContainerId> = all.filter(|id| self.policy.containers[id.0].class == wanted).collect();
        let groups = arrays::groups(self.policy, &of_class);
        let holds: Vec<String> = groups.iter().map(|group| format!("({})", group.holds(&self.names, "(t)"))).collect();
        if holds.is_empty() { "(void)(t), 0".to_owned() } else { holds.join(" || ") }
    }

    fn kind(&self, kind: &ContainerKind) -> String {
        match kind {
            ContainerKind::Threadref => "threadref".to_owned(),
            ContainerKind::Queue => "queue".to_owned(),
            ContainerKind::Stack => "stack".to_owned(),
            ContainerKind::Pqueue(keys) => format!("pqueue, {} first", self.keys(keys)),
            ContainerKind::Pstack(keys) => format!("pstack, {} first", self.keys(keys)),
        }
    }

    fn keys(&self, keys: &[SortKey]) -> String {
        let key = |key: &SortKey| {
            let name = &self.verified.policy().attributes[key.attribute.0].name;
            format!("{} {name}", if key.reverse { "lowest" } else { "highest" })
        };
        keys.iter().map(key).collect::<Vec<_>>().join(", then ")
    }
}

/// Members of a struct, with their comments in one column.
fn members(rows: &[(String, String)]) -> String {
    let width = rows.iter().filter(|row| !row.1.is_empty()).map(|row| row.0.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (declaration, note) in rows {
        let _ = match note.as_str() {
            "" => writeln!(text, "    {declaration}"),
            note => writeln!(text, "    {declaration:width$} /* {note} */"),
        };
    }
    text
}

/// How a member is declared; `None` for the elements of an array but the first, which declares them all.
fn declared(name: &str, element: Option<Element>) -> Option<String> {
    match element {
        None => Some(name.to_owned()),
        Some(Element { index: 0, length }) => Some(format!("{}[{length}]", Element::array(name))),
        Some(_) => None,
    }
}

/// The statement that sets a container up.
fn emptied(style: Style, container: &Container, member: &str) -> String {
    let of_self = style.of_self();
    match container.kind {
        ContainerKind::Threadref => format!("{of_self}{member} = NULL;"),
        ContainerKind::Queue | ContainerKind::Stack => {
            format!("catapults_{}_init(&{of_self}{member});", list(style, &container.kind))
        }
        ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => format!("catapults_sorted_init(&{of_self}{member});"),
    }
}

/// The statements that give variables what they hold at first; of an array, in a loop if that is the same everywhere.
fn initialised(object: &str, variables: &[(Option<Element>, Value)], names: &[String]) -> String {
    let mut text = String::new();
    for (index, ((element, initial), name)) in variables.iter().zip(names).enumerate() {
        let value = expression::literal(*initial);
        let first = index - element.map_or(0, |element| element.index);
        let all = &variables[first..first + element.map_or(1, |element| element.length)];
        let alike = all.len() > 1 && all.iter().all(|(_, other)| other == initial);
        let _ = match element {
            Some(Element { index: 0, length }) if alike => write!(
                text,
                "    for (unsigned i = 0; i < {length}; i++)\n        {object}{}[i] = {value};\n",
                Element::array(name)
            ),
            Some(_) if alike => Ok(()),
            Some(_) | None => writeln!(text, "    {object}{name} = {value};"),
        };
    }
    text
}

/// The member of an imported variable.
fn imported(style: Style, import: &Import, (variable, fallback): &(String, String)) -> (String, String) {
    let ty = type_name(import.ty);
    let declaration = match style {
        Style::Loaded => format!("{ty} *{variable}, {fallback};"),
        Style::Embedded => format!("{ty} {variable};"),
    };
    (declaration, "imported".to_owned())
}

fn defaults(style: Style, object: &str, import: &Import, (variable, fallback): &(String, String)) -> String {
    let value = expression::literal(import.default);
    match style {
        Style::Loaded => {
            format!("    {object}{fallback} = {value};\n    {object}{variable} = &{object}{fallback};\n")
        }
        Style::Embedded => format!("    {object}{variable} = {value};\n"),
    }
}

fn import_table(table: &str, owner: &str, imports: &[Import], names: &[(String, String)]) -> String {
    if imports.is_empty() {
        return String::new();
    }
    let mut text = format!("\nstatic const struct catapults_import {table}[] = {{\n");
    for (import, (pointer, fallback)) in imports.iter().zip(names) {
        let kind = match import.ty {
            Type::Int => "CATAPULTS_IMPORT_INT",
            Type::Bool => "CATAPULTS_IMPORT_BOOL",
            Type::Time => "CATAPULTS_IMPORT_TIME",
            Type::Float => "CATAPULTS_IMPORT_FLOAT",
        };
        let _ = writeln!(
            text,
            "    {{{}, {kind}, offsetof(struct {owner}, {pointer}), offsetof(struct {owner}, {fallback})}},",
            string(&import.name)
        );
    }
    text.push_str("};\n");
    text
}

/// The statement that takes `thread` out of a container that holds it.
fn removal(policy: &Policy, names: &Names, group: &Group, thread: &str) -> String {
    let member = format!("{}{}", names.style.of_self(), group.member(names, thread));
    match policy.containers[group.id().0].kind {
        ContainerKind::Threadref => format!("{member} = NULL;"),
        ContainerKind::Queue | ContainerKind::Stack => {
            let list = list(names.style, &policy.containers[group.id().0].kind);
            format!("catapults_{list}_remove(&{member}, {thread});")
        }
        ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
            format!("catapults_sorted_remove(&{member}, {thread});")
        }
    }
}

/// What the containers of an unsorted kind are called: a stack has no last thread that a small host would keep.
fn list(style: Style, kind: &ContainerKind) -> &'static str {
    if style == Style::Embedded && *kind == ContainerKind::Stack { "stack" } else { "list" }
}

/// What a small sorted container must know of a thread that enters: whether it goes behind its equals.
fn ties_at_entry(style: Style, kind: &ContainerKind) -> String {
    match style {
        Style::Loaded => String::new(),
        Style::Embedded => format!(", {}", ties(kind)),
    }
}

/// Which of equal keys leaves a sorted container first.
fn ties(kind: &ContainerKind) -> &'static str {
    match kind {
        ContainerKind::Pstack(_) | ContainerKind::Stack => "CATAPULTS_LIFO",
        ContainerKind::Pqueue(_) | ContainerKind::Queue | ContainerKind::Threadref => "CATAPULTS_FIFO",
    }
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Int => "catapults_int",
        Type::Bool => "bool",
        Type::Time => "catapults_time",
        Type::Float => "double",
    }
}

fn zero(ty: Type) -> &'static str {
    match ty {
        Type::Int | Type::Time => "0",
        Type::Float => "0.0",
        Type::Bool => "false",
    }
}

fn class(class: StateClass) -> &'static str {
    match class {
        StateClass::Running => "RUNNING",
        StateClass::Ready => "READY",
        StateClass::Blocked => "BLOCKED",
        StateClass::Terminated => "TERMINATED",
    }
}

/// A string literal. `?` is escaped because of trigraphs.
fn string(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' | '?' => {
                literal.push('\\');
                literal.push(character);
            }
            control if control.is_ascii_control() => {
                let _ = write!(literal, "\\{:03o}", u32::from(control));
            }
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

/// Text that cannot end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(char::is_control, " ")
}
