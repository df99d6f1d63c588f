//! The definitions of the verbs' tools.

use agent_host::contract::daemon::Verb;
use agent_host::{Failure, Instance, call};
use agent_mcp_protocol::Json;
use agent_mcp_protocol::message::on_one_line;
use agent_syntax::json_string;

/// The member of `_meta` with the version of a verb.
const VERSION: &str = "dev.assertlang/version";

/// Returns the definitions of the tools of all verbs, as an array of JSON on one line.
pub(crate) fn tools(engine: &mut Instance) -> Result<String, Failure> {
    let mut tools = Vec::new();
    // A tool has the name of a verb, and is its latest version.
    for verb in call!(engine, daemon.verbs())? {
        tools.retain(|(of, _)| *of != verb.name);
        let tool = tool(&verb)?;
        tools.push((verb.name, tool));
    }
    let tools: Vec<_> = tools.into_iter().map(|(_, tool)| tool).collect();
    Ok(format!("[{}]", tools.join(",")))
}

fn tool(verb: &Verb) -> Result<String, Failure> {
    let schema = |text: &str| {
        let schema = Json::new(text.to_owned()).map_err(|it| Failure::internal(it.what))?;
        Ok::<_, Failure>(on_one_line(&schema))
    };
    let (input, output) = (schema(&verb.arguments)?, schema(&verb.response)?);
    let (name, about) = (json_string(&verb.name), json_string(&verb.about));
    let version = verb.version;
    Ok(format!(
        r#"{{"_meta":{{"{VERSION}":"v{version}"}},"description":{about},"inputSchema":{input},"name":{name},"outputSchema":{output}}}"#
    ))
}
