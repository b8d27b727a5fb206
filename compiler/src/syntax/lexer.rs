//! Splits text into tokens, one at a time, for policies and framework descriptions.

use crate::vocabulary::{At, UNITS};

use super::raw::closing_brace;

/// A word, number, string or sign, and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) at: At,
}

/// The kind of a token. Keywords are `Word` too, because most of them are names in other places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A letter or `_`, then letters, digits and `_`.
    Word,
    /// Saturated at `u64::MAX`.
    Number(u64),
    /// `25ms`, in nanoseconds; saturated at `u64::MAX`.
    Duration(u64),
    /// `1.5`, `2e3`; infinite if it is too high.
    Float(f64),
    /// With its quotes; see [`unescape`].
    Text,
    /// Brackets, punctuation and operators. `||` is two `|`, and `|=` is `|` and `=`: consider `|a|||b|` and `|a|==b`.
    Sign(&'static str),
    /// Not a token of the language.
    Bad(Bad),
    /// The end of the file, repeated forever.
    End,
}

/// Why something is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// One or more characters that the language does not use.
    Characters,
    /// `/*` without `*/`.
    Comment,
    /// A string that does not end on its line.
    Text,
    /// A string with an escape of other languages, such as `\n`.
    Escape,
    /// `0x`, `08`, `12ab`.
    Number,
    /// `1.5ms`, `1.5x`
    Fraction,
}

/// Longer signs first.
pub(super) const SIGNS: [&str; 44] = [
    "=>", "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "<<", ">>", "&=", "^=", "++", "--", "+=", "-=", "*=", "/=", "%=",
    "->", "{", "}", "(", ")", "[", "]", ",", ";", ":", ".", "|", "+", "-", "*", "/", "%", "<", ">", "=", "!", "?", "&",
    "^", "~",
];

/// Reads tokens from the start of a text to its end.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    offset: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer { text, offset, line: 1 }
    }

    /// The next token. After the last one: always `End`.
    pub(crate) fn next(&mut self) -> Token {
        if let Some(unclosed) = self.skip_blank() {
            return unclosed;
        }
        let (start, line) = (self.offset, self.line);
        let kind = self.kind();
        self.line += newlines(&self.text[start..self.offset]);
        Token { kind, at: place(start, self.offset, line) }
    }

    /// A lexer of the same text that continues after the token.
    pub(crate) fn after(&self, token: At) -> Self {
        Lexer { text: self.text, offset: token.end as usize, line: token.line }
    }

    /// A lexer of a part of a text. `text` ends where the part does.
    pub(crate) fn within(text: &'a str, part: At) -> Self {
        Lexer { text, offset: part.start as usize, line: part.line }
    }

    /// Where the next token is looked for.
    pub(super) fn start(&self) -> u32 {
        u32::try_from(self.offset).unwrap_or(u32::MAX)
    }

    /// The line of the current position.
    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    /// Skips the rest of a block and its `}`. Returns the place of the text before the `}`. `None`: it is not closed.
    pub(crate) fn raw(&mut self) -> Option<At> {
        let (start, line) = (self.offset, self.line);
        let length = closing_brace(&self.text[start..])?;
        self.offset += length + 1;
        self.line += newlines(&self.text[start..self.offset]);
        Some(place(start, start + length, line))
    }

    /// Skips white space and comments. An unclosed comment is returned as a token that covers its `/*`.
    fn skip_blank(&mut self) -> Option<Token> {
        loop {
            let (start, line) = (self.offset, self.line);
            let rest = &self.text[start..];
            if rest.starts_with("//") {
                self.offset += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(inside) = rest.strip_prefix("/*") {
                let Some(length) = inside.find("*/") else {
                    self.offset = self.text.len();
                    self.line += newlines(rest);
                    return Some(Token { kind: TokenKind::Bad(Bad::Comment), at: place(start, start + 2, line) });
                };
                self.offset += length + 4;
            } else {
                self.offset += rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
                if self.offset == start {
                    return None;
                }
            }
            self.line += newlines(&self.text[start..self.offset]);
        }
    }

    /// Skips the token that starts here, and returns its kind.
    fn kind(&mut self) -> TokenKind {
        let rest = &self.text[self.offset..];
        let Some(first) = rest.chars().next() else {
            return TokenKind::End;
        };
        if is_letter(first) {
            self.offset += rest.find(|c| !is_letter_or_digit(c)).unwrap_or(rest.len());
            return TokenKind::Word;
        }
        if first.is_ascii_digit() {
            return self.number(rest);
        }
        if first == '"' {
            return self.string(rest);
        }
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.offset += sign.len();
            return TokenKind::Sign(sign);
        }
        self.offset += rest.find(is_known).unwrap_or(rest.len());
        TokenKind::Bad(Bad::Characters)
    }

    fn number(&mut self, rest: &str) -> TokenKind {
        let written = &rest[..rest.find(|c| !is_letter_or_digit(c)).unwrap_or(rest.len())];
        let start = self.offset;
        self.offset += written.len();
        if let Some(end) = fraction_end(rest) {
            let more = rest[end..].find(|c| !is_letter_or_digit(c)).unwrap_or(rest.len() - end);
            self.offset = start + end + more;
            return match rest[..end].parse() {
                Ok(float) if more == 0 && !(rest.starts_with('0') && digits(rest) > 1) => TokenKind::Float(float),
                Ok(_) | Err(_) => TokenKind::Bad(Bad::Fraction),
            };
        }
        let (digits, radix) = match written.strip_prefix("0x").or_else(|| written.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (written, 10),
        };
        let unit = written.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = &written[..written.len() - unit.len()];
        if let Some((_, length)) = UNITS.into_iter().find(|(name, _)| *name == unit)
            && (count.len() == 1 || !count.starts_with('0'))
        {
            let count: u64 = count.parse().unwrap_or(u64::MAX);
            return TokenKind::Duration(count.saturating_mul(length.unsigned_abs()));
        }
        let octal = radix == 10 && digits.len() > 1 && digits.starts_with('0');
        if digits.is_empty() || octal || !digits.chars().all(|c| c.is_digit(radix)) {
            return TokenKind::Bad(Bad::Number);
        }
        TokenKind::Number(u64::from_str_radix(digits, radix).unwrap_or(u64::MAX))
    }

    fn string(&mut self, rest: &str) -> TokenKind {
        let (mut escaped, mut known) = (false, true);
        for (index, c) in rest.char_indices().skip(1) {
            match c {
                '\n' => {
                    self.offset += index;
                    return TokenKind::Bad(Bad::Text);
                }
                '"' if !escaped => {
                    self.offset += index + 1;
                    return if known { TokenKind::Text } else { TokenKind::Bad(Bad::Escape) };
                }
                _ => {
                    known &= !escaped || matches!(c, '"' | '\\');
                    escaped = c == '\\' && !escaped;
                }
            }
        }
        self.offset = self.text.len();
        TokenKind::Bad(Bad::Text)
    }
}

/// The end of the number that the text starts with, if that has a fraction or an exponent.
fn fraction_end(text: &str) -> Option<usize> {
    let mut end = digits(text);
    if let Some(fraction) = text[end..].strip_prefix('.')
        && digits(fraction) > 0
    {
        end += 1 + digits(fraction);
    }
    if let Some(exponent) = text[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let length = digits(&exponent[sign..]);
        end += if length > 0 { 1 + sign + length } else { 0 };
    }
    (end > digits(text)).then_some(end)
}

/// How many digits a text starts with.
fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// The value of a string token: without the quotes, and with `"` for `\"` and `\` for `\\`.
pub(crate) fn unescape(written: &str) -> String {
    let inside = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(written);
    let mut meant = String::with_capacity(inside.len());
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        meant.push(if c == '\\' { characters.next().unwrap_or(c) } else { c });
    }
    meant
}

/// Whether a token or white space can start with this character.
fn is_known(c: char) -> bool {
    c.is_whitespace() || is_letter_or_digit(c) || c == '"' || SIGNS.iter().any(|sign| sign.starts_with(c))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_letter_or_digit(c: char) -> bool {
    is_letter(c) || c.is_ascii_digit()
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Offsets fit: a source is no longer than [`crate::source::Source::LONGEST_SCENARIOS`].
fn place(start: usize, end: usize, line: u32) -> At {
    At { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX), line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| Some(lexer.next().kind).filter(|kind| *kind != TokenKind::End)).collect()
    }

    #[test]
    fn bars_stay_single() {
        let bar = TokenKind::Sign("|");
        assert_eq!(kinds("|a||||b|"), [bar, TokenKind::Word, bar, bar, bar, bar, TokenKind::Word, bar]);
    }

    #[test]
    fn numbers() {
        assert_eq!(kinds("0 42 0x2A"), [TokenKind::Number(0), TokenKind::Number(42), TokenKind::Number(42)]);
        assert_eq!(kinds("99999999999999999999"), [TokenKind::Number(u64::MAX)]);
        assert_eq!(kinds("1.5 2e3 1E-3"), [TokenKind::Float(1.5), TokenKind::Float(2000.0), TokenKind::Float(0.001)]);
        let point = TokenKind::Sign(".");
        assert_eq!(kinds("1. 2.x"), [TokenKind::Number(1), point, TokenKind::Number(2), point, TokenKind::Word]);
        assert_eq!(kinds("25ms 0ns"), [TokenKind::Duration(25_000_000), TokenKind::Duration(0)]);
        assert_eq!(kinds("99999999999999999999s"), [TokenKind::Duration(u64::MAX)]);
        let bad = [
            ("010", Bad::Number),
            ("0x", Bad::Number),
            ("1a", Bad::Number),
            ("025ms", Bad::Number),
            ("25min", Bad::Number),
            ("1.5ms", Bad::Fraction),
            ("01.5", Bad::Fraction),
            ("1e5x", Bad::Fraction),
        ];
        for (text, why) in bad {
            assert_eq!(kinds(text), [TokenKind::Bad(why)], "{text}");
        }
    }

    #[test]
    fn lines_count_through_comments_and_strings() {
        let mut lexer = Lexer::new("\u{feff}a // x\n/* y\n */ b \"c\n d");
        let mut lines = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == TokenKind::End {
                break;
            }
            lines.push((token.kind, token.at.line));
        }
        assert_eq!(
            lines,
            [(TokenKind::Word, 1), (TokenKind::Word, 3), (TokenKind::Bad(Bad::Text), 3), (TokenKind::Word, 4)]
        );
    }

    #[test]
    fn strange_characters_come_in_one_piece() {
        assert_eq!(kinds("§§° a"), [TokenKind::Bad(Bad::Characters), TokenKind::Word]);
        assert_eq!(kinds("/* a"), [TokenKind::Bad(Bad::Comment)]);
    }

    #[test]
    fn strings_mean_what_they_say() {
        assert_eq!(unescape(r#""a \"b\" \\""#), r#"a "b" \"#);
    }
}
