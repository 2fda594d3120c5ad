//! Pools.

use std::sync::Arc;

use windlass_core::shard::input::Call;
use windlass_model::Name;
use windlass_rest::pools::{Pool, SetPool};
use windlass_rest::{Page, PageQuery, ProblemCode};
use windlass_store::Store;
use windlass_store::reads::FoundPool;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::{self, Asked};
use crate::refusal::Refusal;

/// Some pools, by name.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: PageQuery = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let after = query.cursor.map(|cursor| Name::new(&cursor)).transpose();
    let after = after.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?;
    let mut pools = api.store().pools(after.as_ref(), limit + 1).await?;
    let more = pools.len() > limit;
    pools.truncate(limit);
    let next_cursor = pools.last().filter(|_| more).map(|last| last.name.to_string());
    answers::ok(&Page { items: pools.iter().map(shown).collect(), next_cursor })
}

/// One pool.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    let name = Name::new(name).map_err(|_| not_found(name))?;
    answers::ok(&found(api, &name).await?)
}

/// Makes a pool, or changes its limit.
pub async fn set<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    let name =
        Name::new(name).map_err(|error| Refusal::bad_request(format!("the name of a pool: {error}")))?;
    let SetPool { limit } = asked.json().await?;
    let home = api.handle.shards().home("pool", name.as_str());
    api.handle.done(home, Call::SetPool(name.clone(), limit), api.wait()).await?;
    answers::ok(&found(api, &name).await?)
}

/// Deletes a pool of which nobody holds a permit.
pub async fn delete<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let name = Name::new(name).map_err(|_| not_found(name))?;
    found(api, &name).await?;
    let home = api.handle.shards().home("pool", name.as_str());
    api.handle.done(home, Call::DeletePool(name), api.wait()).await?;
    answers::no_content()
}

async fn found<S: Store + 'static>(api: &Arc<Api<S>>, name: &Name) -> Result<Pool, Refusal> {
    let mut after: Option<Name> = None;
    loop {
        let pools = api.store().pools(after.as_ref(), 1000).await?;
        let Some(last) = pools.last().map(|pool| pool.name.clone()) else { break };
        if let Some(pool) = pools.iter().find(|pool| pool.name == *name) {
            return Ok(shown(pool));
        }
        if last > *name {
            break;
        }
        after = Some(last);
    }
    Err(not_found(name.as_str()))
}

fn shown(pool: &FoundPool) -> Pool {
    Pool { name: pool.name.to_string(), limit: pool.limit, taken: pool.held, waiting: 0, holders: vec![] }
}

fn not_found(name: &str) -> Refusal {
    let shown: String = name.chars().take(100).collect();
    Refusal::new(ProblemCode::PoolNotFound, format!("there is no pool `{shown}`"))
}
