//! Headers that repeat arguments of a call, since 2026-07-28: `x-mcp-header` in the schema of a tool.

use crate::error::Error;
use crate::header_value::{decoded, header_value};
use crate::json::{Json, Malformed};
use agent_syntax::json::Kind;
use agent_syntax::members::{member, string};
use agent_syntax::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The keyword that names a header.
const KEYWORD: &str = "x-mcp-header";
/// Keywords whose members are names, and their values schemas.
const NAMED_SCHEMAS: [&str; 4] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
];
/// Keywords whose values are no schemas.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// Maximum number of bytes of a tool that requires headers: its tree takes many times as much memory.
const TOOL_BYTES: usize = 1 << 20;
/// The greatest integer that a header may repeat: 2^53 - 1.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// A header that repeats an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParameterHeader {
    /// The header's name without its prefix.
    name: String,
    /// The names of properties that lead to the argument.
    path: Vec<String>,
}

impl ParameterHeader {
    fn wire_name(&self) -> String {
        format!("mcp-param-{}", self.name)
    }
}

/// The headers that the tools of a list require, as a server checks them.
#[derive(Debug, Clone, Default)]
pub struct MirroredHeaders(BTreeMap<String, Vec<ParameterHeader>>);

impl MirroredHeaders {
    /// Reads the tools of a result of `tools/list`. A tool whose headers are invalid requires none.
    #[must_use]
    pub fn of_list(list: &Json) -> Self {
        let tools = list.member("tools");
        let mut found = BTreeMap::new();
        for tool in tools.iter().filter_map(Json::elements).flatten() {
            let headers = parameter_headers(&tool).unwrap_or_default();
            let name = tool.member("name").and_then(|name| name.string());
            if let (Some(name), false) = (name, headers.is_empty()) {
                found.insert(name, headers);
            }
        }
        Self(found)
    }

    /// Returns the headers of a call in lower case, each with the text that it has to repeat. A header with
    /// `None` must be absent.
    ///
    /// # Errors
    ///
    /// When a number can't be repeated in a header.
    pub fn of_call(
        &self,
        tool: &str,
        arguments: &Json,
    ) -> Result<Vec<(String, Option<String>)>, Error> {
        let Some(headers) = self.0.get(tool) else {
            return Ok(Vec::new());
        };
        let present = values(headers, arguments)?;
        let named = headers.iter().map(|header| {
            let name = header.wire_name();
            let value = present.iter().find(|(own, _)| *own == name);
            let text = value.and_then(|(_, value)| decoded(value));
            (name.to_ascii_lowercase(), text)
        });
        Ok(named.collect())
    }
}

/// Returns the headers that a tool requires, or the reason why its definition is invalid.
pub(crate) fn parameter_headers(tool: &Json) -> Result<Vec<ParameterHeader>, String> {
    let mut found = Found {
        headers: Vec::new(),
        names: BTreeSet::new(),
    };
    // Few tools require headers. Escapes may hide the keyword.
    let text = tool.as_str();
    if text.contains(KEYWORD) || text.contains("\\u") {
        if text.len() > TOOL_BYTES {
            return Err(format!("its definition is larger than {TOOL_BYTES} bytes"));
        }
        let tree = tool.tree();
        if let Some(schema) = tree.as_ref().and_then(|tool| member(tool, "inputSchema")) {
            found.schema(schema, Some(&[]))?;
        }
    }
    Ok(found.headers)
}

/// The headers found so far.
struct Found {
    headers: Vec<ParameterHeader>,
    /// Their names in lower case.
    names: BTreeSet<String>,
}

impl Found {
    /// Searches a schema. `path` leads to it by properties alone, or is `None`. The depth of the text
    /// bounds the recursion.
    fn schema(&mut self, schema: &Node<'_>, path: Option<&[&str]>) -> Result<(), String> {
        let Value::Mapping(entries) = &schema.value else {
            return Ok(());
        };
        for entry in entries {
            let key = &*entry.key;
            match &entry.value.value {
                _ if key == KEYWORD => self.header(&entry.value, schema, path)?,
                Value::Mapping(named) if key == "properties" => {
                    for property in named {
                        let longer = path.map(|path| [path, &[&*property.key]].concat());
                        self.schema(&property.value, longer.as_deref())?;
                    }
                }
                Value::Mapping(named) if NAMED_SCHEMAS.contains(&key) => {
                    for inner in named {
                        self.schema(&inner.value, None)?;
                    }
                }
                _ if DATA.contains(&key) => {}
                Value::Mapping(_) => self.schema(&entry.value, None)?,
                Value::Sequence(items) => {
                    for item in items {
                        self.schema(item, None)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn header(
        &mut self,
        name: &Node<'_>,
        schema: &Node<'_>,
        path: Option<&[&str]>,
    ) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("`{KEYWORD}` {what}"));
        let Some(name) = string(name).filter(|name| is_token(name)) else {
            return wrong("is not the name of a header");
        };
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return wrong("is not on a property that `properties` alone lead to");
        };
        if !is_primitive(schema) {
            return wrong("is on a property of another type than string, integer and boolean");
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return wrong("names one header twice");
        }
        self.headers.push(ParameterHeader {
            name: name.to_owned(),
            path: path.iter().map(|name| (*name).to_owned()).collect(),
        });
        Ok(())
    }
}

/// Returns whether a text is a token of HTTP.
fn is_token(text: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(token)
}

/// Returns whether a schema allows a primitive type that a header can repeat. `null` beside it means
/// that the header can be absent.
fn is_primitive(schema: &Node<'_>) -> bool {
    let primitive = |name: &str| matches!(name, "string" | "integer" | "boolean");
    match member(schema, "type").map(|names| &names.value) {
        Some(Value::String(name)) => primitive(name),
        Some(Value::Sequence(names)) => {
            let mut names: Vec<_> = names
                .iter()
                .map(|name| string(name).unwrap_or(""))
                .collect();
            names.retain(|name| *name != "null");
            !names.is_empty() && names.iter().all(|name| primitive(name))
        }
        _ => false,
    }
}

/// Returns names and values of the headers for the arguments of a call.
pub(crate) fn values(
    headers: &[ParameterHeader],
    arguments: &Json,
) -> Result<Vec<(String, String)>, Error> {
    if headers.is_empty() {
        return Ok(Vec::new());
    }
    let arguments = arguments.noted();
    let mut values = Vec::new();
    for header in headers {
        let mut path = header.path.iter();
        let found = path.try_fold((arguments.clone(), 0), |(object, offset), name| {
            let [member] = object.pick([name.as_str()])?;
            let member = member?;
            Some((member.value, offset + member.offset))
        });
        let Some((found, offset)) = found else {
            continue;
        };
        let value = match found.kind() {
            Some(Kind::String) => header_value(&found.string().unwrap_or_default()),
            Some(Kind::Bool) => found.as_str().to_owned(),
            Some(Kind::Number) => integer(found.as_str()).ok_or_else(|| {
                let what = "a number for a header is not an exact integer";
                Error::Arguments(Malformed::new(what, offset))
            })?,
            // Null, or something else, which the tool's schema does not allow.
            _ => continue,
        };
        values.push((header.wire_name(), value));
    }
    Ok(values)
}

/// Returns an integer in decimal notation, if it is in the exact range of a double.
fn integer(number: &str) -> Option<String> {
    let value: f64 = number.parse().ok()?;
    let exact = value.fract() == 0.0 && value.abs() <= SAFE_INTEGER;
    exact.then(|| (value as i64).to_string())
}

#[cfg(test)]
mod tests {
    use super::{MirroredHeaders, integer, parameter_headers, values};
    use crate::Json;

    fn headers(schema: &str) -> Result<Vec<super::ParameterHeader>, String> {
        let tool = Json::new(format!(r#"{{"name":"t","inputSchema":{schema}}}"#)).unwrap();
        parameter_headers(&tool)
    }

    #[test]
    fn arguments_are_repeated_where_the_schema_says_so() {
        let schema = r#"{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "flag":{"type":["boolean","null"],"x-mcp-header":"Flag"},
            "x-mcp-header":{"type":"number"},
            "other":{"default":{"x-mcp-header":"No"},"type":"string"}}}"#;
        let headers = headers(schema).unwrap();
        let values = |arguments: &'static str| {
            let arguments = Json::new(arguments).unwrap();
            values(&headers, &arguments).map(|values| {
                let pairs = values
                    .into_iter()
                    .map(|(name, value)| format!("{name}: {value}"));
                pairs.collect::<Vec<_>>()
            })
        };
        let all = r#"{"region":"süd","deep":{"n":42.0},"flag":false,"other":"x"}"#;
        let expected = [
            "mcp-param-Region: =?base64?c8O8ZA==?=",
            "mcp-param-N: 42",
            "mcp-param-Flag: false",
        ];
        assert_eq!(values(all).unwrap(), expected);
        assert!(
            values(r#"{"flag":null,"deep":{},"region":["x"]}"#)
                .unwrap()
                .is_empty()
        );
        assert!(values(r#"{"deep":{"n":9007199254740992}}"#).is_err());
        assert!(values(r#"{"deep":{"n":1.5}}"#).is_err());
    }

    #[test]
    fn a_server_knows_the_headers_of_a_call() {
        let list = r#"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "n":{"type":"integer","x-mcp-header":"N"}}}},{"name":"u"},7]}"#;
        let headers = MirroredHeaders::of_list(&Json::new(list).unwrap());
        let of = |tool: &str, arguments: &'static str| {
            headers
                .of_call(tool, &Json::new(arguments).unwrap())
                .unwrap()
        };
        let region = "mcp-param-region".to_owned();
        assert_eq!(
            of("t", r#"{"region":"süd"}"#),
            [
                (region, Some("süd".to_owned())),
                ("mcp-param-n".to_owned(), None)
            ]
        );
        assert!(of("u", "{}").is_empty());
    }

    #[test]
    fn schemas_that_ask_wrongly_are_refused() {
        let property = |inner: &str| format!(r#"{{"properties":{{"a":{{{inner}}}}}}}"#);
        for schema in [
            property(r#""type":"string","x-mcp-header":"""#),
            property(r#""type":"string","x-mcp-header":"a b""#),
            property(r#""type":"string","x-mcp-header":"a\r\nb""#),
            property(r#""type":"string","x-mcp-header":"ü""#),
            property(r#""type":"string","x-mcp-header":1"#),
            property(r#""type":"number","x-mcp-header":"A""#),
            property(r#""type":"object","x-mcp-header":"A""#),
            property(r#""x-mcp-header":"A""#),
            property(r#""items":{"type":"string","x-mcp-header":"A"}"#),
            property(r#""anyOf":[{"type":"string","x-mcp-header":"A"}]"#),
            property(r#""items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}"#),
            r#"{"type":"string","x-mcp-header":"A"}"#.to_owned(),
            r#"{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"#.to_owned(),
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},
                "b":{"type":"string","x-mcp-header":"a"}}}"#
                .to_owned(),
        ] {
            assert!(headers(&schema).is_err(), "{schema}");
        }
        for schema in ["true", "null", "{}", r#"{"properties":[1]}"#] {
            assert!(headers(schema).unwrap().is_empty(), "{schema}");
        }
    }

    #[test]
    fn integers_are_written_in_decimal_notation() {
        let written = [
            ("42", "42"),
            ("-7", "-7"),
            ("4.2e1", "42"),
            ("0", "0"),
            ("-0", "0"),
            ("9007199254740991", "9007199254740991"),
        ];
        for (number, decimal) in written {
            assert_eq!(integer(number).as_deref(), Some(decimal));
        }
        for number in ["1.5", "9007199254740992", "-9007199254740992", "1e400"] {
            assert_eq!(integer(number), None, "{number}");
        }
    }
}
