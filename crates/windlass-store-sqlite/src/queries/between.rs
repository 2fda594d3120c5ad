//! What homes have to do with each other: who listens, what was dealt with, what is to be told.

use rusqlite::{Connection, params};
use windlass_core::rows::{InboxRow, ListenerRow, OutboxId, OutboxRow, Stamp};
use windlass_model::{Epoch, Name, ShardId};
use windlass_store::encoding::{Malformed, errands, shapes, signed, unsigned};

use super::{Fields, collect, execute, first};

const PUT_LISTENER: &str = "
    INSERT INTO listeners (shard, source, listener, ends, epoch, counter) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (shard, source, listener) DO UPDATE SET ends = excluded.ends, epoch = excluded.epoch,
        counter = excluded.counter";
const REMOVE_LISTENER: &str = "DELETE FROM listeners WHERE shard = ?1 AND source = ?2 AND listener = ?3";
const LISTENERS: &str = "
    SELECT source, listener, ends, epoch, counter FROM listeners WHERE shard = ?1 ORDER BY source, listener";

/// What was dealt with is not dealt with again.
const PUT_INBOX: &str = "
    INSERT INTO inbox (shard, listener, source, from_shard, from_epoch, from_counter)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (shard, listener, source) DO UPDATE SET from_shard = excluded.from_shard,
        from_epoch = excluded.from_epoch, from_counter = excluded.from_counter
    WHERE (from_shard, from_epoch, from_counter)
        < (excluded.from_shard, excluded.from_epoch, excluded.from_counter)";
const GET_INBOX: &str = "
    SELECT listener, source, from_shard, from_epoch, from_counter FROM inbox
    WHERE shard = ?1 AND listener = ?2 AND source = ?3";
const INBOX: &str = "
    SELECT listener, source, from_shard, from_epoch, from_counter FROM inbox
    WHERE shard = ?1 ORDER BY listener, source";

const PUT_OUTBOX: &str = "
    INSERT INTO outbox (shard, epoch, counter, errand) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (shard, epoch, counter) DO UPDATE SET errand = excluded.errand";
const REMOVE_OUTBOX: &str = "DELETE FROM outbox WHERE shard = ?1 AND epoch = ?2 AND counter = ?3";
const OUTBOX: &str = "
    SELECT shard, epoch, counter, errand FROM outbox WHERE shard = ?1 ORDER BY epoch, counter";

pub(crate) fn put_listener(
    connection: &Connection,
    shard: ShardId,
    row: &ListenerRow,
) -> rusqlite::Result<()> {
    let ListenerRow { source, listener, on, stamp: Stamp { epoch, counter } } = row;
    let values = params![
        shard.number(),
        source.as_str(),
        listener.as_str(),
        shapes::ends_text(on),
        signed(epoch.0),
        signed(*counter),
    ];
    execute(connection, PUT_LISTENER, values).map(drop)
}

pub(crate) fn remove_listener(
    connection: &Connection,
    shard: ShardId,
    source: &Name,
    listener: &Name,
) -> rusqlite::Result<()> {
    let key = params![shard.number(), source.as_str(), listener.as_str()];
    execute(connection, REMOVE_LISTENER, key).map(drop)
}

/// Who listens to workflows whose home a shard is, by source and listener.
pub(crate) fn listeners(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Vec<Result<ListenerRow, Malformed>>> {
    collect(connection, LISTENERS, [shard.number()], |row| {
        Ok(ListenerRow {
            source: row.name(0, "source")?,
            listener: row.name(1, "listener")?,
            on: shapes::ends(row.text(2, "ends")?)?,
            stamp: stamp(row, 3)?,
        })
    })
}

/// Whether the completion is newer than what was dealt with.
pub(crate) fn put_inbox(connection: &Connection, shard: ShardId, row: &InboxRow) -> rusqlite::Result<bool> {
    let InboxRow { listener, source, last: OutboxId { shard: from, stamp: Stamp { epoch, counter } } } = row;
    let values = params![
        shard.number(),
        listener.as_str(),
        source.as_str(),
        from.number(),
        signed(epoch.0),
        signed(*counter),
    ];
    Ok(execute(connection, PUT_INBOX, values)? == 1)
}

pub(crate) fn inbox_of(
    connection: &Connection,
    shard: ShardId,
    like: &InboxRow,
) -> rusqlite::Result<Option<Result<InboxRow, Malformed>>> {
    let key = params![shard.number(), like.listener.as_str(), like.source.as_str()];
    first(connection, GET_INBOX, key, take_inbox)
}

/// Up to where completions were dealt with, by listener and source.
pub(crate) fn inbox(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Vec<Result<InboxRow, Malformed>>> {
    collect(connection, INBOX, [shard.number()], take_inbox)
}

fn take_inbox(row: &Fields<'_>) -> Result<InboxRow, Malformed> {
    Ok(InboxRow {
        listener: row.name(0, "listener")?,
        source: row.name(1, "source")?,
        last: outbox_id(row, 2)?,
    })
}

pub(crate) fn put_outbox(connection: &Connection, row: &OutboxRow) -> rusqlite::Result<()> {
    let OutboxRow { id: OutboxId { shard, stamp: Stamp { epoch, counter } }, errand } = row;
    let errand = errands::errand_text(errand);
    execute(connection, PUT_OUTBOX, params![shard.number(), signed(epoch.0), signed(*counter), errand])
        .map(drop)
}

pub(crate) fn remove_outbox(connection: &Connection, id: OutboxId) -> rusqlite::Result<()> {
    let OutboxId { shard, stamp: Stamp { epoch, counter } } = id;
    execute(connection, REMOVE_OUTBOX, params![shard.number(), signed(epoch.0), signed(counter)]).map(drop)
}

/// What is to be told, oldest first.
pub(crate) fn outbox(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Vec<Result<OutboxRow, Malformed>>> {
    collect(connection, OUTBOX, [shard.number()], |row| {
        Ok(OutboxRow { id: outbox_id(row, 0)?, errand: errands::errand(row.text(3, "errand")?)? })
    })
}

/// A shard and a stamp of it, in three neighbouring places.
fn outbox_id(row: &Fields<'_>, place: usize) -> Result<OutboxId, Malformed> {
    let shard = ShardId::new(row.small(place, "shard")?);
    let shard = shard.ok_or_else(|| Malformed::new("shard", "it is out of range"))?;
    Ok(OutboxId { shard, stamp: stamp(row, place + 1)? })
}

fn stamp(row: &Fields<'_>, place: usize) -> Result<Stamp, Malformed> {
    let (epoch, counter) = (row.int(place, "epoch")?, row.int(place + 1, "counter")?);
    Ok(Stamp { epoch: Epoch(unsigned(epoch)), counter: unsigned(counter) })
}
