//! Agreement on a version, from the first answer of a server.

use crate::error::Error;
use crate::json::{Json, Member};
use crate::message::RpcError;
use crate::version::{Generation, Version};
use agent_way_out::quote;

/// The codes of errors that only servers without sessions answer with.
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CLIENT_CAPABILITY: i64 = -32021;
pub(crate) const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// Maximum number of versions of a server in a message.
const LISTED_VERSIONS: usize = 10;
/// Maximum number of characters of a version of a server in a message.
const VERSION_CHARS: usize = 40;

/// The consequence of the answer to `server/discover`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// Use the latest version.
    Stateless,
    /// Request the versions once more: the server refuses the latest version, and lists it as supported.
    Discover,
    /// Initialise a session with this version.
    Initialize(Version),
}

/// Reads the answer to `server/discover`. An answer that no server without sessions gives comes from
/// a server with sessions ("Backward Compatibility" of both transports).
pub(crate) fn discovered(outcome: &Result<Json, RpcError>) -> Result<Next, Error> {
    match outcome {
        Ok(result) => match member(result, "supportedVersions").and_then(|it| it.value.strings()) {
            Some(versions) => choose(&versions),
            None => Ok(Next::Initialize(Version::LATEST_WITH_SESSIONS)),
        },
        Err(error) if error.code == UNSUPPORTED_PROTOCOL_VERSION => {
            let supported = error
                .data
                .as_ref()
                .and_then(|data| member(data, "supported"));
            let versions = supported
                .and_then(|it| it.value.strings())
                .unwrap_or_default();
            Ok(match choose(&versions)? {
                Next::Stateless => Next::Discover,
                next => next,
            })
        }
        Err(error) if matches!(error.code, HEADER_MISMATCH | MISSING_CLIENT_CAPABILITY) => {
            Err(Error::Rpc(error.clone()))
        }
        Err(_) => Ok(Next::Initialize(Version::LATEST_WITH_SESSIONS)),
    }
}

/// Returns a member of an object.
fn member(json: &Json, name: &str) -> Option<Member> {
    let [member] = json.pick([name])?;
    member
}

/// Chooses the latest version that both sides support.
fn choose(versions: &[String]) -> Result<Next, Error> {
    let known = versions.iter().filter_map(|name| Version::named(name));
    match known.max() {
        Some(version) if version.generation() == Generation::Stateless => Ok(Next::Stateless),
        Some(version) => Ok(Next::Initialize(version)),
        None => Err(no_common(versions)),
    }
}

/// Reads the version in the answer to `initialize`.
pub(crate) fn initialized(result: &Json) -> Result<Version, Error> {
    let name = member(result, "protocolVersion").and_then(|it| it.value.string());
    let name = name.ok_or_else(|| Error::protocol("`protocolVersion` is not a string"))?;
    let version = Version::named(&name).filter(|it| it.generation() == Generation::Sessions);
    version.ok_or_else(|| no_common(&[name]))
}

/// Returns the error for servers with other versions.
pub(crate) fn no_common(versions: &[String]) -> Error {
    let listed = versions.iter().take(LISTED_VERSIONS);
    Error::NoCommonVersion(listed.map(|name| quote(name, VERSION_CHARS)).collect())
}

/// Returns the error for servers that refuse the latest version and list it as supported.
pub(crate) fn refused_and_listed() -> Error {
    Error::protocol(format!(
        "the server refuses the version {0}, and lists {0} as supported",
        Version::LATEST.name()
    ))
}

/// Checks the type of a result that has to be complete. Without a type, and before 2026-07-28, a result is.
pub(crate) fn check_complete(result: &Json, generation: Generation) -> Result<(), Error> {
    match requires_input(result, generation)? {
        false => Ok(()),
        true => Err(Error::protocol(
            "the server asks for input, which this client did not offer",
        )),
    }
}

/// Returns whether a result is of the type `input_required`, not `complete`.
pub(crate) fn requires_input(result: &Json, generation: Generation) -> Result<bool, Error> {
    if generation == Generation::Sessions {
        return Ok(false);
    }
    let Some(kind) = member(result, "resultType") else {
        return Ok(false);
    };
    match kind.value.string().as_deref() {
        Some("complete") => Ok(false),
        Some("input_required") => Ok(true),
        _ => Err(Error::protocol("the `resultType` is unknown")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Next, check_complete, discovered, initialized, requires_input};
    use crate::message::RpcError;
    use crate::{Error, Generation, Json, Version};

    fn result(text: &str) -> Result<Json, RpcError> {
        Ok(Json::new(text.to_owned()).unwrap())
    }

    fn error(code: i64, data: &str) -> Result<Json, RpcError> {
        let data = (!data.is_empty()).then(|| Json::new(data.to_owned()).unwrap());
        let message = "no".to_owned();
        Err(RpcError {
            code,
            message,
            data,
        })
    }

    #[test]
    fn the_generation_follows_from_the_first_answer() {
        let latest = Ok(Next::Stateless);
        let session = |version| Ok(Next::Initialize(version));
        let supported = |list: &str| result(&format!(r#"{{"supportedVersions":{list}}}"#));
        assert_eq!(
            discovered(&supported(r#"["2025-11-25","2026-07-28","2099-01-01"]"#)),
            latest
        );
        let older = session(Version::V2025_06_18);
        assert_eq!(
            discovered(&supported(r#"["2024-11-05","2025-06-18"]"#)),
            older
        );
        assert!(matches!(
            discovered(&supported(r#"["2099-01-01"]"#)),
            Err(Error::NoCommonVersion(_))
        ));
        assert!(matches!(
            discovered(&supported("[]")),
            Err(Error::NoCommonVersion(_))
        ));

        // Any other answer is one of a server with sessions.
        let default = session(Version::LATEST_WITH_SESSIONS);
        for other in [
            result("{}"),
            supported("7"),
            supported("[7]"),
            error(-32601, ""),
            error(-32602, ""),
            error(-32000, ""),
            error(0, ""),
        ] {
            assert_eq!(discovered(&other), default, "{other:?}");
        }

        // These errors are only known to servers without sessions.
        let unsupported = |data: &str| discovered(&error(-32022, data));
        assert_eq!(
            unsupported(r#"{"supported":["2025-11-25"],"requested":"x"}"#),
            default
        );
        assert!(matches!(
            unsupported(r#"{"supported":["2099-01-01"]}"#),
            Err(Error::NoCommonVersion(_))
        ));
        assert!(matches!(unsupported(""), Err(Error::NoCommonVersion(_))));
        assert_eq!(
            unsupported(r#"{"supported":["2026-07-28"]}"#),
            Ok(Next::Discover)
        );
        for code in [-32020, -32021] {
            assert!(matches!(discovered(&error(code, "")), Err(Error::Rpc(_))));
        }
    }

    #[test]
    fn sessions_have_one_of_the_older_versions() {
        let version = |name: &str| initialized(&result(name).unwrap());
        for known in &Version::ALL[1..] {
            let named = format!(r#"{{"protocolVersion":"{}"}}"#, known.name());
            assert_eq!(version(&named), Ok(*known));
        }
        for other in ["2026-07-28", "2099-01-01", ""] {
            let named = format!(r#"{{"protocolVersion":"{other}"}}"#);
            assert!(
                matches!(version(&named), Err(Error::NoCommonVersion(_))),
                "{other}"
            );
        }
        assert!(matches!(
            version(r#"{"protocolVersion":1}"#),
            Err(Error::Protocol(_))
        ));
    }

    #[test]
    fn only_complete_results_are_accepted() {
        let check = |text: &str| check_complete(&result(text).unwrap(), Generation::Stateless);
        assert!(check("{}").is_ok());
        assert!(check(r#"{"resultType":"complete"}"#).is_ok());
        for other in [r#""input_required""#, r#""other""#, "null", "1"] {
            assert!(
                check(&format!(r#"{{"resultType":{other}}}"#)).is_err(),
                "{other}"
            );
        }
        let older = result(r#"{"resultType":"other"}"#).unwrap();
        assert!(check_complete(&older, Generation::Sessions).is_ok());
        let asks = result(r#"{"resultType":"input_required"}"#).unwrap();
        assert_eq!(requires_input(&asks, Generation::Stateless), Ok(true));
    }
}
