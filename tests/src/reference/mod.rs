//! The reference for hierarchies: what is to happen, written a second time on purpose, for one processor and without regard to
//! speed. Dispatchers are judged by it; nothing of it is part of the product.
//!
//! An instance of a policy in the interpreter for each scheduler, and the decisions that go down from the root.
//!
//! To its parent a scheduler is a thread, with a number of its own: RUNNING while something under it runs, READY while something
//! under it could, BLOCKED otherwise. Events have the names that the description of the native runtime gives them.
//! `tests/tests/tree.rs` judges `frameworks/native/core`, and `tests/tests/tree_simulated.rs` the simulator.
//!
//! ```text
//! root ──schedule──► the record of A ──A's schedule──► the record of B ──► … ──► a thread
//! ```

mod donation;
mod down;
mod members;
mod record;
mod scheduler;
mod schedulers;
mod up;

use std::collections::BTreeMap;

use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::vocabulary::Value;

use members::{Member, State};
pub use record::{Kind, Out, Record};
use scheduler::Scheduler;

/// Schedulers and their threads.
pub struct Tree<'a> {
    hierarchy: &'a Hierarchy,
    /// As in the hierarchy; those that have ended stay here.
    schedulers: Vec<Scheduler<'a>>,
    /// Those that have not, as they came.
    order: Vec<usize>,
    members: BTreeMap<ThreadId, Member>,
    /// Numbers given so far, to threads and to schedulers.
    numbers: u32,
    /// The thread that is RUNNING, or was last.
    turn: Option<ThreadId>,
    /// The thread that runs, or did last: that one, unless it lends its turn.
    current: Option<ThreadId>,
    /// What threads do first when they run again.
    later: BTreeMap<ThreadId, Later>,
    /// Each names a thread that others may wait for.
    words: Vec<Option<ThreadId>>,
    waiting: Waiting,
    /// The world outside is attended to: no thread is RUNNING.
    polling: bool,
    now: i64,
    log: Vec<Record>,
}

/// What a thread does first when it runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Later {
    /// It has waited for another thread.
    Waited,
    /// It ends, on a turn of its own.
    Exit,
    /// It goes over to this scheduler, on a turn of its own.
    Attach(usize),
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
            hierarchy,
            schedulers: Vec::new(),
            order: Vec::new(),
            members: BTreeMap::new(),
            numbers: 0,
            turn: None,
            current: None,
            later: BTreeMap::new(),
            words: Vec::new(),
            waiting: Waiting::No,
            polling: false,
            now: 0,
            log: Vec::new(),
        };
        for (index, node) in hierarchy.nodes().iter().enumerate() {
            tree.schedulers.push(tree.made(index, node.policy));
            tree.add(index, false)?;
        }
        Ok(tree)
    }

    /// Whom to run first: a new thread, under a scheduler.
    ///
    /// # Errors
    /// A policy is out.
    pub fn start(&mut self, scheduler: usize) -> Done<ThreadId> {
        self.turn = Some(ThreadId(self.numbers + 1));
        self.current = self.turn;
        let thread = self.admit(scheduler, &[])?;
        self.choose()?;
        Ok(thread)
    }

    /// The thread that runs; `None`: all wait for something outside.
    pub fn running(&self) -> Option<ThreadId> {
        self.current.filter(|_| self.waiting == Waiting::No)
    }

    /// Whose turn it is; `None`: nobody runs.
    pub fn turn(&self) -> Option<ThreadId> {
        self.running().and(self.turn)
    }

    /// What has happened so far.
    pub fn log(&self) -> &[Record] {
        &self.log
    }

    /// Whether there is a thread of this number that waits for something.
    pub fn is_blocked(&self, thread: ThreadId) -> bool {
        matches!(self.state_of_thread(thread), Some(State::Blocked | State::Lending))
    }

    /// The scheduler that a thread is under.
    pub fn scheduler_of(&self, thread: ThreadId) -> Option<usize> {
        self.state_of_thread(thread).and_then(|_| self.under(thread))
    }

    /// Whether the thread that runs does so on a turn of its own.
    pub fn has_its_own_turn(&self) -> bool {
        self.turn == self.current
    }

    /// Whether there is a thread of this number.
    pub fn lives(&self, thread: ThreadId) -> bool {
        self.state_of_thread(thread).is_some()
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

    /// It gives the processor up: it, or the thread whose turn it has.
    ///
    /// # Errors
    /// A policy is out.
    pub fn yields(&mut self) -> Done {
        let Some(turn) = self.turn.filter(|_| self.running().is_some()) else { return Ok(()) };
        self.switch_out(turn)?;
        if let Some(under) = self.under(turn) {
            self.give_up(under)?;
        }
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
        let Some(current) = self.running() else { return Ok(()) };
        if self.turn == Some(current) {
            self.stop_running(current, event)?;
            return self.wait_to_choose();
        }
        // To its policy it is READY.
        self.raise_suspend(current)?;
        if let Some(member) = self.members.get_mut(&current) {
            (member.state, member.set_aside) = (State::Blocked, true);
        }
        self.turn_goes_on()
    }

    /// It ends, on a turn of its own.
    ///
    /// # Errors
    /// A policy is out.
    pub fn exits(&mut self) -> Done {
        let Some(current) = self.running() else { return Ok(()) };
        if self.turn != Some(current) {
            return self.awaits_own_turn(current, Later::Exit);
        }
        self.has_own_turn(current);
        let Some(under) = self.under(current) else { return Ok(()) };
        self.set_state(current, State::Ended);
        self.raise(under, "exit", &[current])?;
        self.note(Kind::Exited, current);
        self.rouse_all(current)?;
        self.give_up(under)?;
        self.wait_to_choose()
    }

    /// It suspends a thread, perhaps itself. One that waits is suspended as soon as it no longer does.
    ///
    /// # Errors
    /// A policy is out.
    pub fn suspends(&mut self, thread: ThreadId) -> Done {
        let Some(state) = self.state_of_thread(thread) else { return Ok(()) };
        match state {
            State::Blocked | State::Lending => self.is_to_be_suspended(thread, true),
            State::Suspended | State::Ended => {}
            State::Runnable => {
                self.is_to_be_suspended(thread, false);
                self.raise_suspend(thread)?;
                if self.current != Some(thread) {
                    return self.preempt();
                }
                if self.turn != Some(thread) {
                    return self.turn_goes_on();
                }
                if let Some(under) = self.under(thread) {
                    self.give_up(under)?;
                }
                return self.wait_to_choose();
            }
        }
        Ok(())
    }

    /// It ends the suspension of a thread.
    ///
    /// # Errors
    /// A policy is out.
    pub fn resumes(&mut self, thread: ThreadId) -> Done {
        let Some(state) = self.state_of_thread(thread) else { return Ok(()) };
        if self.members.get(&thread).is_some_and(|member| member.to_be_suspended) {
            self.is_to_be_suspended(thread, false);
            return Ok(());
        }
        let Some(under) = self.under(thread).filter(|_| state == State::Suspended) else { return Ok(()) };
        self.set_state(thread, State::Runnable);
        self.raise(under, "resume_thread", &[thread])?;
        self.note(Kind::Resumed, thread);
        self.gained(under)?;
        self.rouse_all(thread)?;
        self.preempt()
    }

    /// It is interrupted, and has run for a while.
    ///
    /// # Errors
    /// A policy is out.
    pub fn ticks(&mut self) -> Done {
        let Some(turn) = self.expire_for_turn()? else { return Ok(()) };
        // At the scheduler of the thread and at those above it, as long as something waits there.
        for member in self.way_up(turn) {
            let Some(under) = self.under(member) else { continue };
            let waits = self.schedulers[under].runnable > 1;
            if waits && self.schedulers[under].machine.handles("tick") && !self.taken_from(member) {
                self.raise(under, "tick", &[member])?;
            }
        }
        self.preempt()
    }

    /// The same, but for not having run for a while.
    ///
    /// # Errors
    /// A policy is out.
    pub fn expires(&mut self) -> Done {
        if self.expire_for_turn()?.is_some() { self.preempt() } else { Ok(()) }
    }

    /// While a thread runs; whose turn it is.
    fn expire_for_turn(&mut self) -> Done<Option<ThreadId>> {
        let Some(turn) = self.turn() else { return Ok(None) };
        if let Some(under) = self.under(turn) {
            self.tell(under, true);
        }
        self.expire_all()?;
        Ok(Some(turn))
    }

    fn is_to_be_suspended(&mut self, thread: ThreadId, whether: bool) {
        if let Some(member) = self.members.get_mut(&thread) {
            member.to_be_suspended = whether;
        }
    }

    /// It gives a variable of a thread another value, of which the thread's policy hears, if it had another one before.
    ///
    /// # Errors
    /// A policy is out.
    pub fn sets(&mut self, thread: ThreadId, name: &str, value: Value) -> Done {
        if self.assigned(thread, name, value) { self.is_told(thread, "changed") } else { Ok(()) }
    }

    /// A job of a thread begins, which was released at that instant.
    ///
    /// # Errors
    /// A policy is out.
    pub fn releases(&mut self, thread: ThreadId, instant: i64) -> Done {
        self.assigned(thread, "release", Value::Time(instant));
        self.is_told(thread, "release")
    }

    /// Whether the variable is another now.
    fn assigned(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        let Some(under) = self.scheduler_of(thread) else { return false };
        let scheduler = &mut self.schedulers[under];
        let policy = scheduler.policy();
        let Some(import) = policy.thread_imports.iter().position(|import| import.name == name) else { return false };
        let before = scheduler.thread_import(thread, import).unwrap_or(policy.thread_imports[import].default);
        scheduler.application.set_of_thread(policy, thread, name, value).is_ok() && before != value
    }

    /// Wherever it is.
    fn is_told(&mut self, thread: ThreadId, event: &str) -> Done {
        let under = self.scheduler_of(thread).filter(|under| self.schedulers[*under].machine.handles(event));
        let Some(under) = under else { return Ok(()) };
        self.raise(under, event, &[thread])?;
        if self.schedulers[under].idle {
            self.gained(under)?;
        }
        self.preempt()
    }

    // ---- What anybody does

    /// What a thread waits for has happened. Nothing, unless it is blocked.
    ///
    /// # Errors
    /// A policy is out.
    pub fn unblock(&mut self, thread: ThreadId) -> Done {
        self.unblock_all(&[thread])
    }

    /// The same of several that wait for the same, as at a barrier: before a decision follows, all policies have heard of all.
    ///
    /// # Errors
    /// A policy is out.
    pub fn unblock_all(&mut self, threads: &[ThreadId]) -> Done {
        let mut any = false;
        for thread in threads {
            if self.is_blocked(*thread) {
                self.raise_unblock(*thread)?;
                any = true;
            }
        }
        if any { self.preempt() } else { Ok(()) }
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

    fn note(&mut self, kind: Kind, thread: ThreadId) {
        self.log.push(Record { kind, thread });
    }
}
