//! The reader of event types: what the host promises before an event, and the policy after it.

use super::*;

impl Reader<'_> {
    // Productions: rules, rule.
    pub(super) fn rules(&mut self, parameters: &[String]) -> Parse<Vec<Rule>> {
        let opened = self.parser.expect_sign("{")?;
        let mut rules = Vec::new();
        loop {
            rules.push(self.rule(parameters)?);
            if !self.parser.eat_sign("|") {
                break;
            }
        }
        self.parser.expect_close(opened, "the event type")?;
        Ok(rules)
    }

    pub(super) fn rule(&mut self, parameters: &[String]) -> Parse<Rule> {
        let start = self.parser.token.at;
        let mut rule = Rule { given: Vec::new(), moves: Vec::new(), at: start };
        if matches!(self.parser.word(), Some("some" | "none")) && !self.parser.follows_sign(":") {
            loop {
                rule.given.push(self.condition()?);
                if !self.parser.eat_sign(",") {
                    break;
                }
            }
            self.parser.expect_sign(":")?;
        }
        loop {
            rule.moves.push(self.movement(parameters)?);
            if !self.parser.eat_sign(",") {
                return Ok(Rule { at: self.parser.since(start), ..rule });
            }
        }
    }

    // Production: condition.
    pub(super) fn condition(&mut self) -> Parse<Condition> {
        if self.parser.eat_word("some") {
            Ok(Condition::Some(self.parser.class()?.0))
        } else {
            self.parser.expect_word("none")?;
            Ok(Condition::None(self.parser.class()?.0))
        }
    }

    // Production: move.
    pub(super) fn movement(&mut self, parameters: &[String]) -> Parse<Move> {
        if !self.parser.follows_sign(":") && self.parser.eat_word("one") {
            let start = self.parser.token.at;
            let from = self.stage()?;
            if from == Stage::New {
                let at = self.parser.since(start);
                let unnamed = Diagnostic::error("E0205", "a new thread is one that the event names", at, "not `one`");
                return Err(self.parser.report(unnamed.help("write `t: NEW -> READY`, where `t` is a parameter")));
            }
            self.parser.expect_sign("->")?;
            return Ok(Move::One(from, self.end_stage()?));
        }
        let name = self.parser.name("a parameter of the event, or `one`")?;
        let Some(index) = parameters.iter().position(|parameter| *parameter == name.text) else {
            let unknown = no_parameter(&name, parameters, "event");
            return Err(self.parser.report(unknown));
        };
        self.parser.expect_sign(":")?;
        let from = self.stage()?;
        self.parser.expect_sign("->")?;
        Ok(Move::Parameter(index, from, self.end_stage()?))
    }

    /// A thread that has been in a container is no longer new.
    pub(super) fn end_stage(&mut self) -> Parse<Stage> {
        let start = self.parser.token.at;
        if self.parser.eat_word("PLACED") {
            return Ok(Stage::Placed);
        }
        let stage = self.stage()?;
        if stage == Stage::New {
            let at = self.parser.since(start);
            let title = "a thread is new at the start of its first event, and at no end";
            let diagnostic = Diagnostic::error("E0205", title, at, "no handler can leave a thread so");
            return Err(self.parser.report(diagnostic.help("name the state class that the thread ends in")));
        }
        Ok(stage)
    }

    pub(super) fn stage(&mut self) -> Parse<Stage> {
        if self.parser.eat_word("NEW") { Ok(Stage::New) } else { Ok(Stage::In(self.parser.class()?.0)) }
    }
}
