//! Who may ask at all: a request by HTTP is refused before its body is read.

use super::token::Token;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use std::net::SocketAddr;

/// What a browser says about where a request comes from.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names by which a listener is reached.
#[derive(Clone)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// Returns the names of a listener at an address of loopback.
    pub fn of(address: SocketAddr) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string(), format!("localhost:{port}")];
        if port == 80 {
            names.extend(["localhost".to_owned(), address.ip().to_string()]);
        }
        Self(names)
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Checks that a request was made to this listener by its own name, and not by the page of another site: a
    /// name that an attacker lets point to loopback is none of ours. The error says what is refused.
    pub fn admit(&self, request: &Parts) -> Result<(), &'static str> {
        if request.uri.authority().is_some() {
            return Err("the request names another target");
        }
        let host = single(&request.headers, &HOST);
        if !host.is_ok_and(|host| host.is_some_and(|host| self.has(host))) {
            return Err("`Host` is not the address of this server");
        }
        let origin = single(&request.headers, &ORIGIN)
            .map_err(|Ambiguous| "`Origin` is not the address of this server")?;
        let own = |origin: &str| {
            let host = origin.strip_prefix("http://");
            host.is_some_and(|host| self.has(host))
        };
        if origin.is_some_and(|origin| !own(origin)) {
            return Err("`Origin` is not the address of this server");
        }
        match single(&request.headers, &SEC_FETCH_SITE) {
            Ok(None | Some("same-origin" | "none")) => Ok(()),
            _ => Err("the page of another site made the request"),
        }
    }
}

/// A header that is there twice, or is not ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ambiguous;

/// Returns the value of a header.
///
/// # Errors
///
/// When it is there twice, or is not ASCII.
pub fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Ambiguous> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(HeaderValue::to_str).transpose();
    match (value, values.next()) {
        (Ok(value), None) => Ok(value),
        _ => Err(Ambiguous),
    }
}

/// Returns the client whose token a request has.
pub fn client<'c>(headers: &HeaderMap, clients: &'c [(String, Token)]) -> Option<&'c str> {
    let given = single(headers, &AUTHORIZATION).ok()??;
    let (scheme, token) = given.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    // Every token is compared, so that the time does not tell which one is near.
    let mut found = None;
    for (name, own) in clients {
        if own.is(token.trim()) {
            found = Some(&**name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Hosts, client};
    use crate::token::Token;
    use hyper::Request;

    fn admitted(target: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let hosts = Hosts::of("127.0.0.1:4000".parse().unwrap());
        hosts.admit(&parts).is_ok()
    }

    #[test]
    fn only_requests_to_the_own_name_and_of_no_other_page_are_admitted() {
        let host = ("host", "127.0.0.1:4000");
        assert!(admitted("/mcp", &[host]));
        assert!(admitted("/mcp", &[("host", "LocalHost:4000")]));
        assert!(admitted(
            "/mcp",
            &[host, ("origin", "http://localhost:4000")]
        ));
        assert!(admitted("/mcp", &[host, ("sec-fetch-site", "same-origin")]));
        for refused in [
            &[][..],
            &[("host", "evil.example:4000")],
            &[("host", "127.0.0.1")],
            &[("host", "127.0.0.1:4001")],
            &[("host", "[::1]:4000")],
            &[host, ("host", "evil.example")],
            &[host, ("origin", "null")],
            &[host, ("origin", "https://127.0.0.1:4000")],
            &[host, ("origin", "http://evil.example")],
            &[host, ("origin", "http://127.0.0.1:4001")],
            &[
                host,
                ("origin", "http://localhost:4000"),
                ("origin", "http://evil.example"),
            ],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-site")],
        ] {
            assert!(!admitted("/mcp", refused), "{refused:?}");
        }
        assert!(!admitted("http://evil.example/mcp", &[host]));
    }

    #[test]
    fn a_token_names_its_client() {
        let token = |name: &str| (name.to_owned(), Token::random().unwrap());
        let clients = [token("editor"), token("chat")];
        let found = |value: &str| {
            let request = Request::builder().header("authorization", value);
            let request = request.body(()).unwrap();
            client(request.headers(), &clients).map(str::to_owned)
        };
        for (name, token) in &clients {
            let value = format!("Bearer {}", token.reveal());
            assert_eq!(found(&value).as_ref(), Some(name));
            assert_eq!(
                found(&value.replace("Bearer", "bearer")).as_ref(),
                Some(name)
            );
            assert_eq!(found(&value.replace("Bearer", "Basic")), None);
            assert_eq!(found(&value[..value.len() - 1]), None);
            assert_eq!(found(&format!("{value}0")), None);
            assert_eq!(found(token.reveal()), None);
        }
        assert_eq!(found("Bearer "), None);
    }
}
