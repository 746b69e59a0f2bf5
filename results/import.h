/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Result files of others into records: cyclictest's text, histograms and JSON, oslat's text and
 * JSON, rtla's histograms, rteval's summary.xml. What a file is, is read from its content, never
 * from its name.
 */
#include "results/latency.h"
#include "results/source.h"
#include "results/store.h"

/* What the original is called among a record's evidence, up to the dot. */
#define RES_IMPORT_ORIGINAL "original"

/*
 * Reads any of them. COMMAND (or NULL) is the command line of cyclictest that made it, where text
 * does not hold it. *TOOL gets a static string ("cyclictest", "oslat", "rtla", "rteval"), also when
 * its file can't be read to the end; NULL with RES_LATENCY_ERROR_FOREIGN and errors of reading
 * (G_IO_ERROR), when it is nobody's.
 */
ResLatency *res_import_read(ResSource *source, const char *command, const char **tool,
                            GError **error);

/* What the user says about a file that does not say it itself. */
typedef struct {
    const char *command;     /* as above, or NULL */
    const char *profile;     /* of the record; NULL: "import" */
    const char *cell;        /* or NULL: "tool=TOOL" */
    const char *platform;    /* metal, box, bare; NULL: unknown */
    const char *clock;       /* wall, icount; NULL: unknown */
    ResFidelity fidelity;    /* what follows from both; not used when they are unknown */
    GHashTable *environment; /* char * -> char *, or NULL */
} ResImportDeclared;

/*
 * A record of SOURCE, which was opened from PATH, without id, set and boot; FILES (char * -> GBytes
 * *) gets its evidence. What can't be trusted gives an outcome of "incomplete" or "clock" without
 * metrics; where the platform is not declared the fidelity is "functional" and nothing may be
 * concluded from the figures. NULL when it is no result file, or when what is declared contradicts
 * what the file says (G_IO_ERROR_INVALID_ARGUMENT).
 *
 * The original is kept whole up to RES_SOURCE_KEEP_MAX, a larger one as a gzip'd copy when that is
 * not larger; otherwise its path, length and SHA-256 are.
 */
ResRecord *res_import_record(ResSource *source, const char *path, const ResImportDeclared *declared,
                             GHashTable *files, GError **error);

/* SOURCE looks like a record.json of a nohzlab. */
gboolean res_import_is_record(ResSource *source);
/*
 * Takes over the record SOURCE (opened from PATH) as it is, with its evidence, which lies beside
 * it. *ALREADY tells that the store had the very same; another one of the same id is refused
 * (RES_STORE_ERROR_EXISTS), as is one that lacks evidence.
 */
ResRecord *res_import_own(ResStore *store, ResSource *source, const char *path, gboolean *already,
                          GError **error);
