//! What a simulation asks of a dispatcher, whichever it is.

use catapults_compiler::interp::ThreadId;
use catapults_compiler::vocabulary::Value;

use super::dispatcher::{Admitted, Dispatcher, Out};
use super::policy::{EventId, Runner};

type Done<T = ()> = Result<T, Out>;

/// The schedulers at work. What happens is raised at once; who runs next is decided by [`settle`](Dispatch::settle).
/// Where a processor is meant, it is one of [`processors`](Dispatch::processors).
pub(super) trait Dispatch {
    /// Must be called before any thread comes.
    fn start(&mut self) -> Done;
    /// The event of this name.
    fn event(&self, name: &str) -> Option<EventId>;
    /// Sets the time.
    fn set_now(&mut self, now: i64);
    /// Seeds what policies draw; before `start`.
    fn seed(&mut self, seed: u64);
    /// How many processors there are.
    fn processors(&self) -> usize;
    /// Changes how many there are.
    fn set_processors(&mut self, count: usize) -> Done;

    // ---- Who runs
    /// The thread that runs.
    fn current(&self, processor: usize) -> Option<ThreadId>;
    /// The thread whose turn it is.
    fn turn(&self, processor: usize) -> Option<ThreadId>;
    /// Whether the thread that runs there has its own turn.
    fn is_on_own_turn(&self, processor: usize) -> bool;
    /// Whether the turn or a scheduler above it has yet to give up the processor that a policy took from it.
    fn has_lost(&self, processor: usize) -> bool;
    /// Whether any thread waits for the processor.
    fn someone_waits(&self, processor: usize) -> bool;
    /// Gives each idle processor a turn, as long as threads are READY.
    fn settle(&mut self) -> Done;
    /// Something has happened while no processor ran a thread: schedulers that dispatched nothing are asked again.
    fn asks_all_again(&mut self) -> Done;
    /// Gives the only processor up if an event has taken it.
    fn preempted_at_last(&mut self) -> Done;

    // ---- What is known of threads
    fn is_suspended(&self, thread: ThreadId) -> bool;
    /// Whether it is suspended, or will be as soon as its wait is over.
    fn is_set_aside(&self, thread: ThreadId) -> bool;
    /// Takes the threads that were suspended since the last call only because they ran again.
    fn take_suspended(&mut self) -> Vec<ThreadId>;

    // ---- Imported variables
    /// Assigns a variable that the policy, or the root's policy, imports.
    fn set(&mut self, name: &str, value: Value);
    /// The value of an imported variable of a thread; `None`: its policy imports no such variable.
    fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value>;
    /// Assigns a variable of a thread without telling its scheduler. Whether the scheduler must be told.
    fn assign(&mut self, thread: ThreadId, name: &str, value: Value) -> bool;
    /// Sets the import `release`: the instant at which a job of the thread was, or will be, released.
    fn set_release(&mut self, thread: ThreadId, instant: i64);
    /// Records the name and the initial values of a new thread.
    fn introduce(&mut self, thread: ThreadId, name: &str, values: &[(&str, Value)]);
    /// Records that a job is done. No policy is told.
    fn job_done(&mut self, thread: ThreadId, released: i64);
    /// Whether the thread's scheduler handles the event for changed variables.
    fn hears_changes(&self, thread: ThreadId) -> bool;
    /// Whether any policy handles ticks.
    fn hears_ticks(&self) -> bool;

    // ---- What happens
    /// A thread comes, created on `processor`. If it has jobs, its first one is released at `released`.
    fn create(
        &mut self,
        processor: usize,
        under: Option<usize>,
        values: &[(&str, Value)],
        released: Option<i64>,
    ) -> Done<Admitted>;
    /// The running thread ends. No thread waits for it.
    fn exits(&mut self, processor: usize) -> Done;
    /// The running thread gives the processor up: the turn ends.
    fn yields(&mut self, processor: usize) -> Done;
    /// The running thread asks that another one be next, and gives the processor up.
    fn yields_to(&mut self, processor: usize, thread: ThreadId) -> Done;
    /// The running thread blocks by this event.
    fn blocks(&mut self, processor: usize, event: EventId) -> Done;
    /// These threads' waits are over. All policies are told of all of them before the only processor is preempted.
    fn unblocks(&mut self, threads: &[ThreadId]) -> Done;
    /// Suspends a thread. A thread that waits is suspended as soon as its wait is over.
    fn suspends(&mut self, thread: ThreadId) -> Done;
    /// Ends a suspension, or takes back one that has not begun.
    fn resumes(&mut self, thread: ThreadId) -> Done;
    /// The thread begins its job. A thread that waits for the release is still BLOCKED, and is unblocked next.
    fn releases(&mut self, thread: ThreadId) -> Done;
    /// Tells the scheduler that variables of the thread have changed.
    fn changes(&mut self, thread: ThreadId) -> Done;
    /// Raises an event about a thread, which may be on any processor or none.
    fn tells(&mut self, thread: ThreadId, event: Option<EventId>) -> Done;

    // ---- Donation
    /// The running thread waits for `owner` and lends it its turns. The end of the chain runs.
    fn waits(&mut self, processor: usize, owner: ThreadId) -> Done;
    /// A thread has what it waited for, but is not told yet.
    fn owns(&mut self, heir: ThreadId);
    /// Tells the thread for which `owns` was called.
    fn unblock_heir(&mut self, heir: ThreadId) -> Done;
    /// These threads wait for another thread from now on, or for none.
    fn redirects(&mut self, waiters: &[ThreadId], owner: Option<ThreadId>);
    /// To be called when the chain of the turn may have another end, which then runs on the turn.
    fn regains(&mut self, processor: usize) -> Done;

    // ---- Time
    /// The running thread has run for a tick while others wait. Its scheduler and those above it are told.
    fn ticks(&mut self, processor: usize) -> Done;
    /// The instant at which the policies' next timer expires.
    fn next_timeout(&mut self) -> Option<i64>;
    /// Raises the events of expired timers. Whether some are left, because they are armed for now again and again.
    fn expire(&mut self) -> Done<bool>;
}

impl<R: Runner> Dispatch for Dispatcher<'_, R> {
    fn start(&mut self) -> Done {
        Dispatcher::start(self)
    }

    fn event(&self, name: &str) -> Option<EventId> {
        Dispatcher::event(self, name)
    }

    fn set_now(&mut self, now: i64) {
        Dispatcher::set_now(self, now)
    }

    fn seed(&mut self, seed: u64) {
        Dispatcher::seed(self, seed)
    }

    fn processors(&self) -> usize {
        Dispatcher::processors(self)
    }

    fn set_processors(&mut self, count: usize) -> Done {
        Dispatcher::set_processors(self, count)
    }

    fn current(&self, processor: usize) -> Option<ThreadId> {
        Dispatcher::current(self, processor)
    }

    fn turn(&self, processor: usize) -> Option<ThreadId> {
        Dispatcher::turn(self, processor)
    }

    fn is_on_own_turn(&self, processor: usize) -> bool {
        Dispatcher::is_on_own_turn(self, processor)
    }

    fn has_lost(&self, processor: usize) -> bool {
        Dispatcher::has_lost(self, processor)
    }

    fn someone_waits(&self, processor: usize) -> bool {
        Dispatcher::someone_waits(self, processor)
    }

    fn settle(&mut self) -> Done {
        Dispatcher::settle(self)
    }

    fn asks_all_again(&mut self) -> Done {
        Dispatcher::asks_all_again(self)
    }

    fn preempted_at_last(&mut self) -> Done {
        Dispatcher::preempted_at_last(self)
    }

    fn is_suspended(&self, thread: ThreadId) -> bool {
        Dispatcher::is_suspended(self, thread)
    }

    fn is_set_aside(&self, thread: ThreadId) -> bool {
        Dispatcher::is_set_aside(self, thread)
    }

    fn take_suspended(&mut self) -> Vec<ThreadId> {
        Dispatcher::take_suspended(self)
    }

    fn set(&mut self, name: &str, value: Value) {
        Dispatcher::set(self, name, value)
    }

    fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value> {
        Dispatcher::value_of(self, thread, name)
    }

    fn assign(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        Dispatcher::assign(self, thread, name, value)
    }

    fn set_release(&mut self, thread: ThreadId, instant: i64) {
        Dispatcher::set_release(self, thread, instant)
    }

    fn introduce(&mut self, thread: ThreadId, name: &str, values: &[(&str, Value)]) {
        Dispatcher::introduce(self, thread, name, values)
    }

    fn job_done(&mut self, thread: ThreadId, released: i64) {
        Dispatcher::job_done(self, thread, released)
    }

    fn hears_changes(&self, thread: ThreadId) -> bool {
        Dispatcher::hears_changes(self, thread)
    }

    fn hears_ticks(&self) -> bool {
        Dispatcher::hears_ticks(self)
    }

    fn create(
        &mut self,
        processor: usize,
        under: Option<usize>,
        values: &[(&str, Value)],
        released: Option<i64>,
    ) -> Done<Admitted> {
        Dispatcher::create(self, processor, under, values, released)
    }

    fn exits(&mut self, processor: usize) -> Done {
        Dispatcher::exits(self, processor)
    }

    fn yields(&mut self, processor: usize) -> Done {
        Dispatcher::yields(self, processor)
    }

    fn yields_to(&mut self, processor: usize, thread: ThreadId) -> Done {
        Dispatcher::yields_to(self, processor, thread)
    }

    fn blocks(&mut self, processor: usize, event: EventId) -> Done {
        Dispatcher::blocks(self, processor, event)
    }

    fn unblocks(&mut self, threads: &[ThreadId]) -> Done {
        Dispatcher::unblocks(self, threads)
    }

    fn suspends(&mut self, thread: ThreadId) -> Done {
        Dispatcher::suspends(self, thread)
    }

    fn resumes(&mut self, thread: ThreadId) -> Done {
        Dispatcher::resumes(self, thread)
    }

    fn releases(&mut self, thread: ThreadId) -> Done {
        Dispatcher::releases(self, thread)
    }

    fn changes(&mut self, thread: ThreadId) -> Done {
        Dispatcher::changes(self, thread)
    }

    fn tells(&mut self, thread: ThreadId, event: Option<EventId>) -> Done {
        Dispatcher::tells(self, thread, event)
    }

    fn waits(&mut self, processor: usize, owner: ThreadId) -> Done {
        Dispatcher::waits(self, processor, owner)
    }

    fn owns(&mut self, heir: ThreadId) {
        Dispatcher::owns(self, heir)
    }

    fn unblock_heir(&mut self, heir: ThreadId) -> Done {
        Dispatcher::unblock_heir(self, heir)
    }

    fn redirects(&mut self, waiters: &[ThreadId], owner: Option<ThreadId>) {
        Dispatcher::redirects(self, waiters.iter().copied(), owner)
    }

    fn regains(&mut self, processor: usize) -> Done {
        Dispatcher::regains(self, processor)
    }

    fn ticks(&mut self, processor: usize) -> Done {
        Dispatcher::ticks(self, processor)
    }

    fn next_timeout(&mut self) -> Option<i64> {
        Dispatcher::next_timeout(self)
    }

    fn expire(&mut self) -> Done<bool> {
        Dispatcher::expire(self)
    }
}
