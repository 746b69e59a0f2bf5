/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PID 1 of the guest: reads the job, runs its workloads one after another, reports, powers off
 * (guest/report-format.md). It stays on the housekeeping CPUs and sleeps while a workload runs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/cpus.h"
#include "guest/facts.h"
#include "guest/job.h"
#include "guest/lab_host.h"
#include "guest/port.h"
#include "guest/power.h"
#include "guest/setup.h"
#include "guest/workload.h"

static BmPort port;
static BmFacts facts;
static BmJob job;
static char job_text[BM_JOB_MAX + 2];

static void __attribute__((noreturn)) give_up(const char *why)
{
    bm_port_rest(&port, "fail", why, strlen(why));
    bm_port_end(&port);
    bm_power_off();
}

static void
stay_off_the_measured(void)
{
    char list[BM_LINE_MAX];
    BmCpus cpus;

    bm_cpus_housekeeping(&cpus);
    if (!bm_cpus_pin(&cpus))
        give_up("PID 1 cannot move to the housekeeping CPUs");
    bm_cpus_print(&cpus, list, sizeof list);
    bm_fact(&port, "pid1.cpus", list, strlen(list));
}

static void
run_workloads(const BmCpus *everywhere)
{
    char why[512];
    int signals = bm_workload_signals();

    if (signals < 0)
        give_up("signalfd failed");
    for (size_t i = 0; i < job.n_workloads; i++)
        if (!bm_workload_run(&job.workloads[i], &port, job.barriers, everywhere, signals, why,
                             sizeof why))
            give_up(why);
}

int
main(void)
{
    char why[512] = "", port_why[512];
    size_t job_len;
    BmCpus everywhere = {0};
    bool ready;

    if (getpid() != 1) {
        fputs("nohzlab init is PID 1 of a guest; it does nothing anywhere else\n", stderr);
        return 2;
    }
    /* Where the kernel lets ordinary programs run; workloads that are not pinned get this back. */
    syscall(SYS_sched_getaffinity, 0, sizeof everywhere.bits, everywhere.bits);
    ready = bm_setup_mounts(why, sizeof why) && bm_setup_modules(why, sizeof why);
    if (!bm_port_open(&port, ready, port_why, sizeof port_why)) {
        bm_console_say("%s", ready ? port_why : why);
        bm_power_off();
    }
    bm_port_line(&port, BM_REPORT_MAGIC " %d", BM_FORMAT_VERSION);
    if (!ready)
        give_up(why);
    if (!bm_setup_read_job(job_text, &job_len, why, sizeof why)) {
        bm_console_say("%s", why);
        give_up(why);
    }
    if (!bm_job_parse(&job, job_text, job_len, why, sizeof why))
        give_up(why);
    if (!bm_lab_host_prepare(&job, why, sizeof why))
        give_up(why);
    stay_off_the_measured();
    bm_setup_wait_for_clock();
    bm_facts_send(&facts, &port);
    bm_port_barrier(&port, "ready", job.barriers);
    run_workloads(&everywhere);
    bm_facts_send_late(&facts, &port);
    bm_port_barrier(&port, "end", job.end_barrier);
    bm_port_end(&port);
    bm_power_off();
}
