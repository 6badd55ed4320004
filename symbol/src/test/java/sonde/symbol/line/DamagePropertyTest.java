package sonde.symbol.line;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.symbol.line.TableCache.CachedTables;

/** Damaged debugging information gives fewer answers, never another failure. */
class DamagePropertyTest {
    private static final long SEED = 20261121;
    private static final int ROUNDS = 60;

    @TempDir Path folder;

    private Path build(String options) throws IOException {
        List<String> command = new ArrayList<>(List.of(options.split(" ")));
        Assumptions.assumeTrue(Programs.has(command.getFirst()), "no compiler");
        Files.writeString(folder.resolve("say.c"), Programs.C);
        command.addAll(List.of("-o", "say", "say.c"));
        Programs.run(folder, command);
        return folder.resolve("say");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -gdwarf-2 -O2",
                "gcc -gdwarf-4 -O2 -ffunction-sections",
                "gcc -gdwarf-5 -O2",
                "gcc -gdwarf-5 -O2 -c",
                "clang -gdwarf-5 -O2",
                "gcc -gdwarf-5 -O2 -gsplit-dwarf",
            })
    void flippedBytes(String options) throws IOException {
        byte[] whole = Files.readAllBytes(build(options));
        List<ElfSection> debug =
                ElfFile.of(whole).sections().stream()
                        .filter(s -> s.name().contains("debug_") && s.sizeBytes() > 0)
                        .toList();
        Random random = new Random(SEED);
        Path damaged = folder.resolve("damaged");
        for (int round = 0; round < ROUNDS; round++) {
            byte[] copy = whole.clone();
            for (int i = 0; i < 1 + round % 8; i++) {
                ElfSection section = debug.get(random.nextInt(debug.size()));
                int at = (int) section.offset() + random.nextInt((int) section.sizeBytes());
                copy[at] = (byte) random.nextInt(256);
            }
            Files.write(damaged, copy);
            ask(damaged, "seed " + SEED + " round " + round);
        }
    }

    @Test
    void cutFiles() throws IOException {
        byte[] whole = Files.readAllBytes(build("gcc -gdwarf-5 -O2"));
        Random random = new Random(SEED);
        Path damaged = folder.resolve("damaged");
        for (int round = 0; round < ROUNDS; round++) {
            Files.write(damaged, Arrays.copyOf(whole, random.nextInt(whole.length)));
            ask(damaged, "seed " + SEED + " round " + round);
        }
    }

    private static void ask(Path file, String what) {
        Assertions.assertTimeoutPreemptively(
                Duration.ofSeconds(60),
                () -> {
                    try (SourceSymbols symbols =
                            SourceSymbols.open(file, SourceOptions.USUAL.uncached())) {
                        long[] addresses = new long[64];
                        for (int i = 0; i < addresses.length; i++) {
                            addresses[i] = 0x1040 + 16L * i;
                        }
                        assertThat(symbols.lookup(addresses)).hasSize(64);
                        symbols.build();
                    } catch (MalformedInputException e) {
                        assertThat(e).hasMessageContaining(":");
                    }
                },
                what);
    }

    @Test
    void damagedTablesAreRefused() throws IOException {
        try (SourceSymbols symbols =
                SourceSymbols.open(build("gcc -g -O2"), SourceOptions.USUAL.uncached())) {
            LineTables tables = symbols.build();
            assertThat(tables).isNotNull();
            byte[] bytes = tables.bytes().array();
            long fingerprint = tables.bytes().getLong(40);
            Random random = new Random(SEED);
            for (int round = 0; round < 200; round++) {
                byte[] copy = bytes.clone();
                copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(8));
                ByteBuffer changed = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
                assertThatThrownBy(() -> LineTables.of(changed, fingerprint))
                        .isInstanceOf(MalformedInputException.class);
                // Somebody who writes a right checksum still gets no other failure.
                changed.putLong(8, LineTables.checksum(changed));
                assertThatCode(
                                () -> {
                                    try {
                                        LineTables read = LineTables.of(changed, fingerprint);
                                        for (long a = 0x1000; a < 0x1600; a += 7) {
                                            read.frames(a);
                                        }
                                    } catch (MalformedInputException e) {
                                        assertThat(e).hasMessageContaining("tables");
                                    }
                                })
                        .doesNotThrowAnyException();
            }
        }
    }

    @Test
    void cacheKeepsAndRefuses() throws IOException {
        Path program = build("gcc -g -O2");
        Path kept = folder.resolve("cache/sonde/symbols");
        TableCache cache = TableCache.of(kept);
        assertThat(cache).isNotNull();
        try (SourceSymbols symbols = SourceSymbols.open(program, SourceOptions.USUAL.uncached())) {
            LineTables tables = symbols.build();
            assertThat(tables).isNotNull();
            long fingerprint = tables.bytes().getLong(40);
            cache.keep("abcd", tables);
            CachedTables found = cache.find("abcd", fingerprint);
            assertThat(found).isNotNull();
            long address = Programs.listen(program).getFirst().address();
            assertThat(found.tables().frames(address)).isEqualTo(symbols.lookup(address));
            found.file().close();
            assertThat(cache.find("abcd", fingerprint + 1)).isNull();
            cache.keep("abcd", tables);
            Path file = kept.resolve("abcd.lines");
            byte[] bytes = Files.readAllBytes(file);
            bytes[bytes.length / 2] ^= 1;
            Files.write(file, bytes);
            assertThat(cache.find("abcd", fingerprint)).isNull();
            assertThat(file).doesNotExist();
        }
        Files.setPosixFilePermissions(kept, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(TableCache.of(kept)).isNull();
    }
}
