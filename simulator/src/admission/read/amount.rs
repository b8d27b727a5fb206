//! Times and whole numbers in words.

/// In what a number without a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

impl Unit {
    /// How many decimal places of it are nanoseconds.
    fn places(self) -> usize {
        match self {
            Unit::Nanoseconds => 0,
            Unit::Microseconds => 3,
            Unit::Milliseconds => 6,
            Unit::Seconds => 9,
        }
    }

    fn named(name: &str) -> Option<Unit> {
        match name {
            "ns" => Some(Unit::Nanoseconds),
            "us" | "µs" | "μs" => Some(Unit::Microseconds),
            "ms" => Some(Unit::Milliseconds),
            "s" => Some(Unit::Seconds),
            _ => None,
        }
    }
}

/// `5ms`, `1.5 ms`, `300us`, `7`: in nanoseconds.
///
/// # Errors
/// What is wrong with it.
pub(super) fn time(text: &str, unit: Unit) -> Result<i64, String> {
    let wrong = || format!("`{}` is no time", short(text));
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
    let (number, name) = rest.split_at(end);
    let unit = match name.trim() {
        "" => unit,
        name => Unit::named(name).ok_or_else(wrong)?,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || number.contains('.') && !digits(part) {
        return Err(wrong());
    }
    let part = part.trim_end_matches('0');
    if part.len() > unit.places() {
        return Err(format!("`{}` is finer than a nanosecond", short(text)));
    }
    let digits = format!("{whole}{part:0<places$}", places = unit.places());
    let nanoseconds =
        digits.parse::<i64>().map_err(|_| format!("`{}` is too long: more than 292 years", short(text)))?;
    Ok(sign * nanoseconds)
}

/// # Errors
/// What is wrong with it.
pub(super) fn whole(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{}` is no whole number", short(text)))
}

/// No more of it than fits in a message, and no control characters.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 40;
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let begin: String = text.chars().take(MOST).map(plain).collect();
    if text.chars().count() > MOST { format!("{begin}…") } else { begin }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let read = |text| time(text, Unit::Milliseconds);
        assert_eq!(read("5"), Ok(5_000_000));
        assert_eq!(read("1.5"), Ok(1_500_000));
        assert_eq!(read("0.000001"), Ok(1));
        assert_eq!(read("2.50 us"), Ok(2_500));
        assert_eq!(read("3s"), Ok(3_000_000_000));
        assert_eq!(read("-1ms"), Ok(-1_000_000));
        assert_eq!(time("7", Unit::Nanoseconds), Ok(7));
    }

    #[test]
    fn others_are_refused() {
        for text in ["", "ms", "1.", ".5", "1.2.3", "5 minutes", "--1", "1e3", "０"] {
            assert!(time(text, Unit::Milliseconds).unwrap_err().contains("is no time"), "{text}");
        }
        assert!(time("0.0000001", Unit::Milliseconds).unwrap_err().contains("finer"));
        assert!(time("9223372037s", Unit::Milliseconds).unwrap_err().contains("too long"));
        assert!(time(&"9".repeat(5000), Unit::Seconds).unwrap_err().len() < 200);
        assert!(whole("1.5").is_err() && whole("-3") == Ok(-3));
    }
}
