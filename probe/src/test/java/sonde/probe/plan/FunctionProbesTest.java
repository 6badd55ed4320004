package sonde.probe.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FunctionProbesTest {
    @TempDir private Path folder;

    @Test
    void aClosedListOfFunctionsIsNotTakenForAMissingOption() throws Exception {
        Path list = folder.resolve("available_filter_functions");
        assertThat(FunctionProbes.whyNoTracer(list)).contains("built without CONFIG_");
        Files.writeString(list, "");
        assertThat(FunctionProbes.whyNoTracer(list)).isEqualTo(list + " is empty");
        Files.writeString(list, "vfs_read\n");
        assertThat(FunctionProbes.whyNoTracer(list)).isEmpty();
        // read(2) of a folder fails, as open(2) does under lockdown
        assertThat(FunctionProbes.whyNoTracer(folder)).isEqualTo(folder + ": Is a directory");
    }
}
