//! Why a line that names one of our events cannot be read.

use super::super::MOST_PROCESSORS;
use super::{before_ours, before_the_event, found, is_between, shown};

/// What is wrong with `line`, in words; `None` if it names none of our events.
pub(super) fn why(line: &str) -> Option<String> {
    let before = before_ours(line)?;
    let Some(one) = found(line) else {
        let time = before.split_whitespace().rev().find(|word| !word.bytes().all(is_between));
        let time =
            time.map(|word| word.trim_end_matches(':')).filter(|word| word.contains(|at: char| at.is_ascii_digit()));
        return Some(match time {
            Some(time) => format!("`{}` is no time in seconds, such as `1234.567890`", shown(time)),
            None => "no time stands before the event".to_owned(),
        });
    };
    if found(one.what).is_some() {
        return Some("another event begins in this line: its end is missing".to_owned());
    }
    if one.processor.is_none() {
        return Some(match bracketed(before) {
            Some(number) => format!("`{number}` is no processor: they are from 0 to {}", MOST_PROCESSORS - 1),
            None => "it does not say on which processor it was".to_owned(),
        });
    }
    let number = one.what.match_indices("pid=").find_map(|(at, name)| {
        let number = one.what[at + name.len()..].split_whitespace().next().unwrap_or("");
        number.parse::<u32>().is_err().then_some(number)
    });
    Some(match number {
        Some("") => "the number of a thread is missing".to_owned(),
        Some(number) => format!("`{}` is no number of a thread", shown(number)),
        None => "a part of the event is missing".to_owned(),
    })
}

/// What stands in the brackets where a processor does: the digits of `[70000]`.
pub(super) fn bracketed(before: &str) -> Option<&str> {
    let before = before_the_event(before).map_or(before, |(before, _)| before);
    before.split_whitespace().rev().find_map(|word| {
        let number = word.strip_prefix('[')?.strip_suffix(']')?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
    })
}
