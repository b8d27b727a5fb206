//! What `random(n)` draws. `frameworks/shared/catapults/random.h` computes the same, and explains it.

/// The state of a generator. Never is all of it 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Random([u32; 2]);

impl Random {
    /// The seed of whoever is given none.
    pub const SEED: u64 = 1;

    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        let low = mixed(seed as u32);
        let high = mixed((seed >> 32) as u32 ^ low);
        Random([low, if low == 0 && high == 0 { 1 } else { high }])
    }

    fn next(&mut self) -> u32 {
        let [one, other] = self.0;
        let both = one ^ other;
        self.0 = [one.rotate_left(26) ^ both ^ both << 9, both.rotate_left(13)];
        one.wrapping_mul(0x9E37_79BB)
    }

    /// A number from 0 to below `bound`, each as likely as the others; 0 if there is none.
    pub fn below(&mut self, bound: i64) -> i64 {
        let Ok(bound) = u64::try_from(bound) else { return 0 };
        if bound <= 1 {
            return 0;
        }
        let drawn = u128::from(self.next());
        let drawn = if bound <= 1 << 16 { drawn << 32 } else { drawn << 32 | u128::from(self.next()) };
        // Below the bound, which is an `i64`.
        ((drawn * u128::from(bound)) >> 64) as i64
    }
}

/// What the sequence of a seed begins with, as compiled policies keep it (`struct catapults_random`).
pub fn state(seed: u64) -> [u32; 2] {
    Random::new(seed).0
}

/// Neighbouring seeds have nothing in common after this.
fn mixed(mut bits: u32) -> u32 {
    bits = bits.wrapping_add(0x9E37_79B9);
    bits = (bits ^ bits >> 16).wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ bits >> 13).wrapping_mul(0xC2B2_AE35);
    bits ^ bits >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each number comes of many draws.
    fn counts(seed: u64, bound: usize, draws: usize) -> Vec<usize> {
        let mut random = Random::new(seed);
        let mut counts = vec![0; bound];
        for _ in 0..draws {
            let drawn = random.below(bound as i64);
            counts[usize::try_from(drawn).unwrap_or(usize::MAX)] += 1;
        }
        counts
    }

    #[test]
    fn each_number_is_as_likely_as_the_others() {
        for (seed, bound) in [(1, 2), (2, 3), (u64::MAX, 10), (0, 100)] {
            let expected = 100_000 / bound as i64;
            for count in counts(seed, bound, 100_000) {
                let off = (count as i64 - expected).pow(2);
                // Four standard deviations.
                assert!(off < 16 * expected, "{count} of {expected}, seed {seed}");
            }
        }
    }

    #[test]
    fn neighbouring_draws_and_seeds_have_nothing_in_common() {
        let mut pairs = vec![0_i64; 100];
        let mut random = Random::new(1);
        for _ in 0..100_000 {
            pairs[(random.below(10) * 10 + random.below(10)) as usize] += 1;
        }
        let mut firsts = vec![0_i64; 100];
        for seed in 0..100_000 {
            firsts[Random::new(seed).below(100) as usize] += 1;
        }
        for count in pairs.into_iter().chain(firsts) {
            assert!((count - 1000).pow(2) < 16 * 1000, "{count} of 1000");
        }
    }

    #[test]
    fn draws_are_below_their_bounds() {
        let mut random = Random::new(7);
        for bound in [i64::MIN, -1, 0, 1] {
            assert_eq!(random.below(bound), 0);
        }
        for bound in [2, 65_535, 65_536, 65_537, 1 << 32, (1 << 32) + 1, i64::MAX] {
            let mut highest = 0;
            for _ in 0..1000 {
                let drawn = random.below(bound);
                assert!((0..bound).contains(&drawn), "{drawn} of {bound}");
                highest = highest.max(drawn);
            }
            assert!(highest > bound / 2 || bound == 2, "{highest} of {bound}");
        }
    }
}
