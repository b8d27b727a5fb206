//! `verify` trusts nobody: what `check` refuses in source is refused in a policy that comes another way, too.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::policy::{
    AttributeId, BinaryOperator, ContainerKind, Expression, Policy, SortKey, StatementKind, Value,
};
use catapults_compiler::source::Source;
use catapults_compiler::verify::verify;
use catapults_tests::native;

/// A good policy.
fn policy() -> Policy {
    let text = "scheduler example {
      thread { int key; int list[2]; timer wake; }
      data { threadref current; pqueue ready sortable on key; }
      event newthread(t)    { t => ready; }
      event switch_out(t)   { t => ready; }
      event event_raised(t) { t.list[0] = t.key; t => ready; }
      event timeout.wake(t) { t.wake = now + 1ms; }
      event schedule        { ready => current; dispatch current; }
    }";
    compile(&Source::new("example.sched", text.to_owned()), &native()).unwrap().0.policy().clone()
}

/// What is said of it, changed so.
fn refused(change: impl Fn(&mut Policy)) -> Vec<(&'static str, String)> {
    let mut policy = policy();
    change(&mut policy);
    policy.number_statements();
    let mut diagnostics = Diagnostics::new();
    let verified = verify(policy, &native(), &mut diagnostics);
    assert!(verified.is_none() || !diagnostics.has_errors(), "it is let through with errors");
    diagnostics.iter().map(|diagnostic| (diagnostic.code, diagnostic.title.clone())).collect()
}

fn sorted_on(attribute: usize) -> Vec<(&'static str, String)> {
    refused(|policy| {
        let ready = policy.containers.iter_mut().find(|container| container.name == "ready").unwrap();
        ready.kind = ContainerKind::Pqueue(vec![SortKey { attribute: AttributeId(attribute), reverse: false }]);
    })
}

#[test]
fn a_handler_that_the_host_needs() {
    assert!(refused(|_| {}).is_empty());
    let without = |name: &'static str| refused(move |policy| policy.events.retain(|handler| handler.name != name));
    assert_eq!(without("switch_out"), [("E0307", "`switch_out` is not handled".to_owned())]);
    assert_eq!(without("timeout.wake"), [("E0307", "`timeout.wake` is not handled".to_owned())]);
    // Those of the framework are the policy's, too.
    assert_eq!(without("exit"), [("E0307", "`exit` is not handled".to_owned())]);
    assert!(without("set_next_thread").is_empty());
}

#[test]
fn a_sort_key_that_changes_behind_the_back_of_its_container() {
    let names: Vec<String> = policy().attributes.iter().map(|attribute| attribute.name.clone()).collect();
    let place = |name: &str| names.iter().position(|other| other == name).unwrap();
    assert!(sorted_on(place("key")).is_empty());
    let wake = "`wake` is a timer and cannot be a sort key".to_owned();
    assert_eq!(sorted_on(place("wake")), [("E0318", wake)]);
    let element = "`list[0]` is an element of an array and cannot be a sort key".to_owned();
    assert_eq!(sorted_on(place("list[0]")), [("E0318", element)]);
}

#[test]
fn a_draw_within_an_expression_is_refused() {
    let drawn = |policy: &mut Policy, value: fn(Expression) -> Expression| {
        let handler = policy.events.iter_mut().find(|handler| handler.name == "event_raised").unwrap();
        let StatementKind::Set { value: of, .. } = &mut handler.body[0].kind else { panic!("it assigns") };
        *of = value(Expression::Random(Box::new(Expression::Literal(Value::Int(6)))));
    };
    let twice = |draw: Expression| Expression::Binary(BinaryOperator::Add, Box::new(draw.clone()), Box::new(draw));
    assert_eq!(refused(|policy| drawn(policy, twice)), [("E0324", "a draw within an expression".to_owned())]);
    assert_eq!(refused(|policy| drawn(policy, |draw| draw)), []);
}
