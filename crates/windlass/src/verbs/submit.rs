//! `submit`: a one-off command, or an array of them, as a workflow of one task.

use std::io::Write as _;

use anyhow::anyhow;
use clap::Args;
use serde_json::{Map, Value, json};
use windlass_client::new_key;
use windlass_model::Duration;
use windlass_rest::logs::Stream;
use windlass_rest::problem::Exit;
use windlass_rest::runs::{CreateRun, Definition, Run};

use super::logs;
use super::output::Format;
use super::session::Session;
use super::times;
use super::wait::{self, Waited};
use super::words;
use crate::codes::Code;
use crate::exit::{Failure, tell};

/// What the one task of a command is called.
const TASK: &str = "main";

/// A command for a worker.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass submit -- echo hi
  windlass submit --wait --retries 3 --timeout 10m -- ./load.sh --day 2026-01-31
  windlass submit --array 8 -- sh -c 'echo part $WINDLASS_INDEX'")]
pub struct Submit {
    /// What to call it; the program's name unless told
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Run it N times; each sees its number, from 0, in WINDLASS_INDEX
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    array: Option<u32>,
    /// Only on workers of this group
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// How often to try again after a failure
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// End it when it takes longer, as in 10m
    #[arg(long, value_name = "D", value_parser = times::duration)]
    timeout: Option<Duration>,
    /// highest, high, medium, low or lowest
    #[arg(long, value_name = "P", value_parser = words::priority)]
    priority: Option<windlass_rest::Priority>,
    /// Environment variable; without a value the one it has here
    #[arg(short = 'e', long = "env", value_name = "K=V")]
    env: Vec<String>,
    /// Wait for the end and show what it printed
    #[arg(long)]
    wait: bool,
    /// Repeats with the same key start nothing again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// The program and its arguments, passed on exactly as they are
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

impl Submit {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let create = CreateRun {
            definition: Some(Definition::Object(self.definition()?)),
            priority: self.priority,
            ..CreateRun::default()
        };
        let key = self.idempotency_key.clone().unwrap_or_else(new_key);
        let run = session.client.create_run(&key, &create).await?;
        if self.wait {
            begun_and_waited(session, &run, self.array.is_none()).await
        } else {
            begun(session, &run)
        }
    }

    fn definition(&self) -> Result<Value, Failure> {
        let arguments: Vec<String> = self.command.iter().map(|argument| literal(argument)).collect();
        let mut task = Map::new();
        task.insert("type".into(), json!("shell"));
        task.insert("with".into(), json!({"command": arguments}));
        let settings = [
            ("foreach", self.array.map(|count| json!({"items": format!("${{{{ range({count}) }}}}")}))),
            ("group", self.group.as_ref().map(|group| json!(group))),
            ("retries", self.retries.map(|count| json!(count))),
            ("timeout", self.timeout.map(|timeout| json!(timeout.to_string()))),
        ];
        for (key, value) in settings {
            task.extend(value.map(|value| (key.to_owned(), value)));
        }
        let mut env = Map::new();
        for pair in &self.env {
            let (name, value) = environment(pair)?;
            env.insert(name, json!(literal(&value)));
        }
        if !env.is_empty() {
            task.insert("env".into(), env.into());
        }
        let name = self.name.clone().unwrap_or_else(|| name_of(&self.command[0]));
        let definition = json!({"name": name, "tasks": {TASK: task}});
        if let Err(complaints) = windlass_workflow::from_json(&definition) {
            let told: Vec<String> = complaints.iter().map(|complaint| complaint.message.clone()).collect();
            return Err(Failure::usage(anyhow!("cannot submit {}: {}", self.command[0], told.join("; "))));
        }
        Ok(definition)
    }
}

/// Tells that a run was started: its id, and how to follow it.
pub fn begun(session: &Session, run: &Run) -> Result<Exit, Failure> {
    session.out.one(run, &run.id, |out| out.line(&run.id))?;
    session.out.note(format!("follow it with: windlass logs -f {}", run.id));
    Ok(Exit::Fine)
}

/// Tells that a run was started, waits for its end and tells that. `printed`: show what its only job printed.
pub async fn begun_and_waited(session: &Session, run: &Run, printed: bool) -> Result<Exit, Failure> {
    let whole = matches!(session.out.format, Format::Json | Format::Jsonl | Format::Yaml);
    if !whole {
        session.out.line(&run.id)?;
    }
    let waited = wait::until_end(session, &run.id, None).await?;
    if printed && let Waited::Ended(_) = waited {
        match show_printed(session, &run.id).await {
            Err(failure) if !failure.is_broken_pipe() => tell(&failure),
            shown => shown?,
        }
    }
    if whole {
        let last = match &waited {
            Waited::Ended(ended) => ended,
            Waited::TimedOut | Waited::Interrupted => run,
        };
        session.out.one(last, &run.id, |_| Ok(()))?;
    }
    Ok(wait::conclude(session, &run.id, &waited))
}

/// What the command printed, where it printed it; beside results in another form, on standard error.
async fn show_printed(session: &Session, run: &str) -> Result<(), Failure> {
    let jobs = session.client.jobs(run, &windlass_rest::jobs::ListJobs::default()).await?.items;
    let [job] = &jobs[..] else { return Ok(()) };
    let Some(attempt) = job.attempts.last() else { return Ok(()) };
    let people = session.out.is_for_people();
    let shown = logs::whole(session, run, job.number, attempt.number, &mut |line| match line.stream {
        Stream::Stdout if people => writeln!(std::io::stdout().lock(), "{}", line.text),
        Stream::Stdout | Stream::Stderr | Stream::Cut => {
            session.out.say(&line.text);
            Ok(())
        }
    })
    .await;
    match shown {
        // A command that could not be started has printed nothing.
        Err(failure) if failure.exit == Exit::NotFound => Ok(()),
        shown => shown,
    }
}

/// A text in which nothing is an expression.
fn literal(text: &str) -> String {
    text.replace("${{", "$${{")
}

fn environment(pair: &str) -> Result<(String, String), Failure> {
    if let Some((name, value)) = pair.split_once('=') {
        return Ok((name.to_owned(), value.to_owned()));
    }
    let here = std::env::var(pair).map_err(|_| anyhow!("the environment has no variable `{pair}`"));
    here.map(|value| (pair.to_owned(), value)).map_err(|error| {
        Failure::new(Code::MissingVariable, error).hint(format!("give it a value: -e {pair}=VALUE"))
    })
}

/// The program's name, with what names may not have left out.
fn name_of(program: &str) -> String {
    let base = program.rsplit('/').next().unwrap_or(program);
    let name: String =
        base.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.is_empty() { "command".to_owned() } else { name.chars().take(60).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_the_program() {
        assert_eq!(name_of("/usr/bin/python3"), "python3");
        assert_eq!(name_of("./load.sh"), "load.sh");
        assert_eq!(name_of("-7z"), "7z");
        assert_eq!(name_of("§"), "command");
    }

    #[test]
    fn no_argument_is_an_expression() {
        assert_eq!(literal("a ${{ b }} $${{ c"), "a $${{ b }} $$${{ c");
    }
}
