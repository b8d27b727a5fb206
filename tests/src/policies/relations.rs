//! Statements after which one thing is known by another: flags, numbers and indices that remember where threads are, and what the
//! rounds of a loop have done. Half of them are almost right.

use catapults_compiler::framework::Feature;

use super::{Scope, Writer};

impl Writer<'_, '_> {
    /// One of them, where any thread can be moved.
    pub(super) fn related(&mut self, scope: &Scope, inner: &Scope) {
        if scope.cursor.is_some() || scope.depth > 2 {
            return self.level(scope);
        }
        match self.choices.below(7) {
            0 => self.remembered(scope, inner),
            1 if self.may(Feature::Loops) => self.searched(scope, inner),
            2 if !scope.sends => self.elected(scope),
            3 if self.may(Feature::Floats) => self.ordered(scope),
            5 | 6 => self.added_up(scope),
            _ => self.counted(scope, inner),
        }
    }

    /// A flag remembers whether threads are there.
    fn remembered(&mut self, scope: &Scope, inner: &Scope) {
        let lists = self.lists(scope);
        let (one, other) = (self.choices.one_of(&lists), self.choices.one_of(&lists));
        let (has, flag) = (self.name("has"), self.variable(scope, "flag"));
        let kept = if self.choices.chance(30) { flag } else { format!("bool {has}") };
        let name = kept.strip_prefix("bool ").unwrap_or(&kept).to_owned();
        let value = self.choices.one_of(&[
            format!("|{one}| > 0"),
            format!("!(|{one}| == 0)"),
            format!("|{one}| > 0 && |{other}| > 0"),
            format!("|{one}| > 0 || |{other}| > 0"),
            format!("|{one}| > 0 && gb"),
        ]);
        self.line(&format!("    {kept} = {value};"));
        if self.choices.chance(40) {
            self.block(&Scope { depth: 3, ..inner.clone() }, 1);
        }
        let change = self.choices.one_of(&["", "", " if (gb) NAME = false;", " if (gi > 3) NAME = true;"]);
        self.line(&format!("   {}", change.replace("NAME", &name)));
        self.line(&format!("    if ({name}) {one} => {one};"));
        if self.choices.chance(30) {
            self.line(&format!("    if (!{name} && |{one}| + |{other}| > 0) {other} => {other};"));
        }
    }

    /// The index of an element in which there was a thread.
    fn searched(&mut self, scope: &Scope, inner: &Scope) {
        let Some(array) = self.arrays_of(scope).pop() else { return self.remembered(scope, inner) };
        let (best, i) = (self.name("best"), self.name("i"));
        let test = self.choices.one_of(&[
            format!("|{array}[{i}]| > 0"),
            format!("{best} < 0 && |{array}[{i}]| > 0"),
            format!("|{array}[{i}]| > 0 && gi < 4"),
            format!("|{array}[{i}]| > 0 || gi > 4"),
        ]);
        let head = self.choices.one_of(&[
            format!("for (int {i} = 0; {i} < 3; {i}++)"),
            format!("for (int {i} = 2; {i} >= 0; {i}--)"),
            format!("for (int {i} = 0; {i} < gi && {i} < 5; {i}++)"),
        ]);
        self.line(&format!("    int {best} = -1; {head} {{ if ({test}) {best} = {i}; }}"));
        if self.choices.chance(30) {
            self.block(&Scope { depth: 3, ..inner.clone() }, 1);
        }
        let (to, slot) = self.container(scope);
        if slot {
            self.line(&format!("    if ({best} >= 0 && |{to}| == 0) {array}[{best}] => {to};"));
        } else {
            self.line(&format!("    if ({best} >= 0) {array}[{best}] => {to};"));
        }
    }

    /// One of those that a loop visits goes to a slot, or none.
    fn elected(&mut self, scope: &Scope) {
        let of_all = self.containers(scope).into_iter().filter(|(_, slot)| *slot);
        let slots: Vec<String> = of_all.map(|(name, _)| name).collect();
        let lists = self.lists(scope);
        if slots.is_empty() {
            return self.counted(scope, scope);
        }
        let (slot, list) = (self.choices.one_of(&slots), self.choices.one_of(&lists));
        let (win, cursor) = (self.name("win"), self.name("x"));
        let (least, most) = (self.choices.one_of(&["0", "0", "-1"]), self.choices.one_of(&["0", "0", "1"]));
        self.line(&format!("    int {win} = gi; if (|{slot}| == 0) {{ if ({win} < 0) {win} = 4;"));
        self.line(&format!("    foreach {cursor} in {list} {{ if ({win} >= {least}) {{ {win} -= gi;"));
        self.line(&format!("    if ({win} < {most}) {cursor} => {slot}; }} }}"));
        self.line(&format!("    if ({win} < 0 && |{slot}| == 1) {slot} => {slot}; }}"));
    }

    /// A number of threads, and so many turns.
    fn counted(&mut self, scope: &Scope, inner: &Scope) {
        let lists = self.lists(scope);
        let (from, to) = (self.choices.one_of(&lists), self.choices.one_of(&lists));
        let (count, i) = (self.name("count"), self.name("i"));
        let value = self.choices.one_of(&[format!("|{from}|"), format!("|{from}|"), format!("|{from}| + gi")]);
        self.line(&format!("    int {count} = {value};"));
        if self.choices.chance(30) {
            self.block(&Scope { depth: 3, ..inner.clone() }, 1);
        }
        if self.may(Feature::Loops) && self.choices.chance(50) {
            self.line(&format!("    for (int {i} = 0; {i} < {count} && {i} < 3; {i}++) {from} => {to};"));
        }
        self.line(&format!("    if ({count} > 0) {from} => {from};"));
    }

    /// A number of threads in two containers, or one that a loop has counted, and so many transfers.
    fn added_up(&mut self, scope: &Scope) {
        let lists = self.lists(scope);
        let [one, other, to] = [(); 3].map(|()| self.choices.one_of(&lists));
        let (count, x, y) = (self.name("count"), self.name("x"), self.name("y"));
        let value = self.choices.one_of(&[
            "0".to_owned(),
            "0".to_owned(),
            format!("|{one}| + |{other}|"),
            format!("|{other}| + |{one}| - 1"),
            format!("|{one}| + |{other}| + |{to}|"),
        ]);
        let counted = self.choices.one_of(&[
            String::new(),
            format!("foreach {x} in {one} {count}++;"),
            format!("foreach {x} in {other} if (gb) {count} += 1;"),
            format!("foreach {x} in {one} {{ {count}++; if (gi > 3) {x} => {to}; }}"),
            format!("foreach {x} in {one} foreach {y} in {other} {count}++;"),
        ]);
        self.line(&format!("    int {count} = {value}; {counted}"));
        if self.choices.chance(30) {
            let (from, to) = (self.choices.one_of(&[&one, &other]).clone(), self.choices.one_of(&[&to, &one]).clone());
            self.line(&format!("    if (|{from}| > 0) {from} => {to};"));
        }
        let least = self.choices.one_of(&[0, 0, 1, 2]);
        let moved = format!("if (|{one}| > 0) {one} => {to}; else {other} => {to};");
        if self.may(Feature::Loops) && self.choices.chance(40) {
            self.line(&format!("    while ({count} > {least}) {{ {moved} {count}--; }}"));
        } else {
            let last = self.choices.one_of(&[&one, &one, &other]).clone();
            let before =
                self.choices.one_of(&[String::new(), String::new(), moved.clone(), format!("{moved} {moved}")]);
            self.line(&format!("    if ({count} > {least}) {{ {before} {last} => {last}; }}"));
        }
    }

    /// A float is less than a number, equal to it or greater.
    fn ordered(&mut self, scope: &Scope) {
        let lists = self.lists(scope);
        let (list, g) = (self.choices.one_of(&lists), self.name("g"));
        let load = self.variable(scope, "load");
        let value = self.choices.one_of(&["gf".to_owned(), load, "gf / 0.0".to_owned(), "-gf".to_owned()]);
        let last = self.choices.one_of(&["0.5", "0.5", "-0.0", "0.75"]);
        self.line(&format!(
            "    float {g} = {value}; if ({g} < 0.5 || {g} == 0.5) {g} = 1.0; else if ({g} > {last}) {g} = 2.0;"
        ));
        self.line(&format!("    else {list} => {list};"));
        self.line(&format!("    if ({g} > 0.5 && |{list}| > 0) {list} => {list};"));
    }
}
