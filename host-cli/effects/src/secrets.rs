//! The operator's secrets, for the places that name them.

use agent_host::contract::run::Secret as Redacted;
use agent_host::{Failure, Signals};
use agent_operator::{Operator, Part, Secret, SecretSource, SecretUnavailable, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::{select, task};

/// The values of the operator's secrets.
pub(crate) struct Secrets(BTreeMap<String, Result<Secret, SecretUnavailable>>);

impl Secrets {
    /// Gets every secret, until `is_cancelled` becomes true. One that can't be had is an error where it is named.
    fn of(sources: &BTreeMap<String, SecretSource>, is_cancelled: &AtomicBool) -> Self {
        let sources = sources.iter();
        let values = sources.map(|(name, source)| (name.clone(), source.value(is_cancelled)));
        Self(values.collect())
    }

    /// Gets every secret, unless the user interrupts it: programs may supply some.
    ///
    /// # Errors
    ///
    /// When it is interrupted. Nothing that was started remains.
    pub(crate) async fn get_all(
        operator: &Operator,
        signals: &mut Signals,
    ) -> Result<Self, Failure> {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let (sources, seen) = (operator.secrets.clone(), Arc::clone(&is_cancelled));
        let mut work = task::spawn_blocking(move || Self::of(&sources, &seen));
        select! {
            secrets = &mut work => secrets.map_err(Failure::internal),
            () = signals.cancelled() => {
                is_cancelled.store(true, Ordering::Relaxed);
                // Its programs end before this one.
                let _ = work.await;
                Err(Failure::new("interrupted while secrets were fetched"))
            }
        }
    }

    /// Returns the values that a run must redact.
    pub(crate) fn to_redact(&self) -> Vec<Redacted> {
        let known = self.0.iter().filter_map(|(name, value)| {
            let value = value.as_ref().ok()?.expose().to_owned();
            let name = name.clone();
            Some(Redacted { name, value })
        });
        known.collect()
    }

    /// Returns the value of a secret.
    pub(crate) fn get(&self, name: &str) -> Result<&str, String> {
        match self.0.get(name) {
            Some(Ok(secret)) => Ok(secret.expose()),
            Some(Err(unavailable)) => Err(format!("the secret `{name}`: {unavailable}")),
            None => Err(format!("the operator has no secret `{name}`")),
        }
    }

    /// Returns a value of the operator's configuration, and whether it contains a secret.
    pub(crate) fn value<'v>(&'v self, value: &'v Value) -> Result<(Cow<'v, str>, bool), String> {
        let (mut text, mut is_secret) = (Cow::Borrowed(""), false);
        for part in &value.0 {
            text += match part {
                Part::Literal(literal) => &**literal,
                Part::Secret(name) => {
                    is_secret = true;
                    self.get(name)?
                }
            };
        }
        Ok((text, is_secret))
    }
}

/// Returns secrets of the operator's file at its usual path, in the order of their names.
///
/// # Errors
///
/// The reason why one can't be had, which contains no value.
pub async fn named_secrets(names: Vec<String>) -> Result<Vec<Redacted>, String> {
    // Programs may supply some, and take their time. Each ends in 10 s even if the caller is gone.
    let found = task::spawn_blocking(move || {
        let operator = Operator::usual().map_err(|error| error.to_string())?;
        let found = names.into_iter().map(|name| {
            let source = operator.secrets.get(&name);
            let source = source.ok_or_else(|| format!("the operator has no secret `{name}`"))?;
            let value = source.value(&AtomicBool::new(false));
            let value = value.map_err(|why| format!("the secret `{name}`: {why}"))?;
            let value = value.expose().to_owned();
            Ok(Redacted { name, value })
        });
        found.collect()
    });
    found.await.map_err(|error| error.to_string())?
}
