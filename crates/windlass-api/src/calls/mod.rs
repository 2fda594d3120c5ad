//! What each call does, one file per subject.

use std::sync::Arc;

use windlass_store::Store;

use crate::answers::Answer;
use crate::api::Api;
use crate::asked::Asked;
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::routes::Call;

mod runs;

mod jobs;
mod logs;

mod events;

mod alerts;
mod dependencies;
mod imports;
mod workflows;

mod backfills;
mod calendars;
mod schedules;
mod triggers;

mod cluster;
mod pools;
mod scheduler;
mod workers;

mod backup;
mod tokens;

mod docs;
mod graphs;
mod health;
mod metrics;
mod ui;

/// Does what a caller may do.
pub async fn perform<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    call: Call,
    asked: Asked,
) -> Answer {
    match call {
        Call::Ui
        | Call::UiFile(_)
        | Call::Description
        | Call::Docs
        | Call::Page(_)
        | Call::Live
        | Call::Ready => greet(api, call, asked).await,
        Call::Metrics => metrics::metrics(api, &asked).await,
        Call::Switch(on) => scheduler::switch(api, caller, on, asked).await,

        Call::CreateRun => runs::create(api, caller, asked).await,
        Call::ListRuns => runs::list(api, &asked).await,
        Call::ShowRun(run) => runs::show(api, &run, &asked).await,
        Call::ControlRun(run, verb) => runs::control(api, caller, &run, verb, asked).await,
        Call::RunEvents(run) => events::of_run(api, &run, &asked).await,
        Call::RunGraph(run) => graphs::of_run(api, &run, &asked).await,
        Call::ListTasks(run) => jobs::tasks(api, &run, &asked).await,
        Call::ListJobs(run) => jobs::list(api, &run, &asked).await,
        Call::ShowJob(job) => jobs::show(api, &job, &asked).await,
        Call::ControlJob(job, verb) => jobs::control(api, caller, &job, verb, asked).await,
        Call::Why(job) => jobs::why(api, &job, &asked).await,
        Call::Log(job, attempt) => logs::log(api, &job, &attempt, &asked).await,
        Call::Events => events::of_everything(api, &asked),

        Call::ListWorkflows => workflows::list(api, &asked).await,
        Call::ShowWorkflow(name) => workflows::show(api, &name, &asked).await,
        Call::PutWorkflow(name) => workflows::put(api, caller, &name, asked).await,
        Call::DeleteWorkflow(name) => workflows::delete(api, caller, &name, asked).await,
        Call::EnableWorkflow(name, on) => workflows::enable(api, caller, &name, on, asked).await,
        Call::ListVersions(name) => workflows::versions(api, &name, &asked).await,
        Call::ShowVersion(name, version) => workflows::version(api, &name, &version, &asked).await,
        Call::WorkflowGraph(name) => graphs::of_workflow(api, &name, &asked).await,
        Call::Dependencies(name) => dependencies::dependencies(api, &name, &asked).await,
        Call::Validate => workflows::validate(asked).await,
        Call::TestAlerts => alerts::test(api, caller, asked).await,
        Call::ImportCrontab => imports::crontab(asked).await,

        Call::ListSchedules => schedules::list(api, &asked).await,
        Call::ShowSchedule(id) => schedules::show(api, &id, &asked).await,
        Call::PauseSchedule(id, paused) => schedules::pause(api, &id, paused, asked).await,
        Call::ListFirings(id) => schedules::firings(api, &id, &asked).await,
        Call::ScheduleNext(id) => schedules::next(api, &id, &asked).await,
        Call::CronNext => schedules::cron_next(api, &asked),

        Call::CreateBackfill => backfills::create(api, caller, asked).await,
        Call::ListBackfills => backfills::list(api, &asked).await,
        Call::ShowBackfill(id) => backfills::show(api, &id, &asked).await,
        Call::ControlBackfill(id, verb) => backfills::control(api, &id, verb, asked).await,
        Call::ListCalendars => calendars::list(api, &asked).await,
        Call::ShowCalendar(name) => calendars::show(api, &name, &asked).await,
        Call::SetCalendar(name) => calendars::set(api, caller, &name, asked).await,
        Call::DeleteCalendar(name) => calendars::delete(api, &name, asked).await,

        Call::ListTriggers => triggers::list(api, &asked).await,
        Call::ShowTrigger(id) => triggers::show(api, &id, &asked).await,
        Call::SetTrigger(id) => triggers::set(api, caller, &id, asked).await,
        Call::DeleteTrigger(id) => triggers::delete(api, &id, asked).await,
        Call::FireTrigger(id) => triggers::fire(api, caller, &id, asked).await,

        Call::ListWorkers => workers::list(api, &asked).await,
        Call::ShowWorker(id) => workers::show(api, &id, &asked).await,
        Call::DrainWorker(id, drain) => workers::drain(api, caller, &id, drain, asked).await,
        Call::ShowCluster => cluster::show(api, &asked).await,
        Call::ShowScheduler => scheduler::show(api, &asked).await,
        Call::ListPools => pools::list(api, &asked).await,
        Call::ShowPool(name) => pools::show(api, &name, &asked).await,
        Call::SetPool(name) => pools::set(api, &name, asked).await,
        Call::DeletePool(name) => pools::delete(api, &name, asked).await,

        Call::Backup => backup::backup(api, caller, &asked).await,
        Call::ListTokens => tokens::list(api, &asked).await,
        Call::CreateToken => tokens::create(api, caller, asked).await,
        Call::RevokeToken(id) => tokens::revoke(api, &id, asked).await,

        Call::NotYet(what) => Err(Refusal::not_yet(format!("{what} are planned and not built"))),
    }
}

/// Says what everybody may know.
pub async fn greet<S: Store + 'static>(api: &Arc<Api<S>>, call: Call, asked: Asked) -> Answer {
    match call {
        Call::Live => Ok(health::live()),
        Call::Ready => Ok(health::ready(api).await),
        Call::Description => Ok(docs::description()),
        Call::Docs => Ok(docs::calls()),
        Call::Page(path) => docs::page(&path),
        Call::UiFile(name) => ui::asset(api, &name, &asked).await,
        _ => ui::page(api).await,
    }
}
