//! The servers of an index by category.

use super::report::write_place;
use super::styled::{Style, Styled, StyledSpan, count};
use agent_model::{Index, Residency, ServerView};
use agent_syntax::json::Writer;

/// Those that offer no category, in the same order.
fn servers_of_none(index: &Index) -> Vec<ServerView<'_>> {
    index
        .by_name()
        .iter()
        .map(|rank| index.server(*rank))
        .filter(|server| server.category_numbers().is_empty())
        .collect()
}

fn residencies(server: ServerView<'_>) -> String {
    let names: Vec<_> = server
        .constraint_key()
        .residency()
        .iter()
        .map(Residency::as_str)
        .collect();
    names.join(",")
}

/// A table for each category.
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
                if constraint_key.signed() {
                    "signed"
                } else {
                    "unsigned"
                }
                .to_owned(),
                residencies(*server),
                constraint_key.max_sensitivity().as_str().to_owned(),
            ]
        })
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 5] = std::array::from_fn(width);
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

/// As [`discover`], as JSON that ends with a newline.
pub fn discover_json(index: &Index) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("categories").array(|w| {
            for (number, name) in (0..).zip(index.category_names()) {
                w.object(|w| {
                    w.key("name").string(name);
                    w.key("servers").array(|w| {
                        for server in index.servers_of(number) {
                            w.object(|w| write_server(w, server));
                        }
                    });
                });
            }
        });
        w.key("servers").number(index.len() as u32);
        w.key("withoutCategory").array(|w| {
            for server in servers_of_none(index) {
                w.object(|w| write_server(w, server));
            }
        });
    });
    w.finish()
}

/// The members of a server.
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
