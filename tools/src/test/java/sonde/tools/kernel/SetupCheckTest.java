package sonde.tools.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.tools.kernel.KernelSetting.SettingVerdict;

class SetupCheckTest {
    @TempDir private Path root;

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path.substring(1));
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private KernelSetting of(String name) {
        return SetupCheck.of(new KernelFiles(root)).settings().stream()
                .filter(one -> one.name().startsWith(name))
                .findFirst()
                .orElseThrow();
    }

    private void crash(String cmdline, String size, String loaded) throws IOException {
        file("/proc/cmdline", cmdline);
        file("/sys/kernel/kexec_crash_size", size);
        file("/sys/kernel/kexec_crash_loaded", loaded);
    }

    @Test
    void aCrashKernelIsAbsentUnreservedUnloadedOrReady() throws IOException {
        assertThat(of("crash kernel").value()).isEqualTo("not possible");
        crash("quiet", "0\n", "0\n");
        assertThat(of("crash kernel").meaning()).startsWith("No memory is reserved");
        crash("quiet crashkernel=9000G", "0\n", "0\n");
        assertThat(of("crash kernel").meaning()).startsWith("crashkernel=9000G could not be");
        crash("crashkernel=256M", "268435456\n", "0\n");
        assertThat(of("crash kernel").value()).isEqualTo("256 MiB reserved, not loaded");
        assertThat(of("crash kernel").change()).contains("kdump-config load", "kexec -p /boot/");
        crash("crashkernel=256M", "268435456\n", "1\n");
        assertThat(of("crash kernel").verdict()).isEqualTo(SettingVerdict.OK);
    }

    @Test
    void newKernelsHaveTheFilesInAFolder() throws IOException {
        file("/sys/kernel/kexec/crash_size", "1048576\n");
        file("/sys/kernel/kexec/crash_loaded", "1\n");
        assertThat(of("crash kernel").value()).isEqualTo("1 MiB reserved, loaded");
    }

    @Test
    void aPanicThatStandsStillIsAProblemUnlessACrashKernelStarts() throws IOException {
        file("/proc/sys/kernel/panic", "0\n");
        file("/proc/sys/kernel/panic_on_oops", "0\n");
        assertThat(of("reboot after").verdict()).isEqualTo(SettingVerdict.PROBLEM);
        assertThat(of("kernel.panic_on_oops").verdict()).isEqualTo(SettingVerdict.OK);
        crash("", "268435456", "1");
        assertThat(of("reboot after").verdict()).isEqualTo(SettingVerdict.OK);
        assertThat(of("kernel.panic_on_oops").verdict()).isEqualTo(SettingVerdict.NOTE);
        assertThat(of("kernel.panic_on_oops").change()).contains("oops=panic");
        file("/proc/sys/kernel/panic", "-1\n");
        assertThat(of("reboot after").meaning()).isEqualTo("The machine reboots at once.");
    }

    @Test
    void levelsOfTheConsoleAreExplained() throws IOException {
        file("/proc/sys/kernel/printk", "4\t4\t1\t7\n");
        file("/proc/cmdline", "root=/dev/sda1 quiet\n");
        KernelSetting quiet = of("log level");
        assertThat(quiet.value()).isEqualTo("4 4 1 7");
        assertThat(quiet.meaning())
                .startsWith("It does not show messages below error, WARN included")
                .endsWith("The boot command line has: quiet.");
        assertThat(quiet.change()).startsWith("dmesg -n 8");
        file("/sys/module/printk/parameters/ignore_loglevel", "Y\n");
        assertThat(of("log level").verdict()).isEqualTo(SettingVerdict.OK);
    }

    @Test
    void unknownWordsOfTheCommandLineAreNamedAsTheKernelNamesThem() throws IOException {
        file("/proc/cmdline", "BOOT_IMAGE=/vmlinuz loglvel=8 frobnicate usbcorr.quirks=1 -- -x\n");
        assertThat(of("boot command line").verdict()).isEqualTo(SettingVerdict.UNKNOWN);
        file("/log", "Linux version 6.1.0\nCommand line: loglvel=8\n");
        assertThat(of("boot command line").verdict()).isEqualTo(SettingVerdict.OK);
        file(
                "/log",
                "Linux version 6.1.0\nUnknown kernel command line parameters"
                        + " \"BOOT_IMAGE=/vmlinuz loglvel=8 frobnicate\", will be passed to user"
                        + " space.\n");
        KernelSetting found = of("boot command line");
        assertThat(found.verdict()).isEqualTo(SettingVerdict.PROBLEM);
        assertThat(found.value()).isEqualTo("loglvel=8 (did you mean loglevel?), frobnicate");
        assertThat(of("words for modules").value()).isEqualTo("usbcorr.quirks=1");
    }

    @Test
    void ramoopsIsShownAsItIsSetUpOrAsItMayBe() throws IOException {
        assertThat(of("ramoops").change()).contains("reserve_mem=", "memmap=");
        Files.createDirectories(root.resolve("proc/device-tree/reserved-memory"));
        assertThat(of("ramoops").change()).contains("compatible = \"ramoops\";", "record-size");
        Files.createDirectories(root.resolve("proc/device-tree/reserved-memory/ramoops@9ff00000"));
        assertThat(of("ramoops").value()).isEqualTo("in the device tree: ramoops@9ff00000");
        file("/sys/module/ramoops/parameters/mem_size", "1048576\n");
        file("/sys/module/ramoops/parameters/mem_address", "2684354560\n");
        assertThat(of("ramoops").value()).isEqualTo("mem_address=2684354560 mem_size=1048576");
    }

    @Test
    void recordsInPstoreAreNamed() throws IOException {
        file("/sys/module/pstore/parameters/backend", "efi_pstore\n");
        file("/sys/fs/pstore/dmesg-efi-1", "Oops#1");
        assertThat(of("pstore").value()).isEqualTo("efi_pstore");
        assertThat(of("records in pstore").value()).isEqualTo("1: dmesg-efi-1");
    }

    @Test
    void theTargetOfDumpsIsReadFromTheConfigurationOfDebianAndRedHat() throws IOException {
        file("/proc/meminfo", "MemTotal:        8000000000 kB\n");
        file("/etc/default/kdump-tools", "USE_KDUMP=1\n#SSH=\"x\"\nKDUMP_COREDIR=\"/srv/crash\"\n");
        KernelSetting room = of("dump target");
        assertThat(room.value()).startsWith("/srv/crash, ").endsWith(" MiB free");
        assertThat(room.verdict()).isEqualTo(SettingVerdict.PROBLEM); // 8 TB of memory
        file("/proc/meminfo", "MemTotal:        1 kB\n");
        assertThat(of("dump target").verdict()).isEqualTo(SettingVerdict.OK);
        file("/etc/default/kdump-tools", "SSH=\"root@host\"\n");
        assertThat(of("dump target").value()).isEqualTo("root@host");
        Files.delete(root.resolve("etc/default/kdump-tools"));
        file("/etc/kdump.conf", "# path /x\npath /var/kdump\n");
        assertThat(of("dump target").value()).startsWith("/var/kdump, ");
    }

    @Test
    void aCorePatternThatLosesDumpsIsAProblem() throws IOException {
        file("/proc/sys/kernel/core_pattern", "|/usr/lib/systemd/systemd-coredump %P\n");
        assertThat(of("core dumps").verdict()).isEqualTo(SettingVerdict.PROBLEM);
        file("/usr/lib/systemd/systemd-coredump", "");
        assertThat(of("core dumps").meaning()).startsWith("coredumpctl");
        file("/proc/sys/kernel/core_pattern", "core\n");
        assertThat(of("core dumps").verdict()).isEqualTo(SettingVerdict.NOTE);
    }

    @Test
    void fileSystemsAreMountedKnownOrAbsent() throws IOException {
        file("/proc/filesystems", "nodev\tsysfs\nnodev\tdebugfs\nnodev\tpstore\n\text4\n");
        file("/proc/self/mounts", "pstore /sys/fs/pstore pstore rw 0 0\n");
        assertThat(of("file system pstore").value()).isEqualTo("/sys/fs/pstore");
        assertThat(of("file system debugfs").change())
                .isEqualTo("mount -t debugfs none /sys/kernel/debug");
        assertThat(of("file system tracefs").value()).isEqualTo("absent");
    }

    @Test
    void quotesAndTheEndOfTheKernelsWordsAreUnderstood() throws IOException {
        file("/proc/cmdline", "a dyndbg=\"file x.c +p\" oops=panic -- single quiet\n");
        KernelFiles files = new KernelFiles(root);
        assertThat(files.commandLine()).isEqualTo(List.of("a", "dyndbg=file x.c +p", "oops=panic"));
        assertThat(files.parameter("oops")).contains("panic");
        assertThat(files.parameter("quiet")).isEmpty();
    }
}
