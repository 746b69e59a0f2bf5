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
