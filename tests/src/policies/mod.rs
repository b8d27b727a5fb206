//! Random schedulers, as source text: well-typed, and good often enough to be accepted.

mod expressions;
mod families;
mod links;
mod nodes;
mod relations;
mod statements;

pub use families::in_families;

use std::fmt::Write;

use crate::choices::Choices;
use catapults_compiler::framework::{Absent, Extent, Feature, Framework};

/// A scheduler for the native framework. The same bytes give the same text; the fewer and smaller they are, the simpler it is.
pub fn random(bytes: &[u8]) -> String {
    written(bytes, &Feature::ALL, &|_| true, &[], SOME_HAVE_NODES)
}

/// A scheduler for a framework, of what its dialect and its events allow.
pub fn random_for(framework: &Framework, bytes: &[u8]) -> String {
    with_nodes(framework, bytes, SOME_HAVE_NODES)
}

/// In how many of a hundred, if the dialect has nodes.
const SOME_HAVE_NODES: usize = 25;

fn with_nodes(framework: &Framework, bytes: &[u8], chance: usize) -> String {
    let features: Vec<Feature> = framework.dialect.features.iter().copied().collect();
    let known = ["newthread", "schedule", "switch_out", "event_raised"];
    let of_all = framework.events.iter().filter(|event| event.extent == Extent::Any); // these have no nodes
    let required = of_all.filter(|event| matches!(event.absent, Absent::Required));
    let others: Vec<&str> = required.map(|event| event.name.as_str()).filter(|name| !known.contains(name)).collect();
    written(bytes, &features, &|name| framework.events.iter().any(|event| event.name == name), &others, chance)
}

/// `others`: events that every policy must handle, and that make a thread ready.
fn written(
    bytes: &[u8],
    features: &[Feature],
    has: &dyn Fn(&str) -> bool,
    others: &[&str],
    chance_of_nodes: usize,
) -> String {
    let mut choices = Choices::new(bytes);
    let mut writer = Writer {
        features,
        has,
        others,
        ready: Vec::new(),
        running: Vec::new(),
        arrays: Vec::new(),
        blocked: Vec::new(),
        out: String::new(),
        fresh: 0,
        timers: false,
        links: false,
        next: false,
        nodes: None,
        chance_of_nodes,
        choices: &mut choices,
    };
    writer.scheduler();
    writer.out
}

struct Writer<'a, 'b> {
    choices: &'a mut Choices<'b>,
    /// The optional parts of the language that can be used.
    features: &'a [Feature],
    /// Whether there is an event of this name.
    has: &'a dyn Fn(&str) -> bool,
    /// Events that must be handled, besides those of every host.
    others: &'a [&'a str],
    ready: Vec<(String, bool)>,
    running: Vec<String>,
    /// Arrays of containers, which are sources as a whole.
    arrays: Vec<String>,
    blocked: Vec<String>,
    out: String,
    fresh: usize,
    /// Threads have timers, `e` and `g`.
    timers: bool,
    /// Threads have links to others, `lk` and `lm`.
    links: bool,
    /// There is a threadref `next` for the thread that is to be next.
    next: bool,
    /// Of a policy that has an instance for each node.
    nodes: Option<nodes::Nodes>,
    /// In how many of a hundred policies there are nodes, if the dialect has them.
    chance_of_nodes: usize,
}

/// What can be said at a point of a handler.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// The thread given; it can be moved anywhere. Where no instance is, a node.
    thread: Option<String>,
    /// The thread visited; only it can be moved. Where no instance is, a node.
    cursor: Option<String>,
    /// Whether this runs in the instance of no node: no `data` is there, and nodes are.
    far: bool,
    /// What else is given: a thread where nodes are moved, a node where threads are.
    other: Option<String>,
    /// Whether threads can be sent to nodes.
    sends: bool,
    /// Whether the handler may put a thread into a RUNNING container.
    dispatches: bool,
    /// Statements inside statements.
    depth: usize,
    /// Whether this is in a loop that can be left early, and still ends.
    loops: bool,
}

impl Writer<'_, '_> {
    /// Whether this part of the language exists where the policy goes.
    fn may(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    fn scheduler(&mut self) {
        self.line("scheduler random {");
        let (times, floats) = (self.may(Feature::Time), self.may(Feature::Floats));
        let part = |there: bool, text: &'static str| if there { text } else { "" };
        let (time, float) = (part(times, " time d = 1ms;"), part(floats, " float f = 0.5;"));
        self.line(&format!("  thread {{ int a = 1; int b; bool c; int h[2];{time}{float} }}"));
        let (time, float) = (part(times, " time tt default 2ms;"), part(floats, " float tf default 1.0;"));
        self.line(&format!("  threadimports {{ int ti default 0; bool tb default false;{time}{float} }}"));
        self.timers = self.choices.chance(40) && self.may(Feature::Timers);
        if self.timers {
            self.line("  thread { timer e, g; }");
        }
        self.line("  function int smaller(int x, int y) { if (x < y) return x; int z = y; return z; }");
        self.line("  function bool old(t, int least) { if (t.a > least) { t.b++; return true; } else if (gb) return t.c; return t.ti > t.b; }");
        let (time, float) = (part(times, " time gt default 5us;"), part(floats, " float gf default -2.5e-3;"));
        self.line(&format!("  imports {{ int gi default 0; bool gb default true;{time}{float} }}"));
        if self.choices.chance(self.chance_of_nodes) && self.may(Feature::Nodes) {
            self.declare_nodes();
        }
        self.links = self.nodes.is_none() && self.choices.chance(40);
        if self.links {
            self.line("  thread { threadref lk, lm; }");
        }
        self.line("  data {");
        if self.nodes.is_none() {
            self.constants();
        }
        self.variables("");
        self.running = vec!["current".to_owned()];
        if self.choices.chance(15) {
            self.running.push("other".to_owned());
        }
        for name in self.running.clone() {
            self.line(&format!("    threadref {name} : RUNNING;"));
        }
        for index in 0..=self.choices.below(4) {
            let name = format!("r{index}");
            let kind = match self.choices.below(9) {
                5 if !times => 3,
                6 if !times || !floats => 4,
                kind => kind,
            };
            let declaration = match kind {
                0 | 1 => format!("queue {name}"),
                2 => format!("stack {name}"),
                3 => format!("pqueue {name} sortable on a"),
                4 => format!("pstack {name} reverse sortable on b, c"),
                6 => format!("pstack {name} sortable on f, reverse d"),
                5 => format!("pqueue {name} sortable on reverse d, a"),
                _ => format!("threadref {name}"),
            };
            // The first holds any number of threads, so that most policies can be good.
            let declaration = if index == 0 && kind > 6 { format!("queue {name}") } else { declaration };
            self.ready.push((name, index > 0 && kind > 6));
            self.line(&format!("    {declaration} : READY;"));
        }
        if self.choices.chance(60) {
            self.array();
        }
        self.next = self.choices.chance(30) && (self.has)("set_next_thread");
        if self.next {
            self.line("    threadref next : READY;");
        }
        if self.choices.chance(30) {
            self.blocked.push("parked".to_owned());
            self.line("    queue parked : BLOCKED;");
            for (name, declaration) in [("frozen", "pqueue frozen sortable on a"), ("held", "threadref held")] {
                if self.choices.chance(40) {
                    self.blocked.push(name.to_owned());
                    self.line(&format!("    {declaration} : BLOCKED;"));
                }
            }
        }
        self.line("  }");
        self.handlers();
        self.line("}");
    }

    fn constants(&mut self) {
        self.line("    const int K = 2;");
        if self.may(Feature::Time) {
            self.line("    const time SLICE = 20 * 1ms - 1ns;");
        }
        if self.may(Feature::Floats) {
            self.line("    const float HALF = 1.0 / 2.0;");
        }
        self.line("    const int W[3] = { 1, 0, 2 };");
        self.line("    enum { LOW, MIDDLE, HIGH };");
    }

    /// Variables of all types, whose names start so.
    fn variables(&mut self, prefix: &str) {
        if self.may(Feature::Time) {
            self.line(&format!("    time {prefix}last;"));
        }
        if self.may(Feature::Floats) {
            self.line(&format!("    float {prefix}load = 1e3;"));
        }
        self.line(&format!("    int {prefix}v, {prefix}w = 3, {prefix}level, {prefix}arr[3] = {{ 2, 0, 1 }};"));
        self.line(&format!("    bool {prefix}flag = true;"));
    }

    /// An array of containers, with elements that are named by all sorts of indices.
    fn array(&mut self) {
        let kind = self.choices.one_of(&["queue", "stack", "pqueue", "pstack", "threadref"]);
        let keys = if kind.starts_with('p') { " sortable on a" } else { "" };
        self.line(&format!("    {kind} q[3]{keys} : READY;"));
        self.arrays.push("q".to_owned());
        let indices: &[&str] = if kind == "threadref" {
            &["0", "1", "2"]
        } else {
            &["0", "2", "v", "v", "w", "gi", "v + 1", "arr[v]", "W[v]", "|r0|", "arr[0] - v"]
        };
        for _ in 0..2 + self.choices.below(3) {
            let index = self.choices.one_of(indices);
            self.ready.push((format!("q[{index}]"), kind == "threadref"));
        }
    }

    /// What `schedule` looks into: single containers, and arrays as a whole.
    fn sources(&self) -> Vec<String> {
        let single = self.ready.iter().map(|(name, _)| name.clone()).filter(|name| !name.contains('['));
        single.chain(self.arrays.clone()).chain(self.next.then(|| "next".to_owned())).collect()
    }

    fn handlers(&mut self) {
        if self.choices.chance(30) && (self.has)("init") {
            self.handler("event init", Scope::default(), None);
        }
        // A thread that comes from elsewhere cannot be refused.
        let migrates = self.nodes.is_some() && self.choices.chance(50);
        if self.choices.chance(20) && self.may(Feature::Failure) && (migrates || self.nodes.is_none()) {
            self.line("  event newthread(t) {");
            let reason = if self.choices.chance(50) { "{t.ti} of {gb} {{{-t.ti * 3}}}" } else { "no room" };
            self.line(&format!("    if (t.ti > 2 || gb == false) fail \"{reason}\";"));
            self.rest(given("t"), Some("READY"), 3);
        } else {
            self.handler("event newthread(t)", given("t"), Some("READY"));
        }
        if migrates {
            self.handler("event migrate(t)", given("t"), Some("READY"));
        }
        self.of_nodes();
        self.schedule();
        let named = (self.has)("set_next_thread");
        if !self.next && self.choices.chance(20) && named {
            self.handler("event switch_out, event_raised, set_next_thread(t)", given("t"), Some("READY"));
        } else {
            self.handler("event switch_out(t)", given("t"), Some("READY"));
            self.handler("event event_raised(t)", given("t"), Some("READY"));
            if self.next {
                self.line("  event set_next_thread(t) {");
                self.block(&given("t"), 1);
                self.line("    t => next;");
                self.line("  }");
            } else if self.choices.chance(40) && named {
                self.handler("event set_next_thread(t)", given("t"), Some("READY"));
            }
        }
        for event in self.others {
            self.handler(&format!("event {event}(t)"), given("t"), Some("READY"));
        }
        if self.timers {
            let (running, ready) = (self.choices.one_of(&self.running.clone()), self.ready[0].0.clone());
            self.line("  event timeout.e(t) {");
            self.line(&format!("    if (t in {running}) t => {ready};"));
            self.line("    t.g = now + 1ms;");
            self.meddle(Some("t"));
            self.rest(Scope::default(), None, 3);
            self.line("  event timeout.*(t) { if (t.e == 0ns && t.g == 0ns) t.e = now; v++; }");
        }
        if !self.blocked.is_empty() && self.choices.chance(50) {
            self.handler("event block.*(t)", given("t"), Some("BLOCKED"));
        }
        if !self.blocked.is_empty() && self.choices.chance(50) && (self.has)("suspend_thread") {
            self.handler("event suspend_thread(t)", given("t"), Some("BLOCKED"));
            if self.choices.chance(50) {
                self.handler("event resume_thread(t)", given("t"), Some("READY"));
            }
        }
        if self.choices.chance(30) {
            let (first, condition) = (self.ready[0].0.clone(), self.condition(&Scope::default(), 2));
            self.line(&format!("  query threads_ready {{ if ({condition}) return |{first}|; return v; }}"));
        }
    }

    fn handler(&mut self, header: &str, scope: Scope, class: Option<&str>) {
        self.line(&format!("  {header} {{"));
        self.rest(scope, class, 3);
    }

    /// The statements of a handler, at most so many; at last, mostly, what stores the thread.
    fn rest(&mut self, scope: Scope, class: Option<&str>, most: usize) {
        if !scope.far && !self.blocked.is_empty() && self.choices.chance(30) {
            self.meddle(None);
        }
        self.block(&scope, most);
        if let (Some(class), Some(thread)) = (class, &scope.thread)
            && !self.choices.chance(4)
        {
            let all = self.containers(&scope);
            let slot_or_else = all.iter().find(|(_, slot)| *slot).cloned();
            match (class, slot_or_else) {
                ("READY", Some((slot, _))) if self.choices.chance(30) => {
                    let other = all[0].0.clone();
                    self.line(&format!("    if (|{slot}| == 0) {thread} => {slot}; else {thread} => {other};"));
                }
                ("READY", _) => {
                    let pick = self.choices.below(all.len().min(2));
                    self.line(&format!("    {thread} => {};", all[pick].0));
                }
                _ => {
                    let names = self.blocked.clone();
                    let name = self.choices.one_of(&names);
                    if name == "held" {
                        self.line(&format!("    if (|held| > 0) {thread} => parked; else"));
                    }
                    self.line(&format!("    {thread} => {name};"));
                }
            }
        }
        self.line("  }");
    }

    /// Moves threads that are blocked, this one or those that nobody has named.
    fn meddle(&mut self, thread: Option<&str>) {
        if self.blocked.len() < 2 {
            return;
        }
        let names = self.blocked.clone();
        let (from, to) = (self.choices.one_of(&names), self.choices.one_of(&names));
        let room = if to == "held" { " && |held| == 0" } else { "" };
        match (thread, self.choices.below(3)) {
            (Some(thread), _) => self.line(&format!("    if ({thread} in {from}{room}) {thread} => {to};")),
            (None, 0) => self.line(&format!("    foreach b in {from} {{ if (b.a > 0{room}) b => {to}; }}")),
            (None, _) => self.line(&format!("    if (|{from}| > 0{room}) {from} => {to};")),
        }
    }

    fn schedule(&mut self) {
        self.line("  event schedule {");
        let scope = Scope { dispatches: true, ..Scope::default() };
        self.block(&scope, 3);
        let target = self.choices.one_of(&self.running.clone());
        let mut names = self.sources();
        // Any order will do, as long as the last one can be reached by elimination.
        let turn = self.choices.below(names.len());
        names.rotate_left(turn);
        let last = names.pop().unwrap_or_default();
        for name in names {
            if self.choices.chance(97) || !self.choices.any_left() {
                let condition = self.choices.one_of(&[
                    format!("|{name}| > 0"),
                    format!("|{name}|"),
                    format!("!empty({name})"),
                    format!("|{name}| > 0 && |{last}| < 2"),
                ]);
                self.line(&format!("    if ({condition}) {name} => {target}; else"));
            }
        }
        self.line(&format!("    {last} => {target};"));
        self.line(&format!("    dispatch {target};"));
        self.line("  }");
    }

    /// What can be moved to and from: containers of threads or of nodes, each with whether it has room for only one.
    fn containers(&self, scope: &Scope) -> Vec<(String, bool)> {
        match &self.nodes {
            Some(nodes) if scope.far => nodes.containers.clone(),
            Some(_) | None => self.ready.clone(),
        }
    }

    fn container(&mut self, scope: &Scope) -> (String, bool) {
        let all = self.containers(scope);
        self.choices.one_of(&all)
    }

    /// Those that have room for any number.
    fn lists(&self, scope: &Scope) -> Vec<String> {
        self.containers(scope).into_iter().filter(|(_, slot)| !slot).map(|(name, _)| name).collect()
    }

    fn arrays_of(&self, scope: &Scope) -> Vec<String> {
        match &self.nodes {
            Some(nodes) if scope.far => nodes.arrays.clone(),
            Some(_) | None => self.arrays.clone(),
        }
    }

    fn name(&mut self, base: &str) -> String {
        self.fresh += 1;
        format!("{base}{}", self.fresh)
    }

    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{text}");
    }
}

fn given(thread: &str) -> Scope {
    Scope { thread: Some(thread.to_owned()), ..Scope::default() }
}
