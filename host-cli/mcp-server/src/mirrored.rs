//! Headers of 2026-07-28 that repeat values of the body: both must say the same.

use super::conversation::PROTOCOL_VERSION;
use super::guard::single;
use agent_mcp_protocol::{Generation, Json, MirroredHeaders, Version, decoded};
use hyper::header::{HeaderMap, HeaderName};
use std::rc::Rc;

/// MCP 2026-07-28: a header does not say what the body says.
pub const HEADER_MISMATCH: i64 = -32020;

/// The header with the version of a request.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

const METHOD: HeaderName = HeaderName::from_static("mcp-method");

const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Returns the generation of a request, as its header or its body says.
#[must_use]
pub fn generation(headers: &HeaderMap, params: Option<&Json>) -> Generation {
    match version_of(params).is_some() || is_stateless(headers) {
        true => Generation::Stateless,
        false => Generation::Sessions,
    }
}

/// Returns whether the header names a version of which every request stands alone.
pub(crate) fn is_stateless(headers: &HeaderMap) -> bool {
    let version = single(headers, &VERSION).ok().flatten();
    let version = version.and_then(Version::named);
    version.map(Version::generation) == Some(Generation::Stateless)
}

/// Returns the version that a body names in its `_meta`.
pub(crate) fn version_of(params: Option<&Json>) -> Option<String> {
    params?.member("_meta")?.member(PROTOCOL_VERSION)?.string()
}

/// Compares the headers of a request with its body.
///
/// # Errors
///
/// What differs.
pub fn check(
    headers: &HeaderMap,
    method: &str,
    params: Option<&Json>,
    tools: impl FnOnce() -> Rc<MirroredHeaders>,
) -> Result<(), String> {
    equal(headers, &VERSION, version_of(params).as_deref())?;
    equal(headers, &METHOD, Some(method))?;
    if !has_name(method) {
        return Ok(());
    }
    let named = named(method, params);
    equal(headers, &NAME, named.as_deref())?;
    let (Some(tool), "tools/call") = (named, method) else {
        return Ok(());
    };
    let Some(arguments) = params.and_then(|params| params.member("arguments")) else {
        return Ok(());
    };
    let expected = tools().of_call(&tool, &arguments);
    for (name, text) in expected.map_err(|error| error.to_string())? {
        let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
        match text {
            Some(_) => equal(headers, &name, text.as_deref())?,
            None if headers.contains_key(&name) => {
                return Err(format!("`{name}` repeats an argument that is absent"));
            }
            None => {}
        }
    }
    Ok(())
}

/// Compares the method and the name, if headers say them, with a body: a proxy may have decided by them.
///
/// # Errors
///
/// What differs.
pub fn check_given(headers: &HeaderMap, method: &str, params: Option<&Json>) -> Result<(), String> {
    if headers.contains_key(&METHOD) {
        equal(headers, &METHOD, Some(method))?;
    }
    match headers.contains_key(&NAME) {
        true => equal(headers, &NAME, named(method, params).as_deref()),
        false => Ok(()),
    }
}

/// Returns whether requests of a method name something that a header repeats.
fn has_name(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// Returns what a request names.
fn named(method: &str, params: Option<&Json>) -> Option<String> {
    let key = match method {
        "resources/read" => "uri",
        _ => "name",
    };
    params.and_then(|params| params.member(key)?.string())
}

fn equal(headers: &HeaderMap, name: &HeaderName, expected: Option<&str>) -> Result<(), String> {
    let given = single(headers, name).map_err(|_| format!("`{name}` is not one line of ASCII"))?;
    let given = given.ok_or_else(|| format!("`{name}` is missing"))?;
    // The version and the method are never encoded.
    let text = match *name == VERSION || *name == METHOD {
        true => Some(given.to_owned()),
        false => decoded(given),
    };
    match text.as_deref() == expected && expected.is_some() {
        true => Ok(()),
        false => Err(format!("`{name}` is not the value in the body")),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use agent_mcp_protocol::{Json, MirroredHeaders};
    use hyper::Request;
    use std::rc::Rc;

    const BODY: &str = r#"{"name":"süd","arguments":{"region":"a b"},
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;

    const LIST: &str = r#"{"tools":[{"name":"süd","inputSchema":{"properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "zone":{"type":"string","x-mcp-header":"Zone"}}}}]}"#;

    fn checked(headers: &[(&str, &str)]) -> Result<(), String> {
        let mut request = Request::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        let tools = || Rc::new(MirroredHeaders::of_list(&Json::new(LIST).unwrap()));
        let params = Json::new(BODY).unwrap();
        check(request.headers(), "tools/call", Some(&params), tools)
    }

    #[test]
    fn headers_say_what_the_body_says() {
        let all = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?c8O8ZA==?="),
            ("mcp-param-region", "a b"),
        ];
        assert_eq!(checked(&all), Ok(()));
        for missing in 0..all.len() {
            let mut fewer = all.to_vec();
            fewer.remove(missing);
            assert!(checked(&fewer).is_err(), "{fewer:?}");
        }
        for (place, value) in [
            (0, "2025-11-25"),
            (1, "tools/list"),
            (2, "nord"),
            (2, "=?base64?!?="),
            (3, "a"),
        ] {
            let mut other = all;
            other[place].1 = value;
            assert!(checked(&other).is_err(), "{other:?}");
        }
        let mut twice = all.to_vec();
        twice.push(("mcp-name", "süd"));
        assert!(checked(&twice).is_err());
        let mut absent = all.to_vec();
        absent.push(("mcp-param-zone", "x"));
        assert!(checked(&absent).is_err());
    }
}
