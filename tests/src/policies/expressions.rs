//! Expressions over whatever can be named.

use catapults_compiler::framework::Feature;

use super::{Scope, Writer};

impl Writer<'_, '_> {
    /// A container that is looked at: arrays as a whole, and elements by what is kept of a thread, included.
    pub(super) fn looked_at(&mut self, scope: &Scope) -> String {
        let arrays = self.arrays_of(scope);
        let mut names: Vec<String> = self.containers(scope).into_iter().map(|(name, _)| name).collect();
        names.extend(arrays.clone());
        if self.next && !scope.far {
            names.push("next".to_owned());
        }
        match (self.thread(scope), arrays.first()) {
            (Some(thread), Some(array)) if self.choices.chance(25) => format!("{array}[{thread}.b]"),
            (_, _) => self.choices.one_of(&names),
        }
    }

    /// A thread that can be named.
    pub(super) fn thread(&mut self, scope: &Scope) -> Option<String> {
        if scope.far { scope.other.clone() } else { self.member(scope) }
    }

    /// What can be named and is in a container: a thread, or a node.
    pub(super) fn member(&mut self, scope: &Scope) -> Option<String> {
        let named: Vec<String> = scope.cursor.iter().chain(&scope.thread).cloned().collect();
        if named.is_empty() { None } else { Some(self.choices.one_of(&named)) }
    }

    pub(super) fn int(&mut self, scope: &Scope, depth: usize) -> String {
        if let Some(property) = self.property(scope) {
            return property;
        }
        let (container, of) = (self.looked_at(scope), self.container(scope).0);
        let thread = self.thread(scope);
        let v = self.variable(scope, "v");
        match (self.choices.below(if depth == 0 { 6 } else { 13 }), thread) {
            (12, _) if !of.contains('[') && self.choices.chance(40) => {
                let kept = if scope.far { "load" } else { "a" };
                format!("(|{of}| > 0 ? {of}.{kept} : {})", self.int(scope, depth - 1))
            }
            (12, _) => self.choice(scope, depth - 1, Self::int),
            (11, _) => self.nearer(scope, depth - 1, Self::int),
            (10, _) => self.variable(scope, "level"),
            (9, _) if self.may(Feature::Floats) => format!("int({})", self.float(scope, depth - 1)),
            (8, _) if self.may(Feature::Time) => {
                format!("({} / {})", self.time(scope, depth - 1), self.time(scope, depth - 1))
            }
            (0, _) => self.choices.below(5).to_string(),
            (1, _) => {
                let arr = self.variable(scope, "arr");
                let element = format!("{arr}[{v}]");
                self.choices.one_of(&[v.clone(), v, element, format!("{arr}[2]"), "W[gi]".to_owned()])
            }
            (2, _) => "gi".to_owned(),
            (3, Some(thread)) if self.choices.chance(30) => format!("{thread}.h[{v}]"),
            (3, Some(thread)) => format!("{thread}.a"),
            (4, Some(thread)) => format!("{thread}.ti"),
            (5, _) => format!("|{container}|"),
            (6 | 7, _) => {
                let operator = self.choices.one_of(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);
                let sign = self.choices.one_of(&["", "", "", "~"]);
                format!("({} {operator} {sign}{})", self.int(scope, depth - 1), self.int(scope, depth - 1))
            }
            (_, _) => self.choices.one_of(&["K", "K", "LOW", "MIDDLE", "HIGH"]).to_owned(),
        }
    }

    /// One of two values, or of two conditions.
    fn choice(&mut self, scope: &Scope, depth: usize, value: fn(&mut Self, &Scope, usize) -> String) -> String {
        let condition = self.condition(scope, depth);
        format!("({condition} ? {} : {})", value(self, scope, depth), value(self, scope, depth))
    }

    fn nearer(&mut self, scope: &Scope, depth: usize, value: fn(&mut Self, &Scope, usize) -> String) -> String {
        let word = self.choices.one_of(&["min", "max"]);
        format!("{word}({}, {})", value(self, scope, depth), value(self, scope, depth))
    }

    pub(super) fn float(&mut self, scope: &Scope, depth: usize) -> String {
        let thread = self.thread(scope);
        match (self.choices.below(if depth == 0 { 6 } else { 12 }), thread) {
            (11, _) => self.choice(scope, depth - 1, Self::float),
            (10, _) => self.nearer(scope, depth - 1, Self::float),
            (0, _) => self.choices.one_of(&["0.0", "0.1", "2.5", "-1.0", "1e300", "3e-9"]).to_owned(),
            (1, _) => self.variable(scope, "load"),
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

    pub(super) fn time(&mut self, scope: &Scope, depth: usize) -> String {
        let thread = self.thread(scope);
        match (self.choices.below(if depth == 0 { 6 } else { 12 }), thread) {
            (11, _) => self.choice(scope, depth - 1, Self::time),
            (10, _) => self.nearer(scope, depth - 1, Self::time),
            (0, _) => self.choices.one_of(&["0ns", "5ms", "20ms", "1s", "-3us", "9223372036854775807ns"]).to_owned(),
            (1, _) => self.variable(scope, "last"),
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

    pub(super) fn condition(&mut self, scope: &Scope, depth: usize) -> String {
        let ((of, slot), container) = (self.container(scope), self.looked_at(scope));
        let thread = self.thread(scope);
        match (self.choices.below(if depth == 0 { 6 } else { 15 }), thread) {
            (14, _) if scope.cursor.is_some() || scope.thread.is_some() => {
                let (one, operator) = (self.member(scope).unwrap_or_default(), self.choices.one_of(&["==", "!="]));
                let other = if slot && self.choices.chance(50) { of } else { self.member(scope).unwrap_or_default() };
                format!("{one} {operator} {other}")
            }
            (13, _) => self.choice(scope, depth - 1, Self::condition),
            (12, _) => self.variable(scope, "flag"),
            (11, _) => {
                let operator = self.choices.one_of(&["==", "!=", "<", "<=", ">", ">="]);
                format!("{} {operator} {}", self.variable(scope, "level"), self.choices.below(4))
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
            (1, _) if scope.cursor.is_some() || scope.thread.is_some() => {
                format!("{} in {container}", self.member(scope).unwrap_or_default())
            }
            (2, Some(thread)) => format!("{thread}.c"),
            (3, _) => "gb".to_owned(),
            (4, _) if slot => format!("(|{of}| == 1 && {of}.{} > 1)", if scope.far { "load" } else { "a" }),
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
}
