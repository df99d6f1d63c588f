"""Plans checked by one of two libraries: jsonschema or jsonschema_rs."""

import json
import sys
import time
from pathlib import Path


def errors_by_jsonschema(plan_schema, step_schema):
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    registry = Resource.from_contents(step_schema) @ Registry()
    validator = Draft202012Validator(plan_schema, registry=registry)
    return validator.iter_errors


def errors_by_jsonschema_rs(plan_schema, step_schema):
    from jsonschema_rs import Draft202012Validator, Registry

    registry = Registry([(step_schema["$id"], step_schema)])
    validator = Draft202012Validator(plan_schema, registry=registry)
    return validator.iter_errors


def main():
    library, folder, warm, timed = sys.argv[1:]
    folder = Path(folder)
    schemas = [json.loads((folder / f"{name}.schema.json").read_bytes()) for name in ("plan", "step")]
    libraries = {"jsonschema": errors_by_jsonschema, "jsonschema_rs": errors_by_jsonschema_rs}
    errors = libraries[library](*schemas)
    plans = (folder / "plans.jsonl").read_bytes().splitlines(keepends=True)

    def count(plan):
        return len(list(errors(json.loads(plan))))

    nanoseconds = []
    for number in range(int(warm) + int(timed)):
        start = time.perf_counter_ns()
        counts = [count(plan) for plan in plans]
        if number >= int(warm):
            nanoseconds.append(time.perf_counter_ns() - start)
    print(json.dumps({"errors": counts, "nanoseconds": nanoseconds}))


if __name__ == "__main__":
    main()
