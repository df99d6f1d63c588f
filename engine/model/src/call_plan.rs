//! What a planner may answer with: one call, or none \[1\].

use super::{Name, ServerId, ToolName};
use agent_text::{Span, Spanned, Text};

/// A one-call plan.
#[derive(Debug, Clone)]
pub struct CallPlan {
    /// The text it was read from.
    pub text: Text,
    /// What is planned.
    pub planned: Planned,
}

/// What a planner planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// `call_tool`: to call one tool, once.
    Call(PlannedCall),
    /// `final_answer`: to call none, because more has to be known.
    NeedsMoreInfo {
        /// `answer`: what is to be said to the user.
        answer: String,
    },
}

/// The one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCall {
    /// `server`
    pub server: Spanned<ServerId>,
    /// `tool`
    pub tool: Spanned<ToolName>,
    /// Where the object `args` stands.
    pub args: Span,
}

/// The tools that servers have at the moment, as their `tools/list` say.
#[derive(Debug, Clone)]
pub struct ToolCatalogue {
    /// The text it was read from.
    pub text: Text,
    /// Ordered by id.
    pub servers: Vec<ListedServer>,
}

/// The tools of one server.
#[derive(Debug, Clone)]
pub struct ListedServer {
    /// Its id.
    pub id: ServerId,
    /// Ordered by name.
    pub tools: Vec<ListedTool>,
}

/// One tool, as its server lists it.
#[derive(Debug, Clone)]
pub struct ListedTool {
    /// `name`
    pub name: ToolName,
    /// The object that it stands in.
    pub span: Span,
}

impl ToolCatalogue {
    /// The server of an id.
    pub fn server(&self, id: &str) -> Option<&ListedServer> {
        let place = self
            .servers
            .binary_search_by(|server| server.id.as_str().cmp(id));
        Some(&self.servers[place.ok()?])
    }
}

impl ListedServer {
    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<&ListedTool> {
        let place = self
            .tools
            .binary_search_by(|tool| tool.name.as_str().cmp(name));
        Some(&self.tools[place.ok()?])
    }
}
