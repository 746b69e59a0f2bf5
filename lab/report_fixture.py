#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes runs for the tests of reports into a results folder, for `nohzlab reindex` to find.

    lab/report_fixture.py STATE [RUNS METRICS STORE]

Without the three numbers the sets (each with its own last four digits): 0001 and 0002 profile demo, before and after a
change; 0003 an emulated lab host; 0004 only failures; 0005 texts as bad as a record can hold; 0006 a single boot.
With them one set of RUNS runs with METRICS metrics each, and STORE runs of other sets.
"""
import json
import pathlib
import random
import sys

START_US = 1796083200000000
HOSTILE = "<script>alert(1)</script>&\"'\\#\u001b[31m\u009b\u202e\n</style>\ufffe"


def metric(name, unit, value, direction="lower", fidelity="instructions", samples=100, spread=0.0, evidence="report.txt",
           **more):
    return {"name": name, "unit": unit, "direction": direction, "fidelity": fidelity, "value": value,
            "min": value - spread, "max": value + spread, "samples": samples, "evidence": evidence, **more}


def low_of(value):
    """The lower end of the bucket of a log-linear histogram with 128 steps a power of two."""
    shift = max(0, value.bit_length() - 8)
    return value >> shift << shift


def histogram(values, unit):
    buckets = {}
    for v in values:
        buckets[low_of(v)] = buckets.get(low_of(v), 0) + 1
    return json.dumps({"format": "nohzlab-hist", "version": 1, "unit": unit, "bits": 7, "histograms": [{
        "name": "cpu1", "count": len(values), "sum": sum(values), "min": min(values), "max": max(values),
        "censored": 0, "limit": 0, "buckets": sorted([k, n] for k, n in buckets.items())}]})


def write(state, number, run, cell, boot, files=None, outcome="done", **fields):
    """One run of set NUMBER."""
    stamp = START_US + (number * 86400 + run * 20) * 1000000
    record = {
        "schema": 1, "id": f"202612{number:02d}-{run:06d}-{number:04d}", "set": f"202612{number:02d}-000000-{number:04d}",
        "profile": "demo", "profile_sha256": "00", "summary": "What nohz_full costs, and what it gives", "cell": cell,
        "boot": boot, "started_us": stamp, "ended_us": stamp + 17500000, "outcome": outcome, "detail": "", "message": "",
        "platform": "bare", "clock": "icount", "fidelity": "instructions", "parameters": {"guest.vcpus": "2"},
        "environment": {"kernel.release": "6.1.0-57", "kernel.sha256": "1a7ac0c4", "qemu.version": "10.0.2"},
        "metrics": [], "evidence": [], "notes": [], **fields}
    for key, value in (fields.get("extra") or {}).items():
        record[key] = {**record[key], **value}
    record.pop("extra", None)
    files = {"report.txt": "end\n", **(files or {})} if outcome == "done" else (files or {})
    record["evidence"] = sorted(files)
    folder = pathlib.Path(state, "runs", record["id"])
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")


EXPECTATIONS = {"expect.000.cheap": "loop.per_call(variant=nohz_full) / loop.per_call(variant=none) <= 2.5",
                "expect.001.steady": "spread(loop.per_call) <= 0.1%",
                "expect.002.quiet": "loop.stray_tasks == 0"}


def demo(state, number, rng, slower):
    kernel = {"kernel.release": "6.12.9-1", "kernel.sha256": "2b8bd1d5"} if slower > 1 else {}
    cells = ["none", "nohz_full"]
    for boot in range(5):
        for i, variant in enumerate(cells):
            per_call = (228.2, 546.4)[i] * (slower if i else 1) + 0.001 * rng.random()
            floor = 4000 + 600 * i
            values = [int(floor + rng.expovariate(1 / 900.0) + (rng.random() < 0.002) * rng.uniform(9e3, 4e4 / slower))
                      for _ in range(20000)]
            values.sort()
            metrics = [metric("loop.per_call", "insns", per_call, spread=1.5)]
            for name, q in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
                metrics.append(metric(f"latency.{name}", "insns", values[int(q * len(values)) - 1], samples=len(values),
                                      evidence="latency-hist.json"))
            metrics.append(metric("latency.max", "insns", values[-1], samples=len(values), evidence="latency-hist.json"))
            metrics.append(metric("loop.timer_interrupts", "count", boot % 2 + 3 * i, direction="none"))
            write(state, number, 2 * boot + i, f"variant={variant}", boot, {"latency-hist.json": histogram(values, "insns")},
                  metrics=metrics, extra={
                      "environment": kernel,
                      "parameters": {**EXPECTATIONS, "axis.variant": variant, "axis-position.variant": str(i),
                                     "guest.nohz_full": "yes" if i else "no"}})


def box(state, rng):
    for boot in range(3):
        for i, on in enumerate(("no", "yes")):
            timers, exits = 3000 + rng.randrange(200), 9000 - 2200 * i + rng.randrange(100)
            off = int(timers * 0.79) * i
            count = lambda name, value, direction="none": metric(f"cyclictest.{name}", "count", value, direction, "events")
            reasons = {"MSR": 0.5, "INTR": 0.3, "VINTR": 0.1, "HLT": 0.06, "CPUID": 0.01, "NPF": 0.001}
            write(state, 3, 2 * boot + i, f"host.nohz_full={on}", boot, {
                "box-cyclictest-hist.json": histogram([1000000 + rng.randrange(900000) for _ in range(900)], "ns")},
                platform="box", clock="wall", fidelity="events", notes=["cyclictest: targets are lower bounds"],
                metrics=[metric("cyclictest.max", "ns", 19622133, fidelity="functional"), count("guest_timers", timers),
                         count("local_timers", timers - off), count("exits", exits),
                         metric("cyclictest.offloaded_timers", "share", off / timers, "higher", "events"),
                         *(count(f"exits.{name}", int(exits * share)) for name, share in reasons.items())],
                extra={"parameters": {"axis.host.nohz_full": on, "axis-position.host.nohz_full": str(i)}})


def failures(state):
    write(state, 4, 0, "", 0, outcome="boot", detail="timeout", message="the guest said nothing for 120 s: see console.log",
          files={"console.log": "[    0.000000] Linux\n"})
    write(state, 4, 1, "", 1, outcome="infra", message="QEMU ended by signal 9: out of memory?")
    write(state, 4, 2, "", 2, outcome="skip", message="host.clocksource is hpet, not tsc")
    write(state, 4, 3, "", 3, outcome="guest", message="workload latency exited with 1",
          parameters={"expect.000.cheap": "loop.per_call <= 300"})


def hostile(state):
    for boot in range(4):
        write(state, 5, boot, HOSTILE, boot, profile=HOSTILE, summary=HOSTILE, detail="", message="", notes=[HOSTILE],
              metrics=[metric("<img/src=x>.\"{}#\\", HOSTILE, 228.2 + boot, spread=2),
                       metric("w.huge", "ns", 1e300, spread=1e299), metric("w.tiny", "s", 5e-324),
                       metric("w.beyond", "ns", 30000, censored=True, min=100, max=90000)],
              parameters={"expect.000." + HOSTILE: "w.huge >= 1", HOSTILE: HOSTILE},
              environment={HOSTILE: HOSTILE + str(boot), "kernel.release": HOSTILE, "kernel.sha256": HOSTILE})
    write(state, 5, 9, HOSTILE, 9, profile=HOSTILE, outcome="guest", detail=HOSTILE, message=HOSTILE)


def single(state):
    write(state, 6, 0, "", 0, metrics=[metric("loop.per_call", "insns", 228.2)])


def large(state, runs, metrics, store):
    rng = random.Random(2)
    for run in range(runs):
        write(state, 7, run, f"cell={run % 4}", run // 4, metrics=[
            metric(f"w{i // 20}.m{i % 20}", "insns", 1000 * i + rng.random() * 10, spread=5) for i in range(metrics)])
    # Nights of five cells with twenty boots each, the last one yesterday; half way through, the figure grows.
    for run in range(store):
        night = run // 100
        stamp = START_US - (store // 100 - night) * 86400000000 + run % 100 * 20000000
        write(state, 8 + run % 20, run, f"cell={run % 5}", run % 100 // 5, set=f"night-{night:06d}", started_us=stamp,
              ended_us=stamp + 17500000,
              metrics=[metric("loop.per_call", "insns", 228 + rng.random() + (night >= store // 200))])


def main():
    if len(sys.argv) == 5:
        large(sys.argv[1], *map(int, sys.argv[2:]))
        return
    rng = random.Random(1)
    demo(sys.argv[1], 1, rng, 1)
    demo(sys.argv[1], 2, rng, 1.12)
    box(sys.argv[1], rng)
    failures(sys.argv[1])
    hostile(sys.argv[1])
    single(sys.argv[1])


main()
