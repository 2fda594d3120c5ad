//! One transaction, and what can come of it.

use std::sync::Arc;
use std::time::Duration;

use windlass_store::encoding::Malformed;
use windlass_store::fault::Cause;

use crate::crew::Seat;
use crate::fault::{ServerFault, TookTooLong, is_conflict, says_not_committed};
use crate::queries;
use crate::session::Session;

/// How often a transaction is tried that others were in the way of.
const TRIES: u32 = 5;
/// How long it waits before that, at most, the first time; each time it may be twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Why work inside a transaction stops. Nothing of it is kept.
#[derive(Debug)]
pub(crate) enum Stop<E> {
    /// The caller is told why.
    Refused(E),
    /// The server failed.
    Server(tokio_postgres::Error),
    /// What is stored cannot be understood.
    Malformed(Malformed),
}

impl<E> From<tokio_postgres::Error> for Stop<E> {
    fn from(error: tokio_postgres::Error) -> Stop<E> {
        Stop::Server(error)
    }
}

impl<E> From<Malformed> for Stop<E> {
    fn from(malformed: Malformed) -> Stop<E> {
        Stop::Malformed(malformed)
    }
}

/// What came of a transaction.
#[derive(Debug)]
pub(crate) enum Done<T, E> {
    /// All of it is durable.
    Committed(T),
    /// Nothing of it was done, and this is why.
    Refused(E),
    /// Nothing of it was done: the server failed.
    Failed(ServerFault),
    /// The server failed while it made it durable.
    InDoubt(ServerFault),
}

/// What came of one try.
enum Try<T, E> {
    Done(Done<T, E>),
    /// Others were in the way: nothing was done.
    Conflict(tokio_postgres::Error),
    /// The connection was gone before anything could be done.
    Lost(tokio_postgres::Error),
}

/// Does work that is kept as a whole or not at all.
pub(crate) async fn write<T, E, F>(
    mut seat: Seat,
    limit: Duration,
    work: impl Fn(Arc<Session>) -> F + Send + Sync,
) -> (Seat, Done<T, E>)
where
    F: Future<Output = Result<T, Stop<E>>> + Send,
{
    let mut tries = 1;
    loop {
        let (session, new) = match seat.session().await {
            Ok(found) => found,
            Err(fault) => return (seat, Done::Failed(fault)),
        };
        let (error, pause) = match try_once(&mut seat, &session, limit, &work).await {
            Try::Done(done) => return (seat, done),
            // The server was restarted since the connection was used last.
            Try::Lost(error) if !new => (error, Duration::ZERO),
            Try::Lost(error) => return fail(seat, error),
            Try::Conflict(error) => (error, FIRST_PAUSE * (1 << tries)),
        };
        if tries == TRIES {
            return fail(seat, error);
        }
        tries += 1;
        tokio::time::sleep(pause.mul_f64(fastrand::f64())).await;
    }
}

fn fail<T, E>(seat: Seat, error: tokio_postgres::Error) -> (Seat, Done<T, E>) {
    let fault = seat.connector().fault(error);
    (seat, Done::Failed(fault))
}

async fn try_once<T, E, F>(
    seat: &mut Seat,
    session: &Arc<Session>,
    limit: Duration,
    work: &(impl Fn(Arc<Session>) -> F + Send + Sync),
) -> Try<T, E>
where
    F: Future<Output = Result<T, Stop<E>>> + Send,
{
    let took_too_long = TookTooLong { seconds: limit.as_secs() };
    let worked = tokio::time::timeout(limit, async {
        queries::begin_writing(session).await?;
        work(Arc::clone(session)).await
    });
    let stopped = match worked.await {
        Ok(Ok(value)) => {
            let committed = tokio::time::timeout(limit, queries::commit(session)).await;
            let (cause, certain): (Cause, bool) = match committed {
                Ok(Ok(())) => return Try::Done(Done::Committed(value)),
                Ok(Err(error)) if is_conflict(&error) => return Try::Conflict(error),
                Ok(Err(error)) => {
                    let certain = says_not_committed(&error);
                    (error.into(), certain)
                }
                Err(_) => (took_too_long.into(), false),
            };
            // Whatever is still under way on this connection is nobody's any more.
            seat.hang_up();
            let fault = seat.connector().fault(cause);
            return Try::Done(if certain { Done::Failed(fault) } else { Done::InDoubt(fault) });
        }
        Ok(Err(stop)) => stop,
        Err(_) => {
            // The COMMIT was not sent, and never will be: the server rolls back what has no client.
            seat.hang_up();
            return Try::Done(Done::Failed(seat.connector().fault(took_too_long)));
        }
    };
    // If this fails too, the server does it.
    let rolled_back = tokio::time::timeout(limit, queries::rollback(session)).await;
    if !matches!(rolled_back, Ok(Ok(()))) {
        seat.hang_up();
    }
    match stopped {
        Stop::Refused(why) => Try::Done(Done::Refused(why)),
        Stop::Malformed(malformed) => Try::Done(Done::Failed(seat.connector().fault(malformed))),
        Stop::Server(error) if is_conflict(&error) => Try::Conflict(error),
        Stop::Server(error) if error.is_closed() || session.is_closed() => Try::Lost(error),
        Stop::Server(error) => Try::Done(Done::Failed(seat.connector().fault(error))),
    }
}

/// Reads. Work that needs one moment for all its statements begins with [`queries::begin_reading`]; what is left open
/// is ended here.
pub(crate) async fn read<T, F>(
    mut seat: Seat,
    limit: Duration,
    work: impl Fn(Arc<Session>) -> F + Send + Sync,
) -> (Seat, Result<T, ServerFault>)
where
    F: Future<Output = Result<T, Cause>> + Send,
{
    loop {
        let (session, new) = match seat.session().await {
            Ok(found) => found,
            Err(fault) => return (seat, Err(fault)),
        };
        let found = match tokio::time::timeout(limit, work(Arc::clone(&session))).await {
            Ok(found) => found,
            Err(_) => Err(TookTooLong { seconds: limit.as_secs() }.into()),
        };
        match found {
            Ok(found) => return (seat, Ok(found)),
            Err(cause) => {
                // A transaction may be open, or an answer still coming: another connection is cheap.
                let lost = session.is_closed();
                seat.hang_up();
                if !lost || new {
                    let fault = seat.connector().fault(cause);
                    return (seat, Err(fault));
                }
            }
        }
    }
}

/// Reads as of one moment.
pub(crate) async fn snapshot<T, F>(
    session: Arc<Session>,
    work: impl FnOnce(Arc<Session>) -> F,
) -> Result<T, Cause>
where
    F: Future<Output = Result<T, Cause>>,
{
    queries::begin_reading(&session).await?;
    let found = work(Arc::clone(&session)).await?;
    queries::commit(&session).await?;
    Ok(found)
}
