//! Takes threads out of containers, and puts them into others.

use super::super::arrays::{self, Group, Site};
use super::super::economy;
use super::Body;
use crate::policy::{AttributeId, ContainerKind, LocalId, Source, Statement, StatementId, Thread};

impl Body<'_> {
    pub(super) fn transfer(&mut self, statement: &Statement, source: &Source, from: Option<Site>, to: &Site) {
        let thread = self.taken(statement, source, from);
        let Site { member, number, id: destination } = to;
        let entrance = self.names.entrances.get(destination);
        let put = match entrance {
            Some(function) => {
                self.uses_self = true;
                format!("{function}({});", self.names.host.instance.arguments(&thread))
            }
            None if self.shared.is_unwritten(statement.id) => {
                let place = self.shared.local_of(statement.id).unwrap_or(member);
                format!("{place} = {thread};")
            }
            None => economy::put(self.policy, self.names, *destination, member, &thread, number),
        };
        self.moved(statement);
        self.from(statement, &put);
    }

    /// For hosts that record why threads move.
    fn moved(&mut self, statement: &Statement) {
        self.line(&format!("CATAPULTS_MOVED({});", statement.at.line));
    }

    /// Takes the thread of a transfer, send or destruction out of where it was.
    fn taken(&mut self, statement: &Statement, source: &Source, from: Option<Site>) -> String {
        match (source, from) {
            (Source::Container(_), Some(from)) => self.pop(&from),
            (Source::Container(_), None) => String::new(),
            (Source::Thread(local), _) => {
                self.remove(statement.id, *local);
                self.local(*local)
            }
        }
    }

    /// The thread leaves for a node: the host finds it among those that were sent.
    pub(super) fn send(&mut self, statement: &Statement, source: &Source, from: Option<Site>, node: Thread) {
        let thread = self.taken(statement, source, from);
        let (node, sent) = (self.thread(node), self.shared_member(&self.names.sent));
        // A thread that has been nowhere yet has no armed timer.
        let timers = if self.handler.global { Vec::new() } else { self.timers() };
        if timers.is_empty() {
            return self.from(statement, &format!("catapults_send(&{sent}, {thread}, {node});"));
        }
        let scope = self.scope.clone();
        let gone = self.scope.take("gone");
        self.from(statement, "{");
        self.depth += 1;
        let pointer = self.names.host.pointer("struct catapults_thread");
        self.line(&format!("{pointer}{gone} = {thread};"));
        for timer in timers {
            let disarmed = self.arm(&gone, timer, "0");
            self.line(&disarmed);
        }
        self.line(&format!("catapults_send(&{sent}, {gone}, {node});"));
        self.depth -= 1;
        self.line("}");
        self.scope = scope;
    }

    fn timers(&self) -> Vec<AttributeId> {
        (0..self.policy.attributes.len()).map(AttributeId).filter(|id| self.is_timer(*id)).collect()
    }

    pub(super) fn destroy(&mut self, statement: &Statement, source: &Source, from: Option<Site>) {
        let thread = self.taken(statement, source, from);
        self.moved(statement);
        // A node has no timers.
        let timers = if self.handler.global { Vec::new() } else { self.timers() };
        let linked = !self.policy.links.is_empty();
        if timers.is_empty() && !linked {
            return self.from(statement, &format!("{thread}->container = 0;"));
        }
        // Its record may be reused, so no timer and no link may find it.
        let scope = self.scope.clone();
        let gone = self.scope.take("gone");
        self.from(statement, "{");
        self.depth += 1;
        let pointer = self.names.host.pointer("struct catapults_thread");
        self.line(&format!("{pointer}{gone} = {thread};"));
        self.line(&format!("{gone}->container = 0;"));
        if linked {
            self.line(&format!("{}({gone});", self.names.unlink));
        }
        for timer in timers {
            let disarmed = self.arm(&gone, timer, "0");
            self.line(&disarmed);
        }
        self.depth -= 1;
        self.line("}");
        self.scope = scope;
    }

    fn pop(&self, from: &Site) -> String {
        let member = &from.member;
        match &self.policy.containers[from.id.0].kind {
            ContainerKind::Threadref => format!("catapults_slot_take(&{member})"),
            kind @ (ContainerKind::Queue | ContainerKind::Stack) => {
                format!("catapults_{}_pop(&{member})", self.names.host.contract.list(kind))
            }
            kind @ (ContainerKind::Pqueue(_) | ContainerKind::Pstack(_)) => {
                format!("catapults_sorted_pop(&{member}, {})", super::super::ties(kind))
            }
        }
    }

    /// Takes a named thread out of where it is, as far as that is known.
    fn remove(&mut self, statement: StatementId, local: LocalId) {
        let verified = self.verified;
        let thread = self.local(local);
        if self.shared.is_taken(statement) {
            return;
        }
        let facts = verified.facts(statement);
        match arrays::groups(self.policy, &facts.positions).as_slice() {
            [] => {}
            [only] => {
                let removal = self.removal(only, &thread);
                if facts.in_hand {
                    self.line(&format!("if ({})", only.holds(self.names, &thread)));
                    self.line(&format!("    {removal}"));
                } else {
                    self.line(&removal);
                }
            }
            [first, second] if !facts.in_hand => {
                let (one, other) = (self.removal(first, &thread), self.removal(second, &thread));
                self.line(&format!("if ({})", first.holds(self.names, &thread)));
                self.line(&format!("    {one}"));
                self.line("else");
                self.line(&format!("    {other}"));
            }
            [_, ..] => {
                self.uses_self = true;
                self.uses_take = true;
                let take = if self.handler.global { &self.names.take_node } else { &self.names.take };
                self.line(&format!("{take}({});", self.names.host.instance.arguments(&thread)));
            }
        }
    }

    fn removal(&mut self, group: &Group, thread: &str) -> String {
        self.uses_self = true;
        super::super::setup::removal(self.policy, self.names, group, thread)
    }
}
