"""The resolution in its simplest form: every server for every requirement."""

import hashlib
import json
import re

LEVELS = ["public", "internal", "confidential", "pii.low", "pii.moderate", "pii.high"]


def read_manifest(path):
    """Read the generated manifest, not general YAML."""
    text = open(path, encoding="utf-8").read()
    constraint = lambda key: re.search(rf"{key}: (\S+)", text).group(1)
    requirements = [
        (category, sorted(set(permissions.split(", "))))
        for category, permissions in re.findall(
            r"- category: (\S+)\n      permissions: \[(.*)\]", text
        )
    ]
    return constraint("residency"), constraint("sensitivity"), requirements


def meets_constraints(server, residency, sensitivity):
    offered = server["data"]["residency"]
    offered = offered if isinstance(offered, list) else [offered]
    return (residency in offered or "any" in offered) and (
        LEVELS.index(sensitivity) <= LEVELS.index(server["data"]["maxSensitivity"])
    )


def preference(server):
    return (not server["trust"]["signed"], server["id"], server["version"])


def selection(category, permissions, server):
    hashed = f"{server['id']}@{server['version']}|{server['endpoint']}|{','.join(permissions)}"
    # For the generated entries this form equals RFC 8785.
    canonical = json.dumps(server, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {
        "category": category,
        "endpoint": server["endpoint"],
        "hash": hashlib.sha256(hashed.encode()).hexdigest(),
        "id": server["id"],
        "integrity": hashlib.sha256(canonical.encode()).hexdigest(),
        "scopes": permissions,
        "version": server["version"],
    }


def write_lock(selections):
    selections.sort(key=lambda s: (s["category"], s["scopes"], s["id"]))
    with open("agents.lock", "w", encoding="utf-8") as file:
        json.dump({"lockVersion": 1, "selections": selections}, file, indent=2)


def main():
    residency, sensitivity, requirements = read_manifest("agents.md")
    servers = json.load(open("mcp.index.json", encoding="utf-8"))["servers"]
    selections = []
    for category, permissions in requirements:
        eligible = [
            server
            for server in servers
            if category in server["categories"]
            and set(permissions) <= set(server["scopes"])
            and meets_constraints(server, residency, sensitivity)
        ]
        selections.append(selection(category, permissions, min(eligible, key=preference)))
    write_lock(selections)


if __name__ == "__main__":
    main()
