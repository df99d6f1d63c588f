//! Reading the file of served agents, with all problems at once.

use super::read::{Reader, content};
use super::{Agents, ServedAgent};
use agent_syntax::{Node, Value as Yaml};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Maximum number of agents of one gateway.
const AGENTS_MAX: usize = 64;

/// Maximum number of clients of one agent.
const CLIENTS_MAX: usize = 64;

/// Maximum number of servers of one agent that are observed without a lock.
const SERVERS_MAX: usize = 256;

/// Maximum number of characters of a name.
const NAME_MAX: usize = 64;

/// The values of `approvals`.
const APPROVALS: [&str; 3] = ["host", "retry", "elicitation"];

/// The values of `expansion`.
const EXPANSIONS: [&str; 3] = ["stub", "list", "none"];

/// Reads the content of the file. The error lists problems as `line:column: message`.
pub(crate) fn agents(text: String) -> Result<Agents, Vec<String>> {
    let read = content(text, |reader, root| {
        let mut agents = Agents::default();
        for entry in reader.mapping(root, "the file") {
            if entry.key == "otlp" {
                agents.otlp = reader.text(&entry.value, "`otlp`");
                continue;
            }
            if entry.key != "agents" {
                reader.unknown(entry, "`agents` and `otlp`");
                continue;
            }
            let named = reader.mapping(&entry.value, "`agents`");
            if named.len() > AGENTS_MAX {
                let message = format!("`agents` has more than {AGENTS_MAX} entries");
                reader.report(entry.value.span, message);
            }
            for entry in named {
                if !is_name(&entry.key) {
                    reader.report(entry.key_span, wrong_name(&entry.key));
                }
                let agent = agent(reader, &entry.value);
                agents.agents.insert(entry.key.to_string(), agent);
            }
        }
        agents
    })?;
    match read.agents.is_empty() {
        true => Err(vec!["1:1: `agents` names no agent".to_owned()]),
        false => Ok(read),
    }
}

fn agent(reader: &mut Reader<'_, '_>, node: &Node<'_>) -> ServedAgent {
    let mut agent = ServedAgent::default();
    for entry in reader.mapping(node, "an agent") {
        let (key, value) = (&*entry.key, &entry.value);
        let shown = format!("`{key}`");
        let mut path = || reader.text(value, &shown).map(PathBuf::from);
        match key {
            "lock" => agent.lock = path(),
            "index" => agent.index = path(),
            "task" => agent.task = path(),
            "policy" => agent.policy = path(),
            "policy_context" => agent.policy_context = path(),
            "tenant" => agent.tenant = path(),
            "health" => agent.health = path(),
            "audit" => agent.audit = path(),
            "tenant_id" => agent.tenant_id = reader.text(value, &shown),
            "timezone" => agent.timezone = reader.text(value, &shown),
            "audit_arguments" => agent.audit_arguments = flag(reader, value, &shown),
            "observe" => agent.observe = flag(reader, value, &shown),
            "server" => agent.server = servers(reader, value),
            "approvals" => agent.approvals = choice(reader, value, &shown, &APPROVALS),
            "budget" => agent.budget = number(reader, value, &shown),
            "expansion" => agent.expansion = choice(reader, value, &shown, &EXPANSIONS),
            "tokens" => agent.tokens = tokens(reader, value),
            _ => reader.unknown(
                entry,
                "`approvals`, `audit`, `audit_arguments`, `budget`, `expansion`, `health`, `index`, `lock`, \
                 `observe`, `policy`, `policy_context`, `server`, `task`, `tenant`, `tenant_id`, `timezone` and `tokens`",
            ),
        }
    }
    if !agent.server.is_empty() && !agent.observe {
        reader.report(node.span, "`server` needs `observe: true`");
    }
    if !agent.server.is_empty() && agent.lock.is_some() {
        reader.report(node.span, "`server` and `lock` exclude each other");
    }
    agent
}

fn servers(reader: &mut Reader<'_, '_>, node: &Node<'_>) -> Vec<String> {
    let servers = reader.texts(node, "`server`");
    if servers.len() > SERVERS_MAX {
        let message = format!("`server` has more than {SERVERS_MAX} entries");
        reader.report(node.span, message);
    }
    servers
}

fn tokens(reader: &mut Reader<'_, '_>, node: &Node<'_>) -> BTreeMap<String, PathBuf> {
    let mut tokens = BTreeMap::new();
    let named = reader.mapping(node, "`tokens`");
    if named.len() > CLIENTS_MAX {
        let message = format!("`tokens` has more than {CLIENTS_MAX} entries");
        reader.report(node.span, message);
    }
    for entry in named {
        if !is_name(&entry.key) {
            reader.report(entry.key_span, wrong_name(&entry.key));
        }
        let path = reader.text(&entry.value, "the file of a token");
        let path = path.map(|path| (entry.key.to_string(), PathBuf::from(path)));
        tokens.extend(path);
    }
    tokens
}

/// Returns one of the texts that a key may have.
fn choice(
    reader: &mut Reader<'_, '_>,
    node: &Node<'_>,
    name: &str,
    choices: &[&str],
) -> Option<String> {
    let text = reader.text(node, name)?;
    if !choices.contains(&&*text) {
        let choices = choices.join("`, `");
        reader.report(
            node.span,
            format!("{name} is one of `{choices}`, not `{text}`"),
        );
    }
    Some(text)
}

fn flag(reader: &mut Reader<'_, '_>, node: &Node<'_>, name: &str) -> bool {
    match &node.value {
        Yaml::Bool(value) => *value,
        Yaml::Plain(text) if text == "true" => true,
        Yaml::Plain(text) if text == "false" => false,
        _ => {
            reader.report(node.span, format!("{name} must be `true` or `false`"));
            false
        }
    }
}

fn number(reader: &mut Reader<'_, '_>, node: &Node<'_>, name: &str) -> Option<u64> {
    let number = match &node.value {
        Yaml::Number(text) => text.parse().ok(),
        Yaml::Plain(text) => text.parse().ok(),
        _ => None,
    };
    if number.is_none() {
        reader.report(node.span, format!("{name} must be a whole number"));
    }
    number
}

/// Returns whether a text is a name, which is part of a path.
fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME_MAX).contains(&text.len()) && text.bytes().all(allowed)
}

fn wrong_name(text: &str) -> String {
    format!("`{text}` is not a name of 1 to {NAME_MAX} lower-case letters, digits and dashes")
}

#[cfg(test)]
mod tests {
    use super::agents;
    use std::path::PathBuf;

    #[test]
    fn agents_are_read() {
        let text = "\
otlp: http://127.0.0.1:4318
agents:
  accountant:
    lock: a/agents.lock
    index: mcp.index.json
    observe: true
    budget: 4000
    expansion: list
    timezone: Europe/Berlin
    tokens: { editor: editor.token }
  writer: {}
  watcher: { observe: true, server: [files, 'remote=https://acme.example/mcp'], approvals: retry }
";
        let read = agents(text.to_owned()).unwrap();
        let accountant = &read.agents["accountant"];
        assert_eq!(accountant.lock, Some(PathBuf::from("a/agents.lock")));
        assert!(accountant.observe && !accountant.audit_arguments);
        assert_eq!(accountant.budget, Some(4000));
        assert_eq!(accountant.tokens["editor"], PathBuf::from("editor.token"));
        assert_eq!(read.agents["writer"], crate::ServedAgent::default());
        let watcher = &read.agents["watcher"];
        assert_eq!(watcher.server, ["files", "remote=https://acme.example/mcp"]);
        assert_eq!(watcher.approvals.as_deref(), Some("retry"));
        assert_eq!(read.otlp.as_deref(), Some("http://127.0.0.1:4318"));
        let json = r#"{"agents":{"a":{"observe":true,"budget":1}}}"#;
        assert!(agents(json.to_owned()).unwrap().agents["a"].observe);
    }

    #[test]
    fn every_problem_has_its_place() {
        let text = "\
agents:
  ../x: { lok: a, observe: yes, budget: 4k, expansion: all, approvals: me }
  b: { tokens: { B: [x] }, lock: 7 }
  c: { server: [x], lock: y }
agent: {}
";
        let found = agents(text.to_owned()).unwrap_err();
        let places: Vec<_> = found
            .iter()
            .map(|it| it.split(": ").next().unwrap())
            .collect();
        assert_eq!(
            places,
            [
                "2:3", "2:11", "2:28", "2:41", "2:56", "2:72", "3:18", "3:21", "4:6", "4:6", "5:1"
            ],
            "{found:#?}"
        );
        assert!(
            found[1].contains("`lok` is unknown; the keys are"),
            "{}",
            found[1]
        );
        assert!(agents(String::new()).is_err());
    }
}
