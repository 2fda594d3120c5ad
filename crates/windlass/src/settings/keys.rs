//! Every setting.

/// Who has a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Master and worker in one process.
    Standalone,
    /// A master.
    Master,
    /// A worker.
    Worker,
}

/// What its text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Taken as it is.
    Text,
    /// A length of time: `4s`.
    Duration,
    /// A whole number.
    Number,
    /// `true` or `false`.
    Switch,
    /// Several texts: a flag that may be repeated, a list in the file, and with commas in the environment.
    List,
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its key in the file; the flag has `-` for `_`, the variable is `WINDLASS_` and the key in capitals.
    pub name: &'static str,
    /// What its text means.
    pub kind: Kind,
    /// Who has it.
    pub roles: &'static [Role],
    /// What help calls its value.
    pub value: &'static str,
    /// What it is when nobody says; for some roles something that is found out at the start.
    pub default: Option<&'static str>,
    /// What it does.
    pub meaning: &'static str,
}

use Kind::{Duration, List, Number, Switch, Text};
use Role::{Master, Standalone, Worker};

const ALL: &[Role] = &[Standalone, Master, Worker];
const MASTERS: &[Role] = &[Standalone, Master];
const WORKERS: &[Role] = &[Standalone, Worker];

/// Every setting, in the order of the reference page.
pub const KEYS: &[Key] = &[
    Key {
        name: "data",
        kind: Text,
        roles: ALL,
        value: "DIR",
        default: None,
        meaning: "Folder for everything that is kept; ~/.local/share/windlass unless told, with a folder of its own for \
                  a worker",
    },
    Key {
        name: "store",
        kind: Text,
        roles: &[Master],
        value: "URL",
        default: None,
        meaning: "Where the truth is kept: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE",
    },
    Key {
        name: "registry",
        kind: Text,
        roles: &[Master],
        value: "URL",
        default: Some("store"),
        meaning: "How masters hear of each other: store, etcd://HOST:PORT,…/PATH or zookeeper://HOST:PORT,…/PATH",
    },
    Key {
        name: "listen",
        kind: Text,
        roles: MASTERS,
        value: "ADDR",
        default: Some("127.0.0.1:8000"),
        meaning: "Address for the API, the UI and workers; any that is not loopback asks for tokens",
    },
    Key {
        name: "advertise",
        kind: Text,
        roles: &[Master],
        value: "ADDR",
        default: None,
        meaning: "Address at which others reach this master, if not where it listens",
    },
    Key {
        name: "master",
        kind: List,
        roles: &[Worker],
        value: "URL",
        default: Some("http://127.0.0.1:8000"),
        meaning: "Masters to work for; one is enough to hear of the others",
    },
    Key {
        name: "name",
        kind: Text,
        roles: ALL,
        value: "NAME",
        default: None,
        meaning: "What people call this process; unique among those that live. The host's name unless told",
    },
    Key {
        name: "group",
        kind: Text,
        roles: WORKERS,
        value: "GROUP",
        default: None,
        meaning: "Group that tasks may ask for",
    },
    Key {
        name: "label",
        kind: List,
        roles: WORKERS,
        value: "K=V",
        default: None,
        meaning: "Labels that tasks may ask for",
    },
    Key {
        name: "slots",
        kind: Number,
        roles: WORKERS,
        value: "N",
        default: None,
        meaning: "How many attempts run at once; twice the number of cores unless told",
    },
    Key {
        name: "resource",
        kind: List,
        roles: WORKERS,
        value: "K=N",
        default: None,
        meaning: "What tasks may need a share of, such as cpu=4 or memory=8GiB",
    },
    Key {
        name: "lease_ttl",
        kind: Duration,
        roles: MASTERS,
        value: "D",
        default: Some("4s"),
        meaning: "A master that has not renewed its lease for so long may be replaced",
    },
    Key {
        name: "heartbeat",
        kind: Duration,
        roles: WORKERS,
        value: "D",
        default: Some("1s"),
        meaning: "How often a worker says that it is there",
    },
    Key {
        name: "worker_timeout",
        kind: Duration,
        roles: ALL,
        value: "D",
        default: Some("5s"),
        meaning: "A worker that was silent for so long is lost; it starts nothing when out of touch for so long",
    },
    Key {
        name: "adoption_grace",
        kind: Duration,
        roles: MASTERS,
        value: "D",
        default: Some("10s"),
        meaning: "How long a new owner of work waits for the workers that have it",
    },
    Key {
        name: "kill_grace",
        kind: Duration,
        roles: ALL,
        value: "D",
        default: Some("10s"),
        meaning: "How long a process has between being asked and being forced to end",
    },
    Key {
        name: "drain_timeout",
        kind: Duration,
        roles: WORKERS,
        value: "D",
        default: None,
        meaning: "How long what runs may go on after the process was asked to end: 3s unless told, for a worker of its \
                  own 30s",
    },
    Key {
        name: "min_free_disk",
        kind: Text,
        roles: WORKERS,
        value: "SIZE",
        default: Some("256MiB"),
        meaning: "A worker whose disk has less room takes nothing new",
    },
    Key {
        name: "min_free_memory",
        kind: Text,
        roles: WORKERS,
        value: "SIZE",
        default: Some("128MiB"),
        meaning: "A worker whose machine has less memory available takes nothing new",
    },
    Key {
        name: "max_load",
        kind: Text,
        roles: WORKERS,
        value: "N",
        default: None,
        meaning: "A worker whose machine has a higher load average for each core takes nothing new",
    },
    Key {
        name: "python",
        kind: Text,
        roles: WORKERS,
        value: "PROGRAM",
        default: Some("python3"),
        meaning: "Interpreter of python tasks that name none",
    },
    Key {
        name: "http_private",
        kind: Switch,
        roles: WORKERS,
        value: "BOOL",
        default: Some("false"),
        meaning: "Whether http tasks may call loopback, link-local and private addresses",
    },
    Key {
        name: "smtp",
        kind: Text,
        roles: MASTERS,
        value: "URL",
        default: None,
        meaning: "Server that takes mails of alerts: smtp://HOST:PORT, or smtps://USER@HOST with the password in \
                  WINDLASS_SMTP_PASSWORD",
    },
    Key {
        name: "alert_from",
        kind: Text,
        roles: MASTERS,
        value: "ADDRESS",
        default: None,
        meaning: "Sender of the mails of alerts",
    },
    Key {
        name: "ui_dir",
        kind: Text,
        roles: MASTERS,
        value: "DIR",
        default: None,
        meaning: "Folder of a built web UI, to serve instead of the one inside the program",
    },
    Key {
        name: "log_format",
        kind: Text,
        roles: ALL,
        value: "FORMAT",
        default: Some("auto"),
        meaning: "json, text, or auto: text on a terminal and JSON elsewhere",
    },
    Key {
        name: "log_level",
        kind: Text,
        roles: ALL,
        value: "LEVEL",
        default: Some("info"),
        meaning: "error, warn, info, debug or trace; also by part, as in info,windlass_master=debug",
    },
    Key {
        name: "test_clock",
        kind: Text,
        roles: ALL,
        value: "FILE",
        default: None,
        meaning: "For tests only: a file with an offset in seconds, read again every second and added to the wall clock",
    },
];

impl Key {
    /// The setting of that name.
    pub fn named(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Its flag, without the dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Its environment variable.
    pub fn variable(&self) -> String {
        format!("WINDLASS_{}", self.name.to_uppercase())
    }
}
