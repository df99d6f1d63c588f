//! `mcp.index.json` \[0, 1.2\].
//!
//! The index is read in one pass and without a tree, because reading it dominates the cost of a
//! resolution. The loader reports a problem at its place and continues behind it.

use super::fields::{bad_choice, bad_endpoint, bad_name, is_synonym, wrong_type};
use super::format::{self, Fields};
use super::lookalike::warn_of_lookalikes;
use super::read::{Checked, INDEX_LIMIT, Lowered, decode};
use super::recovery;
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_model::{
    Category, Class, ConstraintKey, Endpoint, EndpointError, Index, IndexBuilder, Keyword, Name,
    NameRule, NewServer, NewTool, Patterns, Publisher, Residency, ResidencySet, Resource, Scope,
    Sensitivity, ServerId, ServerVersion, Slice, Tag, ToolName, check_endpoint,
};
use agent_syntax::json::{self, Kind, Reader, SyntaxError, Token};
use agent_syntax::{Entry, Value, json_string};
use agent_text::{DocumentKind, Span, Text, is_part, misspelt};
use std::borrow::Cow;

/// Reads an index. Refuses the whole index if any entry is invalid.
///
/// # Errors
/// Every problem of the text, ordered by place, up to [`Problems::LIMIT`].
pub fn index(bytes: Vec<u8>) -> Lowered<Index> {
    let text = decode(DocumentKind::Index, bytes, INDEX_LIMIT)?;
    let (builder, found) = load(&text);
    let Some((builder, order)) = builder else {
        return Err(recovery::explain(&text, found, &mut |it| load(it).1));
    };
    // Only lookalikes cause warnings, and finding them requires the whole index.
    let index = builder.finish(text, &order);
    let mut problems = Problems::new(index.text());
    warn_of_lookalikes(&index, &mut problems);
    let warnings = problems.finish();
    Ok(Checked {
        value: index,
        warnings,
    })
}

/// Reads the entries of an index. Returns them in order if there are no errors, or the problems.
fn load(text: &Text) -> (Option<(IndexBuilder, Vec<u32>)>, Vec<Diagnostic>) {
    let mut problems = Problems::new(text);
    let mut loader = Loader {
        reader: Reader::new(text.as_str()),
        builder: IndexBuilder::new(text),
        problems: &mut problems,
    };
    let read = loader.document();
    let Loader {
        reader, builder, ..
    } = loader;
    reader.finish(read, &mut problems);
    let order = builder.order(text);
    for pair in order.duplicates() {
        let message = "two entries have the same id and version";
        problems
            .report(Code::DuplicateServer, pair.again, "repeated here", message)
            .also(pair.first, "first here")
            .help("remove one of the two, or change its version");
    }
    if problems.has_errors() {
        return (None, problems.finish());
    }
    let order = order.into_order();
    (Some((builder, order)), Vec::new())
}

type Read<T> = Result<T, Box<SyntaxError>>;

/// Returns the place of the key in an object that is spelled almost like a field.
fn misspelt_key(object: &str, field: &str) -> Option<Span> {
    let node = json::parse_value(&mut Reader::new(object)).ok()?;
    let Value::Mapping(entries) = node.value else {
        return None;
    };
    let near = |entry: &&Entry<'_>| misspelt(&entry.key, &[field]).is_some();
    let part = |entry: &&Entry<'_>| is_part(&entry.key, field);
    let found = entries.iter().find(near);
    let found = found.or_else(|| entries.iter().find(part));
    let other = |entry: &&Entry<'_>| is_synonym(&entry.key, field);
    let found = found.or_else(|| entries.iter().find(other));
    found.map(|entry| entry.key_span)
}

struct Loader<'t, 'p> {
    reader: Reader<'t>,
    builder: IndexBuilder,
    problems: &'p mut Problems<'t>,
}

impl<'t> Loader<'t, '_> {
    /// Reads an array of servers, or an object with `servers`.
    fn document(&mut self) -> Read<()> {
        let start = self.start()?;
        match self.reader.kind()? {
            Kind::Array => self.servers(),
            Kind::Object => {
                let open = Span::new(start, start + 1);
                let mut seen = [None; 1];
                self.object(&format::INDEX.names, &mut seen, &mut |loader, _| {
                    if loader.expect(Kind::Array, "servers", "a list")? {
                        loader.servers()?;
                    }
                    Ok(())
                })?;
                if seen[0].is_none() {
                    let text = self.problems.text().as_str();
                    let message = "the index has no field `servers`";
                    let code = Code::MissingField;
                    if let Some(key) = misspelt_key(&text[start..], "servers") {
                        let key = Span::new(start + key.start as usize, start + key.end as usize);
                        self.problems
                            .report(code, key, "did you mean `servers`?", message)
                            .replace("write `servers`".to_owned(), key, json_string("servers"));
                    } else {
                        self.problems
                            .report(code, open, "`servers` is missing here", message)
                            .help("write a list of servers, alone or as `servers` of the object");
                    }
                }
                Ok(())
            }
            _ => self
                .expect(
                    Kind::Array,
                    "the index",
                    "a list, or an object with `servers`",
                )
                .map(drop),
        }
    }

    /// Returns the offset at which the next value starts.
    fn start(&mut self) -> Read<usize> {
        self.reader.kind()?;
        Ok(self.reader.offset())
    }

    /// Returns whether the next value has this kind. Reports and skips any other value.
    #[inline]
    fn expect(&mut self, kind: Kind, path: &str, expected: &str) -> Read<bool> {
        let found = self.reader.kind()?;
        if found == kind {
            return Ok(true);
        }
        self.refuse(found, path, expected).map(|()| false)
    }

    /// Reports and skips a value of an unexpected kind.
    #[cold]
    fn refuse(&mut self, found: Kind, path: &str, expected: &str) -> Read<()> {
        let start = self.reader.offset();
        self.reader.skip()?;
        let span = Span::new(start, self.reader.offset());
        let found = match found {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "a list",
            Kind::Object => "an object",
        };
        wrong_type(self.problems, span, path, expected, found);
        Ok(())
    }

    /// Reads an object. Calls `field` with the number of each known key, at its value, and skips
    /// the others. Records the places of known keys in `seen`, and notes duplicate keys.
    fn object(
        &mut self,
        known: &[&str],
        seen: &mut [Option<Span>],
        field: &mut dyn FnMut(&mut Self, usize) -> Read<()>,
    ) -> Read<()> {
        self.reader.enter_object()?;
        let unknown = self.reader.begin_keys();
        let mut first = true;
        // Most objects have their keys in the usual order, so the next known key usually matches
        // at once.
        let mut next = 0;
        while let Some(key) = self.reader.key(&mut first)? {
            let number = (next..known.len())
                .chain(0..next)
                .find(|number| known[*number] == key.value);
            next = number.map_or(next, |number| number + 1);
            match number {
                None => {
                    self.reader.note_key(&key);
                    self.reader.skip()?;
                }
                Some(number) => match seen[number] {
                    None => {
                        seen[number] = Some(key.span);
                        field(self, number)?;
                    }
                    Some(before) => {
                        self.reader.duplicate_key(before, key.span);
                        self.reader.skip()?;
                    }
                },
            }
        }
        self.reader.end_keys(unknown);
        Ok(())
    }

    /// Reads an object as [`Self::object`] does, and reports its absent required fields. Returns its place, or `None` for a value of another kind, which it reports.
    #[inline]
    fn record<const N: usize>(
        &mut self,
        path: &str,
        known: &Fields<N>,
        field: &mut dyn FnMut(&mut Self, usize) -> Read<()>,
    ) -> Read<Option<Span>> {
        if !self.expect(Kind::Object, path, "an object")? {
            return Ok(None);
        }
        let start = self.reader.offset();
        let mut seen = [None; N];
        let Fields { names, required } = known;
        self.object(names, &mut seen, field)?;
        if seen[..*required].iter().any(Option::is_none) {
            let absent = names[..*required].iter().zip(seen);
            for (field, _) in absent.filter(|(_, seen)| seen.is_none()) {
                self.missing(path, field, start);
            }
        }
        Ok(Some(Span::new(start, self.reader.offset())))
    }

    /// Reads a list. Calls `item` at each element.
    #[inline]
    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.reader.enter_array()?;
        let mut first = true;
        while self.reader.element(&mut first)? {
            item(self)?;
        }
        Ok(())
    }

    fn servers(&mut self) -> Read<()> {
        self.list(Self::server)
    }

    fn server(&mut self) -> Read<()> {
        let (mut id, mut version, mut endpoint, mut class) = (None, None, None, None);
        let mut data = (None, None);
        let mut trust = (None, None);
        let entry = self.record("the entry", &format::SERVER, &mut |loader, field| {
            match field {
                0 => id = loader.key("id", ServerId::RULE)?,
                1 => version = loader.key("version", ServerVersion::RULE)?,
                2 => endpoint = loader.endpoint()?,
                3 => loader.members("categories", IndexBuilder::category, Category::RULE)?,
                4 => loader.members("scopes", IndexBuilder::scope, Scope::RULE)?,
                5 => data = loader.data()?,
                6 => trust = loader.trust()?,
                7 => loader.policy()?,
                8 => class = loader.name("class", Class::RULE)?,
                _ => loader.capabilities()?,
            }
            Ok(())
        })?;
        let Some(entry) = entry else {
            return Ok(());
        };
        let server = (|| {
            let (id, id_span) = id?;
            Some(NewServer {
                id,
                id_span,
                version: version?.0,
                endpoint: endpoint?,
                publisher: trust.1?,
                class,
                entry,
                constraint_key: ConstraintKey::new(data.0?, data.1?, trust.0?),
            })
        })();
        self.builder.end_server(server);
        Ok(())
    }

    /// Reports an absent field of the object that starts at `start` and ends here: at a key that is
    /// spelled almost like it, or else behind the last member.
    #[cold]
    fn missing(&mut self, path: &str, field: &str, start: usize) {
        let read = &self.problems.text().as_str()[..self.reader.offset()];
        let members = read.strip_suffix('}').unwrap_or(read).trim_end();
        let place = Span::new(members.len(), members.len());
        let (owner, full) = match path {
            "the capability" => ("a capability", field.to_owned()),
            "the entry" => ("a server", field.to_owned()),
            _ => ("a server", format!("{path}.{field}")),
        };
        let message = format!("{owner} has no field `{full}`");
        let object = &self.problems.text().as_str()[start..self.reader.offset()];
        if let Some(key) = misspelt_key(object, field) {
            let at = |end: u32| start + end as usize;
            let key = Span::new(at(key.start), at(key.end));
            self.problems
                .report(
                    Code::MissingField,
                    key,
                    format!("did you mean `{field}`?"),
                    message,
                )
                .replace(format!("write `{field}`"), key, json_string(field));
            return;
        }
        let example = match field {
            "id" => "\"id\": \"<server id>\"",
            "version" => "\"version\": \"<version>\"",
            "endpoint" => "\"endpoint\": \"<endpoint>\"",
            "categories" => "\"categories\": [\"<category>\"]",
            "scopes" => "\"scopes\": [\"<scope>\"]",
            "data" => {
                "\"data\": { \"residency\": \"<residency>\", \"maxSensitivity\": \"<level>\" }"
            }
            "trust" => {
                "\"trust\": { \"signed\": \"<true or false>\", \"publisher\": \"<publisher>\" }"
            }
            "residency" => "\"residency\": \"<residency>\"",
            "maxSensitivity" => "\"maxSensitivity\": \"<level>\"",
            "signed" => "\"signed\": \"<true or false>\"",
            "verb" => "\"verb\": \"<verb>\"",
            "resource" => "\"resource\": \"<resource>\"",
            _ => "\"publisher\": \"<publisher>\"",
        };
        self.problems
            .report(
                Code::MissingField,
                place,
                format!("`{full}` is missing here"),
                message,
            )
            .help(format!("add:\n{example}"));
    }

    fn string(&mut self, path: &str) -> Read<Option<Token<'t>>> {
        if !self.expect(Kind::String, path, "a string")? {
            return Ok(None);
        }
        self.reader.string().map(Some)
    }

    fn name(&mut self, path: &str, rule: NameRule) -> Read<Option<Slice>> {
        let Some(token) = self.string(path)? else {
            return Ok(None);
        };
        self.check(&token, rule);
        Ok(Some(self.slice(&token)))
    }

    fn endpoint(&mut self) -> Read<Option<Slice>> {
        let Some(token) = self.string("endpoint")? else {
            return Ok(None);
        };
        let (rule, text) = (Endpoint::RULE, &*token.value);
        match (check_endpoint(text), rule.check(text)) {
            // The message about a name would repeat the secret.
            (Err(error @ EndpointError::UserInfo), _) | (Err(error), Ok(())) => {
                bad_endpoint(self.problems, token.span, error);
            }
            (_, Err(error)) => bad_name(self.problems, token.span, rule, text, error),
            (Ok(()), Ok(())) => {}
        }
        Ok(Some(self.slice(&token)))
    }

    /// Reads a name that orders servers.
    fn key(&mut self, path: &str, rule: NameRule) -> Read<Option<(Slice, Span)>> {
        let Some(token) = self.string(path)? else {
            return Ok(None);
        };
        self.check(&token, rule);
        Ok(Some((self.builder.kept(&token.value), token.span)))
    }

    #[inline]
    fn check(&mut self, token: &Token<'_>, rule: NameRule) {
        if let Err(error) = rule.check(&token.value) {
            bad_name(self.problems, token.span, rule, &token.value, error);
        }
    }

    /// Reads a list of names that servers share.
    fn members(
        &mut self,
        path: &str,
        add: fn(&mut IndexBuilder, &str) -> bool,
        rule: NameRule,
    ) -> Read<()> {
        if !self.expect(Kind::Array, path, "a list of strings")? {
            return Ok(());
        }
        self.list(|loader| {
            if let Some(token) = loader.string(path)?
                && (add(&mut loader.builder, &token.value) || loader.problems.has_errors())
            {
                // A new name is checked once; in a refused index it is checked at each place.
                loader.check(&token, rule);
            }
            Ok(())
        })
    }

    fn data(&mut self) -> Read<(Option<ResidencySet>, Option<Sensitivity>)> {
        let mut data = (None, None);
        self.record("data", &format::SERVER_DATA, &mut |loader, field| {
            match field {
                0 => data.0 = loader.residency()?,
                _ => data.1 = loader.keyword("data.maxSensitivity")?,
            }
            Ok(())
        })?;
        Ok(data)
    }

    /// Reads one residency, or a list of them; an empty one promises nothing.
    fn residency(&mut self) -> Read<Option<ResidencySet>> {
        const PATH: &str = "data.residency";
        let mut values = Vec::new();
        match self.reader.kind()? {
            Kind::String => values.extend(self.keyword::<Residency>(PATH)?),
            Kind::Array => self.list(|loader| {
                values.extend(loader.keyword::<Residency>(PATH)?);
                Ok(())
            })?,
            _ => {
                self.expect(Kind::String, PATH, "a string or a list of strings")?;
                return Ok(None);
            }
        }
        Ok(Some(ResidencySet::new(values)))
    }

    fn keyword<T: Keyword>(&mut self, path: &str) -> Read<Option<T>> {
        let Some(token) = self.string(path)? else {
            return Ok(None);
        };
        let value = T::parse(&token.value);
        if value.is_none() {
            let allowed: Vec<_> = T::names().collect();
            bad_choice(self.problems, token.span, path, &token.value, &allowed);
        }
        Ok(value)
    }

    fn trust(&mut self) -> Read<(Option<bool>, Option<Slice>)> {
        let mut trust = (None, None);
        self.record("trust", &format::SERVER_TRUST, &mut |loader, field| {
            match field {
                0 => {
                    if loader.expect(Kind::Bool, "trust.signed", "a boolean")? {
                        trust.0 = Some(loader.reader.bool()?);
                    }
                }
                _ => trust.1 = loader.name("trust.publisher", Publisher::RULE)?,
            }
            Ok(())
        })?;
        Ok(trust)
    }

    /// Reads `capabilities`, which contains MCP's own handshake and the tools.
    fn capabilities(&mut self) -> Read<()> {
        let tools = &mut |loader: &mut Self, _| loader.tools();
        self.record("capabilities", &format::SERVER_CAPABILITIES, tools)
            .map(drop)
    }

    /// Reads a mapping from names to tools.
    fn tools(&mut self) -> Read<()> {
        const PATH: &str = "capabilities.tools";
        const OBJECT: &str = "an object whose keys are the names of the tools";
        if !self.expect(Kind::Object, PATH, OBJECT)? {
            return Ok(());
        }
        self.reader.enter_object()?;
        let keys = self.reader.begin_keys();
        let mut first = true;
        while let Some(key) = self.reader.key(&mut first)? {
            self.reader.note_key(&key);
            let kind = self.reader.kind()?;
            // A flag of MCP's handshake, not a tool.
            if key.value == "listChanged" && kind == Kind::Bool {
                self.reader.skip()?;
            } else {
                self.tool(&key)?;
            }
        }
        self.reader.end_keys(keys);
        Ok(())
    }

    fn tool(&mut self, key: &Token<'_>) -> Read<()> {
        const FIELDS: [&str; 6] = format::TOOL.names;
        let mut description = None;
        let entry = self.record("the tool", &format::TOOL, &mut |loader, field| {
            match field {
                0 => {
                    description = loader
                        .string("description")?
                        .map(|token| loader.slice(&token));
                }
                1..=3 => {
                    if loader.expect(Kind::Object, FIELDS[field], "an object")? {
                        loader.reader.skip()?;
                    }
                }
                4 => {
                    if loader.expect(Kind::Array, FIELDS[field], "a list")? {
                        loader.list(Self::block)?;
                    }
                }
                _ => {
                    loader.keyword::<Patterns>(FIELDS[field])?;
                }
            }
            Ok(())
        })?;
        if let Some(entry) = entry {
            self.check(key, ToolName::RULE);
            let name = self.slice(key);
            self.builder.end_tool(Some(NewTool {
                name,
                description,
                entry,
            }));
        }
        Ok(())
    }

    /// Reads one element of `x-summit-capabilities`.
    fn block(&mut self) -> Read<()> {
        let (mut verb, mut resource) = (None, None);
        let block = self.record(
            "the capability",
            &format::TOOL_CAPABILITY,
            &mut |loader, field| {
                match field {
                    0 => verb = loader.keyword("verb")?,
                    1 => resource = loader.string("resource")?,
                    _ => loader.members("constraints", IndexBuilder::tag, Tag::RULE)?,
                }
                Ok(())
            },
        )?;
        if block.is_none() {
            return Ok(());
        }
        let pair = verb.zip(resource.as_ref().map(|token| &*token.value));
        if (self.builder.end_block(pair) || self.problems.has_errors())
            && let Some(resource) = &resource
        {
            self.check(resource, Resource::RULE);
        }
        Ok(())
    }

    /// Returns a slice of the text, or a copy of a string with escapes.
    fn slice(&mut self, token: &Token<'_>) -> Slice {
        match &token.value {
            Cow::Borrowed(_) => self.builder.quoted(token.span),
            Cow::Owned(unescaped) => self.builder.kept(unescaped),
        }
    }

    /// Checks `policy`, which influences no decision.
    fn policy(&mut self) -> Read<()> {
        let number = &mut |loader: &mut Self, _| {
            if loader.expect(Kind::Number, "policy.rateLimitPerMin", "a number")? {
                loader.reader.number()?;
            }
            Ok(())
        };
        self.record("policy", &format::SERVER_POLICY, number)
            .map(drop)
    }
}
