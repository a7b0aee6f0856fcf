"""The files that CI systems read, held against what those systems require: `check --junit`, `--sarif`,
`--markdown`, sharding, and a run killed in the middle. Usage: formats_test.py PROGRAM"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

import jsonschema

LEAK = """handoff: 1
name: leak <"&'>
model: llama-3.1-8b
engine: {preset: sglang-v0, free_order: lifo}
cluster:
  context_window: 65_536
  prefill: {nodes: 1, hardware: 1xh100, kv_pool_tokens: 16_384}
  decode: {nodes: 1, hardware: 1xh100, kv_pool_tokens: 131_072}
workload:
  - requests:
      - {at: 0s, prompt_tokens: 12_000, output_tokens: 4}
      - {at: 30s, prompt_tokens: 16_000, output_tokens: 4}
faults:
  - oversize_prompt: {count: 1, from: 60s, for: 1s, prompt: {fixed: 20_000}, output: {fixed: 4}}
"""
FILES = {
    "a_ok.yaml": LEAK + "expect: {tainted_responses: 1, findings: {I1: 1, I2: 1, I7: 1}}\n"
    "fixed: [{name: the fix, set: [engine=sglang-v2]}]\n",
    "b_missed.yaml": LEAK + "expect:\n  tainted_responses: 3\n  findings: {I1: 1, I7: 1}\n",
    "c_silent.yaml": LEAK,
    "d_bad.yaml": LEAK.replace("engine:", "engin:"),
    "e_seeds.yaml": LEAK + "expect:\n  seeds: 3\n  findings: {I1: 1, I2: 1, I7: 1}\n"
    "  sometimes: {tainted_responses: 1}\n  never: {tainted_responses: \">= 2\"}\n  eventually_within: 10m\n",
    "f_never.yaml": LEAK + "expect:\n  seeds: 2\n  findings: {I1: 1, I2: 1, I7: 1}\n"
    "  never: {tainted_responses: 1}\n  sometimes: {retractions: \">= 1\"}\n",
}

# What the SARIF 2.1.0 standard requires of the objects used here (sections 3.13, 3.14, 3.18, 3.19, 3.27 to 3.30,
# 3.49), and what GitHub's code scanning asks for besides (fingerprints, rule ids that are declared).
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "additionalProperties": False,
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {
                                    "name": {"type": "string", "minLength": 1},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id", "shortDescription"],
                                            "properties": {
                                                "id": {"type": "string", "minLength": 1},
                                                "shortDescription": {
                                                    "type": "object",
                                                    "required": ["text"],
                                                    "properties": {"text": {"type": "string", "minLength": 1}},
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["ruleId", "level", "message", "locations", "partialFingerprints"],
                            "additionalProperties": False,
                            "properties": {
                                "ruleId": {"type": "string"},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {
                                    "type": "object",
                                    "required": ["text"],
                                    "properties": {"text": {"type": "string", "minLength": 1}},
                                },
                                "partialFingerprints": {
                                    "type": "object",
                                    "minProperties": 1,
                                    "additionalProperties": {"type": "string"},
                                },
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "type": "object",
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "physicalLocation": {
                                                "type": "object",
                                                "required": ["artifactLocation", "region"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "type": "object",
                                                        "required": ["uri"],
                                                        "properties": {
                                                            "uri": {"type": "string", "pattern": "^[^ \\\\]+$"}
                                                        },
                                                    },
                                                    "region": {
                                                        "type": "object",
                                                        "required": ["startLine"],
                                                        "properties": {
                                                            "startLine": {"type": "integer", "minimum": 1},
                                                            "startColumn": {"type": "integer", "minimum": 1},
                                                        },
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


def check_junit(path):
    """Counts agree at every level, names are there, each case has at most one outcome."""
    root = xml.parse(path).getroot()
    assert root.tag == "testsuites", root.tag
    sums = {"tests": 0, "failures": 0, "errors": 0}
    failures = {}
    for suite in root:
        assert suite.tag == "testsuite" and suite.get("name"), suite.tag
        cases = suite.findall("testcase")
        assert cases and len(cases) == len(list(suite)), suite.get("name")
        counted = {"tests": len(cases), "failures": 0, "errors": 0}
        for case in cases:
            assert case.get("classname") and case.get("name")
            assert len(list(case)) <= 1
            for outcome in case:
                assert outcome.tag in ("failure", "error") and outcome.get("message") and outcome.get("type")
                counted[outcome.tag + "s"] += 1
                failures[(suite.get("name"), case.get("name"))] = outcome.get("message")
        for what, count in counted.items():
            assert int(suite.get(what)) == count, (suite.get("name"), what)
            sums[what] += count
    for what, count in sums.items():
        assert int(root.get(what)) == count, what
    return failures


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "s").mkdir()
        for name, text in FILES.items():
            (place / "s" / name).write_text(text)

        def handoff(*words, **more):
            return subprocess.run([program, *words], cwd=place, capture_output=True, text=True, **more)

        def check(tag, *more):
            return handoff("check", "s", "--junit", tag + ".xml", "--sarif", tag + ".json", "--markdown", tag + ".md", *more)

        said = check("one", "--jobs", "1")
        assert said.returncode == 2, said
        assert said.stdout.endswith("3 passed, 4 failed\n"), said.stdout

        failures = check_junit(place / "one.xml")
        assert failures == {
            ("s/b_missed.yaml", "tainted_responses 3"): "s/b_missed.yaml:16:3: tainted_responses: expected 3, found 1",
            ("s/b_missed.yaml", "findings.I2 0"): "s/b_missed.yaml:17:3: findings.I2: expected 0, found 1",
            ("s/c_silent.yaml", "findings none"): "s/c_silent.yaml: 3 findings, and the scenario expects none",
            ("s/d_bad.yaml", "runs"): "s/d_bad.yaml:4:1: error: unknown key 'engin'; did you mean 'engine'?",
            ("s/f_never.yaml", "tainted_responses never 1"):
                "s/f_never.yaml:18:11: tainted_responses: expected never 1, found 1 (seed 1)",
            ("s/f_never.yaml", "retractions sometimes >= 1"):
                "s/f_never.yaml:19:15: retractions: expected sometimes >= 1, found 0 (seed 1)",
        }, failures

        sarif = json.loads((place / "one.json").read_text())
        jsonschema.validate(sarif, SARIF)
        run = sarif["runs"][0]
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        found = []
        for result in run["results"]:
            assert result["ruleId"] in rules, result
            where = result["locations"][0]["physicalLocation"]
            found.append((where["artifactLocation"]["uri"], result["ruleId"], where["region"]["startLine"]))
        # Findings stand at the fault that caused them, missed expectations at their own line.
        assert found == [
            ("s/b_missed.yaml", "I2", 14),
            ("s/b_missed.yaml", "expectation", 16),
            ("s/b_missed.yaml", "expectation", 17),
            ("s/c_silent.yaml", "I2", 14),
            ("s/c_silent.yaml", "I1", 14),
            ("s/c_silent.yaml", "I7", 14),
            ("s/c_silent.yaml", "expectation", 1),
            ("s/d_bad.yaml", "input", 4),
            ("s/f_never.yaml", "expectation", 18),
            ("s/f_never.yaml", "expectation", 19),
        ], found

        markdown = (place / "one.md").read_text()
        assert markdown.startswith("## Handoff: 3 passed, 4 failed\n"), markdown
        assert "| s/a_ok.yaml [fixed: the fix] | ok |" in markdown, markdown
        assert "- line 16: tainted_responses: expected 3, found 1\n" in markdown, markdown

        # The same bytes for any number of threads; the shards together are the whole.
        many = check("many", "--jobs", "4")
        assert many.stdout == said.stdout
        for ending in (".xml", ".json", ".md"):
            assert (place / ("many" + ending)).read_bytes() == (place / ("one" + ending)).read_bytes(), ending
        lines = []
        for part in ("1/3", "2/3", "3/3"):
            lines += handoff("check", "s", "--shard", part).stdout.splitlines()[:-1]
        assert sorted(lines) == sorted(said.stdout.splitlines()[:-1])
        for bad in ("0/3", "4/3", "1", "a/b", "1/0", "-1/2", "1/2x"):
            assert handoff("check", "s", "--shard", bad).returncode == 2, bad

        # Refused before the work.
        refused = handoff("check", "s", "--junit", "no/such/folder.xml")
        assert refused.returncode == 2 and refused.stdout == "", refused

        # Killed in the middle: what was there stays, nothing new is left.
        for name, seeds in (("x1", 3), ("x2", 100_000)):
            (place / "s" / (name + ".yaml")).write_text(LEAK + f"expect: {{seeds: {seeds}}}\n")
        before = (place / "one.xml").read_bytes()
        names = sorted(p.name for p in place.iterdir())
        for signal in ("terminate", "kill"):
            child = subprocess.Popen(
                [program, "check", "s", "--junit", "one.xml", "--sarif", "new.json"],
                cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            getattr(child, signal)()
            assert child.wait() in (130, -9)
            assert (place / "one.xml").read_bytes() == before
            assert sorted(p.name for p in place.iterdir()) == names, sorted(p.name for p in place.iterdir())
    print("junit, sarif, markdown, shards, kills: as they should be")


main()
