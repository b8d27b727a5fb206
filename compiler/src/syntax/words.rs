//! The words of the language.

/// The words that cannot be names in a policy.
pub(crate) const RESERVED: [&str; 43] = [
    "scheduler",
    "thread",
    "threadimports",
    "imports",
    "data",
    "event",
    "query",
    "const",
    "enum",
    "int",
    "bool",
    "time",
    "now",
    "float",
    "threadref",
    "queue",
    "stack",
    "pqueue",
    "pstack",
    "sortable",
    "on",
    "reverse",
    "default",
    "true",
    "false",
    "if",
    "else",
    "foreach",
    "in",
    "return",
    "break",
    "continue",
    "dispatch",
    "destroy",
    "fail",
    "for",
    "while",
    "do",
    "verbatim",
    "timer",
    "nodes",
    "node",
    "global",
];

/// For advice: a name for the thread that a threadref of the thread `taken` names.
pub(crate) fn another_name(taken: &str) -> &'static str {
    if taken == "u" { "o" } else { "u" }
}

/// The candidate that `word` is most likely a misspelling of.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).min(3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= allowed.max(2))
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(steps, candidate)| *steps > 0 && (*steps <= allowed || candidate.eq_ignore_ascii_case(word)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters must be changed, added, removed or swapped with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().take(64).collect(), right.chars().take(64).collect());
    let mut before: Vec<usize> = vec![0; right.len() + 1];
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut next = vec![i + 1; right.len() + 1];
        for (j, b) in right.iter().enumerate() {
            let mut steps = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                steps = steps.min(before[j - 1] + 1);
            }
            next[j + 1] = steps;
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["ready", "current", "next", "RQ"];
        assert_eq!(nearest("raedy", names), Some("ready"));
        assert_eq!(nearest("curent", names), Some("current"));
        assert_eq!(nearest("rq", names), Some("RQ"));
        assert_eq!(nearest("acceptors", names), None);
        assert_eq!(nearest("ready", ["ready"]), None);
        assert_eq!(nearest("y", ["t"]), None);
    }
}
