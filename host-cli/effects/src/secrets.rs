//! The operator's secrets, for the places that name them.

use agent_host::contract::run::Secret as Redacted;
use agent_operator::{Operator, Secret, SecretUnavailable, Value};
use std::collections::BTreeMap;

/// The values of the operator's secrets.
pub(crate) struct Secrets(BTreeMap<String, Result<Secret, SecretUnavailable>>);

impl Secrets {
    /// Gets every secret. One that can't be had is an error where it is named.
    pub(crate) fn of(operator: &Operator) -> Self {
        let sources = operator.secrets.iter();
        Self(
            sources
                .map(|(name, source)| (name.clone(), source.value()))
                .collect(),
        )
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

    /// Returns a value of the operator's configuration, and whether it is a secret.
    pub(crate) fn value<'v>(&'v self, value: &'v Value) -> Result<(&'v str, bool), String> {
        match value {
            Value::Literal(value) => Ok((value, false)),
            Value::Secret(name) => Ok((self.get(name)?, true)),
        }
    }
}
