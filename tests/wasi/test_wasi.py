"""`agent.wasm` answers as the program `agent`, under runtimes that others wrote.

`AGENT` names the program, `AGENT_WASM` the component and `AGENT_ENGINE` its engine. With `AT_LENGTH`, all cases of
the corpus are asked, and besides under Node.js, for which `JCO` names a folder with its packages.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import wasmtime_cli
from corpus import cases

AGENT = os.environ["AGENT"]
COMPONENT = Path(os.environ["AGENT_WASM"])
ENGINE = Path(os.environ["AGENT_ENGINE"])
JCO = os.environ.get("JCO")
AT_LENGTH = "AT_LENGTH" in os.environ

# Of the cases, every so many are asked where not all are.
EACH = 1 if AT_LENGTH else 60

# Seconds for a question.
TIME_LIMIT = 120

ROOT = Path(__file__).parents[2]

HELLO = ROOT / "examples/hello-agent"

# What the component may import.
IMPORTS = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/streams",
]


def runtime():
    """The runtime's program, which its wheel does not mark as one."""
    program = Path(wasmtime_cli.__file__).with_name("wasmtime")
    program.chmod(0o755)
    return program


def setUpModule():
    """Compiles the component once."""
    global COMPILED, WASMTIME, PLACE
    PLACE = tempfile.TemporaryDirectory()
    WASMTIME = runtime()
    COMPILED = Path(PLACE.name) / "agent.cwasm"
    subprocess.run([WASMTIME, "compile", COMPONENT, "-o", COMPILED], check=True)


def tearDownModule():
    PLACE.cleanup()


def ask(command, folder, stdin=b"", executable=None):
    """What a command prints, and its exit code."""
    done = subprocess.run(
        command,
        executable=executable,
        cwd=folder,
        input=stdin,
        capture_output=True,
        timeout=TIME_LIMIT,
        env={"HOME": str(folder), "PATH": os.environ["PATH"]},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def under_wasmtime(line, folder, stdin=b"", options=("--dir", ".")):
    command = [WASMTIME, "run", "--allow-precompiled", *options, COMPILED, *line]
    return ask(command, folder, stdin)


def natively(line, folder, stdin=b""):
    return ask(["agent", *line], folder, stdin, executable=AGENT)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def answers(case, run, most):
    """The answers to the questions of a case, with the files that they leave."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, text in case.files.items():
            (folder / name).write_bytes(text)
        questions = list(case.questions())[:most]
        return [(line, run(line, folder), content(folder)) for line in questions]


class Corpus(unittest.TestCase):
    maxDiff = None

    def compare(self, run, each, most):
        def both(case):
            return case, answers(case, natively, most), answers(case, run, most)

        # Two at a time: the questions of a case follow one another.
        with ThreadPoolExecutor(2) as workers:
            compared = list(workers.map(both, cases()[::each]))
        for case, native, component in compared:
            with self.subTest(case.name):
                self.assertEqual(native, component)
        codes = {code for _, native, _ in compared for _, (code, _, _), _ in native}
        self.assertLessEqual({0, 1}, codes, "a yes and a no are among the answers")
        print(f"{sum(len(native) for _, native, _ in compared)} equal answers", file=sys.stderr)

    def test_answers_files_and_exit_codes_are_equal(self):
        self.compare(under_wasmtime, EACH, None)

    @unittest.skipUnless(JCO, "only at length")
    def test_they_are_equal_under_node(self):
        translated = Path(PLACE.name) / "javascript"
        translated.mkdir()
        (translated / "package.json").write_text('{ "type": "module" }')
        (translated / "node_modules").symlink_to(Path(JCO) / "node_modules")
        translate = ["node", Path(JCO) / "transpile.js", COMPONENT, translated]
        subprocess.run(translate, check=True)

        def under_node(line, folder):
            return ask(["node", Path(JCO) / "run.js", translated / "agent.js", *line], folder)

        self.compare(under_node, EACH, 1)


class Command(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        for name in ["agents.md", "mcp.index.json"]:
            shutil.copy(HELLO / name, self.folder)

    def test_ci_needs_one_line(self):
        code, _, said = under_wasmtime(["resolve"], self.folder)
        self.assertEqual((code, said), (0, "wrote agents.lock\n"))
        code, _, said = under_wasmtime(["resolve", "--locked"], self.folder)
        self.assertEqual((code, said), (0, "agents.lock is up to date\n"))
        self.assertEqual(
            sorted(content(self.folder)), ["agents.lock", "agents.md", "mcp.index.json"]
        )
        index = self.folder / "mcp.index.json"
        index.write_text(index.read_text().replace("acme-audiences", "other-audiences"))
        self.assertEqual(under_wasmtime(["resolve", "--locked"], self.folder)[0], 1)
        self.assertEqual(under_wasmtime(["verify"], self.folder)[0], 1)

    def test_wrong_usage_and_missing_files_end_with_2(self):
        for line in [
            ["frobnicate"],
            ["resolve", "--lokced"],
            ["validate", "missing.md"],
            ["validate", "."],
            ["why"],
            ["plan", "check"],
            ["schema", "show", "nothing"],
            ["--directory", "missing", "validate"],
            ["index", "import", "agents.md", "--index", "no/such/folder.json"],
        ]:
            with self.subTest(line):
                native, component = natively(line, self.folder), under_wasmtime(line, self.folder)
                self.assertEqual(component, native)
                self.assertIn(native[0], [1, 2])

    def test_other_words_are_the_same_too(self):
        below = self.folder / "below"
        below.mkdir()
        shutil.copy(HELLO / "agents.md", below)
        for line, stdin in [
            (["explain", "MISSING_SCOPE"], b""),
            (["explain"], b""),
            (["schema", "list", "--format", "json"], b""),
            (["resolve", "--help"], b""),
            (["--color", "always", "resolve", "--dry-run"], b""),
            (["validate", "-"], b"---\nname: x\nversion: 1\n---\n"),
            (["--directory", "below", "validate"], b""),
            (["-v", "validate", "below/../agents.md"], b""),
        ]:
            with self.subTest(line):
                component = under_wasmtime(line, self.folder, stdin)
                self.assertEqual(component, natively(line, self.folder, stdin))

    def test_it_reaches_no_other_folder(self):
        code, _, said = under_wasmtime(["validate"], self.folder, options=())
        self.assertEqual(code, 2)
        self.assertIn("wasmtime run --dir .", said)
        with tempfile.TemporaryDirectory() as other:
            shutil.copy(HELLO / "agents.md", other)
            _, _, said = under_wasmtime(["validate", f"{other}/agents.md"], self.folder)
            self.assertIn("no folder with it is open", said)
            for path in [f"{other}/agents.md", f"../{Path(other).name}/agents.md"]:
                self.assertEqual(under_wasmtime(["validate", path], self.folder)[0], 2)
            named = ("--dir", ".", "--dir", other)
            line = ["validate", f"{other}/agents.md"]
            self.assertEqual(under_wasmtime(line, self.folder, options=named)[0], 0)

    def test_links_and_pipes_are_as_they_are_natively(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "dangling.md").symlink_to("nothing")
        (self.folder / "circle.md").symlink_to("circle.md")
        (self.folder / "manifest.md").symlink_to("agents.md")
        for name in ["pipe", "dangling.md", "circle.md", "manifest.md"]:
            line = ["validate", name, "--index", "mcp.index.json"]
            with self.subTest(name):
                self.assertEqual(
                    under_wasmtime(line, self.folder), natively(line, self.folder)
                )
        (self.folder / "agents.lock").mkdir()
        for run in [natively, under_wasmtime]:
            code, _, said = run(["resolve"], self.folder)
            self.assertEqual(code, 2, said)
        (self.folder / "agents.lock").rmdir()
        # A usual name that is a link is not written through.
        self.assertEqual(natively(["resolve"], self.folder)[0], 0)
        (self.folder / "agents.lock").rename(self.folder / "real.lock")
        (self.folder / "agents.lock").symlink_to("real.lock")
        before = (self.folder / "real.lock").read_bytes()
        index = self.folder / "mcp.index.json"
        index.write_text(index.read_text().replace("acme-audiences", "other-audiences"))
        refused = natively(["resolve"], self.folder)
        self.assertEqual(refused[0], 2)
        self.assertIn("can't write `agents.lock`", refused[2])
        self.assertEqual(under_wasmtime(["resolve"], self.folder), refused)
        self.assertEqual((self.folder / "real.lock").read_bytes(), before)

    def test_a_file_that_a_killed_run_left_is_in_no_way(self):
        (self.folder / ".agents.lock.0.tmp").write_text("left")
        self.assertEqual(under_wasmtime(["resolve"], self.folder)[0], 0)
        self.assertEqual((self.folder / ".agents.lock.0.tmp").read_text(), "left")
        self.assertFalse((self.folder / ".agents.lock.1.tmp").exists())

    def test_the_version_names_the_engine(self):
        _, component, _ = under_wasmtime(["--version"], self.folder)
        _, native, _ = natively(["--version"], self.folder)
        self.assertEqual(component.splitlines(), native.splitlines()[:2])


class Guards(unittest.TestCase):
    """The scripts below `actions`, with the component in place of the program."""

    def test_the_template_of_gitlab_passes_and_fails_as_the_lock_does(self):
        text = (ROOT / "actions/gitlab/lock.yml").read_text()
        script = text.partition("  script:\n")[2].replace("    - ", "")
        with tempfile.TemporaryDirectory() as project:
            folder = Path(project)
            for name in ["agents.md", "mcp.index.json"]:
                shutil.copy(HELLO / name, folder)
            self.assertEqual(natively(["resolve"], folder)[0], 0)
            variables = {
                "AGENT": f"{WASMTIME} run --allow-precompiled --dir . {COMPILED}",
                "PATH": os.environ["PATH"],
            }
            guard = ["sh", "-ec", script]
            for manifest, expected in [("", 0), ("export:reports", 1)]:
                path = folder / "agents.md"
                path.write_text(path.read_text().replace("read:reports", manifest or "read:reports"))
                done = subprocess.run(guard, cwd=folder, env=variables, capture_output=True)
                self.assertEqual(done.returncode, expected, done)

    def test_the_action_passes_and_fails_as_the_lock_does(self):
        text = (ROOT / "actions/lock/action.yml").read_text()
        script = textwrap.dedent(text.partition("      run: |\n")[2])
        with tempfile.TemporaryDirectory() as project, tempfile.TemporaryDirectory() as temporary:
            folder = Path(project)
            for name in ["agents.md", "mcp.index.json"]:
                shutil.copy(HELLO / name, folder)
            self.assertEqual(natively(["resolve"], folder)[0], 0)
            git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example"]
            for line in [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "base"]]:
                subprocess.run([*git, *line], cwd=folder, check=True)
            (folder / "record.jsonl").write_text("no record\n")

            def guard(audit=""):
                variables = {
                    "PROGRAM": str(COMPONENT),
                    "URL": "",
                    "SHA256": "",
                    "DIRECTORY": ".",
                    "BASE": "HEAD",
                    "AUDIT": audit,
                    "RUNNER_TEMP": temporary,
                    "GITHUB_OUTPUT": f"{temporary}/output",
                    "GITHUB_STEP_SUMMARY": f"{temporary}/summary.md",
                    "HOME": temporary,
                    "PATH": f"{WASMTIME.parent}:{os.environ['PATH']}",
                }
                done = subprocess.run(
                    ["bash", "-c", script], cwd=folder, env=variables, capture_output=True
                )
                return done.returncode, done.stdout.decode()

            self.assertEqual(guard(), (0, ""))
            summary = Path(temporary) / "summary.md"
            self.assertEqual(summary.read_text(), "### No differences\n")
            code, said = guard("record.jsonl")
            self.assertEqual(code, 2)
            self.assertIn("::error", said)
            index = folder / "mcp.index.json"
            index.write_text(index.read_text().replace("acme-audiences", "other-audiences"))
            code, said = guard()
            self.assertEqual(code, 1)
            self.assertIn("::error file=agents.lock", said)


def number(data, at):
    """Reads an unsigned number in LEB128. Returns it, and where it ends."""
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not data[at - 1] & 0x80:
            return value, at


def sections(component):
    """The sections of a component: the kind and the bytes of each."""
    at = 8
    while at < len(component):
        kind = component[at]
        size, at = number(component, at + 1)
        yield kind, component[at : at + size]
        at += size


class Bytes(unittest.TestCase):
    def test_the_engine_is_in_it_as_it_is_released(self):
        inner = [hashlib.sha256(bytes_).digest() for kind, bytes_ in sections(COMPONENT.read_bytes()) if kind == 4]
        self.assertIn(hashlib.sha256(ENGINE.read_bytes()).digest(), inner)

    def test_it_imports_files_streams_arguments_and_its_end(self):
        bytes_ = COMPONENT.read_bytes()
        names = []
        for kind, section in sections(bytes_):
            if kind != 10:
                continue
            count, at = number(section, 0)
            for _ in range(count):
                size, start = number(section, at + 1)
                names.append(section[start : start + size].decode())
                # An instance and its type.
                self.assertEqual(section[start + size], 5)
                _, at = number(section, start + size + 1)
        self.assertEqual(sorted(name.split("@")[0] for name in names), IMPORTS)
        # Of the clock, nothing is called.
        called = b"wasi:cli/environment@0.2.12" + b"\x0dget-arguments"
        self.assertIn(called, bytes_)
        self.assertNotIn(b"wasi:clocks/wall-clock@0.2.12" + b"\x03now", bytes_)


if __name__ == "__main__":
    unittest.main()
