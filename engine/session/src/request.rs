//! The parameters of `tools/call`, and the arguments of a stub.

use super::elicitation;
use super::limits::PARAMS_MAX_BYTES;
use agent_api::lower::{CALL, EXPAND, LIST_SERVICES};
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{items, member, string};
use agent_syntax::{Entry, Node, Value};

/// The key of `_meta` with what the client of a request can do \[MCP 2026-07-28\].
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The parameters of `tools/call`.
#[derive(Debug)]
pub(crate) struct Request<'p> {
    /// The name of the tool.
    pub(crate) name: String,
    /// The arguments as received, if there are any: a JSON object.
    pub(crate) arguments: Option<&'p str>,
    /// `requestState`, if there is one.
    pub(crate) state: Option<String>,
    /// Whether the client shows forms of servers to its human, as `_meta` says of this request.
    pub(crate) elicits: bool,
    /// What the human decided whom the client asked to approve the call; the inner `None` for nothing.
    pub(crate) approval: Option<Option<bool>>,
    /// `_meta.progressToken` as received, if there is one.
    progress_token: Option<&'p str>,
}

impl<'p> Request<'p> {
    /// Reads parameters.
    ///
    /// # Errors
    /// A sentence: the parameters are too large, not strict JSON, or invalid for `tools/call`.
    pub(crate) fn read(params: &'p [u8]) -> Result<Self, String> {
        let (text, root) = read_params(params)?;
        let name = member(&root, "name")
            .and_then(string)
            .ok_or_else(|| "`name` of the parameters is not a string".to_owned())?;
        let arguments = match member(&root, "arguments") {
            None => None,
            Some(node) if matches!(node.value, Value::Mapping(_)) => Some(node.span.of(text)),
            Some(_) => return Err("`arguments` of the parameters is not an object".to_owned()),
        };
        let state = match member(&root, "requestState") {
            None => None,
            Some(node) => Some(
                string(node)
                    .ok_or_else(|| "`requestState` of the parameters is not a string".to_owned())?
                    .to_owned(),
            ),
        };
        let capabilities =
            member(&root, "_meta").and_then(|meta| member(meta, CLIENT_CAPABILITIES));
        let responses = member(&root, "inputResponses");
        let answer = responses.and_then(|it| member(it, elicitation::REQUEST));
        let token = member(&root, "_meta").and_then(|meta| member(meta, "progressToken"));
        let progress_token = match token {
            None => None,
            Some(node) if is_token(node) => Some(node.span.of(text)),
            Some(_) => {
                let text = "`progressToken` of `_meta` is neither a string nor a whole number";
                return Err(text.to_owned());
            }
        };
        Ok(Self {
            name: name.to_owned(),
            arguments,
            state,
            elicits: capabilities.is_some_and(elicitation::is_offered),
            approval: answer.map(elicitation::decision),
            progress_token,
        })
    }

    /// Returns what a server gets: the name of its tool, the arguments as received, its own
    /// `requestState` if it continues a call, and the client's progress token.
    pub(crate) fn forwarded(
        &self,
        tool: &str,
        arguments: Option<&str>,
        state: Option<&str>,
    ) -> Vec<u8> {
        let mut w = Writer::dense();
        w.object(|w| {
            if let Some(token) = self.progress_token {
                w.key("_meta")
                    .object(|w| w.key("progressToken").json(token));
            }
            if let Some(arguments) = arguments {
                w.key("arguments").json(arguments);
            }
            w.key("name").string(tool);
            if let Some(state) = state {
                w.key("requestState").string(state);
            }
        });
        let mut text = w.finish();
        text.pop();
        text.into_bytes()
    }
}

/// Reads the parameters of a request. Returns them as text and as a tree.
///
/// # Errors
/// A sentence: they are too large, or not one strict JSON object.
pub(crate) fn read_params(params: &[u8]) -> Result<(&str, Node<'_>), String> {
    if params.len() > PARAMS_MAX_BYTES {
        let size = params.len();
        return Err(format!(
            "the parameters have {size} bytes; the limit is {PARAMS_MAX_BYTES}"
        ));
    }
    let text =
        core::str::from_utf8(params).map_err(|_| "the parameters are not UTF-8".to_owned())?;
    let root = parse_strict(text)
        .filter(|root| matches!(root.value, Value::Mapping(_)))
        .ok_or_else(|| "the parameters are not one strict JSON object".to_owned())?;
    Ok((text, root))
}

fn is_token(node: &Node<'_>) -> bool {
    match &node.value {
        Value::String(_) => true,
        Value::Number(digits) => !digits.contains(['.', 'e', 'E']),
        _ => false,
    }
}

/// An operation of a stub.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Operation<'a> {
    /// `list_services`
    ListServices,
    /// `expand`
    Expand(Vec<String>),
    /// `call`
    Call {
        /// The name of the tool.
        tool: String,
        /// The arguments, if there are any: a JSON object.
        arguments: Option<&'a str>,
    },
}

impl<'a> Operation<'a> {
    /// Reads the arguments of a stub.
    ///
    /// # Errors
    /// A JSON pointer to an argument, and a predicate about it.
    pub(crate) fn read(arguments: Option<&'a str>) -> Result<Self, (&'static str, &'static str)> {
        let text = arguments.unwrap_or("{}");
        // The arguments were parsed with their parameters.
        let root = parse_strict(text).ok_or(("", "is not JSON"))?;
        let Value::Mapping(entries) = &root.value else {
            return Err(("", "is not an object"));
        };
        let known = ["arguments", "operation", "tool", "tools"];
        let is_unknown = |entry: &Entry<'_>| !known.contains(&&*entry.key);
        if entries.iter().any(is_unknown) {
            return Err((
                "",
                "has another member than `operation`, `tool`, `tools` and `arguments`",
            ));
        }
        let operation = member(&root, "operation").and_then(string);
        match operation.unwrap_or_default() {
            LIST_SERVICES => Ok(Self::ListServices),
            EXPAND => {
                let tools = member(&root, "tools").and_then(items).unwrap_or_default();
                let names: Option<Vec<_>> = tools
                    .iter()
                    .map(|tool| string(tool).map(str::to_owned))
                    .collect();
                match names {
                    Some(names) if !names.is_empty() => Ok(Self::Expand(names)),
                    _ => Err(("/tools", "is not a list of names")),
                }
            }
            CALL => {
                let tool = member(&root, "tool").and_then(string);
                let tool = tool.ok_or(("/tool", "is not the name of a tool"))?;
                let arguments = match member(&root, "arguments") {
                    None => None,
                    Some(node) if matches!(node.value, Value::Mapping(_)) => {
                        Some(node.span.of(text))
                    }
                    Some(_) => return Err(("/arguments", "is not an object")),
                };
                Ok(Self::Call {
                    tool: tool.to_owned(),
                    arguments,
                })
            }
            _ => Err(("/operation", "is not `list_services`, `expand` or `call`")),
        }
    }
}

/// Returns the digest by which two arguments are compared: of their RFC 8785 form, but with numbers as
/// they are written, because that form would make different ones equal.
pub(crate) fn arguments_form(arguments: Option<&str>) -> String {
    let mut out = String::new();
    if let Some(root) = parse_strict(arguments.unwrap_or("{}")) {
        write_form(&root, &mut out);
    }
    out
}

fn write_form(node: &Node<'_>, out: &mut String) {
    match &node.value {
        Value::Mapping(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            out.push('{');
            for (number, entry) in entries.into_iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                agent_syntax::write_string(&entry.key, out);
                out.push(':');
                write_form(&entry.value, out);
            }
            out.push('}');
        }
        Value::Sequence(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                write_form(item, out);
            }
            out.push(']');
        }
        Value::Number(digits) => out.push_str(digits),
        _ => agent_syntax::canonical_node(node, out),
    }
}

#[cfg(test)]
mod tests {
    use super::{Operation, Request, arguments_form};

    #[test]
    fn a_server_gets_its_own_parameters_alone() {
        let params = br#"{"name":"x__t","arguments":{ "a" : 1.50 },"_meta":{"progressToken":7,"trace":"t"},"task":{}}"#;
        let request = Request::read(params).expect("parameters");
        let forwarded = request.forwarded("t", request.arguments, None);
        assert_eq!(
            String::from_utf8(forwarded).expect("UTF-8"),
            r#"{"_meta":{"progressToken":7},"arguments":{ "a" : 1.50 },"name":"t"}"#
        );
        for wrong in [
            "",
            "[]",
            r#"{"name":1}"#,
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","arguments":null}"#,
            r#"{"name":"a","_meta":{"progressToken":1.5}}"#,
            r#"{"name":"a"} {}"#,
        ] {
            Request::read(wrong.as_bytes()).expect_err(wrong);
        }
        Request::read(b"{\"name\":\"\xff\"}").expect_err("no UTF-8");
    }

    #[test]
    fn arguments_are_equal_by_their_values() {
        let form = |text| arguments_form(Some(text));
        assert_eq!(
            form(r#"{"b":[1, {}],"a":"\u0041"}"#),
            form(r#"{ "a":"A","b":[1,{}] }"#)
        );
        // Both would be 9007199254740992 in the form of RFC 8785.
        assert_ne!(
            form(r#"{"n":9007199254740993}"#),
            form(r#"{"n":9007199254740992}"#)
        );
        assert_eq!(arguments_form(None), "{}");
    }

    #[test]
    fn a_stub_has_three_operations() {
        let read = |text| Operation::read(Some(text));
        assert_eq!(
            read(r#"{"operation":"list_services"}"#),
            Ok(Operation::ListServices)
        );
        let tools = vec!["a".to_owned()];
        assert_eq!(
            read(r#"{"operation":"expand","tools":["a"]}"#),
            Ok(Operation::Expand(tools))
        );
        let call = Operation::Call {
            tool: "a".to_owned(),
            arguments: Some(r#"{"x":1}"#),
        };
        assert_eq!(
            read(r#"{"operation":"call","tool":"a","arguments":{"x":1}}"#),
            Ok(call)
        );
        for wrong in [
            "{}",
            r#"{"operation":"expand"}"#,
            r#"{"operation":"expand","tools":[1]}"#,
            r#"{"operation":"call"}"#,
            r#"{"operation":"call","tool":"a","arguments":[]}"#,
            r#"{"operation":"drop"}"#,
            r#"{"operation":"list_services","x":1}"#,
        ] {
            read(wrong).expect_err(wrong);
        }
        Operation::read(None).expect_err("no operation");
    }
}
