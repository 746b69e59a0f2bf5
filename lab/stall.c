/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stall.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S G_GUINT64_CONSTANT(1000000000)
#define CPUS_MAX 4096
#define RFLAGS_IF 0x200U

typedef struct {
    guint64 low, high; /* of RIP, since SINCE_NS */
    guint64 since_ns;
    unsigned int samples; /* 0: it moved, or was not seen */
} Cpu;

struct LabStallState {
    GArray *cpus; /* Cpu, by number */
};

LabStallState *
lab_stall_state_new(void)
{
    LabStallState *s = g_new0(LabStallState, 1);

    s->cpus = g_array_new(FALSE, TRUE, sizeof(Cpu));
    return s;
}

void
lab_stall_state_free(LabStallState *s)
{
    if (!s)
        return;
    g_array_unref(s->cpus);
    g_free(s);
}

/* The number after NAME in [TEXT, END), in hexadecimal. */
static gboolean
field(const char *text, const char *end, const char *name, guint64 *value)
{
    const char *at = g_strstr_len(text, end - text, name);
    char *rest = NULL;

    if (!at)
        return FALSE;
    at += strlen(name);
    *value = g_ascii_strtoull(at, &rest, 16);
    return rest != at;
}

/* One CPU's part of the text: "RIP=ffffffff81a18749 RFL=00000002 [-------] ... HLT=0". */
static void
look(Cpu *cpu, const char *text, const char *end, guint64 cpu_ns)
{
    guint64 rip, flags, halted;

    if (!field(text, end, "RIP=", &rip) || !field(text, end, "RFL=", &flags) ||
        !field(text, end, "HLT=", &halted) || halted || (flags & RFLAGS_IF)) {
        cpu->samples = 0;
        return;
    }
    guint64 low = MIN(cpu->low, rip), high = MAX(cpu->high, rip);
    if (cpu->samples == 0 || high - low > LAB_STALL_SPAN) {
        *cpu = (Cpu){.low = rip, .high = rip, .since_ns = cpu_ns, .samples = 1};
        return;
    }
    cpu->low = low;
    cpu->high = high;
    cpu->samples++;
}

char *
lab_stall_feed(LabStallState *s, const char *text, guint64 cpu_ns)
{
    char *where = NULL;
    const char *at = strstr(text, "CPU#");

    while (at && !where) {
        guint64 number = g_ascii_strtoull(at + strlen("CPU#"), NULL, 10);
        const char *next = strstr(at + 1, "CPU#");
        const char *end = next ? next : text + strlen(text);
        if (number >= CPUS_MAX)
            break;
        if (s->cpus->len <= number)
            g_array_set_size(s->cpus, (guint)number + 1);
        Cpu *cpu = &g_array_index(s->cpus, Cpu, number);
        look(cpu, at, end, cpu_ns);
        g_debug("stall: CPU %" G_GUINT64_FORMAT " %u samples in 0x%" G_GINT64_MODIFIER
                "x..0x%" G_GINT64_MODIFIER "x",
                number, cpu->samples, cpu->low, cpu->high);
        guint64 for_ns = cpu_ns - MIN(cpu->since_ns, cpu_ns);
        if (cpu->samples >= LAB_STALL_MIN_SAMPLES && for_ns >= LAB_STALL_CPU_S * NS_PER_S)
            where = g_strdup_printf("CPU %" G_GUINT64_FORMAT " at 0x%" G_GINT64_MODIFIER
                                    "x, interrupts off, for %" G_GUINT64_FORMAT
                                    " s of the emulator's CPU time",
                                    number, cpu->low, for_ns / NS_PER_S);
        at = next;
    }
    return where;
}

/* --- the watch --- */

struct LabStall {
    HostGuest *guest; /* NULL: the watch is over, a look may still be under way */
    LabStallFound found;
    gpointer data;
    LabStallState *state;
    guint timer;
    gboolean looking;
};

static void
watch_release(LabStall *w)
{
    lab_stall_state_free(w->state);
    g_free(w);
}

static void
on_registers(GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer data)
{
    LabStall *w = data;
    char *text = host_guest_registers_finish(result, NULL);
    guint64 cpu_ns;

    w->looking = FALSE;
    if (!w->guest) {
        watch_release(w);
    } else if (text && host_guest_cpu_time(w->guest, &cpu_ns)) {
        g_autofree char *where = lab_stall_feed(w->state, text, cpu_ns);
        if (where) {
            g_clear_handle_id(&w->timer, g_source_remove);
            w->found(where, w->data);
        }
    }
    free(text);
}

static gboolean
on_second(gpointer data)
{
    LabStall *w = data;

    if (!w->looking) {
        w->looking = TRUE;
        host_guest_registers(w->guest, on_registers, w);
    }
    return G_SOURCE_CONTINUE;
}

LabStall *
lab_stall_watch(HostGuest *guest, LabStallFound found, gpointer data)
{
    LabStall *w = g_new0(LabStall, 1);

    w->guest = guest;
    w->found = found;
    w->data = data;
    w->state = lab_stall_state_new();
    w->timer = g_timeout_add_seconds(1, on_second, w);
    return w;
}

void
lab_stall_free(LabStall *w)
{
    if (!w)
        return;
    g_clear_handle_id(&w->timer, g_source_remove);
    w->guest = NULL;
    if (!w->looking)
        watch_release(w);
}
