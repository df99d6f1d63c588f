//! The definitions of the verbs' tools.

use agent_host::contract::daemon::{SchemaOf, Verb, VersionedVerb};
use agent_host::{Failure, Instance, call};
use agent_mcp_protocol::Json;
use agent_mcp_protocol::message::on_one_line;
use agent_syntax::json_string;

/// The member of `_meta` with the version of a verb.
const VERSION: &str = "dev.assertlang/version";

/// Returns the name of a verb.
pub(crate) fn name(verb: Verb) -> &'static str {
    match verb {
        Verb::PlanCreate => "plan.create",
        Verb::FsApply => "fs.apply",
        Verb::RunStart => "run.start",
        Verb::HttpcheckAssert => "httpcheck.assert",
        Verb::ReportFinish => "report.finish",
    }
}

fn about(verb: Verb) -> &'static str {
    match verb {
        Verb::PlanCreate => "Opens a task, and plans the files of a web service for a prompt.",
        Verb::FsApply => "Writes and patches files of a task, all of them or none.",
        Verb::RunStart => "Starts the app of a task in a sandbox, and waits until it is ready.",
        Verb::HttpcheckAssert => {
            "Sends requests to the app of a task, and compares the responses with what is expected."
        }
        Verb::ReportFinish => "Lists the artifacts of a task and the URLs of its app.",
    }
}

/// Returns the definitions of the tools of all verbs, as an array of JSON on one line.
pub(crate) fn tools(engine: &mut Instance) -> Result<String, Failure> {
    let mut tools = Vec::new();
    // A tool has the name of a verb, and is its latest version.
    for verb in call!(engine, daemon.call_verbs())? {
        tools.retain(|(of, _)| *of != verb.verb);
        tools.push((verb.verb, tool(engine, verb)?));
    }
    let tools: Vec<_> = tools.into_iter().map(|(_, tool)| tool).collect();
    Ok(format!("[{}]", tools.join(",")))
}

fn tool(
    engine: &mut Instance,
    VersionedVerb { verb, version }: VersionedVerb,
) -> Result<String, Failure> {
    let mut schema = |of| {
        let schema = call!(engine, daemon.call_schema(of))?;
        let schema = Json::new(schema).map_err(|it| Failure::internal(it.what))?;
        Ok::<_, Failure>(on_one_line(&schema))
    };
    let (input, output) = (
        schema(SchemaOf::Tool(verb))?,
        schema(SchemaOf::Output(verb))?,
    );
    let (name, about) = (json_string(name(verb)), json_string(about(verb)));
    Ok(format!(
        r#"{{"_meta":{{"{VERSION}":"v{version}"}},"description":{about},"inputSchema":{input},"name":{name},"outputSchema":{output}}}"#
    ))
}
