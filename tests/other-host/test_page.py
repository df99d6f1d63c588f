"""The Python programs of docs/how-to/other-host.md do what the page says.

They run as they are written there, with the component that `AGENT_ENGINE` names. The only server is
one of this file, on the loopback interface.
"""

import base64
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from wasmtime.component import Variant

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/other-host.md").read_text()
PLANS = ROOT / "examples/plans"

# Seconds for a program: compiling the engine takes some five on a free machine.
TIME_LIMIT = 600

# Milliseconds for a request that has to succeed, and for one that has to be given up.
ENOUGH = 60_000
SHORT = 200

REPORT = b'{"visits": 3.10}'

# The files of every run, below its folder. There are also episodes and logs.
DOCUMENTS = {
    "episodes/index.jsonl",
    "instruction_profile.json",
    "plan.envelope.json",
    "request.envelope.json",
    "run_summary.json",
    "tool_pool.json",
    "validation_report.json",
}


def program(name):
    """Returns the Python program that the page calls `name`."""
    found = re.findall(rf"`{re.escape(name)}`:\n\n```python\n(.*?)```\n", PAGE, re.DOTALL)
    assert len(found) == 1, f"{len(found)} programs are called {name}"
    return found[0]


def digest(content):
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()


class Answers(BaseHTTPRequestHandler):
    """A server of reports. It remembers all requests."""

    def answer(self):
        length = int(self.headers["Content-Length"] or 0)
        body = self.rfile.read(length)
        self.server.requests.append((self.command, self.path, dict(self.headers), body))
        match self.path:
            case "/2026/01.json":
                self.send(200, REPORT, {"Content-Type": "application/json; charset=utf-8"})
            case "/text":
                self.send(200, b"a \"text\"", {"Content-Type": "text/plain"})
            case "/redirect":
                self.send(302, b"", {"Location": "/2026/01.json"})
            case "/cut":
                self.send(200, b"half", {"Content-Length": "8"})
            case "/broken":
                self.send(200, b'1,"status":201', {"Content-Type": "application/json"})
            case "/slow":
                # The end of the test ends the wait.
                self.server.is_over.wait(TIME_LIMIT)
            case "/drip":
                self.send_endlessly(b".", SHORT / 1000 / 10)
            case "/flood":
                self.send_endlessly(b"." * 1024, 0)

    do_GET = do_POST = answer

    def send(self, status, body, headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def send_endlessly(self, part, pause):
        """Sends a body without a length until the client has enough of it, or the test is over."""
        self.send_response(200)
        self.end_headers()
        try:
            while not self.server.is_over.wait(pause):
                self.wfile.write(part)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Test(unittest.TestCase):
    """Has a server and a folder with the programs."""

    def setUp(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.requests, self.server.is_over = [], threading.Event()
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.port = self.server.server_port
        self.folder = Path(tempfile.mkdtemp())

        def end():
            self.server.is_over.set()
            self.server.shutdown()
            thread.join()
            self.server.server_close()
            shutil.rmtree(self.folder)

        self.addCleanup(end)
        for name in ["host.py", "run.py"]:
            (self.folder / name).write_text(program(name))

    def start(self, name, *arguments):
        """Runs a program in the folder, without proxies from the environment."""
        engine = os.environ["AGENT_ENGINE"]
        words = [sys.executable, name, engine, *arguments]
        environment = {**os.environ, "http_proxy": "http://127.0.0.1:1"}
        return subprocess.run(
            words,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )


class Resolution(Test):
    def test_the_first_example_prints_what_the_page_shows(self):
        for name in ["agents.md", "mcp.index.json"]:
            shutil.copy(ROOT / "examples/hello-agent" / name, self.folder)
        ended = self.start("host.py", "agents.md", "mcp.index.json")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        shown = re.search(r"it prints\n\n```text\n(.*?)```\n", PAGE, re.DOTALL)
        self.assertEqual(ended.stdout, shown[1])
        self.assertTrue((self.folder / "agents.lock").exists())


class Runs(Test):
    """Runs of whole plans, with the engine."""

    def run_plan(self, change=lambda plan, binding, profile: None):
        """Runs the example of a plan over HTTP against the server of this test. `change` gets
        the plan, the binding of its first step, and the profile."""
        origin = f"http://localhost:{self.port}"
        documents = {}
        for name in ["http.plan", "tool-pool", "profile"]:
            text = (PLANS / f"{name}.json").read_text()
            documents[name] = json.loads(text.replace("https://reports.example", origin))
        plan, pool, profile = documents.values()
        [binding] = (it for it in pool["bindings"] if it["tool_id"] == "get-report")
        binding["non_public_addresses"] = ["127.0.0.1", "::1"]
        binding["limits"]["timeout_ms"] = profile["caps"]["max_timeout_ms"] = ENOUGH
        change(plan["plan"], binding, profile)
        for name, document in documents.items():
            (self.folder / f"{name}.json").write_text(json.dumps(document))
        ended = self.start("run.py", *(f"{name}.json" for name in documents))
        self.assertEqual(ended.stderr, "")
        return ended.returncode, ended.stdout

    def evidence(self, *steps):
        """Checks the files and the chain of the only run. Returns its summary and its episodes."""
        [run] = (self.folder / "artifacts/mova_agent/hello-2/runs").iterdir()
        lines = (run / "episodes/index.jsonl").read_bytes().splitlines()
        episodes, previous, expected = [], None, set(DOCUMENTS)
        for line in lines:
            entry = json.loads(line)
            name = f"episodes/{entry['episode_id']}.json"
            expected.add(name)
            content = (run / name).read_bytes()
            self.assertEqual(entry["digest"], digest(content), name)
            self.assertEqual(entry["previous"], previous, name)
            previous = digest(line)
            episodes.append(json.loads(content))
        summary = json.loads((run / "run_summary.json").read_bytes())
        self.assertEqual(summary["chain"], {"episodes": len(lines), "head": previous})
        expected.update(f"logs/{step}.log" for step in steps)
        files = {str(it.relative_to(run)) for it in run.rglob("*") if it.is_file()}
        self.assertEqual(files, expected)
        return summary, episodes

    def test_a_noop_plan(self):
        def only_keep(plan, binding, profile):
            [_, keep] = plan["steps"]
            del keep["input_from"]
            keep["input"] = {"visits": 3}
            plan["steps"] = [keep]

        status, text = self.run_plan(only_keep)
        self.assertEqual((status, text.splitlines()[0]), (0, "✓ completed: visits"))
        summary, episodes = self.evidence("visits")
        self.assertEqual(summary["status"], "completed")
        [output] = [it["output"] for it in details(episodes) if "output" in it]
        self.assertEqual(output["value"], {"visits": 3})
        self.assertEqual(self.server.requests, [])

    def test_an_http_plan(self):
        # The schema of the example asks for whole numbers.
        def any_number(plan, binding, profile):
            visits = binding["output_schema"]["properties"]["body"]["properties"]["visits"]
            visits["type"] = "number"

        status, text = self.run_plan(any_number)
        self.assertEqual((status, text.splitlines()[0]), (0, "✓ completed: visits"))
        summary, episodes = self.evidence("report", "visits")
        self.assertEqual(summary["status"], "completed")
        outputs = [it["output"] for it in details(episodes) if "output" in it]
        values = [output["value"] for output in outputs]
        self.assertEqual(values, [{"body": {"visits": 3.1}, "status": 200}, 3.1])
        # The received bytes, not another notation of them.
        self.assertEqual(outputs[0]["bytes"], len('{"body":,"status":200}') + len(REPORT))
        [(method, path, headers, body)] = self.server.requests
        self.assertEqual((method, path, body), ("GET", "/2026/01.json", b""))
        self.assertEqual(headers["Host"], f"localhost:{self.port}")
        actions = Counter(it["action"] for it in details(episodes) if it["record"] == "decision")
        self.assertEqual(actions["resolve"], 1)
        self.assertEqual(actions["request"], 1)

    def test_a_denied_plan(self):
        def allow_only_reports(plan, binding, profile):
            rules = profile["rules"]
            profile["rules"] = [it for it in rules if it["rule_id"] == "read-reports"]

        status, text = self.run_plan(allow_only_reports)
        self.assertEqual((status, text.splitlines()[0]), (1, "✗ failed: visits"))
        summary, episodes = self.evidence()
        self.assertEqual((summary["status"], summary["code"]), ("failed", "policy_denied"))
        kinds = [it["security_event_type"] for it in episodes if "security_event_type" in it]
        self.assertEqual(kinds, ["forbidden_tool_requested"])
        self.assertEqual(self.server.requests, [])

    def test_a_denied_address(self):
        def public_only(plan, binding, profile):
            del binding["non_public_addresses"]

        status, _ = self.run_plan(public_only)
        summary, _ = self.evidence("report")
        self.assertEqual((status, summary["code"]), (1, "destination_denied"))
        self.assertEqual(self.server.requests, [])


def details(episodes):
    """Returns the facts about steps."""
    steps = (it for it in episodes if it["episode_type"] == "execution/step")
    return [it["result_details"] for it in steps]


class Effects(Test):
    """Single effects, without the engine."""

    def setUp(self):
        super().setUp()
        spec = importlib.util.spec_from_file_location("run", self.folder / "run.py")
        self.host = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.host)
        self.host.EVIDENCE = self.folder / "evidence"

    def perform(self, tag, **fields):
        return self.host.perform_in_time(Variant(tag, self.host.record(**fields)))

    def connection(self, host):
        return self.host.record(tls=False, host=host, port=self.port, address="127.0.0.1")

    def request(self, target, **changes):
        fields = {
            "connection": self.connection("reports.example"),
            "method": "GET",
            "target": target,
            "headers": [],
            "body": None,
            "max_body_bytes": len(REPORT),
            "timeout_ms": ENOUGH,
        }
        return self.perform("request", **{**fields, **changes})

    def assert_failed(self, outcome, kind):
        self.assertEqual((outcome.tag, outcome.payload.kind), ("failed", kind), outcome)

    def test_the_name_is_sent_and_not_resolved(self):
        headers = [self.host.record(name="x-a", value=Variant("literal", "b"))]
        outcome = self.request("/2026/01.json", method="POST", body=b"{}", headers=headers)
        self.assertEqual((outcome.tag, outcome.payload.body), ("response", REPORT))
        [(method, _, sent, body)] = self.server.requests
        self.assertEqual((method, sent["x-a"], body), ("POST", "b", b"{}"))
        self.assertEqual(sent["Host"], f"reports.example:{self.port}")

    def test_an_ipv6_address_has_brackets_in_its_header(self):
        self.request("/2026/01.json", connection=self.connection("[::1]"))
        [(_, _, sent, _)] = self.server.requests
        self.assertEqual(sent["Host"], f"[::1]:{self.port}")

    def test_a_redirect_is_the_response(self):
        outcome = self.request("/redirect")
        self.assertEqual(outcome.payload.status, 302)
        self.assertEqual([path for _, path, *_ in self.server.requests], ["/redirect"])

    def test_bad_responses_are_failures(self):
        limit = len(REPORT) - 1
        self.assert_failed(self.request("/2026/01.json", max_body_bytes=limit), "limit-exceeded")
        self.assert_failed(self.request("/flood"), "limit-exceeded")
        self.assert_failed(self.request("/cut"), "failed")

    def test_late_responses_are_failures(self):
        self.assert_failed(self.request("/drip", timeout_ms=SHORT), "timeout")
        # Without the limit of the whole effect, that of each read is left.
        self.host.perform_in_time = self.host.perform
        self.assert_failed(self.request("/slow", timeout_ms=SHORT), "timeout")

    def test_a_secret_is_not_sent_by_its_name(self):
        header = self.host.record(name="authorization", value=Variant("secret", "KEY"))
        self.assert_failed(self.request("/text", headers=[header]), "unavailable")
        self.assertEqual(self.server.requests, [])

    def test_the_output_of_a_response(self):
        def output(target):
            reply = Variant("response", self.request(target).payload)
            outcome = self.host.perform_in_time(Variant("resume-handler", reply))
            return outcome if outcome.tag == "failed" else outcome.payload.event.payload

        self.assertEqual(output("/2026/01.json"), b'{"body":%s,"status":200}' % REPORT)
        self.assertEqual(json.loads(output("/text")), {"body": 'a "text"', "status": 200})
        self.assertEqual(json.loads(output("/redirect")), {"body": "", "status": 302})
        self.assert_failed(output("/broken"), "failed")

    def test_other_actions_are_unavailable(self):
        self.assert_failed(self.perform("run-program", timeout_ms=ENOUGH), "unavailable")
        self.assert_failed(self.perform("call-handler", driver_kind="mcp-proxy"), "unavailable")
        listed = self.host.perform_in_time(Variant("list-tools", ENOUGH))
        self.assert_failed(listed, "unavailable")

    def test_files_are_replaced_and_appended_to(self):
        for mode, content in [("replace", b"1\n"), ("append", b"2\n"), ("append", b"3\n")]:
            self.perform("store", path="a/b", content=content, mode=mode)
        folder = self.host.EVIDENCE / "a"
        self.assertEqual((folder / "b").read_bytes(), b"1\n2\n3\n")
        outcome = self.perform("store", path="a/b", content=b"4\n", mode="replace")
        self.assertEqual(outcome, Variant("stored"))
        self.assertEqual((folder / "b").read_bytes(), b"4\n")
        self.assertEqual([it.name for it in folder.iterdir()], ["b"])
        below_a_file = self.perform("store", path="a/b/c", content=b"", mode="append")
        self.assert_failed(below_a_file, "failed")


class Page(unittest.TestCase):
    def test_the_page_names_the_tested_version(self):
        requirements = (Path(__file__).parent / "requirements.txt").read_text()
        [version] = re.findall(r"^wasmtime==(\S+)$", requirements, re.MULTILINE)
        self.assertIn(f"tested with version {version} ", PAGE)


if __name__ == "__main__":
    unittest.main()
