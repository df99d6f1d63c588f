//! Requests of OTLP/HTTP in JSON, and their responses \[OTLP 1.7, `ExportTraceServiceRequest`\].

use super::span::{Attribute, Kind, Span, Value};
use agent_syntax::Value as Json;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::member;

/// `SPAN_KIND_INTERNAL`
const INTERNAL: u32 = 1;

/// `SPAN_KIND_SERVER`
const SERVER: u32 = 2;

/// `SPAN_KIND_CLIENT`
const CLIENT: u32 = 3;

/// `STATUS_CODE_ERROR`
const ERROR: u32 = 2;

/// The program that spans are from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resource {
    /// The name of the program, which is also that of its instrumentation.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Further attributes.
    pub attributes: Vec<Attribute>,
}

/// Returns a request with spans.
pub(crate) fn request<'s>(resource: &Resource, spans: impl Iterator<Item = &'s Span>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("resourceSpans").array(|w| {
            w.object(|w| {
                w.key("resource").object(|w| {
                    w.key("attributes").array(|w| {
                        let own = [
                            ("service.name", &resource.name),
                            ("service.version", &resource.version),
                        ];
                        for (name, text) in own {
                            write_attribute(w, name, &Value::Text(text.clone()));
                        }
                        for (name, value) in &resource.attributes {
                            write_attribute(w, name, value);
                        }
                    });
                });
                w.key("scopeSpans").array(|w| {
                    w.object(|w| {
                        w.key("scope").object(|w| {
                            w.key("name").string(&resource.name);
                            w.key("version").string(&resource.version);
                        });
                        w.key("spans")
                            .array(|w| spans.for_each(|span| write_span(w, span)));
                    });
                });
            });
        });
    });
    w.finish()
}

fn write_span(w: &mut Writer, span: &Span) {
    w.object(|w| {
        w.key("attributes").array(|w| {
            for (name, value) in &span.attributes {
                write_attribute(w, name, value);
            }
        });
        // 64-bit numbers are texts in the JSON form of protocol buffers.
        w.key("endTimeUnixNano").string(&span.ended.to_string());
        w.key("kind").number(match span.kind {
            Kind::Server => SERVER,
            Kind::Client => CLIENT,
            Kind::Internal => INTERNAL,
        });
        w.key("name").string(&span.name);
        if let Some(parent) = &span.parent {
            w.key("parentSpanId").string(&parent.hex());
        }
        w.key("spanId").string(&span.context.span.hex());
        w.key("startTimeUnixNano").string(&span.began.to_string());
        w.key("status").object(|w| {
            if let Some(reason) = &span.error {
                w.key("code").number(ERROR);
                w.key("message").string(reason);
            }
        });
        w.key("traceId").string(&span.context.trace.hex());
    });
}

fn write_attribute(w: &mut Writer, name: &str, value: &Value) {
    w.object(|w| {
        w.key("key").string(name);
        w.key("value").object(|w| match value {
            Value::Text(text) => w.key("stringValue").string(text),
            Value::Number(number) => w.key("intValue").string(&number.to_string()),
            Value::Flag(flag) => w.key("boolValue").bool(*flag),
            Value::Texts(texts) => w.key("arrayValue").object(|w| {
                w.key("values").array(|w| {
                    for text in texts {
                        w.object(|w| w.key("stringValue").string(text));
                    }
                });
            }),
        });
    });
}

/// Returns how many spans of an accepted request were rejected.
pub(crate) fn rejected(body: &[u8]) -> u64 {
    let count = || {
        let root = parse_strict(core::str::from_utf8(body).ok()?)?;
        match &member(member(&root, "partialSuccess")?, "rejectedSpans")?.value {
            Json::String(text) => text.parse().ok(),
            Json::Number(text) => text.parse().ok(),
            _ => None,
        }
    };
    count().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Resource, rejected, request};
    use crate::span::{Kind, Span, Value};
    use serde_json::{Value as Json, json};

    #[test]
    fn a_request_is_the_json_form_of_protocol_buffers() {
        let resource = Resource {
            name: "program".to_owned(),
            version: "1.0".to_owned(),
            attributes: vec![("process.pid", Value::Number(7))],
        };
        let outer = Span::begin(Kind::Server, "tools/call x", None).unwrap();
        let mut inner = Span::begin(Kind::Client, "in\"ner", Some(outer.context())).unwrap();
        inner.set("flag", Value::Flag(true));
        inner.set("texts", Value::Texts(vec!["a".to_owned()]));
        inner.fail("timeout");
        inner.end();
        let text = request(&resource, [&outer, &inner].into_iter());
        let read: Json = serde_json::from_str(&text).unwrap();
        let of = &read["resourceSpans"][0];
        assert_eq!(
            of["resource"]["attributes"],
            json!([
                { "key": "service.name", "value": { "stringValue": "program" } },
                { "key": "service.version", "value": { "stringValue": "1.0" } },
                { "key": "process.pid", "value": { "intValue": "7" } },
            ])
        );
        let scope = &of["scopeSpans"][0];
        assert_eq!(
            scope["scope"],
            json!({ "name": "program", "version": "1.0" })
        );
        let (first, second) = (&scope["spans"][0], &scope["spans"][1]);
        assert_eq!((&first["kind"], &second["kind"]), (&json!(2), &json!(3)));
        assert_eq!(first.get("parentSpanId"), None);
        assert_eq!(second["parentSpanId"], first["spanId"]);
        assert_eq!(second["traceId"], first["traceId"]);
        assert_eq!(first["status"], json!({}));
        assert_eq!(second["status"], json!({ "code": 2, "message": "timeout" }));
        assert_eq!(
            second["attributes"],
            json!([
                { "key": "flag", "value": { "boolValue": true } },
                { "key": "texts", "value": { "arrayValue": { "values": [{ "stringValue": "a" }] } } },
            ])
        );
        let time = |it: &Json| it.as_str().unwrap().parse::<u64>().unwrap();
        assert!(time(&second["startTimeUnixNano"]) <= time(&second["endTimeUnixNano"]));
    }

    #[test]
    fn rejected_spans_are_counted() {
        for (body, count) in [
            ("", 0),
            ("{}", 0),
            (r#"{"partialSuccess":{}}"#, 0),
            (
                r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"x"}}"#,
                3,
            ),
            (r#"{"partialSuccess":{"rejectedSpans":2}}"#, 2),
            (r#"{"partialSuccess":{"rejectedSpans":-2}}"#, 0),
        ] {
            assert_eq!(rejected(body.as_bytes()), count, "{body}");
        }
    }
}
