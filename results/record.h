/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * The record of one run: one JSON file, written once and never changed, with its evidence files
 * beside it. Schema version 1; the fields are described in results/record-format.md.
 */
#include <gio/gio.h>

#include "results/metric.h"

#define RES_RECORD_SCHEMA 1

/* How a run ended. Only RES_OUTCOME_DONE carries metrics. */
typedef enum {
    RES_OUTCOME_DONE,
    RES_OUTCOME_SKIP,  /* a precondition of [check] was not met */
    RES_OUTCOME_INFRA, /* our machine: libvirt, QEMU, disk */
    RES_OUTCOME_BOOT,  /* the guest's kernel did not come up: detail is timeout, panic or no-console
                        */
    RES_OUTCOME_GUEST, /* a workload failed */
    RES_OUTCOME_ISOLATION,  /* something ran, or may run, where it must not; or the partition is not
                               in force */
    RES_OUTCOME_CLOCK,      /* unstable or wrong clocksource */
    RES_OUTCOME_INCOMPLETE, /* data cut short */
    RES_OUTCOME_CANCELLED,  /* by the user */
} ResOutcome;

typedef struct {
    char *id;             /* RES_ID: [0-9a-z-]+, sorts by time */
    char *set;            /* id of the invocation this run belongs to */
    char *profile;        /* file name without folder and .ini */
    char *profile_sha256; /* of the profile's expanded text */
    char *summary;
    char *cell;        /* the matrix point: "variant=none", or "" when there is no matrix */
    unsigned int boot; /* 0, 1, ... within the cell */
    gint64 started_us, ended_us; /* wall clock, microseconds since the epoch, UTC */
    ResOutcome outcome;
    char *detail;   /* finer class of a failure ("timeout"), or "" */
    char *message;  /* of a failure: what happened and what to do next; or "" */
    char *platform; /* metal, box, bare */
    char *clock;    /* wall, icount */
    ResFidelity fidelity;
    GHashTable *parameters;  /* char * -> char *: every profile key as in force for this run */
    GHashTable *environment; /* char * -> char *: kernel.release, kernel.sha256, guest.cmdline,
                              * qemu.version, libvirt.version, clocksource, ... */
    GPtrArray *metrics;      /* ResMetric * */
    GPtrArray *evidence;     /* char *: names of files in the run's folder */
    GPtrArray *notes;        /* char *: what a reader should know (warnings) */
} ResRecord;

ResRecord *res_record_new(void);
void res_record_free(ResRecord *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResRecord, res_record_free)

const char *res_outcome_name(ResOutcome o); /* "done", "skip", "infra", ... */
gboolean res_outcome_parse(const char *name, ResOutcome *o);

/* A record is at most so long; longer ones are neither written nor read. */
#define RES_RECORD_MAX (16 * 1024 * 1024)

/* One JSON object, keys sorted, ended by a newline. NaN and infinities are refused, and so is
 * everything res_record_from_json would refuse. NULL strings are written as "", bytes that are not
 * UTF-8 as U+FFFD. */
char *res_record_to_json(const ResRecord *r, GError **error);
/* Reads it back. A newer schema is G_IO_ERROR_NOT_SUPPORTED; a missing, mistyped or unknown field,
 * a bad id or file name and a non-finite number are G_IO_ERROR_INVALID_DATA; each error names the
 * field. */
ResRecord *res_record_from_json(const char *json, gssize len, GError **error);

/* [0-9a-z-]+, at most 64 bytes, and not "last", which the store understands as the newest. */
gboolean res_id_valid(const char *id);
/* [A-Za-z0-9._-]+, at most 200 bytes, no leading dot, not record.json. */
gboolean res_evidence_name_valid(const char *name);

const ResMetric *res_record_metric(const ResRecord *r, const char *name); /* or NULL */
