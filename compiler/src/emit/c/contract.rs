//! How a file presents itself to its host: by a description with a table of handlers, or by handlers' names.

use std::fmt::Write;

use crate::policy::{ContainerId, Element, Entity, Import, Owner, Policy, StateClass, Type};

use super::host::{Contract, Instance, Memory};
use super::names::{Names, Stop};
use super::{Unit, arrays, class, string};

/// A function and its name.
struct Yields {
    name: String,
    text: String,
}

impl Unit<'_> {
    /// The tables, and the policy itself. `within`: its name among the policies of a hierarchy.
    pub(super) fn tail(
        &mut self,
        within: Option<&str>,
        table: &[(String, String)],
        timeouts: &[(String, String)],
        start: &str,
        adopt: &str,
        of_nodes: &str,
    ) {
        let prefix = self.names.policy.clone();
        let of = |part: &str| format!("{prefix}_{part}");
        let (handlers, imports, thread_imports) = (of("handlers"), of("imports"), of("thread_imports"));
        let (handlers, imports) = (self.names.file.take(&handlers), self.names.file.take(&imports));
        let thread_imports = self.names.file.take(&thread_imports);
        let classes = self.names.file.take(&of("classes"));
        let attribute_table = self.names.file.take(&of("attributes"));
        let timeout_table = self.names.file.take(&of("timeouts"));
        let running_table = self.names.file.take(&of("running"));
        let place_table = self.names.file.take(&of("places"));
        let yields = self.yields(table);
        let (policy, names) = (self.policy, &self.names);

        let mut text = String::new();
        if let Some(function) = &yields {
            text.push_str(&function.text);
        }
        let _ = write!(text, "\nstatic const struct {}_handlers {handlers} = {{\n", self.framework.name);
        for (member, function) in table {
            let _ = writeln!(text, "    .{member} = {function},");
        }
        text.push_str("};\n");
        let _ = writeln!(text, "\nstatic const uint8_t {classes}[] = {{");
        for (container, number) in policy.containers.iter().zip(&names.numbers) {
            let _ = writeln!(text, "    [{number}] = CATAPULTS_{},", class(container.class));
        }
        text.push_str("};\n");
        let once = if policy.has_nodes() { &names.shared } else { &names.policy };
        text.push_str(&import_table(&imports, once, &policy.imports, &names.imports));
        text.push_str(&import_table(&thread_imports, &names.thread, &policy.thread_imports, &names.thread_imports));
        let attributes = attribute_rows(policy, names);
        if !attributes.is_empty() {
            let rows = attributes.concat();
            let _ = writeln!(text, "\nstatic const struct catapults_attribute {attribute_table}[] = {{\n{rows}}};");
        }
        if !timeouts.is_empty() {
            let _ = writeln!(text, "\nstatic const struct catapults_timeout {timeout_table}[] = {{");
            // In the order of the numbers that threads give their timers.
            for event in policy.attributes.iter().filter_map(|attribute| attribute.timer.as_ref()) {
                let function = timeouts.iter().find(|(name, _)| name == event).map_or("NULL", |(_, function)| function);
                let _ = writeln!(text, "    {{{}, {function}}},", string(event));
            }
            text.push_str("};\n");
        }
        let parts = running_parts(policy, names);
        if !parts.is_empty() {
            let rows = parts.concat();
            let _ = writeln!(text, "\nstatic const struct catapults_part {running_table}[] = {{\n{rows}}};");
        }
        let places = place_rows(policy);
        if !places.is_empty() {
            let rows = places.concat();
            let _ = writeln!(text, "\nstatic const struct catapults_place {place_table}[] = {{\n{rows}}};");
        }
        let table_or_null =
            |name: &str, list: &[Import]| if list.is_empty() { "NULL".to_owned() } else { name.to_owned() };
        let _ = write!(
            text,
            "\nextern const struct catapults_policy CATAPULTS_EXPORTED({symbol});\n\
             {visible}const struct catapults_policy CATAPULTS_EXPORTED({symbol}) = {{\n\
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
             {attributes}{now}{random}{timers}{places}{running}{ready_order}{unbounded}\
             \x20   .moved_by = CATAPULTS_MOVED_BY,\n\
             \x20   .start = {start},\n\
             \x20   .adopt = {adopt},\n\
             \x20   .handlers = &{handlers},\n\
             {yields}{of_nodes}\
             }};\n\n\
             /* For a dispatcher that includes this file, so that the handlers inline into it. */\n\
             #define CATAPULTS_COMPILED_IN_HANDLERS {handlers}\n\
             #define CATAPULTS_COMPILED_IN_INSTANCE struct {instance}\n\
             #define CATAPULTS_COMPILED_IN_THREAD struct {thread}\n",
            symbol = within.unwrap_or("catapults_policy"),
            visible = if within.is_none() { "__attribute__((visibility(\"default\"))) " } else { "" },
            abi = self.framework.abi,
            instance = names.policy,
            thread = names.thread,
            imports_count = policy.imports.len(),
            thread_imports_count = policy.thread_imports.len(),
            framework = string(&policy.framework),
            name = string(&policy.name),
            source = string(&policy.source),
            now = if policy.uses_now() {
                format!("    .now = offsetof(struct {once}, {}),\n", names.now)
            } else {
                String::new()
            },
            random = if policy.uses_random() {
                format!("    .random = offsetof(struct {once}, {}),\n", names.random)
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
            attributes = if attributes.is_empty() {
                String::new()
            } else {
                format!("    .attributes_count = {},\n    .attributes = {attribute_table},\n", attributes.len())
            },
            places = if places.is_empty() {
                String::new()
            } else {
                format!("    .places_count = {},\n    .places = {place_table},\n", places.len())
            },
            running = if parts.is_empty() {
                String::new()
            } else {
                format!("    .running_count = {},\n    .running = {running_table},\n", parts.len())
            },
            ready_order = policy
                .ready_order()
                .map_or_else(String::new, |(ready, _)| { format!("    .ready_order = {},\n", names.orders[ready.0]) }),
            yields = yields.map_or_else(String::new, |function| format!("    .yield = {},\n", function.name)),
            unbounded = if policy.is_unbounded() { "    .unbounded = 1,\n" } else { "" },
            imports = table_or_null(&imports, &policy.imports),
            thread_imports = table_or_null(&thread_imports, &policy.thread_imports),
        );
        if policy.uses_now() {
            let _ = writeln!(text, "#define CATAPULTS_COMPILED_IN_NOW {}", names.now);
        }
        for import in &policy.thread_imports {
            let _ = writeln!(text, "#define CATAPULTS_COMPILED_IN_THREADIMPORT_{}", import.name);
        }
        if policy.has_nodes() {
            let _ = writeln!(text, "#define CATAPULTS_COMPILED_IN_SHARED struct {}", names.shared);
        }
        self.put(&text);
    }

    /// The handlers of `switch_out` and `schedule` in one function, for a host that raises one right after the other.
    fn yields(&mut self, table: &[(String, String)]) -> Option<Yields> {
        let handler = |event: &str| table.iter().find(|(member, _)| member == event).map(|(_, function)| function);
        let (switch_out, schedule) = (handler("switch_out")?, handler("schedule")?);
        let is = |name: &str, of: &[Entity], dispatches: bool| {
            let event = self.framework.events.iter().find(|event| event.name == name);
            event.is_some_and(|event| event.entities == of && event.dispatches() == dispatches)
        };
        let usual = is("switch_out", &[Entity::Thread], false) && is("schedule", &[], true);
        if !usual || self.policy.has_nodes() {
            return None;
        }
        let name = self.names.file.take(&format!("{}_yield", self.names.policy));
        let text = format!(
            "\n/* switch_out(t), and schedule */\n\
             static struct catapults_thread *{name}(void *self, struct catapults_thread *t, const struct catapults_stop **stop) {{\n\
             \x20   const struct catapults_stop *stopped = {switch_out}(self, t);\n\
             \x20   if (stopped) {{\n\
             \x20       *stop = stopped;\n\
             \x20       return t;\n\
             \x20   }}\n\
             \x20   return {schedule}(self, stop);\n\
             }}\n"
        );
        Some(Yields { name, text })
    }

    /// For a host that includes the file: how it raises events, asks queries and sets imported variables.
    pub(super) fn for_host(
        &mut self,
        table: &[(String, String)],
        timeouts: &[(String, String)],
        never_stop: &[String],
        start: &str,
        adopt: &str,
    ) {
        let expire = self.expire(timeouts, never_stop);
        let names = &self.names;
        let (given, of) = names.host.instance.of_macro(&names.policy);
        let mut text = format!(
            "\n/* For the host, which includes this file wherever it raises an event. */\n{}\
             #define CATAPULTS_NAME {}\n#define CATAPULTS_SOURCE {}\n\
             #define CATAPULTS_INSTANCE struct {}\n#define CATAPULTS_THREAD struct {}\n\
             #define CATAPULTS_START {start}\n#define CATAPULTS_ADOPT {adopt}\n",
            if names.host.instance == Instance::Object { "#undef self\n" } else { "" },
            string(&self.policy.name),
            string(&self.policy.source),
            names.policy,
            names.thread
        );
        for class in [StateClass::Running, StateClass::Ready, StateClass::Blocked] {
            let _ = writeln!(text, "#define CATAPULTS_IS_{}(t) ({})", self::class(class), self.holds(class));
        }
        for (handler, function) in table {
            let _ = writeln!(text, "#define CATAPULTS_HANDLER_{handler} {function}");
            let line = line_of(self.policy, handler);
            let _ = writeln!(text, "#define CATAPULTS_LINE_{handler} {line}");
            if never_stop.contains(function) {
                let _ = writeln!(text, "#define CATAPULTS_NEVER_STOPS_{handler}");
            }
        }
        for (import, name) in self.policy.imports.iter().zip(&names.imports) {
            let _ = writeln!(text, "#define CATAPULTS_IMPORT_{}{given} {of}{}", import.name, name.0);
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
            let _ = writeln!(text, "#define CATAPULTS_NOW{given} {of}{}", names.now);
        }
        let is_small = names.host.contract == Contract::Small;
        for event in self.framework.events.iter().filter(|event| is_small && self.verified.preempts(event)) {
            let _ = writeln!(text, "#define CATAPULTS_PREEMPTS_{}", event.name.replace('.', "_"));
        }
        if self.policy.refuses() && is_small {
            text.push_str("#define CATAPULTS_CAN_REFUSE\n");
        }
        if self.policy.tells() && (is_small || names.host.memory == Memory::Arena) {
            let _ = writeln!(text, "#define CATAPULTS_TOLD{given} {of}{}", names.told);
        }
        if self.policy.uses_random() {
            let _ = writeln!(text, "#define CATAPULTS_RANDOM{given} {of}{}", names.random);
        }
        if let Some(expire) = expire {
            let _ = write!(
                text,
                "#define CATAPULTS_TIMERS{given} {of}{}\n#define CATAPULTS_EXPIRE {expire}\n#define CATAPULTS_TIMEOUTS(of)",
                names.timers
            );
            for event in self.policy.attributes.iter().filter_map(|attribute| attribute.timer.as_ref()) {
                let _ = write!(text, " of({})", string(event));
            }
            text.push('\n');
        }
        if names.host.memory == Memory::Arena {
            text.push_str(&stops(&names.stops.borrow()));
            let running: String = running_members(self.policy, names).map(|member| format!(" of({member})")).collect();
            let _ = writeln!(text, "#define CATAPULTS_RUNNING(of){running}");
        }
        text.push_str("\n#endif\n");
        if !self.definitions.is_empty() {
            let _ = write!(
                text,
                "\n/* One file of the host has this; it can include this file a second time for it. */\n\
                 #ifdef CATAPULTS_DEFINE_INSTANCE\n{}#endif\n",
                self.definitions
            );
        }
        self.put(&text);
    }

    /// For a host that includes the file: the function that raises a timer's event, by the timer's number. `None`: no
    /// timers.
    fn expire(&mut self, timeouts: &[(String, String)], never_stop: &[String]) -> Option<String> {
        if timeouts.is_empty() {
            return None;
        }
        let name = self.names.file.take(&format!("{}_expire", self.names.policy));
        let host = self.names.host;
        let others = format!("uint32_t timeout, {}t", host.pointer("struct catapults_thread"));
        let (parameters, arguments) = (host.parameters(&self.names.policy, &others), host.instance.arguments("t"));
        let mut text = format!(
            "\n/* The event of a timer, by the timer's number. */\n\
             {} {}{name}({parameters}) {{\n    switch (timeout) {{\n",
            host.linkage(),
            host.stop()
        );
        for (number, event) in
            self.policy.attributes.iter().filter_map(|attribute| attribute.timer.as_ref()).enumerate()
        {
            let Some((_, function)) = timeouts.iter().find(|(name, _)| name == event) else { continue };
            let body = if never_stop.contains(function) {
                format!("{function}({arguments});\n        return {};", host.no_stop())
            } else {
                format!("return {function}({arguments});")
            };
            let _ = write!(text, "    case {number}: /* {event} */\n        {body}\n");
        }
        let _ = write!(text, "    }}\n    return {};\n}}\n", host.no_stop());
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
}

/// Why handlers stop, in the order of the numbers that they return, from 1.
fn stops(stops: &[Stop]) -> String {
    let all = stops.iter().map(|stop| format!(" of({}, {}, {})", stop.why, stop.line, string(&stop.text)));
    format!("#define CATAPULTS_STOPS(of){}\n", all.collect::<String>())
}

/// What the policy keeps for each thread, except timers: their values mean nothing to another policy.
fn attribute_rows(policy: &Policy, names: &Names) -> Vec<String> {
    let kept = policy
        .attributes
        .iter()
        .zip(&names.attributes)
        .filter(|(attribute, _)| attribute.timer.is_none() && attribute.of == Entity::Thread);
    kept.map(|(attribute, member)| {
        let (name, kind) = (string(&attribute.name), kind(attribute.ty));
        format!("    {{{name}, {kind}, offsetof(struct {}, {member})}},\n", names.thread)
    })
    .collect()
}

/// The RUNNING containers of threads, as parts of an instance.
fn running_parts(policy: &Policy, names: &Names) -> Vec<String> {
    let instance = &names.policy;
    let part = |member: String| {
        format!("    {{offsetof(struct {instance}, {member}), sizeof(((struct {instance} *)0)->{member})}},\n")
    };
    running_members(policy, names).map(part).collect()
}

/// The members of an instance that are RUNNING containers of threads; an array is one.
fn running_members(policy: &Policy, names: &Names) -> impl Iterator<Item = String> {
    let running = policy
        .containers
        .iter()
        .zip(&names.containers)
        .filter(|(container, _)| container.class == StateClass::Running && container.holds == Entity::Thread)
        .filter(|(container, _)| container.element.is_none_or(|element| element.index == 0));
    running.map(|(container, name)| container.element.map_or(name.as_str(), |_| Element::array(name)).to_owned())
}

/// Where the policy's own handlers begin.
fn place_rows(policy: &Policy) -> Vec<String> {
    let handlers = policy.events.iter().chain(&policy.queries);
    let own = handlers.filter(|handler| handler.owner == Owner::Policy);
    own.map(|handler| format!("    {{{}, {}}},\n", string(&handler.name), handler.at.line)).collect()
}

/// The line where the handler with this name in C begins; 0: it is the framework's.
fn line_of(policy: &Policy, handler: &str) -> u32 {
    let mut own = policy.events.iter().chain(&policy.queries).filter(|one| one.owner == Owner::Policy);
    own.find(|one| one.name.replace('.', "_") == handler).map_or(0, |one| one.at.line)
}

/// The type of a variable, for the host.
pub(super) fn kind(ty: Type) -> &'static str {
    match ty {
        Type::Int => "CATAPULTS_IMPORT_INT",
        Type::Bool => "CATAPULTS_IMPORT_BOOL",
        Type::Time => "CATAPULTS_IMPORT_TIME",
        Type::Float => "CATAPULTS_IMPORT_FLOAT",
    }
}

fn import_table(table: &str, owner: &str, imports: &[Import], names: &[(String, String)]) -> String {
    if imports.is_empty() {
        return String::new();
    }
    let mut text = format!("\nstatic const struct catapults_import {table}[] = {{\n");
    for (import, (pointer, fallback)) in imports.iter().zip(names) {
        let kind = kind(import.ty);
        let _ = writeln!(
            text,
            "    {{{}, {kind}, offsetof(struct {owner}, {pointer}), offsetof(struct {owner}, {fallback})}},",
            string(&import.name)
        );
    }
    text.push_str("};\n");
    text
}
