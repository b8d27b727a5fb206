//! Durations and instants in words.

use catapults_compiler::vocabulary::in_unit;

/// `2.099123457s`: exact; whole durations as scenarios write them.
pub fn exact(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    format!("{sign}{}", exact_since(nanoseconds.unsigned_abs()))
}

/// As `exact`, for a duration that is not negative.
pub fn exact_since(nanoseconds: u64) -> String {
    if let Ok(whole) = i64::try_from(nanoseconds)
        && let (count @ ..10_000, unit) = in_unit(whole)
    {
        return format!("{count}{unit}");
    }
    let (length, digits, unit) = match nanoseconds {
        0..10_000_000 => (1_000, 3, "us"),
        10_000_000..1_000_000_000 => (1_000_000, 6, "ms"),
        1_000_000_000.. => (1_000_000_000, 9, "s"),
    };
    let text = format!("{}.{:0digits$}", nanoseconds / length, nanoseconds % length);
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `12.3ms`: rounded to four digits; whole durations as scenarios write them.
pub fn duration(nanoseconds: i64) -> String {
    let (count, unit) = in_unit(nanoseconds);
    if count.unsigned_abs() < 10_000 {
        return format!("{count}{unit}");
    }
    let (length, unit) = match nanoseconds.unsigned_abs() {
        0..=9_999 => (1.0, "ns"),
        10_000..=9_999_999 => (1e3, "us"),
        10_000_000..=9_999_999_999 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = nanoseconds as f64 / length;
    let digits = if value.abs() < 100.0 { 2 } else { 1 };
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_duration_has_all_digits() {
        let shown = [
            2_099_123_457,
            0,
            999,
            60_000_000,
            1_500_000,
            1_234_567,
            12_345_678,
            -12_345_678,
            10_000_000_001,
            3_600_000_000_000,
        ];
        let expected = [
            "2.099123457s",
            "0ns",
            "999ns",
            "60ms",
            "1500us",
            "1234.567us",
            "12.345678ms",
            "-12.345678ms",
            "10.000000001s",
            "3600s",
        ];
        assert_eq!(shown.map(exact), expected.map(str::to_owned));
        assert_eq!(exact(i64::MIN), "-9223372036.854775808s");
        let shown = [9_150_000, 9_999_999, 10_000_001, 86_400_000_000_001, u64::MAX].map(exact_since);
        assert_eq!(shown, ["9150us", "9999.999us", "10.000001ms", "86400.000000001s", "18446744073.709551615s"]);
        assert_eq!([1_234_567, 12_345_678].map(duration), ["1234.6us", "12.35ms"].map(str::to_owned));
    }
}
