//! Writing entries into the file, whose other lines stay.

use super::{Network, Operator, Part, SecretSource, Server, Value, read};
use agent_diagnostic::Problems;
use agent_syntax::members::{entries, entry};
use agent_syntax::{Value as Yaml, json_string, yaml};
use agent_text::{DocumentKind, Span, Text};
use std::path::Path;

/// What is added to the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Servers, by id.
    pub servers: Vec<(String, Server)>,
    /// Secrets, by name.
    pub secrets: Vec<(String, SecretSource)>,
}

/// A file with additions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The whole text.
    pub text: String,
    /// The added lines, block by block.
    pub lines: Vec<String>,
}

impl Operator {
    /// Reads the content of a file.
    ///
    /// # Errors
    ///
    /// Every problem, as `line:column: message`.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        read::operator(text.to_owned())
    }
}

impl Additions {
    /// Adds these entries to the text of a file, which may be empty. Every other byte stays.
    ///
    /// # Errors
    ///
    /// The file can't be read, or its `servers` or `secrets` are not written in lines.
    pub fn add_to(&self, text: &str) -> Result<Added, String> {
        let problems = |found: Vec<String>| found.join("\n");
        let mut expected = Operator::parse(text).map_err(problems)?;
        expected.servers.extend(self.servers.iter().cloned());
        expected.secrets.extend(self.secrets.iter().cloned());
        let mut added = Added {
            text: text.to_owned(),
            lines: Vec::new(),
        };
        let servers = self.servers.iter().map(|(id, server)| lines(id, server));
        let secrets = self.secrets.iter().map(|(name, source)| {
            let source = source_text(source);
            vec![format!("{}: {source}", json_string(name))]
        });
        added.insert("servers", servers.collect())?;
        added.insert("secrets", secrets.collect())?;
        match Operator::parse(&added.text) {
            Ok(read) if read == expected => Ok(added),
            _ => Err("the new entries can't be added to it".to_owned()),
        }
    }
}

impl Added {
    /// Inserts blocks of lines at the end of a key's members.
    fn insert(&mut self, key: &str, blocks: Vec<Vec<String>>) -> Result<(), String> {
        if blocks.is_empty() {
            return Ok(());
        }
        let (at, indentation, before) = self.place(key)?;
        let block = |lines: Vec<String>| {
            let lines = lines.iter().map(|line| format!("{indentation}{line}\n"));
            lines.collect::<String>()
        };
        let blocks: Vec<_> = blocks.into_iter().map(block).collect();
        let new = format!("{before}{}", blocks.concat());
        self.text.insert_str(at, &new);
        self.lines.extend(blocks);
        Ok(())
    }

    /// Returns where a member is inserted, its indentation, and what comes before it.
    fn place(&self, key: &str) -> Result<(usize, String, String), String> {
        let text = &*self.text;
        let end = text.len();
        let source = Text::new(DocumentKind::Document, text.to_owned());
        let root = yaml::parse(Span::new(0, end), &mut Problems::new(&source));
        let root = root.ok_or("it is not YAML")?;
        let line_end = |at: usize| text[at..].find('\n').map_or(end, |found| at + found + 1);
        let break_before = |at: usize| match text[..at].ends_with('\n') || at == 0 {
            true => String::new(),
            false => "\n".to_owned(),
        };
        let flow =
            || format!("its `{key}` stand between brackets: write each on a line of its own");
        let Some(found) = entry(&root, key) else {
            let is_flow = text.trim_start().starts_with('{');
            return match is_flow {
                true => Err(flow()),
                false => Ok((
                    end,
                    "  ".to_owned(),
                    format!("{}{key}:\n", break_before(end)),
                )),
            };
        };
        let span = found.value.span;
        let Some(last) = entries(&found.value).last() else {
            let at = line_end(found.key_span.end as usize);
            return match found.value.value {
                Yaml::Null => Ok((at, "  ".to_owned(), break_before(at))),
                _ => Err(flow()),
            };
        };
        if text[span.start as usize..].starts_with('{') {
            return Err(flow());
        }
        let start = last.key_span.start as usize;
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let value = &text[start..last.value.span.end as usize];
        let at = line_end(start + value.trim_end().len());
        Ok((at, text[line..start].to_owned(), break_before(at)))
    }
}

/// Returns the lines of a server's entry, of what adoptions and captures set.
#[must_use]
pub fn lines(id: &str, server: &Server) -> Vec<String> {
    let mut lines = vec![format!("{}:", json_string(id))];
    let mut line = |key: &str, value: String| lines.push(format!("  {key}: {value}"));
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let values = |values: &[Value]| list(values.iter().map(value_text).collect());
    let paths = |paths: &[std::path::PathBuf]| list(paths.iter().map(|it| path_text(it)).collect());
    if !server.command.is_empty() {
        line("command", values(&server.command));
    }
    if !server.arguments.is_empty() {
        line("arguments", values(&server.arguments));
    }
    if let Some(origin) = &server.origin {
        line("origin", json_string(origin));
    }
    for (key, named) in [
        ("env", &server.env),
        ("headers", &server.headers),
        ("query", &server.query),
    ] {
        if !named.is_empty() {
            let named = named.iter();
            let named =
                named.map(|(name, it)| format!("{}: {}", json_string(name), value_text(it)));
            let named: Vec<_> = named.collect();
            line(key, format!("{{ {} }}", named.join(", ")));
        }
    }
    if let Some(folder) = &server.workdir {
        line("workdir", path_text(folder));
    }
    if !server.read.is_empty() {
        line("read", paths(&server.read));
    }
    if !server.write.is_empty() {
        line("write", paths(&server.write));
    }
    match &server.network {
        Network::None => {}
        Network::Host => line("network", "host".to_owned()),
        Network::Hosts(hosts) => {
            let hosts = hosts.iter();
            let hosts = hosts.map(|(host, port)| json_string(&format!("{host}:{port}")));
            line("network", list(hosts.collect()));
        }
    }
    if lines.len() == 1 {
        lines[0].push_str(" {}");
    }
    lines
}

/// Returns a value as the file has it.
#[must_use]
pub fn value_text(value: &Value) -> String {
    let parts = value.0.iter().map(|part| match part {
        Part::Literal(text) => json_string(text),
        Part::Secret(name) => format!("{{ secret: {} }}", json_string(name)),
    });
    let parts: Vec<_> = parts.collect();
    match &parts[..] {
        [only] => only.clone(),
        _ => format!("[{}]", parts.join(", ")),
    }
}

fn source_text(source: &SecretSource) -> String {
    match source {
        SecretSource::Env(name) => format!("{{ env: {} }}", json_string(name)),
        SecretSource::File(path) => format!("{{ file: {} }}", path_text(path)),
        SecretSource::Keyring(item) => format!("{{ keyring: {} }}", json_string(item)),
        SecretSource::Command(argv) => {
            let words: Vec<_> = argv.iter().map(|it| json_string(it)).collect();
            format!("{{ command: [{}] }}", words.join(", "))
        }
    }
}

fn path_text(path: &Path) -> String {
    json_string(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::Additions;
    use crate::{Network, Operator, SecretSource, Server, Value};

    fn additions() -> Additions {
        let server = Server {
            arguments: vec![Value::literal("/srv: x\n"), Value::secret("b.TOKEN")],
            env: [("TOKEN".to_owned(), Value::secret("b.TOKEN"))].into(),
            origin: Some("pkg:npm/b".to_owned()),
            workdir: Some("/srv".into()),
            read: vec!["/srv/a".into()],
            write: vec!["/srv/b".into()],
            network: Network::Hosts(vec![("b.example".to_owned(), 443)]),
            ..Server::default()
        };
        Additions {
            servers: vec![
                ("b".to_owned(), server),
                ("c".to_owned(), Server::default()),
            ],
            secrets: vec![(
                "b.TOKEN".to_owned(),
                SecretSource::Keyring("b.TOKEN".to_owned()),
            )],
        }
    }

    #[test]
    fn entries_are_added_behind_others_whose_lines_stay() {
        let additions = additions();
        for before in [
            "",
            "servers:\n",
            "# mine\nservers:\n    # of a\n    a:\n        command: [x] # why\n\nsecrets:\n  OLD: { env: OLD }\nhandlers: []\n",
            "servers:\n  a: {}",
            "secrets:\n  OLD:\n    env: OLD\n# end",
        ] {
            let added = additions
                .add_to(before)
                .unwrap_or_else(|why| panic!("{before}: {why}"));
            let read = Operator::parse(&added.text).unwrap();
            for (id, server) in &additions.servers {
                assert_eq!(&read.servers[id], server);
            }
            // Without the new lines, every line is there again.
            let mut without = added.text.clone();
            for lines in &added.lines {
                assert_eq!(without.matches(lines).count(), 1, "{without}");
                without = without.replace(lines, "");
            }
            for line in before.lines() {
                assert!(without.lines().any(|it| it == line), "{line}: {without}");
            }
        }
    }

    #[test]
    fn a_file_that_is_not_in_lines_is_refused() {
        let additions = additions();
        for before in ["{ servers: {} }", "servers: {}", "servers: { a: {} }\n"] {
            let refused = additions.add_to(before).unwrap_err();
            assert!(refused.contains("between brackets"), "{before}: {refused}");
        }
        let refused = additions.add_to("server: x").unwrap_err();
        assert!(refused.starts_with("1:1: "), "{refused}");
    }
}
