//! What attempts of a job run, for people: a script with the values that it refers to beside it, a program with its
//! arguments, an HTTP call.
//!
//! It is worked out again, by the code that made the assignment, when somebody asks: keeping it would cost every attempt
//! what nobody looks at. What a run was given never changes; what other tasks have put out may, when they are reopened,
//! so it says whose results it reads. Who shows it leaves it out for attempts that are older than these.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::tz::TimeZone;
use windlass_model::JobNumber;
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::expr::{Lookup, Scope};

use super::input::JobPlace;
use super::open_run::OpenRun;
use super::payload::{HttpCall, Payload, PythonText, payload};
use super::progress::items;
use super::scope::RunScope;

/// The most bytes of a text that are shown: more than anybody reads in a list of attempts.
const TEXT: usize = 16 << 10;
/// The most bytes of one value.
const VALUE: usize = 4 << 10;
/// The most values.
const VALUES: usize = 200;

/// What an attempt of a job runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The type of the task, as it is written in a workflow.
    pub kind: Arc<str>,
    /// The script, the program with its arguments, or the call.
    pub text: String,
    /// The variables that it is given beside those that every process has: what the script refers to.
    pub env: Vec<(Arc<str>, String)>,
    /// Whether something was too long and is cut.
    pub cut: bool,
    /// The jobs whose results it reads: the first of a range, and how many.
    pub reads: Vec<(JobNumber, u32)>,
}

/// What a job runs; `None` if no worker does it, or if its values cannot be worked out.
pub(super) fn rendered(run: &OpenRun, place: JobPlace) -> Option<Rendered> {
    let task = &run.definition.tasks[place.task.position()];
    let item = match items(run, task).ok()? {
        Some(all) => Some((place.item, all.items()?.get(u64::from(place.item))?)),
        None => None,
    };
    let scope = Recording { scope: RunScope { run, item }, reads: RefCell::default() };
    let payload = payload(task, &run.definition.env, &scope).ok()??;
    let mut reads = scope.reads.into_inner();
    if task.foreach.is_some() {
        // Its items may come from what is before it.
        reads.extend(run.definition.graph.dependencies(place.task));
    }
    let mut shown = Rendered { kind: task.work.task_type().as_str().into(), ..Rendered::default() };
    shown.reads = reads.into_iter().map(|task| jobs_of(run, task)).collect();
    shown.take(payload);
    Some(shown)
}

/// The numbers of the jobs of a task.
fn jobs_of(run: &OpenRun, task: TaskIndex) -> (JobNumber, u32) {
    let expansion = run.row.expansions.iter().rfind(|expansion| expansion.task == task && !expansion.closed);
    expansion.map_or((JobNumber(task.0), 1), |expansion| (expansion.base, expansion.count))
}

/// Notes which tasks are read.
struct Recording<'a> {
    scope: RunScope<'a>,
    reads: RefCell<BTreeSet<TaskIndex>>,
}

impl Scope for Recording<'_> {
    fn zone(&self) -> &TimeZone {
        self.scope.zone()
    }

    fn lookup(&self, root: &str, path: &[Arc<str>]) -> Lookup {
        if let ("tasks", Some(id)) = (root, path.first()) {
            let task = self.scope.run.definition.task(id);
            self.reads.borrow_mut().extend(task.map(|(index, _)| index));
        }
        self.scope.lookup(root, path)
    }
}

impl Rendered {
    fn take(&mut self, payload: Payload) {
        match payload {
            Payload::Noop => {}
            Payload::Sleep(duration) => self.text = format!("sleep {duration}"),
            Payload::Script { text, env, .. } => {
                self.text = self.cut_at(&text, TEXT);
                self.values(env);
            }
            Payload::Command { argv, env } => {
                self.text = self.cut_at(&line(&argv), TEXT);
                self.values(env);
            }
            Payload::Python { code, args, interpreter, env } => {
                let text = match code {
                    PythonText::Inline(code) => code.to_string(),
                    PythonText::File(path) => path,
                };
                self.text = self.cut_at(&text, TEXT);
                let told = interpreter.map(|interpreter| ("interpreter".into(), interpreter));
                let given = (!args.is_empty()).then(|| ("arguments".into(), line(&args)));
                self.values(told.into_iter().chain(given).chain(env).collect());
            }
            Payload::Http(call) | Payload::HttpProbe(call) => self.text = self.cut_at(&request(&call), TEXT),
            Payload::FileExists(path) => self.text = self.cut_at(&path, TEXT),
        }
    }

    fn values(&mut self, values: Vec<(Arc<str>, String)>) {
        self.cut |= values.len() > VALUES;
        for (name, value) in values.into_iter().take(VALUES) {
            let value = self.cut_at(&value, VALUE);
            self.env.push((name, value));
        }
    }

    /// The text, or as much of it as is shown.
    fn cut_at(&mut self, text: &str, most: usize) -> String {
        let end = text.floor_char_boundary(most);
        self.cut |= end < text.len();
        text[..end].to_owned()
    }
}

/// Arguments as one would type them.
fn line(arguments: &[String]) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@%+".contains(letter);
    let quoted = |argument: &String| match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.clone(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A call as it goes over the wire, more or less.
fn request(call: &HttpCall) -> String {
    let mut text = format!("{} {}", call.method, call.url);
    for (place, (name, value)) in call.query.iter().enumerate() {
        let _ =
            write!(text, "{}{name}={value}", if place == 0 && !call.url.contains('?') { '?' } else { '&' });
    }
    for (name, value) in &call.headers {
        let _ = write!(text, "\n{name}: {value}");
    }
    if let Some((body, _)) = &call.body {
        let _ = write!(text, "\n\n{body}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_would_need_it() {
        let argv = ["echo", "a b", "", "it's", "x=1"].map(str::to_owned);
        assert_eq!(line(&argv), r"echo 'a b' '' 'it'\''s' x=1");
    }

    #[test]
    fn what_is_too_long_is_cut_between_letters() {
        let mut shown = Rendered::default();
        assert_eq!(shown.cut_at("abc", 3), "abc");
        assert!(!shown.cut);
        assert_eq!(shown.cut_at("aé", 2), "a");
        assert!(shown.cut);
    }
}
