#!/usr/bin/env python3
"""Writes scenarios/README.md: the catalogue of real failures, each with its scenario, what is expected and what a run
gives, and the fixes that a run proves. Usage: make_readme.py PROGRAM [--check]

With --check it writes nothing and fails when the file is not what it would write."""

import json
import pathlib
import subprocess
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent

# Failures of the catalogue that no scenario shows yet, and what the model lacks for it.
NOT_YET = {
    "several responses to one prompt": "F55",
    "a prefix cache on decode, with delta sends": "F15 F16 F69",
    "host and storage tiers with keys and leases": "F06 F07 F08 F14 F17 F29 F30 F58 F64",
    "ranks of different number or size on the two sides, pipeline and context parallelism": "F05 F22 F39 F41 F46 F52",
    "recurrent state and draft groups": "F04 F60 F65 F68",
    "the session layer: blacklists, probes, bursts of transport errors": "F33 F34 F74 F75 F76",
    "metadata slots under the page detector": "F40 F42",
    "acks of decode's aborts as messages of their own that can be lost or counted wrongly": "F21 F25 F26 F27",
    "a prefix cache that takes pages of an unfinished prompt": "F37",
    "control messages that kill a thread, and client-set room numbers": "F43 F45 F57",
    "data-parallel ranks that step together": "F67",
    "queues that are polled only when something else happens": "F62 F63 F72",
    "an abort pending while the transfer succeeds, apart from oversize prompts": "F53",
    "assertions of an engine about its own queues": "F51 F66",
    "ranks that enter different collectives": "F77",
}
SAME = {"F31": "F32", "F36": "F32", "F50": "F49", "F56": "F19"}

HEAD = """# Scenarios

| folder | holds |
|---|---|
| `incidents/` | reported incidents with their figures, and what each fix does to them |
| `faults/` | one failure each: a fault, the decision that lets it through, and the decision that stops it |
| `negative/` | deliberate bugs, one for each oracle |
| `replay/` | traces |
| `fuzz/` | bases of swarm tests |
| `data/` | small made-up traces |
| `loader/` | reads all of these (C++) |

`handoff check scenarios` runs them all, each with its fixes. How to write one: README.md of the repository,
`handoff schema`, and the files themselves.

## The catalogue of real failures

Rows F01 to F78 are failures of SGLang, vLLM, Mooncake, Dynamo, TensorRT-LLM and others, taken from their public
issues and pull requests. Each scenario has the buggy decision under `engine`, and under `fixed` the decisions
with which the same faults do no harm; `handoff check` proves both. This table is generated
(`scenarios/make_readme.py build/release/sim/app/handoff`), the column "observed" by running them.

"""


def findings_text(findings):
    return " ".join(f"{rule}: {count}" for rule, count in sorted(findings.items())) or "none"


def row_of(program, path):
    scenario = yaml.safe_load(path.read_text())
    run = subprocess.run(
        [program, "run", str(path), "--format", "json", "--quiet", "--exit-zero"], check=True, capture_output=True)
    report = json.loads(run.stdout)
    observed = {rule: count for rule, count in report["findings_by_rule"].items() if count}
    wrong = report["totals"]["tainted_responses"]
    fixes = "; ".join(arm.get("name") or ", ".join(arm["set"]) for arm in scenario["fixed"])
    row, what = scenario["name"].split(": ", 1)
    cells = [
        f"[{row}]({path.relative_to(HERE)})",
        what,
        scenario["x-source"],
        findings_text(scenario["expect"].get("findings", {})),
        findings_text(observed) + (f", {wrong} tainted" if wrong else ""),
        fixes,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def text_of(program):
    text = HEAD + "| row | what goes wrong | reported in | expected | observed | with the fix, none |\n"
    text += "|---|---|---|---|---|---|\n"
    files = sorted((HERE / "faults").glob("F*.yaml"))
    for path in files:
        text += row_of(program, path)
    text += "\nShown by another row's scenario, since the mechanism is the same: "
    text += ", ".join(f"{row} by {by}" for row, by in SAME.items()) + ".\n"
    text += "\n### Not shown yet\n\n| the model lacks | rows |\n|---|---|\n"
    for what, rows in NOT_YET.items():
        text += f"| {what} | {rows} |\n"
    return text


def main():
    program = sys.argv[1]
    text = text_of(str(pathlib.Path(program).resolve()))
    target = HERE / "README.md"
    if "--check" not in sys.argv:
        target.write_text(text)
        return 0
    if target.read_text() == text:
        return 0
    print("scenarios/README.md is not what scenarios/make_readme.py writes: run it and commit the result")
    return 1


sys.exit(main())
