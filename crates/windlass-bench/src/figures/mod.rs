//! The figures, one file each.

mod chain;
mod failover;
mod growth;
mod latency;
mod memory;
mod noop;
mod postgres;
mod processes;
mod reading;
mod schedules;
mod start;

use std::path::Path;

use crate::folder::Folder;
use crate::observed::load_average;
use crate::plan::{Figure, Plan};
use crate::report::Report;

/// Measures what the plan names; `say` hears what is done, for whoever waits. When this is dropped, the processes that it
/// has started are killed, and its folder is removed.
pub async fn run(plan: &Plan, say: &mut dyn FnMut(&str)) -> anyhow::Result<Report> {
    let load_before = load_average();
    let folder = Folder::new(&plan.folder)?;
    let mut items = Vec::new();
    for figure in &plan.figures {
        say(&format!("{figure} …"));
        let own = folder.path().join(figure.as_str());
        std::fs::create_dir_all(&own)?;
        items.extend(measure(*figure, plan, &own).await?);
        // The next one shall have the disk for itself.
        std::fs::remove_dir_all(&own)?;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Report { items, cores, load_before, load_after: load_average(), rounds: plan.rounds })
}

async fn measure(figure: Figure, plan: &Plan, folder: &Path) -> anyhow::Result<Vec<crate::Row>> {
    // Boxed: each of them is large, and one is done at a time.
    match figure {
        Figure::Noop => Box::pin(noop::measure(plan, folder)).await,
        Figure::Processes => Box::pin(processes::measure(plan, folder)).await,
        Figure::Latency => Box::pin(latency::measure(plan, folder)).await,
        Figure::Chain => Box::pin(chain::measure(plan, folder)).await,
        Figure::Memory => Box::pin(memory::measure(plan, folder)).await,
        Figure::Growth => Box::pin(growth::measure(plan, folder)).await,
        Figure::Reading => Box::pin(reading::measure(plan, folder)).await,
        Figure::Schedules => Box::pin(schedules::measure(plan, folder)).await,
        Figure::Start => Box::pin(start::measure(plan, folder)).await,
        Figure::Postgres => Box::pin(postgres::measure(plan, folder)).await,
        Figure::Failover => Box::pin(failover::measure(plan, folder)).await,
    }
}
