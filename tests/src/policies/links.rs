//! Links from thread to thread: set, compared and followed.

use super::{Scope, Writer};

impl Writer<'_, '_> {
    pub(super) fn linking(&mut self, scope: &Scope, inner: &Scope) {
        let Some(thread) = self.thread(scope) else { return self.assignment(scope) };
        let (link, to) = (self.choices.one_of(&["lk", "lm"]), self.referent(scope));
        match self.choices.below(8) {
            0..=2 => self.line(&format!("    {thread}.{link} = {to};")),
            3 => {
                let operator = self.choices.one_of(&["==", "!="]);
                self.line(&format!("    if ({thread}.{link} {operator} {to}) {{"));
                self.block(&Scope { depth: 3, ..inner.clone() }, 1);
                self.line("    }");
            }
            _ => self.following(scope, &thread, link),
        }
    }

    /// Whom a link can name.
    fn referent(&mut self, scope: &Scope) -> String {
        let mut all = vec!["none".to_owned()];
        all.extend(self.running.clone());
        for thread in scope.thread.iter().chain(&scope.cursor) {
            all.extend([thread.clone(), thread.clone(), format!("{thread}.lk"), format!("{thread}.lm")]);
        }
        self.choices.one_of(&all)
    }

    /// What is done for whom a link names: it can be anywhere, even the thread itself, or running on another processor.
    fn following(&mut self, scope: &Scope, thread: &str, link: &str) {
        let (named, value) = (self.name("u"), self.int(scope, 1));
        self.line(&format!("    foreach {named} in {thread}.{link} {{"));
        for _ in 0..=self.choices.below(3) {
            let lists = self.lists(scope);
            let (list, other) = (self.choices.one_of(&lists), self.choices.one_of(&lists));
            let slot = self.choices.one_of(&self.running.clone());
            // Whoever is visited is the only one to move.
            let moves = scope.cursor.is_none();
            let statement = match self.choices.below(10) {
                0 => format!("{named}.a = {value};"),
                1 => format!("{named}.b++;"),
                2 | 3 if moves => format!("if ({named} in {list}) {named} => {other};"),
                4 if moves => format!("if ({named} in {list}) {list} => {other};"),
                5 => format!("if ({named} in {slot}) {named}.a--; else {named}.c = {named} == {thread};"),
                6 => format!("{named}.lm = {thread};"),
                7 => format!("if ({named}.lk == {thread}) {{ {named}.lk = none; break; }}"),
                8 if moves => format!(
                    "{thread}.{link} = none; if ({named} == {thread} && {thread} in {list}) {thread} => {other};"
                ),
                // It may be gone, or elsewhere: seldom, this is tried.
                9 if moves && self.choices.chance(20) => format!("{named} => {list};"),
                _ => format!("if (!({named} in {slot})) {named}.b = {named}.a;"),
            };
            self.line(&format!("    {statement}"));
        }
        self.line("    }");
        if scope.cursor.is_none() && self.choices.chance(50) {
            self.probe(scope);
        }
    }
}
