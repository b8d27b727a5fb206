//! Whether every thread comes, and whether the scenario ends.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::At;

use super::check::{Checker, names_of};
use super::extent::Extent;
use super::phases::each_of;
use super::reader::PhaseDraft;
use super::{Barrier, LONGEST, MOST_AT_ONCE, Phase, Scenario, Thread};

impl Checker<'_, '_> {
    /// A thread that is created comes in no other way, so some thread that creates it must come without it.
    pub(super) fn all_come(&mut self, scenario: &Scenario) -> bool {
        // A thread with another error is in no list, and then it is not known which thread creates which.
        if scenario.threads.len() < self.draft.threads.len() {
            return true;
        }
        let mut come: Vec<bool> = scenario.threads.iter().map(|thread| !thread.spawned).collect();
        let mut creators: Vec<usize> = (0..come.len()).filter(|thread| come[*thread]).collect();
        while let Some(creator) = creators.pop() {
            for thread in creates(&scenario.threads[creator]) {
                if !std::mem::replace(&mut come[thread], true) {
                    creators.push(thread);
                }
            }
        }
        for (index, thread) in scenario.threads.iter().enumerate().filter(|(index, _)| !come[*index]) {
            let title = format!("the thread `{}` never comes", thread.name);
            let mut never = Diagnostic::error("E0704", title, thread.at, "comes only by `spawn`");
            for (creator, draft) in scenario.threads.iter().zip(&self.draft.threads) {
                if creates(creator).any(|created| created == index)
                    && let Some(at) = spawns(&draft.phases, &thread.name)
                {
                    never = never.related(at, format!("and `{}`, which spawns it, comes only after it", creator.name));
                }
            }
            let help = format!(
                "let a thread that comes by itself create the first: `thread first {{ spawn {}; }}`",
                thread.name
            );
            self.diagnostics.push(never.help(help));
        }
        come.iter().all(|comes| *comes)
    }

    /// How many threads meet at each barrier: all that have it in their phases. Their number must be known.
    pub(super) fn barriers(&mut self, scenario: &Scenario) -> Vec<Barrier> {
        let mut meet = vec![0_u32; self.barriers.len()];
        for thread in &scenario.threads {
            let mut here: Vec<usize> = thread
                .phases
                .iter()
                .filter_map(|phase| if let Phase::Barrier(one) = phase { Some(*one) } else { None })
                .collect();
            here.sort_unstable();
            here.dedup();
            if !here.is_empty() && (thread.count.is_none() || thread.spawned) {
                let title = format!("the number of threads `{}` that come to a barrier is not known", thread.name);
                let unknown = Diagnostic::error("E0704", title, thread.at, "");
                self.diagnostics.push(unknown.help("say how many there are, `* 3`, and let them come by themselves"));
            }
            let count = thread.count.unwrap_or(0);
            here.into_iter().for_each(|barrier| meet[barrier] = meet[barrier].saturating_add(count));
        }
        names_of(&self.barriers).into_iter().zip(meet).map(|(name, threads)| Barrier { name, threads }).collect()
    }

    /// If threads never end, or create one another without end, the scenario itself needs an end.
    pub(super) fn ends(&mut self, scenario: &Scenario) {
        let extents: Vec<Extent> = scenario.threads.iter().map(|thread| Extent::of(&thread.phases)).collect();
        for (thread, extent) in scenario.threads.iter().zip(&extents) {
            // If switches take time, so do yields.
            if scenario.switch_cost == 0 && extent.at_once > u128::from(MOST_AT_ONCE) {
                let title = format!("`{}` repeats, more than {MOST_AT_ONCE} times, what takes no time", thread.name);
                let still = Diagnostic::error("E0704", title, thread.at, "time would stand still");
                self.diagnostics.push(still.help("put a `run`, a `sleep` or a `block` into it"));
            }
        }
        if scenario.duration.is_some() {
            return;
        }
        let long =
            scenario.threads.iter().zip(&extents).find(|(_, extent)| extent.time > LONGEST.unsigned_abs().into());
        if let Some((thread, _)) = long {
            let title = format!("the scenario `{}` goes on for more than 73 years", scenario.name);
            let long = Diagnostic::error("E0704", title, self.draft.name.at, "");
            let long = long.related(thread.at, "because of this thread");
            self.diagnostics.push(long.help("say when it ends: `duration 10s;`"));
        }
        let endless = scenario.threads.iter().enumerate().find(|(index, thread)| {
            let jumps = thread.phases.iter().any(|phase| matches!(phase, Phase::Jump(_)));
            jumps || thread.count.is_none() || thread.period.is_some() || comes_again(&scenario.threads, *index)
        });
        if let Some((_, thread)) = endless {
            let title = format!("the scenario `{}` never ends", scenario.name);
            let endless = Diagnostic::error("E0704", title, self.draft.name.at, "");
            let endless = endless.related(thread.at, "because of this thread");
            self.diagnostics.push(endless.help("say when: `duration 10s;`"));
        }
    }
}

/// Whether it creates a thread like itself, directly or through others.
fn comes_again(threads: &[Thread], index: usize) -> bool {
    let mut seen = vec![false; threads.len()];
    let mut creators = vec![index];
    while let Some(creator) = creators.pop() {
        for thread in threads.get(creator).into_iter().flat_map(creates) {
            if thread == index {
                return true;
            }
            if seen.get_mut(thread).is_some_and(|seen| !std::mem::replace(seen, true)) {
                creators.push(thread);
            }
        }
    }
    false
}

fn creates(thread: &Thread) -> impl Iterator<Item = usize> {
    thread.phases.iter().filter_map(|phase| if let Phase::Spawn(thread) = phase { Some(*thread) } else { None })
}

/// Where this thread is first created.
fn spawns(phases: &[PhaseDraft], thread: &str) -> Option<At> {
    let mut first = None;
    each_of(phases, "spawn", &mut |of| {
        if of.text == thread {
            first.get_or_insert(of.at);
        }
    });
    first
}
