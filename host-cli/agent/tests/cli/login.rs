//! `login`: an authorization server and an MCP server on loopback, which also lie.

use crate::project::{Project, Run};
use crate::run_plan::operator;
use crate::run_plan::server::{Request, Response, Server, mcp};
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// An MCP server that wants a token, and its authorization server. `mode` decides how both lie.
fn start(mode: &'static str) -> Server {
    Server::start(move |request| answer(request, mode))
}

fn answer(request: &Request, mode: &str) -> Response {
    let line = request.head.lines().next().unwrap();
    let path = line.split(' ').nth(1).unwrap();
    let header = |name: &str| {
        request.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    };
    let origin = format!("http://{}", header("host").unwrap());
    let found = |value: Value| ("200 OK", "application/json", value.to_string());
    match path {
        "/mcp" => {
            let accepted = match mode {
                "expired" | "expired-echo" | "revoked" | "secret-post" | "secret-basic" => {
                    "Bearer access-2"
                }
                _ => "Bearer access-1",
            };
            match header("authorization") {
                Some(_) if mode == "step-up" => {
                    let status = "403 Forbidden\r\nwww-authenticate: Bearer error=\"insufficient_scope\", scope=\"read admin\"";
                    (status, "text/plain", String::new())
                }
                Some(token) if token == accepted && mode.ends_with("echo") => mcp(request, &token),
                Some(token) if token == accepted => mcp(request, "Finds issues."),
                // Some servers refuse only the requests behind the first.
                None if mode == "late-challenge" && !request.body.contains("\"tools/list\"") => {
                    mcp(request, "Finds issues.")
                }
                None if mode == "open" => mcp(request, "Finds issues."),
                _ => {
                    let challenge = match mode {
                        "no-challenge" => String::new(),
                        _ => format!(
                            "\r\nwww-authenticate: Bearer resource_metadata=\"{origin}/meta\", scope=\"read write\""
                        ),
                    };
                    let status = format!("401 Unauthorized{challenge}");
                    (
                        Box::leak(status.into_boxed_str()),
                        "text/plain",
                        String::new(),
                    )
                }
            }
        }
        "/meta" | "/.well-known/oauth-protected-resource/mcp" if mode != "open" => {
            let resource = match mode {
                "other-resource" => "https://other.example/mcp".to_owned(),
                _ => format!("{origin}/mcp"),
            };
            let issuer = match mode {
                "private-issuer" => "http://10.0.0.1".to_owned(),
                _ => origin,
            };
            found(json!({
                "resource": resource, "authorization_servers": [issuer], "scopes_supported": ["all"]
            }))
        }
        "/.well-known/oauth-authorization-server" => {
            match mode {
                "redirect" => {
                    let status = "302 Found\r\nlocation: http://10.0.0.1/";
                    return (status, "text/plain", String::new());
                }
                "huge" => return ("200 OK", "application/json", " ".repeat(1 << 20)),
                "slow" => thread::sleep(Duration::from_secs(20)),
                _ => {}
            }
            let token = match mode {
                "plain-token" => "http://93.184.216.34/token".to_owned(),
                "private-token" => "http://10.0.0.1/token".to_owned(),
                _ => format!("{origin}/token"),
            };
            let issuer = match mode {
                "other-issuer" => "https://other.example",
                _ => &origin,
            };
            let methods = if mode == "no-pkce" { "plain" } else { "S256" };
            let authentication = match mode {
                "secret-post" => "client_secret_post",
                "secret-basic" => "client_secret_basic",
                "secret-unknown" => "private_key_jwt",
                _ => "none",
            };
            let scopes: &[&str] = match mode {
                "offline" => &["read", "offline_access"],
                _ => &["read"],
            };
            found(json!({
                "token_endpoint_auth_methods_supported": [authentication], "scopes_supported": scopes,
                "issuer": issuer, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": token, "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": [methods],
                "authorization_response_iss_parameter_supported": true,
                "client_id_metadata_document_supported": true
            }))
        }
        "/register" => (
            "201 Created",
            "application/json",
            match mode {
                "secret-post" | "secret-basic" => {
                    json!({ "client_id": "client-1", "client_secret": "se:cret of client-1" })
                }
                _ => json!({ "client_id": "client-1" }),
            }
            .to_string(),
        ),
        "/token" => {
            let number = if request.body.contains("refresh_token=") {
                2
            } else {
                1
            };
            if number == 2 && mode.starts_with("expired") {
                // Others have the time to renew as well.
                thread::sleep(Duration::from_millis(500));
            }
            let expires =
                mode.starts_with("expired") || matches!(mode, "secret-post" | "secret-basic");
            let lifetime = if expires && number == 1 { 1 } else { 3600 };
            found(json!({
                "access_token": format!("access-{number}"), "token_type": "Bearer",
                "expires_in": lifetime, "refresh_token": format!("refresh-{number}")
            }))
        }
        _ => ("404 Not Found", "text/plain", String::new()),
    }
}

fn command(project: &Project, line: &str) -> Command {
    let mut command = project.command(line.split_whitespace());
    command.env("XDG_STATE_HOME", project.path("state"));
    command
}

fn run(project: &Project, line: &str) -> Run {
    Run::of(command(project, line))
}

fn member<'q>(query: &'q str, name: &str) -> &'q str {
    let members = query.split('&').filter_map(|it| it.split_once('='));
    let found = members.into_iter().find(|(key, _)| *key == name);
    found.map_or("", |(_, value)| value)
}

fn decoded(text: &str) -> String {
    text.replace("%3A", ":")
        .replace("%2F", "/")
        .replace("%20", " ")
}

/// Logs in, and answers as a browser whose query is made of the state and the issuer. Returns the query of the
/// authorization too.
fn login(project: &Project, line: &str, reply: impl FnOnce(&str, &str) -> String) -> (Run, String) {
    let mut child = command(project, line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    let mut asked = String::new();
    loop {
        let mut line = String::new();
        if errors.read_line(&mut line).unwrap() == 0 {
            break;
        }
        text.push_str(&line);
        if let Some((url, query)) = line.trim().split_once("/authorize?") {
            asked = query.to_owned();
            let redirect = decoded(member(query, "redirect_uri"));
            let authority = redirect.strip_prefix("http://").unwrap();
            let (authority, path) = authority.split_once('/').unwrap();
            let mut browser = TcpStream::connect(authority).unwrap();
            let query = reply(member(query, "state"), url);
            write!(
                browser,
                "GET /{path}?{query} HTTP/1.1\r\nhost: {authority}\r\n\r\n"
            )
            .unwrap();
            let mut shown = String::new();
            browser.read_to_string(&mut shown).unwrap();
            assert!(shown.starts_with("HTTP/1.1 "), "{shown}");
            break;
        }
    }
    errors.read_to_string(&mut text).unwrap();
    let mut output = child.wait_with_output().unwrap();
    output.stderr = text.into_bytes();
    (Run::new(output, &project.path("")), asked)
}

/// Returns the answer of an honest authorization server.
fn honest(state: &str, issuer: &str) -> String {
    let issuer = issuer.replace(':', "%3A").replace('/', "%2F");
    format!("code=the-code&state={state}&iss={issuer}")
}

#[test]
fn programs_that_renew_at_the_same_time_renew_once() {
    let project = Project::empty();
    let server = start("expired");
    let url = format!("{}/mcp", server.origin());
    login(&project, &format!("login {url}"), honest).0.exits(0);
    thread::scope(|scope| {
        for number in 0..4 {
            let (project, url) = (&project, &url);
            scope.spawn(move || {
                let line = format!("index add tracker-{number} {url} --index {number}.json");
                run(project, &line).exits(0);
            });
        }
    });
    let requests = server.requests();
    let renewals = requests
        .iter()
        .filter(|it| it.body.contains("refresh_token="));
    assert_eq!(renewals.count(), 1);
}

#[test]
fn a_token_that_a_gateway_renews_is_in_no_definition() {
    let project = Project::empty();
    let server = start("expired-echo");
    let url = format!("{}/mcp", server.origin());
    login(&project, &format!("login {url}"), honest).0.exits(0);
    let line = format!("serve --observe --server tracker={url} --audit audit.jsonl");
    let mut served = command(&project, &line)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = served.stdin.take().unwrap();
    let mut output = BufReader::new(served.stdout.take().unwrap());
    let client = json!({ "name": "test", "version": "1" });
    let opened =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let mut shown = String::new();
    for (id, method, params) in [(1, "initialize", opened), (2, "tools/list", json!({}))] {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{request}").unwrap();
        shown.clear();
        while !shown.contains(&format!("\"id\":{id}")) {
            shown.clear();
            assert_ne!(output.read_line(&mut shown).unwrap(), 0);
        }
    }
    drop(input);
    assert!(served.wait().unwrap().success());
    let list: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(list["result"]["tools"], json!([]), "{list}");
    let log = project.read("audit.jsonl");
    assert!(log.contains("OUTPUT_INVALID"), "{log}");
    assert!(!log.contains("access-2"), "{log}");
    let requests = server.requests();
    assert!(
        requests
            .iter()
            .any(|it| it.head.contains("Bearer access-2"))
    );
}

#[test]
fn a_login_gives_a_token_to_its_server_alone() {
    let project = Project::empty();
    let server = start("usual");
    let url = format!("{}/mcp", server.origin());
    run(&project, &format!("index add tracker {url}"))
        .exits(1)
        .notes(&format!("agent login {url}"));
    let (logged_in, asked) = login(&project, &format!("login {url}"), honest);
    let logged_in = logged_in.exits(0).answers_nothing();
    logged_in
        .notes("logged in to")
        .notes("read write")
        .notes_not("access-1");

    assert_eq!(decoded(member(&asked, "scope")), "read write");
    assert_eq!(decoded(member(&asked, "resource")), url);
    assert_eq!(member(&asked, "client_id"), "client-1");
    let requests = server.requests();
    let sent = |path: &str| {
        let found = requests.iter().find(|it| it.head.starts_with(path));
        found.unwrap_or_else(|| panic!("no {path}")).body.clone()
    };
    let registered: Value = serde_json::from_str(&sent("POST /register")).unwrap();
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    let token = sent("POST /token");
    let verifier = member(&token, "code_verifier");
    let proof = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    assert_eq!(proof, member(&asked, "code_challenge"));
    assert_eq!(decoded(member(&token, "resource")), url);

    let folder = project.path("state/agent/credentials");
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let files: Vec<_> = fs::read_dir(&folder).unwrap().collect();
    assert_eq!(files.len(), 1);
    let file = files[0].as_ref().unwrap().path();
    assert_eq!(
        fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );

    run(&project, &format!("index add tracker {url}")).exits(0);
    // Another server gets no token.
    let other = start("usual");
    run(&project, &format!("index add other {}/mcp", other.origin())).exits(1);
    let requests = other.requests();
    assert!(!requests.iter().any(|it| it.head.contains("Bearer")));
}

#[test]
fn a_logout_forgets_the_token() {
    let project = Project::empty();
    let (server, other) = (start("usual"), start("usual"));
    let [url, more] = [&server, &other].map(|it| format!("{}/mcp", it.origin()));
    let kept = || {
        let files = fs::read_dir(project.path("state/agent/credentials")).unwrap();
        files
            .map(|it| fs::read_to_string(it.unwrap().path()).unwrap())
            .collect::<String>()
    };
    run(&project, &format!("logout {url}"))
        .exits(1)
        .notes("no token is kept");
    for url in [&url, &more] {
        login(&project, &format!("login {url}"), honest).0.exits(0);
    }
    run(&project, &format!("logout {url}"))
        .exits(0)
        .answers_nothing()
        .notes(&format!("forgot the token of {url}"))
        .notes_not("access-1");
    assert!(!kept().contains(&url) && kept().contains(&more));
    run(&project, &format!("index add tracker {url}"))
        .exits(1)
        .notes(&format!("agent login {url}"));
    run(&project, "logout --all").exits(0).notes(&more);
    assert_eq!(kept(), "");
    run(&project, "logout --all").exits(1);
    run(&project, "logout").exits(2);
}

#[test]
fn a_token_is_renewed_when_it_expires_or_is_refused() {
    for mode in ["expired", "revoked"] {
        let project = Project::empty();
        let server = start(mode);
        let url = format!("{}/mcp", server.origin());
        login(&project, &format!("login {url}"), honest).0.exits(0);
        run(&project, &format!("index add tracker {url}")).exits(0);
        let requests = server.requests();
        let renewals = requests
            .iter()
            .filter(|it| it.body.contains("grant_type=refresh_token"));
        assert_eq!(renewals.count(), 1, "{mode}");
        run(&project, "index refresh").exits(0);
    }
}

#[test]
fn a_client_and_scopes_can_be_given() {
    let project = Project::empty();
    let server = start("no-challenge");
    let url = format!("{}/mcp", server.origin());
    let (done, asked) = login(
        &project,
        &format!("login {url} --client-id mine --scope one"),
        honest,
    );
    done.exits(0);
    assert_eq!(member(&asked, "client_id"), "mine");
    assert_eq!(member(&asked, "scope"), "one");
    let document = "https://client.example/agent.json";
    let (done, asked) = login(
        &project,
        &format!("login {url} --client-metadata {document}"),
        honest,
    );
    done.exits(0);
    assert_eq!(decoded(member(&asked, "client_id")), document);
    assert_eq!(member(&asked, "scope"), "all");
    let requests = server.requests();
    assert!(
        !requests
            .iter()
            .any(|it| it.head.starts_with("POST /register"))
    );
}

#[test]
fn the_operator_limits_the_scopes() {
    let project = Project::empty();
    let server = start("usual");
    let url = format!("{}/mcp", server.origin());
    operator(
        &project,
        &format!("servers:\n  \"{url}\": {{ oauth: {{ scopes: [read] }} }}\n"),
    );
    let line = format!("login {url} --servers operator/servers.local.yaml");
    let (done, asked) = login(&project, &line, honest);
    done.exits(0);
    assert_eq!(member(&asked, "scope"), "read");
    run(&project, &format!("{line} --scope write"))
        .exits(1)
        .notes("lacks `write`");
}

#[test]
fn a_secret_is_proven_as_the_authorization_server_supports_it() {
    let header = BASE64_STANDARD.encode("client-1:se%3Acret%20of%20client-1");
    for mode in ["secret-post", "secret-basic"] {
        let project = Project::empty();
        let server = start(mode);
        let url = format!("{}/mcp", server.origin());
        login(&project, &format!("login {url}"), honest).0.exits(0);
        // It renews the token, which needs the secret again.
        run(&project, &format!("index add tracker {url}"))
            .exits(0)
            .notes_not("cret of");
        let requests = server.requests();
        let sent = |path: &str| {
            let of_path = move |it: &&Request| it.head.starts_with(path);
            requests.iter().filter(of_path).collect::<Vec<_>>()
        };
        let registered: Value = serde_json::from_str(&sent("POST /register")[0].body).unwrap();
        let method = registered["token_endpoint_auth_method"].as_str().unwrap();
        assert_eq!(method, mode.replace("secret-", "client_secret_"));
        let tokens = sent("POST /token");
        assert_eq!(tokens.len(), 2, "{mode}");
        for token in tokens {
            let is_basic = token
                .head
                .contains(&format!("authorization: Basic {header}"));
            assert_eq!(is_basic, mode == "secret-basic", "{}", token.head);
            let in_form = member(&token.body, "client_secret") == "se%3Acret%20of%20client-1";
            assert_eq!(in_form, mode == "secret-post", "{}", token.body);
        }
    }
    let project = Project::empty();
    let server = start("secret-unknown");
    run(&project, &format!("login {}/mcp", server.origin()))
        .exits(1)
        .notes("supports none of the client authentications");
    assert!(!project.has("state"));
}

#[test]
fn the_operators_client_is_known_to_one_issuer() {
    let project = Project::empty();
    let server = start("secret-basic");
    let url = format!("{}/mcp", server.origin());
    let entry = |issuer: &str| {
        let entry = format!(
            "servers:\n  \"{url}\":\n    oauth: {{ issuer: \"{issuer}\", client_id: mine, \
             client_secret: \"the secret of mine\" }}\n"
        );
        operator(&project, &entry);
    };
    let line = format!("login {url} --servers operator/servers.local.yaml");
    entry("https://other.example");
    run(&project, &line)
        .exits(1)
        .notes("does not name the issuer `https://other.example`");
    entry(&server.origin());
    let (done, asked) = login(&project, &line, honest);
    done.exits(0);
    assert_eq!(member(&asked, "client_id"), "mine");
    // Another client has no secret.
    login(&project, &format!("{line} --client-id other"), honest)
        .0
        .exits(0);
    let requests = server.requests();
    let tokens = requests
        .iter()
        .filter(|it| it.head.starts_with("POST /token"));
    let tokens: Vec<_> = tokens.collect();
    let header = BASE64_STANDARD.encode("mine:the%20secret%20of%20mine");
    let header = format!("authorization: Basic {header}");
    assert!(tokens[0].head.contains(&header), "{}", tokens[0].head);
    assert!(!tokens[1].head.contains("authorization:"));
    assert_eq!(member(&tokens[1].body, "client_id"), "other");
    let registers = |it: &Request| it.head.starts_with("POST /register");
    assert!(!requests.iter().any(registers));
}

#[test]
fn a_server_may_refuse_only_its_second_request() {
    let project = Project::empty();
    let server = start("late-challenge");
    let url = format!("{}/mcp", server.origin());
    let (done, asked) = login(&project, &format!("login {url}"), honest);
    done.exits(0);
    assert_eq!(decoded(member(&asked, "scope")), "read write");
    let open = start("open");
    run(&project, &format!("login {}/mcp", open.origin()))
        .exits(1)
        .notes("answers without a login");
}

#[test]
fn a_refresh_token_is_asked_for_by_its_scope() {
    let project = Project::empty();
    let server = start("offline");
    let url = format!("{}/mcp", server.origin());
    let (done, asked) = login(&project, &format!("login {url}"), honest);
    done.exits(0);
    assert_eq!(
        decoded(member(&asked, "scope")),
        "read write offline_access"
    );
}

#[test]
fn an_answer_of_another_login_or_issuer_is_refused() {
    for (reply, says) in [
        ("code=c&state=wrong", "another state"),
        (
            "code=c&state=STATE&iss=https%3A%2F%2Fevil.example",
            "another issuer",
        ),
        ("code=c&state=STATE", "does not name its issuer"),
        (
            "error=access_denied&state=STATE&iss=ISSUER",
            "access_denied",
        ),
    ] {
        let project = Project::empty();
        let server = start("usual");
        let line = format!("login {}/mcp", server.origin());
        let (done, _) = login(&project, &line, |state, issuer| {
            let issuer = issuer.replace(':', "%3A").replace('/', "%2F");
            reply.replace("STATE", state).replace("ISSUER", &issuer)
        });
        done.exits(1).notes(says);
        let requests = server.requests();
        assert!(
            !requests.iter().any(|it| it.head.starts_with("POST /token")),
            "{reply}"
        );
        assert!(!project.has("state"), "{reply}");
    }
}

#[test]
fn lies_of_metadata_are_refused() {
    for (mode, says) in [
        ("other-resource", "another resource"),
        ("other-issuer", "another issuer"),
        ("no-pkce", "S256"),
        ("private-issuer", "not a public address"),
        ("redirect", "302"),
        ("huge", "body"),
        ("slow", "within 3 s"),
    ] {
        let project = Project::empty();
        let server = start(mode);
        let line = format!("login {}/mcp --timeout 3", server.origin());
        run(&project, &line).exits(1).notes(says);
        assert!(!project.has("state"), "{mode}");
    }
    for (mode, says) in [
        ("plain-token", "not an https URL"),
        ("private-token", "not a public address"),
    ] {
        let project = Project::empty();
        let server = start(mode);
        let (done, _) = login(&project, &format!("login {}/mcp", server.origin()), honest);
        done.exits(1).notes(says);
        assert!(!project.has("state"), "{mode}");
    }
}

#[test]
fn more_scopes_are_asked_of_the_user() {
    let project = Project::empty();
    let server = start("step-up");
    let url = format!("{}/mcp", server.origin());
    login(&project, &format!("login {url}"), honest).0.exits(0);
    run(&project, &format!("index add tracker {url}"))
        .exits(1)
        .notes("agent login SERVER --add-scope")
        .notes("read admin");
    let line = format!("login {url} --add-scope admin");
    let (done, asked) = login(&project, &line, honest);
    done.exits(0);
    assert_eq!(decoded(member(&asked, "scope")), "read write admin");
}

#[test]
fn a_token_that_its_server_repeats_reaches_no_index() {
    let project = Project::empty();
    let server = start("echo");
    let url = format!("{}/mcp", server.origin());
    login(&project, &format!("login {url}"), honest).0.exits(0);
    run(&project, &format!("index add tracker {url}"))
        .exits(1)
        .notes("contains the secret `the login to")
        .notes_not("access-1");
    assert!(!project.has("mcp.index.json"));
}
