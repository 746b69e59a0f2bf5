/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Observers on this machine's own tracefs, mounted in a mount namespace of this test. */
#include "host/observe.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/observe_counters.h"
#include "host/observe_trace.h"
#include "host/threads.h"

/* Which CPU is which makes no difference to the observers. */
#define ISOLATED 0
#define HOUSEKEEPING 1

/* Each test process its own, so that several may run at once. */
static char *token, *instance;
static const char *no_tracefs; /* why not, or NULL */

static const char *
mount_tracefs(void)
{
    if (geteuid() != 0)
        return "tracefs is root's";
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return "a mount namespace of its own is not permitted";
    if (!host_trace_dir(NULL) && mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) != 0)
        return "tracefs can't be mounted";
    return access("/sys/kernel/tracing/instances", W_OK) == 0 ||
                   access("/sys/kernel/debug/tracing/instances", W_OK) == 0
               ? NULL
               : "tracefs has no instances";
}

static gboolean
skipped(void)
{
    if (no_tracefs)
        g_test_skip(no_tracefs);
    return no_tracefs != NULL;
}

static gboolean
instance_exists(const char *suffix)
{
    g_autofree char *path = g_strconcat("instances/", instance, suffix, NULL);
    return host_trace_exists(NULL, path);
}

static void
assert_no_traces(void)
{
    g_assert_false(instance_exists(""));
    g_assert_false(instance_exists("-foreign"));
    g_assert_false(instance_exists("-targets"));
}

static gboolean
pin_to(pid_t pid, unsigned int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(pid, sizeof(set), &set) == 0;
}

static gint64
cpu_time_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (gint64)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* A child on CPU that sleeps SLEEPS times, waits to be told, then uses 50 ms of CPU time. */
static pid_t
busy_child(unsigned int cpu, guint sleeps, int go[2])
{
    g_assert_cmpint(pipe(go), ==, 0);
    pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        char c;
        close(go[1]);
        if (!pin_to(0, cpu) || read(go[0], &c, 1) != 1)
            _exit(1);
        for (gint64 from = cpu_time_us(); cpu_time_us() - from < 50000;)
            ;
        for (guint i = 0; i < sleeps; i++)
            usleep(1000);
        _exit(0);
    }
    close(go[0]);
    return pid;
}

static HostCpuset *
cpu(unsigned int n)
{
    HostCpuset *set = hwloc_bitmap_alloc();
    hwloc_bitmap_set(set, n);
    return set;
}

static gboolean
have_two_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(0, &set) && CPU_ISSET(1, &set))
        return TRUE;
    g_test_skip("CPUs 0 and 1 are not both ours");
    return FALSE;
}

static HostObserver *
observer(unsigned int which, const HostCpuset *isolated, const GPtrArray *threads,
         const pid_t *lab_pids, gsize n_lab_pids)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) housekeeping = cpu(HOUSEKEEPING);
    const HostObserverSpec spec = {.token = token,
                                   .observers = which,
                                   .housekeeping = housekeeping,
                                   .isolated = isolated,
                                   .vcpu_cpus = isolated,
                                   .threads = threads,
                                   .lab_pids = lab_pids,
                                   .n_lab_pids = n_lab_pids};
    HostObserver *o = host_observer_new(&spec, &error);
    g_assert_no_error(error);
    return o;
}

/* The observation of a window in which the child runs. */
static HostObservation *
observe_child(HostObserver *o, pid_t child, int go)
{
    g_autoptr(GError) error = NULL;
    int status;

    g_assert_true(host_observer_start(o, &error));
    g_assert_no_error(error);
    g_assert_cmpint(write(go, "g", 1), ==, 1);
    close(go);
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    g_assert_true(host_observer_stop(o, &error));
    g_assert_no_error(error);
    HostObservation *seen = host_observer_read(o, &error);
    g_assert_no_error(error);
    g_assert_null(host_observer_read(o, NULL)); /* once only */
    return seen;
}

static const HostForeignTask *
task_of(const HostObservation *seen, pid_t tid)
{
    for (guint i = 0; i < seen->foreign->len; i++) {
        const HostForeignTask *t = &g_array_index(seen->foreign, HostForeignTask, i);
        if (t->tid == tid)
            return t;
    }
    return NULL;
}

static void
test_foreign(void)
{
    int go[2];
    if (skipped() || !have_two_cpus())
        return;
    g_autoptr(HostCpuset) isolated = cpu(ISOLATED);
    pid_t child = busy_child(ISOLATED, 20, go);
    g_autoptr(HostObserver) o =
        observer(HOST_OBSERVE_ALL & ~(1U << HOST_OBSERVE_TARGETS), isolated, NULL, &child, 1);
    g_autoptr(HostObservation) seen = observe_child(o, child, go[1]);

    const HostForeignTask *t = task_of(seen, child);
    g_assert_nonnull(t);
    g_assert_cmpuint(t->cpu, ==, ISOLATED);
    g_assert_true(t->lab);
    g_assert_cmpuint(t->run_ns, <=, seen->duration_ns);
    g_assert_cmpuint(t->longest_ns, <=, t->run_ns);
    if (seen->state[HOST_OBSERVE_FOREIGN].incomplete) {
        g_test_message("incomplete: %s", seen->state[HOST_OBSERVE_FOREIGN].incomplete);
    } else {
        /* What it used by its own account, on a clock that is not slewed; it slept so often. */
        g_assert_cmpuint(t->run_ns, >=, 45000000);
        g_assert_cmpuint(t->stretches, >=, 20);
    }

    guint64 sum = 0;
    for (guint i = 0; i < seen->foreign->len; i++) {
        t = &g_array_index(seen->foreign, HostForeignTask, i);
        g_assert_cmpuint(t->cpu, ==, ISOLATED);
        g_assert_cmpint(t->tid, !=, 0);
        sum += t->run_ns;
    }
    g_assert_cmpuint(sum, <=, seen->duration_ns); /* one CPU */

    HostFigures f;
    g_autoptr(HostCpuset) housekeeping = cpu(HOUSEKEEPING);
    host_figures(seen, housekeeping, isolated, &f);
    g_assert_true(f.have_foreign);
    g_assert_cmpuint(f.foreign_ns, ==, sum);
    g_assert_cmpuint(f.foreign_lab_ns, >=, task_of(seen, child)->run_ns);
    g_assert_true(f.have_interrupts);
    g_assert_cmpuint(f.interrupts, >, 0);
    g_assert_true(f.have_ticks);
    g_assert_cmpuint(f.ticks, >, 0); /* 50 ms of work is at least a few ticks at any HZ */
    g_assert_cmpuint(seen->ticks->len, ==, 1);

    g_clear_pointer(&o, host_observer_free);
    assert_no_traces();
}

/* The same child as a vCPU thread is not foreign. */
static void
test_vcpu_thread(void)
{
    int go[2];
    if (skipped() || !have_two_cpus())
        return;
    g_autoptr(HostCpuset) isolated = cpu(ISOLATED);
    pid_t child = busy_child(ISOLATED, 5, go);
    HostThread thread = {.tid = child, .kind = HOST_THREAD_VCPU};
    g_autoptr(GPtrArray) threads = g_ptr_array_new();
    g_ptr_array_add(threads, &thread);
    g_autoptr(HostObserver) o = observer(1U << HOST_OBSERVE_FOREIGN, isolated, threads, NULL, 0);
    g_autoptr(HostObservation) seen = observe_child(o, child, go[1]);
    g_assert_null(task_of(seen, child));
    g_assert_false(seen->state[HOST_OBSERVE_EXITS].asked);
}

/* A task that never leaves its CPU makes no switch, and is found all the same. */
static void
test_hog(void)
{
    int ready[2];
    char c;
    if (skipped() || !have_two_cpus())
        return;
    g_autoptr(HostCpuset) isolated = cpu(ISOLATED);
    g_autoptr(GError) error = NULL;
    struct sched_param fifo = {.sched_priority = 1};
    g_autoptr(HostObserver) o = observer(1U << HOST_OBSERVE_FOREIGN, isolated, NULL, NULL, 0);
    g_assert_cmpint(pipe(ready), ==, 0);
    pid_t child = fork();
    if (child == 0) {
        if (!pin_to(0, ISOLATED) || sched_setscheduler(0, SCHED_FIFO, &fifo) != 0)
            _exit(2);
        alarm(20);
        if (write(ready[1], "r", 1) != 1)
            _exit(2);
        for (;;)
            ;
    }
    close(ready[1]);
    gboolean runs = read(ready[0], &c, 1) == 1;
    close(ready[0]);
    gboolean started = host_observer_start(o, &error);
    usleep(20000);
    gboolean stopped = host_observer_stop(o, NULL);
    g_autoptr(HostObservation) seen = host_observer_read(o, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    g_assert_no_error(error);
    g_assert_true(started && stopped && seen);
    if (!runs) {
        g_test_skip("SCHED_FIFO is not permitted");
        return;
    }
    const HostForeignTask *t = task_of(seen, child);
    g_assert_nonnull(t);
    g_assert_cmpuint(t->run_ns, >, 0);
    g_assert_false(t->lab);
}

/* Timers of sleeping processes, by CPU: what hrtimers of any function are counted like. */
static void
test_expiries(void)
{
    int go[2];
    if (skipped() || !have_two_cpus())
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCounters) c = host_counters_new(instance, 2048, &error);
    g_assert_no_error(error);
    const HostCounterSpec starts = {.system = "timer",
                                    .event = "hrtimer_start",
                                    .keys = {"hrtimer", "common_pid", "common_cpu"},
                                    .n_keys = 3};
    const HostCounterSpec expiries = {.system = "timer",
                                      .event = "hrtimer_expire_entry",
                                      .keys = {"function", "hrtimer", "common_cpu"},
                                      .n_keys = 3};
    const HostCounterSpec none = {
        .system = "timer", .event = "hrtimer_lost", .keys = {"x"}, .n_keys = 1};
    const HostCounterSpec no_field = {
        .system = "timer", .event = "hrtimer_start", .keys = {"colour"}, .n_keys = 1};
    int s = host_counters_add(c, &starts, &error);
    g_assert_no_error(error);
    int e = host_counters_add(c, &expiries, &error);
    g_assert_no_error(error);
    g_assert_cmpint(host_counters_add(c, &none, &error), ==, -1);
    g_assert_nonnull(strstr(error->message, "timer:hrtimer_lost"));
    g_clear_error(&error);
    g_assert_cmpint(host_counters_add(c, &no_field, &error), ==, -1);
    g_assert_nonnull(strstr(error->message, "colour"));
    g_clear_error(&error);

    pid_t child = busy_child(ISOLATED, 20, go);
    g_assert_true(host_counters_start(c, &error));
    g_assert_no_error(error);
    g_assert_cmpint(write(go[1], "g", 1), ==, 1);
    close(go[1]);
    g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
    g_assert_true(host_counters_stop(c, &error));
    g_assert_true(host_counters_collect(c, &error));
    g_assert_no_error(error);

    /* Its sleeps' timers are on its kernel stack, at random offsets. */
    g_autoptr(GHashTable) timers = g_hash_table_new(g_direct_hash, g_direct_equal);
    guint64 started = 0, expired = 0;
    const HostHist *h = host_counters_get(c, s, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(h->uncounted, ==, 0);
    for (guint i = 0; i < h->entries->len; i++) {
        const HostHistEntry *entry = &g_array_index(h->entries, HostHistEntry, i);
        if (entry->keys[1] != (guint64)child || entry->keys[2] != ISOLATED)
            continue;
        g_hash_table_add(timers, GSIZE_TO_POINTER(entry->keys[0]));
        started += entry->hits;
    }
    g_assert_cmpuint(started, >=, 20);
    h = host_counters_get(c, e, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < h->entries->len; i++) {
        const HostHistEntry *entry = &g_array_index(h->entries, HostHistEntry, i);
        if (g_hash_table_contains(timers, GSIZE_TO_POINTER(entry->keys[1])))
            expired += entry->hits;
    }
    g_assert_cmpuint(expired, >=, 20);
    g_clear_pointer(&c, host_counters_free);
    assert_no_traces();
}

/* Small buffers overflow, and say so. */
static void
test_overrun(void)
{
    int go[2];
    if (skipped() || !have_two_cpus())
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(HostCpuset) isolated = cpu(ISOLATED), housekeeping = cpu(HOUSEKEEPING);
    pid_t child = busy_child(ISOLATED, 300, go);
    const HostObserverSpec spec = {.token = token,
                                   .observers = 1U << HOST_OBSERVE_FOREIGN,
                                   .housekeeping = housekeeping,
                                   .isolated = isolated,
                                   .buffer_kib = 4};
    g_autoptr(HostObserver) o = host_observer_new(&spec, &error);
    g_assert_no_error(error);
    g_autoptr(HostObservation) seen = observe_child(o, child, go[1]);
    g_assert_nonnull(seen->state[HOST_OBSERVE_FOREIGN].incomplete);
    g_assert_nonnull(strstr(seen->state[HOST_OBSERVE_FOREIGN].incomplete, "CPU 0 lost "));
    guint64 sum = 0;
    for (guint i = 0; i < seen->foreign->len; i++)
        sum += g_array_index(seen->foreign, HostForeignTask, i).run_ns;
    g_assert_cmpuint(sum, <=, seen->duration_ns);
}

static void
test_owner_killed(void)
{
    int ready[2];
    char c;
    if (skipped() || !have_two_cpus())
        return;
    g_autoptr(HostCpuset) isolated = cpu(ISOLATED);
    g_assert_cmpint(pipe(ready), ==, 0);
    pid_t owner = fork();
    if (owner == 0) {
        HostObserver *o = observer(1U << HOST_OBSERVE_FOREIGN | 1U << HOST_OBSERVE_TICKS, isolated,
                                   NULL, NULL, 0);
        if (!host_observer_start(o, NULL) || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    g_assert_cmpint(read(ready[0], &c, 1), ==, 1);
    close(ready[0]);
    /* Its owner lives: nobody takes it away, and nobody shares it. */
    g_autoptr(GError) error = NULL;
    host_observers_reap();
    g_assert_true(instance_exists("-foreign"));
    g_assert_true(instance_exists(""));
    g_assert_null(host_trace_new(instance, &error));
    g_assert_nonnull(strstr(error->message, "in use"));

    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    g_assert_true(instance_exists("-foreign"));
    g_assert_cmpuint(host_observers_reap(), >=, 2);
    assert_no_traces();
}

static void
test_refusals(void)
{
    g_autoptr(HostCpuset) one = cpu(1), zero = cpu(0);
    static const char *const tokens[] = {NULL, "", "../x", "a b", "a/b"};
    for (gsize i = 0; i < G_N_ELEMENTS(tokens); i++) {
        g_autoptr(GError) error = NULL;
        const HostObserverSpec spec = {
            .token = tokens[i], .observers = HOST_OBSERVE_ALL, .isolated = one};
        g_assert_null(host_observer_new(&spec, &error));
        g_assert_nonnull(strstr(error->message, "token"));
    }
    const HostObserverSpec bad[] = {
        {.token = "t", .observers = 0, .isolated = one},
        {.token = "t", .observers = HOST_OBSERVE_ALL + 1, .isolated = one},
        {.token = "t", .observers = 1, .isolated = NULL},
        {.token = "t", .observers = 1, .isolated = one, .housekeeping = one},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(host_observer_new(&bad[i], &error));
        g_assert_nonnull(error);
    }
}

/* Each observer that this kernel does not have says so, and why; the others work. */
static void
test_states(void)
{
    if (skipped())
        return;
    g_autoptr(HostCpuset) isolated = cpu(ISOLATED);
    g_autoptr(HostObserver) o = observer(HOST_OBSERVE_ALL, isolated, NULL, NULL, 0);
    for (guint i = 0; i < HOST_OBSERVERS; i++) {
        const HostObserverState *s = host_observer_state(o, i);
        g_assert_true(s->asked);
        g_assert_true(s->have == (s->why_not == NULL));
        if (s->why_not)
            g_test_message("%s: %s", host_observe_name(i), s->why_not);
    }
    g_assert_true(host_observer_state(o, HOST_OBSERVE_INTERRUPTS)->have);
    g_assert_false(host_observer_stop(o, NULL)); /* nothing began */
    g_assert_null(host_observer_read(o, NULL));
    g_assert_true(host_observer_start(o, NULL));
    g_assert_false(host_observer_start(o, NULL));
    /* Freed while it runs. */
    g_clear_pointer(&o, host_observer_free);
    assert_no_traces();
}

int
main(int argc, char **argv)
{
    no_tracefs = mount_tracefs();
    token = g_strdup_printf("test-%d", (int)getpid());
    instance = g_strconcat(HOST_TRACE_PREFIX, token, NULL);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/observe/tracefs/refusals", test_refusals);
    g_test_add_func("/observe/tracefs/states", test_states);
    g_test_add_func("/observe/tracefs/foreign", test_foreign);
    g_test_add_func("/observe/tracefs/vcpu-thread", test_vcpu_thread);
    g_test_add_func("/observe/tracefs/hog", test_hog);
    g_test_add_func("/observe/tracefs/expiries", test_expiries);
    g_test_add_func("/observe/tracefs/overrun", test_overrun);
    g_test_add_func("/observe/tracefs/owner-killed", test_owner_killed);
    int failed = g_test_run();
    g_free(token);
    g_free(instance);
    return failed;
}
