//! How long an exploration may take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time that is left, if it is limited, and a flag that ends the exploration before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    end: Option<Instant>,
    stop: Option<&'static AtomicBool>,
}

/// No time is left.
#[derive(Debug)]
pub(super) struct Spent;

impl Budget {
    /// The budget that starts now.
    pub fn of(time: Option<Duration>, stop: Option<&'static AtomicBool>) -> Self {
        Budget { end: time.and_then(|time| Instant::now().checked_add(time)), stop }
    }

    /// The budget of `parts` of `of` parts of the time that is left.
    pub fn part(self, parts: u32, of: u32) -> Self {
        let end = self.end.map(|end| {
            let left = end.saturating_duration_since(Instant::now());
            end - left + left * parts / of
        });
        Budget { end, ..self }
    }

    pub fn is_spent(self) -> bool {
        self.is_stopped() || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Whether the flag was set.
    fn is_stopped(self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Why it is spent, as limits say it.
    pub fn why(self) -> &'static str {
        if self.is_stopped() { "until it was interrupted" } else { "in the time given (--seconds)" }
    }

    /// For frequent calls: looks at the clock only now and then.
    pub fn check(self, asked: &mut u32) -> Result<(), Spent> {
        *asked = asked.wrapping_add(1);
        if asked.is_multiple_of(1 << 14) && self.is_spent() { Err(Spent) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_sooner_than_the_whole() {
        let whole = Budget::of(Some(Duration::from_secs(3_600)), None);
        assert!(!whole.is_spent() && !whole.part(1, 2).is_spent() && whole.part(0, 2).is_spent());
        assert!(Budget::of(Some(Duration::ZERO), None).is_spent() && !Budget::of(None, None).part(0, 1).is_spent());
    }

    #[test]
    fn what_is_stopped_has_no_time_left() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let budget = Budget::of(None, Some(&STOP));
        assert!(!budget.is_spent());
        STOP.store(true, Ordering::Relaxed);
        assert!(budget.is_spent() && budget.part(1, 2).why() == "until it was interrupted");
    }
}
