//! The members of records, by kind.

use super::shape::{Member, Shape, optional, required};

/// A kind of records.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The name, in `kind` of a record.
    pub name: &'static str,
    /// The members of `content`: one of these forms.
    pub forms: &'static [&'static [Member]],
}

/// The members of every record.
pub(crate) const RECORD: &[Member] = &[
    required("content", Shape::Any),
    required("kind", Shape::Text),
    required("observe", Shape::Boolean),
    required("previous", Shape::OrNull(&Shape::Digest)),
    required("sequence", Shape::Count),
    required("time", Shape::Time),
    required("version", Shape::Count),
];

/// The kinds of records, ordered by name.
const KINDS: &[Kind] = &[
    Kind {
        name: "approval",
        forms: &[&[
            required("answer", Shape::Boolean),
            required("approval", Shape::Text),
            required("by", Shape::Text),
            required("calls", Shape::List(&Shape::Count)),
            required("is_known", Shape::Boolean),
            required("tool", Shape::OrNull(&Shape::Text)),
        ]],
    },
    Kind {
        name: "decision",
        forms: &[
            &[
                required("action", Shape::OneOf(&["error"])),
                required("call", Shape::Count),
                required("client", CLIENT),
                required("params", CONTENT),
                required("text", Shape::Text),
            ],
            &[
                required(
                    "action",
                    Shape::OneOf(&["answer", "ask", "error", "forward", "refuse"]),
                ),
                optional("approval", Shape::Text),
                required("arguments", ARGUMENTS),
                required("call", Shape::Count),
                required("client", CLIENT),
                required("context", CONTEXT),
                optional("continues", Shape::Boolean),
                required("definition", Shape::OrNull(&Shape::Digest)),
                required("documents", DOCUMENTS),
                optional("endpoint", Shape::Digest),
                optional("history", HISTORY),
                required("name", Shape::Text),
                required("phase", Shape::OneOf(&["call", "expand", "list_services"])),
                required("reasons", Shape::List(&REASON)),
                optional("served_as", Shape::Text),
                required("server", Shape::OrNull(&Shape::Text)),
                required("subject", SUBJECT),
                optional("text", Shape::Text),
                required("tool", Shape::Text),
                required("version", Shape::OrNull(&Shape::Text)),
            ],
        ],
    },
    Kind {
        name: "effect",
        forms: &[
            &[
                required("call", Shape::Count),
                required("outcome", Shape::OneOf(&["unexpected"])),
            ],
            &[
                required("call", Shape::Count),
                required("codes", Shape::List(&Shape::Text)),
                required("outcome", Shape::OneOf(OUTCOMES)),
                optional("redacted", Shape::List(&Shape::Text)),
                optional("removed", Shape::Count),
                optional("result", CONTENT),
                required("server", Shape::Text),
                required("tool", Shape::OrNull(&Shape::Text)),
                required("version", Shape::Text),
            ],
        ],
    },
    Kind {
        name: "entries",
        forms: &[&[
            required("entries", Shape::Count),
            required("list", CONTENT),
            required("list_changed", Shape::Boolean),
            required("method", Shape::OneOf(LISTS)),
            required("server", Shape::Text),
            required("withheld", Shape::List(&WITHHELD_ENTRY)),
            required("withheld_count", Shape::Count),
        ]],
    },
    Kind {
        name: "health",
        forms: &[&[
            required("after", HEALTH),
            required("before", HEALTH),
            required("server", Shape::Text),
        ]],
    },
    Kind {
        name: "list",
        forms: &[&[required("client", CLIENT), required("list", CONTENT)]],
    },
    Kind {
        name: "opened",
        forms: OPENED,
    },
    Kind {
        name: "reloaded",
        forms: OPENED,
    },
    Kind {
        name: "request",
        forms: &[
            &[
                required("action", Shape::OneOf(&["error"])),
                required("call", Shape::Count),
                required("client", CLIENT),
                required("method", METHOD),
                required("params", CONTENT),
                required("text", Shape::Text),
            ],
            &[
                required("action", Shape::OneOf(&["answer"])),
                required("call", Shape::Count),
                required("client", CLIENT),
                required("list", CONTENT),
                required("method", Shape::OneOf(LISTS)),
            ],
            &[
                required("action", Shape::OneOf(&["error", "forward"])),
                required("call", Shape::Count),
                required("client", CLIENT),
                required("context", CONTEXT),
                required("documents", DOCUMENTS),
                optional("history", HISTORY),
                required("method", Shape::OneOf(&["prompts/get", "resources/read"])),
                required("name", Shape::Text),
                required("reasons", Shape::List(&REASON)),
                required("server", Shape::OrNull(&Shape::Text)),
                optional("text", Shape::Text),
                required("version", Shape::OrNull(&Shape::Text)),
            ],
        ],
    },
    Kind {
        name: "tools",
        forms: &[&[
            required("drifted", Shape::List(&DRIFT)),
            required("exposed", Shape::List(&Shape::Text)),
            required("list", CONTENT),
            required("list_changed", Shape::Boolean),
            required("server", Shape::Text),
            required("withheld", Shape::List(&WITHHELD)),
        ]],
    },
];

const OPENED: &[&[Member]] = &[&[
    required(
        "agent",
        Shape::OrNull(&Shape::Object(&[
            required("name", Shape::Text),
            required("version", Shape::Text),
        ])),
    ),
    required("audit_arguments", Shape::Boolean),
    required("documents", DOCUMENTS),
    required("expansion", Shape::OneOf(&["list", "none", "stub"])),
    required("servers", Shape::List(&Shape::Text)),
    required("tools", Shape::Count),
]];

const HISTORY: Shape = Shape::Object(&[
    required(
        "annotations",
        Shape::Object(&[
            required("destructiveHint", Shape::Boolean),
            required("idempotentHint", Shape::Boolean),
            required("openWorldHint", Shape::Boolean),
            required("readOnlyHint", Shape::Boolean),
        ]),
    ),
    required("capabilities", Shape::List(&Shape::Text)),
    required("fields", Shape::Entries(&Shape::Digest)),
    required(
        "findings",
        Shape::List(&Shape::Object(&[
            required("rule", Shape::Text),
            required("text", Shape::Text),
        ])),
    ),
    required("labels", Shape::List(&Shape::Text)),
    required("numbers", Shape::Entries(&Shape::Number)),
    required("sends", Shape::Boolean),
    required("writes", Shape::Boolean),
]);

const OUTCOMES: &[&str] = &[
    "cancelled",
    "closed",
    "delivered",
    "failed",
    "input_required",
    "not_approved",
    "timed_out",
    "tool_error",
    "withheld",
];

const HEALTH: Shape = Shape::OneOf(&[
    "HEALTHY",
    "PROBATION",
    "QUARANTINE",
    "STARTING",
    "UNHEALTHY",
]);

const ARGUMENTS: Shape = Shape::Object(&[
    required("bytes", Shape::Count),
    required("digest", Shape::Digest),
    optional("value", Shape::Any),
]);

const CLIENT: Shape = Shape::Object(&[
    required("generation", Shape::OneOf(&["sessions", "stateless"])),
    required("id", Shape::Text),
    required("kind", Shape::Text),
    required("session", Shape::OrNull(&Shape::Text)),
]);

const CONTENT: Shape = Shape::Object(&[
    required("bytes", Shape::Count),
    required("digest", Shape::Digest),
]);

const CONTEXT: Shape = Shape::Object(&[
    required("hour", Shape::Count),
    required("time", Shape::Time),
    required("weekday", Shape::Text),
]);

const DOCUMENTS: Shape = Shape::Object(&[
    required("definitions", Shape::OrNull(&Shape::Digest)),
    required("health", Shape::OrNull(&Shape::Digest)),
    required("index", Shape::OrNull(&Shape::Digest)),
    required("lock", Shape::OrNull(&Shape::Digest)),
    required("policy", Shape::OrNull(&Shape::Digest)),
    required("policy_context", Shape::OrNull(&Shape::Digest)),
    required("task", Shape::OrNull(&Shape::Digest)),
    required("tenant", Shape::OrNull(&Shape::Digest)),
    required("tenant_id", Shape::OrNull(&Shape::Text)),
]);

const DRIFT: Shape = Shape::Object(&[
    required("changes", Shape::List(&Shape::Text)),
    required(
        "deviation",
        Shape::OneOf(&["changed", "missing", "repeated", "too_many", "unreadable"]),
    ),
    optional("present", Shape::Digest),
    required("tool", Shape::Text),
    optional("widens", Shape::Boolean),
]);

const LISTS: &[&str] = &["prompts/list", "resources/list", "resources/templates/list"];

const METHOD: Shape = Shape::OneOf(&[
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
]);

const REASON: Shape = Shape::Object(&[
    required("code", Shape::Text),
    optional("pointer", Shape::Text),
    required("text", Shape::Text),
]);

const SUBJECT: Shape = Shape::Object(&[
    required("id", Shape::Text),
    required("properties", Shape::Any),
    required("type", Shape::Text),
]);

const WITHHELD: Shape =
    Shape::Object(&[required("code", Shape::Text), required("tool", Shape::Text)]);

const WITHHELD_ENTRY: Shape =
    Shape::Object(&[required("code", Shape::Text), required("name", Shape::Text)]);

/// Returns the members of every record, ordered by name.
pub fn record_members() -> &'static [Member] {
    RECORD
}

/// Returns the kinds of records, ordered by name.
pub fn record_kinds() -> &'static [Kind] {
    KINDS
}
