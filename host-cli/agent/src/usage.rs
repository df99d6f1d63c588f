//! Wrong command lines: every argument that its command does not take, and the line that is to be typed.

use agent_host::Failure;
use clap::{Arg, Command};

/// Dashes that a word processor writes for one or two hyphens.
const DASHES: [char; 4] = ['\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

/// Quotes that it writes for those of a shell.
const QUOTES: [char; 4] = ['\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'];

/// Returns the failure of a command line with all causes; `None` if none is found here.
pub(crate) fn failure(
    mut program: Command,
    arguments: impl Iterator<Item = String>,
) -> Option<Failure> {
    program.build();
    let mut arguments = arguments.peekable();
    let mut line = Line::default();
    line.typed.extend(arguments.next());
    let mut command = &program;
    while let Some(below) = arguments.peek().and_then(|it| command.find_subcommand(it)) {
        line.typed.extend(arguments.next());
        command = below;
    }
    // The name of a command is no argument.
    if command.has_subcommands() {
        return None;
    }
    let most: usize = command.get_positionals().map(values).sum();
    let mut positionals = 0;
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            line.typed.push(argument);
            line.typed.extend(arguments);
            break;
        }
        let option = line.option(command, &argument);
        if let Some(takes_value) = option {
            let value = arguments.next_if(|next| takes_value && !next.starts_with('-'));
            line.typed.extend(value.map(|it| plain(&it)));
        } else if positionals < most {
            positionals += 1;
            line.typed.push(plain(&argument));
        } else {
            line.surplus(command, argument);
        }
    }
    if line.causes.is_empty() {
        return None;
    }
    let failure = Failure::new(line.causes.join("; "));
    let name = command.get_bin_name().unwrap_or_default();
    Some(failure.help(match line.is_open {
        false => format!("type `{}`", quoted(&line.typed)),
        true => format!("`{name} --help` lists its options"),
    }))
}

/// A command line as it is to be typed, with what was wrong in it.
#[derive(Default)]
struct Line {
    typed: Vec<String>,
    causes: Vec<String>,
    /// Whether an argument has no place in it.
    is_open: bool,
}

impl Line {
    /// Adds an option, corrected. Returns whether its value is the next argument; `None` if it is no option.
    fn option(&mut self, command: &Command, argument: &str) -> Option<bool> {
        let written = argument.trim_start_matches(QUOTES);
        if !written.starts_with(DASHES) && (!written.starts_with('-') || written == "-") {
            return None;
        }
        let dash = written.chars().find(|it| DASHES.contains(it));
        let dash = dash.filter(|_| written.starts_with(DASHES));
        if let Some(dash) = dash {
            let dash = u32::from(dash);
            self.causes.push(format!(
                "`{argument}` begins with U+{dash:04X} and not with `--`"
            ));
        }
        let body = written.trim_start_matches(|c| c == '-' || DASHES.contains(&c));
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let is_short = dash.is_none() && !written.starts_with("--");
        if is_short {
            self.typed.push(argument.to_owned());
            let last = name.chars().last();
            let known = command.get_arguments().find(|it| it.get_short() == last);
            return Some(known.is_some_and(takes_value));
        }
        let Some((option, long)) = named(command, name) else {
            let of = command.get_bin_name().unwrap_or_default();
            self.causes.push(format!("`{of}` has no option `--{name}`"));
            self.is_open = true;
            return Some(value.is_none());
        };
        if long != name {
            let of = command.get_bin_name().unwrap_or_default();
            self.causes
                .push(format!("`{of}` has no option `--{name}`, but `--{long}`"));
        }
        self.typed.push(match value {
            Some(value) => format!("--{long}={value}"),
            None => format!("--{long}"),
        });
        Some(value.is_none() && takes_value(option))
    }

    /// Adds an argument behind the last that the command takes: as the value of the option for such a file.
    fn surplus(&mut self, command: &Command, argument: String) {
        let written = plain(&argument);
        let name = written.rsplit('/').next().unwrap_or_default();
        let words: Vec<_> = words(name).collect();
        let place = |long: &str| {
            let places = self::words(long).map(|word| words.iter().position(|it| *it == word));
            places.collect::<Option<Vec<_>>>()
        };
        let options = command.get_arguments().filter(|it| takes_value(it));
        let options = options.filter_map(|option| option.get_long());
        let free = options.filter(|long| !self.typed.contains(&format!("--{long}")));
        // Of several the one with most words, then the one whose word is last: `policy_test.rego`.
        let option = free
            .filter_map(|long| Some((place(long)?, long)))
            .max_by_key(|(places, _)| (places.len(), places.last().copied()));
        match option {
            Some((_, long)) => {
                self.causes
                    .push(format!("`{argument}` needs its option `--{long}`"));
                self.typed.extend([format!("--{long}"), written]);
            }
            None => {
                self.causes
                    .push(format!("`{argument}` is one argument too many"));
                self.is_open = true;
            }
        }
    }
}

fn takes_value(option: &Arg) -> bool {
    !option.is_positional() && option.get_action().takes_values()
}

/// Returns the maximum number of values of an argument.
fn values(argument: &Arg) -> usize {
    let most = argument
        .get_num_args()
        .map_or(1, |range| range.max_values());
    match argument.get_action() {
        // Each occurrence adds one.
        clap::ArgAction::Append => 1 << 16,
        _ => most.min(1 << 16),
    }
}

/// Returns the option of a name, or of the only name that is almost this.
fn named<'c>(command: &'c Command, name: &str) -> Option<(&'c Arg, &'c str)> {
    let names = || {
        command.get_arguments().flat_map(|option| {
            let aliases = option.get_all_aliases().unwrap_or_default();
            let names = option.get_long().into_iter().chain(aliases);
            names.map(move |name| (option, name))
        })
    };
    let fold = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let folded = fold(name);
    names().find(|(_, long)| *long == name).or_else(|| {
        let most = (name.chars().count() / 3).clamp(1, 3);
        let near = names().map(|it| (strsim::osa_distance(&folded, &fold(it.1)), it));
        let (_, near) = near
            .filter(|(distance, _)| *distance <= most)
            .min_by_key(|(distance, _)| *distance)?;
        Some(near)
    })
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// Returns an argument without the quotes of a word processor.
fn plain(argument: &str) -> String {
    argument.trim_matches(QUOTES).to_owned()
}

/// Returns arguments as a shell reads them.
fn quoted(arguments: &[String]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:@,+%".contains(c);
    let quoted = arguments
        .iter()
        .map(|it| match it.chars().all(is_plain) && !it.is_empty() {
            true => it.clone(),
            false => format!("'{}'", it.replace('\'', "'\\''")),
        });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::failure;
    use crate::args::Arguments;
    use clap::CommandFactory as _;

    /// Returns the causes and the line that is to be typed.
    fn of(line: &str) -> (Vec<String>, Option<String>) {
        let arguments = line.split(' ').map(|it| it.replace('~', " "));
        let Some(failure) = failure(Arguments::command(), arguments) else {
            return (Vec::new(), None);
        };
        let causes = failure.message.split("; ").map(str::to_owned).collect();
        (causes, failure.help)
    }

    #[test]
    fn long_dashes_are_named_with_what_is_to_be_typed() {
        let (causes, help) = of("agent match —task task.yaml –tenant “my~tenant.yaml”");
        assert_eq!(
            causes,
            [
                "`—task` begins with U+2014 and not with `--`",
                "`–tenant` begins with U+2013 and not with `--`"
            ]
        );
        let typed = "type `agent match --task task.yaml --tenant 'my tenant.yaml'`";
        assert_eq!(help.as_deref(), Some(typed));
        assert_eq!(of("agent match --task a—b").0, [""; 0]);
    }

    #[test]
    fn a_document_without_its_option_is_named_with_it() {
        let (causes, help) = of(
            "agent plan check plan.json tool_pool.json a/profile.json --requests request.json -v",
        );
        assert_eq!(
            causes,
            [
                "`tool_pool.json` needs its option `--tool-pool`",
                "`a/profile.json` needs its option `--profile`",
                "`agent plan check` has no option `--requests`, but `--request`"
            ]
        );
        let typed = "type `agent plan check plan.json --tool-pool tool_pool.json --profile a/profile.json \
                     --request request.json -v`";
        assert_eq!(help.as_deref(), Some(typed));
        let (causes, _) = of("agent policy check policy.rego policy_test.rego");
        assert_eq!(causes, ["`policy_test.rego` needs its option `--test`"]);
    }

    #[test]
    fn what_has_no_place_is_named() {
        let (causes, help) = of("agent verify one.txt two.txt --task_id=3");
        assert_eq!(
            causes.last().map(String::as_str),
            Some("`agent verify` has no option `--task_id`")
        );
        assert_eq!(
            help.as_deref(),
            Some("`agent verify --help` lists its options")
        );
    }

    #[test]
    fn a_line_that_a_command_takes_has_no_cause() {
        for line in [
            "agent",
            "agent nothing",
            "agent resolve --explain --index=mcp.index.json agents.md",
            "agent index import a.json b.json c.json --dry-run",
            "agent index add time -- uvx mcp-server-time --local-timezone=UTC",
            "agent plan check - --tool-pool pool.json --profile p.json --color never",
        ] {
            assert_eq!(of(line).0, [""; 0], "{line}");
        }
    }
}
