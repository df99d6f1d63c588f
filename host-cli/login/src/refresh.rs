//! The token of a server, renewed before it expires.

use super::document::Document;
use super::environment::Environment;
use super::fetch::Fetch;
use super::store::{Grant, Store};
use agent_host::unix_time;
use agent_way_out::Response;
use std::time::Duration;

/// Time before the end of a token at which it is renewed.
const MARGIN: Duration = Duration::from_secs(60);

/// Returns the access token of a server that this user has logged in to. It is renewed if it expires soon, or if
/// it is the one that the server refused. One program at a time renews: a refresh token serves once.
///
/// # Errors
///
/// The reason why the kept token can't be used.
pub async fn bearer(
    environment: &dyn Environment,
    endpoint: &str,
    refused: Option<&str>,
) -> Result<Option<String>, String> {
    let Some(store) = Store::usual() else {
        return Ok(None);
    };
    let Some(grant) = store.find(endpoint)? else {
        return Ok(None);
    };
    if !is_due(&grant, refused) {
        return Ok(Some(grant.access_token));
    }
    let locked = store.lock().await.map_err(|failure| failure.message)?;
    // Another program may have renewed it in the meantime.
    let Some(mut grant) = store.find(endpoint)? else {
        return Ok(None);
    };
    if !is_due(&grant, refused) {
        return Ok(Some(grant.access_token));
    }
    let Some(token) = grant.refresh_token.clone() else {
        return match refused {
            Some(_) => Err("the kept token is no longer accepted".to_owned()),
            None => Ok(Some(grant.access_token)),
        };
    };
    let fetch = Fetch {
        environment,
        trusted: endpoint,
    };
    let members = [
        ("grant_type", "refresh_token"),
        ("refresh_token", &token),
        ("resource", &grant.resource),
    ];
    let posted = grant.client.post(&fetch, &grant.token_endpoint, &members);
    let response = posted.await?;
    take(&mut grant, &response)?;
    locked.keep(&grant).map_err(|failure| failure.message)?;
    Ok(Some(grant.access_token))
}

/// Returns whether a token is to be renewed.
fn is_due(grant: &Grant, refused: Option<&str>) -> bool {
    let ends = |end| end <= now() + MARGIN.as_secs();
    refused == Some(&*grant.access_token) || grant.expires.is_some_and(ends)
}

/// Takes the tokens of an answer of a token endpoint.
pub(super) fn take(grant: &mut Grant, response: &Response) -> Result<(), String> {
    let answer = Document::new(&response.body, "the answer of the token endpoint")?;
    if response.status.as_u16() != 200 {
        let error = answer.string("error").unwrap_or_default();
        let status = response.status.as_u16();
        return Err(format!(
            "the authorization server gives no token: {error} ({status})"
        ));
    }
    let kind = answer.string("token_type").unwrap_or_default();
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err("the authorization server gives a token that is not a bearer token".to_owned());
    }
    let token = answer.string("access_token");
    let token = token.filter(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_graphic()));
    grant.access_token = token.ok_or("the authorization server gives no usable token")?;
    let lifetime = answer.number("expires_in");
    grant.expires = lifetime.map(|seconds| now().saturating_add(seconds));
    if let Some(token) = answer.string("refresh_token") {
        grant.refresh_token = Some(token);
    }
    if let Some(scope) = answer.string("scope") {
        grant.scopes = scope.split(' ').map(str::to_owned).collect();
    }
    Ok(())
}

/// Returns the seconds since 1970.
fn now() -> u64 {
    unix_time().as_secs()
}
