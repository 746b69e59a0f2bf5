-- SPDX-License-Identifier: GPL-2.0-or-later
-- The index of a results folder. It only repeats what the records say and can be thrown away at any time.
-- Each section brings an index from the version before to its own (PRAGMA user_version); an index is taken
-- through all sections it lacks. Never change a section once released: add one.

-- version 1
CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    set_id TEXT NOT NULL,
    profile TEXT NOT NULL,
    cell TEXT NOT NULL,
    boot INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL,
    platform TEXT NOT NULL,
    clock TEXT NOT NULL,
    fidelity TEXT NOT NULL,
    kernel TEXT NOT NULL,
    started_us INTEGER NOT NULL,
    ended_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_start ON runs (started_us, id);
CREATE INDEX runs_by_profile ON runs (profile, started_us, id);
CREATE INDEX runs_by_set ON runs (set_id, id);

-- version 2
-- The figures of done runs, each in the series it belongs to, for `nohzlab history`. The runs are put in anew.
DROP TABLE IF EXISTS series;
DROP TABLE IF EXISTS contexts;
DROP TABLE IF EXISTS points;
CREATE TABLE series (
    id INTEGER NOT NULL PRIMARY KEY,
    metric TEXT NOT NULL,
    profile TEXT NOT NULL,
    cell TEXT NOT NULL,
    host TEXT NOT NULL,
    platform TEXT NOT NULL,
    clock TEXT NOT NULL,
    fidelity TEXT NOT NULL,
    unit TEXT NOT NULL,
    direction TEXT NOT NULL,
    UNIQUE (metric, profile, cell, host, platform, clock, fidelity, unit, direction)
) STRICT;
CREATE TABLE contexts (
    id INTEGER NOT NULL PRIMARY KEY,
    facts TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE points (
    series_id INTEGER NOT NULL,
    started_us INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    set_id TEXT NOT NULL,
    context_id INTEGER NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (series_id, started_us, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX points_by_run ON points (run_id);
DELETE FROM runs;
