#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Says what is wrong with a report for programs.

    lab/report_check.py json SCHEMA FILE...      against a JSON Schema
    lab/report_check.py kcidb SCHEMA FILE...     likewise, and whether what it refers to is there
    lab/report_check.py prometheus FILE...       against the text exposition format 0.0.4 and its naming
"""
import json
import math
import pathlib
import re
import sys


def schema(path, file):
    import jsonschema
    definition = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(definition)
    validator = jsonschema.Draft7Validator(definition)
    instance = json.loads(pathlib.Path(file).read_text(encoding="utf-8"),
                          parse_constant=lambda word: sys.exit(f"{word} is not JSON"))
    problems = [f"{'/'.join(map(str, e.path))}: {e.message[:200]}" for e in validator.iter_errors(instance)]
    return instance, problems


def kcidb(path, file):
    instance, problems = schema(path, file)
    for kind, target, member in (("builds", "checkouts", "checkout_id"), ("tests", "builds", "build_id")):
        ids = [o["id"] for o in instance[target]]
        problems += [f"two {target} {i}" for i in ids if ids.count(i) > 1][:1]
        problems += [f"{o['id']}: no {target} {o[member]}" for o in instance[kind] if o[member] not in ids]
    return problems


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{((?:[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\n]|\\[\\n\"])*\",?)*)\}})? (\S+)$")
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|NaN|[+-]Inf")


def prometheus(file):
    problems, seen, families, current = [], set(), {}, None
    text = pathlib.Path(file).read_bytes().decode("utf-8")
    if not text.endswith("\n"):
        problems.append("no newline at the end")
    # Not splitlines(): it takes other characters for line ends.
    for number, line in enumerate(text[:-1].split("\n"), 1):
        comment = re.match(rf"# (HELP|TYPE) ({NAME}) (.+)$", line)
        if comment:
            kind, name, rest = comment.groups()
            if name != current and name in families:
                problems.append(f"line {number}: {name} again: a family stands together")
            current = name
            if kind in families.setdefault(name, {}):
                problems.append(f"line {number}: a second {kind} of {name}")
            families[name][kind] = rest
            if kind == "TYPE" and rest != "gauge":
                problems.append(f"line {number}: type {rest}")
            continue
        sample = SAMPLE.match(line)
        if not sample or not NUMBER.fullmatch(sample[3]):
            problems.append(f"line {number}: no sample, or one with a timestamp: {line[:80]!r}")
            continue
        if sample[1] != current or set(families[current]) != {"HELP", "TYPE"}:
            problems.append(f"line {number}: {sample[1]} is not below its HELP and TYPE")
        if (sample[1], sample[2]) in seen:
            problems.append(f"line {number}: the same series twice")
        seen.add((sample[1], sample[2]))
        if math.isinf(float(sample[3].replace("Inf", "inf"))) and not sample[1].endswith("_ratio"):
            problems.append(f"line {number}: infinite")
    for name in families:
        if re.search(r"_(total|count|sum|bucket|ns|us|ms|s|sec|insns|kb|kib|mib)$", name):
            problems.append(f"{name}: that ending is another type's, or no base unit")
        if not name.startswith("nohzlab_"):
            problems.append(f"{name}: without prefix")
    if not seen:
        problems.append("no samples")
    from prometheus_client.parser import text_string_to_metric_families
    parsed = sum(len(f.samples) for f in text_string_to_metric_families(text))
    if parsed != len(seen):
        problems.append(f"prometheus_client reads {parsed} samples of {len(seen)}")
    return problems


def main():
    kind, *arguments = sys.argv[1:]
    check = {"json": lambda *a: schema(*a)[1], "kcidb": kcidb, "prometheus": prometheus}[kind]
    common, files = (arguments[:1], arguments[1:]) if kind != "prometheus" else ([], arguments)
    found = [f"{file}: {line}" for file in files for line in check(*common, file)]
    for line in found[:20]:
        print(line)
    return 1 if found or not files else 0


sys.exit(main())
