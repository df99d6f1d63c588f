//! Texts that are no index, and can be imported into one.
//!
//! The page recognises them before it keeps a text and before the importer is loaded, so this module reads keys
//! alone. An unknown document stays in the editor of the index, where the engine refuses it.

/// The keys of clients, at any depth.
const CLIENTS: [&str; 6] = [
    "mcpServers",
    "mcp_servers",
    "context_servers",
    "mcp.servers",
    "amp.mcpServers",
    "modelContextProtocolServers",
];

/// Keys at the root of other documents, and the first character of the value of each.
const ROOTS: [(&str, u8); 8] = [
    ("server", b'{'),
    ("serverInfo", b'{'),
    ("initialize", b'{'),
    ("tools/list", b'{'),
    ("packages", b'['),
    ("remotes", b'['),
    ("manifest_version", b'"'),
    ("dxt_version", b'"'),
];

/// The keys of what starts or reaches a server.
const STARTS: [&str; 6] = ["command", "cmd", "url", "serverUrl", "httpUrl", "uri"];

/// The keys at the root above servers, where the keys of clients have other uses too.
const SERVERS: [&str; 3] = ["servers", "mcp", "extensions"];

/// The keys at the root above tools; a list alone has none.
const TOOLS: [&str; 4] = ["", "tools", "tools/list", "result"];

/// Beginnings of a stream of events, as `curl` prints it.
const STREAMS: [&str; 3] = ["event:", "data:", "HTTP/"];

/// A key of a JSON text.
struct Key<'t> {
    /// The number of brackets around it.
    depth: usize,
    name: &'t str,
    /// The first character of its value.
    value: u8,
}

/// The keys of a JSON text, which may have comments, errors or no end.
struct Keys<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Keys<'t> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes white space and comments.
    fn skip(&mut self) {
        while let Some(byte) = self.byte() {
            let rest = &self.text.as_bytes()[self.at..];
            let end: &[u8] = match rest {
                [b'/', b'/', ..] => b"\n",
                [b'/', b'*', ..] => b"*/",
                _ if byte.is_ascii_whitespace() => &rest[..1],
                _ => return,
            };
            let found = rest.windows(end.len()).position(|it| it == end);
            self.at = found.map_or(self.text.len(), |it| self.at + it + end.len());
        }
    }

    /// Passes a string, and returns what is between its quotes.
    fn string(&mut self) -> &'t str {
        let start = self.at + 1;
        self.at = start;
        while let Some(byte) = self.byte().filter(|it| *it != b'"') {
            self.at += 1 + usize::from(byte == b'\\');
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        text
    }
}

impl<'t> Iterator for Keys<'t> {
    type Item = Key<'t>;

    fn next(&mut self) -> Option<Key<'t>> {
        loop {
            self.skip();
            match self.byte()? {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'"' => {
                    let name = self.string();
                    self.skip();
                    if self.byte() != Some(b':') {
                        continue;
                    }
                    self.at += 1;
                    self.skip();
                    let (depth, value) = (self.depth, self.byte()?);
                    return Some(Key { depth, name, value });
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// Returns whether the beginning of a text is that of a document to import, and of no index; `None` if more
/// of it has to be read.
pub(crate) fn can_be_imported(text: &str) -> Option<bool> {
    let is_blank = |c: char| c == '\u{feff}' || c.is_ascii_whitespace();
    let text = text.trim_start_matches(is_blank);
    if STREAMS.iter().any(|it| text.starts_with(it)) || text.lines().any(is_of_client) {
        return Some(true);
    }
    text.starts_with(['{', '[', '/', '"'])
        .then(|| is_json_to_import(text))?
}

/// Returns whether the beginning of a text is that of a document to import, and of no manifest: prose may name the keys
/// of clients too. `None` if more of it has to be read.
pub(crate) fn is_configuration(text: &str) -> Option<bool> {
    match text.trim_start().starts_with(['{', '[']) {
        true => can_be_imported(text),
        false => Some(false),
    }
}

/// Returns whether a line of YAML or TOML is the beginning of a client's servers.
fn is_of_client(line: &str) -> bool {
    let name = line.trim_start_matches(['[', '"', '\'']);
    let is_named = |it: &&str| {
        let rest = name.strip_prefix(*it);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    line.starts_with("extensions:") || CLIENTS.iter().any(is_named)
}

fn is_json_to_import(text: &str) -> Option<bool> {
    let mut root = "";
    // Whether an item of a list of servers has no key of an index so far.
    let mut is_doubtful = false;
    let keys = Keys {
        text,
        at: 0,
        depth: 0,
    };
    for Key { depth, name, value } in keys {
        if depth == 1 {
            root = name;
        }
        if root == "servers" && depth == 3 {
            if name == "id" {
                return Some(false);
            }
            is_doubtful |= name == "server" || name == "name";
        }
        let found = CLIENTS.contains(&name)
            || depth == 1 && ROOTS.contains(&(name, value))
            || depth <= 4 && name == "inputSchema" && TOOLS.contains(&root)
            || depth <= 2 + 2 * usize::from(SERVERS.contains(&root)) && STARTS.contains(&name);
        if found {
            return Some(true);
        }
    }
    is_doubtful.then_some(true)
}

#[cfg(test)]
mod tests {
    use super::can_be_imported;

    #[test]
    fn documents_to_import_are_recognised_by_their_keys() {
        for text in [
            r#"{"mcpServers": {}}"#,
            "\u{feff}\n{ // of VS Code\n\"servers\": { /* one */ \"a\": {\"type\": \"stdio\", \"command\": \"npx\"}, } }",
            r#"{"servers": {"a": {"url": "https://a.example"}}}"#,
            r#"{"editor.fontSize": 1, "mcp": {"servers": {"a": {"command": "npx"}}}}"#,
            r#"{"mcp": {"a": {"type": "local", "command": ["npx"]}}}"#,
            r#"{"theme": "x", "context_servers": {"a": {}}}"#,
            r#"{"projects": {"/home": {"mcpServers": {}}}}"#,
            r#"{"github": {"command": "npx", "env": {"TOKEN": "x"}}}"#,
            r#"{"command": "npx"}"#,
            r#""a": 1, "mcpServers": {"#,
            "model = \"x\"\n\n[mcp_servers.github]\n",
            "mcp_servers.github.command = \"npx\"",
            "name: x\nmcpServers:\n  - name: a\n",
            "GOOSE_MODE: auto\nextensions:\n  a:\n    cmd: npx\n",
            "event: message\ndata: {\"result\": {\"tools\": []}}\n",
            r#"{"name": "a.b/c", "packages": []}"#,
            r#"{"name": "a.b/c", "version": "1", "remotes": [{"type": "sse"}]}"#,
            r#"{"server": {"name": "a.b/c"}, "_meta": {}}"#,
            r#"{"servers": [{"server": {"name": "a.b/c"}}], "metadata": {}}"#,
            r#"{"servers": [{"name": "a", "version": "1"}]}"#,
            r#"{"tools": [{"name": "read", "inputSchema": {}}]}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "inputSchema": {}}]}}"#,
            r#"[{"name": "read", "inputSchema": {}}]"#,
            r#"{"manifest_version": "0.3", "name": "a"}"#,
            r#"{"$schema": "x", "serverInfo": {"name": "a"}}"#,
        ] {
            assert_eq!(can_be_imported(text), Some(true), "{text}");
        }
    }

    #[test]
    fn neither_an_index_nor_another_document_is_taken_for_one() {
        let hello = include_str!("../../examples/hello-agent/mcp.index.json");
        let index = r#"{"servers": [{"endpoint": "https://a.example", "id": "a", "name": "b"}]}"#;
        for text in [hello, &hello[..400], index] {
            assert_eq!(can_be_imported(text), Some(false), "{text}");
        }
        for text in [
            "",
            "{",
            "{}",
            "[]",
            "a sentence",
            r#"{"servers": []}"#,
            r#"{"servers": {}}"#,
            r#"{"servers": [{"end"#,
            // An index while its bracket is missing.
            r#"{"servers": {"id": "a", "endpoint": "https://a.example", "tools": [{"name": "b"}]}"#,
            r#"{"servers": [{"endpoint": "a", "tools": [{"name": "b", "inputSchema": {"#,
            r#"{"plan": {"steps": [{"input": {"url": "https://a.example"}}]}}"#,
            r#"{"a": {"tools": [{"name": "b", "inputSchema": {}}]}}"#,
            "\"\\",
            "{\"a\\",
            "{/*",
            "---\nname: a\nrequires:\n  mcp: []\n---\n",
            "tenants:\n  - id: a\n",
            "mcpServersX: 1",
        ] {
            assert_eq!(can_be_imported(text), None, "{text}");
        }
        let lock = include_str!("../../tests/corpus/views/hello-agent/agents.lock");
        assert_eq!(can_be_imported(lock), None);
    }
}
