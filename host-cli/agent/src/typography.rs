//! Arguments that a word processor has changed: a long dash for `--`, and quotes of its own.

use agent_host::Failure;

/// Dashes that are written for one or two hyphens.
const DASHES: [char; 4] = ['\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

/// Quotes that are written for those of a shell.
const QUOTES: [char; 4] = ['\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'];

/// Returns the failure of a command line with long dashes, with what is to be typed; `None` if it has none.
pub(crate) fn failure(arguments: impl Iterator<Item = String>) -> Option<Failure> {
    let arguments: Vec<_> = arguments.collect();
    let dashed = arguments.iter().filter(|it| it.starts_with(DASHES));
    let dashed: Vec<_> = dashed
        .map(|it| {
            let dash = it.chars().next().map_or(0, u32::from);
            format!("`{it}` begins with U+{dash:04X} and not with `--`")
        })
        .collect();
    if dashed.is_empty() {
        return None;
    }
    let typed: Vec<_> = arguments.iter().map(|it| typed(it)).collect();
    let failure = Failure::new(dashed.join(", "));
    Some(failure.help(format!("type `{}`", typed.join(" "))))
}

/// Returns an argument as it is to be typed.
fn typed(argument: &str) -> String {
    let plain = argument.trim_matches(QUOTES);
    let option = plain.trim_start_matches(DASHES);
    let plain = match option.len() < plain.len() {
        true => format!("--{option}"),
        false => plain.to_owned(),
    };
    match plain.contains(char::is_whitespace) {
        true => format!("'{plain}'"),
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::failure;

    fn of(line: &[&str]) -> Option<(String, Option<String>)> {
        let failure = failure(line.iter().map(|it| (*it).to_owned()))?;
        Some((failure.message, failure.help))
    }

    #[test]
    fn long_dashes_are_named_with_what_is_to_be_typed() {
        let line = [
            "agent",
            "match",
            "—task",
            "task.yaml",
            "–tenant",
            "“my tenant.yaml”",
        ];
        let message = "`—task` begins with U+2014 and not with `--`, \
                       `–tenant` begins with U+2013 and not with `--`";
        let help = "type `agent match --task task.yaml --tenant 'my tenant.yaml'`";
        assert_eq!(of(&line), Some((message.to_owned(), Some(help.to_owned()))));
        assert_eq!(of(&["agent", "match", "--task", "a—b", "“c”"]), None);
    }
}
