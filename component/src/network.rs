//! `agent:engine/network`

use crate::Component;
use crate::bindings::exports::agent::engine::network::{Destination, Guest, HttpEndpoint, Refusal};
use agent_api::network::{admit, authorize};
use agent_api::plan::{self, RunProblem};

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

    fn http_endpoint_of(url: String) -> Result<HttpEndpoint, Refusal> {
        let (origin, target) = plan::endpoint(&url).map_err(Refusal::from)?;
        Ok(HttpEndpoint {
            tls: origin.is_secure(),
            host: origin.host().to_owned(),
            port: origin.port(),
            target,
            is_name: origin.address().is_none(),
        })
    }

    fn authorize_endpoint(
        url: String,
        trusted: Vec<String>,
        addresses: Vec<String>,
    ) -> Result<Vec<String>, Vec<Refusal>> {
        let trusted: Vec<_> = trusted.iter().map(String::as_str).collect();
        let authorized = plan::authorize_url(&url, &trusted, &addresses);
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
