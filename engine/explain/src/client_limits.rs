//! What clients and the models behind them refuse of the tools of a server that keeps to MCP.

use agent_diagnostic::{Code, Diagnostic, Fix};
use agent_syntax::json::parse_strict;
use agent_syntax::members::{entries, items, member, string};
use agent_syntax::{Node, Value};
use agent_text::{listed, visible};

/// The limits of a client, or of the interface of a model.
#[derive(Debug, Clone, Copy)]
pub struct ClientLimits {
    /// Its name in options.
    pub name: &'static str,
    /// What has the limits, for a message.
    pub title: &'static str,
    /// Maximum number of tools.
    pub tools: Option<usize>,
    /// Maximum length of the name of a tool, in characters.
    pub name_length: Option<usize>,
    /// Characters of a name besides ASCII letters and digits; every name is allowed without a value.
    pub name_characters: Option<&'static str>,
    /// Whether a name begins with a letter or `_`.
    pub begins_with_letter: bool,
    /// Maximum length of a description, in characters.
    pub description: Option<usize>,
    /// Whether the root of an input schema has the type `object`.
    pub needs_object: bool,
    /// The keywords that the root of an input schema can't have.
    pub root_keywords: &'static [&'static str],
    /// Maximum length of the name of a property, of ASCII letters, digits, `_`, `.` and `-`.
    pub property_length: Option<usize>,
    /// The reports that show the limits.
    pub source: &'static str,
    /// The month of the latest of these reports.
    pub seen: &'static str,
}

const NONE: ClientLimits = ClientLimits {
    name: "",
    title: "",
    tools: None,
    name_length: None,
    name_characters: None,
    begins_with_letter: false,
    description: None,
    needs_object: false,
    root_keywords: &[],
    property_length: None,
    source: "",
    seen: "",
};

/// The limits that are known.
pub const CLIENT_LIMITS: [ClientLimits; 5] = [
    ClientLimits {
        name: "anthropic",
        title: "the Messages API of Anthropic",
        name_length: Some(128),
        name_characters: Some("_-"),
        needs_object: true,
        root_keywords: &["oneOf", "allOf", "anyOf"],
        property_length: Some(64),
        source: "anthropics/claude-code#5319, freee/freee-mcp#15, IlyaGulya/gradle-mcp-server#2",
        seen: "2026-09",
        ..NONE
    },
    ClientLimits {
        name: "cursor",
        title: "Cursor",
        tools: Some(40),
        source: "modelcontextprotocol discussion 360",
        seen: "2025-07",
        ..NONE
    },
    ClientLimits {
        name: "gemini",
        title: "the Gemini API",
        name_length: Some(64),
        name_characters: Some("_.:-"),
        begins_with_letter: true,
        source: "google-gemini/gemini-cli#2966, mcp-router/mcp-router#177",
        seen: "2026-02",
        ..NONE
    },
    ClientLimits {
        name: "openai",
        title: "the API of OpenAI",
        name_length: Some(64),
        name_characters: Some("_-"),
        description: Some(1_024),
        needs_object: true,
        root_keywords: &["oneOf", "anyOf", "allOf", "enum", "not"],
        source: "langchain-ai/langchainjs#9804, higebu/3gpp-mcp#238",
        seen: "2026-09",
        ..NONE
    },
    ClientLimits {
        name: "vscode",
        title: "VS Code",
        tools: Some(128),
        source: "postmanlabs/postman-mcp-server#26",
        seen: "2025-08",
        ..NONE
    },
];

/// Maximum number of tools to name in a message.
const NAMED_LIMIT: usize = 5;

/// Returns a warning for each limit of a client that tools exceed. `tools` is a result of MCP's `tools/list`; `None`
/// for a text of another form.
pub fn client_limits(limits: &ClientLimits, tools: &str) -> Option<Vec<Diagnostic>> {
    let root = parse_strict(tools)?;
    let tools = items(member(&root, "tools")?)?;
    let mut found = Vec::new();
    if let Some(max) = limits.tools.filter(|max| tools.len() > *max) {
        let message = format!(
            "{} takes {max} tools, and these are {}",
            limits.title,
            tools.len()
        );
        found.push(warning(
            message,
            "lock fewer tools, or have servers on demand",
        ));
    }
    let named: Vec<_> = tools
        .iter()
        .filter_map(|tool| Some((string(member(tool, "name")?)?, tool)))
        .collect();
    let mut report = |what: &str, help: &str, exceeds: &dyn Fn(&str, &Node<'_>) -> bool| {
        let names = named.iter().filter(|(name, tool)| exceeds(name, tool));
        let names: Vec<_> = names.map(|(name, _)| visible(name)).collect();
        if names.is_empty() {
            return;
        }
        let tools = if names.len() == 1 {
            "the tool"
        } else {
            "the tools"
        };
        let shown = listed(&names, NAMED_LIMIT);
        let message = format!("{} refuses {tools} {shown}: {what}", limits.title);
        found.push(warning(message, help));
    };
    let shorter = "rename the server, or have it shorten the name";
    if let Some(max) = limits.name_length {
        let what = format!("the name has more than {max} characters");
        report(&what, shorter, &|name, _| name.chars().count() > max);
    }
    if let Some(more) = limits.name_characters {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
        let what = format!("the name has characters other than letters, digits and `{more}`");
        report(&what, "have the server rename the tool", &|name, _| {
            !name.chars().all(is_allowed)
        });
    }
    if limits.begins_with_letter {
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let what = "the name does not begin with a letter or `_`";
        report(what, "have the server rename the tool", &|name, _| {
            !name.starts_with(is_first)
        });
    }
    if let Some(max) = limits.description {
        let what = format!("the description has more than {max} characters");
        report(
            &what,
            "have the server shorten the description",
            &|_, tool| {
                let text = member(tool, "description").and_then(string);
                text.is_some_and(|text| text.chars().count() > max)
            },
        );
    }
    let schema = |tool: &Node<'_>, fits: &dyn Fn(&Node<'_>) -> bool| {
        member(tool, "inputSchema").is_some_and(fits)
    };
    let simplify = "have the server move it below a property, and check the arguments itself";
    if limits.needs_object {
        let what = "the root of the input schema has no `\"type\": \"object\"`";
        report(what, "have the server add the type", &|_, tool| {
            schema(tool, &|it| {
                member(it, "type").and_then(string) != Some("object")
            })
        });
    }
    for keyword in limits.root_keywords {
        let what = format!("the root of the input schema has `{keyword}`");
        report(&what, simplify, &|_, tool| {
            schema(tool, &|it| member(it, keyword).is_some())
        });
    }
    if let Some(max) = limits.property_length {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let is_name =
            |name: &str| (1..=max).contains(&name.chars().count()) && name.chars().all(is_allowed);
        let what = format!("a property's name is not 1 to {max} letters, digits, `_`, `.` and `-`");
        report(&what, "have the server rename the property", &|_, tool| {
            schema(tool, &|it| {
                let properties =
                    member(it, "properties").filter(|it| matches!(it.value, Value::Mapping(_)));
                properties.is_some_and(|it| !entries(it).iter().all(|it| is_name(&it.key)))
            })
        });
    }
    Some(found)
}

fn warning(message: String, help: &str) -> Diagnostic {
    let mut problem = Diagnostic::new(Code::ClientLimit, message);
    problem.fixes.push(Fix::display(help));
    problem
}
