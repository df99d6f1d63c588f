//! The client as its requests name it.

use crate::error::Error;
use crate::json::{Json, Malformed};
use crate::message::on_one_line;
use crate::version::{Generation, Version};
use agent_syntax::json::Kind;
use agent_syntax::json_string;
use bytes::Bytes;

/// The name and the version of a client, as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Identity(String);

impl Identity {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        let (name, version) = (json_string(name), json_string(version));
        Self(format!(r#"{{"name":{name},"version":{version}}}"#))
    }

    pub(crate) fn json(&self) -> &str {
        &self.0
    }

    /// Returns the parameters of a request from their members. Without sessions, each request declares
    /// version and client. The server reports progress under the token, and its span belongs to that of
    /// `traceparent` \[W3C Trace Context\].
    pub(crate) fn params(
        &self,
        version: Version,
        mut members: Vec<String>,
        progress_token: Option<u64>,
        traceparent: Option<&str>,
    ) -> String {
        let mut meta = Vec::new();
        if version.generation() == Generation::Stateless {
            let (version, info) = (version.name(), &self.0);
            meta.push(format!(
                r#""io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientInfo":{info},"io.modelcontextprotocol/clientCapabilities":{{}}"#
            ));
        }
        meta.extend(progress_token.map(|token| format!(r#""progressToken":{token}"#)));
        meta.extend(traceparent.map(|it| format!(r#""traceparent":{}"#, json_string(it))));
        if !meta.is_empty() {
            members.push(format!(r#""_meta":{{{}}}"#, meta.join(",")));
        }
        format!("{{{}}}", members.join(","))
    }
}

/// Reads the arguments of a call: an object of strict JSON.
pub(crate) fn arguments(bytes: &[u8]) -> Result<Json, Error> {
    let arguments = Json::new(Bytes::copy_from_slice(bytes)).map_err(Error::Arguments)?;
    match arguments.kind() {
        Some(Kind::Object) => Ok(arguments),
        _ => Err(Error::Arguments(Malformed::new("not an object", 0))),
    }
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call<'c> {
    /// The name of the tool.
    pub tool: &'c str,
    /// The arguments: an object.
    pub arguments: Json,
    /// The `requestState` of the server's result that asked for the repetition of the call.
    pub state: Option<&'c str>,
}

impl Call<'_> {
    /// Returns the members of the parameters.
    pub(crate) fn members(&self) -> Vec<String> {
        let mut members = vec![
            format!(r#""name":{}"#, json_string(self.tool)),
            format!(r#""arguments":{}"#, on_one_line(&self.arguments)),
        ];
        let state = self.state.map(json_string);
        members.extend(state.map(|state| format!(r#""requestState":{state}"#)));
        members
    }
}

/// Returns the members of an object of parameters without `_meta`.
pub(crate) fn members(params: &Json) -> Vec<String> {
    let text = on_one_line(params);
    let inner = text.trim().trim_start_matches('{');
    let inner = inner.strip_suffix('}').unwrap_or(inner).trim();
    let is_empty = inner.is_empty();
    (!is_empty).then(|| inner.to_owned()).into_iter().collect()
}

/// Returns the members of the parameters of a list's page.
pub(crate) fn page(cursor: Option<&str>) -> Vec<String> {
    let cursor = cursor.map(|cursor| format!(r#""cursor":{}"#, json_string(cursor)));
    cursor.into_iter().collect()
}
