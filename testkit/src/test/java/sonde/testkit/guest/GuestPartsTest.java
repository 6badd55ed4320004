package sonde.testkit.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.testkit.guest.GuestTests.Result;
import sonde.testkit.guest.GuestTests.Status;

final class GuestPartsTest {
    @Test
    void kernelsArePinned() throws Exception {
        for (String series : List.of("6.1", "6.12")) {
            GuestKernel kernel = GuestKernel.of(series);
            assertThat(kernel.release()).startsWith(series + ".");
            assertThat(kernel.sha256()).matches("[0-9a-f]{64}");
        }
        assertThatThrownBy(() -> GuestKernel.of("2.4")).hasMessageContaining("2.4.package");
    }

    @Test
    void resultsSurviveTheirLine() {
        Result result = new Result("a/b()", Status.FAILED, 12, "tab\t, back\\slash, \\n\nline\n");
        String line = GuestMain.format(result);
        assertThat(line.lines()).hasSize(1);
        assertThat(GuestMain.parse(line)).isEqualTo(result);
    }

    @Test
    void stepsAreQuotedForTheShell() {
        Step step = new Step("say", List.of("echo", "it's $HOME"), 5);
        assertThat(step.script()).isEqualTo("step say 5 'echo' 'it'\\''s $HOME'\n");
    }

    /** Two guests that boot at the same time on a machine where nothing is cached yet. */
    @Test
    void whatTwoWantAtOnceIsMadeOnce(@TempDir Path dir) throws Exception {
        AtomicInteger made = new AtomicInteger();
        CountDownLatch both = new CountDownLatch(2);
        Callable<Path> want =
                () -> {
                    GuestCache cache = new GuestCache(dir);
                    both.countDown();
                    both.await();
                    return cache.once(
                            "kernel",
                            into -> {
                                Thread.sleep(50);
                                Files.writeString(
                                        into.resolve("vmlinuz"), "" + made.incrementAndGet());
                            });
                };
        try (ExecutorService two = Executors.newFixedThreadPool(2)) {
            for (Future<Path> folder : two.invokeAll(List.of(want, want))) {
                assertThat(folder.get().resolve("vmlinuz")).hasContent("1");
            }
        }
        assertThat(made).hasValue(1);
    }

    @Test
    void theInitramfsIsAnArchiveOfMultiplesOfFour(@TempDir Path dir) throws Exception {
        Path modules = Files.createDirectory(dir.resolve("modules"));
        Files.writeString(modules.resolve("00-one.ko"), "12345");
        Path busybox = Files.writeString(dir.resolve("busybox"), "box");
        Path archive = dir.resolve("initramfs");
        Initramfs.write(archive, busybox, modules);
        String text = Files.readString(archive, StandardCharsets.ISO_8859_1);
        assertThat(text.length() % 4).isZero();
        int at = text.indexOf("modules/00-one.ko\0");
        // The name begins 110 bytes behind the header's begin, the content on the next word.
        assertThat(text.substring(at - 110, at - 104)).isEqualTo("070701");
        assertThat((at - 110) % 4).isZero();
        assertThat(text.substring(at + 18, at + 23)).isEqualTo("12345");
        assertThat(text).contains("TRAILER!!!");
    }
}
