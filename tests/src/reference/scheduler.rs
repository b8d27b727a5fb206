//! A scheduler: an instance of a policy. Events are raised at it, and it is told what time it is.

use catapults_compiler::interp::{Application, Machine, Stop, ThreadId, Variables};
use catapults_compiler::policy::{Import, ImportId, Policy, ThreadImportId, Type};
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::Value;

use super::{Done, Out, Tree};

pub(super) struct Scheduler<'a> {
    pub(super) verified: &'a Verified<Policy>,
    pub(super) machine: Machine<'a>,
    pub(super) application: Variables,
    pub(super) parent: Option<usize>,
    /// What it is to its parent.
    pub(super) record: ThreadId,
    /// What is RUNNABLE under it.
    pub(super) runnable: usize,
    /// It dispatched nothing although something under it is RUNNABLE.
    pub(super) idle: bool,
    /// It leaves as soon as the schedulers under it have, which were removed before.
    pub(super) removed: bool,
    /// It ends when its parent dispatches it next.
    pub(super) leaving: bool,
    /// When it was told last what time it is.
    pub(super) told: i64,
}

/// What variables are called that the host keeps: how long a thread has run, and how long all of them.
const CONSUMED: &str = "consumed";

impl<'a> Scheduler<'a> {
    /// One that has just been made, at this time, with those of the values that its policy imports.
    pub(super) fn new<'v>(
        verified: &'a Verified<Policy>,
        parent: Option<usize>,
        values: impl Iterator<Item = (&'v str, Value)>,
        now: i64,
    ) -> Self {
        let mut application = Variables::default();
        if let Some(import) = consumed(&verified.policy().imports) {
            application.set_import(ImportId(import), verified.policy().imports[import].default);
        }
        for (name, value) in values {
            // A policy that has come later may import others.
            let _ = application.set(verified.policy(), name, value);
        }
        Scheduler {
            verified,
            machine: Machine::new(verified),
            application,
            parent,
            record: ThreadId(0),
            runnable: 0,
            idle: false,
            removed: false,
            leaving: false,
            told: now,
        }
    }

    pub(super) fn policy(&self) -> &'a Policy {
        self.verified.policy()
    }

    /// A thread has not run yet.
    pub(super) fn charge_from_now(&mut self, thread: ThreadId) {
        if let Some(import) = consumed(&self.policy().thread_imports) {
            self.application.set_thread_import(thread, ThreadImportId(import), Value::Time(0));
        }
    }

    /// The value of a thread's variable, whoever gave it.
    pub(super) fn thread_import(&self, thread: ThreadId, import: usize) -> Option<Value> {
        let import = ThreadImportId(import);
        let given = self.application.thread_import(thread, import);
        given.or_else(|| self.machine.own_thread_import(thread, import))
    }

    /// What time it is; what of it has been RUNNING since it was told last is charged.
    fn tell(&mut self, now: i64, runs: Option<ThreadId>) {
        self.machine.set_now(now);
        let passed = now - std::mem::replace(&mut self.told, now);
        let Some(runs) = runs else { return };
        if let Some(import) = consumed(&self.policy().thread_imports).map(ThreadImportId)
            && let Some(Value::Time(before)) = self.application.thread_import(runs, import)
        {
            self.application.set_thread_import(runs, import, Value::Time(before.wrapping_add(passed)));
        }
        if let Some(import) = consumed(&self.policy().imports).map(ImportId)
            && let Some(Value::Time(before)) = self.application.import(import)
        {
            self.application.set_import(import, Value::Time(before.wrapping_add(passed)));
        }
    }
}

impl Tree<'_> {
    pub(super) fn raise(&mut self, scheduler: usize, event: &str, threads: &[ThreadId]) -> Done<Option<ThreadId>> {
        self.raised(scheduler, event, threads).map_err(|stop| Self::stopped(scheduler, event, stop))
    }

    pub(super) fn raised(
        &mut self,
        scheduler: usize,
        event: &str,
        threads: &[ThreadId],
    ) -> Result<Option<ThreadId>, Stop> {
        // Nobody is charged for a decision.
        self.tell(scheduler, event != "schedule");
        let raised = &mut self.schedulers[scheduler];
        raised.machine.raise(event, threads, &mut raised.application)
    }

    /// Tells a policy what time it is, and charges what of it runs for the time since.
    pub(super) fn tell(&mut self, scheduler: usize, running: bool) {
        let turn = self.turn.filter(|_| running && !self.polling);
        let way = turn.map_or(Vec::new(), |turn| self.way_up(turn));
        let runs = way.into_iter().find(|member| self.under(*member) == Some(scheduler));
        self.schedulers[scheduler].tell(self.now, runs);
    }

    pub(super) fn stopped(scheduler: usize, event: &str, stop: Stop) -> Out {
        let why = match stop {
            Stop::Guard { text, .. } | Stop::Unproved { text, .. } | Stop::Misuse(text) => text,
            Stop::Overrun { line } => format!("a loop in line {line} does not end"),
            Stop::Fail { reason, .. } => reason,
        };
        Out { scheduler, event: event.to_owned(), why }
    }

    pub(super) fn broken(scheduler: usize, why: &str) -> Out {
        Out { scheduler, event: "schedule".to_owned(), why: why.to_owned() }
    }
}

/// The variable that the host keeps, if the policy imports it.
fn consumed(imports: &[Import]) -> Option<usize> {
    imports.iter().position(|import| import.name == CONSUMED && import.ty == Type::Time)
}
