/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/box_image.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "host/channel.h"
#include "host/conn.h"
#include "images/catalogue.h"
#include "images/modules.h"
#include "lab/files.h"
#include "lab/machine.h"

/* The archive is about 120 MiB: QEMU, the library of Unicode data libvirt's XML parser stands on,
 * and all the others. */
#define IMAGE_MAX_BYTES ((gsize)512 << 20)
#define CPU_MAP "/usr/share/libvirt/cpu_map"

/* Of the box's own kernel: its ports, and KVM. */
static const char *const box_modules[] = {"virtio_pci", "virtio_console", "qemu_fw_cfg", "kvm_amd",
                                          NULL};

/* Files of the image as they are collected; what is made for it lies in DIR meanwhile. */
typedef struct {
    GPtrArray *files;
    char *dir;
    unsigned int made;
} Collection;

static void
collection_clear(Collection *c)
{
    g_ptr_array_unref(c->files);
    lab_remove_tree(c->dir);
    g_free(c->dir);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Collection, collection_clear)

static void
add(Collection *c, const char *host_path, const char *guest_path, guint mode)
{
    ImgFile *f = g_new0(ImgFile, 1);

    f->host_path = g_strdup(host_path);
    f->guest_path = g_strdup(guest_path);
    f->mode = mode;
    g_ptr_array_add(c->files, f);
}

static gboolean
add_text(Collection *c, const char *text, gssize len, const char *guest_path, GError **error)
{
    g_autofree char *path = g_strdup_printf("%s/%u", c->dir, c->made++);

    if (!g_file_set_contents_full(path, text, len, G_FILE_SET_CONTENTS_NONE, 0644, error))
        return FALSE;
    add(c, path, guest_path, 0644);
    return TRUE;
}

static gboolean
fail_not_found(GError **error, const char *what, const char *where, const char *package)
{
    g_set_error(error, IMG_ERROR, IMG_ERROR_NOT_FOUND,
                "a box needs %s, which is not in %s: install %s (make deps does)", what, where,
                package);
    return FALSE;
}

/* --- programs --- */

static void
add_programs(Collection *c, const GPtrArray *programs)
{
    g_autofree char *dir = lab_guest_dir();
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    static const char *const guest[] = {"init", "syscall-loop", "exit-cost"};

    add(c, self, LAB_BOX_NOHZLAB, 0755);
    if (g_getenv(LAB_BOX_WRAPPER_ENV))
        add(c, g_getenv(LAB_BOX_WRAPPER_ENV), LAB_BOX_WRAPPER, 0755);
    for (gsize i = 0; i < G_N_ELEMENTS(guest); i++) {
        g_autofree char *from = g_build_filename(dir, guest[i], NULL);
        g_autofree char *to = g_build_filename(LAB_BOX_GUEST_DIR, guest[i], NULL);
        add(c, from, to, 0755);
        if (i == 0)
            add(c, from, "/init", 0755);
    }
    if (g_file_test(LAB_GUEST_CYCLICTEST, G_FILE_TEST_EXISTS))
        add(c, LAB_GUEST_CYCLICTEST, LAB_GUEST_CYCLICTEST, 0755);
    for (guint i = 0; i < programs->len; i++)
        add(c, programs->pdata[i], programs->pdata[i], 0755);
}

/* --- libvirt and QEMU --- */

/* The driver lies beside the libvirt we run with: libvirt.so finds it by the path it was built
 * with. g_free. */
static char *
libvirt_driver(GError **error)
{
    Dl_info info = {0};
    void *function = dlsym(RTLD_DEFAULT, "virConnectOpen");

    if (!function || !dladdr(function, &info) || !info.dli_fname) {
        fail_not_found(error, "libvirt", "this process", "libvirt0");
        return NULL;
    }
    g_autofree char *folder = g_path_get_dirname(info.dli_fname);
    g_autofree char *real = realpath(folder, NULL);
    g_autofree char *driver = g_build_filename(
        real ? real : folder, "libvirt/connection-driver/libvirt_driver_qemu.so", NULL);
    if (g_file_test(driver, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&driver);
    fail_not_found(error, "libvirt's QEMU driver", driver, "libvirt-daemon-driver-qemu");
    return NULL;
}

static gboolean
add_libvirt_driver(Collection *c, GError **error)
{
    g_autofree char *driver = libvirt_driver(error);

    if (driver)
        add(c, driver, driver, 0755);
    return driver != NULL;
}

/* Only this architecture's CPU models; the index is split by architecture. */
static gboolean
add_cpu_map(Collection *c, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(CPU_MAP, 0, NULL);
    const char *name;

    if (!dir)
        return fail_not_found(error, "libvirt's CPU models", CPU_MAP, "libvirt-daemon-driver-qemu");
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(CPU_MAP, name, NULL);
        if (g_str_equal(name, "index.xml") || g_str_has_prefix(name, "x86_"))
            add(c, path, path, 0644);
    }
    return TRUE;
}

static gboolean
add_qemu(Collection *c, GError **error)
{
    static const char *const folders[] = {"/usr/share/qemu", "/usr/share/seabios"};
    /* What a guest of ours starts with: BIOS, loaders of kernels and of flat guests, and KVM's
     * helper for its APIC. */
    static const char *const firmware[] = {"bios-256k.bin", "linuxboot_dma.bin", "pvh.bin",
                                           "kvmvapic.bin"};

    if (!g_file_test(HOST_QEMU, G_FILE_TEST_EXISTS))
        return fail_not_found(error, "QEMU", HOST_QEMU, "qemu-system-x86");
    add(c, HOST_QEMU, HOST_QEMU, 0755);
    for (gsize i = 0; i < G_N_ELEMENTS(firmware); i++) {
        gboolean found = FALSE;
        for (gsize k = 0; k < G_N_ELEMENTS(folders) && !found; k++) {
            g_autofree char *from = g_build_filename(folders[k], firmware[i], NULL);
            g_autofree char *to = g_build_filename(folders[0], firmware[i], NULL);
            found = g_file_test(from, G_FILE_TEST_EXISTS);
            if (found)
                add(c, from, to, 0644);
        }
        if (!found)
            return fail_not_found(error, firmware[i], "/usr/share/qemu or /usr/share/seabios",
                                  "qemu-system-x86 and seabios");
    }
    return TRUE;
}

/* libvirt looks its user up by name, and in the box nobody else is needed. */
static gboolean
add_users(Collection *c, GError **error)
{
    const struct passwd *qemu = getpwnam(HOST_QEMU_USER);

    if (!qemu)
        return fail_not_found(error, "the user " HOST_QEMU_USER, "/etc/passwd",
                              "libvirt-daemon-system");
    g_autofree char *passwd = g_strdup_printf("root:x:0:0::/root:/bin/sh\n" HOST_QEMU_USER
                                              ":x:%u:%u::/var/lib/libvirt:/bin/false\n",
                                              qemu->pw_uid, qemu->pw_gid);
    g_autofree char *group = g_strdup_printf(
        "root:x:0:\nkvm:x:%u:\n" HOST_QEMU_USER ":x:%u:\n",
        qemu->pw_gid == qemu->pw_uid ? qemu->pw_uid + 1 : qemu->pw_gid, qemu->pw_uid);
    return add_text(c, passwd, -1, "/etc/passwd", error) &&
           add_text(c, group, -1, "/etc/group", error);
}

/* --- the inner guest's kernel --- */

/* modules.dep of those the image holds, in which they lie unpacked. */
static char *
reduced_dep(const char *text, const GPtrArray *modules, const char *prefix)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *out = g_string_new(NULL);

    for (char **line = lines; *line; line++) {
        g_autoptr(GString) plain = g_string_new(*line);
        static const char *const packed[] = {".ko.xz", ".ko.gz", ".ko.zst"};
        for (gsize i = 0; i < G_N_ELEMENTS(packed); i++)
            g_string_replace(plain, packed[i], ".ko", 0);
        const char *colon = strchr(plain->str, ':');
        for (guint i = 0; colon && i < modules->len; i++) {
            const ImgModule *m = modules->pdata[i];
            const char *path = m->guest_path + strlen(prefix);
            gsize len = (gsize)(colon - plain->str);
            if (strlen(path) == len && strncmp(path, plain->str, len) == 0)
                g_string_append_printf(out, "%s\n", plain->str);
        }
    }
    return g_string_free(out, FALSE);
}

static gboolean
add_module_lists(Collection *c, const ImgKernel *kernel, GError **error)
{
    g_autofree char *prefix = g_strdup_printf("/lib/modules/%s/", kernel->release);
    g_autofree char *dep = g_build_filename(kernel->modules_dir, "modules.dep", NULL);
    g_autofree char *builtin = g_build_filename(kernel->modules_dir, "modules.builtin", NULL);
    g_autofree char *guest_dep = g_strconcat(prefix, "modules.dep", NULL);
    g_autofree char *guest_builtin = g_strconcat(prefix, "modules.builtin", NULL);
    g_autofree char *text = NULL;
    g_autoptr(GPtrArray) modules = img_modules_load(kernel, box_modules, IMAGE_MAX_BYTES, error);

    if (!modules) {
        g_prefix_error(error, "a box needs KVM for AMD in its kernel: ");
        return FALSE;
    }
    if (g_file_test(builtin, G_FILE_TEST_EXISTS))
        add(c, builtin, guest_builtin, 0644);
    if (!g_file_get_contents(dep, &text, NULL, NULL))
        return TRUE; /* everything is built in */
    g_autofree char *reduced = reduced_dep(text, modules, prefix);
    return add_text(c, reduced, -1, guest_dep, error);
}

static char *
inner_kernel_path(const ImgKernel *kernel)
{
    return g_strdup_printf("/boot/vmlinuz-%s", kernel->release);
}

char *
lab_box_inner_kernel(const ImgKernel *kernel)
{
    g_autofree char *path = inner_kernel_path(kernel);

    return kernel->modules_dir
               ? g_strdup_printf("path:%s,modules=/lib/modules/%s", path, kernel->release)
               : g_strdup_printf("path:%s", path);
}

static gboolean
add_kernel(Collection *c, const ImgKernel *kernel, GError **error)
{
    g_autofree char *path = inner_kernel_path(kernel);

    add(c, kernel->path, path, 0644);
    return add_module_lists(c, kernel, error);
}

/* --- what libvirt learned in an earlier box --- */

/* libvirt names the file by the emulator's path. */
char *
lab_box_capabilities_name(void)
{
    g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, HOST_QEMU, -1);

    return g_strconcat(hash, ".xml", NULL);
}

gboolean
lab_box_stamps(LabBoxStamp stamps[LAB_BOX_STAMPS], GError **error)
{
    g_autofree char *driver = libvirt_driver(error);
    GStatBuf st;

    if (!driver)
        return FALSE;
    const char *const paths[LAB_BOX_STAMPS] = {HOST_QEMU, driver};
    for (gsize i = 0; i < LAB_BOX_STAMPS; i++) {
        if (g_stat(paths[i], &st) != 0)
            return fail_not_found(error, "a file", paths[i], "qemu-system-x86");
        g_strlcpy(stamps[i].path, paths[i], sizeof stamps[i].path);
        stamps[i].time_s = (guint64)st.st_ctime;
    }
    return TRUE;
}

/* Where what was learned with this kernel, QEMU and libvirt lies; libvirt itself looks at the rest.
 */
static char *
kept_path(const ImgKernel *kernel, const char *cache_dir, GError **error)
{
    LabBoxStamp stamps[LAB_BOX_STAMPS];
    g_autoptr(GString) key = g_string_new(kernel->sha256);

    if (!lab_box_stamps(stamps, error))
        return NULL;
    for (gsize i = 0; i < LAB_BOX_STAMPS; i++)
        g_string_append_printf(key, " %s %" G_GUINT64_FORMAT, stamps[i].path, stamps[i].time_s);
    g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key->str, -1);
    return g_strdup_printf("%s/box/capabilities-%.32s.xml", cache_dir, hash);
}

void
lab_box_image_keep(const LabImage *image, const char *cache_dir, const char *text, gsize len)
{
    g_autofree char *path = kept_path(image->kernel, cache_dir, NULL);
    g_autofree char *dir = path ? g_path_get_dirname(path) : NULL;

    if (path && g_mkdir_with_parents(dir, 0755) == 0)
        g_file_set_contents_full(path, text, (gssize)len, G_FILE_SET_CONTENTS_CONSISTENT, 0644,
                                 NULL);
}

static gboolean
add_kept(Collection *c, const ImgKernel *kernel, const char *cache_dir, GError **error)
{
    g_autofree char *path = kept_path(kernel, cache_dir, error);
    g_autofree char *name = lab_box_capabilities_name();
    g_autofree char *to = g_build_filename(LAB_BOX_CAPABILITIES, name, NULL);

    if (!path)
        return FALSE;
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        add(c, path, to, 0644);
    return TRUE;
}

/* --- all of it --- */

/* Images are large, and each change of nohzlab makes another: only the newest few stay. */
static void
prune(const char *dir, const char *keep)
{
    g_autoptr(GDir) entries = g_dir_open(dir, 0, NULL);
    const char *name;

    while (entries && (name = g_dir_read_name(entries))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        if (g_str_has_prefix(name, "initramfs-") && !g_str_equal(path, keep))
            g_unlink(path);
    }
}

static gboolean
collect(Collection *c, const ImgKernel *kernel, const GPtrArray *programs, const char *cache_dir,
        GError **error)
{
    add_programs(c, programs);
    return add_libvirt_driver(c, error) && add_cpu_map(c, error) && add_qemu(c, error) &&
           add_users(c, error) && add_kernel(c, kernel, error) &&
           add_kept(c, kernel, cache_dir, error);
}

LabImage *
lab_box_image_prepare(const char *kernel, const GPtrArray *programs, const char *cache_dir,
                      const char *run_dir, GError **error)
{
    g_autoptr(LabImage) image = g_new0(LabImage, 1);
    g_autofree char *box_cache = g_build_filename(cache_dir, "box", NULL);
    g_autofree char *making = g_build_filename(run_dir, "box-XXXXXX", NULL);

    g_autofree char *kernels = lab_catalogue_dir(cache_dir);
    image->kernel = img_catalogue_find(kernels, kernel, error);
    if (!image->kernel)
        return NULL;
    if (!g_mkdtemp(making)) {
        g_set_error(error, IMG_ERROR, IMG_ERROR_IO, "can't make a folder in %s", run_dir);
        return NULL;
    }
    g_auto(Collection) c = {
        .files = g_ptr_array_new_with_free_func((GDestroyNotify)lab_img_file_free),
        .dir = g_strdup(making),
    };
    if (!collect(&c, image->kernel, programs, cache_dir, error))
        return NULL;
    ImgInitramfsSpec spec = {.kernel = image->kernel,
                             .modules = box_modules,
                             .files = c.files,
                             .limit = IMAGE_MAX_BYTES};
    image->initramfs = img_initramfs_build(&spec, box_cache, error);
    if (!image->initramfs || !lab_image_lay_out(image, run_dir, error))
        return NULL;
    prune(box_cache, image->initramfs->path);
    return g_steal_pointer(&image);
}
