//! Verbatim text (CATAPULTS 2005, §5.3): what the language does not have, in the language of the generated code.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::Type;

use super::Feature;
use super::ast::{Alternative, ExpressionKind, Scheduler, StatementKind};
use super::parser::{Parse, Parser};

impl Parser<'_> {
    // Productions: texts, text.
    pub(super) fn verbatim_statement(&mut self) -> Parse<StatementKind> {
        let refused = self.refuse_verbatim();
        let mut alternatives = vec![self.alternative(None)?.1];
        let mut otherwise = None;
        while otherwise.is_none() && self.eat_word("else") {
            if self.is_word("verbatim") {
                alternatives.push(self.alternative(None)?.1);
            } else if self.is_sign("{") {
                otherwise = Some(self.block("the block")?);
            } else {
                return Err(self.expected("`verbatim` or `{`"));
            }
        }
        Ok(if refused { StatementKind::Lost } else { StatementKind::Verbatim { alternatives, otherwise } })
    }

    // Productions: primary, typed.
    pub(super) fn verbatim_expression(&mut self) -> Parse<(ExpressionKind, usize)> {
        let refused = self.refuse_verbatim();
        let (ty, first) = self.alternative(Some(None))?;
        let mut alternatives = vec![first];
        let (mut otherwise, mut depth) = (None, 1);
        while otherwise.is_none() && self.eat_word("else") {
            if self.is_word("verbatim") {
                alternatives.push(self.alternative(Some(Some(ty)))?.1);
            } else {
                let (expression, deep) = self.deeper(Self::measured)?;
                otherwise = Some(Box::new(expression));
                depth += deep;
            }
        }
        let kind = ExpressionKind::Verbatim { ty, alternatives, otherwise };
        Ok((if refused { ExpressionKind::Lost } else { kind }, depth))
    }

    /// `verbatim c { … }` between sections: what other texts need before them.
    pub(super) fn verbatim_part(&mut self, scheduler: &mut Scheduler) -> Parse<()> {
        let refused = self.refuse_verbatim();
        let (_, alternative) = self.alternative(None)?;
        if !refused {
            scheduler.verbatim.push(alternative);
        }
        Ok(())
    }

    /// One text. `typed` is `None`: without a type; `Some(None)`: after its type; `Some(Some(ty))`: after this type.
    fn alternative(&mut self, typed: Option<Option<Type>>) -> Parse<(Type, Alternative)> {
        let start = self.expect_word("verbatim")?;
        let language = self.name("the name of a language: `verbatim c { … }`")?;
        let ty = match typed {
            None => Type::Int,
            Some(_) if self.is_sign("{") => {
                let untyped = self.unexpected("the type of the value");
                let help = format!("write `verbatim {} int {{ … }}`", language.text);
                return Err(self.report(untyped.help(help)));
            }
            Some(first) => {
                let (ty, at) = self.value_type()?;
                if let Some(first) = first.filter(|first| *first != ty) {
                    let (first, ty) = (first.word(), ty.word());
                    let title = format!("the alternatives have one type, and the first has `{first}`");
                    self.report(Diagnostic::error("E0303", title, at, format!("expected `{first}`, found `{ty}`")));
                }
                ty
            }
        };
        let (text, text_at) = self.raw_block("the text of `verbatim`")?;
        Ok((ty, Alternative { language, text, text_at, at: self.since(start) }))
    }

    /// Reports verbatim text that this framework does not have. Returns whether it did. The caller reads on either way.
    fn refuse_verbatim(&mut self) -> bool {
        self.demand(Feature::Verbatim, "`verbatim` text", self.token.at)
    }
}
