//! What the names of headers mean to a proxy.

/// The meaning of a header of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestField {
    Host,
    ContentLength,
    TransferEncoding,
    Connection,
    Expect,
    Upgrade,
    Te,
    /// Passed on, and read: it chooses between a page and JSON.
    Accept,
    /// Passed on, and read: it says what a browser does with the response.
    FetchDest,
    /// Ends here: hop by hop, or a statement that only this gateway makes.
    Dropped,
    /// Passed on.
    Other,
}

/// The meaning of a header of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseField {
    ContentLength,
    TransferEncoding,
    Connection,
    Upgrade,
    Date,
    /// Hop by hop.
    Dropped,
    /// Would act on the whole origin, which the apps behind one port share.
    OfOrigin,
    /// Passed on.
    Other,
}

const FORWARDED: &str = "x-forwarded-";

/// Returns the meaning of a header of a request.
pub(crate) fn of_request(name: &str) -> RequestField {
    if name.as_bytes().contains(&b'_') {
        return of_ambiguous(name);
    }
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    match name.len() {
        2 if is("te") => RequestField::Te,
        4 if is("host") => RequestField::Host,
        5 if is("proxy") => RequestField::Dropped,
        6 if is("accept") => RequestField::Accept,
        6 if is("expect") => RequestField::Expect,
        7 if is("upgrade") => RequestField::Upgrade,
        7 if is("trailer") => RequestField::Dropped,
        9 if is("forwarded") || is("x-real-ip") => RequestField::Dropped,
        10 if is("connection") => RequestField::Connection,
        10 if is("keep-alive") => RequestField::Dropped,
        14 if is("content-length") => RequestField::ContentLength,
        14 if is("sec-fetch-dest") => RequestField::FetchDest,
        14 if is("http2-settings") => RequestField::Dropped,
        16 if is("proxy-connection") => RequestField::Dropped,
        17 if is("transfer-encoding") => RequestField::TransferEncoding,
        18 if is("proxy-authenticate") => RequestField::Dropped,
        19 if is("proxy-authorization") => RequestField::Dropped,
        _ if is_forwarded(name) => RequestField::Dropped,
        _ => RequestField::Other,
    }
}

fn is_forwarded(name: &str) -> bool {
    let start = name.as_bytes().get(..FORWARDED.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(FORWARDED.as_bytes()))
}

/// Apps that read headers as CGI does take `_` for `-`: such a name must not bring back what is dropped here.
fn of_ambiguous(name: &str) -> RequestField {
    match of_request(&name.replace('_', "-")) {
        RequestField::Other => RequestField::Other,
        _ => RequestField::Dropped,
    }
}

/// Returns the meaning of a header of a response.
pub(crate) fn of_response(name: &str) -> ResponseField {
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    match name.len() {
        2 if is("te") => ResponseField::Dropped,
        4 if is("date") => ResponseField::Date,
        7 if is("upgrade") => ResponseField::Upgrade,
        10 if is("connection") => ResponseField::Connection,
        10 if is("keep-alive") => ResponseField::Dropped,
        14 if is("content-length") => ResponseField::ContentLength,
        15 if is("clear-site-data") => ResponseField::OfOrigin,
        16 if is("proxy-connection") => ResponseField::Dropped,
        17 if is("transfer-encoding") => ResponseField::TransferEncoding,
        18 if is("proxy-authenticate") => ResponseField::Dropped,
        22 if is("service-worker-allowed") => ResponseField::OfOrigin,
        _ => ResponseField::Other,
    }
}

/// Returns whether a field of a trailer section may be passed on: it must not frame, route or authenticate a message
/// (RFC 9110, 6.5.1).
pub(crate) fn is_trailer(name: &str) -> bool {
    const REFUSED: [&str; 10] = [
        "authorization",
        "cache-control",
        "content-encoding",
        "content-range",
        "content-type",
        "cookie",
        "location",
        "set-cookie",
        "trailer",
        "www-authenticate",
    ];
    of_response(name) == ResponseField::Other
        && of_request(name) == RequestField::Other
        && !REFUSED.iter().any(|it| name.eq_ignore_ascii_case(it))
}

/// The options of all `Connection` headers of a message.
#[derive(Debug, Default)]
pub(crate) struct Options<'b> {
    pub(crate) is_close: bool,
    pub(crate) is_upgrade: bool,
    /// Names of headers that end here.
    names: Vec<&'b [u8]>,
}

impl<'b> Options<'b> {
    /// Adds those of one header.
    pub(crate) fn read(&mut self, value: &'b [u8]) {
        for option in value.split(|byte| *byte == b',') {
            let option = option.trim_ascii();
            if option.eq_ignore_ascii_case(b"close") {
                self.is_close = true;
            } else if option.eq_ignore_ascii_case(b"upgrade") {
                self.is_upgrade = true;
            } else if !option.is_empty() && !option.eq_ignore_ascii_case(b"keep-alive") {
                self.names.push(option);
            }
        }
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
    use super::{Options, RequestField, ResponseField, is_trailer, of_request, of_response};

    #[test]
    fn names_are_recognised_in_any_case_and_spelling() {
        assert_eq!(of_request("HOST"), RequestField::Host);
        assert_eq!(of_request("X-Forwarded-Anything"), RequestField::Dropped);
        assert_eq!(of_request("x_forwarded_for"), RequestField::Dropped);
        assert_eq!(of_request("Content_Length"), RequestField::Dropped);
        assert_eq!(of_request("my_header"), RequestField::Other);
        assert_eq!(of_request("X-Forward"), RequestField::Other);
        assert_eq!(of_response("Clear-Site-Data"), ResponseField::OfOrigin);
        assert_eq!(of_response("Content-Type"), ResponseField::Other);
    }

    #[test]
    fn a_trailer_changes_no_meaning() {
        assert!(is_trailer("Server-Timing"));
        for name in ["Content-Length", "Set-Cookie", "Host", "X-Forwarded-For"] {
            assert!(!is_trailer(name), "{name}");
        }
    }

    #[test]
    fn options_name_headers() {
        let mut options = Options::default();
        options.read(b"keep-alive, X-Secret ,,CLOSE");
        assert!(options.is_close && !options.is_upgrade);
        assert!(options.name("x-secret") && !options.name("keep-alive"));
    }
}
