package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;

class ExplainRecipeTest {
    /** What the kernel prints when a module reads freed memory; without prefixes. */
    private static final String USE_AFTER_FREE =
            """
            ==================================================================
            BUG: KASAN: slab-use-after-free in pond_read+0x4a/0x90 [pond]
            Read of size 8 at addr ffff888003cf4210 by task fisher/301

            CPU: 1 PID: 301 Comm: fisher Tainted: G        W  O       6.6.9-pond #1
            Hardware name: QEMU Standard PC (i440FX + PIIX, 1996), BIOS 1.16.2 04/01/2014
            Call Trace:
             <TASK>
             dump_stack_lvl+0x4c/0x70
             print_report+0xcf/0x670
             ? __pfx_pond_read+0x10/0x10 [pond]
             kasan_report+0xda/0x110
             pond_read+0x4a/0x90 [pond]
             vfs_read+0x1b1/0x710
             ksys_read+0xd6/0x170
             do_syscall_64+0x3b/0x90
             entry_SYSCALL_64_after_hwframe+0x6e/0xd8
             </TASK>

            Allocated by task 299:
             kasan_save_stack+0x33/0x60
             __kasan_kmalloc+0xaa/0xb0
             pond_open+0x22/0x60 [pond]
             chrdev_open+0x11a/0x340

            Freed by task 300:
             kasan_save_stack+0x33/0x60
             ____kasan_slab_free+0x10c/0x190
             __kmem_cache_free+0x9c/0x2d0
             pond_drain+0x31/0x50 [pond]
             process_one_work+0x420/0x9d0

            The buggy address belongs to the object at ffff888003cf4200
             which belongs to the cache kmalloc-64 of size 64
            The buggy address is located 16 bytes inside of
             freed 64-byte region [ffff888003cf4200, ffff888003cf4240)
            ==================================================================
            """;

    private static final String WARNING =
            """
            ------------[ cut here ]------------
            WARNING: CPU: 0 PID: 77 at drivers/pond/reed.c:12 reed_bend+0x14/0x30 [reed]
            Modules linked in: reed(O)
            CPU: 0 PID: 77 Comm: heron Tainted: G           O       6.6.9-pond #1
            RIP: 0010:reed_bend+0x14/0x30 [reed]
            Call Trace:
             <TASK>
             reed_store+0x22/0x40 [reed]
             kernfs_fop_write_iter+0x1c2/0x290
             </TASK>
            ---[ end trace 0000000000000000 ]---
            """;

    private static String explained(InputStream in, ListingForm form) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new ExplainRecipe(ExplainOptions.USUAL, null)
                .of(List.of(new LogSource("log", null, in)))
                .rows()
                .writeTo(out, form);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String text(String log) throws IOException {
        byte[] bytes = log.getBytes(StandardCharsets.UTF_8);
        return explained(new ByteArrayInputStream(bytes), ListingForm.TEXT);
    }

    /** The first lines of all incidents. */
    private static List<String> identities(String log) throws IOException {
        return text(log).lines().filter(line -> line.startsWith("#")).toList();
    }

    private static String prefixed(String report, Function<Integer, String> prefix) {
        List<String> lines = new ArrayList<>();
        for (String line : report.lines().toList()) {
            lines.add(prefix.apply(lines.size()) + line);
        }
        return lines.stream().collect(Collectors.joining("\n", "", "\n"));
    }

    @Test
    void theObjectItsOwnersAndTheFunctionAreNamed() throws IOException {
        assertThat(text(USE_AFTER_FREE))
                .startsWith("#1  KASAN: slab-use-after-free Read in pond_read\n")
                .contains(
                        "Read of 8 bytes, 16 bytes inside of a freed 64-byte kmalloc-64 object",
                        "where    pond_read+0x4a/0x90 [pond]",
                        "who      fisher (pid 301) on CPU 1",
                        "W (warned before), O (module from outside of the tree)",
                        """
                            Who touched it:
                                object of 64 bytes, # = 8 accessed, offset 16 of the object
                                [............######..............................]
                                read       fisher/301  pond_read [pond]
                                allocated  task 299    pond_open [pond]
                                freed      task 300    pond_drain [pond]
                        """,
                        "1 fault of the kernel was found.")
                .doesNotContain("__pfx_pond_read");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[   19.854661] ",
                "[   19.854661][  T301] ",
                "[   19.854661][    C1] ",
                "<4>[   19.854661] ",
                "\u001b[0;33m[   19.854661] \u001b[0m",
                "Nov 24 10:00:01 pond kernel: [   19.854661] ",
                "Nov 24 10:00:01 pond kernel: ",
                "2026-11-24T10:00:01.123456+00:00 pond kernel: [   19.854661] ",
                "[   19.854661] pond kernel: ",
                "4,1235,19854661,-;",
                "4,1235,19854661,-,caller=T301;",
                "[Tue Nov 24 10:00:01 2026] ",
                "[   19.854661] (1)[301:fisher]",
                "2026-11-24T10:00:01,123456+00:00 ",
                "kern  :warn  : [   19.854661] ",
                "[  T301] ",
                "[  +0.000012] ",
                "kern  :alert : [Tue Nov 24 10:00:01 2026] ",
                "<4>1 2026-11-24T10:00:01.123456+00:00 pond kernel - - [a b=\"1\"] [    1.000000] ",
                "Tue 2026-11-24 10:00:01 UTC pond kernel: ",
                "1795510801.000001 pond kernel: ",
                "11-24 10:00:01.123     0     0 E         : ",
                "2026-11-24T10:00:01.123456789Z stderr F [    1.000000] ",
                "2026-11-24 10:00:01 ",
                "kern.log:1201:",
                "host1  | ",
                "> > ",
                "    MESSAGE=",
            })
    void prefixesAreTakenOff(String prefix) throws IOException {
        String log = prefixed(USE_AFTER_FREE, _ -> prefix);
        assertThat(identities(log))
                .containsExactly("#1  KASAN: slab-use-after-free Read in pond_read");
        assertThat(identities(log.replace("\n", "\r\n"))).hasSize(1);
    }

    /** What other machines print in place of RIP. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Unable to handle kernel pointer dereference in virtual kernel address space"
                        + "~Failing address: 0000000000000000 TEID: 0000000000000407"
                        + "~Oops: 0004 ilc:2 [#1] SMP"
                        + "~Krnl PSW : 0704d00180000000 00000000009e59e4 (pond_read+0x46/0x5d "
                        + "[pond])"
                        + " | BUG: unable to handle kernel NULL pointer dereference in pond_read",
                "Unable to handle kernel NULL pointer dereference"
                        + "~fisher(1201): Oops [#1]"
                        + "~TPC: <pond_read+0x10/0x40 [pond]>"
                        + " | BUG: unable to handle kernel NULL pointer dereference in pond_read",
                "SError Interrupt on CPU3, code 0x00000000bf000002 -- SError"
                        + "~pc : pond_read+0x1c/0x40 [pond]"
                        + "~Kernel panic - not syncing: Asynchronous SError Interrupt"
                        + " | SError in pond_read"
            })
    void theInstructionOfOtherMachinesIsFound(String log, String identity) throws IOException {
        String trace = "~Call Trace:~ [<0000000000169d38>] vfs_read+0x1f8/0x458~";
        assertThat(identities((log + trace).replace('~', '\n')))
                .containsExactly("#1  " + identity.strip());
    }

    @Test
    void entriesOfTheJournalAreRead() throws IOException {
        String json =
                USE_AFTER_FREE
                        .lines()
                        .map(line ->
                                "{\"_HOSTNAME\":\"pond\",\"PRIORITY\":\"4\",\"MESSAGE\":\"%s\"}\n"
                                        .formatted(line))
                        .collect(Collectors.joining());
        String taskName = "fisher/301\"";
        String ofBytes = "Read of size 8 at addr ffff888003cf4210 by task fisher/301";
        String bytes =
                json.replace("\"" + ofBytes + "\"", ofBytes.chars().boxed().toList().toString());
        assertThat(bytes).doesNotContain(taskName);
        String export =
                prefixed(
                        USE_AFTER_FREE,
                        _ -> "\n__CURSOR=s=1;i=2\n_BOOT_ID=aa\n_TRANSPORT=kernel\nMESSAGE=");
        assertThat(List.of(json, bytes, export))
                .allSatisfy(log ->
                        assertThat(identities(log))
                                .containsExactly(
                                        "#1  KASAN: slab-use-after-free Read in pond_read"));
    }

    @Test
    void reportsThatAreInterleavedLineByLineAreSeparated() throws IOException {
        List<String> first = USE_AFTER_FREE.lines().toList();
        List<String> second = WARNING.lines().toList();
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < first.size(); i++) {
            log.append("[   19.%06d][  T301] %s%n".formatted(i, first.get(i)));
            if (i < second.size()) {
                log.append("[   19.%06d][   T77] %s%n".formatted(i, second.get(i)));
            }
        }
        assertThat(text(log.toString()))
                .contains(
                        "KASAN: slab-use-after-free Read in pond_read\n",
                        "WARNING in reed_bend\n",
                        "incident #1 of this boot",
                        "freed      task 300    pond_drain [pond]",
                        "2 faults of the kernel were found.")
                .doesNotContain("damaged");
    }

    /** lockdep lists a lock from lock_acquire() on, before the task has it. */
    @Test
    void aTaskThatSleepsInMutexLockDoesNotHoldItsLastLock() throws IOException {
        String log =
                """
                INFO: task carp:56 blocked for more than 120 seconds.
                      Not tainted 6.6.9-pond #1
                task:carp  state:D stack:0 pid:56 ppid:2 flags:0x00004000
                Call Trace:
                 <TASK>
                 __schedule+0x70a/0x11e0
                 schedule+0xad/0x1e0
                 __mutex_lock+0x94e/0x1360
                 carp_swim+0x1d/0x30 [pond]
                 kthread+0x186/0x1c0
                 </TASK>

                Showing all locks held in the system:
                1 lock held by khungtaskd/22:
                 #0: ffffffffbda90ae0 (rcu_read_lock){....}-{1:2}, at: debug_show_all_locks+0x48/0x1d3
                1 lock held by pike/55:
                 #0: ffffffffc03f4290 (reed){+.+.}-{3:3}, at: pike_hunt+0x13/0x30 [pond]
                2 locks held by carp/56:
                 #0: ffffffffc03f4880 (mud){+.+.}-{3:3}, at: carp_swim+0x10/0x30 [pond]
                 #1: ffffffffc03f4290 (reed){+.+.}-{3:3}, at: carp_swim+0x1d/0x30 [pond]

                =============================================
                """;
        assertThat(text(log).replaceAll("\\s+", " "))
                .contains("khungtaskd/22 holds rcu_read_lock, taken in debug_show_all_locks")
                .contains("pike/55 holds reed, taken in pike_hunt")
                .contains(
                        "carp/56 holds mud, taken in carp_swim, and waits for reed, wanted"
                                + " in carp_swim",
                        "carp/56 waits for reed of pike/55; where pike/55 is, the log does not say")
                .doesNotContain("debug_show_all_locks, and");
    }

    /** As those of pstore, whose files have no mmap either (fs/pstore/inode.c). */
    @ParameterizedTest
    @ValueSource(strings = {"/proc/version", "/proc/sys/kernel/random"})
    void filesThatCannotBeMappedAreRead(Path file) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new ExplainRecipe(ExplainOptions.USUAL, null)
                .of(List.of(new LogSource("log", file, null)))
                .rows()
                .writeTo(out, ListingForm.TEXT);
        assertThat(out).hasToString("No fault of the kernel was found.\n");
    }

    @Test
    void aReportThatIsCutShortIsCalledThat() throws IOException {
        String cut = USE_AFTER_FREE.substring(0, USE_AFTER_FREE.indexOf("Call Trace"));
        assertThat(text(cut)).contains("damaged  the report has no stack: it was cut short");
    }

    @Test
    void programsThatTheKernelEndsAndItsMemoryAreNoFaults() throws IOException {
        String log =
                """
                fisher[42]: segfault at 0 ip 401136 sp 7ffd error 6 in pond[401000+1000]
                fisher invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0
                MANY
                Memory cgroup out of memory: Killed process 42 (fisher) total-vm:1kB
                """;
        String zones = "Node 0 DMA: 2*4kB (U) 3*8kB (U) = 32kB\n".repeat(90);
        assertThat(text(log.replace("MANY\n", zones)))
                .contains(
                        "fisher (pid 42) accessed 0 in pond",
                        "fisher (pid 42) was killed",
                        "No fault of the kernel was found; 2 notices.");
    }

    @Test
    void eachCutOfAReportIsRead() throws IOException {
        String log = prefixed(USE_AFTER_FREE, _ -> "[   19.854661][  T301] ");
        for (int end = 0; end < log.length(); end += 7) {
            assertThat(text(log.substring(0, end))).endsWith("found.\n");
            assertThat(text(log.substring(end))).endsWith("found.\n");
        }
    }

    @Test
    void garbageAndLongLinesAreRead() throws IOException {
        byte[] garbage = new byte[1 << 20];
        new Random(1).nextBytes(garbage);
        String noise = new String(garbage, StandardCharsets.ISO_8859_1);
        assertThat(identities(noise + "\n" + USE_AFTER_FREE + noise)).hasSize(1);
        String line = "[".repeat(1 << 20) + "BUG: KASAN: ".repeat(1 << 16);
        assertThat(identities(line + "\n" + USE_AFTER_FREE)).hasSize(1);
    }

    @Test
    void textOfTheLogCannotWriteToTheTerminal() throws IOException {
        String log = USE_AFTER_FREE.replace("fisher", "fi\u0007\u009bsher");
        assertThat(text(log)).doesNotContain("\u0007", "\u009b");
    }

    @Test
    void partsOfPstoreAreOneLogAndOthersAreGrouped(@TempDir Path folder) throws IOException {
        int middle = USE_AFTER_FREE.indexOf("Call Trace");
        String begin = USE_AFTER_FREE.substring(0, middle);
        String end = USE_AFTER_FREE.substring(middle);
        Files.writeString(folder.resolve("dmesg-efi-1"), "Oops#1 Part1\n" + end);
        Files.writeString(folder.resolve("dmesg-efi-2"), "Oops#1 Part2\n" + begin);
        Files.writeString(folder.resolve("console-ramoops-0"), WARNING + WARNING);
        String older = WARNING.replace("reed_", "sedge_");
        try (OutputStream packed =
                new GZIPOutputStream(Files.newOutputStream(folder.resolve("kern.log.1.gz")))) {
            packed.write(older.getBytes(StandardCharsets.UTF_8));
        }
        Files.writeString(folder.resolve("vmlinux"), "\u007fELF\n" + WARNING);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new ExplainRecipe(
                        new ExplainOptions(
                                false,
                                false,
                                true,
                                false,
                                false,
                                false,
                                false,
                                IncidentFilter.ALL,
                                null),
                        null)
                .of(List.of(new LogSource("folder", folder, null)))
                .rows()
                .writeTo(out, ListingForm.TEXT);
        assertThat(out.toString(StandardCharsets.UTF_8).lines().map(String::strip))
                .satisfiesExactly(
                        two -> assertThat(two).startsWith("2  error     WARNING in reed_bend"),
                        packed -> assertThat(packed).startsWith("1  error     WARNING in sedge_"),
                        one -> assertThat(one).startsWith("1  security  KASAN: slab-use-after"));
    }

    @Test
    void aLogThatIsFollowedIsExplainedBeforeItsEnd() throws Exception {
        PipedOutputStream kernel = new PipedOutputStream();
        PipedInputStream in = new PipedInputStream(kernel, 1 << 16);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ExplainRecipe recipe =
                new ExplainRecipe(
                        new ExplainOptions(
                                false,
                                false,
                                false,
                                false,
                                true,
                                false,
                                false,
                                IncidentFilter.ALL,
                                null),
                        null);
        Listing listing = recipe.of(List.of(new LogSource("log", null, in)));
        kernel.write(USE_AFTER_FREE.getBytes(StandardCharsets.UTF_8));
        kernel.flush();
        Thread explaining =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                listing.rows().writeTo(out, ListingForm.TEXT);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (out.size() == 0 && System.nanoTime() < end) {
            Thread.sleep(20);
        }
        assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("#1  KASAN: slab-use-after");
        kernel.write(WARNING.getBytes(StandardCharsets.UTF_8));
        kernel.close();
        explaining.join();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("#2  WARNING in reed_bend");
    }

    @Test
    void jsonHasOneObjectPerIncident() throws IOException {
        byte[] bytes = (USE_AFTER_FREE + WARNING).getBytes(StandardCharsets.UTF_8);
        String json = explained(new ByteArrayInputStream(bytes), ListingForm.JSON_LINES);
        assertThat(json.lines()).hasSize(2).allSatisfy(line -> assertThat(line).startsWith("{"));
        assertThat(json)
                .contains(
                        "\"identity\":\"KASAN: slab-use-after-free Read in pond_read\"",
                        "\"type\":\"KASAN-USE-AFTER-FREE-READ\"",
                        "\"file\":\"drivers/pond/reed.c\"");
    }

    /** A fault as a kernel of 6.9 printed it, with the function renamed. */
    private static final String NULL_READ =
            """
            BUG: kernel NULL pointer dereference, address: 0000000000000050
            #PF: supervisor read access in kernel mode
            #PF: error_code(0x0000) - not-present page
            Oops: 0000 [#1] PREEMPT SMP
            CPU: 1 PID: 77 Comm: cat Not tainted 6.9.0 #1
            RIP: 0010:pond_read+0x24/0x90 [pond]
            Code: 05 48 89 e5 53 48 89 fb 48 85 ff 74 08 <48> 8b 47 50 48 89 03 5b 5d c3
            RSP: 0018:ffffc90000123e40 EFLAGS: 00010246
            RAX: 0000000000000001 RBX: ffff888003cf4210 RCX: 0000000000000000
            RDX: 0000000000000000 RSI: 0000000000000002 RDI: 0000000000000000
            Call Trace:
             <TASK>
             vfs_read+0x1b1/0x710
             entry_SYSCALL_64_after_hwframe+0x6e/0xd8
            RIP: 0033:0x7f1234567890
            RDI: 00000000dead0000
             </TASK>
            """;

    @Test
    void theFaultingInstructionIsShownWithItsOperands() throws IOException {
        assertThat(json(NULL_READ))
                .contains("the instruction at pond_read+0x24 is mov 0x50(%rdi),%rax;")
                .contains("it reads 8 bytes at 0x50, the address of the fault; RDI = 0 (NULL)")
                .contains("\"text\":\"je pond_read+0x2c\"")
                .doesNotContain("RCX is NULL");
        // Registers of user space belong to no instruction of the kernel.
        String user = NULL_READ.replace("RIP: 0010:pond_read+0x24/0x90 [pond]", "RIP: 0033:0x4242");
        assertThat(json(user)).doesNotContain("the instruction at");
        // Where the log lost the registers, no value is made up.
        String lost = NULL_READ.replaceAll("(?m)^R(?:DX|DI|AX):.*\n", "");
        assertThat(json(lost)).contains("is mov 0x50(%rdi),%rax").doesNotContain("RDI = ");
    }

    private static String json(String log) throws IOException {
        byte[] bytes = log.getBytes(StandardCharsets.UTF_8);
        return explained(new ByteArrayInputStream(bytes), ListingForm.JSON_LINES);
    }

    @Test
    void aStackOfAnotherTaskIsDamage() throws IOException {
        assertThat(json(USE_AFTER_FREE)).contains("\"corrupted\":false");
        assertThat(json(USE_AFTER_FREE.replace("PID: 301", "PID: 302")))
                .contains("the stack is the one of another task");
        assertThat(json(USE_AFTER_FREE.replace("print_report+0xcf", "should_fail+0xcf")))
                .contains("an allocation that failed or was forced to fail");
        String panic =
                "Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: ";
        assertThat(json(panic + "reed_bend+0x7b/0x80\nRebooting in 9 seconds..\n"))
                .contains("stack is corrupted in reed_bend", "\"corrupted\":false");
    }

    @Test
    void aReportThatIsMixedWithAnotherIsDamage() throws IOException {
        String headless = USE_AFTER_FREE.replaceAll("(?m)^ (?! |which|freed)(?!<)", " ? ");
        assertThat(json(headless)).contains("no frame that the unwinder is sure of");
        assertThat(
                        json(
                                WARNING.replace(
                                        "Call Trace",
                                        "FAULT_INJECTION: forcing a failure.\nCall Trace")))
                .contains("fault injection forced is mixed in");
        assertThat(json(USE_AFTER_FREE.replace("301", "356348210")))
                .contains("no task can have the pid 356348210");
        String timed = prefixed(USE_AFTER_FREE, _ -> "[   19.854661] ");
        assertThat(json(timed)).contains("\"corrupted\":false");
        assertThat(
                        json(
                                timed.replace(
                                        "[   19.854661] CPU",
                                        "** 4491 printk messages dropped ** [   19.854661] CPU")))
                .contains("the kernel dropped messages inside of the report");
        assertThat(json(timed.replace("Hardware name: QEMU", "Hardware [   19.854662] name: QEMU")))
                .contains("two messages are in one line");
    }

    /** A message of another processor in a log that does not name who printed a line. */
    @Test
    void aNoticeInsideOfAReportDoesNotCutIt() throws IOException {
        String oom = "cat invoked oom-killer: gfp_mask=0x6202c2(GFP_HIGHUSER), order=0\n";
        String mixed = WARNING.replace(" reed_store", oom + " reed_store");
        assertThat(json(mixed)).contains("\"function\":\"kernfs_fop_write_iter\"");
        assertThat(identities(mixed)).hasSize(2).first().asString().contains("reed_bend");
    }

    @Test
    void aStallWithoutStackIsBlamedOnTheInstruction() throws IOException {
        String log = "BUG: soft lockup - CPU#1 stuck for 22s! [cat:70]\n";
        assertThat(json(log + "RIP: 0010:pond_spin+0x5a/0x2e0 mm/pond.c:172\n"))
                .contains("BUG: soft lockup in pond_spin", "\"file\":\"mm/pond.c\"");
    }

    /** As the kernel of 6.1 answers to the key w, and to m. */
    @Test
    void answersToSysrqAreExplained() throws IOException {
        String blocked =
                """
                sysrq: Show Blocked State
                task:sd_holder       state:D stack:0     pid:55    ppid:2      flags:0x00004000
                Call Trace:
                 <TASK>
                 __schedule+0x70a/0x11e0
                 schedule+0xad/0x1e0
                 schedule_timeout+0x1f4/0x240
                 kt_hold+0x35/0x50 [pond]
                 kthread+0x186/0x1c0
                 </TASK>
                task:sd_waiter       state:D stack:0     pid:56    ppid:2      flags:0x00004000
                Call Trace:
                 __schedule+0x70a/0x11e0
                 __mutex_lock+0x94e/0x1360
                 kt_hold+0x1d/0x30 [pond]
                """;
        assertThat(text(blocked).replaceAll("\\s+", " "))
                .contains(
                        "sd_holder (pid 55), sd_waiter (pid 56) are in state D (uninterruptible)"
                                + " at kt_hold [pond]",
                        "No fault of the kernel was found; 1 notice.");
        assertThat(
                        ExplainRecipe.answer(
                                List.of(
                                        "NMI backtrace for cpu 1",
                                        "CPU: 1 UID: 0 PID: 206 Comm: heron Not tainted 6.12.1 #1",
                                        "RIP: 0010:pond_spin+0x5a/0x2e0",
                                        "NMI backtrace for cpu 0 skipped: idling at x+0x1/0x2")))
                .containsExactly("CPU 1 runs heron (pid 206) in pond_spin", "idle processors: 0");
        String zone = "DMA32 free:FREEkB boost:0kB min:3072kB low:3840kB high:4608kB";
        assertThat(
                        ExplainRecipe.answer(
                                List.of(zone.replace("FREE", "540696"), zone.replace("FREE", "9"))))
                .satisfiesExactly(
                        much -> assertThat(much).contains("540696 kB free, above its watermark"),
                        little ->
                                assertThat(little).contains("9 kB free, below its watermark min"));
    }

    /** Lines that nearly match: the time of each is bounded by its length, not by its square. */
    @Test
    void longLinesThatNearlyMatchTakeNoLongerThanShortOnes() throws IOException {
        List<String> literals;
        try (InputStream in = ExplainRecipe.class.getResourceAsStream("incidents.txt")) {
            literals =
                    new String(in.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> line.startsWith("on "))
                            .map(line -> line.substring(3))
                            .distinct()
                            .toList();
        }
        long shortest = Long.MAX_VALUE;
        long longest = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            shortest = Math.min(shortest, nanos(literals, 1 << 10));
            longest = Math.min(longest, nanos(literals, 1 << 14));
        }
        assertThat(longest).isLessThan(4 * shortest + TimeUnit.SECONDS.toNanos(1));
    }

    private static long nanos(List<String> literals, int length) throws IOException {
        StringBuilder log = new StringBuilder();
        for (String literal : literals) {
            String line = (literal + " [1] ").repeat(length / (literal.length() + 5)) + "\n";
            log.append(line.repeat((1 << 16) / length));
        }
        long begin = System.nanoTime();
        assertThat(text(log.toString())).endsWith("\n");
        return System.nanoTime() - begin;
    }

    /** As a kernel of 5.12 and newer reports it for 32-bit Arm. */
    @Test
    void theLoadOfAnArmThatFailedIsExplained() throws IOException {
        String log =
                """
                8<--- cut here ---
                Unable to handle kernel NULL pointer dereference at virtual address 00000050
                Internal error: Oops: 5 [#1] SMP ARM
                CPU: 0 PID: 28 Comm: heron Not tainted 5.12.0-pond #48
                PC is at pond_fill+0xac/0x134
                pc : [<804ba6e4>]    lr : [<806811f0>]    psr: 20000053
                sp : 90a99cf8  ip : 90a99cc8  fp : 90a99d1c
                r3 : 00000000  r2 : 00000000  r1 : a0000053  r0 : 8fdb3ad8
                Register r3 information: NULL pointer
                Register r0 information: slab kmalloc-512 start 8fdb3ac8 pointer offset 16 size 512
                Stack: (0x90a99cf8 to 0x90a9a000)
                Backtrace:
                [<804ba638>] (pond_fill) from [<804bb7b8>] (pond_probe+0x160/0x3e0)
                 r6:8fdb47d8 r5:82173010 r4:00000000
                Code: e3500000 0affffe6 e3a03000 e1a00004 (e5936050)
                """;
        assertThat(json(log))
                .contains(
                        "0xe5936050: it reads 4 bytes at 0x50, r3 + 0x50; r3 = 0 (NULL)",
                        "r3: NULL pointer",
                        "r0: slab kmalloc-512 start 8fdb3ac8 pointer offset 16 size 512")
                .doesNotContain("r4 is NULL");
        assertThat(json(log.replace("r3 : 00000000", "r3 : 00004000")))
                .contains("the instruction is 0xe5936050\"")
                .doesNotContain("it reads");
        assertThat(json(log.replaceAll("(?m)^", "1.639034] "))).contains("\"seconds\":1.639034");
    }

    /** %p prints the same hash for the same address. */
    @Test
    void anObjectIsFollowedByItsHashedAddress() throws IOException {
        String named =
                WARNING.replace("Modules linked", "reed: bends 00000000d9f1ab42\nModules linked");
        assertThat(text(named + "nothing\n".repeat(60) + named.replace("reed_bend", "reed_cut")))
                .containsOnlyOnce("the object at the hashed address 00000000d9f1ab42 is in #1 too");
        String registers = WARNING.replace("Call Trace", "RAX: 00000000d9f1ab42\nCall Trace");
        assertThat(text(registers + "nothing\n".repeat(60) + registers)).doesNotContain("hashed");
    }
}
