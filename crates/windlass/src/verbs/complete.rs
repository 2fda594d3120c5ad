//! Completion of names that the server knows, while somebody types.
//!
//! The shell calls this program with the line so far. Nobody who presses a key waits for a server that is away: then there
//! are no names, and no complaints.

use std::ffi::OsStr;
use std::time::Duration;

use clap_complete::engine::CompletionCandidate;
use windlass_client::{Client, Patience, Settings, Token};
use windlass_rest::PageQuery;
use windlass_rest::jobs::ListJobs;
use windlass_rest::runs::ListRuns;
use windlass_rest::workflows::ListWorkflows;

/// What the shell's script sets when it asks.
pub const VARIABLE: &str = "WINDLASS_COMPLETE";
/// How long somebody waits who presses a key.
const MOST: Duration = Duration::from_millis(800);
/// How many runs are offered: those that somebody may have seen.
const RUNS: u32 = 30;

/// Runs, newest first.
pub fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = ask(async |client| {
        let query = ListRuns { limit: Some(RUNS), ..ListRuns::default() };
        let runs = client.runs(&query).await?.items;
        let told = runs.into_iter().map(|run| (run.id, format!("{} {}", run.workflow, run.state)));
        Ok([("last".to_owned(), "the newest run".to_owned())].into_iter().chain(told).collect())
    });
    fitting(typed, found)
}

/// Stored workflows.
pub fn workflows(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = ask(async |client| {
        let query = ListWorkflows { limit: Some(windlass_rest::MOST_ITEMS), ..ListWorkflows::default() };
        let workflows = client.workflows(&query).await?.items;
        Ok(workflows
            .into_iter()
            .map(|workflow| (workflow.name, workflow.description.unwrap_or_default()))
            .collect())
    });
    fitting(typed, found)
}

/// Tasks of the newest run: what somebody asks about most.
pub fn tasks(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = ask(async |client| {
        let newest = client.runs(&ListRuns { limit: Some(1), ..ListRuns::default() }).await?;
        let Some(run) = newest.items.into_iter().next() else { return Ok(Vec::new()) };
        let query = ListJobs { limit: Some(windlass_rest::MOST_ITEMS), ..ListJobs::default() };
        let mut tasks: Vec<_> = client
            .jobs(&run.id, &query)
            .await?
            .items
            .into_iter()
            .map(|job| (job.task, format!("of run {}", run.id)))
            .collect();
        tasks.dedup();
        Ok(tasks)
    });
    fitting(typed, found)
}

/// Workers.
pub fn workers(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = ask(async |client| {
        let workers = client.workers(&PageQuery::default()).await?.items;
        Ok(workers.into_iter().map(|worker| (worker.name, worker.state.to_string())).collect())
    });
    fitting(typed, found)
}

/// Pools.
pub fn pools(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = ask(async |client| {
        let pools = client.pools(&PageQuery::default()).await?.items;
        Ok(pools
            .into_iter()
            .map(|pool| (pool.name, format!("{} of {} taken", pool.taken, pool.limit)))
            .collect())
    });
    fitting(typed, found)
}

/// Tokens.
pub fn tokens(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = ask(async |client| {
        let tokens = client.tokens(&PageQuery::default()).await?.items;
        Ok(tokens.into_iter().map(|token| (token.name, token.role.to_string())).collect())
    });
    fitting(typed, found)
}

/// Names, each with a few words about it.
type Named = Vec<(String, String)>;

fn ask(names: impl AsyncFnOnce(Client) -> Result<Named, windlass_client::Error>) -> Named {
    let asked = || {
        let given = super::profiles::Given::from_environment().ok()?;
        let patience = Patience { unreachable: Duration::ZERO, unavailable: Duration::ZERO };
        let settings =
            Settings { server: given.server, token: given.token.as_deref().map(Token::new), patience };
        let client = Client::new(&settings).ok()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async { tokio::time::timeout(MOST, names(client)).await.ok()?.ok() })
    };
    asked().unwrap_or_default()
}

fn fitting(typed: &OsStr, names: Named) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().to_lowercase();
    let fits = |name: &str| name.to_lowercase().starts_with(&typed);
    names
        .into_iter()
        .filter(|(name, _)| fits(name))
        .map(|(name, about)| {
            let about = Some(about).filter(|about| !about.is_empty());
            CompletionCandidate::new(name).help(about.map(Into::into))
        })
        .collect()
}
