//! Exact numbers, so that expectations are compared without rounding.

use std::cmp::Ordering;
use std::ops::{Add, Sub};

/// A fraction in its lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    above: i128,
    /// Above 0.
    below: i128,
}

/// At most so many digits after the point are read.
const MOST_DIGITS: usize = 30;

impl Exact {
    /// The fraction `above / below`.
    pub fn new(above: i128, below: i128) -> Exact {
        let common = gcd(above.unsigned_abs(), below.unsigned_abs());
        let common = i128::try_from(common).unwrap_or(1).max(1);
        let sign = if below < 0 { -1 } else { 1 };
        Exact { above: sign * (above / common), below: (below / common).saturating_abs().max(1) }
    }

    /// A number as policies and scenarios write it, such as `12.5` and `1e-3`. `None`: it is none, or too large.
    pub fn decimal(text: &str) -> Option<Exact> {
        let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let power: i32 = power.parse().ok()?;
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let part = part.get(..part.len().min(MOST_DIGITS))?;
        let above: i128 = format!("{whole}{part}").parse().ok()?;
        let power = power.checked_sub(i32::try_from(part.len()).ok()?)?;
        let ten = 10_i128.checked_pow(power.unsigned_abs());
        match ten {
            Some(ten) if power >= 0 => Some(Exact::new(above.checked_mul(ten)?, 1)),
            Some(ten) => Some(Exact::new(above, ten)),
            // It is too small to be told from 0.
            None if power < 0 || above == 0 => Some(Exact::from(0)),
            None => None,
        }
    }

    /// This percentage of another number.
    pub fn hundredths_of(self, other: Exact) -> Exact {
        let (left, right) = (Exact::new(self.above, other.below), Exact::new(other.above, self.below));
        let below = left.below.saturating_mul(right.below);
        let part = Exact::new(left.above.saturating_mul(right.above), below);
        Exact::new(part.above, part.below.saturating_mul(100))
    }

    /// The highest whole number that is not above this one.
    pub fn floor(self) -> i128 {
        self.above.div_euclid(self.below)
    }

    /// What remains above that, as a fraction; `None`: nothing.
    pub fn rest(self) -> Option<(i128, i128)> {
        let rest = self.above.rem_euclid(self.below);
        (rest > 0).then_some((rest, self.below))
    }

    /// Rounded to so many digits after the point; halves are rounded away from 0.
    pub fn rounded(self, digits: u32) -> Exact {
        let ten = 10_i128.saturating_pow(digits);
        let Some(above) = self.above.checked_mul(ten) else { return self };
        let rest = (above % self.below).unsigned_abs();
        let farther = if rest >= self.below.unsigned_abs() - rest { above.signum() } else { 0 };
        Exact::new(above / self.below + farther, ten)
    }
}

impl From<i64> for Exact {
    fn from(whole: i64) -> Exact {
        Exact { above: i128::from(whole), below: 1 }
    }
}

impl Ord for Exact {
    /// Compares whole parts, then the reciprocals of what remains: no product can overflow.
    fn cmp(&self, other: &Exact) -> Ordering {
        let (mut left, mut right) = (*self, *other);
        let mut turned = false;
        loop {
            let order = match left.floor().cmp(&right.floor()) {
                Ordering::Equal => match (left.rest(), right.rest()) {
                    (Some((one, of)), Some((other, of_other))) => {
                        (left, right) = (Exact { above: of, below: one }, Exact { above: of_other, below: other });
                        turned = !turned;
                        continue;
                    }
                    (one, other) => one.is_some().cmp(&other.is_some()),
                },
                order @ (Ordering::Less | Ordering::Greater) => order,
            };
            return if turned { order.reverse() } else { order };
        }
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Exact) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Add for Exact {
    type Output = Exact;

    fn add(self, other: Exact) -> Exact {
        let common = i128::try_from(gcd(self.below.unsigned_abs(), other.below.unsigned_abs())).unwrap_or(1).max(1);
        let (left, right) = (other.below / common, self.below / common);
        let above = self.above.saturating_mul(left).saturating_add(other.above.saturating_mul(right));
        Exact::new(above, self.below.saturating_mul(left))
    }
}

impl Sub for Exact {
    type Output = Exact;

    fn sub(self, other: Exact) -> Exact {
        self + Exact { above: -other.above, below: other.below }
    }
}

fn gcd(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Exact {
        Exact::decimal(text).unwrap()
    }

    #[test]
    fn decimals_are_what_is_written() {
        assert_eq!(decimal("12.5"), Exact::new(25, 2));
        assert_eq!(decimal("1e-3"), Exact::new(1, 1000));
        assert_eq!(decimal("2.5E3"), Exact::from(2500));
        assert_eq!(decimal("0.1") + decimal("0.2"), decimal("0.3"));
        assert!(decimal("33.33333333333333333333") < Exact::new(100, 3));
        assert!(decimal("33.33333333333333333334") > Exact::new(100, 3));
        assert_eq!(Exact::decimal("1e300"), None);
        assert_eq!(Exact::decimal("x"), None);
        assert_eq!(decimal("1e-300"), Exact::from(0));
    }

    #[test]
    fn fractions_have_an_order_however_large_they_are() {
        let large = i128::from(i64::MAX);
        assert!(Exact::new(large, large - 1) > Exact::new(large + 1, large));
        assert!(Exact::new(i128::MAX - 1, i128::MAX) < Exact::from(1));
        assert!(Exact::new(-1, 3) < Exact::new(-1, 4));
        assert!(Exact::new(-7, 2) < Exact::from(-3));
        assert_eq!(Exact::new(700, 100).cmp(&Exact::from(7)), Ordering::Equal);
        for (above, below) in [(1, 3), (2, 3), (5, 7), (-1, 3)] {
            for (other, of) in [(1, 3), (1, 2), (5, 7), (-2, 7)] {
                let (one, another) = (Exact::new(above, below), Exact::new(other, of));
                assert_eq!(one.cmp(&another), (above * of).cmp(&(other * below)), "{above}/{below} {other}/{of}");
            }
        }
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        assert_eq!(Exact::new(100, 3).rounded(2), decimal("33.33"));
        assert_eq!(Exact::new(200, 3).rounded(2), decimal("66.67"));
        assert_eq!(Exact::new(1, 8).rounded(2), decimal("0.13"));
        assert_eq!(Exact::from(7).rounded(2), Exact::from(7));
        assert_eq!(decimal("5").hundredths_of(Exact::from(10_000_000)), Exact::from(500_000));
        assert_eq!((Exact::new(7, 2).floor(), Exact::new(7, 2).rest()), (3, Some((1, 2))));
    }
}
