//! Verbatim text: selects an alternative and resolves the names in it.

use std::ops::Range;

use crate::diagnostics::Diagnostic;
use crate::policy::{Block, ContainerKind, Entity, Expression, Leave, Piece, Place, Preamble, StatementKind, Verbatim};
use crate::syntax::Feature;
use crate::syntax::ast::{self, Alternative, Name};
use crate::syntax::raw::{self, Part};
use crate::syntax::words::nearest;
use crate::vocabulary::{At, Type};

use super::expressions::Lowering;
use super::scope::Binding;
use super::shared;
use super::statements::{Body, at};
use super::symbols::Symbol;

/// The word that stands for the instant of the event or query.
const NOW: &str = "now";

impl Body<'_, '_, '_> {
    /// The text for the framework's language. Without one, the block after `else`.
    pub(super) fn verbatim(
        &mut self,
        alternatives: &[Alternative],
        otherwise: Option<&ast::Block>,
        place: At,
        block: &mut Block,
    ) {
        let otherwise_at = otherwise.map(|otherwise| otherwise.at);
        let text = self.lowering.verbatim(alternatives, otherwise_at.is_some(), true, place);
        let otherwise = otherwise.map(|otherwise| self.block(otherwise));
        for what in [Leave::Loop, Leave::Turn] {
            let leaving = otherwise.iter().flatten().find(|statement| statement.leaves(what));
            if let (Some(leaving), Some(all)) = (leaving, otherwise_at) {
                let title = format!("the `else` of verbatim text leaves the loop around it by `{}`", what.word());
                let diagnostic = Diagnostic::error("E0325", title, leaving.at, "not here");
                self.lowering.diagnostics.push(diagnostic.related(all, "replaces the text"));
            }
        }
        if let (Some(otherwise), Some(all)) = (&otherwise, otherwise_at) {
            self.only_effects(otherwise, all);
        }
        match text {
            Some(Some(text)) => block.push(at(place, StatementKind::Verbatim { text, otherwise })),
            Some(None) => block.extend(otherwise.unwrap_or_default()),
            None => {}
        }
    }

    /// Verbatim text moves no thread, so neither may the block that stands for it.
    fn only_effects(&mut self, block: &Block, all: At) {
        for statement in block {
            let what = match &statement.kind {
                StatementKind::Transfer { .. } => "moves a thread",
                StatementKind::Send { .. } => "sends a thread to a node",
                StatementKind::Destroy { .. } => "destroys a thread",
                StatementKind::Dispatch { .. } => "dispatches a thread",
                StatementKind::Return { .. } | StatementKind::Fail { .. } => "ends the handler",
                StatementKind::Set { .. }
                | StatementKind::Link { .. }
                | StatementKind::Leave { .. }
                | StatementKind::If { .. }
                | StatementKind::Foreach { .. }
                | StatementKind::Follow { .. }
                | StatementKind::Loop { .. }
                | StatementKind::Verbatim { .. } => {
                    statement.blocks().for_each(|inner| self.only_effects(inner, all));
                    continue;
                }
            };
            let title = format!("the `else` of verbatim text {what}");
            let diagnostic = Diagnostic::error("E0325", title, statement.at, "not here")
                .related(all, "replaces the text")
                .note("verbatim text moves no thread and does not end the handler, so neither can its `else`");
            self.lowering.diagnostics.push(diagnostic.help("set a variable here, and look at it afterwards"));
        }
    }
}

impl Lowering<'_, '_> {
    /// The alternative in the framework's language. `Some(None)`: there is none, and none is needed, because something
    /// else stands for it.
    pub(super) fn verbatim(
        &mut self,
        alternatives: &[Alternative],
        otherwise: bool,
        statement: bool,
        place: At,
    ) -> Option<Option<Verbatim>> {
        if !shared::may(self.symbols, "verbatim text", place, self.diagnostics) {
            return None;
        }
        let language = self.symbols.language;
        let mut taken: Option<&Alternative> = None;
        for alternative in alternatives.iter().filter(|alternative| alternative.language.text == language) {
            if let Some(first) = taken {
                let title = format!("there is text for `{language}` already");
                let twice = Diagnostic::error("E0302", title, alternative.language.at, "the second time");
                self.diagnostics.push(twice.related(first.language.at, "the first time").help("remove one of them"));
            }
            taken = taken.or(Some(alternative));
        }
        match taken {
            Some(alternative) => Some(Some(self.text(alternative, statement)?)),
            None if otherwise => Some(None),
            None => {
                let framework = &self.policy.framework;
                let title = format!("no alternative of this `verbatim` is for `{language}`");
                let diagnostic = Diagnostic::error("E0325", title, place, format!("nothing for `{language}`"))
                    .note(format!("policies for framework `{framework}` are translated into `{language}`"));
                let meant = alternatives.iter().find(|other| nearest(&other.language.text, [language]).is_some());
                self.diagnostics.push(match meant {
                    Some(_) => diagnostic.help(format!("did you mean `{language}`?")),
                    None => diagnostic
                        .help(format!("add `else verbatim {language} {{ … }}`, or an `else` for all languages")),
                });
                None
            }
        }
    }

    /// `verbatim c int { … } else 4`
    pub(super) fn verbatim_value(
        &mut self,
        ty: Type,
        alternatives: &[Alternative],
        otherwise: Option<&ast::Expression>,
        place: At,
    ) -> Option<(Expression, Type)> {
        let text = self.verbatim(alternatives, otherwise.is_some(), false, place);
        let otherwise = match otherwise {
            Some(otherwise) => Some(Box::new(self.of_type(otherwise, ty)?)),
            None => None,
        };
        match (text?, otherwise) {
            (Some(text), otherwise) => Some((Expression::Verbatim { ty, text, otherwise }, ty)),
            (None, otherwise) => Some((*otherwise?, ty)),
        }
    }

    /// `statement`: the text is a statement, and can assign.
    fn text(&mut self, alternative: &Alternative, statement: bool) -> Option<Verbatim> {
        let written = alternative.text.as_str();
        let mut pieces = Vec::new();
        let mut whole = true;
        for part in raw::parts(written) {
            match part {
                Part::Text(range) => push_text(&mut pieces, &written[range]),
                Part::Name(name, member) => {
                    let named = |range: Range<usize>| Name {
                        text: written[range.clone()].to_owned(),
                        at: within(alternative, &range),
                    };
                    let after = member.clone().map(|member| &written[name.end..member.end]);
                    match self.piece(&named(name.clone()), member.clone().map(named)) {
                        Some((piece, member_used)) => {
                            let end = member.as_ref().filter(|_| member_used).map_or(name.end, |member| member.end);
                            // Includes the `$`.
                            let range = name.start - 1..end;
                            if let Some(how) = assignment(written, range.clone()) {
                                self.only_assigned(
                                    &piece,
                                    how,
                                    &written[range.clone()],
                                    within(alternative, &range),
                                    statement,
                                );
                            }
                            pieces.push(piece);
                            if let Some(after) = after.filter(|_| !member_used) {
                                push_text(&mut pieces, after);
                            }
                        }
                        None => whole = false,
                    }
                }
            }
        }
        whole.then(|| Verbatim { language: alternative.language.text.clone(), pieces })
    }

    /// Refuses text that assigns to what it can only read: the policy or the host would have to act on the change.
    fn only_assigned(&mut self, piece: &Piece, how: &str, written: &str, at: At, statement: bool) {
        let keyed = |id: usize| {
            self.policy.containers.iter().find(|container| match &container.kind {
                ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => {
                    keys.iter().any(|key| key.attribute.0 == id)
                }
                ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => false,
            })
        };
        let mut sorted = None;
        let attribute = |place: &Place| place.attributes().next().and_then(|id| self.policy.attributes.get(id));
        let what = match piece {
            _ if !statement => {
                let title = format!("`{written}` cannot be {how} by an expression");
                let diagnostic = Diagnostic::error("E0310", title, at, "can only be read here");
                self.diagnostics.push(diagnostic.help("assign in a statement of its own: `verbatim c { … }`"));
                return;
            }
            Piece::Now => "the instant of the event",
            Piece::Constant(_) => "a constant",
            Piece::Thread(_) => "a thread",
            Piece::Place(Place::Import(_) | Place::ThreadImport(..)) => "imported",
            Piece::Place(place) if attribute(place).is_some_and(|attribute| attribute.of == Entity::Node) => {
                "a property of a node"
            }
            Piece::Place(place) if attribute(place).is_some_and(|attribute| attribute.timer.is_some()) => "a timer",
            Piece::Place(Place::Attribute(_, id)) => match keyed(id.0) {
                Some(container) => {
                    sorted = Some(container.at);
                    "a sort key"
                }
                None => return,
            },
            Piece::Place(
                Place::Variable(_) | Place::VariableElement { .. } | Place::Local(_) | Place::AttributeElement { .. },
            )
            | Piece::Text(_) => return,
        };
        let title = format!("`{written}` is {what} and cannot be {how} by verbatim text");
        let diagnostic = Diagnostic::error("E0310", title, at, "can only be read here");
        let diagnostic = match sorted {
            Some(container) => diagnostic.related(container, "sorted on it: the thread would be in the wrong place"),
            None => diagnostic,
        };
        let plain = written.trim_start_matches('$');
        self.diagnostics.push(match piece {
            Piece::Place(_) => diagnostic.help(format!(
                "let the text assign to a variable, and the policy copy it afterwards: `int x; verbatim c {{ $x = …; }} {plain} = x;`"
            )),
            Piece::Now | Piece::Constant(_) | Piece::Thread(_) | Piece::Text(_) => {
                diagnostic.help("let the text assign to a variable of the policy or the handler")
            }
        });
    }

    /// What a name stands for, and whether the name after the dot belongs to it.
    fn piece(&mut self, name: &Name, member: Option<Name>) -> Option<(Piece, bool)> {
        if name.text == NOW {
            if let Some(missing) = self.symbols.dialect.lacking(Feature::Time, "`now`", name.at) {
                self.diagnostics.push(missing);
                return None;
            }
            return Some((Piece::Now, false));
        }
        let is_thread = match self.scope.find(&name.text) {
            Some(Binding::Thread(_) | Binding::Held(_) | Binding::Cursor) => true,
            Some(Binding::Value(..)) => false,
            None => matches!(self.symbols.find(&name.text), Some((Symbol::Container(_), _))),
        };
        if !is_thread {
            let (read, _) = self.read(&ast::Place::Name(name.clone()))?;
            return Piece::naming(read).map(|piece| (piece, false));
        }
        match member {
            Some(member) => {
                let (place, _) = self.place(&ast::Place::Member { thread: name.clone().into(), member })?;
                Some((Piece::Place(place), true))
            }
            None => Some((Piece::Thread(self.thread(&name.clone().into())?), false)),
        }
    }
}

/// The text that the framework's language needs before all other text.
pub(super) fn preamble(tree: &ast::Scheduler, language: &str) -> Vec<Preamble> {
    let fits = tree.verbatim.iter().filter(|alternative| alternative.language.text == language);
    fits.map(|alternative| Preamble {
        language: alternative.language.text.clone(),
        text: alternative.text.clone(),
        at: alternative.at,
    })
    .collect()
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        Some(Piece::Constant(_) | Piece::Place(_) | Piece::Now | Piece::Thread(_)) | None => {
            pieces.push(Piece::Text(text.to_owned()))
        }
    }
}

/// What C code does to the name in this range, if that can change it.
fn assignment(text: &str, name: Range<usize>) -> Option<&'static str> {
    let (mut before, mut after) = (text[..name.start].trim_end(), blank(&text[name.end..]));
    let operand = |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ')' || c == ']');
    // `(x) = 1`, but not `if (x) ++y`.
    while let (Some(outside), Some(rest)) = (before.strip_suffix('('), after.strip_prefix(')')) {
        let outside = outside.trim_end();
        if operand(outside) {
            break;
        }
        (before, after) = (outside, blank(rest));
    }
    let assigns = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
    if assigns.iter().any(|operator| after.starts_with(operator)) && !after.starts_with("==") {
        return Some("assigned");
    }
    let twice = |text: &str, sign: char| text.chars().rev().take_while(|c| *c == sign).count() == 2;
    if after.starts_with("++") || after.starts_with("--") || twice(before, '+') || twice(before, '-') {
        return Some("assigned");
    }
    let address = before.strip_suffix('&').map(str::trim_end).filter(|before| !before.ends_with('&'));
    // `(int *)&x`, but not `y & x`.
    let cast = |before: &str| before.strip_suffix(')').is_some_and(|cast| cast.trim_end().ends_with('*'));
    address.filter(|before| !operand(before) || cast(before) || before.ends_with("return")).map(|_| "pointed to")
}

/// The text after blanks and comments.
fn blank(text: &str) -> &str {
    let text = text.trim_start();
    let comment = |open: &str, close: &str| {
        let inside = text.strip_prefix(open)?;
        Some(inside.split_once(close).map_or("", |(_, rest)| rest))
    };
    match comment("/*", "*/").or_else(|| comment("//", "\n")) {
        Some(rest) => blank(rest),
        None => text,
    }
}

/// The place of a part of the text.
fn within(alternative: &Alternative, range: &Range<usize>) -> At {
    let inside = |offset: usize| alternative.text_at.start + u32::try_from(offset).unwrap_or(0);
    let lines = alternative.text[..range.start].bytes().filter(|byte| *byte == b'\n').count();
    At {
        start: inside(range.start),
        end: inside(range.end),
        line: alternative.text_at.line + u32::try_from(lines).unwrap_or(0),
    }
}
