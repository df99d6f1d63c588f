//! `agent audit`: verifies the audit log of `agent serve`.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::Audit;
use agent_host::contract::diagnostic::Severity;
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::output::Progress;
use agent_host::{Failure, call};

pub(super) fn run(args: &Audit, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let after = args.after.as_deref();
    let opened = call!(session.engine, audit.log_verification.open(after))?;
    let log = opened.map_err(|why| Failure::new(format_args!("`--after`: {why}")))?;
    for (file, number) in args.files.iter().zip(0..) {
        let _progress = Progress::of(format!("verifying {file}"));
        session.name_log(file, number)?;
        file.pieces(|bytes| call!(session.engine, audit.log_verification.feed(log, bytes)))?;
        call!(session.engine, audit.log_verification.end_file(log))?;
    }
    let head = args.head.as_deref();
    let verified = call!(session.engine, audit.log_verification.finish(log, head))?;
    let verified = verified.map_err(|why| Failure::new(format_args!("`--head`: {why}")))?;
    let mut problems = verified.problems.iter();
    let verifies = problems.all(|it| it.severity != Severity::Error);
    session.add(verified.problems);
    if !verifies {
        session.report()?;
        return Ok(CommandAnswer::No);
    }
    let (records, last) = (verified.records, verified.sequence);
    let head = verified.head.unwrap_or_default();
    let text =
        format!("the log verifies: {records} records, and record {last} is the last, {head}\n");
    // The members of the report, with what only a sound log has: no word of the report is behind `valid`.
    let report = session.json_report()?;
    let facts = format!(
        "  \"head\": \"{head}\",\n  \"records\": {records},\n  \"sequence\": {last},\n  \"valid\""
    );
    let json = match report.rsplit_once("  \"valid\"") {
        Some((before, after)) => format!("{before}{facts}{after}"),
        None => report,
    };
    let text = StyledSpan {
        style: Style::Plain,
        text,
    };
    session.show(|_| Ok(vec![text]), |_| Ok(json))?;
    Ok(CommandAnswer::Yes)
}
