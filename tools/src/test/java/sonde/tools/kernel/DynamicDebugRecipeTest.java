package sonde.tools.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.probe.printk.PrintSite;
import sonde.tools.kernel.DynamicDebugRecipe.PrintRequest;
import sonde.tools.option.OptionException;

class DynamicDebugRecipeTest {
    private static final List<PrintSite> SITES =
            """
            # filename:lineno [module]function flags format
            init/main.c:1355 [main]run_init_process =p "  with arguments:\\n"
            drivers/usb/core/hub.c:4921 [usbcore]hub_port_init =_ "%s: bad \\"x\\"\\n"
            drivers/usb/core/hub.c:5100 [usbcore]hub_port_connect =pmf "new\\n"
            drivers/gpu/drm/drm_ioc32.c:10 [drm]compat =_ "[drm] x\\n" class:DRM_UT_CORE
            """
                    .lines()
                    .flatMap(line -> PrintSite.parse(line).stream())
                    .toList();

    @TempDir private Path root;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "module usbcore            | 4921 5100",
                "module usb-*              | 4921 5100",
                "usbcore                   | 4921 5100",
                "file hub.c                | 4921 5100",
                "file drivers/usb/*        | 4921 5100",
                "file usb/core/hub.c       | ''",
                "file hub.c line 5000-     | 5100",
                "file hub.c line -4921     | 4921",
                "func hub_port_????        | 4921",
                "format arguments          | 1355",
                "format ^new               | 5100",
                "format *[drm]*            | 10",
                "hub.c                     | 4921 5100",
                "run_init_process          | 1355",
            })
    void selectionsAreTheKernels(String words, String lines) {
        PrintSelection selection =
                PrintSelection.of(List.of(words.strip().replace("usb-*", "usb*").split(" ")));
        String found =
                String.join(
                        " ",
                        SITES.stream()
                                .filter(selection.test())
                                .map(site -> Integer.toString(site.line()))
                                .toList());
        assertThat(found).isEqualTo(lines);
    }

    @Test
    void badWordsAreRefused() {
        assertThatThrownBy(() -> PrintSelection.of(List.of("file")))
                .isInstanceOf(OptionException.class);
        assertThatThrownBy(() -> PrintSelection.of(List.of("line", "x")))
                .isInstanceOf(OptionException.class);
        assertThatThrownBy(() -> new PrintRequest(List.of("a"), true, "p; module * +p"))
                .isInstanceOf(OptionException.class);
    }

    @Test
    void whoMissesAMessageIsToldWhy() throws IOException {
        KernelFiles files = new KernelFiles(root);
        assertThat(notes(files, "module", "gone")).contains("modprobe gone dyndbg=+p");
        Files.createDirectories(root.resolve("sys/module/gone"));
        assertThat(notes(files, "module", "gone")).contains("there without such a message");
        Files.createDirectories(root.resolve("proc/sys/kernel"));
        Files.writeString(root.resolve("proc/sys/kernel/printk"), "4\t4\t1\t7\n");
        assertThat(notes(files, "hub.c"))
                .startsWith("2 of 4 debug messages match, 1 of them are on")
                .contains("not the console, whose level is 4");
        Files.writeString(root.resolve("proc/sys/kernel/printk"), "8\t4\t1\t7\n");
        assertThat(notes(files, "hub.c")).contains("they reach dmesg, and the console");
    }

    private static String notes(KernelFiles files, String... words) {
        PrintSelection selection = PrintSelection.of(List.of(words));
        List<PrintSite> matching = SITES.stream().filter(selection.test()).toList();
        return String.join("\n", DynamicDebugRecipe.notes(files, SITES, matching, selection));
    }
}
