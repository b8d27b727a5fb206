//! For a policy with nodes: what all instances share, and what is kept of a node.

use std::fmt::Write;

use super::contract;
use super::declarations::{declared, members};
use super::{Unit, arrays, string, type_name};
use crate::policy::{Attribute, ContainerId, ContainerKind, Entity};

impl Unit<'_> {
    /// What the instances of all nodes share.
    pub(super) fn shared(&mut self) {
        if !self.policy.has_nodes() {
            return;
        }
        let names = &self.names;
        let mut rows = self.members(Entity::Node);
        rows.extend(self.single_members());
        rows.push((format!("struct catapults_list {};", names.sent), "threads on their way to nodes".to_owned()));
        let text = format!(
            "\n/* What the schedulers of all nodes share. */\nstruct {} {{\n{}}};\n",
            names.shared,
            members(&rows)
        );
        self.put(&text);
    }

    /// What is kept of a node.
    pub(super) fn node(&mut self) {
        if !self.policy.has_nodes() {
            return;
        }
        let node = &self.names.node;
        let mut rows = vec![("struct catapults_thread base;".to_owned(), String::new())];
        for (_, property, name) in self.properties() {
            if let Some(name) = declared(name, property.element) {
                rows.push((format!("{} {name};", type_name(property.ty)), String::new()));
            }
        }
        let conversion = format!(
            "static inline struct {node} *{node}(const struct catapults_thread *n) {{ return (struct {node} *)n; }}"
        );
        let text = format!(
            "\n/* A node, with what its host tells of it. It is held as threads are. */\nstruct {node} {{\n{}}};\n\n{conversion}\n",
            members(&rows)
        );
        self.put(&text);
    }

    /// The functions that set up the shared part and a node, and that assign properties. Returns what the description
    /// of the policy says of nodes; nothing without nodes.
    pub(super) fn of_nodes(&mut self) -> String {
        if !self.policy.has_nodes() {
            return String::new();
        }
        let of = |part: &str| format!("{}_{part}", self.names.policy);
        let wanted = [of("share"), of("adopt_node"), of("properties")];
        let [share, adopt, table] = wanted.map(|name| self.names.file.take(&name));
        let names = &self.names;
        let mut text = format!("\nstatic void {share}(void *self_) {{\n    struct {} *self = self_;\n", names.shared);
        text.push_str(&self.set_up(Entity::Node));
        text.push_str(&self.set_up_single());
        let _ = write!(text, "    catapults_list_init(&self->{});\n}}\n", names.sent);
        let _ = write!(
            text,
            "\nstatic void {adopt}(void *self_, struct catapults_thread *n_) {{\n    struct {0} *n = {0}(n_);\n    (void)self_;\n    n->base.container = 0;\n",
            names.node
        );
        for (_, property, name) in self.properties() {
            let _ = writeln!(text, "    n->{name} = {};", super::expression::literal(property.initial));
        }
        text.push_str("}\n");
        let properties: Vec<(usize, Attribute, String)> =
            self.properties().map(|(index, property, name)| (index, property.clone(), name.clone())).collect();
        let mut rows = String::new();
        for (index, property, member) in &properties {
            let function = self.names.file.take(&format!("{}_set_{}", self.names.policy, property.name));
            text.push_str(&self.setter(&function, *index, property, member));
            let kind = contract::kind(property.ty);
            let _ = writeln!(rows, "    {{{}, {kind}, {function}}},", string(&property.name));
        }
        if !rows.is_empty() {
            let _ = write!(text, "\nstatic const struct catapults_property {table}[] = {{\n{rows}}};\n");
        }
        self.put(&text);
        let names = &self.names;
        let mut members = format!(
            "    .shared_size = (sizeof(struct {0}) + 15) / 16 * 16,\n    .node_size = (sizeof(struct {1}) + 15) / 16 * 16,\n    .sent = offsetof(struct {0}, {2}),\n",
            names.shared, names.node, names.sent
        );
        if !properties.is_empty() {
            let _ = write!(members, "    .properties_count = {},\n    .properties = {table},\n", properties.len());
        }
        let _ = write!(members, "    .share = {share},\n    .adopt_node = {adopt},\n");
        members
    }

    /// The function that assigns a property, and re-files the node where nodes are sorted by it.
    fn setter(&self, function: &str, index: usize, property: &Attribute, member: &str) -> String {
        let (policy, names) = (self.policy, &self.names);
        let sorted = |id: &ContainerId| match &policy.containers[id.0].kind {
            ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => {
                keys.iter().any(|key| key.attribute.0 == index)
            }
            ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
        };
        let by_it: Vec<ContainerId> = policy.holding(Entity::Node).filter(sorted).collect();
        let (ty, node) = (type_name(property.ty), &names.node);
        let mut text =
            format!("\nstatic void {function}(void *self_, struct catapults_thread *n, const void *value) {{\n");
        text.push_str(&if by_it.is_empty() {
            "    (void)self_;\n".to_owned()
        } else {
            format!("    struct {} *self = self_;\n", names.shared)
        });
        let _ = writeln!(text, "    {node}(n)->{member} = *(const {ty} *)value;");
        for group in arrays::groups(policy, &by_it) {
            let (holds, number) = (group.holds(names, "n"), group.number(names, "n"));
            let (order, member) = (&names.orders[group.id().0], group.member(names, "n"));
            let _ =
                write!(text, "    if ({holds})\n        catapults_sorted_refile(&{member}, n, {number}, {order});\n");
        }
        text.push_str("}\n");
        text
    }

    /// By their indices among the attributes, with their members.
    fn properties(&self) -> impl Iterator<Item = (usize, &Attribute, &String)> {
        let all = self.policy.attributes.iter().zip(&self.names.attributes).enumerate();
        all.filter(|(_, (attribute, _))| attribute.of == Entity::Node)
            .map(|(index, (attribute, name))| (index, attribute, name))
    }
}
