//! The methods of clients beside those for tools.

use agent_api::model::Serve;

/// A method of a client for resources or prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// `prompts/get`
    GetPrompt,
    /// `prompts/list`
    ListPrompts,
    /// `resources/list`
    ListResources,
    /// `resources/read`
    ReadResource,
    /// `resources/templates/list`
    ListTemplates,
}

impl Method {
    /// Every method, ordered by name.
    pub const ALL: [Self; 5] = [
        Self::GetPrompt,
        Self::ListPrompts,
        Self::ListResources,
        Self::ReadResource,
        Self::ListTemplates,
    ];

    /// Returns the name in MCP, in records and in the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::GetPrompt => "prompts/get",
            Self::ListPrompts => "prompts/list",
            Self::ListResources => "resources/list",
            Self::ReadResource => "resources/read",
            Self::ListTemplates => "resources/templates/list",
        }
    }

    /// Returns the method with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns what a lock has to pass on from a server.
    pub(crate) fn serve(self) -> Serve {
        match self {
            Self::GetPrompt | Self::ListPrompts => Serve::Prompts,
            Self::ListResources | Self::ReadResource | Self::ListTemplates => Serve::Resources,
        }
    }

    /// Returns the list that the method is for.
    pub(crate) fn list(self) -> Option<ListKind> {
        match self {
            Self::ListPrompts => Some(ListKind::Prompts),
            Self::ListResources => Some(ListKind::Resources),
            Self::ListTemplates => Some(ListKind::Templates),
            Self::GetPrompt | Self::ReadResource => None,
        }
    }
}

/// A list of a server beside that of its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListKind {
    /// Its resources.
    Resources,
    /// Its templates of URIs.
    Templates,
    /// Its prompts.
    Prompts,
}

impl ListKind {
    /// Every list.
    pub const ALL: [Self; 3] = [Self::Resources, Self::Templates, Self::Prompts];

    /// Returns the method that lists it.
    pub fn method(self) -> Method {
        match self {
            Self::Resources => Method::ListResources,
            Self::Templates => Method::ListTemplates,
            Self::Prompts => Method::ListPrompts,
        }
    }

    /// Returns the member of a result with the list.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// Returns the member by which an entry is asked for.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
            Self::Prompts => "name",
        }
    }
}
