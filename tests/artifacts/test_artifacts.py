"""Installs each artifact of a release from its file into an empty place, and uses it there.

`DIST` is the folder of the release.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf.json_format import ParseDict
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

DIST = Path(os.environ["DIST"])
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "hello-agent"

# A client's configuration whose server a first look must not start.
CLIENT = {"mcpServers": {"sums": {"command": "/usr/bin/python3", "args": ["/home/u/server.py"]}}}

# A server with one tool.
SERVER = """
import json, sys

NUMBERS = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params", {})
    if message["method"] == "initialize":
        version = params["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "sums", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "add", "description": "Adds", "inputSchema": NUMBERS}]}
    elif message["method"] == "tools/call":
        total = params["arguments"]["a"] + params["arguments"]["b"]
        result = {"content": [{"type": "text", "text": str(total)}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""

# What lets the operator's gateway start it.
OPERATOR = """
servers:
  "sums": { command: ["/usr/bin/python3", "/home/u/server.py"], origin: "pkg:generic/sums", read: ["/home/u"] }
"""

# What a client sends: one call.
MESSAGES = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 3}}},
]

# What opens the page of the installed program, whose documents are those of the folder.
VISIT = """
import json, subprocess, urllib.request

served = subprocess.Popen(["agent", "playground", "--idle", "1"], stdout=subprocess.PIPE, text=True)
address, token = served.stdout.readline().strip().split("#local.")
page = urllib.request.urlopen(address).read().decode()
request = urllib.request.Request(address + "documents.json", headers={"Authorization": "Bearer " + token})
documents = json.load(urllib.request.urlopen(request))
assert documents["manifest"] == open("agents.md").read(), documents
assert served.wait() == 0
print(page)
"""

# What asks the installed decision point about a tool that is not locked.
ASK = """
import json, socket, subprocess

pdp = subprocess.Popen(["agent", "pdp", "--socket", "pdp.sock"], stderr=subprocess.PIPE, text=True)
assert pdp.stderr.readline().startswith("decides at ")
body = json.dumps({"tool": "none", "subject": {"id": "a", "type": "user"}})
asked = socket.socket(socket.AF_UNIX)
asked.connect("pdp.sock")
head = f"POST /v1/decide HTTP/1.1\\r\\nhost: a\\r\\ncontent-type: application/json\\r\\ncontent-length: {len(body)}\\r\\n"
asked.sendall(f"{head}connection: close\\r\\n\\r\\n{body}".encode())
answer = b"".join(iter(lambda: asked.recv(65536), b""))
pdp.terminate()
print(answer.decode())
"""


def only(pattern):
    """The only file of the release with such a name."""
    [file] = DIST.glob(pattern)
    return file


class Place(unittest.TestCase):
    """A root that holds the system's libraries, an installed artifact and a home, and nothing else."""

    SECOND_NAME = "mcp"

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.prefix = self.folder / "prefix"
        self.prefix.mkdir()

    def here(self, *command):
        # Sandboxes within mount a /proc of their own, which the kernel allows only below a whole one.
        bubblewrap = ["bwrap", "--unshare-user", "--unshare-net", "--unshare-ipc", "--die-with-parent"]
        bubblewrap += ["--bind", "/proc", "/proc", "--dev", "/dev"]
        for folder in ["/usr", "/lib", "/lib64", "/bin"]:
            bubblewrap += ["--ro-bind-try", folder, folder]
        bubblewrap += ["--tmpfs", "/tmp", "--bind", self.home, "/home/u", "--ro-bind", self.prefix, self.prefix]
        bubblewrap += ["--setenv", "HOME", "/home/u", "--setenv", "PATH", f"{self.prefix}/bin:/usr/bin:/bin"]
        return [*bubblewrap, "--chdir", "/home/u", *command]

    def run_here(self, *command, code=0):
        ran = subprocess.run(self.here(*command), capture_output=True, text=True, env={})
        self.assertEqual(ran.returncode, code, f"{command}: {ran.stdout}{ran.stderr}")
        return ran.stdout + ran.stderr

    def unpack(self, *patterns):
        """Unpacks archives below the prefix, and returns the paths of their files."""
        names = []
        for file in map(only, patterns):
            with tarfile.open(file) as archive:
                names += [Path(*Path(name).parts[1:]) for name in archive.getnames()]
            subprocess.run(["tar", "-xzf", file, "--strip-components=1", "-C", self.prefix], check=True)
        return names

    def use(self):
        """What people do first with a program."""
        shutil.rmtree(self.home)
        self.home.mkdir()
        version = self.run_here("agent", "--version")
        self.assertIn("engine sha256:", version)
        for file in ["agents.md", "mcp.index.json"]:
            shutil.copy(EXAMPLE / file, self.home)
        self.run_here("agent", "verify", code=1)
        self.assertIn("wrote agents.lock", self.run_here("agent", "resolve"))
        lock = json.loads((self.home / "agents.lock").read_text())
        self.assertEqual([it["id"] for it in lock["selections"]], ["acme-audiences", "chart-reports"])
        self.run_here("agent", "verify")
        self.run_here("agent", "resolve", "--locked")
        (self.home / "agents.md").unlink()
        self.assertIn("agents.md", self.run_here("agent", "init"))
        (self.home / ".cursor").mkdir(exist_ok=True)
        (self.home / ".cursor" / "mcp.json").write_text(json.dumps(CLIENT))
        (self.home / "server.py").write_text("raise SystemExit('started')\n")
        listed = self.run_here("agent", "adopt", "--dry-run")
        self.assertIn('"command": "', listed)
        self.assertNotIn("started", listed)
        self.serve()
        self.visit()
        self.assertIn(f"Usage: {self.SECOND_NAME} ", self.run_here("mcp", "--help"))
        self.assertIn("::notice", self.run_here("mcp", "ci", 'Answer "hello"'))

    def visit(self):
        """The page of the program."""
        self.assertIn('<script type="module"', self.run_here("/usr/bin/python3", "-c", VISIT))

    def serve(self):
        """One call through the gateway."""
        for path in [*self.home.glob("agents.*"), self.home / "mcp.index.json"]:
            path.unlink()
        (self.home / "server.py").write_text(SERVER)
        server = ["--", "/usr/bin/python3", "/home/u/server.py"]
        add = ["agent", "index", "add", "sums", "--capability", "add=read:x-sums", "--read", "/home/u"]
        self.run_here(*add, *server)
        self.run_here("agent", "init")
        self.run_here("agent", "resolve")
        operator = self.home / ".config/agent/servers.local.yaml"
        operator.parent.mkdir(parents=True)
        operator.write_text(OPERATOR)
        operator.chmod(0o600)
        with subprocess.Popen(
            self.here("agent", "serve"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={},
        ) as served:
            for message in MESSAGES:
                print(json.dumps(message), file=served.stdin, flush=True)
            self.assertIn('"name":"agent"', served.stdout.readline())
            called = json.loads(served.stdout.readline())
            served.stdin.close()
        self.assertEqual(called["result"]["content"], [{"type": "text", "text": "5"}])


class Tarball(Place):
    def test_it_works_and_leaves_nothing(self):
        archives = ["agent-[0-9]*.tar.gz", "agent-playground-*.tar.gz"]
        names = self.unpack(*archives)
        self.use()
        self.assertEqual(names, self.unpack(*archives), "over an earlier one")
        self.use()
        for page in ["agent.1", "agent-adopt.1", "mcp.1", "mcp-run.1"]:
            self.assertTrue((self.prefix / "share/man/man1" / page).is_file(), page)
        for file in ["bash-completion/completions/mcp", "zsh/site-functions/_agent", "doc/agent/THIRD-PARTY-LICENCES"]:
            self.assertTrue((self.prefix / "share" / file).is_file(), file)
        for name in names:
            path = self.prefix / name
            if path.is_symlink() or path.is_file():
                path.unlink()
        self.assertEqual([path for path in self.prefix.rglob("*") if not path.is_dir()], [])

    def test_its_program_names_no_folder_of_this_machine(self):
        with tarfile.open(only("agent-[0-9]*.tar.gz")) as archive:
            [name] = [name for name in archive.getnames() if name.endswith("/bin/agent")]
            program = archive.extractfile(name).read()
        for folder in [ROOT, Path.home()]:
            self.assertNotIn(f"{folder}/".encode(), program)

    def test_it_is_small(self):
        self.assertLessEqual(only("agent-[0-9]*.tar.gz").stat().st_size, 25 << 20)


class Fleet(Place):
    def test_it_decides_beside_the_program(self):
        names = self.unpack("agent-[0-9]*.tar.gz", "agent-pdp-*.tar.gz")
        self.assertIn(Path("bin/agent-pdp"), names)
        self.assertTrue((self.prefix / "share/doc/agent-pdp/THIRD-PARTY-LICENCES").is_file())
        shutil.copytree(EXAMPLE, self.home, dirs_exist_ok=True)
        self.run_here("agent", "resolve", "--quiet")
        self.assertIn('"allowed":false', self.run_here("python3", "-c", ASK))

    def test_its_program_names_no_folder_of_this_machine(self):
        with tarfile.open(only("agent-pdp-*.tar.gz")) as archive:
            [name] = [name for name in archive.getnames() if name.endswith("/bin/agent-pdp")]
            program = archive.extractfile(name).read()
        for folder in [ROOT, Path.home()]:
            self.assertNotIn(f"{folder}/".encode(), program)


class Wheel(Place):
    # A wheel holds no links.
    SECOND_NAME = "agent app"

    def test_it_works_and_leaves_nothing(self):
        subprocess.run(["python3", "-m", "venv", self.prefix], check=True)
        before = sorted(self.prefix.rglob("*"))
        pip = [self.prefix / "bin" / "python3", "-m", "pip", "--quiet", "--disable-pip-version-check"]
        install = [*pip, "install", "--no-index", "--no-deps", "--no-compile", "--force-reinstall", only("*.whl")]
        for _ in range(2):
            subprocess.run(install, check=True)
            self.use()
        self.assertIn("engine sha256:", self.run_here("agent-engine", "--version"))
        subprocess.run([*pip, "uninstall", "--yes", "agent-engine"], check=True)
        # pip leaves the folder around that of the page.
        expected = {*before, self.prefix / "share"}
        left = {path for path in self.prefix.rglob("*") if "__pycache__" not in path.parts} - expected
        self.assertEqual(left, set())


class Npm(Place):
    def test_it_works_and_leaves_nothing(self):
        packages = [only("agent-engine-linux-*.tgz"), only("agent-engine-[0-9]*.tgz")]
        npm = ["npm", "--global", f"--prefix={self.prefix}", "--offline", "--no-audit", "--no-fund", "--silent"]
        for _ in range(2):
            subprocess.run([*npm, "install", *packages], check=True)
            self.use()
        child = subprocess.run(
            [self.prefix / "bin/agent", "validate", "no-such.md"], capture_output=True, text=True, cwd=self.home
        )
        self.assertEqual(child.returncode, 2, child.stderr)
        names = [file.name.rsplit("-", 1)[0] for file in packages]
        subprocess.run([*npm, "uninstall", *names], check=True)
        left = [path for path in self.prefix.rglob("*") if path.is_file() and path.name != ".package-lock.json"]
        self.assertEqual(left, [])


class Cargo(Place):
    """The packages for `cargo install`, in a folder that replaces the registry."""

    # Cargo installs the program under its first name.
    SECOND_NAME = "mcp"

    def registry(self):
        """A folder with our packages, and with those that they need."""
        folder = self.folder / "registry"
        vendor = ["cargo", "vendor", "--quiet", "--locked", "--versioned-dirs", folder]
        subprocess.run(vendor, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        for crate in DIST.glob("crates/*.crate"):
            subprocess.run(["tar", "-xzf", crate, "-C", folder], check=True)
            checksum = {"files": {}, "package": hashlib.sha256(crate.read_bytes()).hexdigest()}
            (folder / crate.stem / ".cargo-checksum.json").write_text(json.dumps(checksum))
        return folder

    def test_it_needs_neither_the_target_for_wasm_nor_a_network(self):
        cargo_home = self.folder / "cargo"
        cargo_home.mkdir()
        (cargo_home / "config.toml").write_text(
            f'[source.crates-io]\nreplace-with = "local"\n[source.local]\ndirectory = "{self.registry()}"\n'
        )
        compiler = self.folder / "rustc.sh"
        compiler.write_text('#!/bin/sh\ncase "$*" in *"--target wasm32"*) exit 1 ;; esac\nexec "$@"\n')
        compiler.chmod(0o755)
        kept = {key: os.environ[key] for key in ["PATH", "HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] if key in os.environ}
        environment = {**kept, "CARGO_HOME": str(cargo_home), "RUSTC_WRAPPER": str(compiler)}
        # Rustup lies in the user's own folder of cargo.
        environment["PATH"] = f"{Path.home()}/.cargo/bin:{environment['PATH']}"
        install = ["cargo", "install", "agent-engine", "--locked", "--offline", "--quiet", "--root", self.prefix]
        target = ["--target-dir", self.folder / "target"]
        subprocess.run([*install, *target], env=environment, cwd=self.folder, check=True)
        (self.prefix / "bin/mcp").symlink_to("agent")
        page = only("agent-playground-*.tar.gz")
        subprocess.run(["tar", "-xzf", page, "--strip-components=1", "-C", self.prefix], check=True)
        self.use()
        uninstall = ["cargo", "uninstall", "agent-engine", "--quiet", "--root", self.prefix]
        subprocess.run(uninstall, env=environment, check=True)
        self.assertEqual([path.name for path in (self.prefix / "bin").iterdir()], ["mcp"])

    def test_each_is_small(self):
        sizes = {crate.name: crate.stat().st_size for crate in DIST.glob("crates/*.crate")}
        self.assertGreater(len(sizes), 20)
        self.assertLessEqual(max(sizes.values()), 10_000_000, sizes)


class Documents(unittest.TestCase):
    def test_the_sums_are_those_of_the_files(self):
        lines = (DIST / "SHA256SUMS").read_text().splitlines()
        self.assertGreater(len(lines), 8)
        for line in lines:
            digest, name = line.split("  ")
            self.assertEqual(hashlib.sha256((DIST / name).read_bytes()).hexdigest(), digest, name)

    def test_the_bill_is_valid_and_names_what_matters(self):
        text = (DIST / "bom.cdx.json").read_text()
        self.assertIsNone(JsonStrictValidator(SchemaVersion.V1_6).validate_str(text))
        bill = json.loads(text)
        names = {component["name"] for component in bill["components"]}
        # The runtime, and the evaluation of policies, which is in the component alone.
        self.assertLessEqual({"wasmtime", "regorus", "agent-decide", "agent-pdp", "async-nats"}, names)
        self.assertNotIn("proptest", names)

    def test_the_statement_names_every_file(self):
        statement = json.loads((DIST / "provenance.json").read_text())
        parsed = Statement.copy_from_pb(ParseDict(statement, statement_pb2.Statement()))
        parsed.validate()
        subjects = {subject["name"] for subject in statement["subject"]}
        found = [*DIST.glob("*.*"), *DIST.glob("crates/*"), *DIST.glob("wit/**/*")]
        files = {str(path.relative_to(DIST)) for path in found if path.is_file()}
        self.assertEqual(subjects, files - {"provenance.json", "provenance.dsse.json"})

    def test_a_signature_verifies(self):
        private = Ed25519PrivateKey.generate()
        with tempfile.TemporaryDirectory() as folder:
            key = Path(folder) / "key.pem"
            key.write_bytes(
                private.private_bytes(
                    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
                )
            )
            envelope = Path(folder) / "envelope.json"
            sign = [sys.executable, ROOT / "xtask/src/dist/sign.py", key, DIST / "provenance.json", envelope]
            subprocess.run(sign, check=True)
            signed = Envelope.from_dict(json.loads(envelope.read_text()))
        signed.verify([SSlibKey.from_crypto(private.public_key())], 1)
        self.assertEqual(signed.payload, (DIST / "provenance.json").read_bytes())


if __name__ == "__main__":
    unittest.main()
