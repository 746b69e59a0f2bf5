/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about a guest's pins, priority and threads. */
#include "host/rules.h"

#include <string.h>

static gboolean
isolates_domains(const HostPlan *p)
{
    g_auto(GStrv) flags = g_strsplit(p->isolcpus, ",", -1);

    return g_strv_contains((const char *const *)flags, "domain");
}

static HostCpuset *
all_pins(const HostPlan *p)
{
    HostCpuset *all = hwloc_bitmap_alloc();

    for (unsigned int v = 0; v < p->vcpus; v++)
        hwloc_bitmap_or(all, all, p->vcpu_pins[v]);
    return all;
}

/* F31: before libvirt is asked. */
static gboolean
check_pin_there(HostRules *r, unsigned int vcpu)
{
    const HostCpuset *pin = r->p->vcpu_pins[vcpu];
    g_autoptr(HostCpuset) gone = hwloc_bitmap_alloc();
    g_autoptr(HostCpuset) offline = hwloc_bitmap_alloc();

    hwloc_bitmap_andnot(gone, pin, r->t->present);
    hwloc_bitmap_and(offline, pin, r->t->present);
    hwloc_bitmap_andnot(offline, offline, r->t->online);
    if (!hwloc_bitmap_iszero(gone)) {
        g_autofree char *shortfall = host_cpuset_shortfall(pin, r->t->present, "the machine");
        host_rules_add(r, 'E', "pin-absent",
                       "pins are the kernel's CPU numbers (lscpu -e, lstopo -p), not lstopo's "
                       "logical ones",
                       "vCPU %u is pinned to CPUs that are not there: %s", vcpu, shortfall);
    }
    if (!hwloc_bitmap_iszero(offline)) {
        g_autofree char *list = host_cpulist_format(offline);
        host_rules_add(r, 'E', "pin-offline",
                       "bring it online (/sys/devices/system/cpu/cpuN/online), or pin elsewhere",
                       "vCPU %u is pinned to CPU %s, which is offline", vcpu, list);
    }
    return hwloc_bitmap_iszero(gone) && hwloc_bitmap_iszero(offline);
}

/* F22: there is no load balancing on domain-isolated CPUs, so a thread stays where it woke first.
 */
static void
check_floating(HostRules *r)
{
    g_autoptr(HostCpuset) who = hwloc_bitmap_alloc(); /* numbers of vCPUs */
    g_autoptr(HostCpuset) where = hwloc_bitmap_alloc();

    for (unsigned int v = 0; isolates_domains(r->p) && v < r->p->vcpus; v++) {
        g_autoptr(HostCpuset) in = hwloc_bitmap_alloc();
        hwloc_bitmap_and(in, r->p->vcpu_pins[v], r->p->isolated);
        if (hwloc_bitmap_weight(in) < 2)
            continue;
        hwloc_bitmap_or(where, where, in);
        hwloc_bitmap_set(who, v);
    }
    if (hwloc_bitmap_iszero(who))
        return;
    g_autofree char *list = host_cpulist_format(where);
    g_autofree char *vcpus = host_cpulist_format(who);
    host_rules_add(r, 'E', "pin-floating", "pin each vCPU to one CPU",
                   "vCPU %s: floating over the CPUs %s, where the scheduler does not balance; all "
                   "of them end up on the first, CPU %d",
                   vcpus, list, hwloc_bitmap_first(where));
}

/* Two vCPUs on one CPU, or on siblings of one core the guest knows nothing of. */
static void
check_pair(HostRules *r, unsigned int a, int cpu_a, unsigned int b, int cpu_b)
{
    const HostPlan *p = r->p;

    if (cpu_a == cpu_b)
        host_rules_add(r, 'E', "pin-shared", "give each vCPU a CPU of its own",
                       "vCPUs %u and %u are both pinned to CPU %d: one waits while the other runs, "
                       "and spins if it wants the other's lock",
                       a, b, cpu_a);
    else if (a / p->guest_threads != b / p->guest_threads)
        host_rules_add(r, p->share_cores ? 'N' : 'W', "pin-siblings",
                       "pin to different cores, or tell the guest (threads per core)",
                       "vCPUs %u and %u are pinned to CPUs %d and %d, which share a core, but the "
                       "guest does not know",
                       a, b, cpu_a, cpu_b);
}

/* Where a vCPU is pinned to one CPU; otherwise -1. */
static int
only_cpu(const HostPlan *p, unsigned int vcpu)
{
    const HostCpuset *pin = p->vcpu_pins[vcpu];
    return hwloc_bitmap_weight(pin) == 1 ? hwloc_bitmap_first(pin) : -1;
}

static void
check_neighbours(HostRules *r)
{
    const HostPlan *p = r->p;
    g_autoptr(HostCpuset) taken = hwloc_bitmap_alloc();
    g_autofree unsigned int *vcpu_on = g_new0(unsigned int, HOST_CPULIST_MAX_CPU + 1);

    for (unsigned int v = 0; v < p->vcpus; v++) {
        int cpu = only_cpu(p, v);
        const HostCpuset *core = cpu < 0 ? NULL : host_topology_siblings(r->t, (unsigned int)cpu);
        unsigned int sibling;
        if (!core)
            continue;
        hwloc_bitmap_foreach_begin(sibling, core)
        {
            if (hwloc_bitmap_isset(taken, sibling))
                check_pair(r, vcpu_on[sibling], (int)sibling, v, cpu);
        }
        hwloc_bitmap_foreach_end();
        hwloc_bitmap_set(taken, (unsigned int)cpu);
        vcpu_on[cpu] = v;
    }
}

/* F32: each thread of a guest core against the first of that core. */
static void
check_guest_threads(HostRules *r)
{
    const HostPlan *p = r->p;

    for (unsigned int v = 0; v < p->vcpus; v++) {
        unsigned int first = v - v % p->guest_threads;
        int cpu = only_cpu(p, v), first_cpu = only_cpu(p, first);
        if (v == first || cpu < 0 || first_cpu < 0 || cpu == first_cpu)
            continue;
        const HostCpuset *core = host_topology_siblings(r->t, (unsigned int)first_cpu);
        if (core && hwloc_bitmap_isset(core, (unsigned int)cpu))
            continue;
        host_rules_add(r, 'W', "guest-threads",
                       "give the guest cores of one thread, or pin the threads of a guest core to "
                       "the threads of a host core. Pins are the kernel's CPU numbers (lscpu -e), "
                       "not lstopo's logical ones",
                       "vCPUs %u and %u are threads of one guest core, but CPUs %d and %d are not "
                       "siblings on the host",
                       first, v, first_cpu, cpu);
    }
}

/* F19 and NUMA. */
static void
check_alike(HostRules *r)
{
    g_autoptr(HostCpuset) all = all_pins(r->p);
    GString *kinds = g_string_new(NULL);
    guint n = 0;

    hwloc_bitmap_and(all, all, r->t->online);
    for (guint i = 0; i < r->t->kinds->len; i++) {
        const HostCpuKind *kind = r->t->kinds->pdata[i];
        g_autoptr(HostCpuset) in = hwloc_bitmap_alloc();
        hwloc_bitmap_and(in, all, kind->cpus);
        if (hwloc_bitmap_iszero(in))
            continue;
        g_autofree char *list = host_cpulist_format(in);
        g_string_append_printf(kinds, "%sCPU %s (%s)", n++ ? ", " : "", list, kind->name);
    }
    if (n > 1)
        host_rules_add(r, 'W', "mixed-kinds", "pin all vCPUs of a guest to CPUs of one kind",
                       "the vCPUs are pinned to CPUs of different kinds: %s, by %s", kinds->str,
                       r->t->kinds_from ? r->t->kinds_from : "nothing");
    g_string_free(kinds, TRUE);
    if (r->p->node < 0 && r->t->nodes->len > 1 && !hwloc_bitmap_iszero(all)) {
        g_autofree char *list = host_cpulist_format(all);
        host_rules_add(r, 'W', "numa-span", "pin to the CPUs of one node, memory follows",
                       "the vCPUs' CPUs %s are on more than one NUMA node", list);
    }
}

static void
check_emulator(HostRules *r)
{
    const HostPlan *p = r->p;
    g_autoptr(HostCpuset) pins = all_pins(p);
    g_autoptr(HostCpuset) on_vcpus = hwloc_bitmap_alloc();
    g_autoptr(HostCpuset) on_isolated = hwloc_bitmap_alloc();

    hwloc_bitmap_and(on_vcpus, p->emulator_pin, pins);
    hwloc_bitmap_and(on_isolated, p->emulator_pin, p->isolated);
    g_autofree char *with_vcpus = host_cpulist_format(on_vcpus);
    g_autofree char *isolated = host_cpulist_format(on_isolated);
    if (p->fifo_priority && (hwloc_bitmap_iszero(p->emulator_pin) || *with_vcpus))
        host_rules_add(r, 'E', "fifo-emulator", "pin the emulator to housekeeping CPUs only",
                       "the vCPUs are SCHED_FIFO and the emulator's threads may be on their CPUs "
                       "(%s): a vCPU that waits for one of them never lets it run",
                       *with_vcpus ? with_vcpus : "not pinned");
    else if (hwloc_bitmap_iszero(p->emulator_pin))
        host_rules_add(r, 'E', "emulator-unpinned", "pin the emulator to housekeeping CPUs only",
                       "the emulator's threads are pinned to no CPU");
    else if (*isolated)
        host_rules_add(r, 'E', "emulator-isolated", "pin the emulator to housekeeping CPUs only",
                       "the emulator's threads may run on the isolated CPUs %s", isolated);
    if (p->fifo_priority)
        host_rules_add(r, 'W', "fifo-starves",
                       "leave the vCPUs SCHED_OTHER on kernels that are not PREEMPT_RT: nothing "
                       "else should run there anyway",
                       "a SCHED_FIFO vCPU that never sleeps keeps the kernel's per-CPU threads "
                       "(kworker, ksoftirqd) from its CPU, and who waits for them waits for good");
}

void
host_rules_check_guest(HostRules *r)
{
    const HostPlan *p = r->p;
    gboolean usable = TRUE;
    g_autoptr(HostCpuset) off = NULL;

    if (p->shortage) {
        host_rules_add(r, 'E', "too-few-cpus",
                       p->share_cores
                           ? "plan fewer vCPUs, or isolate more CPUs"
                           : "plan fewer vCPUs, isolate more cores, or let vCPUs share cores",
                       "%s", p->shortage);
        return;
    }
    for (unsigned int v = 0; v < p->vcpus; v++) {
        if (hwloc_bitmap_iszero(p->vcpu_pins[v])) {
            host_rules_add(r, 'E', "pin-empty", "pin each vCPU to one CPU",
                           "vCPU %u is pinned to no CPU", v);
            usable = FALSE;
        }
        usable = check_pin_there(r, v) && usable;
    }
    check_emulator(r);
    if (!usable)
        return;
    check_floating(r);
    check_neighbours(r);
    check_guest_threads(r);
    off = all_pins(p);
    hwloc_bitmap_andnot(off, off, p->isolated);
    if (!hwloc_bitmap_iszero(off)) {
        g_autofree char *list = host_cpulist_format(off);
        host_rules_add(r, 'W', "pin-not-isolated", "pin vCPUs to isolated CPUs",
                       "vCPUs are pinned to CPUs %s, which are not isolated", list);
    }
    check_alike(r);
}
