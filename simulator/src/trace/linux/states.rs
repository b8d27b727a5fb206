//! States of threads that Linux writes as numbers, as in `trace-cmd report -R`. The meanings of the bits have changed
//! twice. No text tells its kernel, but Perfetto's recordings may. Otherwise, only the numbers may show it.
//!
//! ```text
//!              running   1      2      4   8    16      32      64      128        256         more
//! until 4.13   0         sleep  disk   stopped  dead    zombie  exits   killable   preempted, from 256 on, by the kernel's age
//! 4.14 to 4.19 1                sleep  disk  stopped    stopped dead    zombie     parked; 256 idle, 4096 preempted
//! from 4.20    0         sleep  disk   stopped  dead    zombie  parked  idle       256 preempted
//! ```
//!
//! From 4.14 to 4.19, numbers were by mistake twice as large, so a running thread has 1. Later ones of these kernels
//! were corrected. A processor's idle thread always runs.

/// What numbers stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::trace) enum Numbering {
    /// Until 4.13.
    Old,
    /// 4.14 to 4.19.
    Shifted,
    /// From 4.20 on.
    #[default]
    New,
}

const EXITS: u64 = 0x10 | 0x20;
const DISK: u64 = 2;

impl Numbering {
    /// The meaning, for people.
    pub(in crate::trace) fn in_words(self) -> &'static str {
        match self {
            Numbering::Old => "as until Linux 4.13, where 64 is a thread that exits",
            Numbering::Shifted => "as from Linux 4.14 to 4.19, where 1 is a thread that could go on",
            Numbering::New => "as since Linux 4.20, where 1 is a thread that sleeps",
        }
    }

    /// The kernel's letter for it.
    pub(in crate::trace) fn letter(self, state: u64) -> &'static str {
        match self {
            // 4096 is greater than all of them, and becomes 2048.
            Numbering::Shifted => Numbering::New.letter(if state == 1 { 0 } else { state >> 1 }),
            Numbering::New => match state & 0xff {
                0 if state == 0 => "R",
                0 => "R+",
                state if state & EXITS != 0 => "X",
                state if state & DISK != 0 => "D",
                _ => "S",
            },
            Numbering::Old => {
                const DEAD: u64 = 0x40;
                // Kernel threads that wait for work: with 2, 1024 is no preemption.
                const IDLE: u64 = 0x400 | DISK;
                match state {
                    0 => "R",
                    IDLE => "S",
                    state if state >= 0x100 => "R+",
                    state if state & (EXITS | DEAD) != 0 => "X",
                    state if state & DISK != 0 => "D",
                    _ => "S",
                }
            }
        }
    }
}

/// Which numbers occurred.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::trace) struct Seen {
    /// In idle threads.
    idle_is_one: bool,
    idle_is_zero: bool,
    /// Numbers that exist only from 4.20 on, or only until 4.13.
    new: bool,
    old: bool,
    /// 64: the thread exits; or it is parked, which is rare.
    exits_or_parked: bool,
    /// In any thread.
    any: bool,
    zero: bool,
}

/// An unknown thread, but no idle one.
pub(in crate::trace) const UNKNOWN: u32 = u32::MAX;

/// The first two numbers of a kernel's release, such as `5.10.43-android12`.
pub(in crate::trace) fn release(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

impl Seen {
    /// A thread leaves its processor; 0: an idle thread.
    pub(in crate::trace) fn leaves(&mut self, thread: u32, state: u64) {
        self.any = true;
        self.zero |= state == 0;
        if thread == 0 {
            self.idle_is_one |= state == 1;
            self.idle_is_zero |= state == 0;
        }
        match state {
            0 | 1 | 2 | 4 | 8 => {}
            0x10 | 0x20 | 0x80 | 0x100 => self.new = true,
            0x40 => self.exits_or_parked = true,
            _ => self.old = true,
        }
    }

    /// What numbers stand for in a kernel of this release, and whether that is certain.
    pub(in crate::trace) fn numbering(&self, release: Option<(u32, u32)>) -> (Numbering, bool) {
        let shifted = self.idle_is_one && !self.idle_is_zero;
        match release {
            Some(release) if release < (4, 14) => return (Numbering::Old, true),
            Some(release) if release >= (4, 20) => return (Numbering::New, true),
            Some(_) if shifted => return (Numbering::Shifted, true),
            Some(_) => return (Numbering::New, self.zero || !self.any),
            None if shifted => return (Numbering::Shifted, true),
            None => {}
        }
        match (self.old, self.new) {
            (true, _) => (Numbering::Old, true),
            // In that kernel, running threads have 0.
            (false, true) => (Numbering::New, self.zero),
            (false, false) if self.exits_or_parked => (Numbering::Old, false),
            (false, false) => (Numbering::New, self.zero || !self.any),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_letters() {
        let letters = |numbering: Numbering, states: &[u64]| -> Vec<&str> {
            states.iter().map(|state| numbering.letter(*state)).collect()
        };
        assert_eq!(
            letters(Numbering::New, &[0, 1, 2, 4, 8, 16, 32, 64, 128, 256]),
            ["R", "S", "D", "S", "S", "X", "X", "S", "S", "R+"]
        );
        assert_eq!(
            letters(Numbering::Shifted, &[1, 2, 4, 8, 16, 32, 64, 128, 256, 4096]),
            ["R", "S", "D", "S", "S", "X", "X", "S", "S", "R+"]
        );
        assert_eq!(
            letters(Numbering::Old, &[0, 1, 2, 4, 64, 130, 256, 512, 1024, 1026, 2048, 2049, 4096]),
            ["R", "S", "D", "S", "X", "D", "R+", "R+", "R+", "S", "R+", "R+", "R+"]
        );
    }

    #[test]
    fn a_kernel_is_known_by_its_numbers() {
        let of = |states: &[(u32, u64)]| {
            let mut seen = Seen::default();
            states.iter().for_each(|(thread, state)| seen.leaves(*thread, *state));
            seen.numbering(None)
        };
        let (certain, unclear) = (|numbering| (numbering, true), |numbering| (numbering, false));
        assert_eq!(of(&[(7, 64), (0, 1), (8, 256)]), certain(Numbering::Shifted));
        assert_eq!(of(&[(0, 0), (7, 1), (8, 256)]), certain(Numbering::New));
        assert_eq!(of(&[(0, 0), (7, 1), (8, 2048), (9, 64)]), certain(Numbering::Old));
        assert_eq!(of(&[(0, 0), (7, 130)]), certain(Numbering::Old));
        assert_eq!(of(&[(0, 0), (7, 64)]), unclear(Numbering::Old), "it exits, or is parked");
        assert_eq!(of(&[(0, 0), (7, 64), (8, 16)]), certain(Numbering::New), "it is parked");
        assert_eq!(of(&[(0, 0), (7, 1)]), certain(Numbering::New));
        assert_eq!(of(&[(7, 1), (8, 2)]), unclear(Numbering::New), "1 may be who runs");
        assert_eq!(of(&[(7, 1), (8, 0)]), certain(Numbering::New), "then 0 would not be");
        assert_eq!(of(&[(7, 1), (8, 256)]), unclear(Numbering::New), "256 may be one that waits for work");
        assert_eq!(of(&[]), certain(Numbering::New));
    }

    #[test]
    fn a_kernel_is_known_by_its_release() {
        let of = |text: &str, states: &[(u32, u64)]| {
            let mut seen = Seen::default();
            states.iter().for_each(|(thread, state)| seen.leaves(*thread, *state));
            seen.numbering(release(text))
        };
        assert_eq!(of("3.10.0-1160.el7.x86_64", &[(7, 64)]), (Numbering::Old, true));
        assert_eq!(of("5.10.43-android12-9", &[(7, 64)]), (Numbering::New, true));
        assert_eq!(of("6.1", &[(0, 1)]), (Numbering::New, true));
        // Some of these kernels were corrected.
        assert_eq!(of("4.19.87", &[(0, 1), (7, 2)]), (Numbering::Shifted, true));
        assert_eq!(of("4.19.87", &[(0, 0), (7, 1)]), (Numbering::New, true));
        assert_eq!(of("4.14.1", &[(7, 2)]), (Numbering::New, false));
        assert_eq!(of("4.14.1", &[]), (Numbering::New, true));
        assert_eq!(of("unknown", &[(7, 1)]), (Numbering::New, false));
    }
}
