//! `tokens`: keys to the interface.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use windlass_rest::problem::Exit;
use windlass_rest::tokens::{CreateToken, Role, Token};
use windlass_rest::{PageQuery, Time};

use super::complete;
use super::output::Column;
use super::session::{Session, all};
use super::times::{ago, ago_if, moment};
use super::words;
use crate::exit::Failure;

/// Tokens.
#[derive(Debug, Subcommand)]
pub enum Tokens {
    /// Make a token; its secret is shown once
    Create(Create),
    /// List tokens
    #[command(after_help = "Example:\n  windlass tokens list")]
    List,
    /// Have a token open nothing any more
    #[command(after_help = "Example:\n  windlass tokens revoke laptop")]
    Revoke(Named),
}

/// A token to make.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass tokens create laptop --role operator
  windlass tokens create rack-7 --role worker --expires 30d")]
pub struct Create {
    /// What it is for; unique
    #[arg(value_name = "NAME")]
    name: String,
    /// What it may do: admin, operator, viewer or worker
    #[arg(long, value_name = "ROLE", default_value = "operator", value_parser = words::role)]
    role: Role,
    /// When it stops working: a time, or a duration such as 30d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    expires: Option<Time>,
}

/// A token.
#[derive(Debug, Args)]
pub struct Named {
    /// Its name or id
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::tokens))]
    name: String,
}

impl Tokens {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        const COLUMNS: &[Column<Token>] = &[
            ("NAME", |token| token.name.clone()),
            ("ROLE", |token| token.role.to_string()),
            ("CREATED", |token| ago(token.created_at)),
            ("EXPIRES", |token| ago_if(token.expires_at)),
            ("USED", |token| ago_if(token.last_used_at)),
        ];
        const WIDE: &[Column<Token>] =
            &[("BY", |token| token.created_by.clone().unwrap_or_default()), ("ID", |token| token.id.clone())];
        let out = &session.out;
        match self {
            Tokens::Create(Create { name, role, expires }) => {
                let token = CreateToken { name, role, expires_at: expires };
                let made = session.client.create_token(&token).await?;
                out.one(&made, &made.token.name, |out| out.line(&made.secret))?;
                out.note("keep it: it is not shown again; use it as WINDLASS_TOKEN or --token");
            }
            Tokens::List => {
                let tokens = all(usize::MAX, |limit, cursor| async move {
                    session.client.tokens(&PageQuery { limit, cursor }).await
                });
                out.list(&tokens.await?, COLUMNS, WIDE, "no tokens")?;
            }
            Tokens::Revoke(Named { name }) => {
                session.client.revoke_token(&name).await?;
                let gone = json!({"name": name, "revoked": true});
                out.one(&gone, &name, |out| out.line(format!("{name} revoked")))?;
            }
        }
        Ok(Exit::Fine)
    }
}
