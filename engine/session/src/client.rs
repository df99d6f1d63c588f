//! The client that asks.

use super::elicitation;
use super::limits::{CLIENT_NAME_MAX_BYTES, CLIENT_PROPERTIES_MAX_BYTES};
use agent_api::diagnostic::Code;
use agent_api::lower::digest;
use agent_api::model::Subject;
use agent_api::text::hexadecimal;
use agent_syntax::Value;
use agent_syntax::json::{Writer, parse_strict};
use sha2::{Digest, Sha256};

/// A generation of the Model Context Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// 2025-11-25 and older: clients have sessions, and output schemas are those of objects.
    Sessions,
    /// 2026-07-28: every request stands alone, and results have a type.
    Stateless,
}

/// An authenticated client. The host vouches for every member.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// Its kind, such as `local` or `oauth`: `type` in a policy's `input.subject`.
    pub kind: String,
    /// Its properties: a JSON object.
    pub properties: Option<Vec<u8>>,
    /// The generation of the protocol that it speaks.
    pub generation: Generation,
    /// The id of its session, of a client of [`Generation::Sessions`].
    pub session: Option<String>,
    /// What it declared at the beginning of its session, as JSON: `capabilities` of `initialize`. Other clients
    /// declare it with each request.
    pub capabilities: Option<Vec<u8>>,
}

/// A client whose members were read.
#[derive(Debug)]
pub(crate) struct Caller<'c> {
    pub(crate) client: &'c Client,
    /// Names the client in the state.
    pub(crate) key: Key,
    /// Names its session in the state, if it has one.
    pub(crate) session: Option<Key>,
    /// The client as policies see it.
    pub(crate) subject: Subject,
    /// Whether its session shows forms of servers to its human.
    pub(crate) elicits: bool,
}

/// A name of fixed size in the state: the digits of half a SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(String);

impl Key {
    /// The number of digits.
    const DIGITS: usize = 32;

    /// Returns the key of a list of names, which no other list has.
    pub(crate) fn of(names: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for name in names {
            hash.update((name.len() as u64).to_be_bytes());
            hash.update(name);
        }
        Self(hexadecimal(&hash.finalize()[..Self::DIGITS / 2]))
    }

    /// Returns the key of the RFC 8785 form of arguments.
    pub(crate) fn of_form(form: &str) -> Self {
        Self::of_digest(&digest(form))
    }

    /// Returns the key of arguments by the digest that a record has of them.
    pub(crate) fn of_digest(digest: &str) -> Self {
        Self::of(&[digest])
    }

    /// Returns a key as the state writes it.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_key = text.len() == Self::DIGITS && text.bytes().all(is_digit);
        is_key.then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'c> Caller<'c> {
    /// Returns whether it speaks the generation of the protocol that has `requestState`.
    pub(crate) fn is_stateless(&self) -> bool {
        self.client.generation == Generation::Stateless
    }

    /// Reads a client.
    ///
    /// # Errors
    /// A member is too long, or is not a JSON object: a policy could be evaded by a client that it does not see as it is.
    pub(crate) fn read(client: &'c Client) -> Result<Self, (Code, String)> {
        let session = client.session.as_deref();
        for (name, text) in [
            ("id", Some(&*client.id)),
            ("kind", Some(&*client.kind)),
            ("session", session),
        ] {
            if text.is_some_and(|text| text.len() > CLIENT_NAME_MAX_BYTES) {
                let text =
                    format!("the client's {name} has more than {CLIENT_NAME_MAX_BYTES} bytes");
                return Err((Code::InputTooLarge, text));
            }
        }
        let properties = match client.properties.as_deref() {
            None => None,
            Some(bytes) => Some(properties(bytes)?),
        };
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("id").string(&client.id);
            w.key("properties").json(properties.unwrap_or("null"));
            w.key("type").string(&client.kind);
        });
        let mut json = w.finish();
        json.pop();
        let old = client.generation == Generation::Sessions;
        let session = session.filter(|_| old);
        Ok(Self {
            client,
            key: Key::of(&[&client.kind, &client.id]),
            session: session.map(|it| Key::of(&[&client.kind, &client.id, it])),
            subject: Subject { json },
            elicits: old && elicits(client),
        })
    }
}

fn elicits(client: &Client) -> bool {
    let capabilities = client.capabilities.as_deref();
    let capabilities = capabilities.filter(|it| it.len() <= CLIENT_PROPERTIES_MAX_BYTES);
    let text = capabilities.and_then(|it| core::str::from_utf8(it).ok());
    text.and_then(parse_strict)
        .is_some_and(|it| elicitation::is_offered(&it))
}

fn properties(bytes: &[u8]) -> Result<&str, (Code, String)> {
    if bytes.len() > CLIENT_PROPERTIES_MAX_BYTES {
        let text =
            format!("the client's properties have more than {CLIENT_PROPERTIES_MAX_BYTES} bytes");
        return Err((Code::InputTooLarge, text));
    }
    let text = core::str::from_utf8(bytes).ok();
    // A record holds them within other objects.
    let fits = |text: &&str| parse_strict(&format!("[[[[{text}]]]]")).is_some();
    let object = text.filter(fits).and_then(parse_strict);
    match (text, object.map(|node| node.value)) {
        (Some(text), Some(Value::Mapping(_))) => Ok(text.trim()),
        _ => {
            let text = "the client's properties are not a JSON object".to_owned();
            Err((Code::WrongType, text))
        }
    }
}
