//! Actions in words, for people who watch a run.

use super::action::{Action, Connection, Header, HeaderValue, Reply, Response};

/// An action in words. A text that is code has backquotes around it, and nothing is redacted: the host
/// performs exactly this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionWords {
    /// What the host has to do, as an imperative.
    pub title: String,
    /// The facts, each with its name.
    pub facts: Vec<(&'static str, String)>,
}

impl ActionWords {
    fn new(title: String) -> Self {
        Self {
            title,
            facts: Vec::new(),
        }
    }

    fn fact(mut self, name: &'static str, value: impl ToString) -> Self {
        self.facts.push((name, value.to_string()));
        self
    }

    fn within(self, timeout_ms: u64) -> Self {
        self.fact("time limit", format!("{timeout_ms} ms"))
    }

    fn at_most(self, name: &'static str, bytes: u64) -> Self {
        self.fact(name, format!("at most {bytes} bytes"))
    }

    fn connection(self, connection: &Connection) -> Self {
        let tls = match connection.tls {
            true => "with TLS",
            false => "without TLS",
        };
        self.fact(
            "connection",
            format!("to {}, port {}, {tls}", connection.address, connection.port),
        )
        .fact("host", &connection.host)
    }

    fn text(self, name: &'static str, bytes: &[u8]) -> Self {
        match bytes.is_empty() {
            true => self,
            false => self.fact(name, String::from_utf8_lossy(bytes)),
        }
    }
}

impl Action {
    /// Returns the action in words.
    #[must_use]
    pub fn words(&self) -> ActionWords {
        match self {
            Self::Store(store) => ActionWords::new(format!("store `{}`", store.path))
                .fact("size", format!("{} bytes", store.content.len())),
            Self::Approve(approval) => {
                let step = &approval.step_id;
                ActionWords::new(format!("ask for approval of the step `{step}`"))
                    .fact("what is approved", &approval.subject)
                    .fact("digest", &approval.digest)
            }
            Self::Plan(planning) => {
                ActionWords::new(format!("ask the planner for a {}", planning.task.wanted()))
                    .fact("request", &planning.request)
                    .at_most("answer", planning.max_bytes)
                    .within(planning.timeout_ms)
            }
            Self::Resolve(resolve) => {
                ActionWords::new(format!("resolve the host `{}`", resolve.host))
                    .fact("port", resolve.port)
                    .within(resolve.timeout_ms)
            }
            Self::Request(request) => {
                let title = format!("request `{} {}`", request.method, request.target);
                let words = ActionWords::new(title).connection(&request.connection);
                let words = request
                    .headers
                    .iter()
                    .fold(words, |words, it| words.fact("header", header(it)));
                words
                    .text("body", request.body.as_deref().unwrap_or_default())
                    .at_most("response", request.max_body_bytes)
                    .within(request.timeout_ms)
            }
            Self::CallHandler(call) => {
                let handler = match &call.handler {
                    Some(digest) => format!("call the handler `{digest}`"),
                    None => format!("call the handler `{}`", call.driver_kind.name()),
                };
                ActionWords::new(handler)
                    .fact("effect", call.driver_kind.effect())
                    .fact("input", &call.input)
                    .at_most("output", call.max_output_bytes)
                    .at_most("log", call.max_log_bytes)
                    .within(call.timeout_ms)
            }
            Self::ResumeHandler(reply) => returned(reply),
            Self::RunProgram(program) => {
                let title = format!("run `{}` in the sandbox", program.path);
                let arguments = program.arguments.iter();
                let words = arguments.fold(ActionWords::new(title), |words, it| {
                    words.fact("argument", it)
                });
                words
                    .text("standard input", &program.stdin)
                    .at_most("standard output", program.max_output_bytes)
                    .at_most("standard error", program.max_log_bytes)
                    .within(program.timeout_ms)
            }
            Self::OpenServer(server) => {
                let (id, version) = (&server.id, &server.version);
                let words = match &server.connection {
                    Some(connection) => {
                        ActionWords::new(format!("connect to the server `{id}` {version}"))
                            .connection(connection)
                    }
                    None => ActionWords::new(format!(
                        "start the server `{id}` {version} in the sandbox"
                    )),
                };
                words
                    .fact("endpoint", &server.endpoint)
                    .at_most("message", server.max_message_bytes)
                    .within(server.timeout_ms)
            }
            Self::ListTools { timeout_ms } => {
                ActionWords::new("list the tools of the server".to_owned()).within(*timeout_ms)
            }
            Self::CallTool(call) => ActionWords::new(format!("call the tool `{}`", call.tool))
                .fact("arguments", &call.arguments)
                .within(call.timeout_ms),
            Self::Finished(finished) => ActionWords::new(finished.message.clone()),
        }
    }
}

fn header(header: &Header) -> String {
    match &header.value {
        HeaderValue::Literal(value) => format!("{}: {value}", header.name),
        HeaderValue::Secret(name) => format!("{}: the secret {name}", header.name),
    }
}

fn returned(reply: &Reply) -> ActionWords {
    let words = |what| ActionWords::new(format!("give the handler {what}, and let it go on"));
    match reply {
        Reply::Response(Response {
            status,
            content_type,
            body,
        }) => words("the response")
            .fact("status", status)
            .text("content type", content_type.as_bytes())
            .text("body", body),
        Reply::Exited(exited) => words("the end of its program")
            .fact("exit code", exited.code)
            .text("standard output", &exited.stdout)
            .text("standard error", &exited.stderr),
        Reply::Payload(payload) => words("the result of its tool").text("result", payload),
    }
}
