//! Responses that the gateway makes itself.

use crate::body::Content;
use crate::escape::html;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

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

    /// Makes the response, after which the connection may have to be closed.
    pub(crate) fn response(self, is_close: bool) -> Response<Content> {
        let mut response = Response::new(Content::own(self.body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or_default();
        let text = HeaderValue::from_static;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, text(self.kind));
        let cache = match self.is_cached {
            true => "max-age=300",
            false => "no-store",
        };
        headers.insert(header::CACHE_CONTROL, text(cache));
        headers.insert(header::CONTENT_SECURITY_POLICY, text(POLICY));
        headers.insert(header::REFERRER_POLICY, text("no-referrer"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, text("nosniff"));
        headers.insert(header::X_FRAME_OPTIONS, text("DENY"));
        if let Some(location) = self.location.and_then(|it| it.try_into().ok()) {
            headers.insert(header::LOCATION, location);
        }
        if let Some(methods) = self.allow {
            headers.insert(header::ALLOW, text(methods));
        }
        if is_close {
            headers.insert(header::CONNECTION, text("close"));
        }
        response
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
