//! Why does a policy allow or deny a call?

use agent_decide::ExplainedCall;
use agent_diagnostic::{Code, Diagnostic};
use agent_lower::{Notation, PolicyHistory, context};
use agent_model::{Context, Index, ServerView, Tenant, ToolView};
use agent_rego::{CallQuestion, Policy, explain_call};
use agent_text::{nearest, visible};

/// A call that a policy is asked about.
#[derive(Debug, Clone, Copy)]
pub struct AskedCall<'q> {
    /// The tool: `SERVER/TOOL`, or `SERVER@VERSION/TOOL`.
    pub tool: &'q str,
    /// The arguments: a JSON object.
    pub arguments: &'q [u8],
    /// `input.history`: a JSON object; empty for none.
    pub history: &'q [u8],
}

/// Returns the answers of a policy to a call: one for each version of the server that has the tool, and each requirement that it
/// may be locked for.
///
/// # Errors
/// The index has no such tool, or a text is no JSON object.
pub fn explain_policy_call(
    policy: &Policy,
    tenant: Option<&Tenant>,
    index: &Index,
    of_policy: Option<&Context>,
    call: AskedCall<'_>,
) -> Result<Vec<ExplainedCall>, Vec<Diagnostic>> {
    let tools = tools_named(index, call.tool)?;
    let arguments = object(call.arguments, "the arguments")?;
    let history = match call.history {
        [] => None,
        bytes => Some(PolicyHistory::of(object(bytes, "the history")?)),
    };
    let explained = tools.into_iter().flat_map(|tool| {
        let question = CallQuestion {
            tool,
            arguments: &arguments,
            history: history.as_ref(),
        };
        explain_call(policy, tenant, of_policy, question)
    });
    Ok(explained.collect())
}

/// Returns the tools of a name.
fn tools_named<'i>(index: &'i Index, name: &str) -> Result<Vec<ToolView<'i>>, Vec<Diagnostic>> {
    let refused =
        |text: String, help: String| Err(vec![Diagnostic::new(Code::ToolUnknown, text).help(help)]);
    // The id of a server may contain `/`, the name of a tool does not.
    let Some((server, tool)) = name.rsplit_once('/') else {
        let text = format!("`{}` is no SERVER/TOOL", visible(name));
        return refused(
            text,
            "write the server and the tool, such as `mail/read`".to_owned(),
        );
    };
    let (id, version) = match server.split_once('@') {
        Some((id, version)) => (id, Some(version)),
        None => (server, None),
    };
    let servers = index.versions(id);
    let servers: Vec<_> = servers
        .filter(|it| version.is_none_or(|version| it.version() == version))
        .collect();
    let tools: Vec<_> = servers.iter().filter_map(|it| it.tool(tool)).collect();
    if !tools.is_empty() {
        return Ok(tools);
    }
    let (what, known): (_, Vec<_>) = match servers.is_empty() {
        true => ("server", index.servers().map(ServerView::id).collect()),
        false => (
            "tool",
            servers
                .iter()
                .flat_map(|it| it.tools())
                .map(ToolView::name)
                .collect(),
        ),
    };
    let wanted = if servers.is_empty() { id } else { tool };
    let near = nearest(wanted, known, 1);
    let text = format!("the index has no {what} `{}`", visible(wanted));
    let help = match near.first() {
        Some(near) => format!("did you mean `{}`?", visible(near)),
        None => "`agent discover` lists what the index has".to_owned(),
    };
    refused(text, help)
}

/// Takes bytes as a JSON object.
fn object(bytes: &[u8], what: &str) -> Result<String, Vec<Diagnostic>> {
    let read = context(bytes.to_vec(), Notation::Json).ok();
    let object = read
        .map(|it| it.value.json)
        .filter(|it| it.starts_with('{'));
    object.ok_or_else(|| {
        let text = format!("{what} must be one strict JSON object");
        vec![Diagnostic::new(Code::WrongType, text)]
    })
}
