//! `agent status`: shows the running gateways.

use super::CommandAnswer;
use crate::args::{Status, StatusFormat};
use agent_host::{Failure, output};
use agent_serve::{running, status_text};

pub(super) fn run(args: &Status) -> Result<CommandAnswer, Failure> {
    let gateways = running()?;
    match args.format {
        StatusFormat::Json => {
            let gateways = gateways.join(",\n");
            output::print_data(&format!("{{\"gateways\":[{gateways}]}}\n"))?;
        }
        StatusFormat::Text if gateways.is_empty() => output::print_text("no gateway runs\n")?,
        StatusFormat::Text => {
            let shown = gateways.iter().filter_map(|it| status_text(it));
            output::print_text(&shown.collect::<String>())?;
        }
    }
    Ok(CommandAnswer::yes_if(!gateways.is_empty()))
}
