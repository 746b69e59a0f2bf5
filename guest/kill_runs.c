/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands before nohzlab in a box, for tests: kills it at each step of a run, starts another, and
 * looks whether the lab host is as it was. Then runs it undisturbed.
 *
 *   kill-runs NOHZLAB run ARGUMENTS...
 */
#include <ctype.h>
#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KNOBS_MAX 512

static const char *const patterns[] = {
    "/proc/irq/default_smp_affinity",
    "/proc/irq/*/smp_affinity_list",
    "/sys/devices/virtual/workqueue/cpumask",
    "/proc/sys/kernel/timer_migration",
    "/proc/sys/kernel/nmi_watchdog",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/ksm/run",
    "/sys/module/kvm/parameters/halt_poll_ns",
};

typedef struct {
    char path[128], value[128];
} Knob;

static int
read_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "r");
    int ok = f && fgets(text, (int)size, f);

    if (f)
        fclose(f);
    if (ok)
        text[strcspn(text, "\n")] = '\0';
    return ok;
}

static size_t
read_knobs(Knob *knobs)
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found;
        if (glob(patterns[i], 0, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc && n < KNOBS_MAX; k++) {
            snprintf(knobs[n].path, sizeof knobs[n].path, "%s", found.gl_pathv[k]);
            n += read_line(knobs[n].path, knobs[n].value, sizeof knobs[n].value);
        }
        globfree(&found);
    }
    return n;
}

/* How many of BEFORE have another value now; TELL: which. Interrupts that came since are new. */
static int
changed(const Knob *before, size_t n, int tell)
{
    int differ = 0;

    for (size_t i = 0; i < n; i++) {
        char now[128];
        if (!read_line(before[i].path, now, sizeof now) || strcmp(now, before[i].value) == 0)
            continue;
        differ++;
        if (tell)
            printf("%s is %s, was %s\n", before[i].path, now, before[i].value);
    }
    return differ;
}

static int
count_entries(const char *path, const char *prefix)
{
    DIR *dir = opendir(path);
    int n = 0;

    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.' && strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    if (dir)
        closedir(dir);
    return n;
}

static int
count_emulators(void)
{
    DIR *dir = opendir("/proc");
    int n = 0;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[300], comm[32];
        snprintf(path, sizeof path, "/proc/%s/comm", e->d_name);
        n += isdigit((unsigned char)e->d_name[0]) && read_line(path, comm, sizeof comm) &&
             strncmp(comm, "qemu-system", 11) == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

/* waitpid's status of ARGV, dying at STEP (NULL: not). */
static int
run(char **argv, const char *step)
{
    int status = -1;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (step)
            setenv("NOHZLAB_DIE_AT", step, 1);
        else
            unsetenv("NOHZLAB_DIE_AT");
        execv(argv[0], argv);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return status;
}

/* 0: killed at STEP, and the next nohzlab put everything right. */
static int
kill_at(char **argv, const char *step, const Knob *before, size_t n)
{
    int status = run(argv, step);
    int bad = !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
    int differ = changed(before, n, 0), guests = count_emulators();

    printf("at %s: status 0x%x; %d settings differ, %d guests\n", step, status, differ, guests);
    /* What is put back must have been changed, or nothing is shown. */
    bad |= differ == 0;
    bad |= (strcmp(step, "boot") == 0 || strcmp(step, "measure") == 0) && guests == 0;
    run(argv, "start"); /* puts all right, and leaves no more than its own folder */
    for (int i = 0; i < 50 && count_emulators(); i++)
        usleep(100 * 1000);
    int left = changed(before, n, 1), alive = count_emulators();
    int folders = count_entries("/run/nohzlab", "s-");
    int traces = count_entries("/sys/kernel/tracing/instances", "nohzlab");
    printf("after it: %d settings differ, %d guests, %d folders, %d tracefs instances\n", left,
           alive, folders, traces);
    return bad || left || alive || folders > 1 || traces;
}

int
main(int argc, char **argv)
{
    static const char *const steps[] = {"tuned", "boot", "measure", "end"};
    static Knob before[KNOBS_MAX];
    size_t n = read_knobs(before);

    if (argc < 3)
        return 2;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (kill_at(argv + 1, steps[i], before, n) != 0) {
            printf("not put right: killed at %s\n", steps[i]);
            return 3;
        }
    }
    puts("killed at every step, and put right each time");
    fflush(stdout);
    execv(argv[1], argv + 1);
    return 127;
}
