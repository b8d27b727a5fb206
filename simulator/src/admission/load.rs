//! Sums of fractions, compared exactly with whole numbers.

use num_bigint::BigUint;

/// Fractions: how often, numerator, denominator. Numerators and denominators are above 0.
pub(super) struct Load {
    fractions: Vec<(u64, i64, i64)>,
}

/// A share of a processor, or of several, as two bounds that enclose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    low: u128,
    high: u128,
}

/// Shares are kept in parts of 2 to this power: what 1024 processors times 73 years need beside them fits in 128 bits.
const BITS: u32 = 48;

impl Share {
    /// The parts of one processor.
    pub(super) const ONE: u128 = 1 << BITS;

    /// So many processors.
    pub fn whole(processors: u32) -> Share {
        let parts = u128::from(processors) << BITS;
        Share { low: parts, high: parts }
    }

    /// This much, for people: 1.0 is one processor.
    pub fn near(value: f64) -> Share {
        let parts = (value.max(0.0) * (1u64 << BITS) as f64) as u128;
        Share { low: parts, high: parts }
    }

    /// In billionths of a processor, rounded up.
    pub fn billionths(self) -> u128 {
        self.low.saturating_mul(1_000_000_000).div_ceil(1 << BITS)
    }

    /// What at least is left of one processor, in parts of [`Share::ONE`].
    pub(super) fn rest(self) -> i128 {
        i128::try_from(Self::ONE.saturating_sub(self.high)).unwrap_or(0)
    }

    /// What at most is left of one processor, in the same parts.
    pub(super) fn most_rest(self) -> i128 {
        i128::try_from(Self::ONE.saturating_sub(self.low)).unwrap_or(0)
    }

    /// How much more than the other it is; nothing if it is not.
    #[must_use]
    pub fn beyond(self, other: Share) -> Share {
        Share { low: self.low.saturating_sub(other.high), high: self.high.saturating_sub(other.low) }
    }
}

impl FromIterator<(u64, i64, i64)> for Load {
    fn from_iter<I: IntoIterator<Item = (u64, i64, i64)>>(fractions: I) -> Self {
        Load { fractions: fractions.into_iter().collect() }
    }
}

impl Load {
    pub(super) fn share(&self) -> Share {
        self.fractions.iter().fold(Share { low: 0, high: 0 }, |sum, &(times, above, below)| {
            let (parts, below) = (part(times, above), below.unsigned_abs().into());
            Share { low: sum.low + parts / below, high: sum.high + parts.div_ceil(below) }
        })
    }

    /// Whether the sum is no more than so many processors.
    pub(super) fn at_most(&self, processors: u32) -> bool {
        let (share, most) = (self.share(), u128::from(processors) << BITS);
        if share.high <= most {
            return true;
        }
        share.low <= most && self.exactly_at_most(processors)
    }

    fn exactly_at_most(&self, processors: u32) -> bool {
        // The least multiple of all denominators.
        let mut common = BigUint::from(1u64);
        for &(_, _, below) in &self.fractions {
            let below = below.unsigned_abs();
            let rest = u64::try_from(&common % below).unwrap_or(0);
            common *= below / divisor(below, rest);
        }
        let mut sum = BigUint::from(0u64);
        for &(times, above, below) in &self.fractions {
            sum += &common / below.unsigned_abs() * above.unsigned_abs() * times;
        }
        sum <= common * processors
    }
}

fn part(times: u64, above: i64) -> u128 {
    (u128::from(times) * u128::from(above.unsigned_abs())) << BITS
}

/// The greatest that divides both.
pub(super) fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(fractions: &[(i64, i64)]) -> Load {
        fractions.iter().map(|&(above, below)| (1, above, below)).collect()
    }

    #[test]
    fn sums_are_exact() {
        assert!(load(&[(1, 3), (1, 3), (1, 3)]).at_most(1));
        assert!(load(&[(1, 2), (1, 3), (1, 6)]).at_most(1));
        assert!(!load(&[(1, 3), (1, 3), (1, 3), (1, i64::MAX)]).at_most(1));
        assert!(load(&[(1, 3), (1, 3), (1, 3), (1, i64::MAX)]).at_most(2));
        // Periods without a common divisor, whose multiple has thousands of bits.
        let primes = [1_000_000_007, 998_244_353, 1_000_000_009, 2_147_483_647, 4_611_686_018_427_387_847];
        let parts: Vec<_> = primes.iter().map(|prime| (prime / 5, *prime)).collect();
        assert!(load(&parts).at_most(1));
        assert!(!load(&[parts, vec![(1, 100_000_000)]].concat()).at_most(1));
    }

    #[test]
    fn shares_enclose() {
        let share = load(&[(1, 3)]).share();
        assert!(share.low < share.high && share.billionths() == 333_333_334, "{share:?}");
        assert_eq!(Share::whole(2).billionths(), 2_000_000_000);
        assert_eq!(Share::whole(2).beyond(Share::whole(1)), Share::whole(1));
        assert_eq!(Share::whole(1).beyond(Share::whole(2)).billionths(), 0);
    }

    #[test]
    fn divisors_are_the_greatest() {
        assert_eq!((divisor(12, 18), divisor(7, 0), divisor(1, 9)), (6, 7, 1));
    }
}
