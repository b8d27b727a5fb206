//! Schedulers come, end and get other policies, and threads change schedulers, as in `schedulers.c` and `replace.c` of
//! `frameworks/native/core`.

use catapults_compiler::hierarchy::{Hierarchy, Node};
use catapults_compiler::interp::{Stop, ThreadId};
use catapults_compiler::policy::Policy;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::Value;

use super::super::policy::{Interpreted, Runner};
use super::super::record::Kind;
use super::books::State;
use super::schedulers::Scheduler;
use super::{Dispatcher, Done};

impl<'a> Dispatcher<'_, Interpreted<'a>> {
    /// Adds an ended scheduler of the hierarchy again. Whether it exists now: its parent must exist and accept it.
    ///
    /// # Errors
    /// A policy is out.
    pub fn adds(&mut self, hierarchy: &'a Hierarchy, scheduler: usize) -> Done<bool> {
        let Some(parent) = self.schedulers[scheduler].parent.filter(|parent| self.is_there(*parent)) else {
            return Ok(false);
        };
        let node = &hierarchy.nodes()[scheduler];
        self.schedulers[scheduler] = self.made(&hierarchy.policies()[node.policy], node);
        match self.try_to_introduce_proxy(scheduler, parent)? {
            Err(Stop::Fail { .. }) => Ok(false),
            Err(stop) => Err(self.out(self.events.newthread, stop)),
            Ok(proxy) => {
                self.order.push(scheduler);
                self.added += 1;
                self.schedulers[scheduler].before = self.added;
                self.schedulers[scheduler].seeds(self.seed);
                self.has_nothing_yet(scheduler, proxy)?;
                self.init(scheduler, 0)?;
                for _ in 1..self.processors.len() {
                    self.add_record(scheduler)?;
                }
                self.preempted_all()?;
                Ok(true)
            }
        }
    }

    /// Gives a scheduler the policy of another one. If it refuses a member, nothing changes. Whether it is in force.
    ///
    /// # Errors
    /// A policy is out.
    pub fn replaces(&mut self, hierarchy: &'a Hierarchy, scheduler: usize, like: usize) -> Done<bool> {
        self.charge();
        let (node, policy) = (&hierarchy.nodes()[scheduler], hierarchy.nodes()[like].policy);
        let mut new = self.made(&hierarchy.policies()[policy], node).runner;
        let of = &mut self.schedulers[scheduler];
        std::mem::swap(&mut of.runner, &mut new);
        of.seeds(self.seed);
        let before = new;
        if let Err(stop) = self.takes_all(scheduler, &before) {
            self.schedulers[scheduler].runner = before;
            self.preempted_all()?;
            return match stop {
                Stop::Fail { .. } | Stop::Guard { .. } => Ok(false),
                Stop::Unproved { .. } | Stop::Overrun { .. } | Stop::Misuse(_) => {
                    Err(self.out(self.events.newthread, stop))
                }
            };
        }
        (self.schedulers[scheduler].refused, self.schedulers[scheduler].asked_for) = (false, false);
        for member in self.members_of(scheduler) {
            let book = self.book(member);
            book.set_aside = book.set_aside || book.state == State::Blocked;
        }
        self.preempted_all()?;
        Ok(true)
    }

    fn made(&self, policy: &'a Verified<Policy>, node: &Node) -> Scheduler<Interpreted<'a>> {
        let mut made = Scheduler::of_node(Interpreted::new(policy, &self.events), node);
        made.runner.set_now(self.now);
        made
    }

    fn takes_all(&mut self, scheduler: usize, before: &Interpreted<'a>) -> Result<(), Stop> {
        if let Some(init) = self.events.init.filter(|event| self.schedulers[scheduler].runner.handles(*event)) {
            self.raised(scheduler, 0, init, &[])?;
        }
        self.members_of(scheduler).into_iter().try_for_each(|member| self.takes(scheduler, before, member))
    }

    fn takes(&mut self, scheduler: usize, before: &Interpreted<'a>, member: ThreadId) -> Result<(), Stop> {
        let given =
            self.book(member).scheduler.map_or(Vec::new(), |its_own| self.schedulers[its_own].at_parent.clone());
        let runner = &mut self.schedulers[scheduler].runner;
        runner.spawn(member)?;
        runner.inherit(member, before);
        for (name, value) in given {
            runner.set_of(member, &name, value);
        }
        self.raised(scheduler, 0, self.events.newthread, &[member])?;
        let suspend =
            self.events.suspend.filter(|_| matches!(self.book(member).state, State::Blocked | State::Suspended));
        suspend.map_or(Ok(()), |suspend| self.raised(scheduler, 0, suspend, &[member]).map(|_| ()))
    }

    /// The scheduler's threads in the order in which they came, then the proxies of its children in the same order.
    fn members_of(&self, scheduler: usize) -> Vec<ThreadId> {
        let number = |index: usize| ThreadId(u32::try_from(index + 1).unwrap_or(0));
        let is_its = |index: &usize| {
            let book = &self.books[*index];
            book.under == scheduler && book.scheduler.is_none() && book.state != State::None
        };
        let mut threads: Vec<usize> = (0..self.books.len()).filter(is_its).collect();
        threads.sort_by_key(|index| self.books[*index].came);
        let children = self.order.iter().filter(|child| self.schedulers[**child].parent == Some(scheduler));
        let proxies = children.flat_map(|child| self.schedulers[*child].proxies.iter().copied());
        threads.into_iter().map(number).chain(proxies).collect()
    }
}

impl<R: Runner> Dispatcher<'_, R> {
    /// Whether a scheduler exists, and was not removed.
    pub fn is_there(&self, scheduler: usize) -> bool {
        self.order.contains(&scheduler) && !self.schedulers[scheduler].removed
    }

    /// Whether a scheduler has ended.
    pub fn has_ended(&self, scheduler: usize) -> bool {
        !self.order.contains(&scheduler)
    }

    /// Removes a scheduler that has no members but removed schedulers. It ends once these have ended and its parent
    /// dispatches it. The root cannot be removed. Whether it will end.
    ///
    /// # Errors
    /// A policy is out.
    pub fn removes(&mut self, scheduler: usize) -> Done<bool> {
        let is_its = |book: &super::books::Book| {
            let goes = book.scheduler.is_some_and(|child| self.schedulers[child].removed);
            book.under == scheduler && book.state != State::None && !goes
        };
        let has_members = self.books.iter().any(is_its);
        if self.schedulers[scheduler].parent.is_none() || !self.is_there(scheduler) || has_members {
            return Ok(false);
        }
        self.schedulers[scheduler].removed = true;
        self.leaves_if_alone(scheduler, 0)?;
        self.preempted_all()?;
        Ok(true)
    }

    fn leaves_if_alone(&mut self, scheduler: usize, processor: usize) -> Done {
        let of = &self.schedulers[scheduler];
        let has_children = self.order.iter().any(|child| self.schedulers[*child].parent == Some(scheduler));
        if !of.removed || of.leaving || has_children {
            return Ok(());
        }
        self.schedulers[scheduler].leaving = true;
        self.adjust(scheduler, processor)
    }

    /// A leaving scheduler's proxy was dispatched, and ends.
    pub(super) fn ends(&mut self, scheduler: usize, processor: usize, proxy: ThreadId) -> Done {
        let parent = self.under(proxy);
        self.schedulers[scheduler].proxies.retain(|one| *one != proxy);
        let last = self.schedulers[scheduler].proxies.is_empty();
        if last {
            self.order.retain(|one| *one != scheduler);
        }
        self.raise(parent, processor, self.events.exit, &[proxy])?;
        self.note_moved(processor, proxy, Kind::Exited, self.events.exit);
        self.forget(proxy);
        if last { self.leaves_if_alone(parent, processor) } else { Ok(()) }
    }

    /// The thread that runs there on its own turn moves to another scheduler. `values` are for imports of the policy
    /// there, which may refuse the thread. Whether it has moved.
    ///
    /// # Errors
    /// A policy is out.
    pub fn attaches(&mut self, processor: usize, to: usize, values: &[(&str, Value)]) -> Done<bool> {
        let Some(thread) = self.processors[processor].turn.filter(|_| self.is_on_own_turn(processor)) else {
            return Err(self.misuse("a thread can change its scheduler on its own turn only"));
        };
        self.book(thread).own_turn = false;
        let from = self.under(thread);
        if from == to {
            self.yields(processor)?;
            return Ok(true);
        }
        self.charge();
        let runner = &mut self.schedulers[to].runner;
        runner.spawn(thread).map_err(|stop| self.out(self.events.newthread, stop))?;
        for (name, value) in values {
            self.schedulers[to].runner.set_of(thread, name, *value);
        }
        match self.raised(to, processor, self.events.newthread, &[thread]) {
            Err(Stop::Fail { .. }) => {
                self.schedulers[to].runner.discard(thread);
                self.rouse_all(thread)?;
                self.preempted(processor, self.events.newthread)?;
                return Ok(false);
            }
            Err(stop) => return Err(self.out(self.events.newthread, stop)),
            Ok(_) => {}
        }
        self.raise(from, processor, self.events.exit, &[thread])?;
        self.schedulers[from].runner.discard(thread);
        self.processors[processor].turn = None;
        self.processors[processor].current = None;
        let book = self.book(thread);
        (book.under, book.turn_on, book.runs_on) = (to, None, None);
        // `to` may be one of the schedulers that give the processor up.
        self.gained_ready(thread);
        self.give_way_back(processor, false)?;
        self.adjust(to, processor)?;
        self.note(processor, thread, Kind::SwitchedOut, self.events.newthread, 0);
        self.stops_running(thread)?;
        Ok(true)
    }

    /// To be called after an event by which any processor may have been taken.
    fn preempted_all(&mut self) -> Done {
        (0..self.processors.len()).try_for_each(|processor| self.preempted(processor, self.events.newthread))
    }
}
