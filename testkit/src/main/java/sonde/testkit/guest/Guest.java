package sonde.testkit.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A virtual machine with another kernel and this machine's files: root is the host's, read only,
 * under a layer in memory that is gone afterwards; {@code /mnt} is {@link #work()}, shared both
 * ways.
 *
 * <p>KVM is used where a guest comes up with it, else QEMU's own emulation (about ten times
 * slower); which one holds is remembered until the next boot of the host.
 */
public final class Guest implements AutoCloseable {
    private static final String QEMU = "qemu-system-x86_64";
    private static final String UP = "sonde-guest: up";
    // With a thread per CPU one runs code that another has patched meanwhile: an int3 of which the
    // kernel knows no more, an oops in Linux 6.12 (seen at static keys of tracepoints).
    private static final String TCG = "tcg,thread=single";
    private static final int KVM_BOOT_SECONDS = 15;
    private static final int BOOT_SECONDS = 90;

    /** nice(1)'s lowest priority. */
    private static final int LAST = 19;

    private static final int MARGIN_SECONDS = 20;
    private static final int MEMORY_MIB = 1536;
    private static final int MODULE_SECONDS = 120;

    private static final String SCRIPT =
            """
            export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
            export LC_ALL=C.UTF-8 SONDE_GUEST=1
            now() { cut -d' ' -f1 /proc/uptime; }
            step() {
                name=$1 seconds=$2
                shift 2
                from=$(now)
                timeout -s QUIT -k 10 "$seconds" "$@" >"/mnt/$name.out" 2>&1 </dev/null
                echo "$name $? $from $(now)" >>/mnt/steps
            }
            """;

    /**
     * What a guest did.
     *
     * @param accelerator {@code "kvm"} or {@code "tcg"}
     * @param bootSeconds from start to the job's begin
     * @param steps those that came to an end, in order
     * @param console the kernel's last words
     */
    public record Outcome(
            String accelerator, double bootSeconds, List<Step.Result> steps, String console) {}

    private final GuestKernel kernel;
    private final GuestCache cache;
    private final Path work;
    private final boolean ownsWork;
    private final int memoryMib;
    private final int niceness;

    /**
     * Prepares a guest that runs behind everything else; fetches its kernel on first use.
     *
     * @throws IOException when the kernel cannot be fetched, with what to do
     */
    public Guest(GuestKernel kernel) throws IOException, InterruptedException {
        this(kernel, Files.createTempDirectory("sonde-guest-"), true, MEMORY_MIB, LAST);
    }

    /** Prepares a guest with a work folder that stays, and more memory. */
    Guest(GuestKernel kernel, Path work, int memoryMib) throws IOException, InterruptedException {
        this(kernel, work, false, memoryMib, 0);
    }

    private Guest(GuestKernel kernel, Path work, boolean ownsWork, int memoryMib, int niceness)
            throws IOException, InterruptedException {
        this.kernel = kernel;
        this.cache = new GuestCache();
        this.work = work;
        this.ownsWork = ownsWork;
        this.memoryMib = memoryMib;
        this.niceness = niceness;
        cache.kernel(kernel);
    }

    /** What this machine lacks for guests, with the remedy; empty when nothing. */
    public static Optional<String> lacks() {
        if (!System.getProperty("os.arch").equals("amd64")) {
            return Optional.of("guests are x86-64 and this machine is not");
        }
        for (String program : List.of(QEMU, "busybox", "dpkg-deb", "apt-get", "timeout", "xz")) {
            if (which(program) == null) {
                return Optional.of(
                        program
                                + " is missing; apt-get install qemu-system-x86 busybox-static"
                                + " xz-utils");
            }
        }
        return "root".equals(System.getProperty("user.name"))
                ? Optional.empty()
                : Optional.of("guests share the root folder over 9p, which needs root");
    }

    private static @Nullable Path which(String program) {
        for (String folder : System.getenv().getOrDefault("PATH", "/usr/bin").split(":", -1)) {
            Path path = Path.of(folder, program);
            if (Files.isExecutable(path)) {
                return path;
            }
        }
        return null;
    }

    /** The folder that the guest sees as {@code /mnt}. */
    public Path work() {
        return work;
    }

    /** The JVM image for steps; the guest sees it at the same path. */
    public Path java() throws IOException, InterruptedException {
        return cache.java().resolve("image/bin/java");
    }

    /**
     * A step that makes all modules of the guest's kernel loadable by modprobe(8), as the first of
     * them {@code names}; needs kmod on the host.
     */
    Step modules(List<String> names) throws IOException, InterruptedException {
        Path tree = cache.modules(kernel).resolve("lib/modules").resolve(kernel.release());
        String script = "mkdir -p /lib/modules && ln -sfn \"$0\" /lib/modules/\"$1\" && shift";
        List<String> command =
                new ArrayList<>(List.of("sh", "-c", script + " && modprobe -a \"$@\""));
        command.addAll(List.of(tree.toString(), kernel.release()));
        command.addAll(names);
        return new Step("modules", command, MODULE_SECONDS);
    }

    /** Boots, runs the steps one after the other, ends. */
    public Outcome run(List<Step> steps) throws IOException, InterruptedException {
        StringBuilder script = new StringBuilder(SCRIPT);
        int seconds = BOOT_SECONDS + MARGIN_SECONDS;
        for (Step step : steps) {
            script.append(step.script());
            seconds += step.timeoutSeconds() + MARGIN_SECONDS;
        }
        Files.writeString(work.resolve("job.sh"), script);
        Path busybox = which("busybox");
        if (busybox == null) {
            throw new IOException(lacks().orElse("busybox is missing"));
        }
        Initramfs.write(
                work.resolve("initramfs"), busybox, cache.kernel(kernel).resolve("modules"));
        Outcome outcome = mayUseKvm() ? boot("kvm", KVM_BOOT_SECONDS, seconds) : null;
        if (outcome == null) {
            outcome = boot("tcg", BOOT_SECONDS, seconds);
        }
        if (outcome == null) {
            throw new IOException(
                    "guest %s did not come up in %d s:%n%s"
                            .formatted(kernel.release(), BOOT_SECONDS, console()));
        }
        return outcome;
    }

    /** Null when the guest did not come up in time. */
    private @Nullable Outcome boot(String accelerator, int bootSeconds, int seconds)
            throws IOException, InterruptedException {
        Files.deleteIfExists(work.resolve("console"));
        Files.deleteIfExists(work.resolve("steps"));
        long begin = System.nanoTime();
        Process qemu =
                new ProcessBuilder(command(accelerator, seconds))
                        .redirectErrorStream(true)
                        .redirectOutput(work.resolve("qemu.log").toFile())
                        .start();
        // timeout(1) passes the signal on; it also ends QEMU should this JVM be killed.
        Thread hook = Thread.ofPlatform().unstarted(qemu::destroy);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            boolean up = false;
            while (!up && (System.nanoTime() - begin) / 1e9 < bootSeconds) {
                boolean ended = qemu.waitFor(100, TimeUnit.MILLISECONDS);
                up = console().contains(UP);
                if (ended) {
                    break;
                }
            }
            if (!up) {
                remember(accelerator.equals("kvm") ? "tcg" : "");
                return null;
            }
            double booted = (System.nanoTime() - begin) / 1e9;
            qemu.waitFor();
            return new Outcome(accelerator, booted, results(), console());
        } finally {
            qemu.destroy();
            qemu.waitFor();
            Runtime.getRuntime().removeShutdownHook(hook);
        }
    }

    private List<String> command(String accelerator, int seconds)
            throws IOException, InterruptedException {
        String share = "local,security_model=none,multidevs=remap,";
        return List.of(
                "nice",
                "-n",
                Integer.toString(niceness),
                "timeout",
                "-k",
                "5",
                Integer.toString(seconds),
                QEMU,
                "-accel",
                accelerator.equals("tcg") ? TCG : accelerator,
                "-cpu",
                accelerator.equals("tcg") ? "max" : "host",
                "-machine",
                "q35",
                "-m",
                Integer.toString(memoryMib),
                "-smp",
                "2",
                "-nodefaults",
                "-no-user-config",
                "-no-reboot",
                "-display",
                "none",
                "-serial",
                "file:" + work.resolve("console"),
                "-kernel",
                cache.kernel(kernel).resolve("vmlinuz").toString(),
                "-initrd",
                work.resolve("initramfs").toString(),
                "-append",
                "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check",
                "-virtfs",
                share + "path=/,mount_tag=host,readonly=on,id=host",
                "-virtfs",
                share + "path=" + work + ",mount_tag=work,id=work");
    }

    private String console() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String name : List.of("qemu.log", "console")) {
            Path file = work.resolve(name);
            if (Files.exists(file)) {
                text.append(Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        return text.toString();
    }

    private List<Step.Result> results() throws IOException {
        List<Step.Result> results = new ArrayList<>();
        Path steps = work.resolve("steps");
        if (!Files.exists(steps)) {
            return results;
        }
        for (String line : Files.readAllLines(steps)) {
            String[] words = line.split(" ", -1);
            String output =
                    Files.readString(work.resolve(words[0] + ".out"), StandardCharsets.ISO_8859_1);
            results.add(
                    new Step.Result(
                            words[0],
                            Integer.parseInt(words[1]),
                            Double.parseDouble(words[3]) - Double.parseDouble(words[2]),
                            output));
        }
        return results;
    }

    private Path memory() throws IOException {
        String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        return cache.folder().resolve("accelerator-" + boot);
    }

    private boolean mayUseKvm() throws IOException {
        Path memory = memory();
        return Files.isWritable(Path.of("/dev/kvm"))
                && !(Files.exists(memory) && Files.readString(memory).equals("tcg"));
    }

    private void remember(String accelerator) throws IOException {
        if (!accelerator.isEmpty()) {
            Files.writeString(memory(), accelerator);
        }
    }

    /** Deletes the work folder if this guest made it. */
    @Override
    public void close() throws IOException {
        if (ownsWork) {
            GuestCache.deleteTree(work);
        }
    }
}
