/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What QEMU's registers must look like for a machine to be called stalled. */
#include "lab/stall.h"

#include <string.h>

#define S G_GUINT64_CONSTANT(1000000000)

/* As QEMU 10.0 prints them, shortened. CPU 0 sleeps. */
static char *
registers(const char *rip, const char *flags, int halted)
{
    return g_strdup_printf("\nCPU#0\n"
                           "RAX=0000000000000000 RBX=ffff8880073c0000\n"
                           "RIP=ffffffff97c6ab08 RFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 "
                           "HLT=1\nES =0000 0000000000000000 00000000 00000000\n\n"
                           "CPU#1\n"
                           "RAX=0000000000000001 RBX=ffff8880073c0000\n"
                           "RIP=%s RFL=%s [-------] CPL=0 II=0 A20=1 SMM=0 HLT=%d\n"
                           "ES =0000 0000000000000000 00000000 00000000\n",
                           rip, flags, halted);
}

/* N looks, one a second of the emulator's CPU time, at code that moves by STEP bytes each time. */
static char *
feed(guint64 rip, guint64 step, const char *flags, int halted, int n)
{
    LabStallState *s = lab_stall_state_new();
    char *where = NULL;

    for (int i = 0; i < n && !where; i++) {
        g_autofree char *at =
            g_strdup_printf("%016" G_GINT64_MODIFIER "x", rip + (guint64)i * step);
        g_autofree char *text = registers(at, flags, halted);
        where = lab_stall_feed(s, text, (guint64)i * S);
    }
    lab_stall_state_free(s);
    return where;
}

static void
test_found(void)
{
    g_autofree char *where = feed(G_GUINT64_CONSTANT(0xffffffff81a18749), 2, "00000002", 0, 20);

    g_assert_cmpstr(where, ==,
                    "CPU 1 at 0xffffffff81a18749, interrupts off, for 8 s of the emulator's CPU "
                    "time");
}

static void
test_not_found(void)
{
    const guint64 rip = G_GUINT64_CONSTANT(0xffffffff81a18749);

    /* Interrupts on: it is busy. Halted: it is idle. Elsewhere each time: it works. */
    g_assert_null(feed(rip, 0, "00000202", 0, 30));
    g_assert_null(feed(rip, 0, "00000002", 1, 30));
    g_assert_null(feed(rip, 65, "00000002", 0, 30));
    /* For a moment only. */
    g_assert_null(feed(rip, 0, "00000002", 0, 8));
}

/* A machine that gets no CPU itself does not stall: the emulator's own time counts. */
static void
test_starved(void)
{
    LabStallState *s = lab_stall_state_new();
    g_autofree char *text = registers("ffffffff81a18749", "00000002", 0);

    for (int i = 0; i < 100; i++)
        g_assert_null(lab_stall_feed(s, text, 5 * S + (guint64)i * S / 20));
    lab_stall_state_free(s);
}

/* Once seen elsewhere, it starts over. */
static void
test_moved(void)
{
    LabStallState *s = lab_stall_state_new();
    g_autofree char *here = registers("ffffffff81a18749", "00000002", 0);
    g_autofree char *there = registers("ffffffff81000000", "00000246", 0);
    guint64 t = 0;

    for (int i = 0; i < 8; i++)
        g_assert_null(lab_stall_feed(s, here, t++ * S));
    g_assert_null(lab_stall_feed(s, there, t++ * S));
    for (int i = 0; i < 8; i++)
        g_assert_null(lab_stall_feed(s, here, t++ * S));
    g_autofree char *where = lab_stall_feed(s, here, t++ * S);
    g_assert_nonnull(where);
    lab_stall_state_free(s);
}

static void
test_hostile(void)
{
    static const char *const texts[] = {"",
                                        "CPU#",
                                        "CPU#0",
                                        "CPU#0\nRIP=",
                                        "CPU#99999999999999999999\nRIP=1 RFL=2 HLT=0",
                                        "CPU#4095\nRIP=1 RFL=2",
                                        "CPU#0\nRIP=zz RFL=2 HLT=0\nCPU#0\nRIP=1 RFL=zz HLT=0"};
    LabStallState *s = lab_stall_state_new();

    for (guint64 round = 0; round < 30; round++)
        for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
            g_assert_null(lab_stall_feed(s, texts[i], round * S));
    lab_stall_state_free(s);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stall/found", test_found);
    g_test_add_func("/stall/not-found", test_not_found);
    g_test_add_func("/stall/starved", test_starved);
    g_test_add_func("/stall/moved", test_moved);
    g_test_add_func("/stall/hostile", test_hostile);
    return g_test_run();
}
