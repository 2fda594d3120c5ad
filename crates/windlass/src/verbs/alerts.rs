//! `alerts`: whether people are reached.

use clap::{Args, Subcommand};
use windlass_rest::alerts::TestedAlert;
use windlass_rest::problem::Exit;

use super::output::Column;
use super::session::Session;
use crate::exit::Failure;

/// Messages to people.
#[derive(Debug, Subcommand)]
pub enum Alerts {
    /// Send each alert of a workflow once, as a test
    Test(Test),
}

/// Whose alerts.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  windlass alerts test nightly-sales")]
pub struct Test {
    /// The workflow
    #[arg(value_name = "WORKFLOW")]
    workflow: String,
}

impl Alerts {
    /// Fails if one of them was not taken.
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        const COLUMNS: &[Column<TestedAlert>] = &[
            ("TARGET", |alert| alert.target.clone()),
            ("ACCEPTED", |alert| if alert.accepted { "yes" } else { "no" }.to_owned()),
            ("DETAIL", |alert| alert.detail.clone().unwrap_or_default()),
        ];
        let Alerts::Test(Test { workflow }) = self;
        let tested = session.patient().client.test_alerts(&workflow).await?;
        session.out.list(&tested.items, COLUMNS, &[], &format!("{workflow} has no alerts"))?;
        Ok(if tested.items.iter().all(|alert| alert.accepted) { Exit::Fine } else { Exit::Failed })
    }
}
