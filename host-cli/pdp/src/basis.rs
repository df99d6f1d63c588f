//! What decides: documents, and the bundle that they came in.

use super::answer::Refusal;
use agent_host::contract::diagnostic::Code;
use agent_host::contract::session::Documents;
use agent_host::unix_ms;
use agent_syntax::json::Writer;
use hyper::StatusCode;
use std::fmt;

/// What a decision point decides by. It is replaced as a whole.
pub(crate) struct Basis {
    pub(crate) documents: Documents,
    /// None if files were named.
    pub(crate) bundle: Option<Standing>,
}

/// A bundle that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) name: String,
    pub(crate) sequence: u64,
    /// The digest of its statement.
    pub(crate) digest: String,
    /// The last millisecond at which it decides, since 1970: its own end, or that of the keys.
    pub(crate) until_ms: u64,
    /// The same as RFC 3339.
    pub(crate) until: String,
    /// Whether a later reading of the keys takes back what they vouched for.
    pub(crate) is_withdrawn: bool,
}

impl Standing {
    /// Writes what it says about itself, and its digest.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.key("digest").string(&self.digest);
        w.key("name").string(&self.name);
        w.key("sequence").json(&self.sequence.to_string());
        w.key("until").string(&self.until);
    }

    /// Returns the same as a JSON object.
    pub(crate) fn json(&self) -> String {
        let mut w = Writer::dense();
        w.object(|w| self.write(w));
        w.finish()
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            sequence,
            digest,
            until,
            ..
        } = self;
        write!(
            out,
            "bundle {name}, sequence {sequence}, until {until}, {digest}"
        )
    }
}

impl Basis {
    /// Returns whether the time of the bundle is over.
    pub(crate) fn is_over(&self) -> bool {
        self.bundle
            .as_ref()
            .is_some_and(|it| unix_ms() > it.until_ms)
    }

    /// Refuses every question if the bundle decides no longer.
    ///
    /// # Errors
    ///
    /// It is over, or its keys are trusted no longer.
    pub(crate) fn stands(&self) -> Result<(), Refusal> {
        let Some(bundle) = &self.bundle else {
            return Ok(());
        };
        let refused = |code, text: String| {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Err(Refusal {
                code: Some(code),
                ..Refusal::of_http(status, text)
            })
        };
        let name = &bundle.name;
        if bundle.is_withdrawn {
            let text = format!("the keys that signed the bundle `{name}` are trusted no longer");
            refused(Code::BundleUntrusted, text)
        } else if self.is_over() {
            refused(Code::BundleExpired, format!("the bundle `{name}` expired"))
        } else {
            Ok(())
        }
    }
}
