//! The base of all parse functions: the current token, expectations, messages, and recovery after an error.
//!
//! The parser never backtracks, so its time is linear in the text. After [`MOST_ERRORS`] errors, or where the text is
//! nested deeper than [`DEEPEST`], it skips the rest.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Source, Used};
use crate::vocabulary::{At, UNITS, in_unit};

use super::ast::{Lost, Name};
use super::lexer::{Bad, Lexer, Token, TokenKind};
use super::words::RESERVED;
use super::{Dialect, Feature};

/// How deep blocks and expressions can be nested; operators in a row (`a + b + c`) and `else if` count too.
pub(crate) const DEEPEST: usize = 100;
/// How many syntax errors are reported for one file.
const MOST_ERRORS: usize = 50;

/// An error that has been reported.
#[derive(Debug)]
pub(crate) struct Reported;

pub(crate) type Parse<T> = Result<T, Reported>;

/// A pair of braces that probably do not belong together.
struct Stray {
    opened: At,
    closed: At,
    /// What they enclose.
    what: String,
}

pub(crate) struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// The token to be read next.
    pub(crate) token: Token,
    /// The token after that.
    pub(crate) following: Token,
    /// The place of the token read last.
    pub(crate) previous: At,
    /// The optional parts that exist. `None` in a framework description: all exist.
    pub(crate) dialect: Option<&'a Dialect>,
    /// `E0101` in a policy, `E0201` in a framework description.
    pub(super) code: &'static str,
    pub(crate) diagnostics: &'a mut Diagnostics,
    pub(crate) lost: Lost,
    pub(crate) depth: usize,
    /// If set, `%` is not an operator at the end of an expression: `50%`.
    pub(crate) percent_ends: bool,
    /// Where the last error was reported. A second error at the same place would only follow from it.
    reported: Option<u32>,
    /// The token before which an unclosed block was found. The enclosing blocks are unclosed there too.
    unclosed: Option<u32>,
    /// Blocks whose closing brace is indented less than they are. It was probably meant for another block.
    strays: Vec<Stray>,
    errors: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(
        source: &'a Source,
        dialect: Option<&'a Dialect>,
        code: &'static str,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self::over(&source.text, Lexer::new(&source.text), dialect, code, diagnostics)
    }

    /// Reads a file that a source uses.
    pub(super) fn of_used(
        source: &'a Source,
        used: &Used,
        dialect: Option<&'a Dialect>,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let text = source.whole();
        let lexer = Lexer::within(&text[..used.end as usize], At { start: used.start, end: used.end, line: 1 });
        Self::over(text, lexer, dialect, "E0101", diagnostics)
    }

    fn over(
        text: &'a str,
        mut lexer: Lexer<'a>,
        dialect: Option<&'a Dialect>,
        code: &'static str,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let start = lexer.start();
        let (token, following) = (lexer.next(), lexer.next());
        let previous = At { start, end: start, line: 1 };
        let lost = Lost::default();
        Parser {
            text,
            lexer,
            token,
            following,
            previous,
            dialect,
            code,
            diagnostics,
            lost,
            depth: 0,
            percent_ends: false,
            reported: None,
            unclosed: None,
            strays: Vec::new(),
            errors: 0,
        }
    }

    /// The source text at a place.
    pub(crate) fn written(&self, at: At) -> &'a str {
        self.text.get(at.start as usize..at.end as usize).unwrap_or_default()
    }

    /// The current token, if it is a word.
    pub(crate) fn word(&self) -> Option<&'a str> {
        (self.token.kind == TokenKind::Word).then(|| self.written(self.token.at))
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token.kind, TokenKind::Sign(found) if found == sign)
    }

    pub(crate) fn follows_sign(&self, sign: &str) -> bool {
        matches!(self.following.kind, TokenKind::Sign(found) if found == sign)
    }

    pub(crate) fn follows_word(&self, word: &str) -> bool {
        self.following.kind == TokenKind::Word && self.written(self.following.at) == word
    }

    pub(crate) fn is_end(&self) -> bool {
        self.token.kind == TokenKind::End
    }

    pub(crate) fn advance(&mut self) -> Token {
        let read = self.token;
        if read.kind != TokenKind::End {
            self.previous = read.at;
            self.token = self.following;
            self.following = self.lexer.next();
        }
        read
    }

    /// Reads text of another language in braces; the current token is its `{`. Returns the text inside and its place.
    pub(crate) fn raw_block(&mut self, what: &str) -> Parse<(String, At)> {
        if !self.is_sign("{") {
            return Err(self.expected("`{`"));
        }
        // The token after the brace has already been read as a token of this language: go back to the brace.
        let opened = self.token.at;
        self.lexer = self.lexer.after(opened);
        let Some(inside) = self.lexer.raw() else {
            let title = format!("{what} is never closed");
            let reported = self.report(
                Diagnostic::error("E0109", title, opened, "opened here")
                    .help("end it with `}`; braces within strings and comments do not count"),
            );
            self.give_up();
            return Err(reported);
        };
        self.previous = At { start: inside.end, end: inside.end + 1, line: self.lexer.line() };
        self.closed(opened, what);
        (self.token, self.following) = (self.lexer.next(), self.lexer.next());
        Ok((self.written(inside).to_owned(), inside))
    }

    /// Whether a part of a line has something that is no token.
    pub(super) fn bad_within(&self, part: At) -> bool {
        let mut lexer = Lexer::within(self.written(At { start: 0, ..part }), part);
        loop {
            match lexer.next().kind {
                TokenKind::End => return false,
                TokenKind::Bad(_) => return true,
                TokenKind::Word | TokenKind::Number(_) | TokenKind::Duration(_) | TokenKind::Float(_) => {}
                TokenKind::Text | TokenKind::Sign(_) => {}
            }
        }
    }

    /// Reads a part of a line that is within a token, and returns to that. Errors of syntax get the code.
    pub(super) fn apart<T>(
        &mut self,
        part: At,
        code: &'static str,
        parse: impl FnOnce(&mut Self) -> Parse<T>,
    ) -> Parse<T> {
        let before = (self.lexer.clone(), self.token, self.following, self.previous, self.code);
        self.lexer = Lexer::within(self.written(At { start: 0, ..part }), part);
        self.code = code;
        self.previous = At { start: part.start, end: part.start, ..part };
        (self.token, self.following) = (self.lexer.next(), self.lexer.next());
        let read = parse(self);
        // After the last error that is reported, the rest of the file is not read.
        if self.errors < MOST_ERRORS {
            (self.lexer, self.token, self.following, self.previous, _) = before;
        }
        self.code = before.4;
        read
    }

    pub(crate) fn eat_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// From a place to the end of the token read last.
    pub(crate) fn since(&self, start: At) -> At {
        start.to(self.previous)
    }

    /// Reports that `what` was expected here.
    pub(crate) fn expected(&mut self, what: &str) -> Reported {
        let unexpected = self.unexpected(what);
        let habit = self.habit();
        self.report(match habit {
            Some(habit) => unexpected.help(habit),
            None => unexpected,
        })
    }

    /// Whether this is a policy, not a framework description.
    pub(crate) fn reads_policy(&self) -> bool {
        self.code == "E0101"
    }

    /// The error that `what` was expected here. The caller completes and reports it.
    pub(crate) fn unexpected(&self, what: &str) -> Diagnostic {
        let at = self.token.at;
        let found = match self.token.kind {
            TokenKind::End if self.code == "E0334" => "`}`".to_owned(),
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Text => "a string".to_owned(),
            TokenKind::Word if RESERVED.contains(&self.written(at)) => format!("the word `{}`", self.written(at)),
            TokenKind::Word
            | TokenKind::Number(_)
            | TokenKind::Duration(_)
            | TokenKind::Float(_)
            | TokenKind::Sign(_) => {
                format!("`{}`", self.written(at))
            }
            TokenKind::Bad(bad) => return self.bad(bad),
        };
        Diagnostic::error(self.code, format!("expected {what}, found {found}"), at, format!("expected {what}"))
    }

    fn bad(&self, bad: Bad) -> Diagnostic {
        let at = self.token.at;
        let written = self.written(at);
        let wrong = |title: String, label: &str| Diagnostic::error("E0102", title, at, label);
        match bad {
            Bad::Characters => {
                let shown: String = written.chars().take(8).flat_map(char::escape_debug).collect();
                let title = format!("`{shown}` is not part of the language");
                let wrong = wrong(title, "not part of the language");
                if written.starts_with('#') {
                    return wrong.help(
                        "a comment starts with `//`, and a constant is declared in `data { const int MOST = 8; }`",
                    );
                }
                wrong.help("outside comments and strings use letters, digits and signs of ASCII only")
            }
            Bad::Comment => wrong("a comment is never closed".to_owned(), "it starts here").help("end it with `*/`"),
            Bad::Text => {
                wrong("a string does not end on its line".to_owned(), "it starts here").help("end it with `\"`")
            }
            Bad::Escape => wrong("only `\"` or `\\` can follow a backslash".to_owned(), "in this string")
                .help("write `\\\\` for a backslash"),
            Bad::Number
                if written.len() > 1
                    && written.starts_with('0')
                    && written.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                wrong(format!("`{written}` starts with a zero"), "not a number of the language")
                    .note("there are decimal numbers (`10`) and hexadecimal ones (`0x0a`), but no octal ones")
            }
            Bad::Number => wrong(format!("`{written}` is neither a number nor a name"), "not a number of the language")
                .help("a number is decimal (`10`) or hexadecimal (`0x0a`), a duration is decimal with `s`, `ms`, `us` or `ns` (`10ms`); a name starts with a letter or `_`"),
            Bad::Fraction => {
                let fraction = wrong(format!("`{written}` is not a number"), "not a number of the language");
                if let Some(help) = in_shorter_units(written) {
                    fraction.help(help)
                } else {
                    fraction.help("a number with a fraction is decimal (`1.5`, `2e-3`), and a duration a whole number with `s`, `ms`, `us` or `ns` (`1500us`)")
                }
            }
        }
    }

    /// Adds the message, unless the previous one was about the same place.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let start = diagnostic.primary.0.start;
        if self.errors < MOST_ERRORS && self.reported != Some(start) {
            self.reported = Some(start);
            // An unclosed comment hides the rest of the file.
            let hidden = self.token.kind == TokenKind::Bad(Bad::Comment) && start == self.token.at.start;
            self.errors += 1;
            let last = self.errors == MOST_ERRORS;
            self.diagnostics.push(if last {
                diagnostic.note("there may be more errors; the rest of the file was not read")
            } else {
                diagnostic
            });
            if last || hidden {
                self.give_up();
            }
        }
        Reported
    }

    /// Reports an optional part of the language if this framework does not have it. Returns whether it reported that.
    pub(crate) fn demand(&mut self, feature: Feature, what: &str, at: At) -> bool {
        let Some(missing) = self.dialect.and_then(|dialect| dialect.lacking(feature, what, at)) else { return false };
        self.report(missing);
        true
    }

    /// Skips the rest of the file, and reports nothing more.
    pub(crate) fn give_up(&mut self) {
        self.errors = MOST_ERRORS;
        self.lost.handlers = true;
        let end = At { start: self.token.at.end, end: self.token.at.end, line: self.token.at.line };
        self.lexer = Lexer::new("");
        self.token = Token { kind: TokenKind::End, at: end };
        self.following = self.token;
    }

    /// Runs a parse function one level deeper.
    pub(crate) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.check_depth(self.depth + 1)?;
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub(crate) fn check_depth(&mut self, depth: usize) -> Parse<()> {
        if depth <= DEEPEST {
            return Ok(());
        }
        let at = self.token.at;
        let title = format!("this is nested more than {DEEPEST} levels deep");
        let reported = self.report(
            Diagnostic::error("E0106", title, at, "the rest of the file is not read")
                .note("operators in a row and `else if` count as levels")
                .help("split the expression over several variables, or the handler into several conditions"),
        );
        self.give_up();
        Err(reported)
    }

    pub(crate) fn expect_sign(&mut self, sign: &str) -> Parse<At> {
        if self.is_sign(sign) { Ok(self.advance().at) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Parse<At> {
        if self.is_word(word) { Ok(self.advance().at) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Reads the `;` after a statement or declaration. If only the `;` is missing, parsing goes on as if it were there.
    pub(crate) fn expect_semicolon(&mut self) -> Parse<()> {
        if self.eat_sign(";") {
            return Ok(());
        }
        if matches!(self.token.kind, TokenKind::Bad(_)) {
            return Err(self.expected("`;`"));
        }
        let ends_line = self.token.at.line > self.previous.line || self.is_sign("}") || self.is_end();
        if !ends_line {
            return Err(self.expected("`;`"));
        }
        let after = At { start: self.previous.end, ..self.previous };
        let reported = self.report(Diagnostic::error(self.code, "expected `;`", after, "add `;` here"));
        if self.is_end() { Err(reported) } else { Ok(()) }
    }

    /// Reads a name that the policy declares or uses.
    pub(crate) fn name(&mut self, what: &str) -> Parse<Name> {
        match self.word() {
            Some(word) if RESERVED.contains(&word) => {
                let reserved =
                    self.unexpected(what).note(format!("`{word}` is a word of the language and cannot be a name"));
                Err(self.report(reserved))
            }
            Some(word) => Ok(Name { text: word.to_owned(), at: self.advance().at }),
            None => Err(self.expected(what)),
        }
    }

    /// Skips the rest of a statement or declaration: through its `;`, or up to the `}` of the enclosing block or a
    /// handler. Remembers the names since `start`, which may have been declared there.
    pub(crate) fn skip_statement(&mut self, start: At) {
        let mut open = 0_usize;
        while !(self.is_end() || open == 0 && self.starts_handler()) {
            if self.is_sign("{") {
                open += 1;
            } else if self.is_sign("}") {
                if open == 0 {
                    break;
                }
                open -= 1;
                if open == 0 {
                    self.advance();
                    // The list of initial values is followed by a `;`.
                    self.eat_sign(";");
                    break;
                }
            } else if open == 0 && self.is_sign(";") {
                self.advance();
                break;
            } else if let TokenKind::Bad(bad @ (Bad::Text | Bad::Comment)) = self.token.kind {
                // It hides the text after it, so correcting the reported error would not reveal it.
                self.report(self.bad(bad));
            }
            self.advance();
        }
        self.lose(start);
    }

    /// Skips a statement that has the form of a loop and cannot be read.
    pub(crate) fn skip_loop(&mut self, start: At) {
        self.advance();
        if self.eat_sign("(") {
            let mut open = 1_usize;
            while open > 0 && !self.is_end() && !self.is_sign("{") && !self.is_sign("}") {
                open = if self.is_sign("(") { open + 1 } else { open - usize::from(self.is_sign(")")) };
                self.advance();
            }
        }
        self.skip_statement(start);
        if self.written(start).starts_with("do") && self.is_word("while") {
            self.skip_statement(start);
        }
    }

    /// Skips to the `)` of a parenthesis that is already open, and past it.
    pub(crate) fn skip_to_parenthesis(&mut self, start: At) {
        let mut open = 0_usize;
        while !self.is_end() && !self.is_sign("{") && !self.is_sign("}") && !self.is_sign(";") {
            if self.is_sign(")") {
                if open == 0 {
                    self.advance();
                    break;
                }
                open -= 1;
            } else if self.is_sign("(") {
                open += 1;
            }
            self.advance();
        }
        self.lose(start);
    }

    /// Remembers the names in what was read since `start`.
    pub(crate) fn lose(&mut self, start: At) {
        let mut lexer = Lexer::new(self.written(self.since(start)));
        loop {
            let token = lexer.next();
            match token.kind {
                TokenKind::End => break,
                TokenKind::Word => {
                    let at =
                        At { start: start.start + token.at.start, end: start.start + token.at.end, line: start.line };
                    let word = self.written(at);
                    if !RESERVED.contains(&word) {
                        self.lost.names.insert(word.to_owned());
                    }
                }
                TokenKind::Number(_)
                | TokenKind::Duration(_)
                | TokenKind::Float(_)
                | TokenKind::Text
                | TokenKind::Sign(_)
                | TokenKind::Bad(_) => {}
            }
        }
    }

    /// Whether `event NAME`, `query NAME` or `function NAME` follows. No statement starts that way.
    pub(crate) fn starts_handler(&self) -> bool {
        matches!(self.word(), Some("event" | "query" | "function")) && self.following.kind == TokenKind::Word
    }

    /// Remembers a pair of braces that probably do not belong together. The second one was read last.
    fn closed(&mut self, opened: At, what: &str) {
        let closed = self.previous;
        if opened.line != closed.line && self.starts_line(closed) && self.indentation(closed) < self.indentation(opened)
        {
            self.strays.push(Stray { opened, closed, what: what.to_owned() });
        }
    }

    /// Whether `at` is first on its line, and not indented deeper than the line with the opening brace.
    pub(crate) fn is_outdented(&self, opened: At, at: At) -> bool {
        opened.line != at.line && self.starts_line(at) && self.indentation(at) <= self.indentation(opened)
    }

    fn starts_line(&self, at: At) -> bool {
        self.text[..at.start as usize].trim_end_matches([' ', '\t']).ends_with('\n')
    }

    /// The indentation of the line that contains a place.
    fn indentation(&self, at: At) -> usize {
        let start = self.text[..at.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &self.text[start..];
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    /// Reads the `}` of the block that was opened at a place.
    pub(crate) fn expect_close(&mut self, opened: At, what: &str) -> Parse<()> {
        if self.eat_sign("}") {
            self.closed(opened, what);
            return Ok(());
        }
        if self.unclosed.replace(self.token.at.start) == Some(self.token.at.start) {
            return Err(Reported);
        }
        if let Some(stray) = self.strays.iter().find(|stray| stray.opened.start > opened.start) {
            let title = format!("{} is never closed", stray.what);
            let diagnostic = Diagnostic::error("E0109", title, stray.opened, "opened here")
                .related(stray.closed, "by its indentation, this `}` closes something else");
            return Err(self.report(diagnostic.help("end it with a `}` of its own")));
        }
        let found = if self.is_end() {
            "the file ends".to_owned()
        } else {
            format!("`{}` starts", self.written(self.token.at))
        };
        let diagnostic =
            Diagnostic::error("E0109", format!("{found} before {what} is closed"), self.token.at, "expected `}`")
                .related(opened, "opened here");
        Err(self.report(diagnostic))
    }
}

/// Says how to write a duration without its fraction.
fn in_shorter_units(written: &str) -> Option<String> {
    let digits = written.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let unit = &written[digits.len()..];
    let (_, length) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    const RULE: &str = "a duration is a whole number of its unit";
    const NONE_SHORTER: &str = "there is no shorter time than 1ns";
    let too_long = || format!("{RULE}, and this is longer than 292 years");
    let nearest = |nanoseconds: i64| {
        let (count, unit) = in_unit(nanoseconds);
        format!("{RULE}, and {NONE_SHORTER}: the nearest to this is `{count}{unit}`")
    };
    let Some((above, below)) = fraction(digits) else {
        let about = digits.parse::<f64>().ok()? * length as f64;
        return Some(if about < i64::MAX as f64 { nearest(about.round() as i64) } else { too_long() });
    };
    let nanoseconds = above.checked_mul(i128::from(length));
    let nanoseconds = nanoseconds.filter(|nanoseconds| nanoseconds / below < i128::from(i64::MAX));
    let Some(nanoseconds) = nanoseconds else { return Some(too_long()) };
    let whole = i64::try_from(nanoseconds / below).unwrap_or(i64::MAX);
    if nanoseconds % below == 0 {
        let (count, unit) = in_unit(whole);
        return Some(format!("{RULE}: write `{count}{unit}`"));
    }
    Some(nearest(whole + i64::from(nanoseconds % below * 2 >= below)))
}

/// A decimal number as numerator and denominator. `None`: it has too many digits.
fn fraction(written: &str) -> Option<(i128, i128)> {
    let (mantissa, power) = written.split_once(['e', 'E']).unwrap_or((written, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let above: i128 = format!("{whole}{part}").parse().ok()?;
    let power = power.parse::<i32>().ok()?.checked_sub(i32::try_from(part.len()).ok()?)?;
    let ten = 10_i128.checked_pow(power.unsigned_abs()).filter(|ten| *ten < i128::MAX / 10_i128.pow(10))?;
    if power < 0 { Some((above, ten)) } else { Some((above.checked_mul(ten)?, 1)) }
}
