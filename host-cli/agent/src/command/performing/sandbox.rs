//! `agent sandbox`: the sandboxes of this machine.

use crate::args::{DataFormat, Sandbox};
use crate::command::CommandAnswer;
use agent_host::{Failure, block_on, output};
use agent_sandbox::{ControlGroups, Report, TierReport, check};
use agent_syntax::json::Writer;
use std::fmt::Write as _;

pub(super) fn run(args: &Sandbox) -> Result<CommandAnswer, Failure> {
    let report = block_on(async { Ok(check().await) })?;
    match args.format {
        DataFormat::Text => output::print_text(&output::visible(&text(&report)))?,
        DataFormat::Json => output::print_data(&json(&report))?,
    }
    Ok(CommandAnswer::yes_if(report.best().is_some()))
}

/// The parts of the machine that a sandbox is made of: a name, and what was found.
fn ingredients(report: &Report) -> [(&'static str, Option<String>); 4] {
    let groups = names(report.control_groups);
    [
        ("bubblewrap", report.bubblewrap.clone()),
        (
            "landlock",
            report.landlock.map(|it| format!("version {it}")),
        ),
        ("seccomp", report.seccomp.then(|| "filters".to_owned())),
        (
            "control groups",
            (!groups.is_empty()).then(|| groups.join(", ")),
        ),
    ]
}

/// Names what control groups limit.
fn names(groups: ControlGroups) -> Vec<&'static str> {
    let known = [
        ("cpu_percent", groups.cpu_percent),
        ("cpu_time", groups.cpu_time),
        ("memory", groups.memory),
        ("processes", groups.processes),
    ];
    let usable = known.into_iter().filter(|(_, usable)| *usable);
    usable.map(|(name, _)| name).collect()
}

fn text(report: &Report) -> String {
    let mut out = match report.best() {
        Some(tier) => format!("programs run in the sandbox `{tier}`\n\n"),
        None => "this machine has no sandbox: programs are refused\n\n".to_owned(),
    };
    let mut line = |line: String| {
        let _ = writeln!(out, "{line}");
    };
    line(format!("{:<16}{}", "kernel", report.kernel));
    for (name, found) in ingredients(report) {
        line(format!("{name:<16}{}", found.as_deref().unwrap_or("none")));
    }
    for tier in &report.tiers {
        line(String::new());
        match &tier.trial {
            Ok(()) => line(format!("✓ {}  passed its trial run", tier.tier)),
            Err(missing) => {
                line(format!("✗ {missing}"));
                if let Some(remedy) = missing.obstacle.remedy() {
                    line(format!("  to get it: {remedy}"));
                }
            }
        }
        for weakness in &tier.weaknesses {
            line(format!("  {weakness}"));
        }
    }
    out
}

fn json(report: &Report) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("best").optional(report.best().map(|it| it.name()));
        w.key("bubblewrap").optional(report.bubblewrap.as_deref());
        w.key("control_groups")
            .strings(names(report.control_groups));
        w.key("kernel").string(&report.kernel);
        match report.landlock {
            Some(version) => w.key("landlock").number(version),
            None => w.key("landlock").null(),
        }
        w.key("seccomp").bool(report.seccomp);
        w.key("tiers").array(|w| {
            for it in &report.tiers {
                w.object(|w| tier(w, it));
            }
        });
    });
    w.finish()
}

fn tier(w: &mut Writer, report: &TierReport) {
    let missing = report.trial.as_ref().err();
    if let Some(missing) = missing {
        w.key("detail").string(&missing.detail);
    }
    w.key("name").string(report.tier.name());
    if let Some(missing) = missing {
        w.key("obstacle").string(&missing.obstacle.to_string());
    }
    w.key("passed").bool(missing.is_none());
    if let Some(missing) = missing {
        w.key("remedy").optional(missing.obstacle.remedy());
    }
    let weaknesses: Vec<_> = report.weaknesses.iter().map(ToString::to_string).collect();
    w.key("weaknesses")
        .strings(weaknesses.iter().map(String::as_str));
}
