/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/functions.h"

#include <string.h>

#include "guest/exit_cost.h"
#include "host/functions.h"
#include "lab/exit_cost.h"
#include "lab/judge.h"

#define KIND_BARRIER "kind." /* guest/exit_cost.c: "kind" before the first and after each */
#define SHARE_MIN 0.01       /* of a kind: smaller ones become no metrics */
#define SHOWN 60             /* and lines of evidence */

typedef struct {
    const char *name;
    guint calls;
    GPtrArray *counts; /* HostFunctionCount * */
    char *incomplete;
} Kind;

struct LabFunctions {
    char *token;
    HostCpuset *cpus;
    HostFunctions *tracer;
    GPtrArray *kinds; /* Kind * */
    Kind *open;
    GError *error; /* the first; nothing is done after it */
};

static void
kind_free(Kind *k)
{
    g_clear_pointer(&k->counts, g_ptr_array_unref);
    g_free(k->incomplete);
    g_free(k);
}

const LabWorkload *
lab_functions_wanted(const LabParams *params)
{
    for (guint i = 0; i < params->workloads->len; i++) {
        const LabWorkload *w = params->workloads->pdata[i];
        if (w->functions && g_str_equal(w->type, LAB_EXIT_COST) &&
            params->platform == LAB_PLATFORM_METAL)
            return w;
    }
    return NULL;
}

LabFunctions *
lab_functions_new(const char *token, const LabMachine *machine)
{
    LabFunctions *f = g_new0(LabFunctions, 1);

    f->token = g_strdup(token);
    f->cpus = hwloc_bitmap_alloc();
    for (unsigned int i = 0; machine->vcpu_pins && i < machine->vcpus; i++)
        hwloc_bitmap_or(f->cpus, f->cpus, machine->vcpu_pins[i]);
    f->kinds = g_ptr_array_new_with_free_func((GDestroyNotify)kind_free);
    return f;
}

void
lab_functions_free(LabFunctions *f)
{
    if (!f)
        return;
    g_clear_pointer(&f->tracer, host_functions_free);
    g_ptr_array_unref(f->kinds);
    hwloc_bitmap_free(f->cpus);
    g_clear_error(&f->error);
    g_free(f->token);
    g_free(f);
}

/* NULL: no such kind. */
static Kind *
kind_new(const char *name)
{
#define KIND(kind, kind_calls, loop, what) {#kind, kind_calls},
    static const struct {
        const char *name;
        guint calls;
    } known[] = {BM_EXIT_KINDS(KIND)};

    for (gsize i = 0; i < G_N_ELEMENTS(known); i++) {
        if (!g_str_equal(name, known[i].name))
            continue;
        Kind *k = g_new0(Kind, 1);
        k->name = known[i].name;
        k->calls = known[i].calls * BM_EXIT_TRACED;
        return k;
    }
    return NULL;
}

static void
close_kind(LabFunctions *f)
{
    Kind *k = g_steal_pointer(&f->open);

    if (!k || !host_functions_stop(f->tracer, &f->error))
        return;
    k->counts = host_functions_read(f->tracer, &k->incomplete, &f->error);
}

void
lab_functions_barrier(LabFunctions *f, const char *name)
{
    if (f->error || (!g_str_equal(name, "kind") && !g_str_has_prefix(name, KIND_BARRIER)))
        return;
    if (hwloc_bitmap_iszero(f->cpus)) {
        g_set_error_literal(&f->error, HOST_CPULIST_ERROR, HOST_CPULIST_ERROR_RANGE,
                            "pin the guest (guest.pin), or it is not known on which CPUs");
        return;
    }
    if (!f->tracer)
        f->tracer = host_functions_new(f->token, f->cpus, &f->error);
    if (!f->tracer)
        return;
    close_kind(f);
    Kind *k = f->error || g_str_equal(name, "kind") ? NULL : kind_new(name + strlen(KIND_BARRIER));
    if (!k)
        return;
    g_ptr_array_add(f->kinds, k);
    f->open = k;
    host_functions_start(f->tracer, &f->error);
}

/* --- what they say --- */

/* Where the guest runs, another task, or nobody: what is spent there is not the function's. */
static gboolean
is_not_its_own(const char *name)
{
    static const char *const names[] = {"svm_vcpu_run",
                                        "vmx_vcpu_run",
                                        "svm_vcpu_enter_exit",
                                        "vmx_vcpu_enter_exit",
                                        "schedule",
                                        "schedule_idle",
                                        "preempt_schedule_irq",
                                        "default_idle",
                                        "default_idle_call",
                                        "native_safe_halt",
                                        "pv_native_safe_halt",
                                        "acpi_idle_do_entry",
                                        "acpi_safe_halt",
                                        "mwait_idle",
                                        "intel_idle",
                                        "intel_idle_irq",
                                        "cpuidle_enter_state",
                                        "poll_idle",
                                        NULL};
    return g_strv_contains(names, name);
}

static int
own_first(gconstpointer a, gconstpointer b)
{
    double x = ((const double *)a)[0], y = ((const double *)b)[0];
    return (x < y) - (x > y);
}

typedef struct {
    double own; /* ns of one exit, the tracer's cost taken off */
    const HostFunctionCount *count;
} Own;

static GArray *
own_times(const Kind *k, double *all)
{
    GArray *owns = g_array_new(FALSE, FALSE, sizeof(Own));
    double inside, outside;

    *all = 0;
    host_functions_overhead(k->counts, &inside, &outside);
    for (guint i = 0; i < k->counts->len; i++) {
        const HostFunctionCount *c = k->counts->pdata[i];
        double own = host_function_own(c, inside, outside) * c->calls / k->calls;
        Own o = {own, c};
        if (is_not_its_own(c->name))
            o.own = 0;
        *all += o.own;
        g_array_append_val(owns, o);
    }
    g_array_sort(owns, own_first);
    return owns;
}

static void
describe(const Kind *k, const GArray *owns, double all, GString *out)
{
    g_string_append_printf(out, "%s: %u exits%s%s\n", k->name, k->calls,
                           k->incomplete ? ", incomplete: " : "",
                           k->incomplete ? k->incomplete : "");
    g_string_append(out, "  own, of an exit   share  calls of an exit  function\n");
    for (guint i = 0; i < owns->len && i < SHOWN; i++) {
        const Own *o = &g_array_index(owns, Own, i);
        g_string_append_printf(
            out, "  %14.1f  %5.1f%%  %16.2f  %s%s\n", o->own, all > 0 ? 100 * o->own / all : 0,
            (double)o->count->calls / k->calls, o->count->name,
            is_not_its_own(o->count->name) ? " (the guest, another, or nobody ran)" : "");
    }
}

gboolean
lab_functions_record(const LabFunctions *f, const char *workload, ResRecord *record,
                     GHashTable *files)
{
    g_autofree char *evidence = g_strdup_printf("%s-functions.txt", workload);
    GString *text = g_string_new(
        "Functions of the lab host on the vCPUs' CPUs, by what is spent in each itself; in ns of "
        "the host (instructions\nunder clock icount), an estimate of the tracer's own cost taken "
        "off.\n");

    for (guint i = 0; !f->error && i < f->kinds->len; i++) {
        const Kind *k = f->kinds->pdata[i];
        double all;
        if (!k->counts)
            continue;
        g_autoptr(GArray) owns = own_times(k, &all);
        describe(k, owns, all, text);
        for (guint n = 0; n < owns->len && n < SHOWN; n++) {
            const Own *o = &g_array_index(owns, Own, n);
            if (o->own < SHARE_MIN * all)
                break;
            g_autofree char *name = g_strdup_printf("%s.%s.%s", workload, k->name, o->count->name);
            if (o->own > 0 && !g_str_equal(o->count->name, "?") && !res_record_metric(record, name))
                g_ptr_array_add(record->metrics,
                                res_metric_new(name, "ns", RES_LOWER_IS_BETTER, record->fidelity,
                                               o->own, o->own, o->own, o->count->calls, evidence));
        }
    }
    g_hash_table_insert(files, g_strdup(evidence), g_bytes_new(text->str, text->len));
    g_string_free(text, TRUE);
    if (!f->error)
        return TRUE;
    lab_record_fail(record, RES_OUTCOME_INFRA, "functions",
                    "the lab host's functions could not be traced: %s", f->error->message);
    return FALSE;
}
