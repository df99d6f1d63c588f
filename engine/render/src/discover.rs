//! The servers of an index by category, and its tools by server.

use super::json::{ObjectMembers, write_place};
use super::styled::{Style, Styled, StyledSpan, count};
use agent_model::{Advertised, Index, Residency, ServerView, ToolView};
use agent_syntax::json::Writer;

/// Returns the servers without a category, by id and version.
fn servers_of_none(index: &Index) -> Vec<ServerView<'_>> {
    servers(index)
        .filter(|server| server.category_numbers().is_empty())
        .collect()
}

fn residencies(server: ServerView<'_>) -> String {
    let residency = server.constraint_key().residency();
    let names: Vec<_> = residency.iter().map(Residency::as_str).collect();
    names.join(",")
}

fn signed(server: ServerView<'_>) -> &'static str {
    match server.constraint_key().signed() {
        true => "signed",
        false => "unsigned",
    }
}

/// Returns a table of servers for each category.
pub fn discover(index: &Index) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    out.put(Style::Heading, count(index.len(), "server"))
        .plain(" in ")
        .put(
            Style::Heading,
            match index.category_names().len() {
                1 => "1 category".to_owned(),
                categories => format!("{categories} categories"),
            },
        )
        .end();
    for (number, name) in (0..).zip(index.category_names()) {
        table(&mut out, name, &index.servers_of(number));
    }
    let none = servers_of_none(index);
    if !none.is_empty() {
        table(&mut out, "(without a category)", &none);
    }
    out.finish()
}

fn table(out: &mut Styled, name: &str, servers: &[ServerView<'_>]) {
    let rows: Vec<[String; 5]> = servers
        .iter()
        .map(|server| {
            let constraint_key = server.constraint_key();
            [
                server.id().to_owned(),
                server.version().to_owned(),
                signed(*server).to_owned(),
                residencies(*server),
                constraint_key.max_sensitivity().as_str().to_owned(),
            ]
        })
        .collect();
    let widths: [_; 5] = std::array::from_fn(|column| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    });
    out.end().put(Style::Heading, name).end();
    for (row, server) in rows.iter().zip(servers) {
        let [id, version, signed, residency, sensitivity] = row;
        let pad = |text: &str, column: usize| format!("{text:<width$}  ", width = widths[column]);
        out.plain("  ")
            .name(pad(id, 0))
            .plain(pad(version, 1))
            .plain(pad(signed, 2))
            .plain(pad(residency, 3))
            .plain(pad(sensitivity, 4));
        let scopes: Vec<_> = server.scopes().collect();
        out.dim(scopes.join(", ")).end();
    }
}

/// Returns the servers of each category as JSON with a final newline.
pub fn discover_json(index: &Index) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        let categories = (0..).zip(index.category_names());
        w.objects("categories", categories, |w, (number, name)| {
            w.key("name").string(name);
            w.objects("servers", index.servers_of(number), write_server);
        });
        w.key("servers").number(index.len() as u32);
        w.objects("withoutCategory", servers_of_none(index), write_server);
    });
    w.finish()
}

/// Returns the servers of an index by id and version.
fn servers(index: &Index) -> impl Iterator<Item = ServerView<'_>> {
    index.by_name().iter().map(|rank| index.server(*rank))
}

/// Returns the tools of each server with their capabilities.
pub fn discover_tools(index: &Index) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    out.put(Style::Heading, count(index.tool_count(), "tool"))
        .plain(" in ")
        .put(Style::Heading, count(index.len(), "server"))
        .end();
    for server in servers(index) {
        out.end()
            .put(Style::Heading, server.id())
            .plain(format!(" {}", server.version()))
            .dim(format!("  {}", signed(server)))
            .end();
        let lengths = server.tools().map(|tool| tool.name().chars().count());
        let Some(width) = lengths.max() else {
            out.dim("  lists no tools").end();
            continue;
        };
        for tool in server.tools() {
            let capabilities: Vec<_> = tool.advertised().map(capability).collect();
            out.plain("  ").name(format!("{:<width$}", tool.name()));
            match capabilities.is_empty() {
                true => out.dim("  no capability"),
                false => out.plain(format!("  {}", capabilities.join("; "))),
            };
            out.end();
        }
    }
    out.finish()
}

/// Returns a capability as requirements name it.
fn capability(advertised: Advertised<'_>) -> String {
    let tags: Vec<_> = advertised.tags().collect();
    let plus = if tags.is_empty() { "" } else { " + " };
    format!("{}{plus}{}", advertised.pair(), tags.join(", "))
}

/// Returns the tools of an index by server as JSON with a final newline.
pub fn discover_tools_json(index: &Index) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("servers").number(index.len() as u32);
        let tools = servers(index).flat_map(ServerView::tools);
        w.objects("tools", tools, write_tool);
        let without = servers(index).filter(|server| server.tools().len() == 0);
        w.objects("withoutTools", without, |w, server| {
            w.key("id").string(server.id());
            w.key("version").string(server.version());
        });
    });
    w.finish()
}

fn write_tool(w: &mut Writer, tool: ToolView<'_>) {
    w.objects("capabilities", tool.advertised(), |w, advertised| {
        let (verb, resource) = advertised.verb_and_resource();
        w.key("constraints").strings(advertised.tags());
        w.key("resource").string(resource);
        w.key("verb").string(verb);
    });
    let server = tool.server();
    w.key("name").string(tool.name());
    w.key("place").object(|w| write_place(w, &tool.place()));
    w.key("server").string(server.id());
    w.key("signed").bool(server.constraint_key().signed());
    w.key("version").string(server.version());
}

/// Writes the members of a server.
pub(super) fn write_server(w: &mut Writer, server: ServerView<'_>) {
    let constraint_key = server.constraint_key();
    w.key("categories").strings(server.categories());
    w.key("endpoint").string(server.endpoint());
    w.key("id").string(server.id());
    w.key("maxSensitivity")
        .string(constraint_key.max_sensitivity().as_str());
    w.key("place").object(|w| write_place(w, &server.place()));
    w.key("publisher").string(server.publisher());
    w.key("residency")
        .strings(constraint_key.residency().iter().map(Residency::as_str));
    w.key("scopes").strings(server.scopes());
    w.key("signed").bool(constraint_key.signed());
    w.key("version").string(server.version());
}
