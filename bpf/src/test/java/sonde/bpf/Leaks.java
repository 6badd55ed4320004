package sonde.bpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import sonde.bpf.call.BpfAttr;
import sonde.bpf.call.KernelObject;

/** What this process has open of BPF and perf, and how many links the machine has. */
public record Leaks(Map<String, Integer> descriptors, int links) {
    /** As it is now. */
    public static Leaks now() throws IOException {
        Map<String, Integer> kinds = new TreeMap<>();
        try (Stream<Path> list = Files.list(Path.of("/proc/self/fd"))) {
            for (Path path : list.toList()) {
                try {
                    String target = Files.readSymbolicLink(path).toString();
                    if (target.startsWith("anon_inode:")) {
                        kinds.merge(target, 1, Integer::sum);
                    }
                } catch (IOException e) {
                    // The descriptor of the listing itself is gone.
                }
            }
        }
        return new Leaks(kinds, KernelObject.ids(BpfAttr.LINK_GET_NEXT_ID).size());
    }

    /** Fails when something is open that was not. */
    public void assertNothingLeftSince() throws IOException {
        Leaks after = now();
        assertThat(after.descriptors()).isEqualTo(descriptors);
        assertThat(after.links()).isLessThanOrEqualTo(links);
    }
}
