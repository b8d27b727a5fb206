//! What to do without room: which threads get a row, and how names are shortened.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The longest name beside pictures and in tables.
pub const LONGEST_NAME: usize = 40;

/// A name of at most [`LONGEST_NAME`] characters: its beginning and its end.
pub fn short(name: &str) -> String {
    cut(&visible(name), LONGEST_NAME, LONGEST_NAME / 2)
}

/// A foreign text that is safe to show. Characters that control a terminal or the text's direction become `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    let steers = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let shown = |letter: char| if steers(letter) { letter.escape_unicode().to_string() } else { letter.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Names of at most `most` characters, which differ if the full ones do. The middle, or what is alike, is left out.
pub fn short_names<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<String> {
    let names: Vec<Cow<'_, str>> = names.into_iter().map(visible).collect();
    let names: Vec<&str> = names.iter().map(Cow::as_ref).collect();
    let different: BTreeSet<&str> = names.iter().copied().collect();
    let half = most / 2;
    let heads = [half].into_iter().chain((0..half).rev()).chain(half + 1..most);
    for head in heads {
        let shown: BTreeSet<String> = different.iter().map(|name| cut(name, most, head)).collect();
        if shown.len() == different.len() {
            return names.iter().map(|name| cut(name, most, head)).collect();
        }
    }
    let numbers: BTreeMap<&str, usize> = different.iter().enumerate().map(|(place, name)| (*name, place + 1)).collect();
    let numbered = |name: &&str| {
        let number = format!("~{}", numbers.get(name).copied().unwrap_or(0));
        if name.chars().count() <= most {
            return (*name).to_owned();
        }
        let room = most.saturating_sub(number.chars().count());
        format!("{}{number}", cut(name, room, room / 2))
    };
    names.iter().map(numbered).collect()
}

fn cut(name: &str, most: usize, head: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let tail = most.saturating_sub(head + 1);
    name.chars().take(head).chain(['…']).chain(name.chars().skip(length - tail)).collect()
}

/// Which threads get a row, if there are only so many rows. Each thread comes with its kind and how long it runs. Each
/// kind gets one row, then each a second one, and so on. If there are too few, kinds that run most, and threads that
/// run at all, come first.
pub fn chosen(threads: impl IntoIterator<Item = (u64, usize, i64)>, most: usize) -> BTreeSet<u64> {
    let mut kinds: BTreeMap<usize, (i128, Vec<(bool, u64)>)> = BTreeMap::new();
    for (thread, kind, ran) in threads {
        let (all, threads) = kinds.entry(kind).or_default();
        *all += i128::from(ran);
        threads.push((ran == 0, thread));
    }
    let mut kinds: Vec<(i128, Vec<(bool, u64)>)> = kinds.into_values().collect();
    kinds.sort_by_key(|(ran, _)| -ran);
    kinds.iter_mut().for_each(|(_, threads)| threads.sort_unstable());
    let longest = kinds.iter().map(|(_, threads)| threads.len()).max().unwrap_or(0);
    let rounds = (0..longest).flat_map(|round| kinds.iter().filter_map(move |(_, threads)| threads.get(round)));
    rounds.map(|(_, thread)| *thread).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_short_and_differ() {
        let long = "a".repeat(60);
        for (left, right) in [
            (format!("{long}_reader"), format!("{long}_writer")),
            (format!("reader_{long}"), format!("writer_{long}")),
            (format!("{long}_reader_{long}"), format!("{long}_writer_{long}")),
        ] {
            let shown = short_names([left.as_str(), "main", right.as_str(), left.as_str()], 24);
            assert!(shown.iter().all(|name| name.chars().count() <= 24), "{shown:?}");
            assert_eq!(shown[0], shown[3]);
            assert_eq!(shown.iter().collect::<BTreeSet<_>>().len(), 3, "{shown:?}");
            assert_eq!(shown[1], "main");
        }
    }

    #[test]
    fn no_name_steers_a_terminal() {
        assert_eq!(visible("worker é"), "worker é");
        assert_eq!(visible("a\u{1b}[31m\n\u{202e}b"), "a\\u{1b}[31m\\u{a}\\u{202e}b");
        assert_eq!(short_names(["\u{1b}c"], 40), ["\\u{1b}c"]);
        assert_eq!(short("\u{7}"), "\\u{7}");
    }

    #[test]
    fn each_kind_has_a_row_before_one_has_two() {
        let threads = (0..40).map(|thread| (thread, if thread < 38 { 0 } else { thread as usize }, 1));
        assert_eq!(chosen(threads, 4), BTreeSet::from([0, 1, 38, 39]));
        assert_eq!(chosen([(5, 1, 0), (6, 1, 0)], 4), BTreeSet::from([5, 6]));
    }

    #[test]
    fn who_runs_has_a_row_before_who_does_not() {
        assert_eq!(chosen([(0, 0, 1), (1, 1, 0), (2, 2, 7), (3, 2, 0), (4, 2, 2)], 2), BTreeSet::from([0, 2]));
        assert_eq!(chosen([(2, 2, 0), (3, 2, 0), (4, 2, 2)], 2), BTreeSet::from([2, 4]));
    }
}
