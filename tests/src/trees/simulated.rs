//! The simulator's dispatcher on one processor, told what scripts say: what is compared with the native dispatcher.
//!
//! Words stand for locks: a thread that waits by one lends its turns to whom it names. Threads, and schedulers as the threads that they are to
//! their parents, have the numbers that the native dispatcher gives them: the first is 1.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Hierarchy;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::Policy;
use catapults_compiler::vocabulary::Value;
use catapults_simulator::sim::{
    Admitted, Deciding, Dispatcher, EventId, Interpreted, Kind, Out, Record, Sink, dispatcher,
};

/// Schedulers and their threads.
pub struct Simulated<'a, 's> {
    hierarchy: &'a Hierarchy,
    /// What policy each scheduler has, into the policies of the hierarchy.
    policies: Vec<usize>,
    dispatcher: Dispatcher<'s, Interpreted<'a>>,
    log: Log,
    /// Of threads that live, by their numbers.
    threads: BTreeMap<u32, ThreadId>,
    /// Each names a thread that others may wait for.
    words: Vec<Option<ThreadId>>,
    waiting: BTreeMap<ThreadId, Wait>,
    /// Who goes over to a scheduler as soon as it runs on its own turn.
    attaching: BTreeMap<ThreadId, usize>,
}

/// By which word a thread waits, and whether it lends its turns to whom that names. It does not if that waits for it.
#[derive(Clone, Copy)]
struct Wait {
    word: usize,
    lends: bool,
}

type Done<T = ()> = Result<T, Out>;

/// What has happened, in the words of the native runtime, but for which threads ran when.
#[derive(Clone, Default)]
pub struct Log(Rc<RefCell<Happened>>);

#[derive(Default)]
struct Happened {
    lines: Vec<String>,
    /// How many threads and schedulers have come.
    came: u32,
    /// The numbers of those that are there.
    numbers: BTreeMap<ThreadId, u32>,
    schedulers: BTreeSet<u32>,
    suspend: Option<EventId>,
}

impl Sink for Log {
    fn record(&mut self, record: &Record) {
        self.0.borrow_mut().note(record, false);
    }

    fn of_scheduler(&mut self, record: &Record) {
        self.0.borrow_mut().note(record, true);
    }
}

impl Happened {
    fn note(&mut self, record: &Record, of_scheduler: bool) {
        if matches!(record.kind, Kind::New | Kind::Refused) {
            self.came += 1;
            self.numbers.insert(record.thread, self.came);
            if of_scheduler {
                self.schedulers.insert(self.came);
            }
        }
        let what = match record.kind {
            Kind::New => "new",
            // It was READY to its policy, as it ran on the turn of another.
            Kind::Blocked if Some(record.event) == self.suspend => "suspended",
            Kind::Blocked => "blocked",
            Kind::Raised => "raised",
            Kind::Suspended => "suspended",
            Kind::Resumed => "resumed",
            Kind::Exited => "exited",
            Kind::Dispatched if of_scheduler => "dispatched",
            Kind::SwitchedOut | Kind::Preempted if of_scheduler => "switched_out",
            Kind::Refused | Kind::Dispatched | Kind::Lent | Kind::SwitchedOut | Kind::Preempted | Kind::Idle => return,
        };
        if let Some(number) = self.numbers.get(&record.thread) {
            self.lines.push(format!("{what} {number}"));
        }
    }
}

impl Log {
    /// Which of the numbers are schedulers'.
    pub fn schedulers(&self) -> BTreeSet<u32> {
        self.0.borrow().schedulers.clone()
    }

    /// What has happened so far.
    pub fn lines(&self) -> Vec<String> {
        self.0.borrow().lines.clone()
    }
}

impl<'a, 's> Simulated<'a, 's> {
    /// The schedulers of a hierarchy, before any thread. `log` is empty.
    ///
    /// # Errors
    /// A policy is out; one that refuses a scheduler is taken for one.
    pub fn new(hierarchy: &'a Hierarchy, framework: &Framework, log: &'s mut Log) -> Done<Self> {
        let kept = log.clone();
        let mut dispatcher = dispatcher(Deciding::Hierarchy(hierarchy), framework, 1, log).unwrap();
        kept.0.borrow_mut().suspend = dispatcher.event("suspend_thread");
        dispatcher.start()?;
        Ok(Simulated {
            hierarchy,
            policies: hierarchy.nodes().iter().map(|node| node.policy).collect(),
            dispatcher,
            log: kept,
            threads: BTreeMap::new(),
            words: Vec::new(),
            waiting: BTreeMap::new(),
            attaching: BTreeMap::new(),
        })
    }

    /// Whom to run first: a new thread, under a scheduler. Its number.
    ///
    /// # Errors
    /// A policy is out.
    pub fn start(&mut self, scheduler: usize) -> Done<u32> {
        let number = self.comes(scheduler, &[])?;
        self.goes_on()?;
        Ok(number)
    }

    /// The number of the thread that runs; `None`: all wait for something outside.
    pub fn running(&self) -> Option<u32> {
        self.dispatcher.current(0).map(|thread| self.number(thread))
    }

    /// What has happened so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Whether the thread that runs does so on its own turn.
    pub fn has_its_own_turn(&self) -> bool {
        self.dispatcher.turn(0) == self.dispatcher.current(0)
    }

    /// Whether there is a thread of this number.
    pub fn lives(&self, number: u32) -> bool {
        self.threads.contains_key(&number)
    }

    /// Whether a thread waits for something.
    pub fn is_blocked(&self, number: u32) -> bool {
        self.threads.get(&number).is_some_and(|thread| self.dispatcher.is_blocked(*thread))
    }

    /// Whether it waits by a word.
    pub fn waits(&self, number: u32) -> bool {
        self.threads.get(&number).is_some_and(|thread| self.waiting.contains_key(thread))
    }

    /// The scheduler that a thread is under.
    pub fn scheduler_of(&self, number: u32) -> Option<usize> {
        self.dispatcher.scheduler_of(*self.threads.get(&number)?)
    }

    /// Whether a scheduler is there, and is not to end.
    pub fn is_there(&self, scheduler: usize) -> bool {
        self.dispatcher.is_there(scheduler)
    }

    /// Whether a scheduler has ended, and can be added again.
    pub fn can_be_added(&self, scheduler: usize) -> bool {
        let parent = self.hierarchy.nodes()[scheduler].parent;
        self.dispatcher.has_ended(scheduler) && parent.is_some_and(|parent| self.is_there(parent))
    }

    /// The policy that a scheduler has.
    pub fn policy(&self, scheduler: usize) -> &'a Policy {
        self.hierarchy.policies()[self.policies[scheduler]].policy()
    }

    /// So late it is from here on. A clock never goes back.
    pub fn set_now(&mut self, nanoseconds: i64) {
        self.dispatcher.set_now(nanoseconds);
    }

    // ---- What the thread that runs does

    /// It creates a thread, with values for those variables of threads that the policy there imports. Its number; a policy that refuses it
    /// has used it up all the same.
    ///
    /// # Errors
    /// A policy is out.
    pub fn create(&mut self, scheduler: usize, values: &[(&str, Value)]) -> Done<u32> {
        let number = self.comes(scheduler, values)?;
        self.goes_on()?;
        Ok(number)
    }

    fn comes(&mut self, scheduler: usize, values: &[(&str, Value)]) -> Done<u32> {
        let admitted = self.dispatcher.create(0, Some(scheduler), values, None)?;
        let number = self.log.0.borrow().came;
        if let Admitted::Yes(thread) = admitted {
            self.threads.insert(number, thread);
        }
        Ok(number)
    }

    /// It gives the processor up: it, or the thread whose turn it has.
    ///
    /// # Errors
    /// A policy is out.
    pub fn yields(&mut self) -> Done {
        self.dispatcher.yields(0)?;
        self.goes_on()
    }

    /// It asks that another thread be next, and gives the processor up.
    ///
    /// # Errors
    /// A policy is out.
    pub fn yields_to(&mut self, number: u32) -> Done {
        let Some(thread) = self.threads.get(&number) else { return Ok(()) };
        self.dispatcher.yields_to(0, *thread)?;
        self.goes_on()
    }

    /// It cannot go on before something happens: an event such as `block.io.read`.
    ///
    /// # Errors
    /// A policy is out.
    pub fn blocks(&mut self, event: &str) -> Done {
        let event = self.dispatcher.event(event).unwrap();
        self.dispatcher.blocks(0, event)?;
        self.goes_on()
    }

    /// It ends, on its own turn, and no word names it.
    ///
    /// # Errors
    /// A policy is out.
    pub fn exits(&mut self) -> Done {
        let number = self.running();
        self.threads.retain(|one, _| Some(*one) != number);
        self.dispatcher.exits(0)?;
        self.goes_on()
    }

    /// It suspends a thread, perhaps itself. One that waits is suspended as soon as it no longer does.
    ///
    /// # Errors
    /// A policy is out.
    pub fn suspends(&mut self, number: u32) -> Done {
        let Some(thread) = self.threads.get(&number) else { return Ok(()) };
        self.dispatcher.suspends(*thread)?;
        self.dispatcher.regains(0)?;
        self.goes_on()
    }

    /// It ends the suspension of a thread.
    ///
    /// # Errors
    /// A policy is out.
    pub fn resumes(&mut self, number: u32) -> Done {
        let Some(thread) = self.threads.get(&number) else { return Ok(()) };
        self.dispatcher.resumes(*thread)?;
        self.goes_on()
    }

    /// It is interrupted, and has run for a while.
    ///
    /// # Errors
    /// A policy is out.
    pub fn ticks(&mut self) -> Done {
        self.dispatcher.interrupts(0)?;
        self.goes_on()
    }

    /// It gives a variable of a thread another value, of which the thread's policy hears, if it had another one before.
    ///
    /// # Errors
    /// A policy is out.
    pub fn sets(&mut self, number: u32, name: &str, value: Value) -> Done {
        let Some(thread) = self.threads.get(&number) else { return Ok(()) };
        self.dispatcher.set_of(*thread, name, value)?;
        self.dispatcher.regains(0)?;
        self.goes_on()
    }

    /// A job of a thread begins, which was released at that instant.
    ///
    /// # Errors
    /// A policy is out.
    pub fn releases(&mut self, number: u32, instant: i64) -> Done {
        let Some(thread) = self.threads.get(&number) else { return Ok(()) };
        self.dispatcher.set_release(*thread, instant);
        self.dispatcher.releases(*thread)?;
        self.dispatcher.regains(0)?;
        self.goes_on()
    }

    // ---- Words

    /// Whether any word names the thread.
    pub fn is_named(&self, number: u32) -> bool {
        self.threads.get(&number).is_some_and(|thread| self.words.contains(&Some(*thread)))
    }

    /// Whom a word names.
    pub fn word(&self, word: usize) -> Option<u32> {
        self.words.get(word).copied().flatten().map(|thread| self.number(thread))
    }

    /// Who waits by a word.
    pub fn waiting_by(&self, word: usize) -> Vec<u32> {
        let mut waiting: Vec<u32> =
            self.waiting.iter().filter(|(_, wait)| wait.word == word).map(|(thread, _)| self.number(*thread)).collect();
        waiting.sort_unstable();
        waiting
    }

    /// The word names who runs from now on, if it named nobody. Else that waits for whom it names, and lends its turns to it, unless that waits
    /// for it.
    ///
    /// # Errors
    /// A policy is out.
    pub fn locks(&mut self, word: usize) -> Done {
        let Some(current) = self.dispatcher.current(0) else { return Ok(()) };
        if self.words.len() <= word {
            self.words.resize(word + 1, None);
        }
        match self.words[word] {
            None => {
                self.words[word] = Some(current);
                let waiting = self.lending_by(word);
                self.dispatcher.redirects(waiting.into_iter(), Some(current));
            }
            Some(owner) if self.leads_to(owner, current) => {}
            Some(owner) => {
                self.waiting.insert(current, Wait { word, lends: true });
                self.dispatcher.waits(0, owner)?;
            }
        }
        self.goes_on()
    }

    /// The word, which names who runs, names somebody who waits by it from now on, or nobody.
    ///
    /// # Errors
    /// A policy is out.
    pub fn unlocks(&mut self, word: usize, heir: Option<u32>) -> Done {
        if self.words.get(word).copied().flatten() != self.dispatcher.current(0) {
            return Ok(());
        }
        let heir = heir.map(|heir| self.threads[&heir]);
        self.words[word] = heir;
        if let Some(heir) = heir {
            self.waiting.remove(&heir);
            self.dispatcher.has(heir)?;
        }
        let waiting = self.lending_by(word);
        self.dispatcher.redirects(waiting.into_iter(), heir);
        self.dispatcher.regains(0)?;
        self.goes_on()
    }

    /// A thread that waits by a word waits by another one from now on, which names somebody.
    ///
    /// # Errors
    /// A policy is out.
    pub fn redirects(&mut self, number: u32, word: usize) -> Done {
        let (Some(named), Some(thread)) = (self.words.get(word).copied().flatten(), self.threads.get(&number).copied())
        else {
            return Ok(());
        };
        if !self.waiting.contains_key(&thread) {
            return Ok(());
        }
        let lends = !self.leads_to(named, thread);
        self.waiting.insert(thread, Wait { word, lends });
        self.dispatcher.redirected(thread, Some(named).filter(|_| lends))?;
        self.dispatcher.regains(0)?;
        self.goes_on()
    }

    fn lending_by(&self, word: usize) -> Vec<ThreadId> {
        let waits = |(thread, wait): (&ThreadId, &Wait)| (wait.word == word && wait.lends).then_some(*thread);
        self.waiting.iter().filter_map(waits).collect()
    }

    /// Whether who waits for the one would wait for the other.
    fn leads_to(&self, from: ThreadId, to: ThreadId) -> bool {
        let waits_for = |one: &ThreadId| self.words[self.waiting.get(one)?.word];
        let ring = self.threads.len() + 1;
        std::iter::successors(Some(from), waits_for).take(ring).any(|one| one == to)
    }

    // ---- Schedulers

    /// Adds a scheduler that has ended where it was. Its parent may refuse it.
    ///
    /// # Errors
    /// A policy is out.
    pub fn adds(&mut self, scheduler: usize) -> Done {
        self.policies[scheduler] = self.hierarchy.nodes()[scheduler].policy;
        self.dispatcher.adds(self.hierarchy, scheduler)?;
        self.goes_on()
    }

    /// A scheduler under which nothing is ends when its parent dispatches it next.
    ///
    /// # Errors
    /// A policy is out.
    pub fn removes(&mut self, scheduler: usize) -> Done {
        if !self.attaching.values().any(|to| *to == scheduler) {
            self.dispatcher.removes(scheduler)?;
        }
        self.goes_on()
    }

    /// A scheduler gets the policy that another one was made with, which may refuse what is there.
    ///
    /// # Errors
    /// A policy is out.
    pub fn replaces(&mut self, scheduler: usize, like: usize) -> Done {
        if self.dispatcher.replaces(self.hierarchy, scheduler, like)? {
            self.policies[scheduler] = self.hierarchy.nodes()[like].policy;
        }
        self.goes_on()
    }

    /// The thread that runs goes over to another scheduler, which may refuse it, with values for what the policy there imports; first it waits
    /// for a turn of its own, if it has none.
    ///
    /// # Errors
    /// A policy is out.
    pub fn attaches(&mut self, to: usize, values: &[(&str, Value)]) -> Done {
        let Some(current) = self.dispatcher.current(0) else { return Ok(()) };
        if self.dispatcher.scheduler_of(current) == Some(to) {
            self.dispatcher.yields(0)?;
        } else if self.dispatcher.needs_own_turn(0)? {
            self.dispatcher.attaches(0, to, values)?;
        } else {
            self.attaching.insert(current, to);
        }
        self.goes_on()
    }

    // ---- What anybody does

    /// What a thread waits for has happened. Nothing, unless it is blocked.
    ///
    /// # Errors
    /// A policy is out.
    pub fn unblocks(&mut self, number: u32) -> Done {
        let Some(thread) = self.threads.get(&number).copied().filter(|thread| self.dispatcher.is_blocked(*thread))
        else {
            return Ok(());
        };
        if self.waiting.remove(&thread).is_some() {
            self.dispatcher.has(thread)?;
            self.dispatcher.regains(0)
        } else {
            self.dispatcher.unblocks(&[thread])
        }
    }

    /// The same of several that wait for the same, as at a barrier: before a decision follows, all policies have heard of all.
    ///
    /// # Errors
    /// A policy is out.
    pub fn unblock_all(&mut self, numbers: &[u32]) -> Done {
        let threads: Vec<ThreadId> = numbers.iter().map(|number| self.threads[number]).collect();
        self.dispatcher.unblocks(&threads)?;
        self.goes_on()
    }

    /// What happens outside while no thread runs; then, if something can run, it does.
    ///
    /// # Errors
    /// A policy is out.
    pub fn outside(&mut self, happens: impl FnOnce(&mut Self) -> Done) -> Done {
        happens(self)?;
        self.dispatcher.expire()?;
        self.dispatcher.asks_all_again()?;
        self.goes_on()
    }

    /// Whoever is next has the processor, and does what it left to be done. The dispatcher looks for timers at each decision.
    ///
    /// # Errors
    /// A policy is out.
    pub fn goes_on(&mut self) -> Done {
        loop {
            if self.dispatcher.is_to_decide(0) {
                self.dispatcher.expire()?;
            }
            self.dispatcher.settle()?;
            for waited in self.dispatcher.take_suspended() {
                self.waiting.remove(&waited);
            }
            let Some(current) = self.dispatcher.current(0) else { return Ok(()) };
            self.waiting.remove(&current);
            let Some(to) = self.attaching.remove(&current) else { return Ok(()) };
            self.dispatcher.attaches(0, to, &[])?;
        }
    }

    fn number(&self, thread: ThreadId) -> u32 {
        self.log.0.borrow().numbers[&thread]
    }
}
