//! What homes have to do with each other: who listens, what was dealt with, what is to be told.

use windlass_core::rows::{InboxRow, ListenerRow, OutboxId, OutboxRow, Stamp};
use windlass_model::{Epoch, Name, ShardId};
use windlass_store::encoding::{Malformed, errands, shapes, signed, unsigned};

use super::{Fields, collect, column, shard_key};
use crate::session::{Asked, Session};

const PUT_LISTENERS: &str = "
    INSERT INTO listeners (shard, source, listener, ends, epoch, counter)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    ON CONFLICT (shard, source, listener) DO UPDATE SET ends = excluded.ends, epoch = excluded.epoch,
        counter = excluded.counter";
const REMOVE_LISTENERS: &str = "
    DELETE FROM listeners USING unnest($1::smallint[], $2::text[], $3::text[]) AS gone (shard, source, listener)
    WHERE listeners.shard = gone.shard AND listeners.source = gone.source AND listeners.listener = gone.listener";
const LISTENERS: &str = "
    SELECT source, listener, ends, epoch, counter FROM listeners WHERE shard = $1 ORDER BY source, listener";

const PUT_INBOX: &str = "
    INSERT INTO inbox (shard, listener, source, from_shard, from_epoch, from_counter)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::text[], $4::smallint[], $5::bigint[], $6::bigint[])
    ON CONFLICT (shard, listener, source) DO UPDATE SET from_shard = excluded.from_shard,
        from_epoch = excluded.from_epoch, from_counter = excluded.from_counter";
const STORED_INBOX: &str = "
    SELECT inbox.shard, inbox.listener, inbox.source, inbox.from_shard, inbox.from_epoch, inbox.from_counter
    FROM unnest($1::smallint[], $2::text[], $3::text[]) AS wanted (shard, listener, source)
    JOIN inbox USING (shard, listener, source)";
const INBOX: &str = "
    SELECT listener, source, from_shard, from_epoch, from_counter FROM inbox
    WHERE shard = $1 ORDER BY listener, source";

const PUT_OUTBOX: &str = "
    INSERT INTO outbox (shard, epoch, counter, errand)
    SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::text[])
    ON CONFLICT (shard, epoch, counter) DO UPDATE SET errand = excluded.errand";
const REMOVE_OUTBOX: &str = "
    DELETE FROM outbox USING unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS gone (shard, epoch, counter)
    WHERE outbox.shard = gone.shard AND outbox.epoch = gone.epoch AND outbox.counter = gone.counter";
const OUTBOX: &str = "
    SELECT shard, epoch, counter, errand FROM outbox WHERE shard = $1 ORDER BY epoch, counter";

/// Names a listener, or a mark of what was dealt with: the shard and two workflows.
pub(crate) type PairKey = (ShardId, Name, Name);

/// Stores listeners, each once.
pub(crate) async fn put_listeners(session: &Session, rows: &[(ShardId, &ListenerRow)]) -> Asked<()> {
    session
        .execute(
            PUT_LISTENERS,
            &[
                &column(rows, |(shard, _)| shard_key(*shard)),
                &column(rows, |(_, row)| row.source.as_str()),
                &column(rows, |(_, row)| row.listener.as_str()),
                &column(rows, |(_, row)| shapes::ends_text(&row.on)),
                &column(rows, |(_, row)| signed(row.stamp.epoch.0)),
                &column(rows, |(_, row)| signed(row.stamp.counter)),
            ],
        )
        .await
        .map(drop)
}

pub(crate) async fn remove_listeners(session: &Session, keys: &[&PairKey]) -> Asked<()> {
    let (shards, sources, listeners) = pair_columns(keys);
    session.execute(REMOVE_LISTENERS, &[&shards, &sources, &listeners]).await.map(drop)
}

fn pair_columns<'k>(keys: &[&'k PairKey]) -> (Vec<i16>, Vec<&'k str>, Vec<&'k str>) {
    (
        column(keys, |key| shard_key(key.0)),
        column(keys, |key| key.1.as_str()),
        column(keys, |key| key.2.as_str()),
    )
}

/// Who listens to workflows whose home a shard is, by source and listener.
pub(crate) async fn listeners(
    session: &Session,
    shard: ShardId,
) -> Asked<Vec<Result<ListenerRow, Malformed>>> {
    collect(session, LISTENERS, &[&shard_key(shard)], |row| {
        Ok(ListenerRow {
            source: row.name(0, "source")?,
            listener: row.name(1, "listener")?,
            on: shapes::ends(row.text(2, "ends")?)?,
            stamp: stamp(row, 3)?,
        })
    })
    .await
}

/// Stores marks of what was dealt with, each once.
pub(crate) async fn put_inbox(session: &Session, rows: &[(ShardId, &InboxRow)]) -> Asked<()> {
    session
        .execute(
            PUT_INBOX,
            &[
                &column(rows, |(shard, _)| shard_key(*shard)),
                &column(rows, |(_, row)| row.listener.as_str()),
                &column(rows, |(_, row)| row.source.as_str()),
                &column(rows, |(_, row)| shard_key(row.last.shard)),
                &column(rows, |(_, row)| signed(row.last.stamp.epoch.0)),
                &column(rows, |(_, row)| signed(row.last.stamp.counter)),
            ],
        )
        .await
        .map(drop)
}

/// Which of these marks are stored, and what they say.
pub(crate) async fn stored_inbox(
    session: &Session,
    keys: &[&PairKey],
) -> Asked<Vec<Result<(PairKey, OutboxId), Malformed>>> {
    let (shards, listeners, sources) = pair_columns(keys);
    collect(session, STORED_INBOX, &[&shards, &listeners, &sources], |row| {
        let key = (row.shard(0, "shard")?, row.name(1, "listener")?, row.name(2, "source")?);
        Ok((key, outbox_id(row, 3)?))
    })
    .await
}

/// Up to where completions were dealt with, by listener and source.
pub(crate) async fn inbox(session: &Session, shard: ShardId) -> Asked<Vec<Result<InboxRow, Malformed>>> {
    collect(session, INBOX, &[&shard_key(shard)], |row| {
        Ok(InboxRow {
            listener: row.name(0, "listener")?,
            source: row.name(1, "source")?,
            last: outbox_id(row, 2)?,
        })
    })
    .await
}

/// Stores what is to be told, each once.
pub(crate) async fn put_outbox(session: &Session, rows: &[&OutboxRow]) -> Asked<()> {
    session
        .execute(
            PUT_OUTBOX,
            &[
                &column(rows, |row| shard_key(row.id.shard)),
                &column(rows, |row| signed(row.id.stamp.epoch.0)),
                &column(rows, |row| signed(row.id.stamp.counter)),
                &column(rows, |row| errands::errand_text(&row.errand)),
            ],
        )
        .await
        .map(drop)
}

pub(crate) async fn remove_outbox(session: &Session, ids: &[OutboxId]) -> Asked<()> {
    let params: super::Params<'_> = &[
        &column(ids, |id| shard_key(id.shard)),
        &column(ids, |id| signed(id.stamp.epoch.0)),
        &column(ids, |id| signed(id.stamp.counter)),
    ];
    session.execute(REMOVE_OUTBOX, params).await.map(drop)
}

/// What is to be told, oldest first.
pub(crate) async fn outbox(session: &Session, shard: ShardId) -> Asked<Vec<Result<OutboxRow, Malformed>>> {
    collect(session, OUTBOX, &[&shard_key(shard)], |row| {
        Ok(OutboxRow { id: outbox_id(row, 0)?, errand: errands::errand(row.text(3, "errand")?)? })
    })
    .await
}

/// A shard and a stamp of it, in three neighbouring places.
fn outbox_id(row: &Fields<'_>, place: usize) -> Result<OutboxId, Malformed> {
    Ok(OutboxId { shard: row.shard(place, "shard")?, stamp: stamp(row, place + 1)? })
}

fn stamp(row: &Fields<'_>, place: usize) -> Result<Stamp, Malformed> {
    let (epoch, counter) = (row.int(place, "epoch")?, row.int(place + 1, "counter")?);
    Ok(Stamp { epoch: Epoch(unsigned(epoch)), counter: unsigned(counter) })
}
