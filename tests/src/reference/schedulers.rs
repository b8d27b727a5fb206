//! Schedulers come and go, get other policies, and threads go from one to another.

use catapults_compiler::interp::{Stop, ThreadId};
use catapults_compiler::policy::Policy;
use catapults_compiler::vocabulary::Value;

use super::members::{Member, State};
use super::scheduler::Scheduler;
use super::{Done, Kind, Later, Tree};

impl<'a> Tree<'a> {
    /// Whether a scheduler is there, and is not to end.
    pub fn is_there(&self, scheduler: usize) -> bool {
        self.order.contains(&scheduler) && !self.schedulers[scheduler].removed
    }

    /// The policy that a scheduler has.
    pub fn policy(&self, scheduler: usize) -> &'a Policy {
        self.schedulers[scheduler].policy()
    }

    /// Whether a scheduler has ended, and can be added again.
    pub fn can_be_added(&self, scheduler: usize) -> bool {
        let parent = self.hierarchy.nodes()[scheduler].parent;
        !self.order.contains(&scheduler) && parent.is_some_and(|parent| self.is_there(parent))
    }

    /// Adds a scheduler that has ended where it was. Its parent may refuse it.
    ///
    /// # Errors
    /// A policy is out.
    pub fn adds(&mut self, scheduler: usize) -> Done {
        self.schedulers[scheduler] = self.made(scheduler, self.hierarchy.nodes()[scheduler].policy);
        self.add(scheduler, true)?;
        self.preempt()
    }

    /// A scheduler under which nothing is, but schedulers that were removed before it, ends when its parent dispatches it next after they
    /// have.
    ///
    /// # Errors
    /// A policy is out.
    pub fn removes(&mut self, scheduler: usize) -> Done {
        let going: Vec<ThreadId> = self
            .children(scheduler)
            .filter(|child| self.schedulers[*child].removed)
            .map(|child| self.schedulers[child].record)
            .collect();
        let under = |(number, member): (&ThreadId, &Member)| {
            member.under == scheduler && member.state != State::Ended && !going.contains(number)
        };
        let attaches_later = self.later.values().any(|later| *later == Later::Attach(scheduler));
        let empty = !attaches_later && !self.members.iter().any(under);
        if self.schedulers[scheduler].parent.is_some() && self.is_there(scheduler) && empty {
            self.schedulers[scheduler].removed = true;
            self.leaves_if_alone(scheduler)?;
        }
        self.preempt()
    }

    fn children(&self, scheduler: usize) -> impl Iterator<Item = usize> + '_ {
        self.order.iter().copied().filter(move |child| self.schedulers[*child].parent == Some(scheduler))
    }

    fn leaves_if_alone(&mut self, scheduler: usize) -> Done {
        let of = &self.schedulers[scheduler];
        if !of.removed || of.leaving || self.children(scheduler).next().is_some() {
            return Ok(());
        }
        self.schedulers[scheduler].leaving = true;
        self.gained(scheduler)
    }

    /// A scheduler gets the policy that another one was made with. The policy may refuse what is there: then nothing changes.
    ///
    /// # Errors
    /// A policy is out.
    pub fn replaces(&mut self, scheduler: usize, like: usize) -> Done {
        self.tell(scheduler, true);
        let new = self.made(scheduler, self.hierarchy.nodes()[like].policy);
        let before = std::mem::replace(&mut self.schedulers[scheduler], new);
        let of = &mut self.schedulers[scheduler];
        (of.record, of.runnable) = (before.record, before.runnable);
        (of.removed, of.leaving) = (before.removed, before.leaving);
        if self.take_all(scheduler, &before).is_err() {
            self.schedulers[scheduler] = before;
        } else {
            for number in self.members_of(scheduler) {
                if self.state(number) == Some(State::Blocked)
                    && let Some(member) = self.members.get_mut(&number)
                {
                    member.set_aside = true;
                }
            }
        }
        self.preempt()
    }

    /// The thread that runs goes over to another scheduler, which may refuse it, with values for what the policy there imports.
    ///
    /// # Errors
    /// A policy is out.
    pub fn attaches(&mut self, to: usize, values: &[(&str, Value)]) -> Done {
        let Some(current) = self.running() else { return Ok(()) };
        if self.under(current) == Some(to) {
            return self.yields();
        }
        if self.turn != Some(current) {
            return self.awaits_own_turn(current, Later::Attach(to));
        }
        self.has_own_turn(current);
        let moved = self.moves(current, to, values)?;
        self.rouse_all(current)?;
        if moved { self.choose() } else { self.preempt() }
    }

    /// A new scheduler has nothing to run yet, and is suspended at its parent. `may_fail`: it may be refused.
    pub(super) fn add(&mut self, index: usize, may_fail: bool) -> Done {
        if let Some(parent) = self.schedulers[index].parent {
            let record = self.enrol(parent, Some(index))?;
            self.schedulers[index].record = record;
            let values = self.values_of(index, true);
            self.give(parent, record, &values)?;
            match self.raised(parent, "newthread", &[record]) {
                Err(Stop::Fail { .. }) if may_fail => {
                    self.schedulers[parent].machine.discard(record);
                    self.set_state(record, State::Ended);
                    self.members.remove(&record);
                    return Ok(());
                }
                Err(stop) => return Err(Self::stopped(parent, "newthread", stop)),
                Ok(_) => {}
            }
            self.note(Kind::New, record);
            self.order.push(index);
            self.gained(parent)?;
            self.lost(index)?;
        } else {
            self.order.push(index);
        }
        if self.schedulers[index].machine.handles("init") {
            self.raise(index, "init", &[])?;
        }
        Ok(())
    }

    /// A scheduler that is leaving was dispatched: that was the last of it.
    pub(super) fn end(&mut self, scheduler: usize) -> Done {
        let Some(parent) = self.schedulers[scheduler].parent else { return Ok(()) };
        let record = self.schedulers[scheduler].record;
        self.set_state(record, State::Ended);
        self.order.retain(|one| *one != scheduler);
        self.raise(parent, "exit", &[record])?;
        self.note(Kind::Exited, record);
        self.members.remove(&record);
        self.leaves_if_alone(parent)
    }

    /// A scheduler of the hierarchy as it is made, with this of the hierarchy's policies.
    pub(super) fn made(&self, index: usize, policy: usize) -> Scheduler<'a> {
        let values = self.values_of(index, false);
        let parent = self.hierarchy.nodes()[index].parent;
        Scheduler::new(&self.hierarchy.policies()[policy], parent, values.into_iter(), self.now)
    }

    fn values_of(&self, index: usize, at_parent: bool) -> Vec<(&'a str, Value)> {
        let parameters = self.hierarchy.nodes()[index].parameters.iter();
        let wanted = parameters.filter(|parameter| parameter.at_parent == at_parent);
        wanted.map(|parameter| (parameter.name.as_str(), parameter.value)).collect()
    }

    // ---- Another policy

    fn take_all(&mut self, scheduler: usize, before: &Scheduler) -> Result<(), Stop> {
        if self.schedulers[scheduler].machine.handles("init") {
            self.raised(scheduler, "init", &[])?;
        }
        for member in self.members_of(scheduler) {
            self.take(scheduler, before, member)?;
        }
        Ok(())
    }

    fn take(&mut self, scheduler: usize, before: &Scheduler, member: ThreadId) -> Result<(), Stop> {
        self.spawn(scheduler, member)?;
        let of = &mut self.schedulers[scheduler];
        of.machine.inherit(member, &before.machine);
        for import in &of.verified.policy().thread_imports {
            let mut imports = before.policy().thread_imports.iter();
            let Some(from) = imports.position(|old| old.name == import.name && old.ty == import.ty) else { continue };
            let default = before.policy().thread_imports[from].default;
            if let Some(value) = before.thread_import(member, from).filter(|value| *value != default) {
                let _ = of.application.set_of_thread(of.verified.policy(), member, &import.name, value);
            }
        }
        let its_own = self.members.get(&member).and_then(|member| member.scheduler);
        for (name, value) in its_own.map_or(Vec::new(), |its_own| self.values_of(its_own, true)) {
            let of = &mut self.schedulers[scheduler];
            // What the policy does not import any more is left out.
            let _ = of.application.set_of_thread(of.verified.policy(), member, name, value);
        }
        self.raised(scheduler, "newthread", &[member])?;
        if !self.state(member).is_some_and(State::is_runnable) {
            self.raised(scheduler, "suspend_thread", &[member])?;
        }
        Ok(())
    }

    /// Threads, in the order of their numbers, then schedulers, in the order in which they came.
    fn members_of(&self, scheduler: usize) -> Vec<ThreadId> {
        let threads = self.members.iter().filter(|(_, member)| {
            member.under == scheduler && member.scheduler.is_none() && member.state != State::Ended
        });
        let children = self.order.iter().filter(|child| self.schedulers[**child].parent == Some(scheduler));
        threads.map(|(number, _)| *number).chain(children.map(|child| self.schedulers[*child].record)).collect()
    }

    // ---- From one scheduler to another

    /// Whether the thread, which is RUNNING, is READY there now, and nothing is RUNNING.
    fn moves(&mut self, thread: ThreadId, to: usize, values: &[(&str, Value)]) -> Done<bool> {
        let Some(from) = self.under(thread) else { return Ok(false) };
        self.tell(to, true);
        self.spawn(to, thread).map_err(|stop| Self::stopped(to, "newthread", stop))?;
        self.give(to, thread, values)?;
        self.is_under(thread, to);
        match self.raised(to, "newthread", &[thread]) {
            Err(Stop::Fail { .. }) => {
                self.schedulers[to].machine.discard(thread);
                self.is_under(thread, from);
                return Ok(false);
            }
            Err(stop) => return Err(Self::stopped(to, "newthread", stop)),
            Ok(_) => {}
        }
        self.schedulers[to].runnable += 1;
        self.is_under(thread, from);
        self.set_state(thread, State::Ended);
        self.raise(from, "exit", &[thread])?;
        // At schedulers of which `to` may be one.
        self.give_up(from)?;
        self.is_under(thread, to);
        if let Some(member) = self.members.get_mut(&thread) {
            member.state = State::Runnable;
        }
        self.gained(to)?;
        self.note(Kind::SwitchedOut, thread);
        Ok(true)
    }

    fn is_under(&mut self, thread: ThreadId, scheduler: usize) {
        if let Some(member) = self.members.get_mut(&thread) {
            member.under = scheduler;
        }
    }
}
