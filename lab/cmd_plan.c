/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "host/conn.h"
#include "host/kvm.h"
#include "images/catalogue.h"
#include "lab/box.h"
#include "lab/command.h"
#include "lab/exit_cost.h"
#include "lab/judge.h"
#include "lab/machine.h"
#include "lab/profile.h"
#include "lab/verdict.h"
#include "results/metric.h"

/* What a run fills in itself is shown by its place in the session's folder. */
static gboolean
print_machine(const LabParams *params, const LabMachine *machine, const ImgKernel *kernel,
              gboolean svm, GString *out, GError **error)
{
    HostDomainSpec spec = lab_machine_domain(machine, params, 0);

    spec.svm = svm;
    spec.name = "nohzlab-SESSION-N";
    spec.emulator = HOST_QEMU;
    const char *flat = svm ? NULL : lab_params_flat(params);
    g_autofree char *flat_path = g_strconcat("RUN/", flat, NULL);
    spec.kernel = flat ? flat_path : kernel->path;
    spec.initrd = flat ? NULL : "RUN/initramfs";
    spec.job_path = "RUN/job";
    spec.console_path = "RUN/console";
    spec.report_path = "RUN/report";
    g_autofree char *xml = host_domain_xml(&spec, error);
    if (!xml)
        return FALSE;
    g_string_append_printf(out, "command line: %s\n\njob:\n%s\ndomain:\n%s\n", machine->cmdline,
                           machine->job, xml);
    return TRUE;
}

/* The lab host as a machine, and the guest in it by the profile that is run there. */
static gboolean
print_box(const LabCell *cell, ImgKernel *kernel, GString *out, GError **error)
{
    const LabImage image = {.kernel = kernel};
    g_autoptr(LabBox) box = lab_box_new(cell, &image, error);
    if (!box)
        return FALSE;
    g_string_append(out, "the emulated lab host, ");
    if (!print_machine(lab_box_params(box), lab_box_machine(box), kernel, TRUE, out, error))
        return FALSE;

    g_autoptr(LabProfile) inner =
        lab_profile_parse(lab_box_profile(box), -1, "in the box", ".", NULL, error);
    if (!inner)
        return FALSE;
    const LabCell *guest = lab_profile_cells(inner)->pdata[0];
    g_autoptr(LabMachine) machine = lab_machine_new(guest->params, error);
    g_string_append(out, "the guest in it, ");
    return machine && print_machine(guest->params, machine, kernel, FALSE, out, error);
}

static gboolean
print_cell(const LabCell *cell, const char *kernels, GString *out, GError **error)
{
    LabParams *params = cell->params;
    g_autofree char *why = NULL;
    const char *chosen = "";
    if (params->platform == LAB_PLATFORM_AUTO) {
        chosen = " (auto: a run looks at the partition, too)";
        params->platform =
            host_kvm_probe(&why) == HOST_KVM_RUNS ? LAB_PLATFORM_METAL : LAB_PLATFORM_BOX;
    }
    g_autoptr(ImgKernel) kernel = img_catalogue_find(kernels, params->kernel, error);
    if (!kernel)
        return FALSE;
    g_string_append_printf(
        out,
        "cell %s: %" G_GUINT64_FORMAT " boots, platform %s%s, clock %s, fidelity %s\n"
        "kernel %s (%s)\n",
        *cell->name ? cell->name : "(no matrix)", params->boots,
        lab_platform_name(params->platform), chosen, lab_clock_name(params->clock),
        res_fidelity_name(lab_fidelity(params->platform, params->clock)), kernel->path,
        kernel->release ? kernel->release : "release unknown");
    if (params->platform == LAB_PLATFORM_BOX)
        return print_box(cell, kernel, out, error);
    g_autoptr(LabMachine) machine = lab_machine_new(params, error);
    return machine && print_machine(params, machine, kernel, FALSE, out, error);
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
    g_autofree char *kernels = lab_catalogue_dir_of(state);
    guint64 runs = 0;
    guint planned = 0;
    for (guint i = 0; i < cells->len; i++) {
        const LabCell *cell = cells->pdata[i];
        g_autoptr(GError) reason = NULL;
        if (print_cell(cell, kernels, out, &reason)) {
            planned++;
            runs += cell->params->boots;
            continue;
        }
        /* As a run does: the others go on. */
        if (!img_error_is_kernels(reason) || cells->len == 1)
            return lab_command_fail("plan", reason);
        g_string_append_printf(out, "cell %s: left out: %s\n\n", cell->name, reason->message);
        if (!error)
            error = g_steal_pointer(&reason);
    }
    if (planned == 0)
        return lab_command_fail("plan", error);
    for (guint i = 0; i < warnings->len; i++)
        fprintf(stderr, "warning: %s\n", (char *)warnings->pdata[i]);
    printf("%s: %u cells, %" G_GUINT64_FORMAT " runs\n\n%s", lab_profile_name(profile), planned,
           runs, out->str);
    return LAB_EXIT_HELD;
}
