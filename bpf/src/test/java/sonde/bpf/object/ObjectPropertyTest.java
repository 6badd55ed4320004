package sonde.bpf.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.bpf.core.CoreRelocator;
import sonde.bpf.core.TargetTypes;
import sonde.testkit.Property;

/** Objects that are cut off or have wrong bits: each is read, or refused by a typed exception. */
final class ObjectPropertyTest {
    private static final int RUNS = 1500;

    private static byte[] damaged(byte[] object, RandomGenerator random) {
        byte[] bytes = object.clone();
        if (random.nextInt(4) == 0) {
            return Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        int flips = 1 + random.nextInt(8);
        for (int i = 0; i < flips; i++) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return bytes;
    }

    /** Everything that is done without a kernel. */
    private static void use(List<byte[]> objects) throws Exception {
        var named = new java.util.LinkedHashMap<String, byte[]>();
        for (byte[] object : objects) {
            named.put("object" + named.size() + ".bpf.o", object);
        }
        try {
            ObjectFile read = ObjectFile.of(named);
            Btf btf = Btf.read(Input.of("none", java.lang.foreign.MemorySegment.ofArray(EMPTY)));
            CoreRelocator relocator =
                    new CoreRelocator(
                            id -> ObjectLoader.type(read.types(), id), TargetTypes.of(btf));
            for (ObjectFunction function : read.functions().values()) {
                FunctionFit fit = FunctionFit.of(function, relocator, read.place());
                assertThat(fit.words()).hasSameSizeAs(function.words());
            }
            for (ObjectProgram program : read.programs()) {
                ProgramAssembly assembly =
                        ProgramAssembly.of(read, read.entry(program.name()), java.util.Map.of());
                assertThat(assembly.functionRecords().length % 8).isZero();
            }
        } catch (ObjectException e) {
            assertThat(e.place().object()).isNotEmpty();
        }
    }

    /** A BTF without types: header and an empty string. */
    private static final byte[] EMPTY = {
        (byte) 0x9f,
        (byte) 0xeb,
        1,
        0,
        24,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        0
    };

    @Test
    void damagedObjectsAreReadOrRefused() throws Exception {
        for (String name : List.of("parts", "core", "kinds")) {
            byte[] object = Files.readAllBytes(Objects.of(name));
            use(List.of(object));
            Property.forAll(4711, RUNS, random -> use(List.of(damaged(object, random))));
        }
    }

    @Test
    void damagedObjectsAreLinkedOrRefused() throws Exception {
        byte[] a = Files.readAllBytes(Objects.of("link_a"));
        byte[] b = Files.readAllBytes(Objects.of("link_b"));
        use(List.of(a, b));
        Property.forAll(815, RUNS, random -> use(List.of(damaged(a, random), damaged(b, random))));
    }
}
