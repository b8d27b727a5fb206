//! Statements, and what is known after them.

use catapults_compiler::framework::Feature;

use super::{Scope, Writer};

impl Writer<'_, '_> {
    pub(super) fn block(&mut self, scope: &Scope, most: usize) {
        for _ in 0..self.choices.below(most + 1) {
            self.statement(scope);
        }
    }

    pub(super) fn statement(&mut self, scope: &Scope) {
        let inner = Scope { depth: scope.depth + 1, ..scope.clone() };
        if scope.sends && self.choices.chance(30) {
            return self.sending(scope, &inner);
        }
        match self.choices.below(33) {
            29..=32 if self.links => self.linking(scope, &inner),
            20 => self.level(scope),
            21 => self.flagged(scope, &inner),
            // Who gives threads away preempts none: seldom, it tries.
            22 if scope.cursor.is_none() && !scope.far && (!scope.sends || self.choices.chance(20)) => {
                self.preemption(scope);
            }
            23 => self.by_attribute(scope, &inner),
            24..=26 => self.related(scope, &inner),
            27 | 28 if scope.cursor.is_some() || scope.loops => {
                let (condition, word) = (self.condition(scope, 1), self.choices.one_of(&["break", "continue"]));
                self.line(&format!("    if ({condition}) {{"));
                self.block(&Scope { depth: 3, ..inner }, 1);
                self.line(&format!("    {word}; }}"));
            }
            0 => self.assignment(scope),
            10 | 11 => self.probe(scope),
            12 if scope.cursor.is_none() => self.emptying(scope),
            13 if scope.cursor.is_none() && scope.depth < 3 => self.sum(scope, &inner),
            17 => self.call(scope),
            18 if self.may(Feature::Verbatim) => self.verbatim(scope),
            19 if self.timers => self.arm(scope),
            14 if scope.depth < 3 && self.may(Feature::Loops) => self.counting(scope, &inner),
            15 if scope.cursor.is_none() && scope.depth < 3 && self.may(Feature::Loops) => {
                self.draining(scope, &inner);
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
                    self.store(scope, &thread);
                }
            }
            7 if scope.cursor.is_none() => self.free_transfer(scope),
            8 if scope.dispatches && scope.cursor.is_none() => {
                let (from, to) = (self.container(scope).0, self.choices.one_of(&self.running.clone()));
                self.line(&format!("    if (|{from}| > 0) {{ {from} => {to}; dispatch {to}; }}"));
            }
            9 => {
                let (name, v) = (self.name("l"), self.variable(scope, "v"));
                let mut value = self.int(scope, 2);
                if self.choices.chance(30) {
                    // Of a constant it must be known that it is above 0.
                    value = format!("random(gi + {value})");
                }
                self.line(&format!("    int {name} = {value}; {v} = {name};"));
            }
            _ => self.assignment(scope),
        }
    }

    /// A transfer that is preceded by its tests.
    pub(super) fn tested_transfer(&mut self, scope: &Scope) {
        let (to, slot) = self.container(scope);
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
    pub(super) fn probe(&mut self, scope: &Scope) {
        let lists = self.lists(scope);
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
    pub(super) fn emptying(&mut self, scope: &Scope) {
        let lists = self.lists(scope);
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
    pub(super) fn level(&mut self, scope: &Scope) {
        let (level, flag) = (self.variable(scope, "level"), self.variable(scope, "flag"));
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
        self.line(&format!("    {}", statement.replace("level", &level).replace("flag", &flag)));
    }

    /// What is known of a container is kept in a variable for a while; and what no value of a variable allows.
    pub(super) fn flagged(&mut self, scope: &Scope, inner: &Scope) {
        let of_all = self.containers(scope).into_iter().filter(|(_, slot)| *slot);
        let slots: Vec<String> = of_all.map(|(name, _)| name).collect();
        let slot = match (slots.is_empty(), scope.far) {
            (true, true) => return self.level(scope),
            (false, _) if scope.far || !self.choices.chance(30) => self.choices.one_of(&slots),
            (_, _) => self.choices.one_of(&self.running.clone()),
        };
        let (v, level, flag) = (self.variable(scope, "v"), self.variable(scope, "level"), self.variable(scope, "flag"));
        let test = self.choices.one_of(&[
            format!("{flag} = |{slot}| == 1; if ({flag})"),
            format!("if (|{slot}| > 0) {level} = 2; else {level} = 0; if ({level} == 2)"),
            format!("{level} = |{slot}|; if ({level} > 0)"),
            format!("if ({level} > 2 || |{slot}| == 1)"),
            format!("if ({level} < 0 || |{slot}| != 0)"),
            format!("if ({flag} && |{slot}| == 1 || {level} != {level} / 1 && !{flag})"),
        ]);
        self.line(&format!("    {test} {{"));
        if scope.depth < 3 && self.choices.chance(40) {
            self.block(inner, 1);
        }
        let read = if scope.far {
            self.choices.one_of(&[format!("{v} = {slot}.load;"), format!("{level} = {slot}.number;")])
        } else {
            self.choices.one_of(&[
                format!("{v} = {slot}.a;"),
                format!("{slot}.b++;"),
                format!("{slot}.a = {level};"),
                format!("{level} = {slot}.b;"),
            ])
        };
        self.line(&format!("    {read}"));
        self.line("    }");
    }

    /// Whoever runs is ready again, in an element that is named by what is kept of it, if there are such.
    pub(super) fn preemption(&mut self, scope: &Scope) {
        let slot = self.choices.one_of(&self.running.clone());
        let (to, is_slot) = self.container(scope);
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
    pub(super) fn by_attribute(&mut self, scope: &Scope, inner: &Scope) {
        let (Some(thread), Some(array)) = (self.thread(scope), self.arrays_of(scope).pop()) else {
            return self.level(scope);
        };
        let v = self.variable(scope, "v");
        let attribute = self.choices.one_of(&["a".to_owned(), "b".to_owned(), format!("h[{v}]"), "h[1]".to_owned()]);
        let (element, other) = (format!("{array}[{thread}.{attribute}]"), self.container(scope).0);
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
    pub(super) fn arm(&mut self, scope: &Scope) {
        if scope.far {
            return self.level(scope);
        }
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
    pub(super) fn verbatim(&mut self, scope: &Scope) {
        let value = self.int(scope, 1);
        let (name, v) = (self.name("l"), self.variable(scope, "v"));
        self.line(&format!("    int {name} = {value};"));
        match (self.choices.below(3), self.thread(scope)) {
            (2, _) => {
                self.line(&format!("    {v} = verbatim c int {{ (catapults_int)($now % 7) }} else (now % 7ns) / 1ns;"));
            }
            (0, Some(thread)) => self.line(&format!(
                "    verbatim c {{ ${v} = ${v} / 2 + ${thread}.a; }} else {{ {v} = {v} / 2 + {thread}.a; }} {v} += {name};"
            )),
            (_, _) => self.line(&format!("    {v} = verbatim c int {{ ${name} / 2 }} else {name} / 2;")),
        }
    }

    /// A call of a function, alone or within an expression.
    pub(super) fn call(&mut self, scope: &Scope) {
        let (one, other) = (self.int(scope, 1), self.int(scope, 1));
        match (self.choices.below(3), self.thread(scope)) {
            (0, Some(thread)) => self.line(&format!("    if (old({thread}, {one})) {thread}.b = {other};")),
            (1, Some(thread)) => self.line(&format!("    {thread}.a = smaller({one}, smaller({other}, 2)) + 1;")),
            (_, _) => {
                let v = self.variable(scope, "v");
                self.line(&format!("    {v} = smaller({one}, {other});"));
            }
        }
    }

    /// A loop with a counter, and anything inside it.
    pub(super) fn counting(&mut self, scope: &Scope, inner: &Scope) {
        let (counter, bound) = (self.name("i"), self.choices.below(4));
        let list = self.container(scope).0;
        let condition = self.condition(scope, 1);
        let head = self.choices.one_of(&[
            format!("for (int {counter} = 0; {counter} < {bound}; {counter}++)"),
            format!("for (int {counter} = {bound}; {counter} > 0 && ({condition}); --{counter})"),
            format!("for (int {counter} = 0; {counter} <= K && |{list}| > 0; {counter} += 1)"),
        ]);
        self.line(&format!("    {head} {{"));
        self.block(&Scope { loops: true, ..inner.clone() }, 3);
        self.line("    }");
        if scope.cursor.is_none() && self.choices.chance(50) {
            self.probe(scope);
        }
    }

    /// A loop that goes on while there are threads, and a probe of what is left.
    pub(super) fn draining(&mut self, scope: &Scope, inner: &Scope) {
        let lists = self.lists(scope);
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
            // A turn that is left early takes no thread out.
            self.block(&Scope { depth: 3, loops: bounded, ..inner.clone() }, 1);
        }
        self.line(&format!("    {from} => {to};"));
        self.line("    }");
        self.line(&format!("    if (|{from}| == 0) {probed} => {probed};"));
    }

    /// A loop that tests its condition last.
    pub(super) fn at_least_once(&mut self, scope: &Scope, inner: &Scope) {
        let (counter, bound) = (self.name("d"), self.choices.below(3));
        self.line(&format!("    int {counter} = {bound};"));
        self.line("    do {");
        self.line(&format!("    {counter}--;"));
        self.block(&Scope { loops: true, ..inner.clone() }, 2);
        let condition = self.condition(scope, 1);
        self.line(&format!("    }} while ({counter} > 0 && ({condition}));"));
        if scope.cursor.is_none() {
            self.probe(scope);
        }
    }

    /// What follows from a sum of sizes, after something was done about it.
    pub(super) fn sum(&mut self, scope: &Scope, inner: &Scope) {
        let lists = self.lists(scope);
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
    pub(super) fn free_transfer(&mut self, scope: &Scope) {
        let mut sources = if scope.far || scope.sends { Vec::new() } else { self.running.clone() };
        sources.extend((0..3).map(|_| self.looked_at(scope)));
        let from = self.choices.one_of(&sources);
        let to = if scope.dispatches && self.choices.chance(20) {
            self.choices.one_of(&self.running.clone())
        } else {
            self.container(scope).0
        };
        if self.choices.chance(50) {
            self.line(&format!("    if (|{from}| > 0) {from} => {to};"));
        } else {
            self.line(&format!("    {from} => {to};"));
        }
    }

    pub(super) fn store(&mut self, scope: &Scope, thread: &str) {
        let (to, slot) = self.container(scope);
        if slot && self.choices.chance(80) {
            self.line(&format!("    if (|{to}| == 0) {thread} => {to};"));
        } else {
            self.line(&format!("    {thread} => {to};"));
        }
    }

    pub(super) fn assignment(&mut self, scope: &Scope) {
        let thread = self.thread(scope);
        let value = self.int(scope, 2);
        let (times, floats) = (self.may(Feature::Time), self.may(Feature::Floats));
        match (self.choices.below(11), thread) {
            (9, _) if floats => {
                let (place, float) = (self.place(scope, "load", "gf"), self.float(scope, 2));
                let operator = self.choices.one_of(&["=", "+=", "-=", "*=", "/="]);
                self.line(&format!("    {place} {operator} {float};"));
            }
            (10, Some(thread)) if floats => {
                let (place, float) = (self.choices.one_of(&["f", "tf"]), self.float(scope, 2));
                self.line(&format!("    {thread}.{place} = {float};"));
            }
            (6, _) if times => {
                let (place, time) = (self.place(scope, "last", "gt"), self.time(scope, 2));
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
            (0, _) => {
                let v = self.variable(scope, "v");
                self.line(&format!("    {v} = {value};"));
            }
            (1, thread) => {
                let w = self.variable(scope, "w");
                match thread.filter(|_| self.choices.chance(30)) {
                    Some(thread) => self.line(&format!("    {thread}.h[{value} + gi] += {w};")),
                    None if self.choices.chance(40) => {
                        let arr = self.variable(scope, "arr");
                        self.line(&format!("    {arr}[{value} + gi] -= {w};"));
                    }
                    None => self.line(&format!("    {w}++;")),
                }
            }
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

    /// A variable of the policy, or one that it imports.
    fn place(&mut self, scope: &Scope, own: &str, imported: &str) -> String {
        if self.choices.chance(50) { imported.to_owned() } else { self.variable(scope, own) }
    }
}
