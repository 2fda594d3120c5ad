//! From an address to a store of the current version.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use windlass_model::ShardCount;
use windlass_store::encoding::Malformed;
use windlass_store::opening::{self, Identity, SchemaVersion, StoreId};

use crate::address::Address;
use crate::connect::Connector;
use crate::crew::{Crew, Seat};
use crate::fault::{ServerFault, may_pass};
use crate::migrate;
use crate::queries;
use crate::queries::identity::{self, Kind};
use crate::session::Session;
use crate::transaction::{self, Done, Stop};

/// How long bringing a store forward may take.
const MIGRATION_LIMIT: Duration = Duration::from_secs(600);
/// How often a server is tried that is waited for.
const TRY_EVERY: Duration = Duration::from_millis(200);
/// Connections for leases and claims: a claim that waits for a lock does not hold up the renewal.
const KEEPERS: usize = 2;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of shards; `None` takes that of the store, or the default for a new one.
    pub shards: Option<ShardCount>,
    /// How many lines of commits there are; a shard is in the lane of its number modulo this, as in the master.
    pub lanes: usize,
    /// How many reads may be under way at once.
    pub readers: usize,
    /// How long to wait for a server that is not there yet.
    pub wait: Duration,
    /// How long one part of a call may take: a server that works needs a thousandth of it, and nobody waits longer.
    pub limit: Duration,
}

/// See [`Options::limit`].
const LIMIT: Duration = Duration::from_secs(25);

impl Default for Options {
    /// One lane and three readers: six connections, of which an idle master uses three.
    fn default() -> Options {
        Options { shards: None, lanes: 1, readers: 3, wait: Duration::ZERO, limit: LIMIT }
    }
}

/// Why a database cannot be used as a store.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It has tables, but not those of a store.
    #[error(
        "cannot open {place}: it has a table `{table}` and nothing of windlass; hint: make an empty database for it"
    )]
    NotAStore {
        /// Which database.
        place: Arc<str>,
        /// What is in it.
        table: String,
    },
    /// It has other shapes or another number of shards.
    #[error("cannot open {place}")]
    Refused {
        /// Which database.
        place: Arc<str>,
        /// Why.
        #[source]
        why: opening::OpenError,
    },
    /// What every store has is missing or cannot be understood.
    #[error("cannot open {place}: its own description is damaged; hint: restore the newest backup")]
    Damaged {
        /// Which database.
        place: Arc<str>,
        /// What is wrong with it.
        #[source]
        cause: Malformed,
    },
    /// The server cannot be used.
    #[error("cannot open the store")]
    Server(#[from] ServerFault),
}

/// An open store, with everything that belongs to it.
#[derive(Debug)]
pub(crate) struct Opened {
    /// One connection each.
    pub(crate) lanes: Vec<Crew>,
    pub(crate) keepers: Crew,
    pub(crate) readers: Crew,
    pub(crate) identity: Identity,
    pub(crate) place: Arc<str>,
    pub(crate) limit: Duration,
}

pub(crate) async fn open(address: &Address, options: &Options) -> Result<Opened, OpenError> {
    let connector = Arc::new(Connector::new(address.clone())?);
    let give_up = Instant::now() + options.wait;
    let (seat, identity) = loop {
        let mut seat = Seat::new(Arc::clone(&connector));
        first_connection(&mut seat, give_up).await?;
        match prepare(seat, &connector, options.shards).await {
            Ok(prepared) => break prepared,
            // Whether it was done or not: who looks again finds out.
            Err(OpenError::Server(fault)) if may_pass(&fault) && Instant::now() < give_up => {}
            Err(error) => return Err(error),
        }
        tokio::time::sleep(TRY_EVERY).await;
    };
    let seats = |count: usize| (0..count).map(|_| Seat::new(Arc::clone(&connector))).collect::<Vec<_>>();
    let mut keepers = vec![seat];
    keepers.extend(seats(KEEPERS - 1));
    Ok(Opened {
        lanes: seats(options.lanes.max(1)).into_iter().map(|seat| Crew::start(vec![seat])).collect(),
        keepers: Crew::start(keepers),
        readers: Crew::start(seats(options.readers.max(1))),
        identity,
        place: Arc::clone(connector.place()),
        limit: options.limit,
    })
}

/// Waits for a server that may come: machines start their services in any order.
async fn first_connection(seat: &mut Seat, give_up: Instant) -> Result<(), ServerFault> {
    loop {
        match seat.session().await {
            Ok(_) => return Ok(()),
            Err(fault) if may_pass(&fault) && Instant::now() < give_up => {}
            Err(fault) => return Err(fault),
        }
        tokio::time::sleep(TRY_EVERY).await;
    }
}

/// Makes the database a store of the current version, and says which. Whoever else does so at the same time is waited
/// for.
async fn prepare(
    seat: Seat,
    connector: &Connector,
    wanted: Option<ShardCount>,
) -> Result<(Seat, Identity), OpenError> {
    let place = Arc::clone(connector.place());
    let work = move |session: Arc<Session>| {
        let place = Arc::clone(&place);
        async move {
            // Two new masters at once: the second finds what the first has made.
            if identity::kind(&session).await? != Kind::Store(SchemaVersion::CURRENT) {
                identity::lock(&session).await?;
            }
            let kind = identity::kind(&session).await?;
            let found = match &kind {
                Kind::Foreign(table) => {
                    return Err(Stop::Refused(OpenError::NotAStore { place, table: table.clone() }));
                }
                Kind::Empty => SchemaVersion(0),
                Kind::Store(schema) => {
                    check(&session, &place, *schema, wanted).await?;
                    *schema
                }
            };
            if found != SchemaVersion::CURRENT {
                queries::no_time_limit(&session).await?;
                migrate::forward(&session, found).await?;
            }
            if kind == Kind::Empty {
                let shards = wanted.unwrap_or(ShardCount::DEFAULT);
                identity::create(&session, shards, SchemaVersion::CURRENT).await?;
            }
            read_identity(&session, &place).await
        }
    };
    match transaction::write(seat, MIGRATION_LIMIT, work).await {
        (seat, Done::Committed(identity)) => Ok((seat, identity)),
        (_, Done::Refused(why)) => Err(why),
        (_, Done::Failed(fault) | Done::InDoubt(fault)) => Err(fault.into()),
    }
}

/// Refuses what this program cannot use. Of a newer store not even the identity is sure to be readable.
async fn check(
    session: &Session,
    place: &Arc<str>,
    schema: SchemaVersion,
    wanted: Option<ShardCount>,
) -> Result<(), Stop<OpenError>> {
    let refused = |why| Stop::Refused(OpenError::Refused { place: Arc::clone(place), why });
    let known = SchemaVersion::OLDEST..=SchemaVersion::CURRENT;
    if !known.contains(&schema) {
        let id = match read_identity(session, place).await {
            Ok(identity) => identity.id,
            Err(Stop::Refused(_)) => StoreId(0),
            Err(stop) => return Err(stop),
        };
        let unread = Identity { id, shards: ShardCount::DEFAULT, schema };
        return unread.check(None).map_err(refused);
    }
    read_identity(session, place).await?.check(wanted).map_err(refused)
}

async fn read_identity(session: &Session, place: &Arc<str>) -> Result<Identity, Stop<OpenError>> {
    let found = identity::get(session, SchemaVersion::CURRENT).await?;
    let missing = || Err(Malformed::new("row", "it is missing"));
    let damaged = |cause| Stop::Refused(OpenError::Damaged { place: Arc::clone(place), cause });
    found.unwrap_or_else(missing).map_err(damaged)
}
