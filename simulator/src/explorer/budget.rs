//! How long it may take.

use std::time::{Duration, Instant};

/// The time that is left, if it is limited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(Option<Instant>);

/// There is none left.
#[derive(Debug)]
pub(super) struct Spent;

impl Budget {
    /// From now on.
    pub fn of(time: Option<Duration>) -> Self {
        Budget(time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// So many parts of `of` of what is left.
    pub fn part(self, parts: u32, of: u32) -> Self {
        Budget(self.0.map(|end| {
            let left = end.saturating_duration_since(Instant::now());
            end - left + left * parts / of
        }))
    }

    pub fn is_spent(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// Asked again and again, it looks at the clock now and then.
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
        let whole = Budget::of(Some(Duration::from_secs(3_600)));
        assert!(!whole.is_spent() && !whole.part(1, 2).is_spent() && whole.part(0, 2).is_spent());
        assert!(Budget::of(Some(Duration::ZERO)).is_spent() && !Budget::of(None).part(0, 1).is_spent());
    }
}
