//! Responses: `{ ok, version, data?, error? }` \[2, 2\].

use super::failure::Failure;
use agent_syntax::json::Writer;

/// The version of every verb.
const VERSION: &str = "v1";

/// Returns the response of a verb with data, which is JSON, as JSON that ends with a newline.
pub fn success(data: &str) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("data").json(data.trim_end());
        w.key("ok").bool(true);
        w.key("version").string(VERSION);
    });
    w.finish()
}

/// Returns the response of a verb that failed, as JSON that ends with a newline.
pub fn failure(failure: &Failure) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        failure.write(w.key("error"));
        w.key("ok").bool(false);
        w.key("version").string(VERSION);
    });
    w.finish()
}

#[cfg(test)]
mod tests {
    use super::{failure, success};
    use crate::document::with_document;
    use crate::failure::{ErrorCode, Failure};
    use crate::schemas::SchemaOf;
    use crate::verb::DaemonVerb;

    #[test]
    fn responses_are_those_of_the_specification() {
        assert_eq!(
            success("{\"patches\":0,\"writes\":1}\n"),
            "{\"data\":{\"patches\":0,\"writes\":1},\"ok\":true,\"version\":\"v1\"}\n"
        );
        let failed = Failure::new(ErrorCode::Runtime, "the process exited with code 1")
            .hint("read run.log")
            .of_task("ab12cd");
        assert_eq!(
            failure(&failed),
            "{\"error\":{\"code\":\"E_RUNTIME\",\"hints\":[\"read run.log\"],\
             \"message\":\"the process exited with code 1\",\"task_id\":\"ab12cd\"},\
             \"ok\":false,\"version\":\"v1\"}\n"
        );
    }

    #[test]
    fn a_failure_without_hints_has_the_usual_remedy() {
        let text = failure(&Failure::new(ErrorCode::Port, "no port is free"));
        let hint = "End other tasks, or the programs that occupy the ports from 61000 to 64999.";
        assert!(text.contains(&format!("\"hints\":[\"{hint}\"]")), "{text}");
    }

    #[test]
    fn a_failure_of_each_code_obeys_the_schema_of_each_verb() {
        for verb in DaemonVerb::ALL {
            for code in ErrorCode::ALL {
                let text = failure(&Failure::new(code, "no").hint("do it"));
                let checked = with_document(SchemaOf::Output(verb), text.as_bytes(), |_| Ok(()));
                assert_eq!(checked, Ok(()), "{text}");
            }
            for wrong in [
                "{\"ok\":true,\"version\":\"v1\"}",
                "{\"ok\":false,\"version\":\"v1\"}",
                "{\"ok\":false,\"version\":\"v2\",\"error\":{\"code\":\"E_FS\",\"message\":\"x\"}}",
                "{\"ok\":false,\"version\":\"v1\",\"error\":{\"code\":\"E_X\",\"message\":\"x\"}}",
                "{\"ok\":true,\"version\":\"v1\",\"error\":{\"code\":\"E_FS\",\"message\":\"x\"}}",
            ] {
                let checked = with_document(SchemaOf::Output(verb), wrong.as_bytes(), |_| Ok(()));
                assert!(checked.is_err(), "{wrong}");
            }
        }
    }
}
