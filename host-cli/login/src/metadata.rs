//! The metadata of a protected resource, and that of its authorization server.

use super::document::Document;
use super::fetch::Fetch;

/// The metadata of a server as a protected resource (RFC 9728).
pub(super) struct Resource {
    /// The identifier, to which tokens are bound (RFC 8707).
    pub(super) identifier: String,
    pub(super) issuers: Vec<String>,
    pub(super) scopes: Option<Vec<String>>,
}

/// The metadata of an authorization server (RFC 8414).
pub(super) struct Issuer {
    pub(super) identifier: String,
    pub(super) authorization: String,
    pub(super) token: String,
    pub(super) registration: Option<String>,
    /// The scopes that it supports.
    pub(super) scopes: Option<Vec<String>>,
    /// The ways in which a client can authenticate at the token endpoint.
    pub(super) authentications: Option<Vec<String>>,
    /// Whether each answer names the issuer (RFC 9207).
    pub(super) names_itself: bool,
    /// Whether the URL of a client's metadata is an id.
    pub(super) takes_client_urls: bool,
}

/// Returns scheme and authority of a URL, and its path.
fn parts(url: &str) -> Option<(&str, &str)> {
    let start = url.find("://")? + 3;
    let path = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    let (origin, path) = url.split_at(path);
    let end = path.find(['?', '#']).unwrap_or(path.len());
    Some((origin, &path[..end]))
}

/// Returns whether an identifier covers an endpoint: the same origin, and the same path or a folder of it.
fn covers(identifier: &str, endpoint: &str) -> bool {
    let (Some((origin, path)), Some((own, inner))) = (parts(identifier), parts(endpoint)) else {
        return false;
    };
    let path = path.trim_end_matches('/');
    let rest = inner.strip_prefix(path);
    origin.eq_ignore_ascii_case(own) && rest.is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

/// Finds the metadata of a server: where its challenge says, or at the well-known places. `None` if it has none.
pub(super) async fn resource(
    fetch: &Fetch<'_>,
    endpoint: &str,
    challenged: Option<&str>,
) -> Result<Option<Resource>, String> {
    let (origin, path) = parts(endpoint).ok_or("the endpoint is not a URL")?;
    let known = format!("{origin}/.well-known/oauth-protected-resource");
    let places = match challenged {
        Some(url) => vec![url.to_owned()],
        None => vec![format!("{known}{}", path.trim_end_matches('/')), known],
    };
    for url in places {
        let Some(found) = fetch.get(&url).await? else {
            continue;
        };
        let found = Document::new(&found, "the metadata of the server")?;
        let identifier = found.string("resource");
        let identifier = identifier.ok_or("the metadata of the server has no `resource`")?;
        if !covers(&identifier, endpoint) {
            return Err(format!(
                "the metadata at `{url}` is that of another resource, `{identifier}`"
            ));
        }
        let issuers = found.strings("authorization_servers").unwrap_or_default();
        return Ok(Some(Resource {
            identifier,
            issuers,
            scopes: found.strings("scopes_supported"),
        }));
    }
    Ok(None)
}

/// Finds the metadata of an authorization server.
pub(super) async fn issuer(fetch: &Fetch<'_>, identifier: &str) -> Result<Issuer, String> {
    let (origin, path) = parts(identifier).ok_or("the issuer is not a URL")?;
    let path = path.trim_end_matches('/');
    for place in [
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
        format!("{origin}{path}/.well-known/openid-configuration"),
    ] {
        let Some(found) = fetch.get(&place).await? else {
            continue;
        };
        let found = Document::new(&found, "the metadata of the authorization server")?;
        let named = found.string("issuer").unwrap_or_default();
        if named != identifier {
            return Err(format!(
                "the metadata at `{place}` is that of another issuer, `{named}`"
            ));
        }
        let methods = found.strings("code_challenge_methods_supported");
        if !methods.is_some_and(|it| it.iter().any(|method| method == "S256")) {
            return Err(format!(
                "the issuer `{identifier}` does not support PKCE with S256"
            ));
        }
        let needed = |key: &str| {
            let value = found.string(key);
            value.ok_or_else(|| format!("the metadata at `{place}` has no `{key}`"))
        };
        return Ok(Issuer {
            identifier: named,
            authorization: needed("authorization_endpoint")?,
            token: needed("token_endpoint")?,
            registration: found.string("registration_endpoint"),
            scopes: found.strings("scopes_supported"),
            authentications: found.strings("token_endpoint_auth_methods_supported"),
            names_itself: found.is_true("authorization_response_iss_parameter_supported"),
            takes_client_urls: found.is_true("client_id_metadata_document_supported"),
        });
    }
    Err(format!("the issuer `{identifier}` has no metadata"))
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn an_identifier_covers_its_own_folder() {
        let endpoint = "https://a.example/mcp/x";
        for (identifier, is_covered) in [
            ("https://a.example", true),
            ("https://a.example/", true),
            ("https://a.example/mcp", true),
            ("https://A.example/mcp/x", true),
            ("https://a.example/m", false),
            ("https://a.example/mcp/y", false),
            ("https://a.example.evil/mcp", false),
            ("http://a.example/mcp", false),
            ("https://a.example:444/mcp", false),
            ("a.example", false),
        ] {
            assert_eq!(covers(identifier, endpoint), is_covered, "{identifier}");
        }
    }
}
