//! The authorization, from the server's challenge to the kept tokens.

use super::challenge::Challenge;
use super::document::{Document, form};
use super::fetch::Fetch;
use super::metadata::{self, Issuer, Resource};
use super::redirect::Redirect;
use super::refresh::{FORM, take};
use super::store::{Grant, Store};
use crate::access::Access;
use crate::run::random;
use crate::signals::Signals;
use agent_host::Failure;
use agent_syntax::json::Writer;
use agent_way_out::Method;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::select;
use tokio::time::timeout;

/// The media type of JSON.
const JSON: &str = "application/json";

/// A login of this user to a server.
#[derive(Debug, Clone, Copy)]
pub struct Login<'l> {
    /// The id of the server in the operator's configuration.
    pub id: &'l str,
    /// The URL of the server.
    pub endpoint: &'l str,
    /// Scopes to ask for, in place of those that the server asks for.
    pub scopes: &'l [String],
    /// The id of a client that the authorization server knows.
    pub client_id: Option<&'l str>,
    /// The URL of a client's metadata, which serves as its id.
    pub client_url: Option<&'l str>,
    /// Maximum time until the user has agreed.
    pub time: Duration,
}

/// A login that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// The issuer of the token.
    pub issuer: String,
    /// The scopes of the token.
    pub scopes: Vec<String>,
}

impl Login<'_> {
    /// Logs in. `show` gets the URL that the user opens in a browser.
    ///
    /// # Errors
    ///
    /// The outer one if the user interrupts the program, or tokens can't be kept; the inner one is the reason why
    /// there is no token.
    pub async fn run(
        &self,
        access: &Access,
        signals: &mut Signals,
        show: impl Fn(&str),
    ) -> Result<Result<LoggedIn, String>, Failure> {
        let store = Store::usual();
        let store = store.ok_or_else(|| Failure::new("this user has no folder for credentials"))?;
        let granted = select! {
            granted = timeout(self.time, self.grant(access, show)) => granted,
            () = signals.cancelled() => return Err(Failure::new("interrupted")),
        };
        let late = || Err(format!("nobody agreed within {} s", self.time.as_secs()));
        match granted.unwrap_or_else(|_| late()) {
            Ok(grant) => {
                store.lock().await?.keep(&grant)?;
                Ok(Ok(LoggedIn {
                    issuer: grant.issuer,
                    scopes: grant.scopes,
                }))
            }
            Err(message) => Ok(Err(message)),
        }
    }

    async fn grant(&self, access: &Access, show: impl Fn(&str)) -> Result<Grant, String> {
        let fetch = Fetch {
            access,
            trusted: self.endpoint,
        };
        let challenge = self.challenge(&fetch).await?;
        let found = metadata::resource(&fetch, self.endpoint, challenge.metadata.as_deref());
        let resource = found.await?;
        let issuer = resource.issuers.first();
        let issuer = issuer.ok_or("the metadata of the server names no authorization server")?;
        let issuer = metadata::issuer(&fetch, issuer).await?;
        let scopes = self.scopes(access, challenge.scopes, &resource)?;
        let redirect = Redirect::listen().await?;
        let client_id = self.client(&fetch, &issuer, &redirect.uri, &scopes).await?;
        let [state, verifier] = [secret()?, secret()?];
        let proof = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let scope = scopes.join(" ");
        let mut members = vec![
            ("response_type", "code"),
            ("client_id", &client_id),
            ("redirect_uri", &redirect.uri),
            ("state", &state),
            ("code_challenge", &proof),
            ("code_challenge_method", "S256"),
            ("resource", &resource.identifier),
        ];
        if !scope.is_empty() {
            members.push(("scope", &scope));
        }
        // What the user opens is checked as everything that this program requests.
        let trusted = [self.endpoint];
        let opened = access.address(&issuer.authorization, &trusted, self.time);
        let (opened, _) = opened.await?;
        let is_loopback = opened.address.parse::<std::net::IpAddr>();
        if !opened.tls && !is_loopback.is_ok_and(|it| it.is_loopback()) {
            return Err(format!("`{}` is not an https URL", issuer.authorization));
        }
        let separator = if issuer.authorization.contains('?') {
            '&'
        } else {
            '?'
        };
        show(&format!(
            "{}{separator}{}",
            issuer.authorization,
            form(&members)
        ));
        let code = redirect.code(&state, &issuer.identifier, issuer.names_itself);
        let code = code.await?;
        let members = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &redirect.uri),
            ("client_id", &client_id),
            ("code_verifier", &verifier),
            ("resource", &resource.identifier),
        ];
        let response = fetch.post(&issuer.token, FORM, form(&members)).await?;
        let mut grant = Grant {
            issuer: issuer.identifier,
            endpoint: self.endpoint.to_owned(),
            resource: resource.identifier,
            client_id,
            token_endpoint: issuer.token,
            access_token: String::new(),
            refresh_token: None,
            expires: None,
            scopes,
        };
        take(&mut grant, &response)?;
        Ok(grant)
    }

    /// Asks the server without a token, and returns its challenge.
    async fn challenge(&self, fetch: &Fetch<'_>) -> Result<Challenge, String> {
        let given = [
            ("accept", "application/json, text/event-stream"),
            ("content-type", JSON),
        ];
        let probe = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}"#;
        let sent = fetch.send(Method::POST, self.endpoint, &given, probe.to_owned());
        let response = sent.await?;
        match response.status.as_u16() {
            401 | 403 => {
                let header = response.headers.get("www-authenticate");
                let header = header.and_then(|it| it.to_str().ok());
                Ok(Challenge::read(header.unwrap_or_default()))
            }
            200..300 => Err("the server answers without a login".to_owned()),
            // Servers that answer otherwise may have metadata all the same.
            _ => Ok(Challenge::default()),
        }
    }

    /// Returns the scopes to ask for. Those of the operator limit them.
    fn scopes(
        &self,
        access: &Access,
        challenged: Option<Vec<String>>,
        resource: &Resource,
    ) -> Result<Vec<String>, String> {
        let limit = access.scopes(self.id);
        if !self.scopes.is_empty() {
            let is_allowed = |it: &&String| limit.is_none_or(|limit| limit.contains(it));
            return match self.scopes.iter().find(|it| !is_allowed(it)) {
                None => Ok(self.scopes.to_vec()),
                Some(scope) => Err(format!(
                    "`oauth.scopes` of `{}` in `servers.local.yaml` lacks `{scope}`",
                    self.id
                )),
            };
        }
        let mut scopes = challenged
            .or_else(|| resource.scopes.clone())
            .unwrap_or_default();
        scopes.retain(|it| !it.is_empty() && limit.is_none_or(|limit| limit.contains(it)));
        Ok(scopes)
    }

    /// Returns the id of this client: a given one, the URL of its metadata, or one that it registers.
    async fn client(
        &self,
        fetch: &Fetch<'_>,
        issuer: &Issuer,
        redirect: &str,
        scopes: &[String],
    ) -> Result<String, String> {
        if let Some(id) = self.client_id {
            return Ok(id.to_owned());
        }
        if let Some(url) = self.client_url.filter(|_| issuer.takes_client_urls) {
            return Ok(url.to_owned());
        }
        let Some(registration) = &issuer.registration else {
            return Err(format!(
                "the issuer `{}` registers no clients: name one with `--client-id`",
                issuer.identifier
            ));
        };
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("application_type").string("native");
            w.key("client_name").string("agent");
            w.key("grant_types")
                .strings(["authorization_code", "refresh_token"]);
            w.key("redirect_uris").strings([redirect]);
            w.key("response_types").strings(["code"]);
            if !scopes.is_empty() {
                w.key("scope").string(&scopes.join(" "));
            }
            w.key("token_endpoint_auth_method").string("none");
        });
        let response = fetch.post(registration, JSON, w.finish()).await?;
        let answer = Document::new(&response.body, "the answer of the registration")?;
        match (response.status.as_u16(), answer.string("client_id")) {
            (200 | 201, Some(id)) => Ok(id),
            (status, _) => {
                let error = answer.string("error").unwrap_or_default();
                Err(format!(
                    "the issuer does not register this client: {error} ({status})"
                ))
            }
        }
    }
}

/// Returns 32 random bytes as text for a URL.
fn secret() -> Result<String, String> {
    let bytes = random().map_err(|failure| failure.message)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
