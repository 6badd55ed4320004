package sonde.recording.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sonde.recording.bundle.JavaThreads.JavaLock;
import sonde.recording.bundle.JavaThreads.JavaThread;

final class JavaThreadsTest {
    /** As JDK 25 prints it, and with the hexadecimal nid of JDK 17 and earlier. */
    private static final String DUMP =
            """
            2026-11-24 07:19:25
            Full thread dump OpenJDK 64-Bit Server VM (25.0.3+9-LTS mixed mode, sharing):

            "holder" #21 [31518] prio=5 os_prio=0 cpu=0.12ms tid=0x00007f4fb40dc770 nid=31518 waiting
            	at java.lang.Thread.sleep(java.base@25.0.3/Thread.java:540)
            	at Stuck.hold(Stuck.java:4)
            	- locked <0x000000069ec16fa8> (a java.lang.Object)
            	at Stuck.main(Stuck.java:8)

               Locked ownable synchronizers:
            	- <0x000000069ec50c00> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)

            "a \\"quoted\\" #name" #22 prio=5 os_prio=0 tid=0x00007f4fb40e0220 nid=0x7b22 waiting for monitor
               java.lang.Thread.State: BLOCKED (on object monitor)
            	at Stuck.update(Stuck.java:5)
            	- waiting to lock <0x000000069ec16fa8> (a java.lang.Object)

            "parked" #23 [31523] prio=5 tid=0x00007f4fb40e0220 nid=31523 waiting on condition
            	at jdk.internal.misc.Unsafe.park(java.base@25.0.3/Native Method)
            	- parking to wait for  <0x000000069ec50c00> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
            	at Stuck.lambda$main$2(Stuck.java:11)

            "Finalizer" #13 [31510] daemon prio=8 tid=0x00007f4fb40bde00 nid=31510 in Object.wait()
            	at java.lang.Object.wait0(java.base@25.0.3/Native Method)
            	- waiting on <0x000000069ec02358> (a java.lang.ref.ReferenceQueue$Lock)
            	at java.lang.ref.ReferenceQueue.remove(java.base@25.0.3/ReferenceQueue.java:215)
            	- locked <0x000000069ec02358> (a java.lang.ref.ReferenceQueue$Lock)
            """;

    private static JavaThread thread(JavaThreads dump, int tid) {
        return dump.threads().stream().filter(one -> one.tid() == tid).findFirst().orElseThrow();
    }

    @Test
    void whoWaitsForWhatAndWhoHasIt() {
        JavaThreads dump = JavaThreads.parse(7, DUMP);
        assertThat(dump.threads()).hasSize(4);
        JavaThread blocked = thread(dump, 0x7b22);
        assertThat(blocked.place()).isEqualTo("Stuck.update (Stuck.java:5)");
        JavaLock monitor = new JavaLock(0x69ec16fa8L, "java.lang.Object");
        assertThat(blocked.waitsFor()).isEqualTo(monitor);
        assertThat(dump.holder(monitor)).isEqualTo(thread(dump, 31518));
        assertThat(thread(dump, 31518).place()).isEqualTo("Stuck.hold (Stuck.java:4)");
        JavaLock parked = thread(dump, 31523).waitsFor();
        assertThat(parked).isNotNull();
        assertThat(dump.holder(parked)).isEqualTo(thread(dump, 31518));
    }

    /** Object.wait has given the monitor away, though the frame that took it says "locked". */
    @Test
    void whoIsNotifiedHoldsNothing() {
        JavaThread waits = thread(JavaThreads.parse(7, DUMP), 31510);
        assertThat(waits.held()).isEmpty();
        assertThat(waits.waitsFor()).isNull();
        assertThat(waits.place()).isEmpty();
    }

    @Test
    void foreignTextIsNoThread() {
        assertThat(
                        JavaThreads.parse(7, "\"x\" #1 nid=99999999999999999999 \n\tat a(b)\n")
                                .threads())
                .hasSize(1);
        assertThat(JavaThreads.parse(7, "no dump\n\t- locked <0xzz> (a x)").threads()).isEmpty();
        assertThat(JavaThreads.pidOf(JavaThreads.partName(12, 3))).isEqualTo(12);
        assertThat(JavaThreads.pidOf("perf-12.map")).isEqualTo(-1);
    }
}
