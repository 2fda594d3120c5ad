-- The tables of a Windlass store, for people who look into them:
--
--   * a run id is a number; `runs.shown` is the same id as users see it
--   * times are milliseconds of the Unix epoch: datetime(created_at / 1000, 'unixepoch')
--   * workers, incarnations and owners are random 64-bit numbers: printf('%016x', worker)
--   * parameters and outputs are JSON; dates, times, spans and ranges are marked: {"$date": "2026-03-01"}
--   * a job that has not begun has no row: the definition of its run implies it
--
-- Words (states, kinds) have no CHECK: SQLite cannot change one later without writing the whole table again.
-- What is refused because of what is stored is refused by the statements in `queries/`.

-- One row: what the store says of itself.
CREATE TABLE store (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    id            TEXT    NOT NULL CHECK (length(id) = 16),
    shards        INTEGER NOT NULL CHECK (shards BETWEEN 1 AND 1024),
    registrations INTEGER NOT NULL DEFAULT 0,
    revision      INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Masters, ownership and what belongs to no shard.
CREATE TABLE leases (
    owner   INTEGER PRIMARY KEY,
    name    TEXT    NOT NULL UNIQUE,
    counter INTEGER NOT NULL,
    applied INTEGER NOT NULL
) STRICT;

CREATE TABLE globals (
    kind     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    revision INTEGER NOT NULL UNIQUE,
    value    TEXT,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE shards (
    shard    INTEGER PRIMARY KEY,
    owner    INTEGER,
    epoch    INTEGER NOT NULL DEFAULT 0,
    commits  INTEGER NOT NULL DEFAULT 0,
    last_run INTEGER,
    loaded   INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Definitions.
CREATE TABLE versions (
    workflow   TEXT    NOT NULL,
    number     INTEGER NOT NULL CHECK (number > 0),
    hash       TEXT    NOT NULL CHECK (length(hash) = 64),
    source     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workflow, number),
    UNIQUE (workflow, hash)
) STRICT;

-- Runs and what belongs to them.
CREATE TABLE runs (
    id           INTEGER PRIMARY KEY,
    workflow     TEXT    NOT NULL,
    version      INTEGER,
    revision     INTEGER NOT NULL,  -- how often it was stored
    state        TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    priority     TEXT    NOT NULL,
    logical_time INTEGER NOT NULL,
    run_at       INTEGER,
    created_at   INTEGER NOT NULL,
    created_by   TEXT    NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER,
    trigger      TEXT    NOT NULL,
    parent       INTEGER,           -- the run whose sub-workflow this is
    selection    TEXT    NOT NULL,
    serial       INTEGER NOT NULL CHECK (serial IN (0, 1)),
    ending       INTEGER NOT NULL CHECK (ending IN (0, 1)),
    expansions   TEXT    NOT NULL,
    gangs        TEXT    NOT NULL,
    params       TEXT    NOT NULL,
    shard        INTEGER NOT NULL GENERATED ALWAYS AS ((id >> 12) & 1023) VIRTUAL,
    over         INTEGER NOT NULL GENERATED ALWAYS AS (state IN ('success', 'failed', 'stopped')) VIRTUAL,
    shown        TEXT    NOT NULL GENERATED ALWAYS AS (
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 60) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 55) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 50) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 45) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 40) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 35) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 30) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 25) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 20) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 15) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 10) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >>  5) & 31) + 1, 1) ||
        substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ( id        & 31) + 1, 1)) VIRTUAL
) STRICT;

-- The open runs of a shard are loaded, the others are looked through by retention.
CREATE INDEX runs_of_shard ON runs (shard, over);
-- People list the runs of a workflow.
CREATE INDEX runs_of_workflow ON runs (workflow);
-- Others wait for what was run about a logical time; sub-workflows and runs without a version are nobody else's.
CREATE INDEX runs_of_logical_time ON runs (workflow, logical_time) WHERE parent IS NULL AND version IS NOT NULL;
-- A tree of runs is removed as a whole.
CREATE INDEX runs_of_parent ON runs (parent) WHERE parent IS NOT NULL;

-- What a run is a run of, if there is more than its row says: written once.
CREATE TABLE origins (
    run        INTEGER PRIMARY KEY,
    definition TEXT,
    pinned     TEXT NOT NULL
) STRICT;

CREATE TABLE jobs (
    run            INTEGER NOT NULL,
    job            INTEGER NOT NULL,
    state          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    at             INTEGER NOT NULL,
    outputs        TEXT,
    reopened_after INTEGER,
    PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    run         INTEGER NOT NULL,
    job         INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    fence       INTEGER NOT NULL,
    worker      INTEGER NOT NULL,
    incarnation INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    assigned_at INTEGER NOT NULL,
    started_at  INTEGER,            -- this and what follows is known when it has ended
    finished_at INTEGER,
    exit_code   INTEGER,
    signal      INTEGER,
    outputs     TEXT,
    permit      TEXT,
    for_gang    INTEGER NOT NULL CHECK (for_gang IN (0, 1)),
    PRIMARY KEY (run, job, number)
) STRICT, WITHOUT ROWID;

-- The last of what attempts printed, up to 64 KiB each: apart, so that attempts are read without it.
CREATE TABLE tails (
    run    INTEGER NOT NULL,
    job    INTEGER NOT NULL,
    number INTEGER NOT NULL,
    text   TEXT    NOT NULL,
    PRIMARY KEY (run, job, number)
) STRICT, WITHOUT ROWID;

-- Runs that are gone, and whose jobs, attempts and tails go in steps.
CREATE TABLE removed_runs (
    shard INTEGER NOT NULL,
    run   INTEGER NOT NULL,
    PRIMARY KEY (shard, run)
) STRICT, WITHOUT ROWID;

-- Answered creating calls.
CREATE TABLE keys (
    shard     INTEGER NOT NULL,
    principal TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    body      INTEGER NOT NULL,
    run       INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (shard, principal, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_of_run ON keys (run);

-- What belongs to the home of a named thing.
CREATE TABLE workflows (
    shard   INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    pinned  TEXT    NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    by      TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (shard, name)
) STRICT, WITHOUT ROWID;

-- People list the workflows of all shards.
CREATE INDEX workflows_by_name ON workflows (name);

CREATE TABLE schedules (
    shard    INTEGER NOT NULL,
    workflow TEXT    NOT NULL,
    schedule TEXT    NOT NULL,
    anchor   INTEGER NOT NULL,
    cursor   INTEGER NOT NULL,
    paused   INTEGER NOT NULL CHECK (paused IN (0, 1)),
    PRIMARY KEY (shard, workflow, schedule)
) STRICT, WITHOUT ROWID;

CREATE INDEX schedules_by_name ON schedules (workflow, schedule);

CREATE TABLE firings (
    shard     INTEGER NOT NULL,
    workflow  TEXT    NOT NULL,
    schedule  TEXT    NOT NULL,
    first_due INTEGER NOT NULL,
    last_due  INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    outcome   TEXT    NOT NULL,
    run       INTEGER,
    at        INTEGER NOT NULL,
    PRIMARY KEY (shard, workflow, schedule, first_due)
) STRICT, WITHOUT ROWID;

CREATE TABLE pools (
    shard    INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    at_once  INTEGER NOT NULL,
    PRIMARY KEY (shard, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE permits (
    shard   INTEGER NOT NULL,
    pool    TEXT    NOT NULL,
    run     INTEGER NOT NULL,
    job     INTEGER NOT NULL,
    epoch   INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    PRIMARY KEY (shard, pool, run, job)
) STRICT, WITHOUT ROWID;

-- What homes have to do with each other and with the world.
CREATE TABLE listeners (
    shard    INTEGER NOT NULL,
    source   TEXT    NOT NULL,
    listener TEXT    NOT NULL,
    ends     TEXT    NOT NULL,
    epoch    INTEGER NOT NULL,
    counter  INTEGER NOT NULL,
    PRIMARY KEY (shard, source, listener)
) STRICT, WITHOUT ROWID;

-- The newest completion of each source that was dealt with, by the name it has in the outbox of its shard.
CREATE TABLE inbox (
    shard        INTEGER NOT NULL,
    listener     TEXT    NOT NULL,
    source       TEXT    NOT NULL,
    from_shard   INTEGER NOT NULL,
    from_epoch   INTEGER NOT NULL,
    from_counter INTEGER NOT NULL,
    PRIMARY KEY (shard, listener, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
    shard   INTEGER NOT NULL,
    epoch   INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    errand  TEXT    NOT NULL,
    PRIMARY KEY (shard, epoch, counter)
) STRICT, WITHOUT ROWID;

CREATE TABLE backfills (
    id          INTEGER PRIMARY KEY,
    workflow    TEXT    NOT NULL,
    principal   TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    body        INTEGER NOT NULL,
    cursor      INTEGER NOT NULL,
    parallel    INTEGER NOT NULL,
    params      TEXT    NOT NULL,
    priority    TEXT,
    succeeded   INTEGER NOT NULL,
    failed      INTEGER NOT NULL,
    state       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    shard       INTEGER NOT NULL GENERATED ALWAYS AS ((id >> 12) & 1023) VIRTUAL,
    over        INTEGER NOT NULL GENERATED ALWAYS AS (state IN ('done', 'stopped')) VIRTUAL
) STRICT;

CREATE UNIQUE INDEX backfills_of_key ON backfills (shard, principal, key);
CREATE INDEX backfills_of_shard ON backfills (shard, over);
CREATE INDEX backfills_of_workflow ON backfills (workflow);

-- The logical times of a backfill, a hundred thousand at most: written once, while its row changes with every run.
CREATE TABLE backfill_times (
    backfill INTEGER PRIMARY KEY,
    times    TEXT NOT NULL
) STRICT;
