//! Walks the tree of an expression and computes its value.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{At, Call, Choice, Comparison, Kind, Node, Path, Step, StepKind};
use super::fields::{self, Access};
use super::functions::{self, Context};
use super::problem::{Blame, Problem};
use super::writer::TextWriter;
use super::{Fuel, Lookup, Scope, Value, operators};
use crate::codes::Code;
use crate::diagnostic::{TextError, did_you_mean};

/// The value of `node`.
pub(super) fn evaluate(node: &Node, scope: &dyn Scope, fuel: &mut Fuel) -> Result<Value, TextError> {
    Evaluator { scope, fuel }.value(node)
}

struct Evaluator<'a> {
    scope: &'a dyn Scope,
    fuel: &'a mut Fuel,
}

/// A value, or the knowledge that there is none, which `default` forgives.
enum Outcome {
    Found(Value),
    Missing(Box<Missing>),
}

/// A field or index that is not there.
struct Missing {
    at: At,
    access: fields::Missing,
}

impl Missing {
    /// Built only when nobody forgives: suggestions cost time.
    fn error(&self) -> TextError {
        let error = TextError::new(Code::ExpressionFailed, self.at.range(), self.access.message());
        match self.access.help() {
            Some(help) => error.help(help),
            None => error.help("give a value for when it is missing: `… | default(x)`"),
        }
    }
}

impl Evaluator<'_> {
    fn value(&mut self, node: &Node) -> Result<Value, TextError> {
        match self.outcome(node)? {
            Outcome::Found(value) => Ok(value),
            Outcome::Missing(missing) => Err(missing.error()),
        }
    }

    fn outcome(&mut self, node: &Node) -> Result<Outcome, TextError> {
        self.fuel.spend(1).map_err(|exhausted| failed(exhausted.into(), node.at, &[]))?;
        let value = match &node.kind {
            Kind::Path(path) => return self.path(path),
            Kind::Steps(base, steps) => return self.steps(base, steps),
            Kind::Call(call) => self.call(node.at, call)?,
            Kind::Literal(value) => value.clone(),
            Kind::List(items) => self.values(items)?.into(),
            Kind::Map(entries) => self.map(entries)?,
            Kind::Not(operand) => Value::Bool(!self.truth(operand)?),
            Kind::Negate(operand) => {
                let value = self.value(operand)?;
                operators::negate(&value).map_err(|problem| failed(problem, node.at, &[operand.at]))?
            }
            Kind::And(parts) => self.until(parts, false)?,
            Kind::Or(parts) => self.until(parts, true)?,
            Kind::Compare(first, rest) => self.comparisons(first, rest)?,
            Kind::Arithmetic(first, rest) => {
                let mut value = self.value(first)?;
                let mut before = first.at;
                for (operator, operand) in rest {
                    let right = self.value(operand)?;
                    let at = first.at.to(operand.at);
                    value = operators::arithmetic(*operator, &value, &right, self.fuel)
                        .map_err(|problem| failed(problem, at, &[before, operand.at]))?;
                    before = at;
                }
                value
            }
            Kind::Joined(parts) => self.joined(node.at, parts)?,
            Kind::Choice(choice) => {
                let Choice { condition, then, otherwise } = &**choice;
                return if self.truth(condition)? { self.outcome(then) } else { self.outcome(otherwise) };
            }
        };
        Ok(Outcome::Found(value))
    }

    fn values(&mut self, nodes: &[Node]) -> Result<Vec<Value>, TextError> {
        nodes.iter().map(|node| self.value(node)).collect()
    }

    fn map(&mut self, entries: &[(Node, Node)]) -> Result<Value, TextError> {
        let mut map = BTreeMap::new();
        for (key, value) in entries {
            let text = match self.value(key)? {
                Value::Text(text) => text,
                other => return Err(failed(Problem::expected(0, "text as a key", &other), key.at, &[])),
            };
            if map.contains_key(&text) {
                return Err(failed(Problem::new("this key stands twice in the map"), key.at, &[]));
            }
            map.insert(text, self.value(value)?);
        }
        Ok(map.into())
    }

    fn truth(&mut self, node: &Node) -> Result<bool, TextError> {
        match self.value(node)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(failed(Problem::expected(0, "a boolean", &other), node.at, &[])
                .help("compare it with something, such as `x == 1` or `x != null`")),
        }
    }

    /// `and` stops at the first false, `or` at the first true.
    fn until(&mut self, parts: &[Node], stop: bool) -> Result<Value, TextError> {
        for part in parts {
            if self.truth(part)? == stop {
                return Ok(Value::Bool(stop));
            }
        }
        Ok(Value::Bool(!stop))
    }

    /// `a < b < c` is `a < b and b < c`, with `b` evaluated once.
    fn comparisons(&mut self, first: &Node, rest: &[(Comparison, Node)]) -> Result<Value, TextError> {
        let mut left = self.value(first)?;
        let mut left_at = first.at;
        for (comparison, operand) in rest {
            let right = self.value(operand)?;
            let holds = operators::compare(*comparison, &left, &right, self.fuel)
                .map_err(|problem| failed(problem, left_at.to(operand.at), &[left_at, operand.at]))?;
            if !holds {
                return Ok(Value::Bool(false));
            }
            (left, left_at) = (right, operand.at);
        }
        Ok(Value::Bool(true))
    }

    fn joined(&mut self, at: At, parts: &[Node]) -> Result<Value, TextError> {
        let values = self.values(parts)?;
        let mut writer = TextWriter::new(self.fuel);
        for value in &values {
            writer.value(value).map_err(|problem| failed(problem, at, &[]))?;
        }
        Ok(writer.finish().into())
    }

    fn path(&mut self, path: &Path) -> Result<Outcome, TextError> {
        let (mut value, used) = match self.scope.lookup(&path.root, &path.fields) {
            Lookup::Found { value, used } => (value, used),
            Lookup::Missing { depth: 0, known } => return Err(unknown_root(path, &known)),
            Lookup::Missing { depth, known } => {
                let index = depth - 1;
                let at = path.fields_at.get(index).copied().unwrap_or(path.at);
                let name = path.fields.get(index).unwrap_or(&path.root).clone();
                let access = fields::Missing::Name { name, known };
                return Ok(Outcome::Missing(Box::new(Missing { at, access })));
            }
        };
        value = self.shown_here(value);
        for (name, at) in path.fields.iter().zip(&path.fields_at).skip(used) {
            match self.access(Access::Field(name), &value, *at)? {
                Outcome::Found(field) => value = self.shown_here(field),
                missing => return Ok(missing),
            }
        }
        Ok(Outcome::Found(value))
    }

    /// A time from outside is shown in the zone of the evaluation, whatever zone it came in.
    fn shown_here(&self, value: Value) -> Value {
        match value {
            Value::Time(time) if time.time_zone() != self.scope.zone() => {
                Value::Time(time.with_time_zone(self.scope.zone().clone()))
            }
            other => other,
        }
    }

    fn steps(&mut self, base: &Node, steps: &[Step]) -> Result<Outcome, TextError> {
        let mut outcome = self.outcome(base)?;
        let mut before = base.at;
        let mut from_outside = matches!(base.kind, Kind::Path(_));
        for step in steps {
            self.fuel.spend(1).map_err(|exhausted| failed(exhausted.into(), step.at, &[]))?;
            outcome = match (&step.kind, outcome) {
                (StepKind::Filter(call), outcome) if call.function.is_default() => {
                    self.default(outcome, call.arguments.first())?
                }
                (StepKind::Filter(call), Outcome::Found(value)) => {
                    Outcome::Found(self.apply(before.to(step.at), call, Some((value, before)))?)
                }
                (StepKind::Filter(_), Outcome::Missing(missing)) => return Err(missing.error()),
                (StepKind::Field(name), Outcome::Found(value)) => {
                    self.access(Access::Field(name), &value, step.at)?
                }
                (StepKind::Index(index), Outcome::Found(value)) => {
                    let index = self.value(index)?;
                    self.access(Access::Index(&index), &value, step.at)?
                }
                (StepKind::Field(_) | StepKind::Index(_), missing @ Outcome::Missing(_)) => missing,
            };
            from_outside &= !matches!(step.kind, StepKind::Filter(_));
            if let Outcome::Found(value @ Value::Time(_)) = outcome {
                outcome = Outcome::Found(if from_outside { self.shown_here(value) } else { value });
            }
            before = before.to(step.at);
        }
        Ok(outcome)
    }

    fn access(&mut self, access: Access<'_>, value: &Value, at: At) -> Result<Outcome, TextError> {
        match fields::access(value, access) {
            Ok(Ok(value)) => Ok(Outcome::Found(value)),
            Ok(Err(access)) => Ok(Outcome::Missing(Box::new(Missing { at, access }))),
            Err(problem) => Err(failed(problem, at, &[])),
        }
    }

    /// The value, or if it is missing or null, that of `fallback`.
    fn default(&mut self, outcome: Outcome, fallback: Option<&Node>) -> Result<Outcome, TextError> {
        match (outcome, fallback) {
            (Outcome::Found(Value::Null) | Outcome::Missing(_), Some(fallback)) => self.outcome(fallback),
            (outcome, _) => Ok(outcome),
        }
    }

    fn call(&mut self, at: At, call: &Call) -> Result<Value, TextError> {
        if call.function.is_default()
            && let [subject, fallback] = call.arguments.as_slice()
        {
            let outcome = self.outcome(subject)?;
            return match self.default(outcome, Some(fallback))? {
                Outcome::Found(value) => Ok(value),
                Outcome::Missing(missing) => Err(missing.error()),
            };
        }
        self.apply(at, call, None)
    }

    /// Calls a function; `subject` is the value before a filter and where that stands.
    fn apply(&mut self, at: At, call: &Call, subject: Option<(Value, At)>) -> Result<Value, TextError> {
        let mut arguments = Vec::with_capacity(call.arguments.len() + 1);
        let subject_at = subject.map(|(value, at)| {
            arguments.push(value);
            at
        });
        for argument in &call.arguments {
            arguments.push(self.value(argument)?);
        }
        let context = Context { arguments: &arguments, zone: self.scope.zone(), fuel: self.fuel };
        functions::call(call.function, context).map_err(|problem| {
            let places: Vec<At> = subject_at.into_iter().chain(call.arguments.iter().map(|a| a.at)).collect();
            failed(problem, at, &places)
        })
    }
}

fn unknown_root(path: &Path, known: &[Arc<str>]) -> TextError {
    let message = format!("there is no `{}` here", path.root);
    let error = TextError::new(Code::ExpressionFailed, path.root_at.range(), message);
    match did_you_mean(&path.root, known.iter().map(|name| &**name)) {
        Some(help) => error.help(help),
        None if functions::find(&path.root).is_some() => {
            error.help(format!("`{0}` is a function: call it, as in `x | {0}`", path.root))
        }
        None if known.is_empty() => error,
        None => error.help(format!("known here: {}", known.join(", "))),
    }
}

/// Says where a problem stands: at `whole`, or at one of the `parts` that were handed in.
fn failed(problem: Problem, whole: At, parts: &[At]) -> TextError {
    let at = match problem.blame {
        Blame::Whole => whole,
        Blame::Argument(index) => parts.get(index).copied().unwrap_or(whole),
    };
    let error = TextError::new(Code::ExpressionFailed, at.range(), problem.message);
    TextError { help: problem.help, ..error }
}
