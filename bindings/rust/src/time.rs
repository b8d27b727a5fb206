use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use crate::ffi;

/// An instant of the runtime's clock, CLOCK_MONOTONIC, in nanoseconds. Policies have the same ones.
///
/// As `std::time::Instant`, but it can be converted to a number, and instants beyond the end of time are that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Instant {
    /// What never comes.
    pub const FOREVER: Instant = Instant(i64::MAX);

    /// Now. Every thread may ask, whoever has made it.
    #[must_use]
    pub fn now() -> Self {
        // SAFETY: it reads a clock.
        Instant(unsafe { ffi::catapults_now() })
    }

    /// The instant that is this many nanoseconds after the clock's zero.
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Instant(nanoseconds)
    }

    /// How many nanoseconds after the clock's zero it is.
    #[must_use]
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }

    /// How long ago `earlier` was at this instant; nothing, if it is later.
    #[must_use]
    pub fn duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(u64::try_from(i128::from(self.0) - i128::from(earlier.0)).unwrap_or(0))
    }

    /// How long ago it was.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Instant::now().duration_since(self)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, length: Duration) -> Instant {
        Instant(self.0.saturating_add(nanoseconds(length)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, length: Duration) {
        *self = *self + length;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, length: Duration) -> Instant {
        Instant(self.0.saturating_sub(nanoseconds(length)))
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

/// Nothing that lies further away than the clock counts ever comes.
pub(crate) fn nanoseconds(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX)
}

/// So much after now.
pub(crate) fn after(length: Duration) -> Instant {
    Instant::now() + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_time_is_not_the_past() {
        let one = Instant::from_nanoseconds(1);
        assert_eq!(one + Duration::MAX, Instant::FOREVER);
        assert_eq!(one - Duration::MAX, Instant::from_nanoseconds(1 - i64::MAX));
        assert_eq!(Instant::FOREVER + Duration::from_secs(1), Instant::FOREVER);
        assert_eq!(nanoseconds(Duration::MAX), i64::MAX);
    }

    #[test]
    fn differences_are_exact_and_never_negative() {
        let (early, late) = (Instant::from_nanoseconds(-5), Instant::from_nanoseconds(7));
        assert_eq!(late - early, Duration::from_nanos(12));
        assert_eq!(early - late, Duration::ZERO);
        let span = Instant::FOREVER - Instant::from_nanoseconds(i64::MIN);
        assert_eq!(span, Duration::from_nanos(u64::MAX));
        let mut moved = early;
        moved += Duration::from_nanos(12);
        assert_eq!(moved, late);
    }
}
