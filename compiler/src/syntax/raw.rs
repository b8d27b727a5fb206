//! Text of another language. Only its strings and comments are recognised.
//!
//! Both are those of C: `"…"` and `'…'`, which end on their line (a quote that is not closed there is an ordinary
//! character), `//` to the end of the line, and `/* … */`.

use std::ops::Range;

/// The offset of the `}` that closes the block open at the start of a text, not counting strings and comments.
pub(crate) fn closing_brace(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for code in code(text) {
        for (offset, byte) in text[code.clone()].bytes().enumerate() {
            match byte {
                b'{' => open += 1,
                b'}' if open == 0 => return Some(code.start + offset),
                b'}' => open -= 1,
                _ => {}
            }
        }
    }
    None
}

/// A part of a text: `$name` or `$thread.member`, or the text between these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Is copied.
    Text(Range<usize>),
    /// The name after `$`, and the name after a dot that follows immediately.
    Name(Range<usize>, Option<Range<usize>>),
}

/// The parts of a text in order. `$` is an ordinary character in strings, in comments and where no name follows it.
pub(crate) fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut copied = 0;
    for code in code(text) {
        let mut next = code.start;
        while let Some(sign) = text[next..code.end].find('$').map(|found| next + found) {
            let name = sign + 1..word_end(text, sign + 1);
            next = name.end;
            if name.is_empty() {
                continue;
            }
            let dot = text[name.end..].starts_with('.');
            let member = name.end + 1..if dot { word_end(text, name.end + 1) } else { name.end + 1 };
            let member = Some(member).filter(|member| !member.is_empty());
            if copied < sign {
                parts.push(Part::Text(copied..sign));
            }
            copied = member.as_ref().map_or(name.end, |member| member.end);
            next = copied;
            parts.push(Part::Name(name, member));
        }
    }
    if copied < text.len() {
        parts.push(Part::Text(copied..text.len()));
    }
    parts
}

/// The end of the name at `start`; `start` if there is none.
fn word_end(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !rest.starts_with(letter) {
        return start;
    }
    start + rest.find(|c: char| !letter(c) && !c.is_ascii_digit()).unwrap_or(rest.len())
}

/// The ranges outside strings and comments, in order.
fn code(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        while next < text.len() {
            let start = next;
            let rest = &text[start..];
            let length = match quoted(rest) {
                Some(length) => {
                    next = start + length;
                    continue;
                }
                // At least one character: the one that could have started a string or comment.
                None => {
                    let first = rest.chars().next().map_or(0, char::len_utf8);
                    first + rest[first..].find(['"', '\'', '/']).unwrap_or(rest.len() - first)
                }
            };
            next = start + length;
            return Some(start..next);
        }
        None
    })
}

/// The length of the string or comment that the text starts with, if any. An unclosed comment is as long as the text.
fn quoted(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if let Some(inside) = text.strip_prefix("/*") {
        return Some(inside.find("*/").map_or(text.len(), |length| length + 4));
    }
    let quote = text.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return None,
            _ if c == quote && !escaped => return Some(index + 1),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_counted_in_code_alone() {
        for inside in
            ["", "{}", "\"}\"", "'}'", "'\\''", "/* } */", "// }\n", "a / b", "don't ", "\"a\\\"}\"", "{ /* { */ }"]
        {
            let text = format!("{inside}}} }}");
            assert_eq!(closing_brace(&text), Some(inside.len()), "{text}");
        }
        for unclosed in ["", "{ }", "/* }", "// }", "\"}\"", "é {}"] {
            assert_eq!(closing_brace(unclosed), None, "{unclosed}");
        }
    }

    #[test]
    fn names_follow_a_dollar_outside_strings() {
        let text = "$a = $t.b + \"$c\" $ $1 /* $d */ $e.";
        let shown: Vec<String> = parts(text)
            .into_iter()
            .map(|part| match part {
                Part::Text(range) => format!("'{}'", &text[range]),
                Part::Name(name, None) => text[name].to_owned(),
                Part::Name(name, Some(member)) => format!("{} of {}", &text[member], &text[name]),
            })
            .collect();
        assert_eq!(shown, ["a", "' = '", "b of t", "' + \"$c\" $ $1 /* $d */ '", "e", "'.'"]);
    }
}
