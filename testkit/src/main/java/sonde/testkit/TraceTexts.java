package sonde.testkit;

import java.util.LinkedHashMap;
import java.util.Map;

/** A small text of each kind, as its tool prints it. */
public final class TraceTexts {
    private TraceTexts() {}

    public static final String TRACE =
            """
            # tracer: nop
            #
            # entries-in-buffer/entries-written: 4/9   #P:2
            #
            #                                _-----=> irqs-off/BH-disabled
            #           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
            #              | |         |   |||||     |         |
                          sh-115     [001] dNh2.   231.159254: sched_switch: prev_comm=sh prev_pid=115 prev_prio=120 prev_state=S ==> next_comm=a b next_pid=7 next_prio=120
                      <idle>-0       [000] .....   231.159373: sched_waking: comm=a b pid=7 prio=120 target_cpu=001
             CPU:1 [LOST 12 EVENTS]
                 my-comm-7       [001] d..1.   231.159400: kmalloc: call_site=f+0x1/0x2 ptr=00000000abcdef01 bytes_req=16 node=-1 gfp_flags=GFP_KERNEL|__GFP_ZERO
                 my-comm-7       [001] d..1.   231.159401: <stack trace>
             => kmalloc
             => do_syscall_64
                 my-comm-7       [001] d..1.   231.159402: tracing_mark_write: B|7|draw
            """;

    public static final String TRACE_NO_HEADER =
            """
                      <idle>-0     [000] d..2  1136.097253: cpu_idle: state=4294967295 cpu_id=0
                      chrome-2804  [003] d..3  1136.097350: sched_switch: prev_comm=chrome prev_pid=2804 prev_prio=112 prev_state=R+ ==> next_comm=swapper/3 next_pid=0 next_prio=120
            """;

    public static final String LATENCY =
            """
            # tracer: irqsoff
            #
            # irqsoff latency trace v1.1.5 on 6.1.0
            # --------------------------------------------------------------------
            # latency: 259 us, #3/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
            #    -----------------
            #    | task: my task-6143 (uid:1000 nice:-5 policy:1 rt_prio:40)
            #    -----------------
            #  => started at: __lock_task_sighand
            #  => ended at:   _raw_spin_unlock
            #
                  ps-6143    2d...    0us!: trace_hardirqs_off <-__lock_task_sighand
            <...>-59         3dN.1  259us+: trace_hardirqs_on <-_raw_spin_unlock
                  ps-6143    2d..1  306us : <stack trace>
             => trace_hardirqs_on_caller
             => system_call_fastpath
            """;

    public static final String GRAPH =
            """
            # tracer: function_graph
            #
            # CPU  DURATION                  FUNCTION CALLS
            # |     |   |                     |   |   |   |
             0)               |  sys_open() {
             0)   1.382 us    |    getname();
             ------------------------------------------
             1)  migration/1-11  =>   bash-123
             ------------------------------------------

             1) + 49.370 us   |  d_free();
             0)               |    /* sched_wakeup: comm=x pid=9 prio=1 target_cpu=0 */
             0)               |    /* 7 of 9 done */
             0) ! 124.500 us  |  } /* sys_open */
            """;

    public static final String REPORT =
            """
            version = 6
            CPU 3 is empty
            cpus=6
                          ls-4734  [002] 106439.675591000: sched_switch:         trace-cmd:4734 [120] R ==> migration/2:18 [0]
                 migration/2-18    [002] 106439.675613123: sched_wakeup:         sshd:2450 [120] success=1 CPU:003
            CPU:2 [7 EVENTS DROPPED]
                          ls-4734  [002] 106439.675700: sys_enter:            NR 257 (ffffff9c, 7f0012, 80000, 0, 0, 0)
                          ls-4734  [002] 106439.675800: sys_exit:             NR 257 = -2
            inst1:                ls-4734  [002] 106439.675650: irq_handler_entry:    irq=5 name=eth0
            """;

    public static final String SYSTRACE =
            """
            <!DOCTYPE html>
            <html><head><title>Android System Trace</title></head><body>
              <script class="trace-data" type="application/text">
            # tracer: nop
            RenderThread-1143  (  611) [004] ...1 514769.085985: tracing_mark_write: E
            systemui-611   (  611) [001] d..5 514769.086090: sched_wakeup: comm=Binder_5 pid=679 prio=120 success=1 target_cpu=001 state=W
              </script>
            </body></html>
            """;

    public static final String PERF =
            """
            # ========
            # captured on: Fri Nov 20 18:51:44 2026
            # arch : x86_64
            #
            java 12/34 [003] 264874.155353:    1001001                cpu-clock:\s
            \tffffffff810d47be smp_call+0x1e ([kernel.kallsyms])
            \t    7f81ee50c5d7 std::vector<int, (anon)>::push (/usr/lib/libfoo.so)
            \t    7f81ee50c5d8 [unknown] (/tmp/perf-12.map)

            V8 Worker 4 99 [000] 264874.155400:    1001001                cpu-clock:\s
            \t    55b631347993 is_prime (/usr/bin/stress)

            """;

    public static final String PERF_TRACEPOINTS =
            """
                      swapper     0 [001]  5.000001: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=12 next_prio=120
                           sh    12 [001]  5.000101: raw_syscalls:sys_enter: NR 0 (3, 7ff, 1000, 0, 0, 0)
                           sh    12 [001]  5.000201: raw_syscalls:sys_exit: NR 0 = 16
                           sh    12 [001]  5.000301: cycles:u:  ffffffff81 do_it+0x4 ([kernel.kallsyms])
            """;

    public static final String FOLDED =
            """
            java;start_thread;[libjvm.so];run_[j];do_syscall_64_[k] 31
            java;start_thread 6
            sh;main;a b(c) 1
            """;

    public static final String BLOCKS =
            """
            CPU     ID                    FUNCTION:NAME
              0  64091                        :tick-60s\s

                          genunix`kmem_cache_free+0xce
                          unix`sys_syscall+0x17a
                            3

                          unix`idle+0x1
                           12
            """;

    public static final String STRACE =
            """
            73 1795213887.442298 execve("/usr/bin/sh", ["sh", "-c", "a) = 5"], 0x7ffe /* 39 vars */) = 0 <0.000227>
            73 1795213887.443065 access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory) <0.000037>
            73 1795213887.443100 clone(child_stack=NULL, flags=SIGCHLD) = 74 <0.000100>
            74 1795213887.448079 read(0,  <unfinished ...>
            73 1795213887.448101 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f418a697000 <0.000038>
            74 1795213887.449110 <... read resumed>"\\"x", 10) = 2 <0.001031>
            73 1795213887.449200 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=74} ---
            73 1795213887.449300 exit_group(1) = ?
            73 1795213887.449400 +++ exited with 1 +++
            """;

    public static final String STRACE_TERMINAL =
            """
            23:59:59.900000 (+     0.000000) openat(AT_FDCWD</tmp>, "x", O_RDONLY) = 3</tmp/x(y>
            23:59:59.950000 (+     0.050000) clone(child_stack=NULLstrace: Process 5 attached
            , flags=SIGCHLD) = 5
            [pid     5] 00:00:00.000001 (+     0.050001) getpid() = 5
            [pid     4] 00:00:00.100000 (+     0.099999) write(1</dev/pts/0>, "hello\\n", 6hello
            ) = 6
            """;

    public static final String DMESG =
            """
            [    0.000000] Linux version 6.1.0 (gcc) #1 SMP
            [    1.314755][   T69] drop_caches: 3
            [ 7373.144341][    C1] NOTICE: Automounting
            """;

    public static final String KMSG =
            """
            5,0,0,-;Linux version 6.18
            30,339,5140900,-;systemd[1]: started
             SUBSYSTEM=usb
             DEVICE=+usb:1-1
            """;

    public static final String HIST =
            """
            # event histogram
            #
            # trigger info: hist:keys=call_site.sym-offset,common_pid.execname:vals=hitcount,bytes_req:sort=hitcount:size=2048 [active]
            #

            { call_site: [ffffffff9d9cdbe0] tracing_map_init+0x90/0x250             , common_pid: a, b            [      5767] } hitcount:       6144  bytes_req:     311296
            { call_site: [ffffffffc03950af] p9_fcall_init+0x2f/0x80 [9pnet]         , common_pid: sh              [       115] } hitcount:          2  bytes_req:         64
            \tmax:         65  next_comm: ksoftirqd/0                       prev_pid:          0

            Totals:
                Hits: 6146
                Entries: 2
                Dropped: 5

            # event histogram
            #
            # trigger info: hist:keys=stacktrace,lat.log2:vals=hitcount:sort=hitcount:size=2048 [active]
            #

            { stacktrace:
                     __schedule+0x4f8/0xa00
                     p9_client_rpc+0x14a/0x430 [9pnet]
            , lat: ~ 2^9  } hitcount:          3

            Totals:
                Hits: 3
            """;

    public static final String KPROBE_PROFILE =
            """
              myopen                                                    95               7
              a_name_that_is_longer_than_forty_four_columns_is               2137               0
            """;

    public static final String UPROBE_PROFILE =
            """
              /usr/bin/wl uwl                                                        4
              /opt/my app/x f                                                          0
            """;

    /** By a name for messages: the text and its format. */
    public static Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put(TRACE, "FTRACE");
        all.put(TRACE_NO_HEADER, "FTRACE");
        all.put(LATENCY, "FTRACE");
        all.put(LATENCY.replaceAll("(?m)^#.*\n", ""), "FTRACE");
        all.put(GRAPH, "FTRACE");
        all.put(GRAPH.replaceAll("(?m)^#.*\n", ""), "FTRACE");
        all.put(REPORT, "FTRACE");
        all.put(SYSTRACE, "SYSTRACE");
        all.put(PERF, "PERF_SCRIPT");
        all.put(PERF_TRACEPOINTS, "PERF_SCRIPT");
        all.put(FOLDED, "FOLDED");
        all.put(BLOCKS, "STACK_BLOCKS");
        all.put(STRACE, "STRACE");
        all.put(STRACE_TERMINAL, "STRACE");
        all.put(HIST, "HISTOGRAM");
        all.put(KPROBE_PROFILE, "PROBE_PROFILE");
        all.put(UPROBE_PROFILE, "PROBE_PROFILE");
        all.put(DMESG, "DMESG");
        all.put(KMSG, "DMESG");
        all.put("kern  :info  : [    1.335013] EXT4-fs (vda): mounted\n", "DMESG");
        all.put("<6>[    1.335013] EXT4-fs (vda): mounted\n", "DMESG");
        all.put("[Fri Nov 20 18:51:44 2026] EXT4-fs (vda): mounted 3\n", "DMESG");
        all.put("2026-11-20T20:54:36,144341+00:00 usb 1: new device\n", "DMESG");
        all.put("Nov 20 20:54:36 host kernel: usb 1-1: new device\n", "DMESG");
        all.put("[Nov20 20:54] usb 1-1: new device\n[  +0.020] usb 2: x\n", "DMESG");
        return all;
    }
}
