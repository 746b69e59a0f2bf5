/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "host/conn.h"
#include "images/image.h"
#include "lab/command.h"
#include "lab/judge.h"
#include "lab/machine.h"
#include "lab/profile.h"
#include "lab/verdict.h"
#include "results/metric.h"

static gboolean
print_cell(const LabCell *cell, GString *out, GError **error)
{
    g_autoptr(LabMachine) machine = lab_machine_new(cell->params, error);
    if (!machine)
        return FALSE;
    g_autoptr(ImgKernel) kernel = img_kernel_find("", cell->params->kernel, error);
    if (!kernel)
        return FALSE;
    /* What a run fills in itself is shown by its place in the session's folder. */
    HostDomainSpec spec = lab_machine_domain(machine, cell->params, 0);
    spec.name = "nohzlab-SESSION-N";
    spec.emulator = HOST_QEMU;
    spec.kernel = kernel->path;
    spec.initrd = "RUN/initramfs";
    spec.job_path = "RUN/job";
    spec.console_path = "RUN/console";
    spec.report_path = "RUN/report";
    g_autofree char *xml = host_domain_xml(&spec, error);
    if (!xml)
        return FALSE;

    g_string_append_printf(
        out, "cell %s: %" G_GUINT64_FORMAT " boots, platform %s, clock %s, fidelity %s\n",
        *cell->name ? cell->name : "(no matrix)", cell->params->boots,
        lab_platform_name(cell->params->platform), lab_clock_name(cell->params->clock),
        res_fidelity_name(lab_fidelity(cell->params->platform, cell->params->clock)));
    g_string_append_printf(out, "kernel %s (%s)\ncommand line: %s\n\njob:\n%s\ndomain:\n%s\n",
                           kernel->path, kernel->release ? kernel->release : "release unknown",
                           machine->cmdline, machine->job, xml);
    return TRUE;
}

int
lab_cmd_plan(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *state = NULL;
    g_auto(GStrv) settings = NULL;
    int code = 0;
    const GOptionEntry entries[] = {
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &settings,
         "Set a key of the profile, or a whole matrix axis (matrix.AXIS)", "SECTION.KEY=VALUE"},
        {NULL},
    };

    if (!lab_command_parse("plan", entries, 1, 1, &argc, &argv, &state, &code))
        return code;
    g_autoptr(LabProfile) profile =
        lab_profile_load(argv[1], (const char *const *)settings, &error);
    if (!profile)
        return lab_command_fail("plan", error);

    const GPtrArray *cells = lab_profile_cells(profile);
    const GPtrArray *warnings = lab_profile_warnings(profile);
    g_autoptr(GString) out = g_string_new(NULL);
    guint64 runs = 0;
    for (guint i = 0; i < cells->len; i++) {
        const LabCell *cell = cells->pdata[i];
        if (!print_cell(cell, out, &error))
            return lab_command_fail("plan", error);
        runs += cell->params->boots;
    }
    for (guint i = 0; i < warnings->len; i++)
        fprintf(stderr, "warning: %s\n", (char *)warnings->pdata[i]);
    printf("%s: %u cells, %" G_GUINT64_FORMAT " runs\n\n%s", lab_profile_name(profile), cells->len,
           runs, out->str);
    return LAB_EXIT_HELD;
}
