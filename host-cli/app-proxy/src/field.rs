//! What the names of headers mean to a proxy. Names are in lower case, as `hyper` has them.

use hyper::HeaderMap;
use hyper::header::CONNECTION;

/// Headers of a request that end here: hop by hop, part of the framing, or statements that only this gateway makes.
const OF_REQUEST: [&str; 16] = [
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-real-ip",
];

/// Headers of a response that end here.
const OF_RESPONSE: [&str; 8] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Returns whether a header of a request ends here.
pub(crate) fn ends_with_request(name: &str) -> bool {
    if name.contains('_') {
        // Apps that read headers as CGI does take `_` for `-`: such a name must not bring back what is dropped here.
        let name = name.replace('_', "-");
        return name == "sec-fetch-dest" || ends_with_request(&name);
    }
    OF_REQUEST.contains(&name) || name.starts_with("x-forwarded-")
}

/// Returns whether a header of a response ends here. With `is_shared` also one that would act on the whole origin, which
/// the apps behind one port share.
pub(crate) fn ends_with_response(name: &str, is_shared: bool) -> bool {
    let is_of_origin = matches!(name, "clear-site-data" | "service-worker-allowed");
    OF_RESPONSE.contains(&name) || (is_shared && is_of_origin)
}

/// Returns whether a field of a trailer section may be passed on: it must not frame, route or authenticate a message
/// (RFC 9110, 6.5.1).
pub(crate) fn is_trailer(name: &str) -> bool {
    const REFUSED: [&str; 13] = [
        "accept",
        "authorization",
        "cache-control",
        "content-encoding",
        "content-range",
        "content-type",
        "cookie",
        "date",
        "location",
        "sec-fetch-dest",
        "set-cookie",
        "trailer",
        "www-authenticate",
    ];
    !REFUSED.contains(&name) && !ends_with_response(name, true) && !ends_with_request(name)
}

/// The options of all `Connection` headers of a message.
#[derive(Debug, Default)]
pub(crate) struct Options<'b> {
    pub(crate) is_upgrade: bool,
    /// Names of headers that end here.
    names: Vec<&'b [u8]>,
}

impl<'b> Options<'b> {
    pub(crate) fn of(headers: &'b HeaderMap) -> Self {
        let mut options = Self::default();
        for value in headers.get_all(CONNECTION) {
            for option in value.as_bytes().split(|byte| *byte == b',') {
                let option = option.trim_ascii();
                if option.eq_ignore_ascii_case(b"upgrade") {
                    options.is_upgrade = true;
                } else if !option.is_empty() && !option.eq_ignore_ascii_case(b"keep-alive") {
                    options.names.push(option);
                }
            }
        }
        options
    }

    /// Returns whether a header is named.
    pub(crate) fn name(&self, name: &str) -> bool {
        self.names
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, ends_with_request, ends_with_response, is_trailer};
    use hyper::HeaderMap;
    use hyper::header::{CONNECTION, HeaderValue};

    #[test]
    fn names_are_recognised_in_any_spelling() {
        for name in [
            "host",
            "x-forwarded-anything",
            "x_forwarded_for",
            "content_length",
        ] {
            assert!(ends_with_request(name), "{name}");
        }
        for name in ["my_header", "x-forward", "accept"] {
            assert!(!ends_with_request(name), "{name}");
        }
        assert!(ends_with_response("clear-site-data", true));
        assert!(!ends_with_response("clear-site-data", false));
        assert!(!ends_with_response("content-type", true));
    }

    #[test]
    fn a_trailer_changes_no_meaning() {
        assert!(is_trailer("server-timing"));
        for name in ["content-length", "set-cookie", "host", "x-forwarded-for"] {
            assert!(!is_trailer(name), "{name}");
        }
    }

    #[test]
    fn options_name_headers() {
        let mut headers = HeaderMap::new();
        headers.append(
            CONNECTION,
            HeaderValue::from_static("keep-alive, X-Secret ,,"),
        );
        headers.append(CONNECTION, HeaderValue::from_static("UPGRADE"));
        let options = Options::of(&headers);
        assert!(options.is_upgrade);
        assert!(options.name("x-secret") && !options.name("keep-alive"));
    }
}
