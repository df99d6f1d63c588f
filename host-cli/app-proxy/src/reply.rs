//! Responses that the gateway makes itself.

use crate::date;
use crate::escape::html;
use crate::refusal::reason;
use std::fmt::Write as _;

/// The form in which a client wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A page with the style and links of the gateway's own port.
    Page,
    /// A page that leads nowhere: at a leased port every path is the app's.
    BarePage,
    Json,
}

impl Wanted {
    /// Reads the value of `Accept`: what asks for HTML is a browser.
    pub(crate) fn of(accept: &[u8]) -> Self {
        let mut kinds = accept.split(|byte| *byte == b',');
        let is_page = kinds.any(|kind| {
            let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
            kind.trim_ascii().eq_ignore_ascii_case(b"text/html")
        });
        if is_page { Self::Page } else { Self::Json }
    }

    /// Returns the form at a leased port.
    pub(crate) fn bare(self) -> Self {
        match self {
            Self::Page => Self::BarePage,
            other => other,
        }
    }
}

/// The policy of every own page. `sandbox` gives the page an origin of its own: an app's page, which comes from the
/// same port, can neither read it nor act in it. Nothing runs, and only the own style is loaded. A link that the user
/// opens in another tab leads out of the sandbox.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox";

/// A response of the gateway.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
    location: Option<String>,
    allow: Option<&'static str>,
    is_cached: bool,
}

impl Reply {
    pub(crate) fn new(status: u16, kind: &'static str, body: Vec<u8>) -> Self {
        Self {
            status,
            kind,
            body,
            location: None,
            allow: None,
            is_cached: false,
        }
    }

    /// A page of HTML with the own style. The caller has escaped what is in the body.
    pub(crate) fn page(status: u16, title: &str, body: &str) -> Self {
        Self::document(
            status,
            title,
            "<link rel=\"stylesheet\" href=\"/style.css\">",
            body,
        )
    }

    /// A page of HTML.
    pub(crate) fn document(status: u16, title: &str, style: &str, body: &str) -> Self {
        let text = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
             <title>{}</title>{style}</head>\n<body><main>{body}</main></body></html>\n",
            html(title)
        );
        Self::new(status, "text/html; charset=utf-8", text.into_bytes())
    }

    /// A redirect to a path of this listener.
    pub(crate) fn redirect(location: String) -> Self {
        Self {
            location: Some(location),
            ..Self::new(308, "text/plain; charset=utf-8", Vec::new())
        }
    }

    /// Names the methods of a target that has no others.
    pub(crate) fn allow(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    /// Lets the browser keep the response.
    pub(crate) fn cached(mut self) -> Self {
        self.is_cached = true;
        self
    }

    /// Writes head and body. A response to `HEAD` has no body.
    pub(crate) fn write(&self, out: &mut Vec<u8>, is_head: bool, is_close: bool) {
        let (status, kind, length) = (self.status, self.kind, self.body.len());
        let cache = if self.is_cached {
            "max-age=300"
        } else {
            "no-store"
        };
        let mut head = format!(
            "HTTP/1.1 {status} {}\r\nDate: {}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             Cache-Control: {cache}\r\nContent-Security-Policy: {POLICY}\r\nReferrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n",
            reason(status),
            date::now(),
        );
        if let Some(location) = &self.location {
            // Writing into a string can't fail.
            let _ = write!(head, "Location: {location}\r\n");
        }
        if let Some(methods) = self.allow {
            let _ = write!(head, "Allow: {methods}\r\n");
        }
        if is_close {
            head.push_str("Connection: close\r\n");
        }
        head.push_str("\r\n");
        out.extend_from_slice(head.as_bytes());
        if !is_head {
            out.extend_from_slice(&self.body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Wanted;

    #[test]
    fn browsers_get_pages_and_programs_json() {
        let browser = b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert_eq!(Wanted::of(browser), Wanted::Page);
        assert_eq!(Wanted::of(b"application/json"), Wanted::Json);
        assert_eq!(Wanted::of(b"*/*"), Wanted::Json);
    }
}
