/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/interrupt.h"

#include <glib-unix.h>
#include <stdio.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

typedef struct {
    LabInterrupt *interrupt;
    int signal;
    guint source;
} Watch;

struct LabInterrupt {
    const char *note;
    void (*cancel)(gpointer data);
    gpointer data;
    int first; /* 0: none yet */
    Watch watches[G_N_ELEMENTS(signals)];
};

static gboolean
on_signal(gpointer data)
{
    const Watch *w = data;
    LabInterrupt *i = w->interrupt;

    if (!i->first && i->note)
        fprintf(stderr, "%s\n", i->note);
    i->first = i->first ? i->first : w->signal;
    i->cancel(i->data);
    return G_SOURCE_CONTINUE;
}

LabInterrupt *
lab_interrupt_new(const char *note, void (*cancel)(gpointer data), gpointer data)
{
    LabInterrupt *i = g_new0(LabInterrupt, 1);

    i->note = note;
    i->cancel = cancel;
    i->data = data;
    for (gsize k = 0; k < G_N_ELEMENTS(signals); k++) {
        i->watches[k] = (Watch){.interrupt = i, .signal = signals[k]};
        i->watches[k].source = g_unix_signal_add(signals[k], on_signal, &i->watches[k]);
    }
    return i;
}

int
lab_interrupt_end(LabInterrupt *i)
{
    int first = i->first;

    for (gsize k = 0; k < G_N_ELEMENTS(signals); k++)
        g_source_remove(i->watches[k].source);
    g_free(i);
    return first;
}
