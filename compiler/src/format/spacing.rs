//! Where a statement has spaces, and where its line can be broken.

use super::scan::{Kind, Token};

/// The gap before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) space: bool,
    /// How bad a line break is here: the lower the better. `None`: impossible.
    pub(super) rank: Option<usize>,
    /// After a break here, the new line is not indented further.
    pub(super) line: bool,
}

/// The role of a token, as far as spaces depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A name, a value.
    Operand,
    /// A word that something else follows, such as an operand.
    Keyword,
    /// `(`, `[`, the first bar of `|c|`
    Open,
    /// The ends of these.
    Close,
    /// `-` and `!` before an operand, `++` before a place.
    Prefix,
    /// `++` after a place.
    Postfix,
    /// `.`
    Dot,
    /// `,` and `;`
    Stop,
    /// The second bar of `||`.
    Second,
    /// Operators between operands, braces, and all else.
    Other,
}

/// Words before a parenthesis that does not open the arguments of a call.
const KEYWORDS: [&str; 11] =
    ["if", "else", "while", "for", "foreach", "do", "return", "in", "default", "on", "reverse"];

/// The gaps in a line of a framework description that is not a statement: `( schedule exit )*`, `t: READY -> BLOCKED`,
/// `"cc", "-O2"`.
pub(super) fn of_words(tokens: &[Token]) -> Vec<Gap> {
    let mut depth = 0_usize;
    let mut gaps = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        depth = depth.saturating_sub(usize::from(token.text == ")"));
        let tied = index == 0 || tokens[index - 1].text == "." || matches!(token.text, "." | "," | ":" | "*" | "?");
        let badness = if token.text == "|" {
            2
        } else if index > 0 && tokens[index - 1].text == "," {
            1
        } else {
            9
        };
        let rank = if tied || token.text == ")" { None } else { Some(depth * 10 + badness) };
        gaps.push(Gap { space: !tied, rank, line: depth == 0 });
        depth += usize::from(token.text == "(");
    }
    gaps
}

/// The gaps in a statement, or in the head of one.
pub(super) fn of_statement(tokens: &[Token]) -> Vec<Gap> {
    let roles = roles(tokens);
    let mut depth = 0_usize;
    let mut gaps = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        if matches!(token.text, ")" | "]" | "}") {
            depth = depth.saturating_sub(1);
        }
        let Some(before) = index.checked_sub(1) else {
            gaps.push(Gap { space: false, rank: None, line: false });
            depth += usize::from(matches!(token.text, "(" | "[" | "{"));
            continue;
        };
        let wanted = space((tokens[before].text, roles[before]), (token.text, roles[index]));
        let space = wanted || merges(tokens, before);
        let rank = badness((tokens[before].text, roles[before]), (token.text, roles[index]), space);
        let rank = rank.filter(|_| token.kind != Kind::Verbatim);
        let rank = rank.map(|rank| if rank == LAST_RESORT { rank } else { depth * 10 + rank });
        gaps.push(Gap { space, rank, line: false });
        depth += usize::from(matches!(token.text, "(" | "[" | "{"));
    }
    gaps
}

fn space(before: (&str, Role), after: (&str, Role)) -> bool {
    if matches!(before.1, Role::Open | Role::Prefix | Role::Dot) || matches!(after.1, Role::Close | Role::Postfix) {
        return false;
    }
    match after.0 {
        "." | "," | ";" => false,
        "(" | "[" if after.1 == Role::Open => !matches!(before.1, Role::Operand | Role::Close),
        _ => after.1 != Role::Second,
    }
}

/// Whether two tokens would be read as something else without a space between them.
fn merges(tokens: &[Token], before: usize) -> bool {
    let (left, right) = (&tokens[before], &tokens[before + 1]);
    let letters = |token: &Token| matches!(token.kind, Kind::Word | Kind::Value);
    let doubled = matches!(left.text, "+" | "-") && right.text.starts_with(left.text);
    let comment = left.text == "/" && (right.text.starts_with('/') || right.text.starts_with('*'));
    let longer = matches!(left.text, "=" | "!" | "<" | ">" | "+" | "-" | "*" | "/" | "%")
        && (right.text.starts_with('=') || right.text.starts_with('>'));
    let fraction = left.kind == Kind::Value && right.text == ".";
    (letters(left) && letters(right)) || doubled || comment || longer || fraction
}

/// The rank of the worst places, on any level of brackets.
const LAST_RESORT: usize = usize::MAX;

/// How bad a line break is between two tokens on one level of brackets. `None`: impossible.
fn badness(before: (&str, Role), after: (&str, Role), space: bool) -> Option<usize> {
    match (before.0, after.0) {
        (_, "(") if before.1 == Role::Keyword => None,
        ("(", _) if after.1 != Role::Close => Some(8),
        (_, _) if !space => None,
        (";", _) => Some(0),
        (_, "?") => Some(1),
        (",", _) | (_, "=>") => Some(1),
        (_, "|" | "^" | "&") if after.1 == Role::Other => Some(2),
        (_, "&&") => Some(3),
        (_, "==" | "!=" | "<" | "<=" | ">" | ">=") => Some(4),
        (_, "<<" | ">>") => Some(4),
        (_, "+" | "-") if after.1 == Role::Other => Some(5),
        (_, "*" | "/" | "%") if after.1 == Role::Other => Some(6),
        ("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=", _) => Some(7),
        (_, _) => Some(LAST_RESORT),
    }
}

/// An operand is expected at the start, after operators and after keywords; elsewhere, an operator.
fn roles(tokens: &[Token]) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::with_capacity(tokens.len());
    // The open brackets. A bar is closed by a bar.
    let mut open: Vec<&str> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let ended = matches!(roles.last(), Some(Role::Operand | Role::Close | Role::Postfix));
        let bar_follows =
            tokens.get(index + 1).is_some_and(|next| next.text == "|" && next.start == token.start + token.text.len());
        let role = match (token.kind, token.text) {
            (Kind::Word, word) if KEYWORDS.contains(&word) && roles.last() != Some(&Role::Dot) => Role::Keyword,
            (Kind::Word | Kind::Value | Kind::Verbatim, _) => Role::Operand,
            (_, "*") if !ended => Role::Operand,
            (_, "-" | "!" | "+" | "~" | "++" | "--") if !ended => Role::Prefix,
            (_, "++" | "--") => Role::Postfix,
            // In a scenario: `expect share of A = 50% within 2%;`
            (_, "%") if tokens[0].text == "expect" && ends_after_percent(tokens.get(index + 1)) => Role::Postfix,
            (_, "|") if !ended && !second_bar(&roles, tokens, index) => {
                open.push("|");
                Role::Open
            }
            (_, "|") if second_bar(&roles, tokens, index) => Role::Second,
            (_, "|") if open.last() == Some(&"|") => {
                open.pop();
                Role::Close
            }
            (_, "|") if bar_follows => Role::Other,
            (_, opening @ ("(" | "[")) => {
                open.push(opening);
                Role::Open
            }
            (_, ")" | "]") => {
                open.pop();
                Role::Close
            }
            (_, ".") => Role::Dot,
            (_, "," | ";") => Role::Stop,
            _ => Role::Other,
        };
        roles.push(role);
    }
    roles
}

/// Whether a `%` before this token is not an operator.
fn ends_after_percent(next: Option<&Token>) -> bool {
    next.is_none_or(|next| matches!(next.text, ";" | "within" | "because"))
}

/// Whether this bar is the second one of `||`.
fn second_bar(roles: &[Role], tokens: &[Token], index: usize) -> bool {
    let Some(before) = index.checked_sub(1) else { return false };
    tokens[before].text == "|"
        && roles[before] == Role::Other
        && tokens[before].start + tokens[before].text.len() == tokens[index].start
}
