package sonde.bpf.feature;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FeatureFileTest {
    @Test
    void whatIsNotWholeIsAskedAgain(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("features");
        assertThat(Features.read(file)).isEmpty();
        String whole = "limit x\tyes\t\nmap_type y\tno\tEINVAL\nhelper z\tcannot tell\twhy\nend\n";
        Files.writeString(file, whole);
        assertThat(Features.read(file))
                .isEqualTo(
                        Map.of(
                                "limit x", new Answer.Yes(),
                                "map_type y", new Answer.No("EINVAL"),
                                "helper z", new Answer.Unknown("why")));
        for (int cut = 0; cut < whole.length() - 4; cut++) {
            Files.writeString(file, whole.substring(0, cut));
            assertThat(Features.read(file)).isEmpty();
        }
        Random random = new Random(7);
        for (int i = 0; i < 500; i++) {
            byte[] bytes = whole.getBytes(java.nio.charset.StandardCharsets.UTF_8);
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            Files.write(file, bytes);
            assertThat(Features.read(file)).hasSizeLessThanOrEqualTo(4);
        }
    }
}
