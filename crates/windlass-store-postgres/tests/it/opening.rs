//! What becomes a store, what does not, and what is said about it.

use std::process::Command;
use std::time::Duration;

use windlass_model::ShardCount;
use windlass_store::Store;
use windlass_store_postgres::{Address, Options, PostgresStore};
use windlass_trial::postgres::{PASSWORD, PostgresServer, Stop};
use windlass_trial::proxy::{Fate, Proxy};

use crate::place::{Place, chain, fresh_name, open, options, server, spawn, wait};
use crate::work::Owner;

/// What is said when a store cannot be opened.
fn refused(url: &str) -> String {
    let error = wait(open(url, &options())).unwrap_err();
    let says = chain(&error);
    assert!(says.contains("hint: "), "no way out: {says}");
    assert!(!says.contains(PASSWORD) && !says.contains("wrong-one"), "a password: {says}");
    says
}

#[test]
fn a_store_is_found_again_as_it_was() {
    let place = Place::new();
    let store = place.open();
    let identity = store.identity();
    let run = Owner::join(&store, 1).create(1, 2);
    drop(store);
    let again = place.open();
    assert_eq!(again.identity(), identity);
    assert_eq!(wait(again.attempts(run, None, 9)).unwrap().len(), 2);
    assert!(wait(again.run(run)).unwrap().is_some());
    let shown = server().sql(&place.name, "SELECT shown, shard, over FROM runs").unwrap();
    assert_eq!(shown, format!("{run}|0|f"), "a person reads the same id");
}

#[test]
fn several_masters_may_make_the_store_at_once() {
    let place = Place::new();
    let (url, options) = (place.url(), options());
    let opening = (0..6).map(|_| {
        let (url, options) = (url.clone(), options.clone());
        tokio::spawn(async move { open(&url, &options).await })
    });
    let stores = wait(async {
        let mut stores = Vec::new();
        for opened in opening.collect::<Vec<_>>() {
            stores.push(opened.await.unwrap().unwrap());
        }
        stores
    });
    assert!(stores.iter().all(|store| store.identity() == stores[0].identity()));
}

#[test]
fn each_way_of_not_getting_in_is_told_apart() {
    let place = Place::new();
    let address = server().address();
    let wrong = refused(&format!("postgres://windlass:wrong-one@{address}/{}", place.name));
    assert!(wrong.contains("does not let this user in") && wrong.contains(&address.to_string()), "{wrong}");
    let missing = refused(&server().url("nowhere"));
    assert!(missing.contains("there is no such database") && missing.contains("/nowhere"), "{missing}");
    let nobody = refused("postgres://me:pw@127.0.0.1:1/windlass");
    assert!(nobody.contains("nobody listens there (postgres://me@127.0.0.1:1/windlass)"), "{nobody}");
    let no_tls = refused(&format!("{}?sslmode=require", place.url()));
    assert!(no_tls.contains("TLS"), "{no_tls}");
    let unknown = refused("postgres://me:pw@no-such-host.invalid/windlass");
    assert!(unknown.contains("no-such-host.invalid"), "{unknown}");
}

#[test]
fn a_user_with_too_few_rights_or_connections_is_told_so() {
    let place = Place::new();
    place.open();
    let role = fresh_name();
    let admin = |statement: &str| server().sql(&place.name, statement).unwrap();
    admin(&format!("CREATE ROLE {role} LOGIN PASSWORD 'x' CONNECTION LIMIT 0"));
    let url = format!("postgres://{role}:x@{}/{}", server().address(), place.name);
    let says = refused(&url);
    assert!(says.contains("the server has no connection left"), "{says}");
    admin(&format!("ALTER ROLE {role} CONNECTION LIMIT 9"));
    let says = refused(&url);
    assert!(says.contains("the user may not do that"), "{says}");
    admin(&format!("ALTER ROLE {role} SET default_transaction_read_only = on"));
    let says = refused(&url);
    assert!(says.contains("takes no writes"), "{says}");
}

#[test]
fn a_database_of_something_else_stays_as_it_is() {
    let place = Place::new();
    server().sql(&place.name, "CREATE TABLE recipes (name text)").unwrap();
    let says = refused(&place.url());
    assert!(says.contains("a table `recipes`"), "{says}");
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'";
    assert_eq!(server().sql(&place.name, tables).unwrap(), "1");
}

#[test]
fn a_newer_store_and_another_number_of_shards_are_refused() {
    let place = Place::new();
    place.open();
    let other = Options { shards: ShardCount::new(9), ..options() };
    let says = chain(&wait(open(&place.url(), &other)).unwrap_err());
    assert!(says.contains("with 9 shards: it was created with 4"), "{says}");
    server().sql(&place.name, "UPDATE store SET schema = 7").unwrap();
    let says = refused(&place.url());
    assert!(says.contains("schema version 7") && says.contains("newer windlass"), "{says}");
}

/// A session that acknowledges before anything is on disk is refused, so one that opens has been put right.
#[test]
fn a_database_that_acknowledges_too_early_is_overruled() {
    let place = Place::new();
    server().sql("postgres", &format!("ALTER DATABASE {} SET synchronous_commit = off", place.name)).unwrap();
    assert_eq!(server().sql(&place.name, "SHOW synchronous_commit").unwrap(), "off");
    Owner::join(&place.open(), 1).create(1, 1);
}

#[test]
fn a_standby_is_refused_and_a_server_that_comes_is_waited_for() {
    let mut server = PostgresServer::start(&[]).unwrap();
    server.create_database("windlass").unwrap();
    let url = server.url("windlass");
    wait(open(&url, &options())).unwrap();
    server.stop(Stop::Fast).unwrap();
    let standby = server.folder().join("data/standby.signal");
    std::fs::write(&standby, "").unwrap();
    server.run().unwrap();
    let says = refused(&url);
    assert!(says.contains("takes no writes"), "{says}");
    server.stop(Stop::Fast).unwrap();
    std::fs::remove_file(&standby).unwrap();

    let patient = Options { wait: Duration::from_secs(60), ..options() };
    let address = Address::read(&url, None).unwrap();
    let opening = std::thread::spawn(move || wait(PostgresStore::open(&address, &patient)));
    std::thread::sleep(Duration::from_millis(300));
    server.run().unwrap();
    opening.join().unwrap().unwrap();
}

/// A master that starts finds out by itself what became of the transaction in which it made its store.
#[test]
fn a_reply_that_is_lost_while_a_store_is_made_is_no_reason_to_give_up() {
    for fate in [Fate::Swallowed, Fate::Lost] {
        let place = Place::new();
        let proxy = wait(Proxy::start(server().address())).unwrap();
        proxy.every(1, fate);
        let url = server().url_at(proxy.address(), &place.name);
        let patient = Options { wait: Duration::from_secs(60), ..options() };
        let opening = spawn(async move { open(&url, &patient).await });
        while proxy.fated() < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
        proxy.spare();
        let store = wait(opening).unwrap().unwrap();
        assert_eq!(place.open().identity(), store.identity(), "it was made once");
    }
}

#[test]
fn the_way_to_the_server_is_protected_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (key, cert) = (folder.path().join("key.pem"), folder.path().join("cert.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        .args([
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&cert)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut server = PostgresServer::start(&[]).unwrap();
    server.create_database("windlass").unwrap();
    for (file, name) in [(&key, "server.key"), (&cert, "server.crt")] {
        let own = server.folder().join("data").join(name);
        std::fs::copy(file, &own).unwrap();
        server.give(&own).unwrap();
    }
    server.sql("postgres", "ALTER SYSTEM SET ssl = on").unwrap();
    server.stop(Stop::Fast).unwrap();
    server.run().unwrap();
    let url = server.url("windlass");
    wait(open(&format!("{url}?sslmode=require"), &options())).unwrap();
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE ssl AND application_name = 'windlass'";
    let store = wait(open(&format!("{url}?sslrootcert={}", cert.display()), &options())).unwrap();
    assert_ne!(server.sql("postgres", encrypted).unwrap(), "0");
    drop(store);
    let says = refused(&format!("{url}?sslmode=verify-full"));
    assert!(says.contains("certificate"), "{says}");
    wait(open(&format!("{url}?sslmode=disable"), &options())).unwrap();
}
