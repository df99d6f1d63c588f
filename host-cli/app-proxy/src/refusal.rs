//! Answers that are not the app's: what is wrong, and what to do.

use crate::escape::{html, json};
use crate::reply::{Reply, Wanted};
use hyper::StatusCode;
use std::borrow::Cow;

/// Why a request gets no response of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Says what is wrong, as a diagnostic does.
    message: Cow<'static, str>,
    /// What to do, or nothing.
    help: &'static str,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            message: message.into(),
            help: "",
        }
    }

    /// A request that breaks a rule of HTTP.
    pub(crate) fn bad(message: &'static str) -> Self {
        Self::new(400, message)
    }

    pub(crate) fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    /// Writes the refusal as a client wants it.
    pub(crate) fn reply(&self, wanted: Wanted) -> Reply {
        let status = self.status;
        let reason = StatusCode::from_u16(status).ok();
        let reason = reason
            .and_then(|it| it.canonical_reason())
            .unwrap_or("Error");
        let (message, help) = (&*self.message, self.help);
        match wanted {
            Wanted::Page | Wanted::BarePage => {
                let help = match help {
                    "" => String::new(),
                    help => format!("<p>{}</p>", html(help)),
                };
                let title = format!("{status} {reason}");
                let body = format!("<h1>{reason}</h1><p>{}</p>{help}", html(message));
                match wanted {
                    Wanted::Page => {
                        let link = "<p><a href=\"/\">All tasks</a></p>";
                        Reply::page(status, &title, &(body + link))
                    }
                    _ => Reply::document(status, &title, "", &body),
                }
            }
            Wanted::Json => {
                let (message, help) = (json(message), json(help));
                let help = match self.help {
                    "" => String::new(),
                    _ => format!(",\"help\":{help}"),
                };
                let body = format!("{{\"status\":{status},\"message\":{message}{help}}}\n");
                Reply::new(status, "application/json", body.into_bytes())
            }
        }
    }
}
