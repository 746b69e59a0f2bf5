/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Profiles: layered INI files (GKeyFile) that say what to run. One table of keys (lab_profile_keys)
 * parses, checks and documents them.
 *
 *   [main]     summary, include, kernel, boots, jobs
 *   [matrix]   AXIS = value, value   every key here is an axis; AXIS is a key of [main] ("kernel"),
 * "section.key", "workload NAME.key", or "variant". Values are separated by `|` for keys that hold
 * CPU lists and for text keys, by `,` for the others. A comma list is one value of a CPU list axis:
 * `guest.isolated = 1-3 | 1,3`. `kernel` is the only key of [main] that can be an axis; keys of
 * [check] and a workload's type can't. [variant NAME]  section.key = value: what the value NAME of
 * the axis "variant" sets [host] [guest] [workload NAME]   typed keys [check]    preconditions;
 * unmet: the run is skipped with the reason [expect]   NAME = EXPRESSION, or the bare expression
 * (see lab/expect.h) [reference TITLE]  LABEL = TEXT: published figures, printed beside the result
 * and labelled as such
 *
 * Comments are lines that start with `#`.
 */
#include <glib.h>

#include "host/cpulist.h"

typedef enum {
    LAB_PLATFORM_AUTO,
    LAB_PLATFORM_METAL,
    LAB_PLATFORM_BOX,
    LAB_PLATFORM_BARE
} LabPlatform;
typedef enum { LAB_CLOCK_WALL, LAB_CLOCK_ICOUNT } LabClock;

/* How a set of CPUs is isolated: the same four keys in [host] and in [guest]. */
typedef struct {
    char *housekeeping; /* kernel dialect; "" : all that is not isolated */
    char
        *isolated; /* kernel dialect, N is the last CPU of that machine; "" : no isolation at all */
    gboolean nohz_full; /* nohz_full= the isolated CPUs */
    gboolean rcu_nocbs; /* rcu_nocbs= the isolated CPUs */
    char *isolcpus;     /* flags for isolcpus=: "domain,managed_irq"; "none": no isolcpus= */
    char *cmdline;      /* further kernel parameters, as they are */
} LabPartition;

typedef struct {
    char *name; /* of its section: [workload NAME] */
    char *type; /* "syscall-loop", "cyclictest", "exit-cost" or "command" */
    int cpu;    /* vCPU; -1: not pinned (cyclictest: one thread per CPU) */
    guint64 timeout_s;
    char *host_load;  /* metal and box: "none", or "housekeeping": those CPUs of the lab host are
                         kept busy meanwhile */
    gboolean observe; /* metal and box: by what host.observe says */
    char *trace;      /* kernel function whose calls are timed in the guest; "": none */
    /* syscall-loop */
    char *loop;             /* "invalid" or "stat" */
    guint64 calls;          /* per batch */
    guint64 batches;        /* measured ones */
    guint64 warmup;         /* at most this many batches before the steady state */
    gboolean hot_functions; /* icount: instructions by kernel function, too */
    /* cyclictest */
    guint64 interval_us;
    guint64 loops;
    guint64 priority;
    guint64 histogram_us; /* largest latency of the histogram; 0: none */
    /* exit-cost: batches, and */
    char *kinds;        /* names of guest/exit_cost.h with commas, or "all" */
    gboolean functions; /* of the lab host are traced after measuring */
    /* command */
    char *command; /* absolute path of a program of this machine, carried into the guest, and its
                    * arguments, in shell quoting (no shell is run) */
} LabWorkload;

/* Everything one run needs, all keys resolved. */
typedef struct {
    char *summary;
    char *kernel;  /* images/image.h says what may stand here */
    guint64 boots; /* per cell */
    guint64 jobs;  /* runs side by side; 0: as many as the clock allows */
    LabPlatform platform;
    char *platform_why; /* of platform auto, once it is settled; NULL before */
    LabClock clock;
    guint64 host_cpus; /* box only */
    gboolean
        tune; /* metal and box: set at run time what of the partition can be, and put it back */
    char *observe; /* metal and box: what watches the lab host while workloads run: "auto", "yes"
                      (everything), "no", or observers by name, with commas */
    LabPartition host, guest;
    guint64 vcpus;
    guint64 memory_mib;
    char *pin; /* tool dialect, one CPU of the lab host per vCPU ("1" or "1,2"); "": not pinned */
    char *emulatorpin; /* tool dialect; "": not pinned */
    guint64 boot_timeout_s;
    char *plugin; /* of the emulator, as this session has laid it out (lab/hot.h), or NULL */
    guint64 seed; /* of the emulator's randomness; boot n uses seed + n */
    GPtrArray *workloads; /* LabWorkload * */
    GPtrArray *checks;    /* LabSetting *, section "check" */
} LabParams;

/* One `key = value`, with where it stands. */
typedef struct {
    char *section, *key, *value;
    char *file; /* or "--set" */
    int line;   /* 0: unknown */
} LabSetting;

typedef struct {
    char *name; /* of an [expect] line; made up ("expect 1") where the profile gives none */
    char *text; /* the expression */
    char *file;
    int line;
} LabExpectation;

typedef struct LabProfile LabProfile;

#define LAB_PROFILE_ERROR (lab_profile_error_quark())
GQuark lab_profile_error_quark(void);
typedef enum {
    LAB_PROFILE_ERROR_IO,     /* missing, a folder, unreadable, over 1 MiB */
    LAB_PROFILE_ERROR_SYNTAX, /* not an INI file, not UTF-8, duplicate key, include cycle */
    LAB_PROFILE_ERROR_KEY,    /* unknown section or key (with the nearest known one) */
    LAB_PROFILE_ERROR_VALUE,  /* wrong type, out of range, impossible CPU list */
} LabProfileError;

/*
 * Reads FILE and what it includes (`include = NAME`: NAME.ini in the same folder; several separated
 * by `,`; the including file wins). SETTINGS (NULL-terminated "section.key=value", may be NULL) win
 * over both. Errors name file, line, section and key, what was wrong and what would be right. Every
 * point of the matrix is checked.
 */
LabProfile *lab_profile_load(const char *file, const char *const *settings, GError **error);
/* The same from memory, for tests and fuzzing; includes are refused when FOLDER is NULL. */
LabProfile *lab_profile_parse(const char *text, gssize len, const char *name, const char *folder,
                              const char *const *settings, GError **error);
void lab_profile_free(LabProfile *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabProfile, lab_profile_free)

const char *lab_profile_name(const LabProfile *p);   /* file name without folder and .ini */
const char *lab_profile_sha256(const LabProfile *p); /* of the settings in force, sorted */
const GPtrArray *lab_profile_expectations(const LabProfile *p); /* LabExpectation * */
const GPtrArray *
lab_profile_references(const LabProfile *p);                /* LabSetting *: section is the title */
const GPtrArray *lab_profile_warnings(const LabProfile *p); /* char * */

/* One point of the matrix. */
typedef struct {
    char *name;      /* "variant=none kernel=default"; "" without a matrix */
    GPtrArray *axes; /* LabSetting *: key is the axis, value its value here */
    LabParams *params;
    GHashTable *settings; /* const char * "section.key" ("workload NAME.key") -> const char *: every
                           * key in force, defaults included, as written */
} LabCell;
/* At most this many cells, and this many runs (cells x boots), in one profile. */
#define LAB_CELLS_MAX 4096
#define LAB_RUNS_MAX 65536
/* In the order of the profile, the last axis running fastest. */
const GPtrArray *lab_profile_cells(const LabProfile *p); /* LabCell * */

/*
 * The cells (LabCell *, owned by P) that all SELECTORS (LabExpectSelector *, see lab/expect.h)
 * pick: none when P has no cell of that value. An axis P does not have is an error. Free the array
 * with g_ptr_array_unref.
 */
GPtrArray *lab_profile_select(const LabProfile *p, const GPtrArray *selectors, GError **error);

/* The table of keys. */
#define LAB_KEY_NO_FIELD G_MAXSIZE
typedef enum {
    LAB_TYPE_STRING,
    LAB_TYPE_UINT,
    LAB_TYPE_INT,
    LAB_TYPE_BOOL,
    LAB_TYPE_TIME_US,
    LAB_TYPE_TIME_S,
    LAB_TYPE_SIZE_MIB,
    LAB_TYPE_CPULIST_KERNEL,
    LAB_TYPE_CPULIST_TOOL,
    LAB_TYPE_CMDLINE,
    LAB_TYPE_ARGV,
    LAB_TYPE_CHOICE,   /* one of RANGE, kept as text */
    LAB_TYPE_ENUM,     /* one of RANGE, kept as its position there */
    LAB_TYPE_FUNCTION, /* a kernel function's name, or empty, kept as text */
    LAB_TYPE_OBSERVE,  /* auto, yes, no, or observers by name (host/observe.h), kept as text */
} LabType;
typedef struct {
    const char *section; /* "main", "host", "guest", "workload", "check" */
    const char *key;
    LabType type;
    const char *initial; /* value when not given, as text */
    const char
        *range; /* choices: "a|b"; numbers, times, sizes: "1..64", "1us..10s", "64M..1G"; or NULL */
    const char *help; /* one line */
    gsize offset; /* in LabParams, or in LabWorkload for "workload"; LAB_KEY_NO_FIELD: in neither */
} LabKey;
const LabKey *lab_profile_keys(gsize *n);
/* The table as text for people, and as man page source (mdoc/man .TP items). g_free. */
char *lab_profile_document(gboolean man);
