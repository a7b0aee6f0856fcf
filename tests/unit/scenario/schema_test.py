"""The published JSON schema against real files: every scenario of the repository is valid under it, and what
the loader refuses for its shape is not. Usage: schema_test.py PROGRAM SCENARIOS_FOLDER"""

import json
import pathlib
import subprocess
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """Scalars as the program reads them: 1_000 is a number, a calendar time is text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

GOOD = """
handoff: 1
name: small
model: llama-3.1-8b
engine: sglang-v2
cluster:
  context_window: 32768
  prefill: {nodes: 1, hardware: 8xh200}
  decode: {nodes: 1, hardware: 8xh200}
workload:
  - requests: [{at: 0s, prompt_tokens: 100}]
"""

BAD = {
    "unknown key": GOOD + "sede: 1\n",
    "unknown key below": GOOD.replace("nodes: 1, hardware: 8xh200}\n  decode", "node: 1, hardware: h200}\n  decode"),
    "missing name": GOOD.replace("name: small\n", ""),
    "missing workload": GOOD[: GOOD.index("workload")],
    "negative count": GOOD.replace("nodes: 1", "nodes: -1"),
    "text for a number": GOOD.replace("nodes: 1", "nodes: many"),
    "duration without unit": GOOD.replace("at: 0s", "at: 0"),
    "wrong unit": GOOD + "terminate_within: 3GB\n",
    "unknown enumeration": GOOD + "stepping: lasy\n",
    "list for a mapping": GOOD.replace("workload:", "network: []\nworkload:"),
    "two sources": GOOD.replace("requests:", "trace: a.csv\n    requests:"),
    "unknown rule": GOOD + "expect: {findings: {I9: 1}}\n",
    "unknown metric": GOOD + "expect: {taint: 1}\n",
    "fix without a change": GOOD + "fixed: [{name: x}]\n",
}


def main():
    program, folder = sys.argv[1:]
    schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True).stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    problems = []
    files = sorted(pathlib.Path(folder).rglob("*.yaml"))
    assert files, "no scenarios"
    for file in files:
        for error in validator.iter_errors(yaml.load(file.read_text(), Loader)):
            problems.append(f"{file}: {list(error.path)}: {error.message}")
    for error in validator.iter_errors(yaml.load(GOOD, Loader)):
        problems.append(f"the good one: {list(error.path)}: {error.message}")
    for what, text in BAD.items():
        if validator.is_valid(yaml.load(text, Loader)):
            problems.append(f"accepted: {what}")
    log_schema = json.loads(
        subprocess.run([program, "schema", "page-log"], check=True, capture_output=True).stdout)
    jsonschema.Draft7Validator.check_schema(log_schema)
    line_validator = jsonschema.Draft7Validator(log_schema)
    lines = (pathlib.Path(folder) / "data" / "page_log_sample.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"handoff_page_log": 1} and len(lines) > 20
    for number, line in enumerate(lines[1:], 2):
        event = json.loads(line)
        if not line_validator.is_valid(event):
            problems.append(f"page log sample, line {number}: refused")
        for key in list(event):
            if key in ("event", "deployment", "ranks", "request", "tenant", "tokens", "node", "zeroed", "blocks"):
                continue
            if line_validator.is_valid({k: v for k, v in event.items() if k != key}):
                problems.append(f"page log sample, line {number}: accepted without {key}")
    print("\n".join(problems) or f"{len(files)} scenarios valid, {len(BAD)} bad ones refused")
    return 1 if problems else 0


sys.exit(main())
