package sonde.lang.probes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.bpf.usdt.UsdtLocation;
import sonde.bpf.usdt.UsdtNotes;
import sonde.bpf.usdt.UsdtNotes.MarkerName;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.symbol.files.LdSoCache;
import sonde.sys.Arch;
import sonde.testkit.ElfWriter;
import sonde.testkit.Property;

/**
 * Whatever the bytes and texts are, there is an answer or an error of the kind that is promised.
 */
final class ProbesPropertyTest {
    private static final List<String> TEXTS =
            List.of(
                    "a=uprobe:/bin/bash@readline.c:362:5",
                    "uprobe:\"/x\":cpp:\"a::b(int)\"+0x10",
                    "kprobe:kvm:x86_emulate_insn+4",
                    "usdt:/x:y:\"\\\"z\\\"\"",
                    "interval:1_00e2ms",
                    "watchpoint:0x1000:8:rw",
                    "fentry:bpf:12:name*",
                    "iter:task:$1",
                    "hardware:cache-misses:1e6");

    private static final String ARGUMENTS =
            "p\0n\0-4@-20(%rbp,%rax,8) 8@$-1 4@[sp, 28] 1@%ah 8f@%xmm0 4@a+1(%rip)\0";

    @Test
    void texts() {
        String alphabet = ":@\"\\$+*[]=09afx_ \u0000\u00e9";
        Property.forAll(
                1,
                5_000,
                random -> {
                    String base = TEXTS.get(random.nextInt(TEXTS.size()));
                    StringBuilder text = new StringBuilder(base);
                    for (int i = random.nextInt(1, 6); i > 0 && !text.isEmpty(); i--) {
                        int at = random.nextInt(text.length());
                        char c = alphabet.charAt(random.nextInt(alphabet.length()));
                        switch (random.nextInt(3)) {
                            case 0 -> text.setCharAt(at, c);
                            case 1 -> text.insert(at, c);
                            default -> text.setLength(at);
                        }
                    }
                    CompilerDiagnostics diagnostics = new CompilerDiagnostics();
                    ParseSettings settings =
                            new ParseSettings(
                                    List.of("1", "a:b"),
                                    random.nextBoolean() ? OptionalInt.of(1) : OptionalInt.empty(),
                                    random.nextBoolean());
                    List<AttachPoint> points =
                            AttachPointParser.parseEach(
                                    Points.span("x"), text.toString(), settings, diagnostics);
                    for (AttachPoint point : points) {
                        assertThat(point.place()).isNotNull();
                    }
                    for (SourceDiagnostic diagnostic : diagnostics.all()) {
                        assertThat(diagnostic.message()).isNotEmpty();
                    }
                });
    }

    private static byte[] file() {
        byte[] strings = ARGUMENTS.getBytes(StandardCharsets.UTF_8);
        ByteBuffer note =
                ByteBuffer.allocate(20 + (24 + strings.length + 3 & ~3))
                        .order(ByteOrder.LITTLE_ENDIAN);
        note.putInt(8).putInt(24 + strings.length).putInt(3);
        note.put("stapsdt\0".getBytes(StandardCharsets.UTF_8));
        note.putLong(ElfWriter.TEXT_ADDRESS + 1).putLong(0).putLong(0).put(strings);
        return new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 64)
                .symbol("a", ElfWriter.TEXT_ADDRESS, 8, 0x12)
                .symbol("_ZN1a1bEi", ElfWriter.TEXT_ADDRESS + 8, 8, 0x12)
                .section(".note.stapsdt", 7, 0, note.array())
                .bytes();
    }

    @Test
    void filesOfPrograms() throws Exception {
        byte[] fine = file();
        assertThat(UsdtNotes.read(ElfFile.of(fine))).hasSize(1);
        Property.forAll(
                7,
                3_000,
                random -> {
                    byte[] bytes = damaged(fine, random);
                    try {
                        Map<MarkerName, List<UsdtLocation>> found =
                                UsdtNotes.read(ElfFile.of(bytes));
                        for (List<UsdtLocation> locations : found.values()) {
                            assertThat(locations)
                                    .allMatch(l -> l.fileOffset() >= 0 && l.semaphore() >= 0);
                        }
                    } catch (MalformedInputException e) {
                        assertThat(e.getMessage()).isNotEmpty();
                    }
                });
    }

    @Test
    void filesOfTheLoader() throws IOException {
        byte[] cache = new byte[48 + 24 + 32];
        ByteBuffer out = ByteBuffer.wrap(cache).order(ByteOrder.LITTLE_ENDIAN);
        out.put("glibc-ld.so.cache1.1".getBytes(StandardCharsets.UTF_8)).putInt(1).position(48);
        out.putInt(0x303).putInt(72).putInt(82).position(72);
        out.put("libc.so.6\0/lib/libc.so.6\0".getBytes(StandardCharsets.UTF_8));
        assertThat(LdSoCache.find(LdSoCache.parse(cache), "libc", Arch.X86_64)).hasSize(1);
        Property.forAll(
                11,
                3_000,
                random ->
                        assertThat(
                                        LdSoCache.find(
                                                LdSoCache.parse(damaged(cache, random)),
                                                "libc",
                                                Arch.X86_64))
                                .hasSizeLessThanOrEqualTo(1));
    }

    private static byte[] damaged(byte[] fine, RandomGenerator random) {
        byte[] bytes = fine.clone();
        if (random.nextInt(4) == 0) {
            bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        for (int i = random.nextInt(1, 12); i > 0 && bytes.length > 0; i--) {
            int at = random.nextInt(bytes.length);
            bytes[at] = random.nextBoolean() ? (byte) random.nextInt() : (byte) -1;
        }
        return bytes;
    }
}
