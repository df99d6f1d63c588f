//! `agent playground`, and `--open`: the page that was installed with this program, opened on files.

use crate::args::{
    Deciding, Format, Global, INDEX, LOCK, Output, PlanCheck, Playground, Replay, Resolve,
};
use crate::command::CommandAnswer;
use crate::command::session::documents::ShownDocuments;
use crate::command::session::{CommandSession, usual_manifest};
use crate::command::share::read;
use crate::link::SharedInputs;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::input::Input;
use agent_host::session_files::present;
use agent_host::system::{Files as _, Stream, System, Terminal as _};
use agent_host::{Failure, block_on, output};
use agent_page_server::{Page, serve};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Time without an open page after which `--open` ends.
const IDLE: Duration = Duration::from_secs(600);

/// The names of the areas that are not the page's first.
const PLANS: &str = "plans";
const CALL: &str = "call";
const AUDIT: &str = "audit";

pub(super) fn run(
    args: &Playground,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let page = match &args.page {
        Some(folder) => Page::of_folder(folder)?,
        None => Page::usual()?,
    };
    let documents = read(&args.folder, session)?;
    let tenant = args.folder.context.others.policy.tenant_id.as_deref();
    let inputs = SharedInputs::of("", &documents, tenant);
    open(
        page,
        &inputs,
        Duration::from_secs(args.idle),
        !args.no_browser,
    )?;
    session.note("no page was open any more");
    Ok(CommandAnswer::Yes)
}

/// Serves the page with inputs until it is no longer open.
fn open(
    page: Page,
    inputs: &SharedInputs,
    idle: Duration,
    in_browser: bool,
) -> Result<(), Failure> {
    let in_browser = in_browser && System::is_terminal(Stream::Output);
    let announce = |address: &str| {
        // Without a reader of the address, the page is not opened and this ends.
        let _ = output::print_data(&format!("{address}\n"));
        if in_browser {
            open_browser(address);
        }
    };
    block_on(serve(page, inputs.json()?, idle, announce))
}

/// Opens the user's browser, where there is one.
fn open_browser(address: &str) {
    let mut browser = Command::new("xdg-open");
    let browser = browser.arg(address).stdin(Stdio::null());
    let started = browser.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut started) = started {
        // Otherwise it would stay a zombie.
        std::thread::spawn(move || started.wait());
    }
}

/// The files of a command that has `--open`.
struct Opening<'c> {
    is_wanted: bool,
    /// Whether the answer is for people.
    is_text: bool,
    area: &'static str,
    documents: ShownDocuments<'c>,
}

/// Shows the files of a command with `--open`. Without it, says on a terminal how a refusal is seen.
pub(crate) fn after(
    command: &Deciding,
    answer: CommandAnswer,
    global: &Global,
) -> Result<(), Failure> {
    match command {
        Deciding::Resolve(it) => after_resolve(it, answer, global),
        Deciding::Replay(it) => end(of_log(it), answer, global),
        _ => Ok(()),
    }
}

/// As [`after`], of `agent plan check`.
pub(crate) fn after_plan(
    args: &PlanCheck,
    answer: CommandAnswer,
    global: &Global,
) -> Result<(), Failure> {
    let (area, kind) = match args.tool_pool {
        Some(_) => (PLANS, DocumentKind::Plan),
        None => (CALL, DocumentKind::Call),
    };
    let opening = Opening {
        is_wanted: args.open,
        is_text: args.report.output.format == Format::Text,
        area,
        documents: ShownDocuments {
            inputs: vec![
                (kind, Some(&args.plan)),
                (DocumentKind::ToolPool, args.tool_pool.as_ref()),
                (DocumentKind::Profile, args.profile.as_ref()),
                (DocumentKind::Request, args.request.as_ref()),
                (DocumentKind::Lock, present(&args.lock, LOCK)),
                (DocumentKind::Index, present(&args.index.index, INDEX)),
                (DocumentKind::Catalogue, args.catalog.as_ref()),
            ],
            policy: &args.policy,
        },
    };
    end(opening, answer, global)
}

fn after_resolve(args: &Resolve, answer: CommandAnswer, global: &Global) -> Result<(), Failure> {
    let manifest = args.manifest.manifest.clone();
    let manifest = manifest.map_or_else(usual_manifest, Ok)?;
    let lock = Input::File(args.lock.clone());
    let context = &args.context.others;
    let opening = Opening {
        is_wanted: args.open,
        is_text: args.report.output.format == Format::Text,
        area: "",
        documents: ShownDocuments {
            inputs: vec![
                (DocumentKind::Manifest, Some(&manifest)),
                (DocumentKind::Index, present(&args.index.index, INDEX)),
                (
                    DocumentKind::Lock,
                    Some(&lock).filter(|it| !it.is_missing()),
                ),
                (DocumentKind::Task, args.context.task.as_ref()),
                (DocumentKind::Health, context.health.as_ref()),
            ],
            policy: &context.policy,
        },
    };
    end(opening, answer, global)
}

fn of_log(args: &Replay) -> Opening<'_> {
    Opening {
        is_wanted: args.open,
        is_text: args.output.format == Format::Text,
        area: AUDIT,
        documents: ShownDocuments {
            inputs: vec![
                (DocumentKind::Evidence, args.paths.last()),
                (DocumentKind::Lock, present(&args.lock, LOCK)),
                (DocumentKind::Index, present(&args.index.index, INDEX)),
                (DocumentKind::Task, args.task.as_ref()),
            ],
            policy: &args.context.policy,
        },
    }
}

fn end(opening: Opening<'_>, answer: CommandAnswer, global: &Global) -> Result<(), Failure> {
    if opening.is_wanted {
        let policy = opening.documents.policy;
        for (_, input) in &opening.documents.inputs {
            refuse_unshown(*input)?;
        }
        let mut session = CommandSession::open(global, &Output::TEXT)?;
        let documents = opening.documents.read(&mut session)?;
        let inputs = SharedInputs::of(opening.area, &documents, policy.tenant_id.as_deref());
        return open(Page::usual()?, &inputs, IDLE, true);
    }
    let is_no = answer == CommandAnswer::No;
    if is_no && opening.is_text && !global.quiet && Page::is_at_hand() && is_interactive() {
        output::note("`--open` shows why in the playground, on this machine alone");
    }
    Ok(())
}

/// Refuses an input that can't be read again.
fn refuse_unshown(input: Option<&Input>) -> Result<(), Failure> {
    let what = match input {
        Some(Input::Stdin) => "standard input, which can be read only once",
        Some(Input::File(path)) if System::is_folder(path) => "the evidence of a run",
        _ => return Ok(()),
    };
    let message = format_args!("`--open` does not show {what}");
    Err(Failure::new(message).help("name a file, or leave out `--open`"))
}

/// Returns whether a person sees both streams as they are written. A log of CI may be a terminal too.
fn is_interactive() -> bool {
    let is_ci = std::env::var_os("CI").is_some_and(|it| !it.is_empty() && it != "false");
    !is_ci && [Stream::Output, Stream::Error].map(System::is_terminal) == [true; 2]
}
