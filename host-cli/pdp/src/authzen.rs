//! The requests of the AuthZEN Authorization API 1.0, mapped as its binding for the Model Context Protocol maps a call:
//! the action `tools/call` on a resource of the type `tool`.
//!
//! `context` of a request decides nothing: the time is that of this host, and the agent is that of the lock.

use super::answer::{CodeNames, Refusal, write_grounds};
use super::decider::Decided;
use super::given::Given;
use super::question::{bytes, subject};
use agent_host::contract::decision_point::{AskedCall, CallSubject};
use agent_host::contract::diagnostic::Code;
use agent_host::output::visible;
use agent_syntax::json::Writer;

/// The action of a call.
const ACTION: &str = "tools/call";

/// The type of a resource that is called.
const RESOURCE: &str = "tool";

/// Maximum number of evaluations in a request.
pub(crate) const EVALUATIONS_MAX: usize = 256;

/// The members of an evaluation.
const MEMBERS: [&str; 4] = ["action", "context", "resource", "subject"];

/// When the evaluations of a request end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Semantic {
    ExecuteAll,
    DenyOnFirstDeny,
    PermitOnFirstPermit,
}

impl Semantic {
    /// Reads the options of a request.
    ///
    /// # Errors
    ///
    /// They name another semantic.
    fn read(given: &Given<'_>) -> Result<Self, Refusal> {
        let options = given.object("options")?;
        let named = match &options {
            None => None,
            Some(options) => options.string("evaluations_semantic")?,
        };
        match named.as_deref() {
            None | Some("execute_all") => Ok(Self::ExecuteAll),
            Some("deny_on_first_deny") => Ok(Self::DenyOnFirstDeny),
            Some("permit_on_first_permit") => Ok(Self::PermitOnFirstPermit),
            Some(other) => {
                let text = format!("`{}` is not a semantic of evaluations", visible(other));
                Err(Refusal::new(Code::UnknownValue, text))
            }
        }
    }

    /// Returns whether a decision is the last one.
    pub(crate) fn ends_with(self, decision: bool) -> bool {
        match self {
            Self::ExecuteAll => false,
            Self::DenyOnFirstDeny => !decision,
            Self::PermitOnFirstPermit => decision,
        }
    }
}

/// A call to decide on, or why an evaluation is denied without a decision.
pub(crate) type Asked = Result<AskedCall, Refusal>;

/// What a request asks.
pub(crate) enum Question {
    One(Asked),
    Several(Semantic, Vec<Asked>),
    /// Which tools the subject of a call may call, whose own tool is not named.
    Tools(Asked),
    /// Which actions are allowed on the tool of a call.
    Actions(Asked),
}

/// Reads a request with one evaluation.
///
/// # Errors
///
/// A member is absent or of another type.
pub(crate) fn evaluation(given: &Given<'_>) -> Result<Question, Refusal> {
    asked_call(given, None).map(Question::One)
}

/// Reads a request with evaluations. Without any it is one evaluation.
///
/// # Errors
///
/// The request as a whole is invalid, or has too many evaluations.
pub(crate) fn evaluations(given: &Given<'_>) -> Result<Question, Refusal> {
    let semantic = Semantic::read(given)?;
    let items = given.objects("evaluations")?;
    if items.is_empty() {
        return evaluation(given);
    }
    if items.len() > EVALUATIONS_MAX {
        let text = format!(
            "the request has {} evaluations; the limit is {EVALUATIONS_MAX}",
            items.len()
        );
        return Err(Refusal::new(Code::InputTooLarge, text));
    }
    for name in MEMBERS {
        given.object(name)?;
    }
    let asked = items.into_iter();
    // One that is invalid is denied alone.
    let asked = asked.map(|item| asked_call(&item?, Some(given))?);
    Ok(Question::Several(semantic, asked.collect()))
}

/// Reads an evaluation. A member that it lacks is that of the request.
///
/// # Errors
///
/// A member is absent or of another type. The inner error says that it is about something else than a call of a tool.
fn asked_call(given: &Given<'_>, defaults: Option<&Given<'_>>) -> Result<Asked, Refusal> {
    let of = |name: &str| match (given.object(name)?, defaults) {
        (None, Some(defaults)) => defaults.object(name),
        (own, _) => Ok(own),
    };
    let required = |name: &str| given.required(name, of(name)?);
    let (who, action, resource) = (
        required("subject")?,
        required("action")?,
        required("resource")?,
    );
    of("context")?;
    let subject = subject(&who)?;
    let (name, arguments) = called(&action)?;
    let kind = resource.required_string("type")?;
    let tool = resource.required_string("id")?;
    Ok(mapped((&name, &kind), tool, arguments, subject))
}

/// Reads a search for resources, whose own id is ignored.
///
/// # Errors
///
/// A member is absent or of another type.
pub(crate) fn tools(given: &Given<'_>) -> Result<Question, Refusal> {
    given.object("context")?;
    let (name, arguments) = called(&given.required_object("action")?)?;
    let kind = given.required_object("resource")?.required_string("type")?;
    let subject = subject(&given.required_object("subject")?)?;
    let asked = mapped((&name, &kind), String::new(), arguments, subject);
    Ok(Question::Tools(asked))
}

/// Reads a search for actions.
///
/// # Errors
///
/// A member is absent or of another type.
pub(crate) fn actions(given: &Given<'_>) -> Result<Question, Refusal> {
    given.object("context")?;
    let resource = given.required_object("resource")?;
    let (kind, tool) = (
        resource.required_string("type")?,
        resource.required_string("id")?,
    );
    let subject = subject(&given.required_object("subject")?)?;
    let asked = mapped((ACTION, &kind), tool, None, subject);
    Ok(Question::Actions(asked))
}

/// Reads an action: its name, and the arguments of the call.
fn called(action: &Given<'_>) -> Result<(String, Option<Vec<u8>>), Refusal> {
    let name = action.required_string("name")?;
    let arguments = match action.object("properties")? {
        Some(properties) => bytes(properties.object("arguments")?),
        None => None,
    };
    Ok((name, arguments))
}

/// Returns the call that an action on a resource is.
///
/// # Errors
///
/// It is no call of a tool.
fn mapped(
    (action, kind): (&str, &str),
    tool: String,
    arguments: Option<Vec<u8>>,
    subject: CallSubject,
) -> Asked {
    for (what, given, decided) in [
        ("action", action, ACTION),
        ("resource type", kind, RESOURCE),
    ] {
        if given != decided {
            let given = visible(given);
            let text = format!("the {what} is `{given}`, and only `{decided}` is decided here");
            return Err(Refusal::new(Code::UnknownValue, text));
        }
    }
    Ok(AskedCall {
        tool,
        arguments,
        subject,
        agent: None,
    })
}

/// Returns the decision on an evaluation. What was not decided is denied.
pub(crate) fn decision(decided: &Result<Decided, Refusal>) -> bool {
    decided.as_ref().is_ok_and(Decided::is_allowed)
}

/// Writes the decision on an evaluation.
pub(crate) fn write_evaluation(
    w: &mut Writer,
    decided: &Result<Decided, Refusal>,
    names: &CodeNames,
) {
    w.object(|w| {
        w.key("context").object(|w| match decided {
            Ok(decided) => write_grounds(w, decided, names),
            Err(refusal) => w.key("error").object(|w| refusal.write(w, names)),
        });
        w.key("decision").bool(decision(decided));
    });
}

/// Returns the answer of a search for tools.
pub(crate) fn found_tools(tools: &[String]) -> String {
    found(|w| {
        for tool in tools {
            w.object(|w| {
                w.key("id").string(tool);
                w.key("type").string(RESOURCE);
            });
        }
    })
}

/// Returns the answer of a search for actions.
pub(crate) fn found_actions(is_allowed: bool) -> String {
    found(|w| {
        if is_allowed {
            w.object(|w| w.key("name").string(ACTION));
        }
    })
}

/// Returns the answer of a search, which has every result.
fn found(results: impl FnOnce(&mut Writer)) -> String {
    let mut w = Writer::dense();
    w.object(|w| w.key("results").array(results));
    w.finish()
}

/// Returns the metadata of the decision point that is reached at a host.
pub(crate) fn metadata(host: &str) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("access_evaluation_endpoint")
            .string(&format!("https://{host}/access/v1/evaluation"));
        w.key("access_evaluations_endpoint")
            .string(&format!("https://{host}/access/v1/evaluations"));
        w.key("policy_decision_point")
            .string(&format!("https://{host}"));
        w.key("search_action_endpoint")
            .string(&format!("https://{host}/access/v1/search/action"));
        w.key("search_resource_endpoint")
            .string(&format!("https://{host}/access/v1/search/resource"));
    });
    w.finish()
}
