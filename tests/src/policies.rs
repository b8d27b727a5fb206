//! Random schedulers, as source text: well-typed, and good often enough to be accepted.

use std::fmt::Write;

use crate::choices::Choices;
use catapults_compiler::framework::{Absent, Feature, Framework};

/// A scheduler for the native framework. The same bytes give the same text; the fewer and smaller they are, the simpler it is.
pub fn random(bytes: &[u8]) -> String {
    written(bytes, &Feature::ALL, &|_| true, &[])
}

/// A scheduler for a framework, of what its dialect and its events allow.
pub fn random_for(framework: &Framework, bytes: &[u8]) -> String {
    let features: Vec<Feature> = framework.dialect.features.iter().copied().collect();
    let known = ["newthread", "schedule", "switch_out", "event_raised"];
    let required = framework.events.iter().filter(|event| matches!(event.absent, Absent::Required));
    let others: Vec<&str> = required.map(|event| event.name.as_str()).filter(|name| !known.contains(name)).collect();
    written(bytes, &features, &|name| framework.events.iter().any(|event| event.name == name), &others)
}

/// `others`: events that every policy must handle, and that make a thread ready.
fn written(bytes: &[u8], features: &[Feature], has: &dyn Fn(&str) -> bool, others: &[&str]) -> String {
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
        next: false,
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
    /// There is a threadref `next` for the thread that is to be next.
    next: bool,
}

/// What can be said at a point of a handler.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// The thread given; it can be moved anywhere.
    thread: Option<String>,
    /// The thread visited; only it can be moved.
    cursor: Option<String>,
    /// Whether the handler may put a thread into a RUNNING container.
    dispatches: bool,
    /// Statements inside statements.
    depth: usize,
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
        self.line("  data {");
        self.line("    const int K = 2;");
        if times {
            self.line("    const time SLICE = 20 * 1ms - 1ns;");
            self.line("    time last;");
        }
        if floats {
            self.line("    const float HALF = 1.0 / 2.0;");
            self.line("    float load = 1e3;");
        }
        self.line("    int v, w = 3;");
        self.line("    int level;");
        self.line("    bool flag = true;");
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
        self.line("    const int W[3] = { 1, 0, 2 };");
        self.line("    int arr[3] = { 2, 0, 1 };");
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

    /// A container that is looked at: arrays as a whole, and elements by what is kept of a thread, included.
    fn looked_at(&mut self, scope: &Scope) -> String {
        let mut names: Vec<String> = self.ready.iter().map(|(name, _)| name.clone()).collect();
        names.extend(self.arrays.clone());
        if self.next {
            names.push("next".to_owned());
        }
        match (self.thread(scope), self.arrays.first().cloned()) {
            (Some(thread), Some(array)) if self.choices.chance(25) => format!("{array}[{thread}.b]"),
            (_, _) => self.choices.one_of(&names),
        }
    }

    fn handlers(&mut self) {
        if self.choices.chance(30) && (self.has)("init") {
            self.handler("event init", Scope::default(), None);
        }
        if self.choices.chance(20) && self.may(Feature::Failure) {
            self.line("  event newthread(t) {");
            self.line("    if (t.ti > 2 || gb == false) fail \"no room\";");
            self.rest(given("t"), Some("READY"));
        } else {
            self.handler("event newthread(t)", given("t"), Some("READY"));
        }
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
            self.rest(Scope::default(), None);
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
        self.rest(scope, class);
    }

    /// The statements of a handler; at last, mostly, what stores the thread.
    fn rest(&mut self, scope: Scope, class: Option<&str>) {
        if !self.blocked.is_empty() && self.choices.chance(30) {
            self.meddle(None);
        }
        self.block(&scope, 3);
        if let (Some(class), Some(thread)) = (class, &scope.thread)
            && !self.choices.chance(4)
        {
            let slot_or_else = self.ready.iter().find(|(_, slot)| *slot).cloned();
            match (class, slot_or_else) {
                ("READY", Some((slot, _))) if self.choices.chance(30) => {
                    let other = self.ready[0].0.clone();
                    self.line(&format!("    if (|{slot}| == 0) {thread} => {slot}; else {thread} => {other};"));
                }
                ("READY", _) => {
                    let names: Vec<String> = self.ready.iter().map(|(name, _)| name.clone()).collect();
                    let pick = self.choices.below(names.len().min(2));
                    self.line(&format!("    {thread} => {};", names[pick]));
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

    fn block(&mut self, scope: &Scope, most: usize) {
        for _ in 0..self.choices.below(most + 1) {
            self.statement(scope);
        }
    }

    fn statement(&mut self, scope: &Scope) {
        let inner = Scope { depth: scope.depth + 1, ..scope.clone() };
        match self.choices.below(24) {
            20 => self.level(),
            21 => self.flagged(scope, &inner),
            22 if scope.cursor.is_none() => self.preemption(scope),
            23 => self.by_attribute(scope, &inner),
            0 => self.assignment(scope),
            10 | 11 => self.probe(scope),
            12 if scope.cursor.is_none() => self.emptying(),
            13 if scope.cursor.is_none() && scope.depth < 3 => self.sum(&inner),
            17 => self.call(scope),
            18 if self.may(Feature::Verbatim) => self.verbatim(scope),
            19 if self.timers => self.arm(scope),
            14 if scope.depth < 3 && self.may(Feature::Loops) => self.counting(scope, &inner),
            15 if scope.cursor.is_none() && scope.depth < 3 && self.may(Feature::Loops) => {
                self.draining(&inner);
            }
            16 if scope.depth < 3 && self.may(Feature::Loops) => self.at_least_once(scope, &inner),
            1 | 2 if scope.depth < 3 => {
                let condition = self.condition(scope, 2);
                self.line(&format!("    if ({condition}) {{"));
                self.block(&inner, 2);
                if self.choices.chance(50) {
                    self.line("    } else {");
                    self.block(&inner, 2);
                }
                self.line("    }");
            }
            3 if scope.cursor.is_none() => {
                let cursor = self.name("x");
                let container = self.looked_at(scope);
                self.line(&format!("    foreach {cursor} in {container} {{"));
                self.block(&Scope { cursor: Some(cursor), ..inner }, 2);
                self.line("    }");
            }
            4 | 5 => self.tested_transfer(scope),
            6 => {
                if let Some(thread) = scope.cursor.clone().or_else(|| scope.thread.clone()) {
                    self.store(&thread);
                }
            }
            7 if scope.cursor.is_none() => self.free_transfer(scope),
            8 if scope.dispatches && scope.cursor.is_none() => {
                let (from, to) =
                    (self.choices.one_of(&self.ready.clone()).0, self.choices.one_of(&self.running.clone()));
                self.line(&format!("    if (|{from}| > 0) {{ {from} => {to}; dispatch {to}; }}"));
            }
            9 => {
                let name = self.name("l");
                let value = self.int(scope, 2);
                self.line(&format!("    int {name} = {value}; v = {name};"));
            }
            _ => self.assignment(scope),
        }
    }

    /// A transfer that is preceded by its tests.
    fn tested_transfer(&mut self, scope: &Scope) {
        let (to, slot) = self.choices.one_of(&self.ready.clone());
        let vacant = if slot { format!("|{to}| == 0") } else { "true".to_owned() };
        match &scope.cursor {
            Some(cursor) => self.line(&format!("    if ({vacant}) {cursor} => {to};")),
            None => {
                let from = self.looked_at(scope);
                let test = self.choices.one_of(&[
                    format!("|{from}| > 0"),
                    format!("|{from}| >= 1"),
                    format!("|{from}| + |{from}| > 1"),
                ]);
                self.line(&format!("    if ({test} && {vacant}) {from} => {to};"));
            }
        }
    }

    /// A transfer that changes nothing but needs a thread: what the verifier claims of the container shows here.
    fn probe(&mut self, scope: &Scope) {
        let lists: Vec<String> = self.ready.iter().filter(|(_, slot)| !slot).map(|(name, _)| name.clone()).collect();
        let list = self.choices.one_of(&lists);
        match (&scope.cursor, &scope.thread) {
            (None, None) => self.line(&format!("    {list} => {list};")),
            (None, Some(thread)) if self.choices.chance(50) => {
                self.line(&format!("    {list} => {list}; if ({thread} in {list}) {thread} => {list};"));
            }
            (None, Some(_)) => self.line(&format!("    {list} => {list};")),
            (Some(cursor), _) => self.line(&format!("    {cursor} => {list};")),
        }
    }

    /// A loop that takes threads out of a container that held some, and a probe of what is left.
    fn emptying(&mut self) {
        let lists: Vec<String> = self.ready.iter().filter(|(_, slot)| !slot).map(|(name, _)| name.clone()).collect();
        let (from, to, probed) =
            (self.choices.one_of(&lists), self.choices.one_of(&lists), self.choices.one_of(&lists));
        let (least, cursor) = (1 + self.choices.below(3), self.name("x"));
        let condition = self.choices.one_of(&["true", "gb", "false || gi < 4"]);
        self.line(&format!("    if (|{from}| >= {least}) {{"));
        self.line(&format!("    foreach {cursor} in {from} {{ if ({condition}) {cursor} => {to}; }}"));
        self.line(&format!("    {probed} => {probed};"));
        self.line("    }");
    }

    /// A variable that all handlers keep between bounds, or almost.
    fn level(&mut self) {
        let statement = self.choices.one_of(&[
            "if (level < 2) level++;",
            "if (level > 0) level--; else level = 2;",
            "level = 1;",
            "level = level + 1;",
            "level = (level + 1) % 3;",
            "level = level * 3 / 2 - 1;",
            "flag = !flag;",
            "flag = level > 1;",
            "if (level == 2) { flag = false; } else flag = true;",
        ]);
        self.line(&format!("    {statement}"));
    }

    /// What is known of a container is kept in a variable for a while; and what no value of a variable allows.
    fn flagged(&mut self, scope: &Scope, inner: &Scope) {
        let slots: Vec<String> = self.ready.iter().filter(|(_, slot)| *slot).map(|(name, _)| name.clone()).collect();
        let slot = if slots.is_empty() || self.choices.chance(30) {
            self.choices.one_of(&self.running.clone())
        } else {
            self.choices.one_of(&slots)
        };
        let test = self.choices.one_of(&[
            format!("flag = |{slot}| == 1; if (flag)"),
            format!("if (|{slot}| > 0) level = 2; else level = 0; if (level == 2)"),
            format!("level = |{slot}|; if (level > 0)"),
            format!("if (level > 2 || |{slot}| == 1)"),
            format!("if (level < 0 || |{slot}| != 0)"),
            format!("if (flag && |{slot}| == 1 || level != level / 1 && !flag)"),
        ]);
        self.line(&format!("    {test} {{"));
        if scope.depth < 3 && self.choices.chance(40) {
            self.block(inner, 1);
        }
        let read = self.choices.one_of(&["v = {}.a;", "{}.b++;", "{}.a = level;", "level = {}.b;"]);
        self.line(&format!("    {}", read.replace("{}", &slot)));
        self.line("    }");
    }

    /// Whoever runs is ready again, in an element that is named by what is kept of it, if there are such.
    fn preemption(&mut self, scope: &Scope) {
        let slot = self.choices.one_of(&self.running.clone());
        let (to, is_slot) = self.choices.one_of(&self.ready.clone());
        let to = match self.arrays.first() {
            Some(array) if self.choices.chance(60) => format!("{array}[{slot}.b]"),
            Some(_) | None => to,
        };
        let vacant = if is_slot || self.choices.chance(30) { format!(" && |{to}| == 0") } else { String::new() };
        self.line(&format!("    if (|{slot}| == 1{vacant}) {{ {slot}.a++; {slot} => {to}; }}"));
        if !to.contains('.') {
            self.probe(scope);
        }
    }

    /// An element that is named by what is kept of a thread, which another name can change.
    fn by_attribute(&mut self, scope: &Scope, inner: &Scope) {
        let (Some(thread), Some(array)) = (self.thread(scope), self.arrays.first().cloned()) else {
            return self.level();
        };
        let attribute = self.choices.one_of(&["a", "b", "h[v]", "h[1]"]);
        let (element, other) = (format!("{array}[{thread}.{attribute}]"), self.choices.one_of(&self.ready.clone()).0);
        self.line(&format!("    if (|{element}| > 0) {{"));
        self.block(&Scope { depth: 3, ..inner.clone() }, 1);
        match &scope.cursor {
            Some(cursor) => self.line(&format!("    if (|{other}| == 0) {cursor} => {element};")),
            None if self.choices.chance(50) => self.line(&format!("    {element} => {other};")),
            None => self.line(&format!("    {element} => {element};")),
        }
        self.line("    }");
    }

    /// A timer, armed for an instant to come, armed anew or disarmed.
    fn arm(&mut self, scope: &Scope) {
        if let Some(thread) = self.thread(scope) {
            let timer = self.choices.one_of(&["e", "g"]);
            let set = self.choices.one_of(&[
                "= now + 5ms",
                "= now + 1ms",
                "= now",
                "-= 1ms",
                "+= 5ms",
                "= 0ns",
                "= now - 1ms",
            ]);
            self.line(&format!("    {thread}.{timer} {set};"));
        }
    }

    /// Text in C that does what its `else` does.
    fn verbatim(&mut self, scope: &Scope) {
        let value = self.int(scope, 1);
        let name = self.name("l");
        self.line(&format!("    int {name} = {value};"));
        match (self.choices.below(3), self.thread(scope)) {
            (2, _) => self.line("    v = verbatim c int { (catapults_int)($now % 7) } else (now % 7ns) / 1ns;"),
            (0, Some(thread)) => self.line(&format!(
                "    verbatim c {{ $v = $v / 2 + ${thread}.a; }} else {{ v = v / 2 + {thread}.a; }} v += {name};"
            )),
            (_, _) => self.line(&format!("    v = verbatim c int {{ ${name} / 2 }} else {name} / 2;")),
        }
    }

    /// A call of a function, alone or within an expression.
    fn call(&mut self, scope: &Scope) {
        let (one, other) = (self.int(scope, 1), self.int(scope, 1));
        match (self.choices.below(3), self.thread(scope)) {
            (0, Some(thread)) => self.line(&format!("    if (old({thread}, {one})) {thread}.b = {other};")),
            (1, Some(thread)) => self.line(&format!("    {thread}.a = smaller({one}, smaller({other}, 2)) + 1;")),
            (_, _) => self.line(&format!("    v = smaller({one}, {other});")),
        }
    }

    /// A loop with a counter, and anything inside it.
    fn counting(&mut self, scope: &Scope, inner: &Scope) {
        let (counter, bound) = (self.name("i"), self.choices.below(4));
        let list = self.choices.one_of(&self.ready.clone()).0;
        let condition = self.condition(scope, 1);
        let head = self.choices.one_of(&[
            format!("for (int {counter} = 0; {counter} < {bound}; {counter}++)"),
            format!("for (int {counter} = {bound}; {counter} > 0 && ({condition}); --{counter})"),
            format!("for (int {counter} = 0; {counter} <= K && |{list}| > 0; {counter} += 1)"),
        ]);
        self.line(&format!("    {head} {{"));
        self.block(inner, 3);
        self.line("    }");
        if scope.cursor.is_none() && self.choices.chance(50) {
            self.probe(scope);
        }
    }

    /// A loop that goes on while there are threads, and a probe of what is left.
    fn draining(&mut self, inner: &Scope) {
        let lists: Vec<String> = self.ready.iter().filter(|(_, slot)| !slot).map(|(name, _)| name.clone()).collect();
        let (from, to, probed) =
            (self.choices.one_of(&lists), self.choices.one_of(&lists), self.choices.one_of(&lists));
        let (counter, least) = (self.name("n"), self.choices.below(2));
        self.line(&format!("    int {counter} = 9;"));
        // Only a counter ends what puts back all that it takes.
        let bounded = from == to || self.choices.chance(50);
        let bound = if bounded { format!(" && {counter} > 0") } else { String::new() };
        self.line(&format!("    while (|{from}| > {least}{bound}) {{"));
        self.line(&format!("    {counter} -= 1;"));
        if self.choices.chance(40) {
            self.block(&Scope { depth: 3, ..inner.clone() }, 1);
        }
        self.line(&format!("    {from} => {to};"));
        self.line("    }");
        self.line(&format!("    if (|{from}| == 0) {probed} => {probed};"));
    }

    /// A loop that tests its condition last.
    fn at_least_once(&mut self, scope: &Scope, inner: &Scope) {
        let (counter, bound) = (self.name("d"), self.choices.below(3));
        self.line(&format!("    int {counter} = {bound};"));
        self.line("    do {");
        self.line(&format!("    {counter}--;"));
        self.block(inner, 2);
        let condition = self.condition(scope, 1);
        self.line(&format!("    }} while ({counter} > 0 && ({condition}));"));
        if scope.cursor.is_none() {
            self.probe(scope);
        }
    }

    /// What follows from a sum of sizes, after something was done about it.
    fn sum(&mut self, inner: &Scope) {
        let lists: Vec<String> = self.ready.iter().filter(|(_, slot)| !slot).map(|(name, _)| name.clone()).collect();
        let (one, other) = (self.choices.one_of(&lists), self.choices.one_of(&lists));
        self.line(&format!("    if (|{one}| + |{other}| > 0) {{"));
        if self.choices.chance(60) {
            let (from, to) = (self.choices.one_of(&[one.clone(), other.clone()]), self.choices.one_of(&lists));
            self.line(&format!("    if (|{from}| > 0) {from} => {to};"));
        }
        self.block(inner, 2);
        self.line(&format!("    if (|{one}| == 0) {other} => {other};"));
        self.line("    }");
    }

    /// A transfer that may need guards.
    fn free_transfer(&mut self, scope: &Scope) {
        let mut sources = self.running.clone();
        sources.extend((0..3).map(|_| self.looked_at(scope)));
        let from = self.choices.one_of(&sources);
        let to = if scope.dispatches && self.choices.chance(20) {
            self.choices.one_of(&self.running.clone())
        } else {
            self.choices.one_of(&self.ready.clone()).0
        };
        if self.choices.chance(50) {
            self.line(&format!("    if (|{from}| > 0) {from} => {to};"));
        } else {
            self.line(&format!("    {from} => {to};"));
        }
    }

    fn store(&mut self, thread: &str) {
        let (to, slot) = self.choices.one_of(&self.ready.clone());
        if slot && self.choices.chance(80) {
            self.line(&format!("    if (|{to}| == 0) {thread} => {to};"));
        } else {
            self.line(&format!("    {thread} => {to};"));
        }
    }

    fn assignment(&mut self, scope: &Scope) {
        let thread = self.thread(scope);
        let value = self.int(scope, 2);
        let (times, floats) = (self.may(Feature::Time), self.may(Feature::Floats));
        match (self.choices.below(11), thread) {
            (9, _) if floats => {
                let (place, float) = (self.choices.one_of(&["load", "gf"]), self.float(scope, 2));
                let operator = self.choices.one_of(&["=", "+=", "-=", "*=", "/="]);
                self.line(&format!("    {place} {operator} {float};"));
            }
            (10, Some(thread)) if floats => {
                let (place, float) = (self.choices.one_of(&["f", "tf"]), self.float(scope, 2));
                self.line(&format!("    {thread}.{place} = {float};"));
            }
            (6, _) if times => {
                let (place, time) = (self.choices.one_of(&["last", "gt"]), self.time(scope, 2));
                let operator = self.choices.one_of(&["=", "+=", "-=", "%="]);
                self.line(&format!("    {place} {operator} {time};"));
            }
            (7, Some(thread)) if times => {
                let (place, time) = (self.choices.one_of(&["d", "tt"]), self.time(scope, 2));
                self.line(&format!("    {thread}.{place} = {time};"));
            }
            (8, Some(thread)) if times => {
                let operator = self.choices.one_of(&["*=", "/="]);
                self.line(&format!("    {thread}.d {operator} {value};"));
            }
            (0, _) => self.line(&format!("    v = {value};")),
            (1, Some(thread)) if self.choices.chance(30) => self.line(&format!("    {thread}.h[{value} + gi] += w;")),
            (1, _) if self.choices.chance(40) => self.line(&format!("    arr[{value} + gi] -= w;")),
            (1, _) => self.line("    w++;"),
            (2, Some(thread)) => self.line(&format!("    {thread}.a = {value};")),
            (3, Some(thread)) => self.line(&format!("    {thread}.b -= {value};")),
            (4, Some(thread)) => {
                let condition = self.condition(scope, 1);
                self.line(&format!("    {thread}.c = {condition};"));
            }
            (5, Some(thread)) => self.line(&format!("    {thread}.ti = {value};")),
            (_, _) => self.line(&format!("    gi = {value};")),
        }
    }

    /// A thread that can be named.
    fn thread(&mut self, scope: &Scope) -> Option<String> {
        let named: Vec<String> = scope.cursor.iter().chain(&scope.thread).cloned().collect();
        if named.is_empty() { None } else { Some(self.choices.one_of(&named)) }
    }

    fn int(&mut self, scope: &Scope, depth: usize) -> String {
        let container = self.looked_at(scope);
        let thread = self.thread(scope);
        match (self.choices.below(if depth == 0 { 6 } else { 11 }), thread) {
            (10, _) => "level".to_owned(),
            (9, _) if self.may(Feature::Floats) => format!("int({})", self.float(scope, depth - 1)),
            (8, _) if self.may(Feature::Time) => {
                format!("({} / {})", self.time(scope, depth - 1), self.time(scope, depth - 1))
            }
            (0, _) => self.choices.below(5).to_string(),
            (1, _) => self.choices.one_of(&["v", "v", "arr[v]", "arr[2]", "W[gi]"]).to_owned(),
            (2, _) => "gi".to_owned(),
            (3, Some(thread)) if self.choices.chance(30) => format!("{thread}.h[v]"),
            (3, Some(thread)) => format!("{thread}.a"),
            (4, Some(thread)) => format!("{thread}.ti"),
            (5, _) => format!("|{container}|"),
            (6 | 7, _) => {
                let operator = self.choices.one_of(&["+", "-", "*", "/", "%"]);
                format!("({} {operator} {})", self.int(scope, depth - 1), self.int(scope, depth - 1))
            }
            (_, _) => "K".to_owned(),
        }
    }

    fn float(&mut self, scope: &Scope, depth: usize) -> String {
        let thread = self.thread(scope);
        match (self.choices.below(if depth == 0 { 6 } else { 10 }), thread) {
            (0, _) => self.choices.one_of(&["0.0", "0.1", "2.5", "-1.0", "1e300", "3e-9"]).to_owned(),
            (1, _) => "load".to_owned(),
            (2, _) => "gf".to_owned(),
            (3, Some(thread)) => format!("{thread}.f"),
            (4, Some(thread)) => format!("{thread}.tf"),
            (5, _) => "HALF".to_owned(),
            (6 | 7, _) => {
                let operator = self.choices.one_of(&["+", "-", "*", "/"]);
                format!("({} {operator} {})", self.float(scope, depth - 1), self.float(scope, depth - 1))
            }
            (8, _) => format!("-({} * {})", self.float(scope, depth - 1), self.float(scope, depth - 1)),
            (_, _) => format!("float({})", self.int(scope, depth.saturating_sub(1))),
        }
    }

    fn time(&mut self, scope: &Scope, depth: usize) -> String {
        let thread = self.thread(scope);
        match (self.choices.below(if depth == 0 { 6 } else { 10 }), thread) {
            (0, _) => self.choices.one_of(&["0ns", "5ms", "20ms", "1s", "-3us", "9223372036854775807ns"]).to_owned(),
            (1, _) => "last".to_owned(),
            (2, _) => "gt".to_owned(),
            (3, Some(thread)) => format!("{thread}.d"),
            (4, Some(thread)) => format!("{thread}.tt"),
            (5, _) => "SLICE".to_owned(),
            (6, _) => {
                let operator = self.choices.one_of(&["+", "-", "%"]);
                format!("({} {operator} {})", self.time(scope, depth - 1), self.time(scope, depth - 1))
            }
            (7, _) => {
                let operator = self.choices.one_of(&["*", "/"]);
                format!("({} {operator} {})", self.time(scope, depth - 1), self.int(scope, depth - 1))
            }
            (8, _) => format!("-({} * {})", self.int(scope, depth - 1), self.time(scope, depth - 1)),
            (_, _) => "now".to_owned(),
        }
    }

    fn condition(&mut self, scope: &Scope, depth: usize) -> String {
        let ((of, slot), container) = (self.choices.one_of(&self.ready.clone()), self.looked_at(scope));
        let thread = self.thread(scope);
        match (self.choices.below(if depth == 0 { 6 } else { 13 }), thread) {
            (12, _) => "flag".to_owned(),
            (11, _) => {
                let operator = self.choices.one_of(&["==", "!=", "<", "<=", ">", ">="]);
                format!("level {operator} {}", self.choices.below(4))
            }
            (10, _) if self.may(Feature::Floats) => {
                let operator = self.choices.one_of(&["==", "!=", "<", "<=", ">", ">="]);
                format!("{} {operator} {}", self.float(scope, depth - 1), self.float(scope, depth - 1))
            }
            (9, _) if self.may(Feature::Time) => {
                let operator = self.choices.one_of(&["==", "!=", "<", "<=", ">", ">="]);
                format!("{} {operator} {}", self.time(scope, depth - 1), self.time(scope, depth - 1))
            }
            (0, _) => {
                let operator = self.choices.one_of(&["==", "!=", "<", "<=", ">", ">="]);
                let bound = self.choices.below(4);
                if self.choices.chance(50) {
                    format!("|{container}| {operator} {bound}")
                } else {
                    format!("{bound} {operator} |{container}|")
                }
            }
            (1, Some(thread)) => format!("{thread} in {container}"),
            (2, Some(thread)) => format!("{thread}.c"),
            (3, _) => "gb".to_owned(),
            (4, _) if slot => format!("(|{of}| == 1 && {of}.a > 1)"),
            (5, _) => {
                let other = self.looked_at(scope);
                format!("|{container}| + |{other}| {} 0", self.choices.one_of(&[">", "==", "!=", "<="]))
            }
            (6, _) => format!("!({})", self.condition(scope, depth - 1)),
            (7, _) => format!("({} && {})", self.condition(scope, depth - 1), self.condition(scope, depth - 1)),
            (8, _) => format!("({} || {})", self.condition(scope, depth - 1), self.condition(scope, depth - 1)),
            (_, _) => format!("{} < {}", self.int(scope, 1), self.int(scope, 1)),
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
