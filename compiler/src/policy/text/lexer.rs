//! Splits the text form into words.

use super::read::ReadError;
use crate::vocabulary::Float;

/// One word of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(u64),
    Float(Float),
    Text(String),
    Symbol(&'static str),
    End,
}

/// Longest first, so that `==` is not read as `=` and `=`.
const SYMBOLS: [&str; 35] = [
    "..", "=>", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "&", "^", "=", "<", ">", "+", "-", "*", "/", "%", "!",
    "|", "(", ")", "[", "]", "{", "}", ",", ":", ";", "@", "#", ".", "?",
];

/// The words, with the line of each. The last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, ReadError> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\n' {
            line += 1;
            1
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            let (content, length) = quoted(rest, line)?;
            found.push((Token::Text(content), line));
            length
        } else if first.is_ascii_digit() {
            let digits = |text: &str| text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
            let length = digits(rest);
            if let Some(length) = fraction_end(rest, length, digits) {
                let Ok(number) = rest[..length].parse::<f64>() else {
                    return Err(ReadError::new(line, format!("`{}` is no number", &rest[..length])));
                };
                found.push((Token::Float(Float::new(number)), line));
                rest = &rest[length..];
                continue;
            }
            let Ok(number) = rest[..length].parse() else {
                return Err(ReadError::new(line, format!("the number `{}` is too big", &rest[..length])));
            };
            found.push((Token::Number(number), line));
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest
                .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
                .unwrap_or(rest.len());
            found.push((Token::Word(rest[..length].to_owned()), line));
            length
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            found.push((Token::Symbol(symbol), line));
            symbol.len()
        } else {
            return Err(ReadError::new(line, format!("`{}` begins no word", first.escape_debug())));
        };
        rest = &rest[length..];
    }
    found.push((Token::End, line));
    Ok(found)
}

/// The end of a number that starts with `digits` digits, if it has a fraction or an exponent.
fn fraction_end(text: &str, digits: usize, count: impl Fn(&str) -> usize) -> Option<usize> {
    let mut end = digits;
    if let Some(fraction) = text[end..].strip_prefix('.') {
        end += if count(fraction) > 0 { 1 + count(fraction) } else { 0 };
    }
    if let Some(exponent) = text[end..].strip_prefix('e') {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let length = count(&exponent[sign..]);
        end += if length > 0 { 1 + sign + length } else { 0 };
    }
    (end > digits).then_some(end)
}

/// The content of the quoted text at the start of `rest`, and its length with the quotes.
fn quoted(rest: &str, line: usize) -> Result<(String, usize), ReadError> {
    let unfinished = || ReadError::new(line, "this text has no closing `\"`");
    let mut content = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Ok((content, index + 1)),
            '\n' => return Err(unfinished()),
            '\\' => match characters.next() {
                Some((_, escaped @ ('"' | '\\'))) => content.push(escaped),
                Some((_, 'u')) => {
                    let digits: String = characters
                        .by_ref()
                        .map(|(_, digit)| digit)
                        .skip(1)
                        .take_while(|digit| *digit != '}')
                        .take(8)
                        .collect();
                    let scalar = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    content
                        .push(scalar.ok_or_else(|| ReadError::new(line, "`\\u{…}` needs the number of a character"))?);
                }
                Some(_) | None => return Err(ReadError::new(line, "after `\\` comes `\"`, `\\` or `u{…}`")),
            },
            _ => content.push(character),
        }
    }
    Err(unfinished())
}

impl Token {
    /// The word, for messages.
    pub fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Float(number) => format!("`{number:?}`"),
            Token::Text(_) => "a quoted text".to_owned(),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end of the text".to_owned(),
        }
    }
}
