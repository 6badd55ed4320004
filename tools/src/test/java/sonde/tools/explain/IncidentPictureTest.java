package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;

/**
 * Cycles of locks, chains of waiting tasks, memory, stalls and leaks, as the kernel prints them.
 */
class IncidentPictureTest {
    private static String text(String log) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] bytes = log.getBytes(StandardCharsets.UTF_8);
        new ExplainRecipe(ExplainOptions.USUAL, null)
                .of(List.of(new LogSource("log", null, new ByteArrayInputStream(bytes))))
                .rows()
                .writeTo(out, ListingForm.TEXT);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theCycleOfThreeLocksIsDrawn() throws IOException {
        String log =
                """
                WARNING: possible circular locking dependency detected
                6.6.9-pond #1 Not tainted
                ------------------------------------------------------
                heron/301 is trying to acquire lock:
                ffff888003cf4210 (reed){+.+.}-{3:3}, at: heron_fish+0x21/0x39 [pond]
                but task is already holding lock:
                ffff888003cf4290 (fish){+.+.}-{3:3}, at: heron_fish+0x11/0x39 [pond]
                the existing dependency chain (in reverse order) is:
                -> #2 (frog){+.+.}-{3:3}:
                       __mutex_lock+0x153/0x1360
                       frog_jump+0x21/0x39 [pond]
                -> #1 (fish){+.+.}-{3:3}:
                       __mutex_lock+0x153/0x1360
                       frog_swim+0x21/0x39 [pond]
                -> #0 (reed){+.+.}-{3:3}:
                       __lock_acquire+0x1c5e/0x3340
                       __mutex_lock+0x153/0x1360
                       heron_fish+0x21/0x39 [pond]
                1 lock held by heron/301:
                 #0: ffff888003cf4290 (fish){+.+.}-{3:3}, at: heron_fish+0x11/0x39 [pond]
                stack backtrace:
                 heron_fish+0x21/0x39 [pond]
                """;
        assertThat(text(log))
                .contains(
                        """
                            Cycle of locks:
                                reed
                                  |  frog was taken while it was held, in frog_jump [pond]
                                  v
                                frog
                                  |  fish was taken while it was held, in frog_swim [pond]
                                  v
                                fish
                                  |  held now by heron/301; reed is wanted, in heron_fish [pond]: this closes the cycle
                                  v
                                reed
                        """);
    }

    private static String hung(String task, int pid, String owner) {
        return """
        INFO: task %s:%d blocked for more than 122 seconds.
              Not tainted 6.16.0-pond #1
        task:%s state:D stack:13432 pid:%d ppid:1 flags:0x00000002
        Call Trace:
         __schedule+0x70a/0x11e0
         schedule_preempt_disabled+0x27/0xa0
         __mutex_lock+0x94e/0x1360
         %s_swim+0x1d/0x30 [pond]
        INFO: task %s:%d is blocked on a mutex likely owned by task %s.
        """
                .formatted(task, pid, task, pid, task, task, pid, owner);
    }

    @Test
    void hungTasksThatWaitForEachOtherAreADeadlock() throws IOException {
        assertThat(text(hung("heron", 7, "frog:8") + hung("frog", 8, "heron:7")))
                .contains("waited for more than 122 seconds for a mutex that frog:8 holds")
                .contains(
                        "a deadlock: frog/8 waits for a mutex of heron/7; heron/7 waits for a "
                                + "mutex");
    }

    @Test
    void theEndOfAChainIsNamed() throws IOException {
        String locks =
                """
                Showing all locks held in the system:
                1 lock held by heron/7:
                 #0: ffff888003cf4290 (reed){+.+.}-{3:3}, at: heron_swim+0x11/0x39 [pond]
                1 lock held by frog/8:
                 #0: ffff888003cf4290 (reed){+.+.}-{3:3}, at: frog_swim+0x11/0x39 [pond]
                """;
        String sleeps =
                hung("heron", 7, "x")
                        .replaceAll("(?m)^INFO: task heron:7 is.*\n", "")
                        .replace(" __mutex_lock+0x94e/0x1360\n", " msleep+0x52/0x60\n")
                        .replace(" schedule_preempt_disabled+0x27/0xa0\n", "");
        String waits = hung("frog", 8, "x").replaceAll("(?m)^INFO: task frog:8 is.*\n", "");
        assertThat(text(sleeps + waits + locks))
                .contains(
                        "heron/7 holds reed, taken in heron_swim",
                        "frog/8 waits for reed, wanted in frog_swim",
                        "frog/8 waits for reed of heron/7; heron/7 sleeps in heron_swim [pond] "
                                + "(#1)");
    }

    @Test
    void theTasksAreSortedByMemoryAndTheChoiceIsExplained() throws IOException {
        StringBuilder log =
                new StringBuilder(
                        """
                        heron invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
                        CPU: 1 PID: 276 Comm: heron Not tainted 6.8.0-pond #1
                        Call Trace:
                         dump_header+0x4c/0x22b
                        Mem-Info:
                        active_anon:57413 inactive_anon:119402 isolated_anon:0
                         slab_reclaimable:4100 slab_unreclaimable:120000
                        Free swap  = 0kB
                        Total swap = 102400kB
                        327680 pages RAM
                        Unreclaimable slab info:
                        Name                      Used          Total
                        kmalloc-64            400000KB     410000KB
                        Tasks state (memory values in pages):
                        [  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name
                        """);
        for (int i = 0; i < 900; i++) {
            log.append(
                    ("[%7d]     0 %5d     5385     %d     10 0 0    77824        0             0 "
                                    + "frog %d\n")
                            .formatted(1000 + i, 1000 + i, 10 + i, i));
        }
        log.append(
                """
                [    300]     0   300    90000    80000    80000 0 0   877824        5         -1000 the king
                [    276]     0   276     5385     25600    25600 0 0    77824        0           500 heron
                oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=heron,pid=276,uid=0
                Out of memory: Killed process 276 (heron) total-vm:21540kB, anon-rss:102400kB, file-rss:0kB, shmem-rss:0kB, UID:0
                """);
        assertThat(text(log.toString()))
                .contains(
                        "the whole machine has no free memory",
                        "of 1280 MB memory: anonymous and shared memory 691 MB, unreclaimable "
                                + "slab 469 MB",
                        "more than a third is the kernel's own slab memory",
                        "kmalloc-64 400 MB",
                        "0 kB of 100 MB swap are free",
                        "heron (pid 276) was chosen with 100 MB and oom_score_adj 500; 1 of 902 "
                                + "tasks had",
                        "the king (-1000)",
                        "     300      313 MB       20 kB   -1000  the king\n"
                                + "             276      100 MB        0 kB     500  heron  <- "
                                + "killed\n");
    }

    @Test
    void aStallSaysWhichProcessorDoesWhat() throws IOException {
        String log =
                """
                rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
                rcu: \t1-....: (5249 ticks this GP) idle=1234/1/0x4000000000000000 softirq=10/10 fqs=2600
                rcu: \t2-...!: (0 ticks this GP) idle=1234/1/0x4000000000000000 softirq=10/10 fqs=0
                rcu: \t3-...0: (3 GPs behind) idle=1234/1/0x4000000000000000 softirq=10/10 fqs=0
                rcu: \tTasks blocked on level-0 rcu_node (CPUs 0-3): P2914/1:b..l
                rcu: \t(detected by 0, t=5252 jiffies, g=1281, q=7 ncpus=4)
                Sending NMI from CPU 0 to CPUs 1:
                NMI backtrace for cpu 1
                CPU: 1 PID: 77 Comm: heron Not tainted 6.6.9-pond #1
                RIP: 0010:native_queued_spin_lock_slowpath+0x64/0x2a0
                Call Trace:
                 _raw_spin_lock+0x30/0x40
                 heron_fish+0x21/0x39 [pond]
                rcu: rcu_preempt kthread starved for 5250 jiffies! g1281 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=2
                """;
        assertThat(text(log).replaceAll("\\s+", " "))
                .contains(
                        "CPU 1 runs and takes timer interrupts (5249 ticks in this grace period)",
                        "CPU 2 answers no interrupts (0 timer ticks in this grace period)",
                        "CPU 3 has missed 3 grace periods",
                        "task 2914 was preempted inside of a read-side critical section",
                        "the processor waits for a spinlock, in heron_fish [pond]",
                        "the thread rcu_preempt got no processor for 5250 jiffies (it was on CPU "
                                + "2)");
    }

    @Test
    void leaksOfOnePlaceAreOneIncident() throws IOException {
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < 5; i++) {
            log.append(
                    """
                    unreferenced object 0xffff888003cf4%d00 (size %d):
                      comm "heron", pid %d, jiffies 4294948128 (age %d.100s)
                      hex dump (first 32 bytes):
                        00 00 00 00
                      backtrace:
                        [<00000000d0f4b1c5>] kmalloc_trace+0x26/0xc0
                        [<00000000d0f4b1c6>] %s+0x26/0xc0 [pond]
                    """
                            .formatted(
                                    i,
                                    i == 2 ? 8 : 64,
                                    70 + i,
                                    10 + i,
                                    i == 2 ? "frog" : "heron_fish"));
        }
        assertThat(text(log.toString()))
                .containsSubsequence(
                        "#1  memory leak in heron_fish\n",
                        "Nothing points to 4 objects that one place allocated: 256 bytes",
                        "#3  memory leak in frog\n",
                        "the 8 bytes at 0xffff888003cf4200",
                        "2 faults of the kernel")
                .contains("heron/70, heron/71, heron/73, heron/74; they are 10 to 14 s old");
    }
}
