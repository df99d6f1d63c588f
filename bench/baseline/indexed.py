"""The resolution in a fast form: constraints once, then sets by category."""

import json

from naive import meets_constraints, preference, read_manifest, selection, write_lock


def main():
    residency, sensitivity, requirements = read_manifest("agents.md")
    servers = json.load(open("mcp.index.json", encoding="utf-8"))["servers"]
    fitting = [s for s in servers if meets_constraints(s, residency, sensitivity)]
    fitting.sort(key=preference)
    by_category = {}
    for server in fitting:
        entry = (server, frozenset(server["scopes"]))
        for category in server["categories"]:
            by_category.setdefault(category, []).append(entry)
    selections = []
    for category, permissions in requirements:
        needed = frozenset(permissions)
        server = next(server for server, scopes in by_category[category] if needed <= scopes)
        selections.append(selection(category, permissions, server))
    write_lock(selections)


if __name__ == "__main__":
    main()
