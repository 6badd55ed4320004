package sonde.bpf.feature;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.feature.FeatureAnswer.UnknownSupport;

final class FeatureFileTest {
    @Test
    void whatIsNotWholeIsAskedAgain(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("features");
        assertThat(BpfFeatures.read(file)).isEmpty();
        String whole = "limit x\tyes\t\nmap_type y\tno\tEINVAL\nhelper z\tcannot tell\twhy\nend\n";
        Files.writeString(file, whole);
        assertThat(BpfFeatures.read(file))
                .isEqualTo(
                        Map.of(
                                "limit x", new FeatureAnswer.Yes(),
                                "map_type y", new FeatureAnswer.No("EINVAL"),
                                "helper z", new UnknownSupport("why")));
        for (int cut = 0; cut < whole.length() - 4; cut++) {
            Files.writeString(file, whole.substring(0, cut));
            assertThat(BpfFeatures.read(file)).isEmpty();
        }
        Random random = new Random(7);
        for (int i = 0; i < 500; i++) {
            byte[] bytes = whole.getBytes(java.nio.charset.StandardCharsets.UTF_8);
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            Files.write(file, bytes);
            assertThat(BpfFeatures.read(file)).hasSizeLessThanOrEqualTo(4);
        }
    }
}
