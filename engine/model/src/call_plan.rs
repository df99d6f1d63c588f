//! One-call plans, and the tools that servers list \[1\].

use super::name::{Name, ServerId, ToolName};
use agent_text::{Span, Spanned, Text};

/// A one-call plan.
#[derive(Debug, Clone)]
pub struct CallPlan {
    /// The text of the plan.
    pub text: Text,
    /// The planned call or answer.
    pub planned: Planned,
}

/// The content of a one-call plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// `call_tool`: one call of one tool.
    Call(PlannedCall),
    /// `final_answer`: no call, because information is missing.
    NeedsMoreInfo {
        /// `answer`: the message to the user.
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
    /// The place of the object `args`.
    pub args: Span,
}

/// The servers' present tools, from their `tools/list`.
#[derive(Debug, Clone)]
pub struct ToolsSnapshot {
    /// The text of the catalogue.
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

/// A tool of a server's list.
#[derive(Debug, Clone)]
pub struct ListedTool {
    /// `name`
    pub name: ToolName,
    /// The place of its object.
    pub span: Span,
}

impl ToolsSnapshot {
    /// Returns the server with an id.
    pub fn server(&self, id: &str) -> Option<&ListedServer> {
        let place = self
            .servers
            .binary_search_by(|server| server.id.as_str().cmp(id));
        Some(&self.servers[place.ok()?])
    }
}

impl ListedServer {
    /// Returns the tool with a name.
    pub fn tool(&self, name: &str) -> Option<&ListedTool> {
        let place = self
            .tools
            .binary_search_by(|tool| tool.name.as_str().cmp(name));
        Some(&self.tools[place.ok()?])
    }
}
