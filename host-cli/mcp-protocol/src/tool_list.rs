//! Lists of tools and of others, page by page.

use crate::error::{Error, Excess};
use crate::json::Json;
use crate::limits::{CURSOR_BYTES, Limits};
use crate::parameter_headers::{ParameterHeader, parameter_headers};
use agent_syntax::json::Kind;
use agent_way_out::quote;
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum number of characters of a tool's name in [`ExcludedTool`].
const NAME_CHARS: usize = 200;

/// All tools of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolList {
    /// `{"tools":[...]}`, each tool in the bytes that were received, in their order.
    pub json: Json,
    /// The number of tools.
    pub tools: usize,
    /// The number of pages.
    pub pages: usize,
    /// The tools that a client must omit.
    pub excluded: Vec<ExcludedTool>,
    /// How long the list is fresh: the shortest `ttlMs` of all pages, if each has one.
    pub fresh_for: Option<Duration>,
}

/// An omitted tool with an invalid `x-mcp-header`. Since 2026-07-28, clients over HTTP must omit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedTool {
    /// The tool's name, bounded and printable.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// The headers that tools require, by name. The first of two tools with one name counts.
pub(crate) type ToolHeaders = BTreeMap<String, Vec<ParameterHeader>>;

/// The pages received so far.
#[derive(Debug)]
pub(crate) struct Pages {
    /// The member of a page with the list.
    member: &'static str,
    merged: String,
    tools: usize,
    pages: usize,
    excluded: Vec<ExcludedTool>,
    fresh_for: Option<Duration>,
    pub(crate) headers: ToolHeaders,
}

impl Pages {
    pub(crate) fn new(member: &'static str) -> Self {
        Self {
            member,
            merged: format!(r#"{{"{member}":["#),
            tools: 0,
            pages: 0,
            excluded: Vec::new(),
            fresh_for: None,
            headers: ToolHeaders::new(),
        }
    }

    /// Adds a page, and returns the cursor of the next one. `with_headers` reads the headers that the
    /// tools require.
    pub(crate) fn add(
        &mut self,
        page: &Json,
        with_headers: bool,
        limits: &Limits,
    ) -> Result<Option<String>, Error> {
        let members = page.pick([self.member, "nextCursor", "ttlMs"]);
        let [tools, cursor, time] = members.unwrap_or([const { None }; 3]);
        let tools = tools.as_ref().and_then(|tools| tools.value.elements());
        let missing = || Error::protocol(format!("the list has no array `{}`", self.member));
        let tools = tools.ok_or_else(missing)?;
        for tool in tools {
            if with_headers {
                let name = || tool.member("name")?.string();
                match parameter_headers(&tool) {
                    Ok(headers) if headers.is_empty() => {}
                    Ok(headers) => {
                        self.headers
                            .entry(name().unwrap_or_default())
                            .or_insert(headers);
                    }
                    Err(why) => {
                        let name = quote(&name().unwrap_or_default(), NAME_CHARS);
                        self.excluded.push(ExcludedTool { name, why });
                        self.count(limits)?;
                        continue;
                    }
                }
            }
            self.count(limits)?;
            if !self.merged.ends_with('[') {
                self.merged.push(',');
            }
            let received = tool.as_str();
            if self.merged.len() + received.len() > limits.list_bytes {
                return Err(Error::TooLarge {
                    what: match self.member {
                        "tools" => "the list of tools",
                        _ => "the list",
                    },
                    limit: limits.list_bytes,
                });
            }
            self.merged.push_str(received);
        }
        self.add_freshness(time.as_ref().map(|time| &time.value));
        self.pages += 1;
        // Some servers write `null` where there is no next page.
        let cursor = cursor.filter(|cursor| cursor.value.kind() != Some(Kind::Null));
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        let cursor = cursor.value.string();
        let cursor = cursor.ok_or_else(|| Error::protocol("`nextCursor` is not a string"))?;
        if cursor.len() > CURSOR_BYTES {
            return Err(Error::TooLarge {
                what: "a cursor",
                limit: CURSOR_BYTES,
            });
        }
        if self.pages >= limits.pages {
            return Err(Error::TooMany {
                what: Excess::Pages,
                limit: limits.pages,
            });
        }
        Ok(Some(cursor))
    }

    fn count(&mut self, limits: &Limits) -> Result<(), Error> {
        self.tools += 1;
        if self.tools > limits.tools {
            return Err(Error::TooMany {
                what: Excess::Tools,
                limit: limits.tools,
            });
        }
        Ok(())
    }

    fn add_freshness(&mut self, time: Option<&Json>) {
        let time = time.and_then(|time| time.as_str().parse().ok());
        let time = time.map(Duration::from_millis);
        self.fresh_for = match self.pages {
            0 => time,
            _ => self.fresh_for.min(time),
        };
    }

    /// Returns the list of all pages.
    pub(crate) fn finish(mut self) -> Result<ToolList, Error> {
        self.merged.push_str("]}");
        // Each tool is strict JSON, and so are the bytes between them.
        let json = Json::new(self.merged).map_err(|e| Error::malformed(e, 0))?;
        Ok(ToolList {
            json,
            tools: self.tools - self.excluded.len(),
            pages: self.pages,
            excluded: self.excluded,
            fresh_for: self.fresh_for,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Pages;
    use crate::{Error, Excess, Json, Limits};
    use std::time::Duration;

    fn page(text: &str) -> Json {
        Json::new(text.to_owned()).unwrap()
    }

    #[test]
    fn tools_of_all_pages_are_in_the_list_as_received() {
        let mut pages = Pages::new("tools");
        let limits = Limits::default();
        let first = page(
            "{\"ttlMs\":5000,\"tools\":[{ \"name\":\"a\", \"x-new\":1.0 },7,null],\"nextCursor\":\"\"}",
        );
        assert_eq!(pages.add(&first, true, &limits), Ok(Some(String::new())));
        let second =
            page("{\"ttlMs\":1000,\"tools\":[{\"name\":\"\\u0061\u{200b}\"}],\"nextCursor\":null}");
        assert_eq!(pages.add(&second, true, &limits), Ok(None));
        let list = pages.finish().unwrap();
        let expected =
            "{\"tools\":[{ \"name\":\"a\", \"x-new\":1.0 },7,null,{\"name\":\"\\u0061\u{200b}\"}]}";
        assert_eq!(list.json.as_str(), expected);
        assert_eq!((list.tools, list.pages), (4, 2));
        assert_eq!(list.fresh_for, Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_tool_with_wrong_headers_is_left_out_and_named() {
        let wrong = r#"{"tools":[{"name":"a","inputSchema":{"x-mcp-header":"A"}},{"name":"b"}]}"#;
        let list = |with_headers| {
            let mut pages = Pages::new("tools");
            pages
                .add(&page(wrong), with_headers, &Limits::default())
                .unwrap();
            pages.finish().unwrap()
        };
        assert_eq!(list(true).json.as_str(), r#"{"tools":[{"name":"b"}]}"#);
        assert_eq!(list(true).excluded[0].name, "a");
        assert_eq!(list(true).fresh_for, None);
        assert_eq!(list(false).json.as_str(), wrong);
    }

    #[test]
    fn lists_have_limits() {
        let two = page(r#"{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"c"}"#);
        let add = |limits: &Limits| Pages::new("tools").add(&two, false, limits);
        let limits = Limits::default();
        assert!(
            add(&Limits {
                tools: 2,
                pages: 2,
                list_bytes: 36,
                ..limits
            })
            .is_ok()
        );
        let too_many = |what, limit| Err(Error::TooMany { what, limit });
        assert_eq!(
            add(&Limits { tools: 1, ..limits }),
            too_many(Excess::Tools, 1)
        );
        assert_eq!(
            add(&Limits { pages: 1, ..limits }),
            too_many(Excess::Pages, 1)
        );
        let too_large = Err(Error::TooLarge {
            what: "the list of tools",
            limit: 34,
        });
        assert_eq!(
            add(&Limits {
                list_bytes: 34,
                ..limits
            }),
            too_large
        );
        for wrong in [r#"{}"#, r#"{"tools":{}}"#, r#"{"tools":[],"nextCursor":1}"#] {
            let error = Pages::new("tools").add(&page(wrong), false, &limits);
            assert!(matches!(error, Err(Error::Protocol(_))), "{wrong}");
        }
    }
}
