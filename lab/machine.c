/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/machine.h"

#include <string.h>

#include "guest/report.h"
#include "host/error.h"
#include "lab/exit_cost.h"
#include "lab/hot.h"

/* Notices and worse on the console: the banner tells a kernel that runs from one that doesn't. A
 * panic ends the guest at once (panic=-1 reboots, and a reboot ends the domain). */
#define BASE_CMDLINE "console=ttyS0 loglevel=6 panic=-1"
/*
 * Under icount with shift=0 the TSC ticks once an instruction and virtual nanosecond: it is
 * reliable and its frequency known (1 GHz), so measuring it is a waste. no_timer_check and
 * cpu_init_udelay spare busy waits, each turn of which leaves the translated code (PAUSE) and is
 * slow to emulate.
 */
#define ICOUNT_CMDLINE                                                                             \
    "tsc=reliable clocksource=tsc tsc_early_khz=1000000 no_timer_check cpu_init_udelay=0"

#define CYCLICTEST_BUCKETS_MAX 1000000

static HostCpuset *
single_cpu(unsigned int cpu)
{
    HostCpuset *set = hwloc_bitmap_alloc();

    hwloc_bitmap_set(set, cpu);
    return set;
}

gboolean
lab_partition_resolve(const LabPartition *p, unsigned int ncpus, HostCpuset **housekeeping,
                      HostCpuset **isolated, HostPartition *partition, GError **error)
{
    *isolated = host_cpulist_parse(p->isolated, HOST_CPULIST_KERNEL, ncpus, NULL, error);
    if (!*isolated)
        return FALSE;
    if (*p->housekeeping) {
        *housekeeping =
            host_cpulist_parse(p->housekeeping, HOST_CPULIST_KERNEL, ncpus, NULL, error);
    } else {
        *housekeeping = hwloc_bitmap_alloc();
        hwloc_bitmap_set_range(*housekeeping, 0, (int)ncpus - 1);
        hwloc_bitmap_andnot(*housekeeping, *housekeeping, *isolated);
    }
    if (!*housekeeping)
        return FALSE;
    *partition = (HostPartition){
        .ncpus = ncpus,
        .housekeeping = *housekeeping,
        .isolated = *isolated,
        .nohz_full = p->nohz_full,
        .rcu_nocbs = p->rcu_nocbs,
        .isolcpus = g_str_equal(p->isolcpus, "none") ? NULL : p->isolcpus,
    };
    return TRUE;
}

static gboolean
resolve_pins(LabMachine *m, const LabParams *params, GError **error)
{
    if (*params->emulatorpin) {
        m->emulator_pin =
            host_cpulist_parse(params->emulatorpin, HOST_CPULIST_TOOL, 0, NULL, error);
        if (!m->emulator_pin)
            return FALSE;
    }
    if (!*params->pin)
        return TRUE;
    /* One CPU per vCPU, in ascending order: a checked profile writes them so. The list is read as a
     * whole, since an exclusion (1-4,^2) takes away what was named before it. */
    g_autoptr(HostCpuset) cpus = host_cpulist_parse(params->pin, HOST_CPULIST_TOOL, 0, NULL, error);
    if (!cpus)
        return FALSE;
    if (hwloc_bitmap_weight(cpus) != (int)m->vcpus) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "pin = %s names %d CPUs for %u vCPUs", params->pin, hwloc_bitmap_weight(cpus),
                    m->vcpus);
        return FALSE;
    }
    m->vcpu_pins = g_new0(HostCpuset *, m->vcpus);
    int cpu = -1;
    for (unsigned int i = 0; i < m->vcpus; i++) {
        cpu = hwloc_bitmap_next(cpus, cpu);
        m->vcpu_pins[i] = single_cpu(cpu);
    }
    return TRUE;
}

static char *
build_cmdline(const LabParams *params, const HostPartition *partition)
{
    g_autofree char *isolation = host_partition_cmdline(partition);
    const char *parts[5] = {BASE_CMDLINE};
    gsize n = 1;

    if (params->clock == LAB_CLOCK_ICOUNT)
        parts[n++] = ICOUNT_CMDLINE;
    if (*isolation)
        parts[n++] = isolation;
    if (*params->guest.cmdline)
        parts[n++] = params->guest.cmdline;
    return g_strjoinv(" ", (char **)parts);
}

unsigned int
lab_workload_cpu(const LabWorkload *w)
{
    return MAX(w->cpu, 0);
}

static void
job_word(GString *job, const char *word)
{
    if (!*word)
        g_string_append(job, " %");
    else
        g_string_append_c(job, ' ');
    for (const char *p = word; *p; p++) {
        if (*p > ' ' && *p < 0x7f && *p != '%')
            g_string_append_c(job, *p);
        else
            g_string_append_printf(job, "%%%02X", (guint8)*p);
    }
}

static G_GNUC_PRINTF(2, 3) void job_argument(GString *job, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *word = g_strdup_vprintf(format, args);
    va_end(args);
    g_string_append(job, "argv");
    job_word(job, word);
    g_string_append_c(job, '\n');
}

static void
job_syscall_loop(GString *job, const LabWorkload *w)
{
    job_argument(job, LAB_GUEST_SYSCALL_LOOP);
    job_argument(job, "--cpu=%u", lab_workload_cpu(w));
    job_argument(job, "--calls=%" G_GUINT64_FORMAT, w->calls);
    job_argument(job, "--batches=%" G_GUINT64_FORMAT, w->batches);
    job_argument(job, "--max-warmup=%" G_GUINT64_FORMAT, w->warmup);
    job_argument(job, "%s", w->loop);
    if (w->hot_functions)
        g_string_append(job, "collect " LAB_HOT_SYMBOLS "\n");
}

static void
job_cyclictest(GString *job, const LabWorkload *w)
{
    job_argument(job, LAB_GUEST_CYCLICTEST);
    job_argument(job, "--quiet");
    job_argument(job, "--mlockall");
    job_argument(job, "--priority=%" G_GUINT64_FORMAT, w->priority);
    if (w->cpu >= 0) {
        job_argument(job, "--threads=1");
        job_argument(job, "--affinity=%d", w->cpu);
    } else {
        job_argument(job, "--smp");
    }
    job_argument(job, "--interval=%" G_GUINT64_FORMAT, w->interval_us);
    job_argument(job, "--loops=%" G_GUINT64_FORMAT, w->loops);
    /* Microseconds would round 4,213 instructions to 4,000; but cyclictest has a million buckets at
     * most (HIST_MAX). */
    gboolean nsecs = w->histogram_us <= CYCLICTEST_BUCKETS_MAX / 1000;
    if (nsecs)
        job_argument(job, "--nsecs");
    if (w->histogram_us)
        job_argument(job, "--histogram=%" G_GUINT64_FORMAT, w->histogram_us * (nsecs ? 1000 : 1));
    job_argument(job, "--json=/tmp/" LAB_GUEST_CYCLICTEST_JSON);
    g_string_append(job, "collect /tmp/" LAB_GUEST_CYCLICTEST_JSON "\n");
}

static void
job_exit_cost(GString *job, const LabWorkload *w)
{
    job_argument(job, LAB_GUEST_EXIT_COST);
    job_argument(job, "--batches=%" G_GUINT64_FORMAT, w->batches);
    if (!g_str_equal(w->kinds, LAB_EXIT_COST_ALL))
        job_argument(job, "--kinds=%s", w->kinds);
    if (w->functions)
        job_argument(job, "--traced");
}

static gboolean
job_command(GString *job, const LabWorkload *w, GError **error)
{
    g_auto(GStrv) words = NULL;

    if (!g_shell_parse_argv(w->command, NULL, &words, error))
        return FALSE;
    job_argument(job, LAB_GUEST_PROGRAMS "%s", words[0]);
    for (char **word = words + 1; *word; word++)
        job_argument(job, "%s", *word);
    return TRUE;
}

static gboolean
job_workload(GString *job, const LabWorkload *w, GError **error)
{
    g_string_append(job, "workload");
    job_word(job, w->name);
    g_string_append_printf(job, " %" G_GUINT64_FORMAT "\n", w->timeout_s);
    if (w->cpu >= 0)
        g_string_append_printf(job, "cpu %d\n", w->cpu);
    if (*w->trace)
        g_string_append_printf(job, "trace %s\n", w->trace);
    if (g_str_equal(w->type, "syscall-loop"))
        job_syscall_loop(job, w);
    else if (g_str_equal(w->type, "cyclictest"))
        job_cyclictest(job, w);
    else if (g_str_equal(w->type, LAB_EXIT_COST))
        job_exit_cost(job, w);
    else if (!job_command(job, w, error))
        return FALSE;
    g_string_append(job, "end\n");
    return TRUE;
}

const char *
lab_machine_barriers(const LabParams *params)
{
    return params->clock == LAB_CLOCK_ICOUNT ? "end" : "host";
}

static char *
build_job(const LabParams *params, GError **error)
{
    GString *job = g_string_new(NULL);

    g_string_append_printf(job, BM_JOB_MAGIC " %d\n", BM_FORMAT_VERSION);
    g_string_append_printf(job, "barriers %s\n", lab_machine_barriers(params));
    for (guint i = 0; i < params->workloads->len; i++) {
        if (!job_workload(job, params->workloads->pdata[i], error)) {
            g_string_free(job, TRUE);
            return NULL;
        }
    }
    g_string_append(job, "done\n");
    return g_string_free(job, FALSE);
}

LabMachine *
lab_machine_new(const LabParams *params, GError **error)
{
    g_autoptr(LabMachine) m = g_new0(LabMachine, 1);
    HostPartition partition;

    m->vcpus = params->vcpus;
    if (!lab_partition_resolve(&params->guest, m->vcpus, &m->housekeeping, &m->isolated, &partition,
                               error) ||
        !resolve_pins(m, params, error))
        return NULL;
    host_partition_wanted(&partition, &m->nohz_full, &m->domain, &m->rcu_nocbs);
    m->cmdline = build_cmdline(params, &partition);
    m->job = build_job(params, error);
    return m->job ? g_steal_pointer(&m) : NULL;
}

void
lab_machine_free(LabMachine *m)
{
    if (!m)
        return;
    for (unsigned int i = 0; m->vcpu_pins && i < m->vcpus; i++)
        hwloc_bitmap_free(m->vcpu_pins[i]);
    g_free(m->vcpu_pins);
    HostCpuset *sets[] = {m->housekeeping, m->isolated,  m->nohz_full,
                          m->domain,       m->rcu_nocbs, m->emulator_pin};
    for (gsize i = 0; i < G_N_ELEMENTS(sets); i++)
        g_clear_pointer(&sets[i], hwloc_bitmap_free);
    g_free(m->cmdline);
    g_free(m->job);
    g_free(m);
}

guint64
lab_machine_seed(const LabParams *params, unsigned int boot)
{
    return params->seed + boot;
}

HostDomainSpec
lab_machine_domain(const LabMachine *m, const LabParams *params, unsigned int boot)
{
    return (HostDomainSpec){
        .kvm = params->platform == LAB_PLATFORM_METAL,
        .icount = params->clock == LAB_CLOCK_ICOUNT,
        .seed = lab_machine_seed(params, boot),
        .plugin = params->plugin,
        .cmdline = m->cmdline,
        .memory_mib = params->memory_mib,
        .vcpus = m->vcpus,
        .vcpu_pins = (const HostCpuset *const *)m->vcpu_pins,
        .emulator_pin = m->emulator_pin,
    };
}
