/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/observe.h"

#include <string.h>
#include <unistd.h>

#include "host/observe.h"
#include "lab/functions.h"
#include "lab/judge.h"
#include "lab/text.h"

struct LabObserve {
    LabFunctions *functions;  /* or NULL */
    const char *functions_of; /* workload */
    HostObserver *observer;   /* NULL: nothing else is watched */
    HostCpuset *housekeeping, *isolated, *vcpu_cpus;
    GPtrArray *windows; /* Window * */
    gboolean open;
};

typedef struct {
    char *workload;
    HostObservation *observation; /* NULL: ERROR says why */
    char *error;
} Window;

static void
window_free(Window *w)
{
    g_free(w->workload);
    g_free(w->error);
    g_clear_pointer(&w->observation, host_observation_free);
    g_free(w);
}

gboolean
lab_observe_mask(const char *text, unsigned int *mask)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);

    *mask = g_str_equal(text, "yes") ? HOST_OBSERVE_ALL : 0;
    if (*mask || g_str_equal(text, "auto") || g_str_equal(text, "no"))
        return TRUE;
    for (char **word = words; *word; word++) {
        unsigned int bit = 0;
        for (guint i = 0; i < HOST_OBSERVERS; i++)
            bit |= g_str_equal(*word, host_observe_name(i)) ? 1U << i : 0;
        if (!bit || *mask & bit)
            return FALSE;
        *mask |= bit;
    }
    return *mask != 0;
}

/* By host.observe, beside functions. */
static gboolean
observers_wanted(const LabParams *params)
{
    unsigned int mask = 0;
    gboolean any = FALSE;

    for (guint i = 0; i < params->workloads->len; i++)
        any |= ((const LabWorkload *)params->workloads->pdata[i])->observe;
    return any && params->platform == LAB_PLATFORM_METAL &&
           lab_observe_mask(params->observe, &mask) && mask;
}

gboolean
lab_observe_wanted(const LabParams *params)
{
    return lab_functions_wanted(params) || observers_wanted(params);
}

LabObserve *
lab_observe_new(const char *token, const LabParams *params, const LabMachine *machine,
                const GPtrArray *threads, GError **error)
{
    g_autoptr(LabObserve) o = g_new0(LabObserve, 1);
    const pid_t self = getpid();

    if (lab_functions_wanted(params)) {
        o->functions = lab_functions_new(token, machine);
        o->functions_of = lab_functions_wanted(params)->name;
    }
    o->windows = g_ptr_array_new_with_free_func((GDestroyNotify)window_free);
    o->housekeeping =
        host_cpulist_parse(params->host.housekeeping, HOST_CPULIST_TOOL, 0, NULL, error);
    o->isolated = o->housekeeping
                      ? host_cpulist_parse(params->host.isolated, HOST_CPULIST_TOOL, 0, NULL, error)
                      : NULL;
    if (!o->isolated)
        return NULL;
    o->vcpu_cpus = hwloc_bitmap_alloc();
    for (unsigned int i = 0; machine->vcpu_pins && i < machine->vcpus; i++)
        hwloc_bitmap_or(o->vcpu_cpus, o->vcpu_cpus, machine->vcpu_pins[i]);

    HostObserverSpec spec = {
        .token = token,
        .housekeeping = o->housekeeping,
        .isolated = o->isolated,
        .vcpu_cpus = o->vcpu_cpus,
        .threads = threads,
        .lab_pids = &self,
        .n_lab_pids = 1,
    };
    if (!observers_wanted(params))
        return g_steal_pointer(&o);
    lab_observe_mask(params->observe, &spec.observers);
    o->observer = host_observer_new(&spec, error);
    return o->observer ? g_steal_pointer(&o) : NULL;
}

void
lab_observe_free(LabObserve *o)
{
    if (!o)
        return;
    g_clear_pointer(&o->functions, lab_functions_free);
    g_clear_pointer(&o->observer, host_observer_free);
    HostCpuset *sets[] = {o->housekeeping, o->isolated, o->vcpu_cpus};
    for (gsize i = 0; i < G_N_ELEMENTS(sets); i++)
        g_clear_pointer(&sets[i], hwloc_bitmap_free);
    g_ptr_array_unref(o->windows);
    g_free(o);
}

void
lab_observe_begin(LabObserve *o, const char *workload)
{
    g_autoptr(GError) error = NULL;

    if (!o->observer)
        return;
    Window *w = g_new0(Window, 1);
    w->workload = g_strdup(workload);
    g_ptr_array_add(o->windows, w);
    o->open = host_observer_start(o->observer, &error);
    if (!o->open)
        w->error = g_strdup(error->message);
}

void
lab_observe_barrier(LabObserve *o, const char *name)
{
    if (o->functions)
        lab_functions_barrier(o->functions, name);
}

void
lab_observe_end(LabObserve *o)
{
    g_autoptr(GError) error = NULL;

    if (!o->open)
        return;
    o->open = FALSE;
    Window *w = o->windows->pdata[o->windows->len - 1];
    if (host_observer_stop(o->observer, &error))
        w->observation = host_observer_read(o->observer, &error);
    if (!w->observation)
        w->error = g_strdup(error->message);
}

/* --- what it says --- */

typedef struct {
    ResRecord *record;
    const char *workload, *evidence;
} Target;

static void
add(const Target *t, const char *what, const char *unit, ResDirection direction, double value,
    guint64 samples)
{
    g_autofree char *name = g_strdup_printf("%s.%s", t->workload, what);

    g_ptr_array_add(t->record->metrics, res_metric_new(name, unit, direction, t->record->fidelity,
                                                       value, value, value, samples, t->evidence));
}

static void
add_metrics(const LabObserve *o, const HostFigures *f, guint64 duration_ns, const Target *t)
{
    if (f->have_timers) {
        add(t, "guest_timers", "count", RES_NO_DIRECTION, f->timers, 1);
        add(t, "local_timers", "count", RES_NO_DIRECTION, f->timers_local, 1);
        if (f->timers)
            add(t, "offloaded_timers", "share", RES_HIGHER_IS_BETTER, f->housekeeping_share,
                f->timers);
    }
    if (f->have_exits) {
        add(t, "exits", "count", RES_NO_DIRECTION, f->exits, 1);
        if (duration_ns)
            add(t, "exits_per_second", "1/s", RES_LOWER_IS_BETTER, f->exits * 1e9 / duration_ns, 1);
        add(t, "external_interrupts", "count", RES_LOWER_IS_BETTER, f->external_interrupts, 1);
        if (f->have_timers && f->timers)
            add(t, "exits_per_timer", "exits", RES_LOWER_IS_BETTER, f->exits_per_timer, f->timers);
    }
    int isolated = hwloc_bitmap_weight(o->isolated);
    if (f->have_foreign && isolated > 0 && duration_ns)
        add(t, "foreign_time", "share", RES_LOWER_IS_BETTER,
            (double)f->foreign_ns / duration_ns / isolated, 1);
    if (f->have_ticks)
        add(t, "isolated_ticks", "count", RES_LOWER_IS_BETTER, f->ticks, 1);
    if (f->have_interrupts)
        add(t, "isolated_interrupts", "count", RES_LOWER_IS_BETTER, f->interrupts, 1);
}

/* Each reason for itself, by the vendor's name or its code. */
static void
add_reasons(const HostObservation *ob, const HostFigures *f, const Target *t)
{
    g_autoptr(GArray) exits = host_exits_by_reason(ob);

    for (guint i = 0; f->have_exits && i < exits->len; i++) {
        const HostExitCount *e = &g_array_index(exits, HostExitCount, i);
        g_autofree char *code = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", e->code);
        g_autofree char *count = g_strconcat("exits.", e->name ? e->name : code, NULL);
        g_autofree char *rate = g_strconcat(count, "_per_timer", NULL);
        add(t, count, "count", RES_NO_DIRECTION, e->count, 1);
        if (f->have_timers && f->timers)
            add(t, rate, "exits", RES_LOWER_IS_BETTER, (double)e->count / f->timers, f->timers);
    }
}

/* All calls of get_nohz_timer_target() together. */
static void
add_targets(const HostObservation *ob, const Target *t)
{
    guint64 calls = 0, ns = 0;

    for (guint i = 0; i < ob->targets->len; i++) {
        const HostTargetCount *c = &g_array_index(ob->targets, HostTargetCount, i);
        calls += c->calls;
        ns += c->total_ns;
    }
    if (calls)
        add(t, "get_nohz_timer_target", "ns", RES_LOWER_IS_BETTER, (double)ns / calls, calls);
}

/* The whole of it for people. */
static char *
describe(const HostObservation *ob, const HostFigures *f)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GArray) exits = host_exits_by_reason(ob);

    g_string_append_printf(out, "window %.6f s\n", ob->duration_ns / 1e9);
    for (guint i = 0; i < HOST_OBSERVERS; i++) {
        const HostObserverState *s = &ob->state[i];
        if (s->asked)
            g_string_append_printf(out, "observer %s: %s%s%s\n", host_observe_name(i),
                                   s->have ? "on" : "not to be had: ",
                                   s->have ? (s->incomplete ? ", incomplete: " : "") : s->why_not,
                                   s->have && s->incomplete ? s->incomplete : "");
    }
    if (f->have_timers)
        g_string_append_printf(out,
                               "guest timers: %" G_GUINT64_FORMAT " expired, %" G_GUINT64_FORMAT
                               " of them on housekeeping CPUs, %" G_GUINT64_FORMAT
                               " on the CPU that started them (they would have expired before the "
                               "other CPU's next event, or no "
                               "other CPU was to be chosen: hrtimer_check_target)\n",
                               f->timers, f->timers_on_housekeeping, f->timers_local);
    for (guint i = 0; i < ob->timers->len; i++) {
        const HostTimerCount *t = &g_array_index(ob->timers, HostTimerCount, i);
        g_string_append_printf(out,
                               "timer of thread %d%s: CPU %u started %" G_GUINT64_FORMAT
                               ", expired %" G_GUINT64_FORMAT "%s\n",
                               (int)t->tid, t->ours ? "" : " (not of this guest)", t->cpu,
                               t->starts, t->expiries, t->local ? ", local" : "");
    }
    for (guint i = 0; i < exits->len; i++) {
        const HostExitCount *e = &g_array_index(exits, HostExitCount, i);
        if (e->name)
            g_string_append_printf(out, "exit %s: %" G_GUINT64_FORMAT "\n", e->name, e->count);
        else
            g_string_append_printf(
                out, "exit code 0x%" G_GINT64_MODIFIER "x (unknown): %" G_GUINT64_FORMAT "\n",
                e->code, e->count);
    }
    for (guint i = 0; i < ob->foreign->len; i++) {
        const HostForeignTask *t = &g_array_index(ob->foreign, HostForeignTask, i);
        g_autofree char *comm = lab_printable(t->comm);
        g_string_append_printf(out,
                               "CPU %u: %s (%d)%s ran %" G_GUINT64_FORMAT
                               " ns in %" G_GUINT64_FORMAT
                               " stretches, the longest %" G_GUINT64_FORMAT " ns\n",
                               t->cpu, comm, t->tid, t->lab ? " of the lab" : "", t->run_ns,
                               t->stretches, t->longest_ns);
    }
    for (guint i = 0; i < ob->targets->len; i++) {
        const HostTargetCount *t = &g_array_index(ob->targets, HostTargetCount, i);
        if (t->calls)
            g_string_append_printf(out,
                                   "CPU %u: get_nohz_timer_target called %" G_GUINT64_FORMAT
                                   " times, %" G_GUINT64_FORMAT " ns in all\n",
                                   t->cpu, t->calls, t->total_ns);
    }
    return g_string_free(out, FALSE);
}

static gboolean
record_window(const LabObserve *o, const Window *w, ResRecord *record, GHashTable *files)
{
    g_autofree char *evidence = g_strdup_printf("%s-host.txt", w->workload);
    HostFigures f = {0};

    if (!w->observation) {
        lab_record_fail(record, RES_OUTCOME_INFRA, "observe",
                        "the lab host could not be watched during %s: %s", w->workload,
                        w->error ? w->error : "its window never ended");
        return FALSE;
    }
    host_figures(w->observation, o->housekeeping, o->vcpu_cpus, &f);
    char *text = describe(w->observation, &f);
    g_hash_table_insert(files, g_strdup(evidence), g_bytes_new_take(text, strlen(text)));
    for (guint i = 0; i < HOST_OBSERVERS; i++) {
        const HostObserverState *s = &w->observation->state[i];
        if (s->asked && !s->have)
            g_ptr_array_add(record->notes, g_strdup_printf("%s: not observed: %s (%s)", w->workload,
                                                           host_observe_name(i), s->why_not));
        else if (s->have && s->incomplete)
            g_ptr_array_add(record->notes,
                            g_strdup_printf("%s: %s are lower bounds: %s", w->workload,
                                            host_observe_name(i), s->incomplete));
    }
    if (f.have_foreign && f.foreign_lab_ns) {
        lab_record_fail(record, RES_OUTCOME_ISOLATION, "lab",
                        "the lab's own threads ran %" G_GUINT64_FORMAT
                        " ns on isolated CPUs during %s: see %s",
                        f.foreign_lab_ns, w->workload, evidence);
        return FALSE;
    }
    const Target target = {record, w->workload, evidence};
    add_metrics(o, &f, w->observation->duration_ns, &target);
    add_reasons(w->observation, &f, &target);
    add_targets(w->observation, &target);
    return TRUE;
}

gboolean
lab_observe_record(LabObserve *o, ResRecord *record, GHashTable *files)
{
    for (guint i = 0; i < o->windows->len; i++) {
        if (!record_window(o, o->windows->pdata[i], record, files))
            return FALSE;
    }
    return !o->functions || lab_functions_record(o->functions, o->functions_of, record, files);
}
