/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/prepare.h"

#include <glib/gstdio.h>
#include <sys/utsname.h>

#include "images/catalogue.h"
#include "lab/files.h"
#include "lab/machine.h"
#include "lab/session.h"

#define CYCLICTEST "/usr/bin/cyclictest"

/* By their modprobe names; those built into a kernel are skipped. */
static const char *const guest_modules[] = {"virtio_pci", "virtio_console", "qemu_fw_cfg", NULL};

void
lab_image_free(LabImage *i)
{
    if (!i)
        return;
    g_clear_pointer(&i->kernel, img_kernel_free);
    g_clear_pointer(&i->initramfs, img_initramfs_free);
    g_free(i->kernel_path);
    g_free(i->initrd_path);
    g_free(i);
}

char *
lab_guest_dir(void)
{
    const char *set = g_getenv("NOHZLAB_GUEST_DIR");
    if (set && *set)
        return g_strdup(set);

    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = g_path_get_dirname(self ? self : ".");
    g_autofree char *beside = g_build_filename(folder, "guest", NULL);
    if (g_file_test(beside, G_FILE_TEST_IS_DIR))
        return g_steal_pointer(&beside);
    return g_build_filename(folder, "..", "libexec", "nohzlab", NULL);
}

void
lab_img_file_free(ImgFile *f)
{
    g_free(f->host_path);
    g_free(f->guest_path);
    g_free(f);
}

static void
add_program(GPtrArray *files, const char *host_path, const char *guest_path)
{
    ImgFile *f = g_new0(ImgFile, 1);

    f->host_path = g_strdup(host_path);
    f->guest_path = g_strdup(guest_path);
    f->mode = 0755;
    g_ptr_array_add(files, f);
}

static GPtrArray *
guest_files(const GPtrArray *programs)
{
    GPtrArray *files = g_ptr_array_new_with_free_func((GDestroyNotify)lab_img_file_free);
    g_autofree char *dir = lab_guest_dir();
    g_autofree char *init = g_build_filename(dir, "init", NULL);
    g_autofree char *loop = g_build_filename(dir, "syscall-loop", NULL);

    add_program(files, init, "/init");
    add_program(files, loop, LAB_GUEST_SYSCALL_LOOP);
    if (g_file_test(CYCLICTEST, G_FILE_TEST_EXISTS))
        add_program(files, CYCLICTEST, LAB_GUEST_CYCLICTEST);
    for (guint i = 0; i < programs->len; i++) {
        g_autofree char *guest_path = g_strconcat(LAB_GUEST_PROGRAMS, programs->pdata[i], NULL);
        add_program(files, programs->pdata[i], guest_path);
    }
    return files;
}

/* PATH's copy in RUN_DIR, made once. */
static char *
lay_out(const char *path, const char *kind, const char *sha256, const char *run_dir, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s-%.16s", kind, sha256);
    g_autofree char *copy = g_build_filename(run_dir, name, NULL);

    if (!g_file_test(copy, G_FILE_TEST_EXISTS) && !lab_copy_file(path, copy, error))
        return NULL;
    return g_steal_pointer(&copy);
}

gboolean
lab_image_lay_out(LabImage *image, const char *run_dir, GError **error)
{
    image->kernel_path =
        lay_out(image->kernel->path, "kernel", image->kernel->sha256, run_dir, error);
    if (image->kernel_path)
        image->initrd_path =
            lay_out(image->initramfs->path, "initramfs", image->initramfs->sha256, run_dir, error);
    return image->initrd_path != NULL;
}

LabImage *
lab_flat_image_prepare(const char *name, const char *run_dir, GError **error)
{
    g_autoptr(LabImage) image = g_new0(LabImage, 1);
    g_autofree char *dir = lab_guest_dir();
    g_autofree char *bytes = NULL;
    struct utsname host;
    gsize len;

    image->kernel = g_new0(ImgKernel, 1);
    image->kernel->path = g_build_filename(dir, name, NULL);
    if (uname(&host) == 0)
        image->kernel->release = g_strdup(host.release);
    if (!g_file_get_contents(image->kernel->path, &bytes, &len, error))
        return NULL;
    image->initramfs = g_new0(ImgInitramfs, 1);
    image->initramfs->sha256 =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, len);
    image->kernel_path =
        lay_out(image->kernel->path, "flat", image->initramfs->sha256, run_dir, error);
    return image->kernel_path ? g_steal_pointer(&image) : NULL;
}

char *
lab_catalogue_dir(const char *cache_dir)
{
    return g_build_filename(cache_dir, "kernels", NULL);
}

char *
lab_catalogue_dir_of(const char *state)
{
    g_autofree char *root = state ? g_strdup(state) : lab_state_dir();
    g_autofree char *cache = g_build_filename(root, "cache", NULL);

    return lab_catalogue_dir(cache);
}

LabImage *
lab_image_prepare(const char *kernel, const GPtrArray *programs, const char *cache_dir,
                  const char *run_dir, GError **error)
{
    g_autoptr(LabImage) image = g_new0(LabImage, 1);
    g_autoptr(GPtrArray) files = guest_files(programs);

    g_autofree char *kernels = lab_catalogue_dir(cache_dir);
    image->kernel = img_catalogue_find(kernels, kernel, error);
    if (!image->kernel)
        return NULL;
    ImgInitramfsSpec spec = {.kernel = image->kernel, .modules = guest_modules, .files = files};
    image->initramfs = img_initramfs_build(&spec, cache_dir, error);
    if (!image->initramfs || !lab_image_lay_out(image, run_dir, error))
        return NULL;
    return g_steal_pointer(&image);
}
