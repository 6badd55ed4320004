package sonde.tools.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Where the memory and the log of a kernel go when it crashes: crash kernel, dump, pstore. */
final class DumpCheck {
    private static final String RAMOOPS = "/sys/module/ramoops/parameters/";
    private static final String DEVICE_TREE = "/proc/device-tree";
    private static final String RECORDS = "/sys/fs/pstore";
    private static final long KIB = 1024;

    private final KernelFiles files;
    private final List<KernelSetting> settings = new ArrayList<>();

    DumpCheck(KernelFiles files) {
        this.files = files;
    }

    List<KernelSetting> settings() {
        crashKernel();
        target();
        pstore();
        ramoops();
        return settings;
    }

    private void crashKernel() {
        if (files.has("/proc/vmcore")) {
            settings.add(
                    KernelSetting.note(
                            "this kernel",
                            "crash kernel",
                            "It runs after a crash of another one, whose memory is /proc/vmcore.",
                            "makedumpfile -l -d 31 /proc/vmcore /var/crash/vmcore; reboot"));
        }
        String name = "crash kernel";
        String asked = files.parameter("crashkernel").orElse("");
        Optional<Long> size = files.number(SetupCheck.crash(files, "size"));
        boolean loaded = files.number(SetupCheck.crash(files, "loaded")).orElse(0L) == 1;
        String reserve =
                "add crashkernel=256M to the boot command line, install kdump-tools or kexec-tools,"
                        + " and reboot";
        if (size.isEmpty()) {
            settings.add(
                    KernelSetting.problem(
                            name,
                            "not possible",
                            "The kernel is built without CONFIG_KEXEC and CONFIG_CRASH_DUMP: a"
                                    + " panic leaves no dump.",
                            "build: CONFIG_KEXEC_FILE, CONFIG_CRASH_DUMP"));
        } else if (size.get() == 0 && !asked.isEmpty()) {
            settings.add(
                    KernelSetting.problem(
                            name,
                            "not reserved",
                            "crashkernel="
                                    + asked
                                    + " could not be reserved: the kernel found no"
                                    + " such range of free memory, or does not understand it.",
                            "dmesg | grep -i crashkernel\ntry crashkernel=256M"));
        } else if (size.get() == 0) {
            settings.add(
                    KernelSetting.problem(
                            name,
                            "not reserved",
                            "No memory is reserved for it: a panic leaves no dump.",
                            reserve));
        } else if (!loaded) {
            String release = files.release();
            settings.add(
                    KernelSetting.problem(
                            name,
                            mebibytes(size.get()) + " reserved, not loaded",
                            "Memory is reserved, and no kernel is in it: a panic leaves no dump.",
                            "kdump-config load   (Debian), kdumpctl start   (Fedora, RHEL), or\n"
                                    + "kexec -p /boot/vmlinuz-"
                                    + release
                                    + " --initrd=/boot/initrd.img-"
                                    + release
                                    + " --reuse-cmdline --append='irqpoll nr_cpus=1'"));
        } else {
            settings.add(
                    KernelSetting.ok(
                            name,
                            mebibytes(size.get()) + " reserved, loaded",
                            "A panic starts it; it writes the dump and reboots."));
        }
    }

    private static String mebibytes(long bytes) {
        return (bytes >> 20) + " MiB";
    }

    /** kdump-tools of Debian, kdump.conf of Fedora, RHEL and SUSE. */
    private void target() {
        String debian = files.text("/etc/default/kdump-tools", "");
        String redhat = files.text("/etc/kdump.conf", "");
        String suse = files.text("/etc/sysconfig/kdump", "");
        String remote =
                Optional.ofNullable(word(debian, "(?:SSH|NFS|FTP)="))
                        .or(() -> Optional.ofNullable(word(redhat, "(?:nfs|ssh|raw|ext4|xfs)\\s+")))
                        .orElse("");
        String folder =
                Optional.ofNullable(word(debian, "KDUMP_COREDIR="))
                        .or(() -> Optional.ofNullable(word(redhat, "path\\s+")))
                        .or(() -> Optional.ofNullable(word(suse, "KDUMP_SAVEDIR=")))
                        .map(text -> text.replaceFirst("^file://", ""))
                        .orElse("/var/crash");
        boolean configured = !(debian + redhat + suse).isEmpty();
        String name = "dump target";
        if (!configured) {
            settings.add(
                    KernelSetting.note(
                            name,
                            "not configured",
                            "Neither kdump-tools (/etc/default/kdump-tools) nor kdump"
                                    + " (/etc/kdump.conf, /etc/sysconfig/kdump) is installed.",
                            "apt install kdump-tools   or   dnf install kdump-utils"));
            return;
        }
        if (!remote.isEmpty() || !folder.startsWith("/")) {
            settings.add(
                    KernelSetting.ok(
                            name,
                            remote.isEmpty() ? folder : remote,
                            "The dump goes to another machine or device, which was not tried."));
            return;
        }
        settings.add(room(name, folder));
    }

    private KernelSetting room(String name, String folder) {
        Path place = files.path(folder);
        while (!Files.exists(place) && place.getParent() != null) {
            place = place.getParent();
        }
        long memory = memoryBytes();
        try {
            long room = Files.getFileStore(place).getUsableSpace();
            String value = folder + ", " + mebibytes(room) + " free";
            String against = "The machine has " + mebibytes(memory) + " of memory. ";
            // makedumpfile -d 31 leaves out free and cache pages: some percent of it remain.
            return room < memory / 20
                    ? KernelSetting.problem(
                            name,
                            value,
                            against + "A dump will hardly find room, even without free pages.",
                            "remove old dumps there, or choose another folder")
                    : room < memory
                            ? KernelSetting.note(
                                    name,
                                    value,
                                    against
                                            + "A full dump does not fit; one without free and"
                                            + " cache pages will.",
                                    "makedumpfile -l -d 31 in the configuration of kdump")
                            : KernelSetting.ok(name, value, against + "A full dump fits.");
        } catch (IOException e) {
            return KernelSetting.unknown(name, folder + " cannot be examined.", "");
        }
    }

    private long memoryBytes() {
        return files.text("/proc/meminfo", "")
                .lines()
                .filter(line -> line.matches("MemTotal:\\s+\\d{1,15} kB"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIB)
                .findFirst()
                .orElse(0);
    }

    /** The value behind a key at the start of a line, without quotes; null for none. */
    private static @org.jspecify.annotations.Nullable String word(String text, String key) {
        return text.lines()
                .map(String::strip)
                .filter(line -> line.matches("(?:" + key + ")\\S.*"))
                .map(line -> line.replaceFirst(key, "").replaceAll("[\"']", "").strip())
                .filter(value -> !value.isEmpty())
                .reduce((_, last) -> last)
                .orElse(null);
    }

    private void pstore() {
        String name = "pstore";
        Optional<String> backend = files.text(SetupCheck.PSTORE_BACKEND);
        if (backend.isEmpty()) {
            KernelConfig config = files.config();
            settings.add(
                    config.isKnown() && !config.isSet("PSTORE")
                            ? KernelSetting.note(
                                    name,
                                    "absent",
                                    "The kernel is built without it: its last words are lost.",
                                    "build: CONFIG_PSTORE, CONFIG_PSTORE_RAM")
                            : KernelSetting.unknown(
                                    name, "The module pstore is not loaded.", "modprobe pstore"));
        } else if (backend.get().equals("(null)") || backend.get().isEmpty()) {
            boolean efi = files.has("/sys/firmware/efi");
            settings.add(
                    KernelSetting.problem(
                            name,
                            "no backend",
                            "Nothing keeps the kernel's last words over a reboot.",
                            efi
                                    ? "modprobe efi_pstore   (parameter pstore_disable=0)"
                                    : "use ramoops, as below"));
        } else {
            settings.add(
                    KernelSetting.ok(name, backend.get(), "It keeps the kernel's last words."));
        }
        List<String> records = files.names(RECORDS);
        if (!records.isEmpty()) {
            settings.add(
                    KernelSetting.note(
                            "records in pstore",
                            records.size() + ": " + String.join(" ", first(records)),
                            "An earlier crash left them; they take room until they are removed.",
                            "less " + RECORDS + "/" + records.getFirst()));
        }
    }

    private static List<String> first(List<String> names) {
        return names.subList(0, Math.min(names.size(), 4));
    }

    /** The parameters of the module, or what would set it up. */
    private void ramoops() {
        String name = "ramoops";
        String size = files.text(RAMOOPS + "mem_size", "0");
        if (files.has(RAMOOPS) && !size.equals("0")) {
            StringBuilder values = new StringBuilder();
            for (String parameter :
                    List.of(
                            "mem_name",
                            "mem_address",
                            "mem_size",
                            "record_size",
                            "console_size",
                            "ftrace_size",
                            "pmsg_size",
                            "ecc")) {
                files.text(RAMOOPS + parameter)
                        .filter(value -> !value.isEmpty() && !value.equals("(null)"))
                        .ifPresent(value ->
                                values.append(parameter).append('=').append(value).append(' '));
            }
            settings.add(
                    KernelSetting.ok(
                            name,
                            values.toString().strip(),
                            "Panics and oopses are kept in this memory over a warm reboot."));
            return;
        }
        List<String> nodes =
                files.names(DEVICE_TREE + "/reserved-memory").stream()
                        .filter(node -> node.startsWith("ramoops"))
                        .toList();
        if (!nodes.isEmpty()) {
            settings.add(
                    KernelSetting.note(
                            name,
                            "in the device tree: " + String.join(" ", nodes),
                            "Memory is reserved, and the module does not use it.",
                            "modprobe ramoops   (build: CONFIG_PSTORE_RAM)"));
            return;
        }
        settings.add(
                KernelSetting.note(
                        name,
                        "not set up",
                        "It keeps oopses in memory that survives a warm reboot.",
                        files.has(DEVICE_TREE) ? node() : moduleParameters()));
    }

    /** Binding reserved-memory/ramoops.yaml; the address is the board's. */
    private static String node() {
        return """
        reserved-memory {
            #address-cells = <1>;
            #size-cells = <1>;
            ranges;
            ramoops@ADDRESS {
                compatible = "ramoops";
                reg = <ADDRESS 0x100000>;
                record-size = <0x20000>;
                console-size = <0x40000>;
                ftrace-size = <0x20000>;
                ecc-size = <16>;
            };
        };\
        """;
    }

    /** Linux 6.12 chooses the place itself (reserve_mem=); before, the user names free memory. */
    private static String moduleParameters() {
        return "boot (Linux 6.12): reserve_mem=2M:4096:oops ramoops.mem_name=oops"
                + " ramoops.record_size=0x20000 ramoops.console_size=0x40000\n"
                + "before: memmap=1M$ADDRESS, then modprobe ramoops mem_address=ADDRESS"
                + " mem_size=0x100000 record_size=0x20000 console_size=0x40000 ecc=1";
    }
}
