//! The client as an authorization server knows it, and its proof at the token endpoint (RFC 6749, 2.3.1).

use super::document::Document;
use super::fetch::Fetch;
use super::metadata::Issuer;
use agent_syntax::json::Writer;
use agent_way_out::{Response, form, percent_encoded};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The media type of JSON.
const JSON: &str = "application/json";

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// How a client proves at the token endpoint that it is the one of its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authentication {
    /// Not at all: PKCE binds the code to this login.
    None,
    /// The secret in a header.
    Basic,
    /// The secret in the form.
    Post,
}

impl Authentication {
    /// Returns the method of a name (RFC 7591, 2).
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "client_secret_basic" => Self::Basic,
            "client_secret_post" => Self::Post,
            _ => return None,
        })
    }

    /// Returns the name of the method.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    /// Returns the first of `preferred` that an issuer supports. One without a list supports each.
    fn first(issuer: &Issuer, preferred: &[Self]) -> Result<Self, String> {
        let supports = |method: &&Self| match &issuer.authentications {
            Some(names) => names.iter().any(|name| name == method.name()),
            None => true,
        };
        let found = preferred.iter().find(supports).copied();
        found.ok_or_else(|| {
            let known: Vec<_> = preferred.iter().map(|method| method.name()).collect();
            format!(
                "the issuer `{}` supports none of the client authentications {}",
                issuer.identifier,
                known.join(", ")
            )
        })
    }
}

/// A client of one issuer.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct OauthClient {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) authentication: Authentication,
}

impl OauthClient {
    /// Returns a client without a secret.
    pub(super) fn public(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            secret: None,
            authentication: Authentication::None,
        }
    }

    /// Returns a client with a secret, which the issuer knows already.
    pub(super) fn confidential(id: &str, secret: &str, issuer: &Issuer) -> Result<Self, String> {
        let preferred = [Authentication::Basic, Authentication::Post];
        Ok(Self {
            id: id.to_owned(),
            secret: Some(secret.to_owned()),
            authentication: Authentication::first(issuer, &preferred)?,
        })
    }

    /// Registers a client (RFC 7591). Only an issuer that requires a secret gives it one.
    pub(super) async fn register(
        fetch: &Fetch<'_>,
        issuer: &Issuer,
        redirect: &str,
        scopes: &[String],
    ) -> Result<Self, String> {
        let Some(registration) = &issuer.registration else {
            return Err(format!(
                "the issuer `{}` registers no clients: name one with `--client-id`",
                issuer.identifier
            ));
        };
        let preferred = [
            Authentication::None,
            Authentication::Basic,
            Authentication::Post,
        ];
        let authentication = Authentication::first(issuer, &preferred)?;
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
            w.key("token_endpoint_auth_method")
                .string(authentication.name());
        });
        let posted = fetch.post(registration, JSON, None, w.finish());
        let response = posted.await?;
        let answer = Document::new(&response.body, "the answer of the registration")?;
        match (response.status.as_u16(), answer.string("client_id")) {
            (200 | 201, Some(id)) => Self::registered(id, &answer, authentication),
            (status, _) => {
                let error = answer.string("error").unwrap_or_default();
                Err(format!(
                    "the issuer does not register this client: {error} ({status})"
                ))
            }
        }
    }

    /// Returns the client of an answer, which may have another authentication than was asked for.
    fn registered(id: String, answer: &Document, asked: Authentication) -> Result<Self, String> {
        let authentication = match answer.string("token_endpoint_auth_method") {
            None => asked,
            Some(name) => Authentication::named(&name).ok_or_else(|| {
                format!("the issuer registers this client for the authentication `{name}`")
            })?,
        };
        let secret = match authentication {
            Authentication::None => None,
            Authentication::Basic | Authentication::Post => {
                let secret = answer.string("client_secret");
                Some(secret.ok_or("the issuer registers this client without its secret")?)
            }
        };
        Ok(Self {
            id,
            secret,
            authentication,
        })
    }

    /// Posts a form to the token endpoint of the issuer.
    pub(super) async fn post(
        &self,
        fetch: &Fetch<'_>,
        endpoint: &str,
        members: &[(&str, &str)],
    ) -> Result<Response, String> {
        let secret = self.secret.as_deref().unwrap_or_default();
        let mut members = members.to_vec();
        let mut authorization = None;
        match self.authentication {
            Authentication::Basic => {
                let pair = [&self.id, secret].map(percent_encoded).join(":");
                authorization = Some(format!("Basic {}", BASE64_STANDARD.encode(pair)));
            }
            Authentication::Post => {
                members.extend([("client_id", &*self.id), ("client_secret", secret)]);
            }
            Authentication::None => members.push(("client_id", &self.id)),
        }
        let authorization = authorization.as_deref();
        let posted = fetch.post(endpoint, FORM, authorization, form(&members));
        posted.await
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::super::metadata::Issuer;
    use super::{Authentication, OauthClient};

    fn issuer(authentications: Option<&[&str]>) -> Issuer {
        let names = |list: &[&str]| list.iter().map(|&it| it.to_owned()).collect();
        Issuer {
            identifier: "https://as.example".to_owned(),
            authorization: String::new(),
            token: String::new(),
            registration: None,
            scopes: None,
            authentications: authentications.map(names),
            names_itself: false,
            takes_client_urls: false,
        }
    }

    #[test]
    fn a_secret_is_sent_as_the_issuer_supports_it() {
        let of =
            |list| OauthClient::confidential("c", "s", &issuer(list)).map(|it| it.authentication);
        let post: &[&str] = &["none", "client_secret_post"];
        assert_eq!(of(None), Ok(Authentication::Basic));
        assert_eq!(of(Some(post)), Ok(Authentication::Post));
        let problem = of(Some(&["private_key_jwt"])).unwrap_err();
        assert!(
            problem.contains("client_secret_basic, client_secret_post"),
            "{problem}"
        );
    }

    #[test]
    fn a_registration_says_how_the_client_proves_itself() {
        let read = |json: &str, asked| {
            let answer = Document::new(json.as_bytes(), "it").unwrap();
            OauthClient::registered("c".to_owned(), &answer, asked)
        };
        let basic = r#"{"token_endpoint_auth_method":"client_secret_basic","client_secret":"s"}"#;
        let client = read(basic, Authentication::None).ok().unwrap();
        assert_eq!(client.authentication, Authentication::Basic);
        assert_eq!(client.secret.as_deref(), Some("s"));
        // A secret that is not needed is not kept.
        let client = read(r#"{"client_secret":"s"}"#, Authentication::None)
            .ok()
            .unwrap();
        assert_eq!(client.secret, None);
        assert!(read("{}", Authentication::Post).is_err());
        let unknown = r#"{"token_endpoint_auth_method":"private_key_jwt"}"#;
        assert!(read(unknown, Authentication::None).is_err());
    }
}
