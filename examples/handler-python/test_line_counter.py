"""The handler is admitted, runs in a plan through the program `agent`, and imports nothing but its world.

`cargo xtask handler-python` builds the components and runs these tests. `AGENT` names the program,
`HANDLER` the component, and `WITH_WASI` the same component with the imports of its Python.
"""

import json
import os
import subprocess
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

AGENT = os.environ["AGENT"]
HANDLER = os.environ["HANDLER"]
WITH_WASI = os.environ["WITH_WASI"]

# Seconds for a program: compiling a handler takes minutes in a build for development.
TIME_LIMIT = 1800

LIMITS = {
    "timeout_ms": 60_000,
    "max_input_bytes": 4096,
    "max_output_bytes": 4096,
    "max_log_bytes": 4096,
}

CAPS = {
    "max_steps": 1,
    "max_timeout_ms": LIMITS["timeout_ms"],
    "max_input_bytes": LIMITS["max_input_bytes"],
    "max_output_bytes": LIMITS["max_output_bytes"],
    "max_log_bytes": LIMITS["max_log_bytes"],
}


class Text(BaseHTTPRequestHandler):
    """Answers with the bytes of its server."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(self.server.text)))
        self.end_headers()
        self.wfile.write(self.server.text)

    def log_message(self, *arguments):
        pass


def agent(*arguments, folder):
    """Runs the program. The code of handlers is kept beside the component."""
    return subprocess.run(
        [AGENT, *arguments],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(Path(HANDLER).parent / "cache")},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )


class LineCounter(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Text)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def write(self, name, value):
        path = self.folder / name
        path.write_text(json.dumps(value))
        path.chmod(0o600)

    def run_plan(self, text, path="/text"):
        """Runs a plan of one step with the handler. Returns the run, its output and its log."""
        self.server.text = text
        origin = f"http://127.0.0.1:{self.server.server_port}"
        checked = agent("handler", "check", HANDLER, "--kind", "http", "--format", "json", folder=self.folder)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        digest = json.loads(checked.stdout)["digest"]
        admitted = {"digest": digest, "kind": "http", "path": HANDLER}
        self.write("servers.yaml", {"handlers": [admitted]})
        connector = {"connector_id": "core:web", "provider": "internal", "resource": "web", "protocol": "http"}
        binding = {
            "connector_id": "core:web",
            "tool_id": "count",
            "driver_kind": "http",
            "handler": digest,
            "methods": ["GET"],
            "destinations": [origin],
            "non_public_addresses": ["127.0.0.1"],
            "limits": LIMITS,
        }
        self.write(
            "tool-pool.json",
            {
                "schema_id": "ds.mova_agent_tool_pool_v1",
                "pool_id": "pool",
                "pool_version": "1.0.0",
                "connectors": [connector],
                "bindings": [binding],
            },
        )
        rule = {"rule_id": "count", "effect": "allow", "target": {"kind": "tool", "selector": "core:web/count"}}
        self.write(
            "profile.json",
            {
                "schema_id": "ds.instruction_profile_core_v1",
                "profile_id": "profile",
                "security_model_version": "1.0.0",
                "status": "active",
                "caps": CAPS,
                "rules": [rule],
            },
        )
        step = {
            "step_id": "count",
            "connector_id": "core:web",
            "tool_id": "count",
            "input": {"method": "GET", "url": origin + path},
        }
        self.write(
            "plan.json",
            {
                "envelope_id": "env.mova_agent_plan_v1",
                "verb": "create",
                "roles": {"planner": "a-model", "executor": "agent"},
                "plan": {
                    "plan_id": "lines",
                    "request_id": "lines",
                    "tool_pool_ref": {"pool_id": "pool", "pool_version": "1.0.0"},
                    "instruction_profile_ref": {"profile_id": "profile"},
                    "steps": [step],
                },
            },
        )
        ran = agent("run-plan", "--plan", "plan.json", "--servers", "servers.yaml", folder=self.folder)
        (evidence,) = self.folder.glob("artifacts/mova_agent/lines/runs/*")
        summary = json.loads((evidence / "run_summary.json").read_text())
        self.assertEqual(summary["steps"][0]["handler"], digest)
        episode = evidence / "episodes" / (summary["steps"][0]["episode_id"] + ".json")
        output = json.loads(episode.read_text())["result_details"].get("output", {}).get("value")
        return ran, output, (evidence / "logs/count.log").read_text()

    def test_it_counts_the_lines_of_a_text(self):
        ran, output, log = self.run_plan(b"one\ntwo\nthree\n")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(output, {"body": {"lines": 3}, "status": 200})
        self.assertEqual(log, "14 bytes\n")

    def test_its_error_fails_the_step(self):
        ran, _, _ = self.run_plan(b"\xff")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("handler_failed", ran.stdout)
        self.assertIn("the response is not UTF-8", ran.stdout)

    def test_a_component_that_imports_more_is_refused(self):
        checked = agent("handler", "check", WITH_WASI, "--kind", "http", folder=self.folder)
        self.assertEqual(checked.returncode, 1)
        self.assertRegex(checked.stderr, "it imports .*`wasi:cli/environment@")


if __name__ == "__main__":
    unittest.main()
