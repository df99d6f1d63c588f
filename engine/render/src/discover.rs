//! The servers of an index by category.

use super::json::{ObjectMembers, write_place};
use super::styled::{Style, Styled, StyledSpan, count};
use agent_model::{Index, Residency, ServerView};
use agent_syntax::json::Writer;

/// Returns the servers without a category, by id and version.
fn servers_of_none(index: &Index) -> Vec<ServerView<'_>> {
    let servers = index.by_name().iter().map(|rank| index.server(*rank));
    servers
        .filter(|server| server.category_numbers().is_empty())
        .collect()
}

fn residencies(server: ServerView<'_>) -> String {
    let residency = server.constraint_key().residency();
    let names: Vec<_> = residency.iter().map(Residency::as_str).collect();
    names.join(",")
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
            let signed = match constraint_key.signed() {
                true => "signed",
                false => "unsigned",
            };
            [
                server.id().to_owned(),
                server.version().to_owned(),
                signed.to_owned(),
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
