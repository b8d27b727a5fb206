//! A hierarchy of schedulers at work in the interpreter: an instance of a policy for each scheduler, and the decisions that go
//! down from the root.
//!
//! To its parent a scheduler is a thread, with a number of its own: RUNNING while something under it runs, READY while something
//! under it could, BLOCKED otherwise. What is raised when, and at whom, is what the native runtime does
//! (`frameworks/native/dispatcher/tree.c`), and `tests/tests/tree.rs` compares the two. Events have the names that its description gives them.
//!
//! ```text
//! root ──schedule──► the record of A ──A's schedule──► the record of B ──► … ──► a thread
//! ```

use std::collections::BTreeMap;
use std::fmt;

use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::interp::{Application, Machine, Position, Stop, ThreadId, Variables};
use catapults_compiler::policy::{Policy, StateClass, ThreadImportId, Type};
use catapults_compiler::vocabulary::Value;

/// Schedulers and their threads.
pub struct Tree<'a> {
    schedulers: Vec<Scheduler<'a>>,
    members: BTreeMap<ThreadId, Member>,
    /// Numbers given so far, to threads and to schedulers.
    numbers: u32,
    /// The thread that is RUNNING, or was last.
    turn: Option<ThreadId>,
    waiting: Waiting,
    /// The world outside is attended to: no thread is RUNNING.
    polling: bool,
    now: i64,
    log: Vec<Record>,
}

/// What has happened to a thread, or to a scheduler as the thread that it is to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What.
    pub kind: Kind,
    /// To whom; 0 if to nobody.
    pub thread: ThreadId,
}

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has been created.
    New,
    /// It has the processor.
    Dispatched,
    /// It has lost or given up the processor and could go on.
    SwitchedOut,
    /// It cannot go on.
    Blocked,
    /// It can again.
    Raised,
    /// It has ended.
    Exited,
    /// Somebody has suspended it, or it has nothing to run.
    Suspended,
    /// Not any more.
    Resumed,
    /// Nothing could run.
    Idle,
}

/// A policy has broken a rule, or has stopped at a guard: it is out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// The scheduler, into [`Hierarchy::nodes`].
    pub scheduler: usize,
    /// The event that was raised.
    pub event: String,
    /// What it did.
    pub why: String,
}

struct Scheduler<'a> {
    policy: &'a Policy,
    machine: Machine<'a>,
    application: Variables,
    parent: Option<usize>,
    /// What it is to its parent.
    record: ThreadId,
    /// What is RUNNABLE under it.
    runnable: usize,
    /// It dispatched nothing although something under it is RUNNABLE.
    idle: bool,
    /// The variable of threads that the host keeps: how long each has run.
    consumed: Option<ThreadImportId>,
    /// When it was told last what time it is.
    told: i64,
}

/// What that variable is called, in all policies.
const CONSUMED: &str = "consumed";

/// A thread, or a scheduler to its parent.
#[derive(Clone, Copy, Debug)]
struct Member {
    under: usize,
    state: State,
    /// The scheduler that it is.
    scheduler: Option<usize>,
    /// As soon as it is blocked no longer.
    to_be_suspended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runnable,
    Blocked,
    Suspended,
    /// It is remembered until somebody else has the turn.
    Ended,
}

/// What is to be done once something has happened outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// A thread runs.
    No,
    /// Somebody gave the processor up, and nothing was RUNNABLE.
    ToChoose,
    /// The root is to be asked again, as soon as something is RUNNABLE.
    ToAsk,
    /// The root dispatched nothing: it is asked again, whatever has happened.
    Once,
}

type Done<T = ()> = Result<T, Out>;

impl<'a> Tree<'a> {
    /// The schedulers of a hierarchy, before any thread.
    ///
    /// # Errors
    /// A policy is out; one that refuses a scheduler is taken for one.
    pub fn new(hierarchy: &'a Hierarchy) -> Done<Self> {
        let mut tree = Tree {
            schedulers: Vec::new(),
            members: BTreeMap::new(),
            numbers: 0,
            turn: None,
            waiting: Waiting::No,
            polling: false,
            now: 0,
            log: Vec::new(),
        };
        for node in hierarchy.nodes() {
            let verified = &hierarchy.policies()[node.policy];
            let mut application = Variables::default();
            for parameter in node.parameters.iter().filter(|parameter| !parameter.at_parent) {
                tree.set(application.set(verified.policy(), &parameter.name, parameter.value), "init")?;
            }
            let index = tree.schedulers.len();
            tree.schedulers.push(Scheduler {
                policy: verified.policy(),
                machine: Machine::new(verified),
                application,
                parent: node.parent,
                record: ThreadId(0),
                runnable: 0,
                idle: false,
                consumed: consumed(verified.policy()),
                told: 0,
            });
            if let Some(parent) = node.parent {
                let values = node.parameters.iter().filter(|parameter| parameter.at_parent);
                tree.add(index, parent, values.map(|parameter| (parameter.name.as_str(), parameter.value)))?;
            }
            if tree.schedulers[index].machine.handles("init") {
                tree.raise(index, "init", &[])?;
            }
        }
        Ok(tree)
    }

    /// A new scheduler has nothing to run yet, and is suspended at its parent.
    fn add<'v>(&mut self, index: usize, parent: usize, values: impl Iterator<Item = (&'v str, Value)>) -> Done {
        let record = self.enrol(parent, Some(index))?;
        self.schedulers[index].record = record;
        for (name, value) in values {
            let above = &mut self.schedulers[parent];
            let done = above.application.set_of_thread(above.policy, record, name, value);
            self.set(done, "newthread")?;
        }
        self.raise(parent, "newthread", &[record])?;
        self.note(Kind::New, record);
        self.gained(parent)?;
        self.lost(index)
    }

    /// Whom to run first: a new thread, under a scheduler.
    ///
    /// # Errors
    /// A policy is out.
    pub fn start(&mut self, scheduler: usize) -> Done<ThreadId> {
        self.turn = Some(ThreadId(self.numbers + 1));
        let thread = self.admit(scheduler, &[])?;
        self.choose()?;
        Ok(thread)
    }

    /// The thread that runs; `None`: all wait for something outside.
    pub fn running(&self) -> Option<ThreadId> {
        self.turn.filter(|_| self.waiting == Waiting::No)
    }

    /// What has happened so far.
    pub fn log(&self) -> &[Record] {
        &self.log
    }

    /// Whether there is a thread of this number that waits for something.
    pub fn is_blocked(&self, thread: ThreadId) -> bool {
        self.thread(thread).is_some_and(|member| member.state == State::Blocked)
    }

    /// Whether there is a thread of this number.
    pub fn lives(&self, thread: ThreadId) -> bool {
        self.thread(thread).is_some()
    }

    /// So late it is from here on. A clock never goes back.
    pub fn set_now(&mut self, nanoseconds: i64) {
        self.now = nanoseconds;
    }

    // ---- What the thread that runs does

    /// It creates a thread, with values for those variables of threads that the policy there imports. Its number; a policy that
    /// refuses it has used it up all the same.
    ///
    /// # Errors
    /// A policy is out.
    pub fn create(&mut self, scheduler: usize, values: &[(&str, Value)]) -> Done<ThreadId> {
        let thread = self.admit(scheduler, values)?;
        self.preempt()?;
        Ok(thread)
    }

    /// It gives the processor up.
    ///
    /// # Errors
    /// A policy is out.
    pub fn yields(&mut self) -> Done {
        let Some((turn, scheduler)) = self.turn_and_scheduler() else { return Ok(()) };
        self.raise(scheduler, "switch_out", &[turn])?;
        self.note(Kind::SwitchedOut, turn);
        self.give_up(scheduler)?;
        self.choose()
    }

    /// It asks that another thread be next, and gives the processor up.
    ///
    /// # Errors
    /// A policy is out.
    pub fn yields_to(&mut self, thread: ThreadId) -> Done {
        self.ask_for(thread)?;
        if self.preempted()? { self.choose() } else { self.yields() }
    }

    /// It cannot go on before something happens: an event such as `block.io.read`.
    ///
    /// # Errors
    /// A policy is out.
    pub fn blocks(&mut self, event: &str) -> Done {
        let Some((turn, scheduler)) = self.turn_and_scheduler() else { return Ok(()) };
        self.set_state(turn, State::Blocked);
        self.raise(scheduler, event, &[turn])?;
        self.note(Kind::Blocked, turn);
        self.give_up(scheduler)?;
        self.wait_to_choose()
    }

    /// It ends.
    ///
    /// # Errors
    /// A policy is out.
    pub fn exits(&mut self) -> Done {
        let Some((turn, scheduler)) = self.turn_and_scheduler() else { return Ok(()) };
        self.set_state(turn, State::Ended);
        self.raise(scheduler, "exit", &[turn])?;
        self.note(Kind::Exited, turn);
        self.give_up(scheduler)?;
        self.wait_to_choose()
    }

    /// It suspends a thread, perhaps itself. One that is blocked is suspended as soon as it is no longer.
    ///
    /// # Errors
    /// A policy is out.
    pub fn suspends(&mut self, thread: ThreadId) -> Done {
        let Some(member) = self.thread(thread) else { return Ok(()) };
        match member.state {
            State::Blocked => {
                self.entry(thread, |member| member.to_be_suspended = true);
                Ok(())
            }
            State::Suspended | State::Ended => Ok(()),
            State::Runnable => {
                self.raise_suspend(thread)?;
                if self.turn == Some(thread) {
                    self.give_up(member.under)?;
                    self.wait_to_choose()
                } else {
                    self.preempt()
                }
            }
        }
    }

    /// It ends the suspension of a thread.
    ///
    /// # Errors
    /// A policy is out.
    pub fn resumes(&mut self, thread: ThreadId) -> Done {
        let Some(member) = self.thread(thread) else { return Ok(()) };
        match member.state {
            State::Blocked => {
                self.entry(thread, |member| member.to_be_suspended = false);
                return Ok(());
            }
            State::Runnable | State::Ended => return Ok(()),
            State::Suspended => {}
        }
        self.set_state(thread, State::Runnable);
        self.raise(member.under, "resume_thread", &[thread])?;
        self.note(Kind::Resumed, thread);
        self.gained(member.under)?;
        self.preempt()
    }

    // ---- What anybody does

    /// What a thread waits for has happened. Nothing, unless it is blocked.
    ///
    /// # Errors
    /// A policy is out.
    pub fn unblock(&mut self, thread: ThreadId) -> Done {
        if self.is_blocked(thread) {
            self.raise_unblock(thread)?;
            self.preempt()?;
        }
        Ok(())
    }

    /// What happens outside while no thread runs; then, if something can run, it does.
    ///
    /// # Errors
    /// A policy is out.
    pub fn outside(&mut self, happens: impl FnOnce(&mut Self) -> Done) -> Done {
        self.note(Kind::Idle, ThreadId(0));
        self.polling = true;
        happens(self)?;
        self.expire_all()?;
        self.polling = false;
        if self.waiting != Waiting::Once {
            self.wake_idle()?;
        }
        if self.schedulers[0].runnable == 0 {
            if self.waiting == Waiting::Once {
                self.waiting = Waiting::ToAsk;
            }
            return Ok(());
        }
        match std::mem::replace(&mut self.waiting, Waiting::No) {
            Waiting::No => Ok(()),
            Waiting::ToChoose => self.choose(),
            Waiting::ToAsk | Waiting::Once => self.descend(0),
        }
    }

    // ---- Down

    fn wait_to_choose(&mut self) -> Done {
        if self.schedulers[0].runnable == 0 {
            self.waiting = Waiting::ToChoose;
            return Ok(());
        }
        self.choose()
    }

    /// Decides who is next. Something is RUNNABLE, nothing is RUNNING.
    fn choose(&mut self) -> Done {
        self.polling = true;
        self.expire_all()?;
        self.polling = false;
        self.descend(0)
    }

    /// Asks a scheduler, and whatever it dispatches, down to a thread.
    fn descend(&mut self, from: usize) -> Done {
        let mut scheduler = from;
        loop {
            let dispatched = self.raise(scheduler, "schedule", &[])?;
            let member = dispatched.and_then(|thread| Some((thread, *self.members.get(&thread)?)));
            match member {
                Some((thread, Member { state: State::Runnable, scheduler: Some(below), .. })) => {
                    self.note(Kind::Dispatched, thread);
                    scheduler = below;
                    continue;
                }
                Some((thread, Member { state: State::Runnable, scheduler: None, .. })) => {
                    self.note(Kind::Dispatched, thread);
                    let before = self.turn.replace(thread);
                    if let Some(ended) = before.filter(|before| self.thread(*before).is_none()) {
                        self.members.remove(&ended);
                    }
                    return Ok(());
                }
                Some(_) => return Err(Self::broken(scheduler, "it dispatched a thread that is not ready")),
                None if self.schedulers[scheduler].parent.is_none() => {
                    self.waiting = Waiting::Once;
                    return Ok(());
                }
                None => {
                    self.schedulers[scheduler].idle = true;
                    scheduler = self.give_back(scheduler)?;
                }
            }
            if self.schedulers[scheduler].runnable == 0 {
                self.waiting = Waiting::ToAsk;
                return Ok(());
            }
        }
    }

    /// A scheduler that was dispatched has nothing to run. The nearest one above that has something else, or the root.
    fn give_back(&mut self, mut scheduler: usize) -> Done<usize> {
        while let Some(parent) = self.schedulers[scheduler].parent {
            self.raise_at_parent(scheduler, State::Blocked)?;
            scheduler = parent;
            if self.schedulers[scheduler].runnable > 0 {
                break;
            }
        }
        Ok(scheduler)
    }

    /// Schedulers that dispatched nothing are asked again when something has happened.
    fn wake_idle(&mut self) -> Done {
        for scheduler in 0..self.schedulers.len() {
            if self.schedulers[scheduler].idle && self.schedulers[scheduler].runnable > 0 {
                self.gained(scheduler)?;
            }
        }
        Ok(())
    }

    /// Raises the events of the timers whose instant has come.
    fn expire_all(&mut self) -> Done {
        /// One that is armed anew for an instant that is past shall let the threads run.
        const MOST: usize = 64;
        for scheduler in 0..self.schedulers.len() {
            for _ in 0..MOST {
                let due = self.schedulers[scheduler].machine.next_timeout();
                let Some(due) = due.filter(|due| due.instant <= self.now) else { break };
                self.raise(scheduler, due.event, &[due.thread])?;
                if self.schedulers[scheduler].idle {
                    self.gained(scheduler)?;
                }
            }
        }
        Ok(())
    }

    // ---- Up

    /// What was RUNNING under a scheduler has given the processor up there: so do all schedulers above it.
    fn give_up(&mut self, from: usize) -> Done {
        let mut scheduler = from;
        while let Some(parent) = self.schedulers[scheduler].parent {
            let record = self.schedulers[scheduler].record;
            if self.member(record).is_some_and(|member| member.state == State::Runnable) {
                let taken = self.taken_from(record);
                if self.schedulers[scheduler].runnable == 0 {
                    self.raise_at_parent(scheduler, if taken { State::Suspended } else { State::Blocked })?;
                } else if !taken {
                    self.switch_out(record)?;
                }
            }
            scheduler = parent;
        }
        Ok(())
    }

    /// Something has happened while the thread whose turn it is was RUNNING: it may have lost the processor.
    fn preempt(&mut self) -> Done {
        if !self.polling && self.preempted()? { self.choose() } else { Ok(()) }
    }

    /// Whether it, or a scheduler above it, has lost the processor. All of them have given it up then.
    fn preempted(&mut self) -> Done<bool> {
        let way: Vec<ThreadId> = self.turn.into_iter().flat_map(|turn| self.way_up(turn)).collect();
        if !way.iter().any(|member| self.taken_from(*member)) {
            return Ok(false);
        }
        for member in way {
            if self.taken_from(member) {
                self.note(Kind::SwitchedOut, member);
            } else {
                self.switch_out(member)?;
            }
        }
        Ok(true)
    }

    /// Asks all schedulers between a thread and what is RUNNING that it be next, if all of them can be asked.
    fn ask_for(&mut self, thread: ThreadId) -> Done {
        let ready = self.thread(thread).is_some_and(|member| member.state == State::Runnable);
        if !ready || self.turn == Some(thread) {
            return Ok(());
        }
        let running: Vec<ThreadId> = self.turn.into_iter().flat_map(|turn| self.way_up(turn)).collect();
        let asked: Vec<ThreadId> =
            self.way_up(thread).into_iter().take_while(|member| !running.contains(member)).collect();
        for member in &asked {
            let Some(Member { under, .. }) = self.member(*member) else { return Ok(()) };
            let possible =
                self.schedulers[under].machine.handles("set_next_thread") && self.can_switch_to(under, *member)?;
            if !possible {
                return Ok(());
            }
        }
        for member in asked {
            if let Some(Member { under, .. }) = self.member(member) {
                self.raise(under, "set_next_thread", &[member])?;
            }
        }
        Ok(())
    }

    fn can_switch_to(&mut self, scheduler: usize, member: ThreadId) -> Done<bool> {
        self.tell(scheduler, true);
        let asked = &mut self.schedulers[scheduler];
        let answer = asked.machine.ask("can_switch_to", &[member], &mut asked.application);
        answer.map(|answer| answer == Value::Bool(true)).map_err(|stop| Self::stopped(scheduler, "can_switch_to", stop))
    }

    /// Something under a scheduler has become RUNNABLE.
    fn gained(&mut self, mut scheduler: usize) -> Done {
        self.schedulers[scheduler].idle = false;
        while let Some(parent) = self.schedulers[scheduler].parent {
            if self.state_of(scheduler) == Some(State::Runnable) {
                break;
            }
            self.raise_at_parent(scheduler, State::Runnable)?;
            scheduler = parent;
        }
        Ok(())
    }

    /// Something under a scheduler has been suspended.
    fn lost(&mut self, mut scheduler: usize) -> Done {
        while let Some(parent) = self.schedulers[scheduler].parent {
            if self.schedulers[scheduler].runnable > 0 || self.state_of(scheduler) != Some(State::Runnable) {
                break;
            }
            self.raise_at_parent(scheduler, State::Suspended)?;
            scheduler = parent;
        }
        Ok(())
    }

    /// The record of a scheduler goes over to another state. It wakes by the event that belongs to the one by which it went.
    fn raise_at_parent(&mut self, scheduler: usize, state: State) -> Done {
        let Some(parent) = self.schedulers[scheduler].parent else { return Ok(()) };
        let record = self.schedulers[scheduler].record;
        let before = self.state_of(scheduler);
        self.set_state(record, state);
        let (event, kind) = match (state, before) {
            (State::Blocked, _) => ("block.scheduler", Kind::Blocked),
            (State::Suspended, _) => ("suspend_thread", Kind::Suspended),
            (State::Ended, _) => ("exit", Kind::Exited),
            (State::Runnable, Some(State::Blocked)) => ("event_raised", Kind::Raised),
            (State::Runnable, _) => ("resume_thread", Kind::Resumed),
        };
        self.raise(parent, event, &[record])?;
        self.note(kind, record);
        Ok(())
    }

    // ---- Threads

    fn enrol(&mut self, under: usize, scheduler: Option<usize>) -> Done<ThreadId> {
        self.numbers += 1;
        let number = ThreadId(self.numbers);
        self.schedulers[under].runnable += 1;
        self.members.insert(number, Member { under, state: State::Runnable, scheduler, to_be_suspended: false });
        let Scheduler { machine, application, consumed, .. } = &mut self.schedulers[under];
        machine.spawn(number).map_err(|stop| Self::stopped(under, "newthread", stop))?;
        if let Some(consumed) = *consumed {
            application.set_thread_import(number, consumed, Value::Time(0));
        }
        Ok(number)
    }

    fn admit(&mut self, scheduler: usize, values: &[(&str, Value)]) -> Done<ThreadId> {
        let thread = self.enrol(scheduler, None)?;
        for (name, value) in values {
            let Scheduler { application, policy, .. } = &mut self.schedulers[scheduler];
            if policy.thread_imports.iter().any(|import| import.name == *name) {
                let set = application.set_of_thread(policy, thread, name, *value);
                set.map_err(|why| Out { scheduler, event: "newthread".to_owned(), why })?;
            }
        }
        match self.raised(scheduler, "newthread", &[thread]) {
            Err(Stop::Fail { .. }) => {
                self.schedulers[scheduler].machine.discard(thread);
                self.schedulers[scheduler].runnable -= 1;
                self.members.remove(&thread);
                return Ok(thread);
            }
            Err(stop) => return Err(Self::stopped(scheduler, "newthread", stop)),
            Ok(_) => {}
        }
        self.note(Kind::New, thread);
        self.gained(scheduler)?;
        Ok(thread)
    }

    fn raise_suspend(&mut self, thread: ThreadId) -> Done {
        let Some(Member { under, .. }) = self.member(thread) else { return Ok(()) };
        self.set_state(thread, State::Suspended);
        self.raise(under, "suspend_thread", &[thread])?;
        self.note(Kind::Suspended, thread);
        self.lost(under)
    }

    fn raise_unblock(&mut self, thread: ThreadId) -> Done {
        let Some(member) = self.member(thread) else { return Ok(()) };
        self.set_state(thread, State::Runnable);
        self.raise(member.under, "event_raised", &[thread])?;
        self.note(Kind::Raised, thread);
        self.gained(member.under)?;
        if member.to_be_suspended {
            self.entry(thread, |member| member.to_be_suspended = false);
            self.raise_suspend(thread)?;
        }
        Ok(())
    }

    fn switch_out(&mut self, member: ThreadId) -> Done {
        let Some(Member { under, .. }) = self.member(member) else { return Ok(()) };
        self.raise(under, "switch_out", &[member])?;
        self.note(Kind::SwitchedOut, member);
        Ok(())
    }

    /// Whether the policy has taken the processor from what was RUNNING, by moving it to a READY container.
    fn taken_from(&self, member: ThreadId) -> bool {
        let Some(Member { under, .. }) = self.member(member) else { return false };
        let scheduler = &self.schedulers[under];
        match scheduler.machine.position(member) {
            Some(Position::In(container)) => scheduler.policy.containers[container.0].class == StateClass::Ready,
            Some(Position::Hand) | None => false,
        }
    }

    /// A thread, the scheduler that it is under as a member of the one above, and so on, but for the root.
    fn way_up(&self, thread: ThreadId) -> Vec<ThreadId> {
        let mut way = vec![thread];
        let mut scheduler = self.member(thread).map(|member| member.under);
        while let Some(index) = scheduler.filter(|index| self.schedulers[*index].parent.is_some()) {
            way.push(self.schedulers[index].record);
            scheduler = self.schedulers[index].parent;
        }
        way
    }

    fn turn_and_scheduler(&self) -> Option<(ThreadId, usize)> {
        let turn = self.running()?;
        Some((turn, self.member(turn)?.under))
    }

    fn member(&self, number: ThreadId) -> Option<Member> {
        self.members.get(&number).copied()
    }

    /// The same, unless it is a scheduler.
    fn thread(&self, number: ThreadId) -> Option<Member> {
        self.member(number).filter(|member| member.scheduler.is_none() && member.state != State::Ended)
    }

    fn state_of(&self, scheduler: usize) -> Option<State> {
        self.member(self.schedulers[scheduler].record).map(|member| member.state)
    }

    fn entry(&mut self, member: ThreadId, change: impl FnOnce(&mut Member)) {
        if let Some(member) = self.members.get_mut(&member) {
            change(member);
        }
    }

    fn set_state(&mut self, number: ThreadId, state: State) {
        let Some(member) = self.member(number) else { return };
        let runnable = &mut self.schedulers[member.under].runnable;
        *runnable -= usize::from(member.state == State::Runnable);
        *runnable += usize::from(state == State::Runnable);
        self.entry(number, |member| member.state = state);
    }

    // ---- Policies

    fn raise(&mut self, scheduler: usize, event: &str, threads: &[ThreadId]) -> Done<Option<ThreadId>> {
        self.raised(scheduler, event, threads).map_err(|stop| Self::stopped(scheduler, event, stop))
    }

    fn raised(&mut self, scheduler: usize, event: &str, threads: &[ThreadId]) -> Result<Option<ThreadId>, Stop> {
        // Nobody is charged for a decision.
        self.tell(scheduler, event != "schedule");
        let raised = &mut self.schedulers[scheduler];
        raised.machine.raise(event, threads, &mut raised.application)
    }

    /// Tells a policy what time it is, and charges what of it runs for the time since.
    fn tell(&mut self, scheduler: usize, running: bool) {
        let turn = self.turn.filter(|_| running && !self.polling);
        let way = turn.map_or(Vec::new(), |turn| self.way_up(turn));
        let member =
            way.into_iter().find(|member| self.member(*member).is_some_and(|member| member.under == scheduler));
        let Scheduler { machine, application, consumed, told, .. } = &mut self.schedulers[scheduler];
        machine.set_now(self.now);
        if let (Some(consumed), Some(member)) = (*consumed, member)
            && let Some(Value::Time(before)) = application.thread_import(member, consumed)
        {
            application.set_thread_import(member, consumed, Value::Time(before.wrapping_add(self.now - *told)));
        }
        *told = self.now;
    }

    fn stopped(scheduler: usize, event: &str, stop: Stop) -> Out {
        let why = match stop {
            Stop::Guard { text, .. } | Stop::Unproved { text, .. } | Stop::Misuse(text) => text,
            Stop::Overrun { line } => format!("a loop in line {line} does not end"),
            Stop::Fail { reason, .. } => reason,
        };
        Out { scheduler, event: event.to_owned(), why }
    }

    fn broken(scheduler: usize, why: &str) -> Out {
        Out { scheduler, event: "schedule".to_owned(), why: why.to_owned() }
    }

    /// The compiler has seen to it that policies import what they are given.
    fn set(&self, done: Result<(), String>, event: &str) -> Done {
        let scheduler = self.schedulers.len().saturating_sub(1);
        done.map_err(|why| Out { scheduler, event: event.to_owned(), why })
    }

    fn note(&mut self, kind: Kind, thread: ThreadId) {
        self.log.push(Record { kind, thread });
    }
}

/// The variable that the host keeps, if the policy imports it.
fn consumed(policy: &Policy) -> Option<ThreadImportId> {
    let mut imports = policy.thread_imports.iter();
    imports.position(|import| import.name == CONSUMED && import.ty == Type::Time).map(ThreadImportId)
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Kind::New => "new",
            Kind::Dispatched => "dispatched",
            Kind::SwitchedOut => "switched_out",
            Kind::Blocked => "blocked",
            Kind::Raised => "raised",
            Kind::Exited => "exited",
            Kind::Suspended => "suspended",
            Kind::Resumed => "resumed",
            Kind::Idle => return out.write_str("idle"),
        };
        write!(out, "{what} {}", self.thread.0)
    }
}

impl fmt::Display for Out {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.event, self.why)
    }
}
