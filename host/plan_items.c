/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/plan_items.h"

#include <string.h>

#include "host/cmdline.h"

static void
add(HostPlan *p, HostItemKind kind, const char *name, const char *value, const char *why,
    const char *now)
{
    HostPlanItem *item = g_new0(HostPlanItem, 1);

    item->kind = kind;
    item->name = g_strdup(name);
    item->value = g_strdup(value ? value : "");
    item->why = g_strdup(why);
    item->now = g_strdup(now);
    g_ptr_array_add(p->items, item);
}

/* Documentation/admin-guide/kernel-parameters.txt; kernel/sched/isolation.c. */
static const struct {
    const char *name, *why;
} reasons[] = {
    {"isolcpus", "domain: the scheduler puts nothing there by itself; managed_irq: interrupts that "
                 "the kernel places for drivers avoid these CPUs while others can take them"},
    {"nohz_full", "the tick stops there while one task runs, and unbound timers (a guest's "
                  "emulated lapic timer) go to a housekeeping CPU"},
    {"rcu_nocbs", "RCU callbacks run in threads that can stay on housekeeping CPUs; nohz_full "
                  "implies it, written down so that it holds where nohz_full is not built in"},
    {"irqaffinity", "interrupts that no driver places start on these CPUs"},
};

/* The partition's own parameters, in the order they stand in TEXT. */
static void
add_partition(HostPlan *p, HostItemKind kind, const char *text)
{
    g_autoptr(GPtrArray) params = host_cmdline_split(text, NULL);

    for (guint i = 0; i < params->len; i++) {
        const HostParam *param = params->pdata[i];
        const char *why = "";
        for (gsize r = 0; r < G_N_ELEMENTS(reasons); r++) {
            if (g_str_equal(param->name, reasons[r].name))
                why = reasons[r].why;
        }
        add(p, kind, param->name, param->value, why, NULL);
    }
}

/* A host parameter beside the partition. */
static void
add_host_param(HostPlan *p, const char *name, const char *value, const char *why, const char *now)
{
    char *line = g_strdup_printf("%s %s=%s", p->host_cmdline, name, value);

    g_free(p->host_cmdline);
    p->host_cmdline = line;
    add(p, HOST_ITEM_HOST_PARAM, name, value, why, now);
}

/* Documentation/admin-guide/kernel-parameters.txt, tsc=. */
static void
add_tsc(HostPlan *p)
{
    if (p->tsc == HOST_TSC_NOWATCHDOG)
        add_host_param(p, "tsc", "nowatchdog",
                       "the clocksource watchdog's timer no longer visits each online CPU in turn, "
                       "isolated ones too; the checks at boot stay",
                       NULL);
    if (p->tsc == HOST_TSC_RELIABLE)
        add_host_param(p, "tsc", "reliable",
                       "no clocksource watchdog, and no check that the TSCs of the CPUs agree",
                       NULL);
}

static void
add_huge_pages(HostPlan *p, const HostTopology *t)
{
    gboolean gib = p->page_kib == 1024 * 1024;
    guint64 page_mib = p->page_kib / 1024;

    if (!p->page_kib)
        return;
    guint64 pages = (p->memory_mib + page_mib - 1) / page_mib;
    gboolean on_node = t->nodes->len > 1 && p->node >= 0;
    g_autofree char *count = on_node ? g_strdup_printf("%d:%" G_GUINT64_FORMAT, p->node, pages)
                                     : g_strdup_printf("%" G_GUINT64_FORMAT, pages);
    if (gib)
        add_host_param(p, "default_hugepagesz", "1G", "programs that name no size get 1 GiB pages",
                       NULL);
    /* The order matters: hugepages= counts pages of the hugepagesz= before it. */
    add_host_param(p, "hugepagesz", gib ? "1G" : "2M",
                   gib ? "pages of 1 GiB must be set aside at boot, before memory is in pieces"
                       : "1 GiB pages don't fit: this kernel shows none, or the guest's memory is "
                         "not a multiple of 1 GiB",
                   NULL);
    add_host_param(p, "hugepages", count,
                   on_node ? "the guest's memory, on the node of its vCPUs (NODE:PAGES is read by "
                             "Linux 5.16 and newer)"
                           : "the guest's memory",
                   NULL);
}

/*
 * KVM's module parameters: virt/kvm/kvm_main.c, arch/x86/kvm/{x86,lapic}.c, vmx/vmx.c, svm/avic.c.
 * BOOT: only readable while the module is loaded, so it goes on the command line. NEEDED: wanted
 * only by kernels that show it; the others are planned, too, while nothing is known of KVM here.
 */
static const struct {
    const char *name, *value, *why;
    gboolean boot, needed;
} module_params[] = {
    {"kvm.halt_poll_ns", "0",
     "the host does not spin on the vCPU's CPU when the guest halts; that would move guest idle "
     "time into host time, and runs with different values can't be compared",
     FALSE, FALSE},
    {"kvm.pi_inject_timer", "1",
     "guest timers expire on a housekeeping CPU and are posted to the vCPU without an exit; the "
     "default, -1, decides the same from nohz_full when KVM is loaded. It works with APICv or "
     "AVIC, "
     "and with halts left to the guest (cpu-pm)",
     FALSE, FALSE},
    {"kvm.lapic_timer_advance_ns", "-1",
     "timers that still exit are started early by what KVM measures for each vCPU; a fixed figure "
     "comes from another machine (kernels before 6.11)",
     FALSE, TRUE},
    {"kvm.lapic_timer_advance", "Y",
     "timers that still exit are started early by what KVM measures for each vCPU (6.11 and newer)",
     TRUE, TRUE},
    {"kvm.kvmclock_periodic_sync", "N",
     "no kick of every vCPU each five minutes to set kvm-clock anew; hosts with a stable TSC do "
     "without",
     TRUE, FALSE},
    {"kvm_intel.enable_apicv", "Y", "posted interrupts, which posted timers need", TRUE, TRUE},
    {"kvm_amd.avic", "Y", "posted interrupts, which posted timers need", TRUE, TRUE},
};

static void
add_module_params(HostPlan *p, const HostFacts *facts)
{
    for (gsize i = 0; i < G_N_ELEMENTS(module_params); i++) {
        gboolean known = facts && facts->kvm;
        const char *now =
            known ? g_hash_table_lookup(facts->module_parameters, module_params[i].name) : NULL;
        if ((known || module_params[i].needed) && !now)
            continue;
        if (!module_params[i].boot)
            add(p, HOST_ITEM_MODULE, module_params[i].name, module_params[i].value,
                module_params[i].why, now);
        else if (!now || !g_str_equal(now, module_params[i].value))
            add_host_param(p, module_params[i].name, module_params[i].value, module_params[i].why,
                           now);
    }
}

static void
add_sysctls(HostPlan *p)
{
    /* kernel/time/hrtimer.c get_target_base(), kernel/time/timer.c. */
    add(p, HOST_ITEM_SYSCTL, "kernel.timer_migration", "1",
        "with 0 every timer stays where it was armed: guest timers on the isolated CPU. 1 is the "
        "kernel's default; tuned's cpu-partitioning sets 0",
        NULL);
    if (p->fifo_priority)
        add(p, HOST_ITEM_SYSCTL, "kernel.sched_rt_runtime_us", "-1",
            "real-time tasks may use a CPU for good; the default takes 50 ms of each second from a "
            "vCPU that never sleeps",
            NULL);
}

/* https://libvirt.org/formatdomain.html; Documentation/virt/kvm/x86/cpuid.rst. */
static const struct {
    const char *name, *value, *why;
} guest_items[] = {
    {"cpu", "host-passthrough", "the guest sees this CPU; it can't be migrated, as its pins can't"},
    {"feature invtsc", "require",
     "the guest may keep the TSC as its clocksource, which is read without an exit"},
    {"feature tsc-deadline", "require", "one MSR write arms a timer, exact to the TSC's tick"},
    {"timer kvmclock", "present", "the clock of a guest that must give up the TSC"},
    {"timer hpet", "absent", "a clocksource that exits at each read"},
    {"kvm hint-dedicated", "on",
     "the guest is told that its vCPUs are never preempted: native spinlocks and TLB flushes, and "
     "the haltpoll governor may load. True only with one CPU per vCPU"},
    {"kvm poll-control", "on",
     "a guest that polls before it halts can switch off the host's polling"},
    {"pmu", "off", "no performance counters to switch at each entry and exit"},
    {"overcommit cpu-pm", "on",
     "HLT, MWAIT and PAUSE don't exit: the guest idles on its own, the host sees its CPU as busy"},
    {"memory locked", "yes", "no page of the guest is swapped out or moved"},
    {"memory nosharepages", "yes", "KSM does not merge, and then copy, its pages"},
    {"memory allocation", "immediate", "no page fault on first touch while measuring"},
};

static void
add_guest_items(HostPlan *p)
{
    for (gsize i = 0; i < G_N_ELEMENTS(guest_items); i++)
        add(p, HOST_ITEM_GUEST, guest_items[i].name, guest_items[i].value, guest_items[i].why,
            NULL);
    if (p->page_kib)
        add(p, HOST_ITEM_GUEST, "memory hugepages", p->page_kib == 2048 ? "2 MiB" : "1 GiB",
            "fewer TLB misses, two-dimensional walks being the costliest", NULL);
    if (p->fifo_priority) {
        g_autofree char *value = g_strdup_printf("fifo %u", p->fifo_priority);
        add(p, HOST_ITEM_GUEST, "vcpusched", value,
            "nothing of SCHED_OTHER preempts a vCPU. So nothing of it may be needed on that CPU: "
            "emulator and iothreads are pinned elsewhere",
            NULL);
    }
}

void
host_plan_add_items(HostPlan *p, const HostTopology *t, const HostFacts *facts)
{
    add_partition(p, HOST_ITEM_HOST_PARAM, p->host_cmdline);
    add_huge_pages(p, t);
    add_tsc(p);
    add_module_params(p, facts);
    add_sysctls(p);
    add_partition(p, HOST_ITEM_GUEST_PARAM, p->guest_cmdline);
    add_guest_items(p);
}
