//! From an address to a connection that is set up, and no storm of attempts while there is none.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use windlass_store::fault::Cause;

use crate::address::Address;
use crate::fault::{Said, ServerFault, TookTooLong};
use crate::queries::identity::{self, Server};
use crate::session::Session;
use crate::tls::Tls;

/// The oldest server that has everything that is asked of it.
const OLDEST: i32 = 140_000;
/// Finding a server, greeting it and setting the connection up takes no longer.
const LIMIT: Duration = Duration::from_secs(10);
/// How long nobody tries again after the first failure, and after the last of many.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Makes connections.
pub(crate) struct Connector {
    address: Address,
    place: Arc<str>,
    tls: Tls,
    failing: Mutex<Failing>,
}

/// What is known of a server that is not there.
#[derive(Default)]
struct Failing {
    times: u32,
    until: Option<Instant>,
    why: Option<ServerFault>,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Connector {
    pub(crate) fn new(address: Address) -> Result<Connector, ServerFault> {
        let place = address.shared();
        let tls = Tls::new(&address.protection).map_err(|cause| ServerFault {
            place: Arc::clone(&place),
            what: "the way to the server cannot be protected",
            hint: "look at sslmode and sslrootcert of the address",
            cause: cause.into(),
        })?;
        Ok(Connector { address, place, tls, failing: Mutex::default() })
    }

    pub(crate) fn place(&self) -> &Arc<str> {
        &self.place
    }

    pub(crate) fn fault(&self, cause: impl Into<Cause>) -> ServerFault {
        ServerFault::new(&self.place, cause.into())
    }

    /// Connects. While nobody is there, most callers are told at once what the last one met.
    pub(crate) async fn connect(&self) -> Result<Session, ServerFault> {
        if let Some(known) = self.pausing() {
            return Err(known);
        }
        let connected = tokio::time::timeout(LIMIT, self.try_connect()).await;
        let connected =
            connected.unwrap_or_else(|_| Err(self.fault(TookTooLong { seconds: LIMIT.as_secs() })));
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        match &connected {
            Ok(_) => *failing = Failing::default(),
            Err(fault) => {
                let pause = FIRST_PAUSE.saturating_mul(1 << failing.times.min(10)).min(LONGEST_PAUSE);
                // Not all masters at once.
                let pause = pause.mul_f64(0.5 + fastrand::f64() / 2.0);
                failing.times = failing.times.saturating_add(1);
                failing.until = Some(Instant::now() + pause);
                failing.why = Some(fault.again());
            }
        }
        connected
    }

    fn pausing(&self) -> Option<ServerFault> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let until = failing.until?;
        if Instant::now() < until { failing.why.as_ref().map(ServerFault::again) } else { None }
    }

    async fn try_connect(&self) -> Result<Session, ServerFault> {
        let connected = self.address.config.connect(self.tls.clone()).await;
        let (client, connection) = connected.map_err(|error| self.not_connected(error))?;
        // Ends with the connection, and the connection with the last use of its client.
        tokio::spawn(connection);
        let server = identity::prepare(&client).await.map_err(|error| self.fault(error))?;
        self.check(&server)?;
        Ok(Session::new(client))
    }

    fn not_connected(&self, error: tokio_postgres::Error) -> ServerFault {
        // Said by the driver itself when each of the hosts is one that takes no writes.
        let read_only = crate::fault::chain(&error).contains("does not allow writes");
        let mut fault = self.fault(error);
        if read_only {
            fault.what = "the server takes no writes: it is a standby, or the database is read-only";
            fault.hint = "name the primary in the address; with several hosts the one that writes is found";
        }
        fault
    }

    /// Refuses a server that cannot be a store.
    fn check(&self, server: &Server) -> Result<(), ServerFault> {
        let refuse = |what, hint, cause: String| {
            Err(ServerFault { place: Arc::clone(&self.place), what, hint, cause: Said(cause).into() })
        };
        if server.version < OLDEST {
            let cause = format!("it is PostgreSQL {}", server.shown);
            return refuse("the server is too old", "use PostgreSQL 14 or newer", cause);
        }
        if server.encoding != "UTF8" {
            let cause = format!("it has {}", server.encoding);
            let hint = "make a database with ENCODING 'UTF8' (TEMPLATE template0), and name that";
            return refuse("the database does not hold every text", hint, cause);
        }
        if server.standby {
            let hint = "name the primary in the address; with several hosts the one that writes is found";
            return refuse("the server takes no writes", hint, "it is a standby".to_owned());
        }
        if server.acknowledges == "off" {
            let hint = "let the user set synchronous_commit, or switch it on for the database";
            return refuse(
                "the server acknowledges what is not on disk",
                hint,
                "synchronous_commit is off".to_owned(),
            );
        }
        if !server.flushes {
            tracing::warn!(
                store = &*self.place,
                "the server has fsync switched off: a power failure loses what was acknowledged"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connector() -> Connector {
        Connector::new(Address::read("postgres://me:pw@127.0.0.1:1/windlass", None).unwrap()).unwrap()
    }

    #[test]
    fn a_server_that_cannot_be_a_store_is_refused_with_a_way_out() {
        let fine = Server {
            version: 150_005,
            shown: "15.5".into(),
            encoding: "UTF8".into(),
            standby: false,
            flushes: true,
            acknowledges: "on".into(),
        };
        let connector = connector();
        assert!(connector.check(&fine).is_ok());
        assert!(connector.check(&Server { acknowledges: "remote_apply".into(), ..fine.clone() }).is_ok());
        let old = Server { version: 130_014, shown: "13.14".into(), ..fine.clone() };
        let says = crate::fault::chain(&connector.check(&old).unwrap_err());
        assert_eq!(
            says,
            "the server is too old (postgres://me@127.0.0.1:1/windlass); hint: use PostgreSQL 14 or newer: \
             it is PostgreSQL 13.14"
        );
        for wrong in [
            Server { encoding: "LATIN1".into(), ..fine.clone() },
            Server { standby: true, ..fine.clone() },
            Server { acknowledges: "off".into(), ..fine },
        ] {
            let says = connector.check(&wrong).unwrap_err().to_string();
            assert!(says.contains("hint: ") && !says.contains("pw"), "{says}");
        }
    }
}
