//! Assignments, with what they have in common said once.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_core::requirement::Requirement;
use windlass_core::shard::input::Assignment;
use windlass_core::shard::payload::{HttpCall, Payload, PythonText, RunEnv};
use windlass_core::wire::GrantId;
use windlass_model::{AttemptNumber, Duration, TaskId};
use windlass_workflow::definition::Method;

use crate::ids::{attempt, order_key, requirement, some_attempt, to_order_key, to_requirement};
use crate::{Malformed, v1};
use v1::payload::What;

/// What several assignments have in common, as it is sent.
#[derive(Default)]
pub struct Shared {
    pub texts: Vec<String>,
    pub variables: Vec<v1::Variables>,
    pub classes: Vec<v1::Requirement>,
}

/// Collects what assignments have in common. The same value has the same address, so nothing is compared.
#[derive(Default)]
pub struct Sharing {
    shared: Shared,
    texts: HashMap<(*const u8, usize), u32>,
    variables: HashMap<*const RunEnv, u32>,
    classes: HashMap<*const Requirement, u32>,
}

impl Sharing {
    pub fn finish(self) -> Shared {
        self.shared
    }

    pub fn encode(&mut self, assignment: &Assignment) -> v1::Assignment {
        v1::Assignment {
            attempt: Some(attempt(assignment.attempt)),
            number: assignment.number.0,
            order: Some(order_key(assignment.order)),
            class: self.class(&assignment.requirement),
            grant: assignment.grant.0,
            task: self.text(assignment.task.as_str()),
            index: assignment.index,
            run_env: self.run_env(&assignment.env),
            payload: Some(self.payload(&assignment.payload)),
            hold: assignment.hold,
            timeout: assignment.timeout.map(Duration::as_millis),
            orphan_timeout: assignment.orphan_timeout.map(Duration::as_millis),
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        let texts = &mut self.shared.texts;
        *self.texts.entry((text.as_ptr(), text.len())).or_insert_with(|| {
            texts.push(text.to_owned());
            texts.len() as u32 - 1
        })
    }

    fn run_env(&mut self, env: &Arc<RunEnv>) -> u32 {
        let all = &mut self.shared.variables;
        *self.variables.entry(Arc::as_ptr(env)).or_insert_with(|| {
            all.push(v1::Variables { items: variables(env) });
            all.len() as u32 - 1
        })
    }

    fn class(&mut self, class: &Arc<Requirement>) -> u32 {
        let classes = &mut self.shared.classes;
        *self.classes.entry(Arc::as_ptr(class)).or_insert_with(|| {
            classes.push(requirement(class));
            classes.len() as u32 - 1
        })
    }

    fn payload(&mut self, payload: &Payload) -> v1::Payload {
        let what = match payload {
            Payload::Noop => What::Noop(true),
            Payload::Sleep(duration) => What::Sleep(duration.as_millis()),
            Payload::Script { shell, text, env } => What::Script(v1::Script {
                shell: self.text(shell),
                text: self.text(text),
                env: variables(env),
            }),
            Payload::Command { argv, env } => {
                What::Command(v1::Command { argv: argv.clone(), env: variables(env) })
            }
            Payload::Python { code, args, interpreter, env } => What::Python(v1::Python {
                code: Some(match code {
                    PythonText::Inline(text) => v1::python::Code::Inline(self.text(text)),
                    PythonText::File(path) => v1::python::Code::File(path.clone()),
                }),
                args: args.clone(),
                interpreter: interpreter.clone(),
                env: variables(env),
            }),
            Payload::Http(call) => What::Http(http(call)),
            Payload::FileExists(path) => What::FileExists(path.clone()),
            Payload::HttpProbe(call) => What::HttpProbe(http(call)),
        };
        v1::Payload { what: Some(what) }
    }
}

fn variables(env: &[(Arc<str>, String)]) -> Vec<v1::Variable> {
    env.iter().map(|(name, value)| v1::Variable { name: name.to_string(), value: value.clone() }).collect()
}

fn to_variables(env: Vec<v1::Variable>) -> Vec<(Arc<str>, String)> {
    env.into_iter().map(|variable| (variable.name.into(), variable.value)).collect()
}

fn http(call: &HttpCall) -> v1::HttpCall {
    v1::HttpCall {
        method: call.method.to_owned(),
        url: call.url.clone(),
        headers: variables(&call.headers),
        query: variables(&call.query),
        body: call.body.as_ref().map(|(body, _)| body.clone()),
        json: call.body.as_ref().is_some_and(|(_, json)| *json),
        expect_status: call
            .expect_status
            .iter()
            .map(|(from, to)| v1::StatusRange { from: (*from).into(), to: (*to).into() })
            .collect(),
    }
}

fn to_http(call: v1::HttpCall) -> Result<Box<HttpCall>, Malformed> {
    let status = |number: u32| u16::try_from(number).map_err(|_| Malformed::wrong("a status", number));
    let ranges = call.expect_status.iter().map(|range| Ok((status(range.from)?, status(range.to)?)));
    Ok(Box::new(HttpCall {
        method: Method::from_word(&call.method)
            .ok_or_else(|| Malformed::wrong("an HTTP method", &call.method))?
            .as_str(),
        url: call.url,
        headers: to_variables(call.headers),
        query: to_variables(call.query),
        body: call.body.map(|body| (body, call.json)),
        expect_status: ranges.collect::<Result<_, Malformed>>()?,
    }))
}

/// What several assignments have in common, as it arrived.
pub struct Arrived {
    texts: Vec<Arc<str>>,
    tasks: HashMap<u32, TaskId>,
    variables: Vec<Arc<RunEnv>>,
    classes: Vec<Arc<Requirement>>,
}

impl Shared {
    pub fn decode(self) -> Result<Arrived, Malformed> {
        let classes = self.classes.into_iter().map(|class| to_requirement(class).map(Arc::new));
        Ok(Arrived {
            tasks: HashMap::new(),
            texts: self.texts.into_iter().map(Into::into).collect(),
            variables: self.variables.into_iter().map(|env| Arc::new(to_variables(env.items))).collect(),
            classes: classes.collect::<Result<_, _>>()?,
        })
    }
}

impl Arrived {
    pub fn assignment(&mut self, assignment: v1::Assignment) -> Result<Assignment, Malformed> {
        let what = assignment.payload.and_then(|payload| payload.what);
        Ok(Assignment {
            attempt: some_attempt(assignment.attempt)?,
            number: AttemptNumber(assignment.number),
            order: to_order_key(assignment.order)?,
            requirement: get(&self.classes, assignment.class, "a class")?,
            grant: GrantId(assignment.grant),
            task: self.task(assignment.task)?,
            index: assignment.index,
            env: get(&self.variables, assignment.run_env, "the variables of a run")?,
            payload: self.payload(what.ok_or_else(|| Malformed::missing("what to do"))?)?,
            hold: assignment.hold,
            timeout: assignment.timeout.map(Duration::from_millis),
            orphan_timeout: assignment.orphan_timeout.map(Duration::from_millis),
        })
    }

    fn task(&mut self, place: u32) -> Result<TaskId, Malformed> {
        if let Some(task) = self.tasks.get(&place) {
            return Ok(task.clone());
        }
        let text = self.text(place)?;
        let task = TaskId::new(&text).map_err(|error| Malformed::wrong("a task", error))?;
        self.tasks.insert(place, task.clone());
        Ok(task)
    }

    fn text(&self, place: u32) -> Result<Arc<str>, Malformed> {
        get(&self.texts, place, "a text")
    }

    fn payload(&self, what: What) -> Result<Payload, Malformed> {
        Ok(match what {
            What::Noop(_) => Payload::Noop,
            What::Sleep(millis) => Payload::Sleep(Duration::from_millis(millis)),
            What::Script(script) => Payload::Script {
                shell: self.text(script.shell)?,
                text: self.text(script.text)?,
                env: to_variables(script.env),
            },
            What::Command(command) => Payload::Command { argv: command.argv, env: to_variables(command.env) },
            What::Python(python) => Payload::Python {
                code: match python.code.ok_or_else(|| Malformed::missing("Python code"))? {
                    v1::python::Code::Inline(place) => PythonText::Inline(self.text(place)?),
                    v1::python::Code::File(path) => PythonText::File(path),
                },
                args: python.args,
                interpreter: python.interpreter,
                env: to_variables(python.env),
            },
            What::Http(call) => Payload::Http(to_http(call)?),
            What::FileExists(path) => Payload::FileExists(path),
            What::HttpProbe(call) => Payload::HttpProbe(to_http(call)?),
        })
    }
}

fn get<T>(list: &[Arc<T>], place: u32, what: &str) -> Result<Arc<T>, Malformed>
where
    T: ?Sized,
{
    list.get(place as usize).cloned().ok_or_else(|| Malformed::missing(what))
}
