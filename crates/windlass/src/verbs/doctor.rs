//! `doctor`: every setting with where it came from, and whether the server is well.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use windlass_client::{Client, Patience};
use windlass_rest::Time;
use windlass_rest::cluster::{Cluster, MasterState};
use windlass_rest::problem::Exit;

use super::output::{Column, Out};
use super::session::Session;
use crate::exit::{Failure, shown};
use crate::settings::{KEYS, Role, Settings};

/// Clocks that differ by more confuse who compares times; HTTP tells them in whole seconds.
const CLOCK_DIFFERENCE_MS: u64 = 3_000;
/// With less space than this on the disk of the data folder, something is about to fail.
const LEAST_FREE: u64 = 200 << 20;

/// A server that is not well is told of at once.
const IMPATIENT: Patience =
    Patience { unreachable: Duration::from_millis(400), unavailable: Duration::from_millis(400) };

/// What to look at.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass doctor
  windlass --server http://scheduler:8000 doctor -o json")]
pub struct Doctor {
    /// Settings file; /etc/windlass/windlass.toml if that exists
    #[arg(long, value_name = "FILE", env = "WINDLASS_CONFIG", hide_env_values = true)]
    config: Option<String>,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Check>,
    settings: Vec<Setting>,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Check {
    check: &'static str,
    result: Found,
    detail: String,
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Found {
    Ok,
    Warn,
    Fail,
}

/// A setting of one or more roles.
#[derive(Serialize)]
struct Setting {
    key: &'static str,
    value: Option<String>,
    origin: Option<String>,
    roles: Vec<&'static str>,
}

impl Doctor {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let mut checks = Vec::new();
        let settings = match read_settings(self.config.as_deref()) {
            Ok((settings, data)) => {
                checks.push(ok(
                    "settings",
                    self.config.as_ref().map_or("can be read".to_owned(), Clone::clone),
                ));
                checks.extend(disk(&data));
                settings
            }
            Err(failure) => {
                checks.push(fail("settings", format!("{:#}", failure.error), failure.hint));
                Vec::new()
            }
        };
        checks.extend(server(&session.client.with_patience(IMPATIENT), &session.origin).await);
        let failed = checks.iter().any(|check| check.result == Found::Fail);
        let report = Report { ok: !failed, checks, settings };
        session.out.one(&report, if failed { "fail" } else { "ok" }, |out| show(out, &report))?;
        Ok(if failed { Exit::Failed } else { Exit::Fine })
    }
}

fn show(out: &Out, report: &Report) -> std::io::Result<()> {
    const COLUMNS: &[Column<Setting>] = &[
        ("SETTING", |setting| setting.key.to_owned()),
        ("VALUE", |setting| setting.value.clone().unwrap_or_else(|| "-".to_owned())),
        ("FROM", |setting| setting.origin.clone().unwrap_or_else(|| "not set".to_owned())),
        ("ROLES", |setting| setting.roles.join(", ")),
    ];
    if !report.settings.is_empty() {
        out.table(&report.settings, COLUMNS)?;
        out.line("")?;
    }
    for Check { check, result, detail, hint } in &report.checks {
        let word = match result {
            Found::Ok => "OK  ",
            Found::Warn => "WARN",
            Found::Fail => "FAIL",
        };
        out.line(format!("{word}  {check}: {detail}"))?;
        if let Some(hint) = hint {
            out.line(format!("      hint: {hint}"))?;
        }
    }
    Ok(())
}

/// Every setting, and the folder that holds the data of a server that is started here.
fn read_settings(config: Option<&str>) -> Result<(Vec<Setting>, PathBuf), Failure> {
    let roles = [(Role::Standalone, "standalone"), (Role::Master, "master"), (Role::Worker, "worker")];
    let mut settings: Vec<Setting> = Vec::new();
    let mut data = None;
    for (role, name) in roles {
        let read = Settings::of_role(role, config)
            .map_err(|error| Failure::usage(error).hint("docs/reference/settings.md has every setting"))?;
        if role == Role::Standalone {
            data = read.text("data").map(PathBuf::from);
        }
        for key in KEYS.iter().filter(|key| key.roles.contains(&role)) {
            if let Some(setting) = settings.iter_mut().find(|setting| setting.key == key.name) {
                setting.roles.push(name);
                continue;
            }
            let found = read.shown().find(|(shown, _, _)| shown.name == key.name);
            let (value, origin) =
                found.map(|(_, value, origin)| (without_password(value), origin.to_string())).unzip();
            settings.push(Setting { key: key.name, value, origin, roles: vec![name] });
        }
    }
    settings.sort_by_key(|setting| KEYS.iter().position(|key| key.name == setting.key));
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".local/share/windlass");
    Ok((settings, data.unwrap_or_else(home)))
}

/// What an address says without the password in it.
fn without_password(value: &str) -> String {
    let hidden = || {
        let (scheme, rest) = value.split_once("://")?;
        let (login, place) = rest.rsplit_once('@')?;
        let (user, _) = login.split_once(':')?;
        Some(format!("{scheme}://{user}:…@{place}"))
    };
    hidden().unwrap_or_else(|| value.to_owned())
}

/// Whether the disk of a data folder has room, if the folder is here.
fn disk(data: &Path) -> Option<Check> {
    let space = rustix::fs::statvfs(data).ok()?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let detail = format!("{} has {} MiB free", data.display(), free >> 20);
    Some(if free < LEAST_FREE {
        fail("disk", detail, Some("make room, or set another folder with --data".to_owned()))
    } else {
        ok("disk", detail)
    })
}

async fn server(client: &Client, origin: &str) -> Vec<Check> {
    let mut checks = Vec::new();
    match client.probe("livez").await {
        Ok(_) => checks.push(ok("server", format!("{} answers (address from: {origin})", client.server()))),
        Err(error) => {
            let Failure { error, hint, code, .. } = Failure::from(error);
            checks.push(fail("server", format!("{} [{code}]", shown(&error).0), hint));
            return checks;
        }
    }
    checks.push(match client.probe("readyz").await {
        Ok(_) => ok("ready", "it takes work".to_owned()),
        Err(error) => fail("ready", format!("it does not take work: {error}"), error.hint()),
    });
    checks.extend(clock(client).await);
    match client.cluster().await {
        Ok(cluster) => checks.extend(cluster_checks(&cluster)),
        Err(error) => {
            checks.push(fail("login", format!("it does not show its state: {error}"), error.hint()));
        }
    }
    checks
}

async fn clock(client: &Client) -> Option<Check> {
    let theirs = client.server_time().await.ok().flatten()?;
    let apart = theirs.unix_ms().abs_diff(Time::from(Timestamp::now()).unix_ms());
    Some(if apart > CLOCK_DIFFERENCE_MS {
        let detail = format!("the server's clock is {}s away from the one here", apart / 1000);
        warn("clock", detail, Some("have both machines' clocks set by NTP".to_owned()))
    } else {
        ok("clock", "the server's clock agrees with the one here".to_owned())
    })
}

fn cluster_checks(cluster: &Cluster) -> Vec<Check> {
    let ours = env!("CARGO_PKG_VERSION");
    let alive = cluster.masters.iter().filter(|master| master.state == MasterState::Alive).count();
    let masters = format!("{alive} of {} masters alive", cluster.masters.len());
    let unowned = cluster.shards.iter().filter(|shard| shard.owner.is_none()).count();
    let workers = cluster.workers;
    vec![
        if cluster.version == ours {
            ok("version", ours.to_owned())
        } else {
            warn("version", format!("the server is {}, this program is {ours}", cluster.version), None)
        },
        ok("store", cluster.store.clone().unwrap_or_else(|| "not told".to_owned())),
        if alive == cluster.masters.len() { ok("masters", masters) } else { warn("masters", masters, None) },
        if unowned == 0 {
            ok("shards", format!("each of {} has an owner", cluster.shards.len()))
        } else {
            let hint = "wait a few seconds; \"windlass cluster\" shows who owns what".to_owned();
            fail("shards", format!("{unowned} of {} have no owner", cluster.shards.len()), Some(hint))
        },
        if workers.online > 0 {
            ok(
                "workers",
                format!("{} online, {} of {} slots taken", workers.online, workers.slots_used, workers.slots),
            )
        } else {
            let hint = "start one with \"windlass worker --master URL\"".to_owned();
            warn("workers", format!("none online, {} lost", workers.lost), Some(hint))
        },
        if cluster.scheduler.running {
            ok("scheduler", "running".to_owned())
        } else {
            let hint = "start it with \"windlass scheduler start\"".to_owned();
            warn("scheduler", "stopped: nothing starts".to_owned(), Some(hint))
        },
    ]
}

fn ok(check: &'static str, detail: String) -> Check {
    Check { check, result: Found::Ok, detail, hint: None }
}

fn warn(check: &'static str, detail: String, hint: Option<String>) -> Check {
    Check { check, result: Found::Warn, detail, hint }
}

fn fail(check: &'static str, detail: String, hint: Option<String>) -> Check {
    Check { check, result: Found::Fail, detail, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_are_not_shown() {
        assert_eq!(without_password("postgres://me:secret@db/x"), "postgres://me:…@db/x");
        assert_eq!(without_password("http://127.0.0.1:8000"), "http://127.0.0.1:8000");
        assert_eq!(without_password("sqlite:/a@b"), "sqlite:/a@b");
    }
}
