//! Policies with nodes: what all instances share, handlers that run in none of them, and threads that go from one to another.

use catapults_compiler::framework::Feature;

use super::{Scope, Writer};

/// Containers of nodes.
pub(super) struct Nodes {
    /// Each with whether it has room for only one. The first has room for any number.
    pub(super) containers: Vec<(String, bool)>,
    pub(super) arrays: Vec<String>,
}

impl Writer<'_, '_> {
    /// What stands in front of `data`.
    pub(super) fn declare_nodes(&mut self) {
        self.line("  nodes {");
        let mut containers = Vec::new();
        for index in 0..=self.choices.below(3) {
            let name = format!("p{index}");
            let declaration = self.choices.one_of(&[
                "queue",
                "pqueue NAME reverse sortable on load",
                "stack",
                "pstack NAME sortable on load, reverse number",
                "node",
            ]);
            // As of threads: most policies can be good.
            let declaration = if index == 0 && declaration == "node" { "queue" } else { declaration };
            containers.push((name.clone(), declaration == "node"));
            match declaration.contains("NAME") {
                true => self.line(&format!("    {};", declaration.replace("NAME", &name))),
                false => self.line(&format!("    {declaration} {name};")),
            }
        }
        self.line("    node chosen;");
        let mut arrays = Vec::new();
        if self.choices.chance(40) {
            let kind = self.choices.one_of(&["node", "queue", "stack"]);
            self.line(&format!("    {kind} pair[2];"));
            let known = if kind == "node" { "pair[1]" } else { "pair[all_v]" };
            containers.extend(["pair[0]", known].map(|name| (name.to_owned(), kind == "node")));
            arrays.push("pair".to_owned());
        }
        // Seldom, so that it is mostly free when a thread is to be placed.
        if self.choices.chance(15) {
            containers.push(("chosen".to_owned(), true));
        }
        self.line("  }");
        self.line("  global {");
        self.constants();
        self.variables("all_");
        self.line("  }");
        self.nodes = Some(Nodes { containers, arrays });
    }

    /// The handlers of nodes, and of threads that are sent to one.
    pub(super) fn of_nodes(&mut self) {
        if self.nodes.is_none() {
            return;
        }
        let far = |node: Option<&str>| Scope { far: true, thread: node.map(str::to_owned), ..Scope::default() };
        self.line("  event arrival(n) {");
        self.rest(far(Some("n")), Some("READY"), 1);
        if self.choices.chance(50) {
            self.line("  event departure(n) {");
            self.block(&far(Some("n")), 1);
            self.line("    destroy n;");
            self.line("  }");
        }
        if self.choices.chance(70) {
            self.line("  function placed(t, n) { t.b = n.number; all_w = all_w + 1; t => n; }");
            self.dispatch(&Scope { other: Some("t".to_owned()), ..far(None) });
        }
        if self.choices.chance(70) {
            self.line("  event steal(n) {");
            let scope = Scope { other: Some("n".to_owned()), sends: true, ..Scope::default() };
            self.block(&scope, 2);
            self.sending(&scope, &Scope { depth: 1, ..scope.clone() });
            self.line("  }");
        }
    }

    /// Where a thread is to be: at a node that suits it, or else at the next.
    fn dispatch(&mut self, scope: &Scope) {
        self.line("  event dispatch(t) {");
        self.block(scope, 1);
        if self.choices.chance(60) {
            let (node, container) = (self.name("x"), self.looked_at(scope));
            let visited = Scope { cursor: Some(node.clone()), depth: 1, ..scope.clone() };
            let condition = self.condition(&visited, 2);
            self.line(&format!("    foreach {node} in {container} {{"));
            self.line(&format!("    if ({condition}) {{"));
            if self.choices.chance(30) {
                self.assignment(&visited);
            }
            let send = self.choices.one_of(&["t => NODE;", "placed(t, NODE);"]);
            self.line(&format!("    {} return; }}", send.replace("NODE", &node)));
            self.line("    }");
        }
        let mut names = self.lists(scope);
        names.extend(self.containers(scope).into_iter().filter(|(_, slot)| *slot).map(|(name, _)| name));
        // An array is looked into as a whole.
        names.retain(|name| !name.contains('[') && name != "chosen");
        names.extend(self.arrays_of(scope));
        let last = names.pop().unwrap_or_default();
        for name in names {
            self.line(&format!("    if (|{name}| > 0) {name} => chosen; else"));
        }
        self.line(&format!("    {last} => chosen;"));
        if self.choices.chance(30) {
            self.line("    all_v = chosen.load;");
        }
        let send = self.choices.one_of(&["    t => chosen;", "    placed(t, chosen);"]);
        self.line(send);
        let back = self.lists(scope)[0].clone();
        self.line(&format!("    chosen => {back};"));
        self.line("  }");
    }

    /// Threads go to the node that is given, as many as there are or one.
    pub(super) fn sending(&mut self, scope: &Scope, inner: &Scope) {
        let Some(node) = scope.other.clone() else { return self.level(scope) };
        if let Some(cursor) = &scope.cursor {
            return self.line(&format!("    {cursor} => {node};"));
        }
        let container = self.looked_at(scope);
        match self.choices.below(4) {
            0 => self.line(&format!("    if (|{container}| > 0) {container} => {node};")),
            1 => {
                let (cursor, condition) = (self.name("x"), self.condition(scope, 2));
                self.line(&format!("    foreach {cursor} in {container} {{"));
                self.block(&Scope { cursor: Some(cursor.clone()), sends: false, ..inner.clone() }, 1);
                let last = self.choices.one_of(&["", " return;"]);
                self.line(&format!("    if ({condition}) {{ {cursor} => {node};{last} }} }}"));
            }
            2 if self.may(Feature::Loops) => {
                let least = self.choices.below(3);
                self.line(&format!("    while (|{container}| > {least}) {container} => {node};"));
            }
            _ => self.line(&format!("    {container} => {node};")),
        }
    }

    /// A variable by its name in `data`, or the one like it that all instances share.
    pub(super) fn variable(&mut self, scope: &Scope, name: &str) -> String {
        let shared = self.nodes.is_some() && (scope.far || self.choices.chance(25));
        if shared { format!("all_{name}") } else { name.to_owned() }
    }

    /// What the host tells of a node that can be named, sometimes.
    pub(super) fn property(&mut self, scope: &Scope) -> Option<String> {
        let node = if scope.far { self.member(scope) } else { scope.other.clone() };
        let node = node.filter(|_| self.choices.chance(25))?;
        Some(format!("{node}.{}", self.choices.one_of(&["number", "load"])))
    }
}
