//! The authorization, from the server's challenge to the kept tokens.

use super::client::OauthClient;
use super::environment::Environment;
use super::fetch::Fetch;
use super::metadata::{self, Issuer, Resource};
use super::probe::probe;
use super::redirect::Redirect;
use super::refresh::take;
use super::scopes::ScopeChoice;
use super::store::{Grant, Store};
use agent_host::{Failure, Signals, random};
use agent_way_out::form;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio::select;
use tokio::time::timeout;

/// A login of this user to a server.
#[derive(Debug, Clone, Copy)]
pub struct Login<'l> {
    /// The id of the server in the operator's configuration.
    pub id: &'l str,
    /// The URL of the server.
    pub endpoint: &'l str,
    /// Scopes to ask for, instead of those that the server asks for.
    pub scopes: &'l [String],
    /// Scopes to ask for, together with those of the kept login.
    pub more_scopes: &'l [String],
    /// The id of a client that the authorization server knows, instead of the operator's.
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
        environment: &dyn Environment,
        signals: &mut Signals,
        show: impl Fn(&str),
    ) -> Result<Result<LoggedIn, String>, Failure> {
        let store = Store::usual();
        let store = store.ok_or_else(|| Failure::new("this user has no folder for credentials"))?;
        let granted = select! {
            granted = timeout(self.time, self.grant(environment, &store, show)) => granted,
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

    async fn grant(
        &self,
        environment: &dyn Environment,
        store: &Store,
        show: impl Fn(&str),
    ) -> Result<Grant, String> {
        let fetch = Fetch {
            environment,
            trusted: self.endpoint,
        };
        let probed = probe(&fetch, self.endpoint).await?;
        let challenge = probed.challenge;
        let found = metadata::resource(&fetch, self.endpoint, challenge.metadata.as_deref());
        let resource = match found.await? {
            Some(resource) => resource,
            None if probed.is_open => {
                return Err("the server answers without a login".to_owned());
            }
            None => return Err("the server has no metadata of OAuth".to_owned()),
        };
        let issuer = metadata::issuer(&fetch, self.issuer(environment, &resource)?).await?;
        let kept = match self.more_scopes {
            [] => None,
            _ => store.find(self.endpoint)?.map(|grant| grant.scopes),
        };
        let choice = ScopeChoice {
            id: self.id,
            limit: environment
                .oauth(self.id)
                .and_then(|it| it.scopes.as_deref()),
            only: self.scopes,
            more: self.more_scopes,
        };
        let scopes = choice.of(kept.or(challenge.scopes), &resource, &issuer)?;
        let redirect = Redirect::listen().await?;
        let client = self.client(&fetch, &issuer, &redirect.uri, &scopes).await?;
        let verifier = secret()?;
        let asked = Asked {
            resource: &resource,
            client: &client,
            scopes: &scopes,
            verifier: &verifier,
        };
        let code = self.agree(&fetch, &issuer, &redirect, &asked, show).await?;
        let members = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &redirect.uri),
            ("code_verifier", &verifier),
            ("resource", &resource.identifier),
        ];
        let response = client.post(&fetch, &issuer.token, &members).await?;
        let mut grant = Grant {
            issuer: issuer.identifier,
            endpoint: self.endpoint.to_owned(),
            resource: resource.identifier,
            client,
            token_endpoint: issuer.token,
            access_token: String::new(),
            refresh_token: None,
            expires: None,
            scopes,
        };
        take(&mut grant, &response)?;
        Ok(grant)
    }

    /// Returns the authorization server: the operator's, or the first that the server names.
    fn issuer<'r>(
        &self,
        environment: &dyn Environment,
        resource: &'r Resource,
    ) -> Result<&'r str, String> {
        let mut named = resource.issuers.iter();
        match environment
            .oauth(self.id)
            .and_then(|it| it.issuer.as_deref())
        {
            None => named.next().map(String::as_str).ok_or_else(|| {
                "the metadata of the server names no authorization server".to_owned()
            }),
            Some(only) => named
                .map(String::as_str)
                .find(|it| *it == only)
                .ok_or_else(|| {
                    format!("the metadata of the server does not name the issuer `{only}`")
                }),
        }
    }

    /// Returns this client: a given one, the URL of its metadata, or one that it registers.
    async fn client(
        &self,
        fetch: &Fetch<'_>,
        issuer: &Issuer,
        redirect: &str,
        scopes: &[String],
    ) -> Result<OauthClient, String> {
        let own = fetch.environment.oauth(self.id);
        let known = own.and_then(|it| it.client_id.as_deref());
        if let Some(id) = self.client_id.or(known) {
            let secret = own.and_then(|it| it.client_secret.as_ref());
            // The operator's secret is that of the operator's client.
            return match secret.filter(|_| known == Some(id)) {
                None => Ok(OauthClient::public(id)),
                Some(secret) => {
                    let secret = fetch.environment.value(secret)?;
                    OauthClient::confidential(id, &secret, issuer)
                }
            };
        }
        if let Some(url) = self.client_url.filter(|_| issuer.takes_client_urls) {
            return Ok(OauthClient::public(url));
        }
        OauthClient::register(fetch, issuer, redirect, scopes).await
    }

    /// Lets the user agree, and returns the code.
    async fn agree(
        &self,
        fetch: &Fetch<'_>,
        issuer: &Issuer,
        redirect: &Redirect,
        asked: &Asked<'_>,
        show: impl Fn(&str),
    ) -> Result<String, String> {
        let state = secret()?;
        let proof = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(asked.verifier.as_bytes()));
        let scope = asked.scopes.join(" ");
        let mut members = vec![
            ("response_type", "code"),
            ("client_id", &asked.client.id),
            ("redirect_uri", &redirect.uri),
            ("state", &state),
            ("code_challenge", &proof),
            ("code_challenge_method", "S256"),
            ("resource", &asked.resource.identifier),
        ];
        if !scope.is_empty() {
            members.push(("scope", &scope));
        }
        // What the user opens is checked as everything that this program requests.
        fetch.target(&issuer.authorization, self.time).await?;
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
        code.await
    }
}

/// What a login asks for.
struct Asked<'a> {
    resource: &'a Resource,
    client: &'a OauthClient,
    scopes: &'a [String],
    /// The secret behind the challenge of PKCE.
    verifier: &'a str,
}

/// Returns 32 random bytes as text for a URL.
fn secret() -> Result<String, String> {
    let bytes = random::<32>().map_err(|failure| failure.message)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
