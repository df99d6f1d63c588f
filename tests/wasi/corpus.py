"""The cases of tests/corpus as folders, and the questions that are asked in them."""

import re
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus"

# How the options name the documents of an evaluation context.
CONTEXT = {
    "task": ["task.yaml", "task.json"],
    "tenant": ["tenant.yaml", "tenant.json"],
    "health": ["health.yaml", "health.json"],
    "policy-context": ["context.yaml", "context.json"],
    "policy": ["policy.rego"],
}


class Case:
    """A folder of the corpus: its own files, and those of its base."""

    def __init__(self, folder):
        self.name = str(folder.relative_to(CORPUS))
        area = CORPUS / Path(self.name).parts[0]
        notes = folder / "case.txt"
        lines = notes.read_text().splitlines() if notes.exists() else []
        said = [line.split(": ", 1) for line in lines if re.match(r"[a-z-]+: ", line)]
        said = {key: value for key, value in said}
        base = area / "base"
        if "base" in said:
            base = area / "base" / said["base"] if area.name == "broken" else CORPUS / said["base"]
        absent = {line.removeprefix("absent: ") for line in lines if line.startswith("absent: ")}
        bases = [area / "base", base] if base.is_dir() else []
        self.files = {}
        for source in [*bases, folder]:
            for path in source.iterdir() if source.is_dir() else []:
                if path.is_file() and path.name != "case.txt":
                    self.files[path.name] = path.read_bytes()
        for name in absent:
            self.files.pop(name, None)
        tenant_id = self.files.get("tenant-id.txt", b"").decode().strip()
        self.tenant_id = said.get("tenant-id", tenant_id)
        self.ask = said.get("ask", "")

    def has(self, *names):
        return all(name in self.files for name in names)

    def context(self, *left_out):
        """The options for the documents of the evaluation context."""
        options = []
        for option, names in CONTEXT.items():
            for name in names:
                if option not in left_out and self.has(name):
                    options += [f"--{option}", name]
        if self.tenant_id and "--tenant" in options:
            options += ["--tenant-id", self.tenant_id]
        return options

    def questions(self):
        """Command lines for the documents that there are, the one that the case is about first."""
        context = self.context()
        yield from self.about_plans()
        if self.has("older.lock", "newer.lock"):
            yield ["diff", "older.lock", "newer.lock", "--format", "markdown"]
            yield ["diff", "older.lock", "newer.lock", "--format", "json"]
        if self.has("summary.json", "payload.json"):
            yield ["ground", "summary.json", "--payload", "payload.json"]
        for document in ["server.json", "capture.json", "client.json"]:
            if self.has(document):
                overlay = ["--overlay", "overlay.yaml"] if self.has("overlay.yaml") else []
                yield ["index", "import", document, *overlay, "--index", "imported.json"]
        if self.has("mcp.index.json") and "--task" in context:
            yield ["match", *context]
        if self.has("agents.md"):
            yield ["resolve", "--explain", "--old-index", "mcp.index.json", *context]
            yield ["resolve", "--locked", "--format", "sarif", *context]
            yield ["validate", "--fix", "--format", "json"]
            yield ["validate", "--diff", "--unsafe-fixes"]
            yield ["why", "acme", *context]
        if self.has("agents.lock", "mcp.index.json"):
            yield ["verify", "--format", "github"]
            yield ["tools", "--for", "gemini"]
        if self.has("policy.rego"):
            yield ["policy", "check", "policy.rego"]

    def about_plans(self):
        if self.has("plan.json", "tool-pool.json", "profile.json"):
            request = ["--request", "request.json"] if self.has("request.json") else []
            catalogue = ["--catalog", "catalogue.json"] if self.has("catalogue.json") else []
            documents = ["--tool-pool", "tool-pool.json", "--profile", "profile.json"]
            governed = self.context("task", "health")
            yield ["plan", "check", "plan.json", *documents, *request, *catalogue, *governed]
        for document in ["call.json", "plan.json"]:
            if self.has(document) and not self.has("tool-pool.json"):
                yield ["plan", "check", "--call", document, "--format", "json"]


def cases():
    """All cases with a question, in the order of their names."""
    folders = sorted({path.parent for path in CORPUS.rglob("*") if path.is_file()})
    found = [Case(folder) for folder in folders if folder.name not in ["fixed", "fixed-unsafe"]]
    return [case for case in found if next(case.questions(), None)]
