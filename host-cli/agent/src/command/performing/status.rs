//! `agent status`: shows the running gateways.

use crate::args::{DataFormat, Status};
use crate::command::CommandAnswer;
use agent_host::{Failure, output};
use agent_serve::{running, status_text};

pub(super) fn run(args: &Status) -> Result<CommandAnswer, Failure> {
    let gateways = running()?;
    match args.format {
        DataFormat::Json => {
            let gateways = gateways.join(",\n");
            output::print_data(&format!("{{\"gateways\":[{gateways}]}}\n"))?;
        }
        DataFormat::Text if gateways.is_empty() => output::print_text("no gateway runs\n")?,
        DataFormat::Text => {
            let shown = gateways.iter().filter_map(|it| status_text(it));
            output::print_text(&shown.collect::<String>())?;
        }
    }
    Ok(CommandAnswer::yes_if(!gateways.is_empty()))
}
