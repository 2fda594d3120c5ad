-- The tables of a Windlass store, for people who look into them:
--
--   * a run id is a number; `runs.shown` is the same id as users see it, and so is shown(attempts.run)
--   * times are milliseconds of the Unix epoch: to_timestamp(created_at / 1000.0)
--   * workers, incarnations and owners are random 64-bit numbers: to_hex(worker)
--   * parameters and outputs are JSON; dates, times, spans and ranges are marked: {"$date": "2026-03-01"}
--   * a job that has not begun has no row: the definition of its run implies it
--
-- Tables and columns have the names that they have in a SQLite store. Names are compared by their bytes (COLLATE "C"),
-- so that lists have the same order everywhere. Words (states, kinds) have no CHECK: what is refused because of what is
-- stored is refused by the program.

-- A run id as users see it.
CREATE FUNCTION shown(id bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 60) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 55) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 50) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 45) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 40) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 35) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 30) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 25) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 20) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 15) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >> 10) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((id >>  5) & 31)::integer + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ( id        & 31)::integer + 1, 1);

-- One row: what the store says of itself.
CREATE TABLE store (
    one           smallint PRIMARY KEY CHECK (one = 1),
    id            text     NOT NULL CHECK (length(id) = 16),
    shards        smallint NOT NULL CHECK (shards BETWEEN 1 AND 1024),
    schema        integer  NOT NULL,
    registrations bigint   NOT NULL DEFAULT 0,
    revision      bigint   NOT NULL DEFAULT 0
);

-- Masters, ownership and what belongs to no shard.
CREATE TABLE leases (
    owner   bigint PRIMARY KEY,
    name    text COLLATE "C" NOT NULL UNIQUE,
    counter bigint NOT NULL,
    applied bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE globals (
    kind     text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    revision bigint NOT NULL UNIQUE,
    value    text,
    PRIMARY KEY (kind, name)
);

-- Each row is written with every commit of its shard: room for its versions is left in the page.
CREATE TABLE shards (
    shard    smallint PRIMARY KEY,
    owner    bigint,
    epoch    bigint NOT NULL DEFAULT 0,
    commits  bigint NOT NULL DEFAULT 0,
    last_run bigint,
    loaded   bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);

-- Definitions.
CREATE TABLE versions (
    workflow   text COLLATE "C" NOT NULL,
    number     bigint NOT NULL CHECK (number > 0),
    hash       text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
    source     text   NOT NULL,
    created_by text   NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (workflow, number),
    UNIQUE (workflow, hash)
);

-- Runs and what belongs to them.
CREATE TABLE runs (
    id           bigint  PRIMARY KEY,
    workflow     text COLLATE "C" NOT NULL,
    version      bigint,
    revision     bigint  NOT NULL,  -- how often it was stored
    state        text    NOT NULL,
    reason       text    NOT NULL,
    priority     text    NOT NULL,
    logical_time bigint  NOT NULL,
    run_at       bigint,
    created_at   bigint  NOT NULL,
    created_by   text    NOT NULL,
    started_at   bigint,
    finished_at  bigint,
    trigger      text    NOT NULL,
    parent       bigint,            -- the run whose sub-workflow this is
    selection    text    NOT NULL,
    serial       boolean NOT NULL,
    ending       boolean NOT NULL,
    expansions   text    NOT NULL,
    gangs        text    NOT NULL,
    params       text    NOT NULL,
    shard        smallint NOT NULL GENERATED ALWAYS AS (((id >> 12) & 1023)::smallint) STORED,
    over         boolean NOT NULL GENERATED ALWAYS AS (state IN ('success', 'failed', 'stopped')) STORED,
    shown        text    NOT NULL GENERATED ALWAYS AS (shown(id)) STORED
) WITH (fillfactor = 50);

-- The open runs of a shard are loaded, the others are looked through by retention.
CREATE INDEX runs_of_shard ON runs (shard, over, id);
-- People list the runs of a workflow.
CREATE INDEX runs_of_workflow ON runs (workflow, id);
-- Others wait for what was run about a logical time; sub-workflows and runs without a version are nobody else's.
CREATE INDEX runs_of_logical_time ON runs (workflow, logical_time, id) WHERE parent IS NULL AND version IS NOT NULL;
-- A tree of runs is removed as a whole.
CREATE INDEX runs_of_parent ON runs (parent) WHERE parent IS NOT NULL;

-- What a run is a run of, if there is more than its row says: written once.
CREATE TABLE origins (
    run        bigint PRIMARY KEY,
    definition text,
    pinned     text NOT NULL
);

CREATE TABLE jobs (
    run            bigint NOT NULL,
    job            bigint NOT NULL,
    state          text   NOT NULL,
    reason         text   NOT NULL,
    at             bigint NOT NULL,
    outputs        text,
    reopened_after bigint,
    PRIMARY KEY (run, job)
);

-- One insert when an attempt is assigned, one update when it ends: no column that changes is indexed, and half of each
-- page is left free, so that the update stays in its page and touches no index.
CREATE TABLE attempts (
    run         bigint  NOT NULL,
    job         bigint  NOT NULL,
    number      bigint  NOT NULL,
    fence       bigint  NOT NULL,
    worker      bigint  NOT NULL,
    incarnation bigint  NOT NULL,
    state       text    NOT NULL,
    reason      text    NOT NULL,
    assigned_at bigint  NOT NULL,
    started_at  bigint,             -- this and what follows is known when it has ended
    finished_at bigint,
    exit_code   integer,
    signal      integer,
    outputs     text,
    permit      text,
    for_gang    boolean NOT NULL,
    PRIMARY KEY (run, job, number)
) WITH (fillfactor = 50);

-- The last of what attempts printed, up to 64 KiB each: apart, so that attempts are read without it.
CREATE TABLE tails (
    run    bigint NOT NULL,
    job    bigint NOT NULL,
    number bigint NOT NULL,
    text   text   NOT NULL,
    PRIMARY KEY (run, job, number)
);

-- Runs that are gone, and whose jobs, attempts and tails go in steps.
CREATE TABLE removed_runs (
    shard smallint NOT NULL,
    run   bigint   NOT NULL,
    PRIMARY KEY (shard, run)
);

-- Answered creating calls.
CREATE TABLE keys (
    shard     smallint NOT NULL,
    principal text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    body      bigint NOT NULL,
    run       bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (shard, principal, key)
);

CREATE INDEX keys_of_run ON keys (run);

-- What belongs to the home of a named thing.
CREATE TABLE workflows (
    shard   smallint NOT NULL,
    name    text COLLATE "C" NOT NULL,
    version bigint  NOT NULL,
    pinned  text    NOT NULL,
    enabled boolean NOT NULL,
    by      text    NOT NULL,
    at      bigint  NOT NULL,
    PRIMARY KEY (shard, name)
);

-- People list the workflows of all shards.
CREATE INDEX workflows_by_name ON workflows (name);

CREATE TABLE schedules (
    shard    smallint NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    schedule text COLLATE "C" NOT NULL,
    anchor   bigint  NOT NULL,
    cursor   bigint  NOT NULL,
    paused   boolean NOT NULL,
    PRIMARY KEY (shard, workflow, schedule)
) WITH (fillfactor = 50);

CREATE INDEX schedules_by_name ON schedules (workflow, schedule);

CREATE TABLE firings (
    shard     smallint NOT NULL,
    workflow  text COLLATE "C" NOT NULL,
    schedule  text COLLATE "C" NOT NULL,
    first_due bigint NOT NULL,
    last_due  bigint NOT NULL,
    count     bigint NOT NULL,
    outcome   text   NOT NULL,
    run       bigint,
    at        bigint NOT NULL,
    PRIMARY KEY (shard, workflow, schedule, first_due)
);

CREATE TABLE pools (
    shard   smallint NOT NULL,
    name    text COLLATE "C" NOT NULL,
    at_once bigint NOT NULL,
    PRIMARY KEY (shard, name)
);

CREATE TABLE permits (
    shard   smallint NOT NULL,
    pool    text COLLATE "C" NOT NULL,
    run     bigint NOT NULL,
    job     bigint NOT NULL,
    epoch   bigint NOT NULL,
    counter bigint NOT NULL,
    PRIMARY KEY (shard, pool, run, job)
);

-- What homes have to do with each other and with the world.
CREATE TABLE listeners (
    shard    smallint NOT NULL,
    source   text COLLATE "C" NOT NULL,
    listener text COLLATE "C" NOT NULL,
    ends     text   NOT NULL,
    epoch    bigint NOT NULL,
    counter  bigint NOT NULL,
    PRIMARY KEY (shard, source, listener)
);

-- The newest completion of each source that was dealt with, by the name it has in the outbox of its shard.
CREATE TABLE inbox (
    shard        smallint NOT NULL,
    listener     text COLLATE "C" NOT NULL,
    source       text COLLATE "C" NOT NULL,
    from_shard   smallint NOT NULL,
    from_epoch   bigint NOT NULL,
    from_counter bigint NOT NULL,
    PRIMARY KEY (shard, listener, source)
);

CREATE TABLE outbox (
    shard   smallint NOT NULL,
    epoch   bigint NOT NULL,
    counter bigint NOT NULL,
    errand  text   NOT NULL,
    PRIMARY KEY (shard, epoch, counter)
);

CREATE TABLE backfills (
    id          bigint PRIMARY KEY,
    workflow    text COLLATE "C" NOT NULL,
    principal   text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    body        bigint NOT NULL,
    cursor      bigint NOT NULL,
    parallel    bigint NOT NULL,
    params      text   NOT NULL,
    priority    text,
    succeeded   bigint NOT NULL,
    failed      bigint NOT NULL,
    state       text   NOT NULL,
    created_at  bigint NOT NULL,
    finished_at bigint,
    shard       smallint NOT NULL GENERATED ALWAYS AS (((id >> 12) & 1023)::smallint) STORED,
    over        boolean NOT NULL GENERATED ALWAYS AS (state IN ('done', 'stopped')) STORED
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX backfills_of_key ON backfills (shard, principal, key);
CREATE INDEX backfills_of_shard ON backfills (shard, over, id);
CREATE INDEX backfills_of_workflow ON backfills (workflow, id);

-- The logical times of a backfill, a hundred thousand at most: written once, while its row changes with every run.
CREATE TABLE backfill_times (
    backfill bigint PRIMARY KEY,
    times    text NOT NULL
);
