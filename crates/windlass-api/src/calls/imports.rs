//! What other schedulers run, as workflows.

use windlass_rest::ProblemCode;
use windlass_rest::imports::{
    ImportCrontab, ImportedCrontab, ImportedLine, ImportedWorkflow, LineKind, LineOutcome, UserColumn,
};
use windlass_workflow::crontab::{self, Imported, Kind, Options, Outcome, Users};

use crate::answers::{self, Answer};
use crate::asked::Asked;
use crate::refusal::Refusal;

/// Reads a crontab and stores nothing.
pub async fn crontab(asked: Asked) -> Answer {
    asked.no_query()?;
    let ImportCrontab { text, timezone, user_column, prefix } = asked.json().await?;
    let options = Options {
        zone: timezone.unwrap_or_else(|| "UTC".to_owned()),
        users: match user_column.unwrap_or(UserColumn::Auto) {
            UserColumn::Auto => Users::Look,
            UserColumn::Yes => Users::Named,
            UserColumn::No => Users::NotNamed,
        },
        prefix: prefix.unwrap_or_default(),
    };
    // A thousand lines are a thousand workflows to check.
    let imported = tokio::task::spawn_blocking(move || crontab::import(&text, &options)).await;
    let imported =
        imported.map_err(|_| Refusal::new(ProblemCode::Internal, "the crontab could not be read"))?;
    let imported = imported.map_err(|error| {
        let refusal = Refusal::bad_request(error.message);
        match error.help {
            Some(help) => refusal.hint(help),
            None => refusal,
        }
    })?;
    answers::ok(&sent(imported))
}

fn sent(imported: Imported) -> ImportedCrontab {
    let workflow = |workflow: crontab::Workflow| ImportedWorkflow {
        name: workflow.name.to_string(),
        text: workflow.text,
        line: workflow.line,
    };
    let line = |line: crontab::Line| ImportedLine {
        line: line.line,
        column: line.column,
        text: line.text,
        kind: match line.kind {
            Kind::Setting => LineKind::Setting,
            Kind::Job => LineKind::Job,
        },
        outcome: match line.outcome {
            Outcome::Converted => LineOutcome::Converted,
            Outcome::Approximated => LineOutcome::Approximated,
            Outcome::Unsupported => LineOutcome::Unsupported,
        },
        workflow: line.workflow.map(|name| name.to_string()),
        notes: line.notes,
    };
    ImportedCrontab {
        workflows: imported.workflows.into_iter().map(workflow).collect(),
        lines: imported.lines.into_iter().map(line).collect(),
        user_column: imported.users,
    }
}
