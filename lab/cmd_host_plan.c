/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nohzlab host plan: what to do to a machine, before anything runs on it. */
#include <stdio.h>

#include "host/error.h"
#include "host/export.h"
#include "lab/cmd_host.h"
#include "lab/host_plan.h"
#include "lab/verdict.h"

#define NAME "host plan"

static const char description[] =
    "CPUS is a list of the kernel's CPU numbers as the kernel reads it (0, 1-3,8, 1-N, 0-6:1/2);\n"
    "for --vcpupin and --emulatorpin as libvirt reads it (1-3, 0-4,^1).\n"
    "\n"
    "The plan has the kernel command lines of host and guest, a CPU for each vCPU (whole cores,\n"
    "one NUMA node, one kind of CPU as far as that goes), CPUs for the emulator, sysctls, KVM's\n"
    "parameters and what the guest's machine should be like, each with the reason. Nothing is\n"
    "changed. Known mistakes (no housekeeping CPU, SMT siblings on both sides, floating vCPUs,\n"
    "offline CPUs, interrupts on isolated CPUs, a line the kernel would cut) refuse the plan.\n"
    "\n"
    "Examples:\n"
    "  nohzlab host plan --housekeeping 0 --isolated 1-N --guest-vcpus 2\n"
    "  nohzlab host plan --isolated 2-N --export libvirt\n"
    "  nohzlab host plan --topology 'pack:2 core:8 pu:2' --housekeeping 0-1,16-17 --json\n"
    "\n"
    "Exit codes: 0 the plan can be used, 2 it is refused, or there is none.\n";

typedef struct {
    char *housekeeping, *isolated, *isolcpus, *irqaffinity, *cmdline;
    char **vcpupin;
    char *emulatorpin;
    char *export, *root, *topology, *tsc;
    int vcpus, guest_threads, fifo;
    gint64 memory_mib;
    gboolean share_cores, json;
} Options;

static void
options_clear(Options *o)
{
    char *texts[] = {o->housekeeping, o->isolated, o->isolcpus, o->irqaffinity, o->cmdline,
                     o->emulatorpin,  o->export,   o->root,     o->topology,    o->tsc};

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_strfreev(o->vcpupin);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static HostTopology *
read_topology(const Options *o, HostFacts **facts, GError **error)
{
    if (o->topology && o->root) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "--topology and --root are two machines: give one of them");
        return NULL;
    }
    if (o->topology)
        return g_str_has_suffix(o->topology, ".xml") ? host_topology_xml(o->topology, error)
                                                     : host_topology_synthetic(o->topology, error);
    g_autoptr(HostRoot) root = host_root_open(o->root, error);
    if (!root)
        return NULL;
    HostTopology *t = host_topology_read(root, error);
    *facts = t ? host_facts_read(root) : NULL;
    return t;
}

static gboolean
check_number(const char *option, gint64 value, gint64 max, GError **error)
{
    if (value >= 0 && value <= max)
        return TRUE;
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                "--%s %" G_GINT64_FORMAT ": want 0 to %" G_GINT64_FORMAT, option, value, max);
    return FALSE;
}

static gboolean
read_wish(const Options *o, HostWish *w, GError **error)
{
    static const char *const tsc[] = {"default", "nowatchdog", "reliable"};
    gboolean known = !o->tsc;

    *w = (HostWish){
        .housekeeping = o->housekeeping,
        .isolated = o->isolated,
        .isolcpus = o->isolcpus,
        .irqaffinity = o->irqaffinity,
        .cmdline = o->cmdline,
        .vcpus = (unsigned int)o->vcpus,
        .guest_threads = (unsigned int)o->guest_threads,
        .vcpu_pins = (const char *const *)o->vcpupin,
        .emulatorpin = o->emulatorpin,
        .share_cores = o->share_cores,
        .fifo_priority = (unsigned int)o->fifo,
        .memory_mib = (guint64)o->memory_mib,
    };
    for (guint i = 0; o->tsc && i < G_N_ELEMENTS(tsc); i++) {
        if (g_str_equal(o->tsc, tsc[i])) {
            w->tsc = (HostTsc)i;
            known = TRUE;
        }
    }
    if (!known) {
        g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED,
                    "--tsc: want default, nowatchdog or reliable");
        return FALSE;
    }
    return check_number("guest-vcpus", o->vcpus, 4096, error) &&
           check_number("guest-threads", o->guest_threads, 4096, error) &&
           check_number("fifo", o->fifo, 99, error) &&
           check_number("guest-memory", o->memory_mib, G_GINT64_CONSTANT(1) << 30, error);
}

/* Findings go to stderr where stdout is an export, so that it can be piped. */
static int
print_plan(const Options *o, const HostPlan *p, const HostTopology *t)
{
    g_autoptr(GPtrArray) findings = host_rules_check(p, t);
    gboolean refused = host_rules_refuse(findings);
    HostExport what;

    if (o->export) {
        for (guint i = 0; i < findings->len; i++) {
            const HostRuleFinding *f = findings->pdata[i];
            if (f->severity == 'N')
                continue;
            fprintf(stderr, "nohzlab " NAME ": %s %s: %s%s%s\n",
                    host_rule_severity_name(f->severity), f->rule, f->message,
                    *f->advice ? "; do: " : "", f->advice);
        }
        if (!refused && host_export_from_name(o->export, &what)) {
            g_autofree char *text = host_export(p, what);
            fputs(text, stdout);
        }
    } else {
        g_autofree char *text =
            o->json ? lab_host_plan_json(p, t, findings) : lab_host_plan_text(p, t, findings);
        fputs(text, refused && !o->json ? stderr : stdout);
    }
    return refused ? LAB_EXIT_CANNOT : LAB_EXIT_HELD;
}

int
lab_cmd_host_plan(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    g_auto(Options) o = {0};
    HostWish wish;
    HostExport what;
    int code = 0;
    const GOptionEntry entries[] = {
        {"housekeeping", 0, 0, G_OPTION_ARG_STRING, &o.housekeeping,
         "CPUs for the kernel's own work, interrupts and guest timers (default: all online ones "
         "that are not isolated); N is the last CPU",
         "CPUS"},
        {"isolated", 0, 0, G_OPTION_ARG_STRING, &o.isolated,
         "CPUs for vCPUs (default: all online ones that are not housekeeping)", "CPUS"},
        {"guest-vcpus", 0, 0, G_OPTION_ARG_INT, &o.vcpus,
         "vCPUs of the guest (default: one per isolated core of one NUMA node)", "N"},
        {"guest-threads", 0, 0, G_OPTION_ARG_INT, &o.guest_threads,
         "Threads per core in the guest (default: 1, or the host's with --share-cores)", "N"},
        {"guest-memory", 0, 0, G_OPTION_ARG_INT64, &o.memory_mib,
         "Memory of the guest: plan huge pages for it", "MIB"},
        {"share-cores", 0, 0, G_OPTION_ARG_NONE, &o.share_cores,
         "vCPUs may be SMT siblings of each other", NULL},
        {"vcpupin", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.vcpupin,
         "Pin a vCPU (* is all of them) to the kernel's CPU numbers, not lstopo's logical ones; "
         "may be repeated",
         "VCPU=CPUS"},
        {"emulatorpin", 0, 0, G_OPTION_ARG_STRING, &o.emulatorpin,
         "CPUs of the emulator's threads and iothreads (default: housekeeping)", "CPUS"},
        {"fifo", 0, 0, G_OPTION_ARG_INT, &o.fifo,
         "SCHED_FIFO priority of the vCPUs (default: 0, not real-time)", "PRIORITY"},
        {"isolcpus", 0, 0, G_OPTION_ARG_STRING, &o.isolcpus,
         "Flags of isolcpus=, or none (default: domain,managed_irq)", "FLAGS"},
        {"irqaffinity", 0, 0, G_OPTION_ARG_STRING, &o.irqaffinity,
         "CPUs of interrupts that no driver places (default: housekeeping)", "CPUS"},
        {"tsc", 0, 0, G_OPTION_ARG_STRING, &o.tsc,
         "default, nowatchdog (no clocksource watchdog) or reliable (no check at all)", "HOW"},
        {"cmdline", 0, 0, G_OPTION_ARG_STRING, &o.cmdline,
         "What the host's kernel gets besides, to be checked together with the plan", "TEXT"},
        {"root", 0, 0, G_OPTION_ARG_FILENAME, &o.root,
         "Plan for the machine whose sys folder is in DIR (default: /)", "DIR"},
        {"topology", 0, 0, G_OPTION_ARG_FILENAME, &o.topology,
         "Plan for an hwloc description (\"pack:2 core:4 pu:2\") or a file of lstopo (.xml)",
         "WHAT"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, "Print JSON", NULL},
        {"export", 0, 0, G_OPTION_ARG_STRING, &o.export,
         "Print one part only: cmdline, guest-cmdline, libvirt, tuned or systemd", "FORMAT"},
        {NULL},
    };

    if (!lab_command_parse(NAME, entries, 0, 0, &argc, &argv, &state, &code)) {
        if (code == LAB_EXIT_HELD) /* --help */
            fputs(description, stdout);
        return code;
    }
    if (o.export && (o.json || !host_export_from_name(o.export, &what))) {
        fprintf(stderr, "nohzlab " NAME ": %s\n",
                o.json ? "--json and --export exclude each other"
                       : "--export: want cmdline, guest-cmdline, libvirt, tuned or systemd");
        return LAB_EXIT_CANNOT;
    }
    if (!read_wish(&o, &wish, &error))
        return lab_command_fail(NAME, error);
    g_autoptr(HostFacts) facts = NULL; /* of a description nothing is known */
    g_autoptr(HostTopology) t = read_topology(&o, &facts, &error);
    if (!t)
        return lab_command_fail(NAME, error);
    g_autoptr(HostPlan) p = host_plan_new(t, facts, &wish, &error);
    if (!p)
        return lab_command_fail(NAME, error);
    return print_plan(&o, p, t);
}
