//! `agent:engine/network`

use crate::Component;
use crate::bindings::exports::agent::engine::network::{Destination, Guest, Refusal};
use agent_api::network::{admit, authorize};
use agent_api::plan::RunProblem;

impl Guest for Component {
    fn admit(allowed: Vec<String>, wanted: String) -> Result<Destination, Refusal> {
        let admitted = admit(&allowed, &wanted).map_err(Refusal::from)?;
        Ok(Destination {
            host: admitted.host().to_owned(),
            port: admitted.port(),
        })
    }

    fn authorize(
        allowed: Vec<String>,
        wanted: String,
        addresses: Vec<String>,
    ) -> Result<Vec<String>, Vec<Refusal>> {
        let authorized = authorize(&allowed, &wanted, &addresses);
        authorized.map_err(|problems| problems.into_iter().map(Refusal::from).collect())
    }
}

impl From<RunProblem> for Refusal {
    fn from((code, message): RunProblem) -> Self {
        Self {
            code: code.into(),
            message,
        }
    }
}
