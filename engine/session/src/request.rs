//! The parameters of `tools/call`, and the arguments of a stub.

use super::elicitation;
use super::limits::PARAMS_MAX_BYTES;
use agent_api::diagnostic::Code;
use agent_api::lower::{CALL, EXPAND, LIST_SERVICES};
use agent_api::text::Span;
use agent_api::text::sort::sort_by;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{entries, items, member, string};
use agent_syntax::{Entry, Node, Value};
use core::cell::OnceCell;

/// The key of `_meta` with what the client of a request can do \[MCP 2026-07-28\].
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The parameters of `tools/call`, parsed once.
#[derive(Debug)]
pub(crate) struct Request<'p> {
    text: &'p str,
    root: Node<'p>,
    /// The name of the tool.
    pub(crate) name: String,
    /// `requestState`, if there is one.
    pub(crate) state: Option<String>,
    /// Whether the client shows forms of servers to its human, as `_meta` says of this request.
    pub(crate) elicits: bool,
    /// What the human decided whom the client asked to approve the call; the inner `None` for nothing.
    pub(crate) approval: Option<Option<bool>>,
    /// `_meta.progressToken` as received, if there is one.
    pub(crate) progress_token: Option<&'p str>,
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
        if member(&root, "arguments").is_some_and(|it| !matches!(it.value, Value::Mapping(_))) {
            return Err("`arguments` of the parameters is not an object".to_owned());
        }
        let state = match member(&root, "requestState") {
            None => None,
            Some(node) => Some(
                string(node)
                    .ok_or_else(|| "`requestState` of the parameters is not a string".to_owned())?
                    .to_owned(),
            ),
        };
        let meta = member(&root, "_meta");
        let capabilities = meta.and_then(|meta| member(meta, CLIENT_CAPABILITIES));
        let responses = member(&root, "inputResponses");
        let answer = responses.and_then(|it| member(it, elicitation::REQUEST));
        let progress_token = match meta.and_then(|meta| member(meta, "progressToken")) {
            None => None,
            Some(node) if is_token(node) => Some(node.span.of(text)),
            Some(_) => {
                let text = "`progressToken` of `_meta` is neither a string nor a whole number";
                return Err(text.to_owned());
            }
        };
        Ok(Self {
            name: name.to_owned(),
            state,
            elicits: capabilities.is_some_and(elicitation::is_offered),
            approval: answer.map(elicitation::decision),
            progress_token,
            text,
            root,
        })
    }

    /// Returns the parameters of a call whose arguments stand elsewhere.
    pub(crate) fn of_name(name: &str) -> Self {
        Self {
            text: "",
            root: ABSENT.clone(),
            name: name.to_owned(),
            state: None,
            elicits: false,
            approval: None,
            progress_token: None,
        }
    }

    /// Returns the names of the parameters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        entries(&self.root).iter().map(|it| &*it.key)
    }

    /// Returns the arguments.
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::new(self.text, member(&self.root, "arguments"))
    }
}

/// The arguments of a call: a JSON object within a parsed text.
#[derive(Debug, Clone)]
pub(crate) struct Arguments<'r> {
    source: &'r str,
    node: Option<&'r Node<'r>>,
    form: OnceCell<String>,
}

/// Absent arguments, which are an empty object for every decision.
static ABSENT: Node<'static> = Node {
    value: Value::Mapping(Vec::new()),
    span: Span { start: 0, end: 0 },
};

impl<'r> Arguments<'r> {
    /// Returns the arguments at a node of a text, if there is one.
    pub(crate) fn new(source: &'r str, node: Option<&'r Node<'r>>) -> Self {
        Self {
            source,
            node,
            form: OnceCell::new(),
        }
    }

    /// Returns the text as received, if there is one.
    pub(crate) fn text(&self) -> Option<&'r str> {
        self.node.map(|node| node.span.of(self.source))
    }

    /// Returns the parsed object.
    pub(crate) fn node(&self) -> &'r Node<'r> {
        self.node.unwrap_or(&ABSENT)
    }

    /// Returns the text by which two arguments are compared. The first use computes it.
    pub(crate) fn form(&self) -> &str {
        self.form.get_or_init(|| arguments_form(self.node()))
    }
}

/// Reads the parameters of a request. Returns them as text and as a tree.
///
/// # Errors
/// A sentence: they are too large, or not one strict JSON object.
pub(crate) fn read_params(params: &[u8]) -> Result<(&str, Node<'_>), String> {
    read_object("the parameters", params).map_err(|(_, message)| message)
}

/// Reads a JSON object of a client, named in the plural. Returns it as text and as a tree.
///
/// # Errors
/// It is too large, or not one strict JSON object.
pub(crate) fn read_object<'p>(
    name: &str,
    bytes: &'p [u8],
) -> Result<(&'p str, Node<'p>), (Code, String)> {
    if bytes.len() > PARAMS_MAX_BYTES {
        let size = bytes.len();
        let text = format!("{name} have {size} bytes; the limit is {PARAMS_MAX_BYTES}");
        return Err((Code::InputTooLarge, text));
    }
    let text = core::str::from_utf8(bytes)
        .map_err(|_| (Code::WrongEncoding, format!("{name} are not UTF-8")))?;
    let root = parse_strict(text)
        .filter(|root| matches!(root.value, Value::Mapping(_)))
        .ok_or_else(|| {
            let text = format!("{name} are not one strict JSON object");
            (Code::WrongType, text)
        })?;
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
#[derive(Debug)]
pub(crate) enum Operation<'r> {
    /// `list_services`
    ListServices,
    /// `expand`
    Expand(Vec<String>),
    /// `call`
    Call {
        /// The name of the tool.
        tool: String,
        /// The arguments of the tool.
        arguments: Arguments<'r>,
    },
}

impl<'r> Operation<'r> {
    /// Reads the arguments of a stub.
    ///
    /// # Errors
    /// A JSON pointer to an argument, and a predicate about it.
    pub(crate) fn read(given: &Arguments<'r>) -> Result<Self, (&'static str, &'static str)> {
        let root = given.node();
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
        let operation = member(root, "operation").and_then(string);
        match operation.unwrap_or_default() {
            LIST_SERVICES => Ok(Self::ListServices),
            EXPAND => {
                let tools = member(root, "tools").and_then(items).unwrap_or_default();
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
                let tool = member(root, "tool").and_then(string);
                let tool = tool.ok_or(("/tool", "is not the name of a tool"))?;
                let inner = member(root, "arguments");
                if inner.is_some_and(|it| !matches!(it.value, Value::Mapping(_))) {
                    return Err(("/arguments", "is not an object"));
                }
                Ok(Self::Call {
                    tool: tool.to_owned(),
                    arguments: Arguments::new(given.source, inner),
                })
            }
            _ => Err(("/operation", "is not `list_services`, `expand` or `call`")),
        }
    }
}

/// Returns the text by which two arguments are compared: their RFC 8785 form, but with numbers as they are
/// written, because that form would make different ones equal.
pub(crate) fn arguments_form(arguments: &Node<'_>) -> String {
    let mut out = String::new();
    write_form(arguments, &mut out);
    out
}

fn write_form(node: &Node<'_>, out: &mut String) {
    match &node.value {
        Value::Mapping(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            sort_by(&mut entries, |a, b| a.key.cmp(&b.key));
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
    use super::{Arguments, Operation, Request, arguments_form};
    use agent_syntax::json::parse_strict;

    #[test]
    fn parameters_are_strict_json_with_a_name_and_an_object() {
        let params = br#"{"name":"x__t","arguments":{ "a" : 1.50 },"_meta":{"progressToken":7,"trace":"t"},"task":{}}"#;
        let request = Request::read(params).expect("parameters");
        assert_eq!(request.arguments().text(), Some(r#"{ "a" : 1.50 }"#));
        assert_eq!(request.progress_token, Some("7"));
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
        let form = |text| arguments_form(&parse_strict(text).expect("JSON"));
        assert_eq!(
            form(r#"{"b":[1, {}],"a":"\u0041"}"#),
            form(r#"{ "a":"A","b":[1,{}] }"#)
        );
        // Both would be 9007199254740992 in the form of RFC 8785.
        assert_ne!(
            form(r#"{"n":9007199254740993}"#),
            form(r#"{"n":9007199254740992}"#)
        );
        assert_eq!(Arguments::new("", None).form(), "{}");
    }

    #[test]
    fn a_stub_has_three_operations() {
        let read = |text: &'static str| {
            let root = parse_strict(text).expect("JSON");
            let read = Operation::read(&Arguments::new(text, Some(&root)));
            read.map(|operation| match operation {
                Operation::ListServices => "list".to_owned(),
                Operation::Expand(tools) => format!("expand {tools:?}"),
                Operation::Call { tool, arguments } => {
                    format!("call {tool} {}", arguments.text().unwrap_or_default())
                }
            })
        };
        for (text, expected) in [
            (r#"{"operation":"list_services"}"#, "list"),
            (r#"{"operation":"expand","tools":["a"]}"#, r#"expand ["a"]"#),
            (
                r#"{"operation":"call","tool":"a","arguments":{"x":1}}"#,
                r#"call a {"x":1}"#,
            ),
            (r#"{"operation":"call","tool":"a"}"#, "call a "),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected));
        }
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
        Operation::read(&Arguments::new("", None)).expect_err("no operation");
    }
}
