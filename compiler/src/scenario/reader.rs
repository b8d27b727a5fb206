//! Reads scenarios. They share the lexer, the expressions and the constants of the policy language.

use super::nodes::NodesDraft;
use crate::diagnostics::Diagnostics;
use crate::source::Source;
use crate::syntax::ast::{Expression, Name, Variable};
use crate::syntax::lexer::{TokenKind, unescape};
use crate::syntax::parser::{Parse, Parser};
use crate::syntax::words::nearest;
use crate::vocabulary::At;

use super::meetings::{LockDraft, SemaphoreDraft};

/// A scenario as written, with names that are not resolved.
#[derive(Debug, Default)]
pub struct Draft {
    /// The name after `scenario`.
    pub name: Name,
    /// `policy "edf.sched";`: the first one, if there are several.
    pub policy: Option<FileName>,
    /// The others.
    pub(super) policies: Vec<FileName>,
    pub(super) constants: Vec<Variable>,
    pub(super) settings: Vec<Setting>,
    pub(super) nodes: Vec<NodesDraft>,
    pub(super) values: Vec<Given>,
    pub(super) locks: Vec<LockDraft>,
    pub(super) semaphores: Vec<SemaphoreDraft>,
    pub(super) threads: Vec<ThreadDraft>,
    pub(super) moments: Vec<(Expression, Vec<ActionDraft>)>,
    pub(super) expectations: Vec<ExpectationDraft>,
}

/// A file that a scenario names.
#[derive(Clone, Debug, PartialEq)]
pub struct FileName {
    /// Relative to the scenario's folder.
    pub path: String,
    /// Where it is named.
    pub at: At,
}

/// `processors 2;`
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) word: Name,
    pub(super) value: Expression,
}

/// `quantum = 5ms`
#[derive(Debug)]
pub(super) struct Given {
    pub(super) name: Name,
    pub(super) value: AmountDraft,
}

/// A number that may be drawn.
#[derive(Debug)]
pub(super) enum AmountDraft {
    /// `5ms`, `exponential(3ms)`: a call names a distribution.
    Written(Expression),
    /// `file "sizes.txt"`
    File(FileName),
}

#[derive(Debug)]
pub(super) struct ThreadDraft {
    pub(super) name: Name,
    pub(super) count: Option<Expression>,
    /// The clauses `at`, `every`, `period` and `deadline` that are written.
    pub(super) clauses: Vec<(Name, AmountDraft)>,
    /// `relative period`
    pub(super) relative: bool,
    pub(super) under: Vec<Name>,
    pub(super) values: Vec<Given>,
    pub(super) phases: Vec<PhaseDraft>,
}

#[derive(Debug)]
pub(super) enum PhaseDraft {
    /// `run`, `sleep`
    Time(Name, AmountDraft),
    /// `block io.read 5ms`
    Block(Name, AmountDraft),
    /// `timer T 20ms`, `shared absolute timer T 20ms`
    Timer(TimerDraft),
    /// `yield`, `exit`
    Plain(Name),
    /// `yield to A`, `lock L`, `send P`, `spawn A`: the word and what it names.
    Of(Name, Name),
    Set(Given),
    Repeat(At, Option<Expression>, Vec<PhaseDraft>),
}

#[derive(Debug)]
pub(super) struct TimerDraft {
    pub(super) name: Name,
    pub(super) amount: AmountDraft,
    pub(super) shared: bool,
    pub(super) absolute: bool,
}

#[derive(Debug)]
pub(super) enum ActionDraft {
    Set(Option<Name>, Given),
    Of(Name, Name),
    Processors(Expression),
}

#[derive(Debug)]
pub(super) struct ExpectationDraft {
    pub(super) what: ExpectedDraft,
    pub(super) text: String,
    pub(super) at: At,
}

#[derive(Debug)]
pub(super) enum ExpectedDraft {
    Measure(Box<MeasureDraft>),
    Order(Vec<Name>),
    Dispatched(Vec<Name>),
    NeverOverlaps(Name, Name),
    Runs(Name, Expression),
    Says(Name, String),
}

/// `p99 response of A from 1s to 2s <= 20ms`
#[derive(Debug)]
pub(super) struct MeasureDraft {
    pub(super) statistic: Option<Name>,
    pub(super) measure: Name,
    pub(super) of: Option<Name>,
    pub(super) window: Option<(Expression, Expression)>,
    pub(super) relation: String,
    pub(super) bound: Quantity,
    pub(super) tolerance: Option<Quantity>,
    pub(super) because: Option<String>,
}

/// `7.5%`
#[derive(Debug)]
pub(super) struct Quantity {
    pub(super) value: Expression,
    /// As it stands in the file, since a `float` would round it.
    pub(super) written: String,
    /// Whether `%` follows it.
    pub(super) percent: bool,
}

/// The scenarios as written, as far as they can be read; all else is reported. If nothing is, there is one at least.
///
/// No framework is considered: [`super::check`] says what that of the policy lacks.
pub fn read(source: &Source, diagnostics: &mut Diagnostics) -> Vec<Draft> {
    if let Some(too_long) = source.too_long(Source::LONGEST_SCENARIOS) {
        diagnostics.push(too_long);
        return Vec::new();
    }
    let parser = Parser::new(source, None, "E0701", diagnostics);
    Reader { parser, draft: Draft::default() }.scenarios()
}

/// The words that start a line.
const ITEMS: [&str; 15] = [
    "policy",
    "processors",
    "nodes",
    "seed",
    "duration",
    "tick",
    "poll",
    "switch_cost",
    "const",
    "set",
    "lock",
    "semaphore",
    "thread",
    "at",
    "expect",
];

pub(super) struct Reader<'a> {
    pub(super) parser: Parser<'a>,
    pub(super) draft: Draft,
}

impl Reader<'_> {
    // Productions: scenarios, scenario.
    fn scenarios(mut self) -> Vec<Draft> {
        let mut drafts = Vec::new();
        loop {
            let Ok(opened) = self.header() else { return drafts };
            while !self.parser.is_sign("}") && !self.parser.is_end() {
                if self.item().is_err() {
                    self.skip_item();
                }
            }
            let closed = self.parser.expect_close(opened, "the scenario");
            drafts.push(std::mem::take(&mut self.draft));
            if closed.is_err() || self.parser.is_end() {
                return drafts;
            }
        }
    }

    fn header(&mut self) -> Parse<At> {
        if !self.parser.eat_word("scenario") {
            let unexpected = self.parser.unexpected("`scenario`");
            let help = match self.parser.word() {
                Some("scheduler") => "a policy has the ending `.sched`",
                Some("hierarchy") => "a hierarchy has the ending `.hierarchy`",
                _ => "a scenario is written `scenario NAME { thread A { run 5ms; } expect end of A = 5ms; }`",
            };
            return Err(self.parser.report(unexpected.help(help)));
        }
        self.draft.name = self.parser.name("a name for the scenario")?;
        self.parser.expect_sign("{")
    }

    /// Skips the rest of a line, up to one that starts with the word of another, or to the end.
    fn skip_item(&mut self) {
        loop {
            let closes = self.parser.is_sign("}")
                && (self.parser.following.kind == TokenKind::End || self.parser.follows_word("scenario"));
            let first_of_line = self.parser.token.at.line > self.parser.previous.line;
            let item = first_of_line && self.parser.word().is_some_and(|word| ITEMS.contains(&word));
            if self.parser.is_end() || closes || item {
                return;
            }
            self.parser.advance();
        }
    }

    // Productions: item, constant.
    fn item(&mut self) -> Parse<()> {
        match self.parser.word() {
            Some("policy") => {
                self.parser.advance();
                let file = self.file("the file of the policy as a string")?;
                if self.draft.policy.is_none() {
                    self.draft.policy = Some(file);
                } else {
                    self.draft.policies.push(file);
                }
                self.parser.expect_semicolon()
            }
            Some("processors" | "seed" | "duration" | "tick" | "poll" | "switch_cost") => {
                let word = self.any_word();
                let value = self.parser.expression()?;
                self.parser.expect_semicolon()?;
                self.draft.settings.push(Setting { word, value });
                Ok(())
            }
            Some("nodes") => self.nodes(),
            Some("const") => self.constants(),
            Some("set") => {
                self.parser.advance();
                let given = self.given()?;
                self.draft.values.push(given);
                Ok(())
            }
            Some("lock") => self.lock(),
            Some("semaphore") => self.semaphore(),
            Some("thread") => self.thread(),
            Some("at") => self.moment(),
            Some("expect") => self.expectation(),
            Some(_) | None => {
                let unexpected = self.parser.unexpected("a line of a scenario");
                let words: Vec<String> = ITEMS.iter().map(|word| format!("`{word}`")).collect();
                Err(self.parser.report(unexpected.note(format!("these start with {}", words.join(", ")))))
            }
        }
    }

    fn constants(&mut self) -> Parse<()> {
        let constants = self.parser.constants("a scenario")?;
        self.draft.constants.extend(constants);
        Ok(())
    }

    // Production: clause.
    fn thread(&mut self) -> Parse<()> {
        self.parser.advance();
        let name = self.parser.name("a name for the thread")?;
        let count = if self.parser.eat_sign("*") { Some(self.parser.expression()?) } else { None };
        let mut thread = ThreadDraft {
            name,
            count,
            clauses: Vec::new(),
            relative: false,
            under: Vec::new(),
            values: Vec::new(),
            phases: Vec::new(),
        };
        loop {
            match self.parser.word() {
                Some("at" | "every" | "period" | "deadline") => {
                    let word = self.any_word();
                    let amount = self.amount()?;
                    thread.clauses.push((word, amount));
                }
                Some("relative") => {
                    self.parser.advance();
                    if self.parser.word() != Some("period") {
                        return Err(self.parser.expected("`period`"));
                    }
                    thread.relative = true;
                }
                Some("under") => {
                    self.parser.advance();
                    let under = self.parser.name("the name of a scheduler of the hierarchy")?;
                    thread.under.push(under);
                }
                Some("with") => {
                    let values = self.values()?;
                    thread.values.extend(values);
                }
                _ if self.parser.is_sign("{") => break,
                Some(_) | None => {
                    return Err(self
                        .parser
                        .expected("`at`, `every`, `period`, `relative period`, `deadline`, `under`, `with` or `{`"));
                }
            }
        }
        thread.phases = self.phases("the thread")?;
        self.draft.threads.push(thread);
        Ok(())
    }

    /// `with { size = 3; }`
    pub(super) fn values(&mut self) -> Parse<Vec<Given>> {
        self.parser.advance();
        let opened = self.parser.expect_sign("{")?;
        let mut values = Vec::new();
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            values.push(self.given()?);
        }
        self.parser.expect_close(opened, "the list of values")?;
        Ok(values)
    }

    fn moment(&mut self) -> Parse<()> {
        self.parser.advance();
        let instant = self.parser.expression()?;
        let opened = self.parser.expect_sign("{")?;
        let mut actions = Vec::new();
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            actions.push(self.action()?);
        }
        self.parser.expect_close(opened, "what happens then")?;
        self.draft.moments.push((instant, actions));
        Ok(())
    }

    // Production: action.
    fn action(&mut self) -> Parse<ActionDraft> {
        match self.parser.word() {
            Some("set") => {
                self.parser.advance();
                let of = if self.parser.follows_sign(".") {
                    let of = self.parser.name("the name of a thread")?;
                    self.parser.advance();
                    Some(of)
                } else {
                    None
                };
                Ok(ActionDraft::Set(of, self.given()?))
            }
            Some("suspend" | "resume") => {
                let word = self.any_word();
                let of = self.parser.name("the name of a thread")?;
                self.parser.expect_semicolon()?;
                Ok(ActionDraft::Of(word, of))
            }
            Some("processors") => {
                self.parser.advance();
                let count = self.parser.expression()?;
                self.parser.expect_semicolon()?;
                Ok(ActionDraft::Processors(count))
            }
            Some(_) | None => Err(self.parser.expected("`set`, `suspend`, `resume` or `processors`")),
        }
    }

    // Production: given.
    pub(super) fn given(&mut self) -> Parse<Given> {
        let name = self.parser.name("the name of a variable that the policy imports")?;
        self.parser.expect_sign("=")?;
        let value = self.amount()?;
        self.parser.expect_semicolon()?;
        Ok(Given { name, value })
    }

    // Production: amount.
    pub(super) fn amount(&mut self) -> Parse<AmountDraft> {
        if self.parser.is_word("file") && self.parser.following.kind == TokenKind::Text {
            self.parser.advance();
            return self.file("a file of numbers as a string").map(AmountDraft::File);
        }
        self.parser.expression().map(AmountDraft::Written)
    }

    pub(super) fn file(&mut self, what: &str) -> Parse<FileName> {
        if self.parser.token.kind != TokenKind::Text {
            return Err(self.parser.expected(what));
        }
        let at = self.parser.advance().at;
        Ok(FileName { path: unescape(self.parser.written(at)), at })
    }

    /// The next word, reserved or not.
    pub(super) fn any_word(&mut self) -> Name {
        let at = self.parser.advance().at;
        Name { text: self.parser.written(at).to_owned(), at }
    }

    // Production: phases.
    pub(super) fn phases(&mut self, what: &str) -> Parse<Vec<PhaseDraft>> {
        let opened = self.parser.expect_sign("{")?;
        let mut phases = Vec::new();
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            phases.push(self.deeper()?);
        }
        self.parser.expect_close(opened, what)?;
        Ok(phases)
    }

    fn deeper(&mut self) -> Parse<PhaseDraft> {
        self.parser.check_depth(self.parser.depth + 1)?;
        self.parser.depth += 1;
        let phase = self.phase();
        self.parser.depth -= 1;
        phase
    }

    // Production: phase.
    fn phase(&mut self) -> Parse<PhaseDraft> {
        const WORDS: [&str; 23] = [
            "run",
            "block",
            "sleep",
            "timer",
            "shared",
            "absolute",
            "yield",
            "lock",
            "unlock",
            "wait",
            "post",
            "send",
            "receive",
            "signal",
            "broadcast",
            "barrier",
            "spawn",
            "join",
            "suspend",
            "resume",
            "set",
            "repeat",
            "exit",
        ];
        match self.parser.word() {
            Some("run" | "sleep") => {
                let word = self.any_word();
                let amount = self.amount()?;
                self.parser.expect_semicolon()?;
                Ok(PhaseDraft::Time(word, amount))
            }
            Some("block") => {
                self.parser.advance();
                let mut event = self.any_word_of("the rest of an event, as in `block io.read 5ms`")?;
                while self.parser.eat_sign(".") {
                    let part = self.any_word_of("a word")?;
                    event = Name { text: format!("{}.{}", event.text, part.text), at: event.at.to(part.at) };
                }
                let amount = self.amount()?;
                self.parser.expect_semicolon()?;
                Ok(PhaseDraft::Block(event, amount))
            }
            Some("yield") => {
                let word = self.any_word();
                if self.parser.eat_word("to") {
                    let of = self.parser.name("the name of a thread")?;
                    self.parser.expect_semicolon()?;
                    return Ok(PhaseDraft::Of(word, of));
                }
                self.parser.expect_semicolon()?;
                Ok(PhaseDraft::Plain(word))
            }
            Some("exit") => {
                let word = self.any_word();
                self.parser.expect_semicolon()?;
                Ok(PhaseDraft::Plain(word))
            }
            Some("timer" | "shared" | "absolute") => {
                let shared = self.parser.eat_word("shared");
                let absolute = self.parser.eat_word("absolute");
                self.parser.expect_word("timer")?;
                let name = self.parser.name("a name for the timer")?;
                let amount = self.amount()?;
                self.parser.expect_semicolon()?;
                Ok(PhaseDraft::Timer(TimerDraft { name, amount, shared, absolute }))
            }
            Some(
                named @ ("lock" | "unlock" | "wait" | "post" | "send" | "receive" | "signal" | "broadcast" | "barrier"
                | "spawn" | "join" | "suspend" | "resume"),
            ) => {
                let what = match named {
                    "lock" | "unlock" => "a name for the lock",
                    "wait" | "post" => "the name of a semaphore",
                    "send" | "receive" | "signal" | "broadcast" => "a name for the port",
                    "barrier" => "a name for the barrier",
                    _ => "the name of a thread",
                };
                let word = self.any_word();
                let of = self.parser.name(what)?;
                self.parser.expect_semicolon()?;
                Ok(PhaseDraft::Of(word, of))
            }
            Some("set") => {
                self.parser.advance();
                self.given().map(PhaseDraft::Set)
            }
            Some("repeat") => {
                let at = self.parser.advance().at;
                let times = if self.parser.is_sign("{") { None } else { Some(self.parser.expression()?) };
                let phases = self.phases("what is repeated")?;
                Ok(PhaseDraft::Repeat(at, times, phases))
            }
            other => {
                let listed: Vec<String> = WORDS.iter().map(|word| format!("`{word}`")).collect();
                let unexpected = self.parser.unexpected("what the thread does");
                let unexpected = unexpected.note(format!("these start with {}", listed.join(", ")));
                let at = self.parser.token.at;
                Err(self.parser.report(match other.and_then(|word| nearest(word, WORDS)) {
                    Some(near) => unexpected.help(format!("did you mean `{near}`?")).suggest(at, near),
                    None => unexpected,
                }))
            }
        }
    }

    fn any_word_of(&mut self, what: &str) -> Parse<Name> {
        if self.parser.word().is_none() { Err(self.parser.expected(what)) } else { Ok(self.any_word()) }
    }
}
