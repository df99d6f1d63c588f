//! The page `docs/tutorial-serve.md`: its commands print what it says, as they are written there.
//!
//! The folders of the page become those of the test, and its port a free one. Numbers of processes, names of tokens and
//! the digest of the log depend on the machine and the time.

use std::fs::{self, File, Permissions};
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The time in which a gateway prints what the page shows.
const AMPLE: Duration = Duration::from_secs(60);

/// The extensions of the files that the page lets its reader write.
const EXTENSIONS: [&str; 5] = [".py", ".yaml", ".md", ".sh", ".rego"];

/// The user's folder on the page.
const HOME: &str = "/home/ada";

/// The folder of the server on the page.
const LEDGER: &str = "/srv/ledger";

/// The name of the file with the token on the page.
const TOKEN: &str = "e988282d8a21a26b";

/// A command of the page, and the lines that it prints there.
struct Step {
    command: String,
    printed: Vec<String>,
}

/// Returns the steps of a block. A line that ends with a backslash continues on the next one.
fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_continued = false;
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => steps.push(Step {
                command: command.to_owned(),
                printed: Vec::new(),
            }),
            None => {
                let step = steps.last_mut().expect("a block begins with a command");
                match is_continued {
                    true => step.command += &format!("\n{line}"),
                    false => step.printed.push(line.to_owned()),
                }
            }
        }
        is_continued = line.ends_with('\\');
    }
    steps
}

/// Returns the file that a paragraph lets its reader write.
fn file(paragraph: &str) -> Option<&str> {
    let mut quoted = paragraph.split('`').skip(1).step_by(2);
    quoted.find(|it| EXTENSIONS.iter().any(|end| it.ends_with(end)))
}

/// Returns a line without what depends on the machine and the time.
fn comparable(line: &str) -> String {
    let cut = |line: &str, before: &str, after: &str| match line.split_once(before) {
        None => line.to_owned(),
        Some((start, rest)) => {
            let end = rest.find(after).filter(|_| !after.is_empty());
            format!("{start}{before}…{}", &rest[end.unwrap_or(rest.len())..])
        }
    };
    let line = cut(line, "/agent/serve/", ".token");
    let line = cut(&line, ", process ", "");
    cut(&line, " is the last, sha256-", "")
}

/// The reader of the page.
struct Reader {
    home: PathBuf,
    port: u16,
    /// The name of the file with the token, which depends on the folder.
    token: Option<String>,
    /// Commands that concern the later ones.
    exports: String,
    gateway: Option<Child>,
}

impl Reader {
    /// Returns a text of the page with the folders and the port of this reader.
    fn adapted(&self, text: &str) -> String {
        let home = self.home.display().to_string();
        let text = text.replace(LEDGER, &format!("{home}/ledger"));
        let text = text.replace(HOME, &home);
        let token = self.token.as_deref().unwrap_or(TOKEN);
        let text = text.replace(TOKEN, token);
        text.replace("127.0.0.1:8420", &format!("127.0.0.1:{}", self.port))
    }

    fn shell(&self, command: &str) -> Command {
        let own = Path::new(env!("CARGO_BIN_EXE_agent")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", &format!("{}exec 2>&1\n{command}", self.exports)])
            .current_dir(self.home.join("office"))
            .env_clear()
            .env("PATH", format!("{}:{path}", own.display()))
            .env("HOME", &self.home)
            .stdin(Stdio::null());
        shell
    }

    /// Writes a file where the page says.
    fn write(&self, name: &str, content: &str) {
        let path = match name {
            "servers.local.yaml" => self.home.join(".config/agent").join(name),
            _ => self.home.join("office").join(self.adapted(name)),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, self.adapted(content)).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    /// Runs a command, and compares what it prints.
    fn follow(&mut self, step: &Step) {
        let command = self.adapted(&step.command);
        if command.starts_with("export ") {
            self.exports += &format!("{command}\n");
            return;
        }
        let expected = step.printed.iter().map(|line| self.adapted(line));
        let expected: Vec<_> = expected.map(|line| comparable(&line)).collect();
        let printed = match command.starts_with("agent serve ") {
            true => self.serve(&command, expected.len()),
            false => {
                let output = self.shell(&command).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            }
        };
        let printed: Vec<_> = printed.lines().map(comparable).collect();
        assert_eq!(printed, expected, "of `{command}`");
    }

    /// Starts a gateway, and returns what it printed when it had that many lines.
    fn serve(&mut self, command: &str, lines: usize) -> String {
        self.end();
        let path = self.home.join("gateway.log");
        let log = File::create(&path).unwrap();
        let mut shell = self.shell(&format!("exec {command}"));
        self.gateway = Some(shell.stdout(log).spawn().unwrap());
        let end = Instant::now() + AMPLE;
        loop {
            let mut text = String::new();
            File::open(&path)
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            if text.lines().count() >= lines || Instant::now() > end {
                let token = text.split("/agent/serve/").nth(1);
                let token = token.and_then(|it| it.split_once(".token"));
                self.token = token.map(|(name, _)| name.to_owned());
                return text;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the gateway as Ctrl-C does.
    fn end(&mut self) {
        if let Some(mut gateway) = self.gateway.take() {
            let pid = i32::try_from(gateway.id()).unwrap();
            // SAFETY: a signal to the process that this test started and has not waited for.
            #[expect(unsafe_code, reason = "the standard library sends no signals")]
            unsafe {
                libc::kill(pid, libc::SIGINT);
            }
            gateway.wait().unwrap();
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns a port without a listener.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn its_commands_print_what_it_shows() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().canonicalize().unwrap();
    for folder in ["office", "ledger"] {
        fs::create_dir(home.join(folder)).unwrap();
    }
    let mut reader = Reader {
        home,
        port: free_port(),
        token: None,
        exports: String::new(),
        gateway: None,
    };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial-serve.md");
    let page = fs::read_to_string(page).unwrap();
    let mut rest = &*page;
    let mut followed = 0;
    while let Some((before, fenced)) = rest.split_once("```") {
        let (language, fenced) = fenced.split_once('\n').unwrap();
        let (content, after) = fenced.split_once("```\n").expect("the block ends");
        rest = after;
        if before.contains("End the gateway") {
            reader.end();
        }
        if language == "console" {
            let steps = steps(content);
            followed += steps.len();
            steps.iter().for_each(|step| reader.follow(step));
        } else {
            let paragraph = before.trim().rsplit("\n\n").next().unwrap();
            let name = file(paragraph).unwrap_or_else(|| panic!("no file in {paragraph:?}"));
            reader.write(name, content);
        }
    }
    assert!(followed >= 20, "{followed} commands");
}
