/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/kvm.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/error.h"

#define KVM_PATH "/dev/kvm"
#define PAGE_BYTES 4096
#define PROBE_TIMEOUT_S 2

/* mov ax,1234h; add ax,4321h; hlt */
static const guint8 probe_code[] = {0xb8, 0x34, 0x12, 0x05, 0x21, 0x43, 0xf4};
#define PROBE_RESULT 0x5555

enum { PROBE_OK, PROBE_NO_VM, PROBE_NO_VCPU, PROBE_WRONG };

/* Runs in a child, so that a KVM that never comes back only costs the child. Gives one of PROBE_*.
 */
static int
probe_child(int kvm)
{
    int vm = ioctl(kvm, KVM_CREATE_VM, 0);
    if (vm < 0)
        return PROBE_NO_VM;
    guint8 *page =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return PROBE_NO_VM;
    memcpy(page, probe_code, sizeof(probe_code));
    struct kvm_userspace_memory_region region = {
        .guest_phys_addr = PAGE_BYTES, .memory_size = PAGE_BYTES, .userspace_addr = (gulong)page};
    if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) < 0)
        return PROBE_NO_VM;

    int vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
    int run_bytes = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
    if (vcpu < 0 || run_bytes < (int)sizeof(struct kvm_run))
        return PROBE_NO_VCPU;
    struct kvm_run *run = mmap(NULL, run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
    struct kvm_sregs sregs;
    if (run == MAP_FAILED || ioctl(vcpu, KVM_GET_SREGS, &sregs) < 0)
        return PROBE_NO_VCPU;
    sregs.cs.base = 0;
    sregs.cs.selector = 0;
    struct kvm_regs regs = {.rip = PAGE_BYTES, .rflags = 2};
    if (ioctl(vcpu, KVM_SET_SREGS, &sregs) < 0 || ioctl(vcpu, KVM_SET_REGS, &regs) < 0)
        return PROBE_NO_VCPU;

    if (ioctl(vcpu, KVM_RUN, 0) < 0 || run->exit_reason != KVM_EXIT_HLT ||
        ioctl(vcpu, KVM_GET_REGS, &regs) < 0 || (regs.rax & 0xffff) != PROBE_RESULT)
        return PROBE_WRONG;
    return PROBE_OK;
}

/* Whether the first processor's flags name vmx or svm. */
static gboolean
processor_virtualizes(void)
{
    g_autofree char *text = NULL;

    if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL))
        return FALSE;
    char *flags = strstr(text, "\nflags");
    if (!flags)
        return FALSE;
    flags[1 + strcspn(flags + 1, "\n")] = '\0';
    g_auto(GStrv) words = g_strsplit(flags, " ", -1);
    return g_strv_contains((const char *const *)words, "vmx") ||
           g_strv_contains((const char *const *)words, "svm");
}

HostKvmState
host_kvm_probe(char **detail)
{
    int kvm = open(KVM_PATH, O_RDWR | O_CLOEXEC);
    if (kvm < 0) {
        gboolean absent = errno == ENOENT;
        *detail = g_strdup_printf("%s: %s", KVM_PATH, g_strerror(errno));
        return absent ? HOST_KVM_ABSENT : HOST_KVM_UNREADABLE;
    }
    if (ioctl(kvm, KVM_GET_API_VERSION, 0) != KVM_API_VERSION) {
        *detail = g_strdup(KVM_PATH " does not answer as KVM does");
        close(kvm);
        return HOST_KVM_UNREADABLE;
    }

    pid_t pid = fork();
    if (pid == 0) {
        alarm(PROBE_TIMEOUT_S);
        _exit(probe_child(kvm));
    }
    close(kvm);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        *detail = g_strdup_printf("could not start the probe: %s", g_strerror(errno));
        return HOST_KVM_UNREADABLE;
    }
    if (WIFSIGNALED(status)) {
        *detail = g_strdup_printf("a guest of three instructions did not end within %d s",
                                  PROBE_TIMEOUT_S);
        return HOST_KVM_FAILS;
    }
    switch (WEXITSTATUS(status)) {
    case PROBE_OK:
        if (!processor_virtualizes()) {
            *detail = g_strdup(
                "executed a guest of three instructions, but /proc/cpuinfo shows neither vmx nor "
                "svm: such KVMs are known never to boot a kernel");
            return HOST_KVM_DOUBTFUL;
        }
        *detail = g_strdup("executed a guest of three instructions");
        return HOST_KVM_RUNS;
    case PROBE_NO_VM:
        *detail = g_strdup(KVM_PATH " opens, but makes no VM");
        return HOST_KVM_FAILS;
    case PROBE_NO_VCPU:
        *detail = g_strdup(KVM_PATH " makes a VM, but no vCPU");
        return HOST_KVM_FAILS;
    default:
        *detail = g_strdup(KVM_PATH " makes a VM and a vCPU, but a guest of three instructions "
                                    "did not run as it should");
        return HOST_KVM_FAILS;
    }
}

gboolean
host_kvm_allows(const char *user)
{
    struct stat st;
    gid_t groups[256];
    int n = G_N_ELEMENTS(groups);
    struct passwd *pw = getpwnam(user);

    if (!pw)
        return TRUE;
    if (stat(KVM_PATH, &st) != 0)
        return FALSE;
    if (st.st_uid == pw->pw_uid)
        return (st.st_mode & 0600) == 0600;
    if (getgrouplist(user, pw->pw_gid, groups, &n) < 0)
        n = G_N_ELEMENTS(groups); /* the first 256 of more */
    for (int i = 0; i < n; i++) {
        if (groups[i] == st.st_gid)
            return (st.st_mode & 0060) == 0060;
    }
    return (st.st_mode & 0006) == 0006;
}

gboolean
host_kvm_hide(const char *dir, GError **error)
{
    if (access(KVM_PATH, F_OK) != 0)
        return TRUE;
    /* A device that is not KVM, which QEMU's user may not open: libvirt looks at the permissions,
     * QEMU asks the device, and the two must agree. A device, and not unlinked: libvirt moves this
     * mount into the /dev it makes for the guest. */
    g_autofree char *cover = g_build_filename(dir, "not-kvm", NULL);
    /* Slave, not private: mounts made on the machine meanwhile still come to us, ours don't go out.
     */
    if (mknod(cover, S_IFCHR | 0600, makedev(1, 3)) == 0 && unshare(CLONE_NEWNS) == 0 &&
        mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
        mount(cover, KVM_PATH, NULL, MS_BIND, NULL) == 0)
        return TRUE;
    g_set_error(error, HOST_ERROR, HOST_ERROR_UNSUPPORTED, "can't hide " KVM_PATH " from QEMU: %s",
                g_strerror(errno));
    return FALSE;
}
