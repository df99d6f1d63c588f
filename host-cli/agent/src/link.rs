//! Links to the playground, as its page makes and reads them.

use agent_host::Failure;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::fixes::Document;
use agent_syntax::json_string;
use agent_text::link_form::{AREA, ENGINE, LENGTH_LIMIT, SIZE_LIMIT, TENANT_ID, VERSION};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use std::collections::BTreeMap;

/// The level with the smallest result.
const LEVEL: u8 = 10;

/// The area that reviews two locks, and the field of the earlier one.
const REVIEW: &str = "diff";
const EARLIER_LOCK: &str = "beforeLock";

/// How files are shown that no link can hold.
const SHOW: &str = "show the files in the page of this program: `agent playground`";

/// The inputs of the page, by the names of their fields.
pub(crate) struct SharedInputs(BTreeMap<String, String>);

impl SharedInputs {
    /// Returns the inputs of documents in UTF-8 for an area, whose name is empty for the first.
    pub(crate) fn of(area: &str, documents: &[Document], tenant: Option<&str>) -> Self {
        let field = |kind| text_kind(kind).field();
        let mut inputs = Self::named(area, documents, field);
        inputs.set(TENANT_ID, tenant.unwrap_or_default());
        inputs
    }

    /// Returns the inputs of a review of two locks: the earlier one is a `document`.
    pub(crate) fn review(locks: &[Document]) -> Self {
        Self::named(REVIEW, locks, |kind| match kind {
            DocumentKind::Document => EARLIER_LOCK.to_owned(),
            kind => text_kind(kind).field(),
        })
    }

    fn named(area: &str, documents: &[Document], field: impl Fn(DocumentKind) -> String) -> Self {
        let mut inputs = Self(BTreeMap::new());
        for document in documents {
            let text = String::from_utf8_lossy(&document.text);
            inputs.set(&field(document.kind), &text);
        }
        inputs.set(AREA, area);
        inputs.set(ENGINE, env!("CARGO_PKG_VERSION"));
        inputs
    }

    /// Sets a field. An empty one is left out, as on the page.
    fn set(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Returns the inputs as JSON.
    ///
    /// # Errors
    ///
    /// When they are larger than what the page reads.
    pub(crate) fn json(&self) -> Result<String, Failure> {
        let fields = self.0.iter();
        let members = fields.map(|(name, text)| json_string(name) + ":" + &json_string(text));
        let json = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        if json.len() > SIZE_LIMIT as usize {
            let (size, limit) = (json.len() >> 20, SIZE_LIMIT >> 20);
            let message =
                format_args!("the files have {size} MiB, and the page opens {limit} MiB at once");
            return Err(Failure::new(message).help("name a smaller index with `--index`"));
        }
        Ok(json)
    }

    /// Returns the link that holds the inputs, behind the address of a page.
    ///
    /// # Errors
    ///
    /// When the link would be too long.
    pub(crate) fn link(&self, base: &str) -> Result<String, Failure> {
        let packed = URL_SAFE_NO_PAD.encode(compress_to_vec(self.json()?.as_bytes(), LEVEL));
        let area = self.0.get(AREA);
        let area = area.map_or_else(String::new, |name| format!("{name}."));
        let link = format!("{base}#{area}{VERSION}{packed}");
        if link.len() > LENGTH_LIMIT {
            let message = format_args!(
                "the link would have {} characters, and many programs cut links after {LENGTH_LIMIT}",
                link.len()
            );
            return Err(Failure::new(message).help(SHOW));
        }
        Ok(link)
    }
}

/// Returns the kind of the contract as the texts have it, which names the fields.
fn text_kind(kind: DocumentKind) -> agent_text::DocumentKind {
    macro_rules! same {
        ($($case:ident)*) => {
            match kind { $(DocumentKind::$case => agent_text::DocumentKind::$case,)* }
        };
    }
    same! {
        Manifest Index Lock Task Tenant Health Context Policy PolicyTest Import Overlay Call Plan Catalogue Summary Payload
        Request ToolPool Profile StepInput StepOutput Document Evidence
    }
}
