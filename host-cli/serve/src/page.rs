//! The local page: servers, tools, and calls that wait for a human.

use super::gateway::{Agent, Status};
use super::overview::{OBSERVES, is, list, reasons, text, title};
use super::state;
use agent_host::{Failure, hex, output, random};
use agent_mcp_server::{Body, Hosts, Listener, Token, private, read_body, respond_with, single};
use agent_ownership::create_private;
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_syntax::members::member;
use hyper::body::Incoming;
use hyper::header::{
    CONTENT_SECURITY_POLICY, COOKIE, HeaderValue, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE,
    X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// Maximum size of a form, in bytes.
const FORM_BYTES: usize = 4 << 10;

/// Maximum time until a form has arrived.
const FORM_TIME: Duration = Duration::from_secs(10);

/// The name of the cookie with the page's token.
const NAME: &str = "agent-page";

/// Nothing but this page's own style is loaded, nothing runs, and no other page frames it.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const STYLE: &str = "body{font:16px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3em;border-bottom:1px solid #ccc}\
pre{white-space:pre-wrap;background:#eee;padding:.6em}button{font:inherit;margin-right:1em}";

/// The page of a gateway. Its address is in a file that only this user can read.
pub(crate) struct Page {
    agents: Vec<Rc<Agent>>,
    status: Rc<Status>,
    hosts: Hosts,
    token: Token,
    /// What a form of this page holds, and no other page knows.
    form: String,
    /// The file with the address.
    path: PathBuf,
}

type HttpResponse = Response<Body>;

impl Page {
    /// Makes the page of a listener, and writes its address into a file: standard error may lead to a client,
    /// which must not approve its own calls.
    pub(crate) fn open(
        agents: &[Rc<Agent>],
        status: &Rc<Status>,
        listener: &Listener,
    ) -> Result<Self, Failure> {
        let (token, folder) = (Token::random()?, state::folder()?);
        let path = folder.join(format!("{}.page", std::process::id()));
        let address = listener.address();
        let write = || {
            create_private(&folder)?;
            let _ = fs::remove_file(&path);
            let mut file = private().create_new(true).open(&path)?;
            writeln!(file, "http://{address}/?token={}", token.reveal())
        };
        write().map_err(|error| {
            let path = path.display();
            Failure::new(format_args!("the file `{path}` can't be written: {error}"))
        })?;
        output::note(format_args!(
            "the page is at the address in `{}`",
            path.display()
        ));
        Ok(Self {
            agents: agents.to_vec(),
            status: Rc::clone(status),
            hosts: Hosts::of(address),
            token,
            form: hex(&random::<32>()?),
            path,
        })
    }

    /// Answers a request of the user's browser.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> HttpResponse {
        let (parts, body) = request.into_parts();
        let is_form = parts.method == Method::POST;
        // A link in a terminal leads here from no site; a form comes from this page alone.
        if self.hosts.admit(&parts).is_err() || (is_form && !parts.headers.contains_key(ORIGIN)) {
            return plain(
                StatusCode::FORBIDDEN,
                "this page is for its own address only",
            );
        }
        let target = (&parts.method, parts.uri.path());
        if let (&Method::GET, "/", Some(query)) = (target.0, target.1, parts.uri.query()) {
            let given = query.strip_prefix("token=").unwrap_or_default();
            if !self.token.is(given) {
                return plain(StatusCode::UNAUTHORIZED, "the token is unknown");
            }
            let cookie = format!("{NAME}={given}; HttpOnly; SameSite=Strict; Path=/");
            return self.redirect(HeaderValue::try_from(cookie).ok());
        }
        let cookies = single(&parts.headers, &COOKIE).ok().flatten();
        let cookies = cookies.unwrap_or_default().split(';');
        let mut own = cookies.filter_map(|it| it.trim().strip_prefix(NAME)?.strip_prefix('='));
        if !own.any(|given| self.token.is(given)) {
            return plain(
                StatusCode::UNAUTHORIZED,
                "open the address that the gateway wrote",
            );
        }
        match target {
            (&Method::GET, "/") => document("text/html; charset=utf-8", self.draw()),
            (&Method::GET, "/page.css") => document("text/css", STYLE.to_owned()),
            (&Method::POST, "/answer") => self.take(body).await,
            _ => plain(StatusCode::NOT_FOUND, "there is nothing here"),
        }
    }

    /// Takes the answer to an approval.
    async fn take(&self, body: Incoming) -> HttpResponse {
        let form = match read_body(body, FORM_BYTES, FORM_TIME).await {
            Ok(form) => String::from_utf8(form.to_vec()).unwrap_or_default(),
            Err((status, why)) => return plain(status, &why),
        };
        // Its values are digits and letters, which are not encoded.
        let field = |name: &str| {
            let fields = form.split('&').filter_map(|it| it.split_once('='));
            let mut named = fields.filter(|(key, _)| *key == name).map(|(_, it)| it);
            named.next().unwrap_or_default().to_owned()
        };
        if field("form") != self.form {
            return plain(StatusCode::FORBIDDEN, "the form is not of this page");
        }
        let answer = match &*field("answer") {
            "approve" => true,
            "deny" => false,
            _ => return plain(StatusCode::BAD_REQUEST, "the answer is unknown"),
        };
        let agent = field("agent").parse().ok();
        let agent = agent.and_then(|number: usize| self.agents.get(number));
        let taken = agent.map(|it| it.service.approve(&field("approval"), answer, "page"));
        match taken {
            Some(Ok(true)) => self.redirect(None),
            Some(Err(failure)) => plain(StatusCode::INTERNAL_SERVER_ERROR, &failure.message),
            _ => plain(
                StatusCode::NOT_FOUND,
                "nobody asks for this approval any more",
            ),
        }
    }

    fn redirect(&self, cookie: Option<HeaderValue>) -> HttpResponse {
        let mut answer = plain(StatusCode::SEE_OTHER, "");
        let headers = answer.headers_mut();
        headers.insert(LOCATION, HeaderValue::from_static("/"));
        if let Some(cookie) = cookie {
            headers.insert(SET_COOKIE, cookie);
        }
        answer
    }

    fn draw(&self) -> String {
        let mut out = String::from(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
             <meta http-equiv=\"refresh\" content=\"5\"><title>agent serve</title>\
             <link rel=\"stylesheet\" href=\"/page.css\"><h1>agent serve</h1>",
        );
        let json = self.status.json(&self.agents);
        if let Some(status) = parse_strict(&json) {
            for (number, agent) in list(&status, "agents").iter().enumerate() {
                self.draw_agent(&mut out, number, agent);
            }
        }
        out
    }

    // Writing into a string can't fail.
    fn draw_agent(&self, out: &mut String, number: usize, agent: &Node<'_>) {
        let Some(session) = member(agent, "session") else {
            return;
        };
        let _ = write!(out, "<h2>{}</h2>", escaped(&title(session)));
        if is(session, "observe") {
            let _ = write!(out, "<p>{OBSERVES}</p>");
        }
        for approval in list(session, "approvals") {
            if is(approval, "answered") {
                continue;
            }
            let id = text(approval, "id");
            let question = self.agents.get(number);
            let question = question.and_then(|it| it.service.approvals.question(id));
            let question = question.unwrap_or_else(|| text(approval, "tool").to_owned());
            let (id, question, form) = (escaped(id), escaped(&question), &self.form);
            let _ = write!(
                out,
                "<form method=\"post\" action=\"/answer\"><h3>A call waits</h3><pre>{question}</pre>\
                 <input type=\"hidden\" name=\"form\" value=\"{form}\">\
                 <input type=\"hidden\" name=\"agent\" value=\"{number}\">\
                 <input type=\"hidden\" name=\"approval\" value=\"{id}\">\
                 <button name=\"answer\" value=\"approve\">Approve</button>\
                 <button name=\"answer\" value=\"deny\">Deny</button></form>"
            );
        }
        let _ = write!(out, "<table><tr><th>Server<th>Health<th>Exceptions");
        for server in list(session, "servers") {
            let name = text(server, "name");
            let exceptions = list(agent, "sandboxExceptions").iter();
            let exceptions = exceptions.filter(|it| text(it, "server") == name);
            let exceptions: Vec<_> = exceptions.map(|it| text(it, "exception")).collect();
            let (name, exceptions) = (escaped(name), escaped(&exceptions.join(", ")));
            let health = escaped(text(server, "health"));
            let _ = write!(out, "<tr><td>{name}<td>{health}<td>{exceptions}");
        }
        let _ = write!(out, "</table><table><tr><th>Tool<th>Server<th>State<th>Why");
        for tool in list(session, "tools") {
            let (name, server) = (escaped(text(tool, "name")), escaped(text(tool, "server")));
            let (state, why) = (escaped(text(tool, "state")), escaped(&reasons(tool)));
            let _ = write!(out, "<tr><td>{name}<td>{server}<td>{state}<td>{why}");
        }
        let _ = write!(out, "</table>");
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns a text for HTML. Characters that can't be seen are replaced by their code points.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in output::visible(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

fn respond(status: StatusCode, kind: &'static str, text: String) -> HttpResponse {
    let mut answer = respond_with(status, kind, text);
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn document(kind: &'static str, text: String) -> HttpResponse {
    respond(StatusCode::OK, kind, text)
}

fn plain(status: StatusCode, text: &str) -> HttpResponse {
    respond(status, "text/plain; charset=utf-8", text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_servers_name_is_no_markup() {
        assert_eq!(
            escaped("<a href='x'>&\""),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"
        );
        assert_eq!(
            escaped("a\u{202e}b\u{fe01}"),
            "a&lt;U+202E&gt;b&lt;U+FE01&gt;"
        );
    }
}
