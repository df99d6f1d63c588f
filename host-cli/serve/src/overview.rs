//! The status of a gateway for people: read from its JSON.

use agent_syntax::json::parse_strict;
use agent_syntax::members::{boolean, items, member};
use agent_syntax::{Node, Value};
use std::fmt::Write as _;

/// What a gateway passes on from no server.
const NEVER: [&str; 6] = [
    "completions",
    "elicitation",
    "instructions",
    "logs",
    "roots",
    "sampling",
];

/// Returns the names of what is withheld on purpose, by whether the lock passes on resources and prompts of a
/// server.
pub(crate) fn withheld(resources: bool, prompts: bool) -> impl Iterator<Item = &'static str> {
    let prompts = (!prompts).then_some("prompts");
    let resources = match resources {
        true => "subscriptions to resources",
        false => "resources",
    };
    NEVER.into_iter().chain(prompts).chain([resources])
}

/// The elements of an array that is a member of an object.
pub(crate) fn list<'n, 'a>(node: &'n Node<'a>, name: &str) -> &'n [Node<'a>] {
    member(node, name).and_then(items).unwrap_or_default()
}

/// The text of a member: of a string or a number; empty for another one.
pub(crate) fn text<'n>(node: &'n Node<'_>, name: &str) -> &'n str {
    member(node, name).map_or("", plain)
}

pub(crate) fn plain<'n>(node: &'n Node<'_>) -> &'n str {
    match &node.value {
        Value::String(text) => text,
        Value::Number(text) => text,
        _ => "",
    }
}

/// Returns whether a member is true.
pub(crate) fn is(node: &Node<'_>, name: &str) -> bool {
    member(node, name).and_then(boolean) == Some(true)
}

/// Returns the reasons of a tool's state in one line.
pub(crate) fn reasons(tool: &Node<'_>) -> String {
    let reasons = list(tool, "reasons").iter();
    let reasons = reasons.map(|it| format!("{}: {}", text(it, "code"), text(it, "text")));
    reasons.collect::<Vec<_>>().join("; ")
}

/// What an observing session does.
pub(crate) const OBSERVES: &str =
    "observes: refuses only changed tools, concealed characters and secrets";

/// Returns the name and the version of a session's agent.
pub(crate) fn title(session: &Node<'_>) -> String {
    match member(session, "agent") {
        Some(agent) if !text(agent, "name").is_empty() => {
            format!("{} {}", text(agent, "name"), text(agent, "version"))
        }
        _ => "servers without a lock".to_owned(),
    }
}

/// Returns the status of a gateway as text, or `None` if the JSON is not a status.
#[must_use]
pub fn status_text(json: &str) -> Option<String> {
    let status = parse_strict(json)?;
    let mut out = String::new();
    for agent in list(&status, "agents") {
        draw(&mut out, &status, agent);
    }
    if let Some(otlp) = member(&status, "otlp").filter(|it| it.value != Value::Null) {
        let [sent, dropped, url] = ["sent", "dropped", "url"].map(|name| text(otlp, name));
        let why = match text(otlp, "failure") {
            "" => String::new(),
            failure => format!(" ({failure})"),
        };
        // Writing into a string can't fail.
        let _ = writeln!(out, "spans: {sent} sent to {url}, {dropped} dropped{why}");
    }
    Some(out)
}

fn draw(out: &mut String, status: &Node<'_>, agent: &Node<'_>) {
    let Some(session) = member(agent, "session") else {
        return;
    };
    // Writing into a string can't fail.
    let mut line = |indent: usize, text: String| {
        let _ = writeln!(out, "{:indent$}{text}", "");
    };
    let at = match text(agent, "url") {
        "" => "standard input and output",
        url => url,
    };
    let process = text(status, "pid");
    line(0, format!("{} at {at}, process {process}", title(session)));
    if is(session, "observe") {
        line(2, OBSERVES.to_owned());
    }
    for server in list(session, "servers") {
        let health = match text(server, "health") {
            "" => "health unknown",
            health => health,
        };
        let (name, version) = (text(server, "name"), text(server, "version"));
        line(2, format!("server {name} {version}: {health}"));
        match text(server, "failure") {
            "" => {}
            failure => line(4, format!("not reached: {failure}")),
        }
        let exceptions = list(agent, "sandboxExceptions").iter();
        for exception in exceptions.filter(|it| text(it, "server") == name) {
            line(4, format!("exception: {}", text(exception, "exception")));
        }
        let untidy = list(agent, "untidy").iter();
        for untidy in untidy.filter(|it| text(it, "server") == name) {
            let messages = text(untidy, "messages");
            line(4, format!("unreadable messages: {messages}"));
        }
        for tool in list(session, "tools")
            .iter()
            .filter(|it| text(it, "server") == name)
        {
            let reasons = match &*reasons(tool) {
                "" => String::new(),
                reasons => format!(": {reasons}"),
            };
            let (tool, state) = (text(tool, "name"), text(tool, "state"));
            line(4, format!("tool {tool}: {state}{reasons}"));
        }
        for entries in list(server, "lists") {
            let (method, count) = (text(entries, "method"), text(entries, "withheldCount"));
            let number = match text(entries, "entries") {
                "" => "not listed yet",
                number => number,
            };
            line(4, format!("{method}: {number}, {count} withheld"));
            for it in list(entries, "withheld") {
                let (name, code, why) = (text(it, "name"), text(it, "code"), text(it, "text"));
                line(6, format!("{name}: withheld: {code}: {why}"));
            }
        }
        for unlocked in list(server, "unlocked") {
            line(
                4,
                format!("tool {}: withheld: not in the lock", plain(unlocked)),
            );
        }
    }
    for shared in list(session, "shared") {
        let (name, servers) = (text(shared, "name"), list(shared, "servers").iter());
        let servers: Vec<_> = servers.map(plain).collect();
        let servers = servers.join(", ");
        line(
            2,
            format!("{name}: withheld: several servers have it: {servers}"),
        );
    }
    for approval in list(session, "approvals") {
        if !is(approval, "answered") {
            let (tool, id) = (text(approval, "tool"), text(approval, "id"));
            line(2, format!("approval {id}: a call of {tool} waits"));
        }
    }
    let withheld: Vec<_> = list(agent, "withheld").iter().map(plain).collect();
    line(2, format!("not passed on: {}", withheld.join(", ")));
}

#[cfg(test)]
mod tests {
    use super::status_text;

    #[test]
    fn a_status_is_drawn() {
        let json = r#"{"agents":[{"url":"http://127.0.0.1:1/mcp","withheld":["roots"],
            "sandboxExceptions":[{"server":"s","exception":"no sandbox"}],
            "session":{"agent":{"name":"a","version":"1"},"observe":true,
            "approvals":[{"answered":false,"id":"x","tool":"t"},{"answered":true,"id":"y","tool":"t"}],
            "servers":[{"name":"s","version":"2","health":null,"unlocked":["u"],"lists":[
            {"method":"resources/list","entries":2,"withheldCount":1,
            "withheld":[{"code":"C","name":"x:a","text":"why"}]},
            {"method":"prompts/list","entries":null,"withheldCount":0,"withheld":[]}]}],
            "shared":[{"method":"resources/list","name":"x:b","servers":["s","r"]}],
            "tools":[{"name":"t","server":"s","state":"quarantined",
            "reasons":[{"code":"C","text":"why"}]}]}}],"pid":7}"#;
        assert_eq!(
            status_text(json).unwrap(),
            "a 1 at http://127.0.0.1:1/mcp, process 7\n  \
             observes: refuses only changed tools, concealed characters and secrets\n  \
             server s 2: health unknown\n    exception: no sandbox\n    \
             tool t: quarantined: C: why\n    resources/list: 2, 1 withheld\n      \
             x:a: withheld: C: why\n    prompts/list: not listed yet, 0 withheld\n    \
             tool u: withheld: not in the lock\n  \
             x:b: withheld: several servers have it: s, r\n  \
             approval x: a call of t waits\n  not passed on: roots\n"
        );
        let json = r#"{"agents":[{"session":{"agent":null,"observe":true}}],"pid":7}"#;
        let shown = status_text(json).unwrap();
        assert!(!shown.contains("spans"), "{shown}");
        let json = r#"{"agents":[],"pid":7,"otlp":{"dropped":2,"failure":"why","queued":0,"sent":1,"url":"u"}}"#;
        let spans = "spans: 1 sent to u, 2 dropped (why)\n";
        assert_eq!(status_text(json).unwrap(), spans);
        let first = "servers without a lock at standard input and output, process 7\n";
        assert!(shown.starts_with(first), "{shown}");
        assert_eq!(status_text("no"), None);
    }
}
