//! How much is computed before a test is given up: a set of a few lines can ask for centuries.

/// What is left.
pub(super) struct Work {
    left: u64,
}

/// So many terms of sums: some seconds.
const MOST: u64 = 100_000_000;

impl Work {
    pub(super) fn new() -> Self {
        Work { left: MOST }
    }

    /// Takes so much of it. False: there is no more.
    pub(super) fn take(&mut self, terms: usize) -> bool {
        let terms = u64::try_from(terms).unwrap_or(u64::MAX).max(1);
        self.left = self.left.saturating_sub(terms);
        self.left > 0
    }

    /// With little left, for tests.
    #[cfg(test)]
    pub(super) fn little(terms: u64) -> Self {
        Work { left: terms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends() {
        let mut work = Work::little(10);
        assert!(work.take(5));
        assert!(!work.take(5));
        assert!(!work.take(0));
        assert!(Work::new().take(1000));
    }
}
