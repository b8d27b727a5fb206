//! What `random(n)` draws. `frameworks/shared/catapults/random.h` computes the same, and explains it.

/// The state of a generator. It is never all 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Random([u32; 2]);

impl Random {
    /// The seed where none is given.
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

/// The first state for a seed, as compiled policies keep it (`struct catapults_random`).
pub fn state(seed: u64) -> [u32; 2] {
    Random::new(seed).0
}

/// Mixes the bits, so that neighbouring seeds have nothing in common.
fn mixed(mut bits: u32) -> u32 {
    bits = bits.wrapping_add(0x9E37_79B9);
    bits = (bits ^ bits >> 16).wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ bits >> 13).wrapping_mul(0xC2B2_AE35);
    bits ^ bits >> 16
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;

    /// How often each number comes up in many draws.
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

    /// What compiled policies draw for these seeds and bounds, in order, with the headers of this folder.
    fn drawn_in_c(folder: &str, defined: &str, seeds: &[u64], bounds: &[i64]) -> Vec<i64> {
        let mut text = "#include <stdio.h>\n#include \"catapults/random.h\"\nint main(void) {\n".to_owned();
        text.push_str("    struct catapults_random random;\n");
        for seed in seeds {
            let _ = writeln!(text, "    catapults_random_seed(&random, {seed}u);");
            for bound in bounds {
                let _ = writeln!(text, "    printf(\"%lld\\n\", (long long)catapults_random(&random, {bound}));");
            }
        }
        text.push_str("}\n");
        let program = std::env::temp_dir().join(format!("catapults-draws-{}", std::process::id()));
        let frameworks = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("frameworks");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu17", "-O1", "-fwrapv", "-Wall", "-Wextra", "-Werror", defined, "-o"]).arg(&program);
        compiler.arg("-I").arg(frameworks.join(folder)).args(["-x", "c", "-"]).stdin(Stdio::piped());
        let mut child = compiler.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
        let said = Command::new(&program).output();
        fs::remove_file(&program).unwrap();
        let said = String::from_utf8(said.unwrap().stdout).unwrap();
        said.lines().map(|line| line.parse().unwrap()).collect()
    }

    #[test]
    fn compiled_policies_draw_the_same() {
        let narrow = [-5, 0, 1, 2, 3, 10, 100, 9999, 32_767];
        let wider = [65_535, 65_536, 65_537, 1_000_000, 2_147_483_647];
        let wide = [1 << 31, 1 << 32, (1 << 32) + 1, 1_000_000_000_007, 1 << 62, i64::MAX];
        let of_16_bits = narrow.repeat(20);
        let of_32_bits = [&narrow[..], &wider].concat().repeat(20);
        let of_64_bits = [&narrow[..], &wider, &wide].concat().repeat(20);
        let small = [0, 1, 7, u64::from(u32::MAX)];
        let large = [0, 1, 1 << 32, u64::MAX];
        let cases: [(&str, &str, &[u64], &[i64]); 3] = [
            ("shared/small", "-DCATAPULTS_INT_BITS=16", &small, &of_16_bits),
            ("shared/small", "-DCATAPULTS_INT_BITS=32", &small, &of_32_bits),
            ("shared", "-DHOST", &large, &of_64_bits),
        ];
        for (folder, defined, seeds, bounds) in cases {
            let of_seed = |seed: &u64| {
                let mut random = Random::new(*seed);
                bounds.iter().map(move |bound| random.below(*bound)).collect::<Vec<i64>>()
            };
            let expected: Vec<i64> = seeds.iter().flat_map(of_seed).collect();
            assert_eq!(drawn_in_c(folder, defined, seeds, bounds), expected, "{folder} {defined}");
        }
    }
}
