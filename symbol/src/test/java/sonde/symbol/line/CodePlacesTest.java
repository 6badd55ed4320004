package sonde.symbol.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Frame;
import sonde.symbol.CodeMapping;
import sonde.symbol.KernelRun;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.line.CodePlaces.FoundCode;

class CodePlacesTest {
    private static final long START = 0x400000;

    @TempDir Path folder;

    private Map<Long, FoundCode> calls(
            Path program, ProcessMaps maps, List<Programs.Said> said, boolean lines) {
        int pid = (int) ProcessHandle.current().pid();
        CodeMapping mapping =
                new CodeMapping(START, 0x100000, 0, program.toString(), new byte[0], 0, 0);
        maps.mapped(0, pid, mapping);
        long[] locations =
                said.stream().mapToLong(one -> maps.location(pid, one.address())).toArray();
        SymbolOptions here = SymbolOptions.here();
        KernelCode kernel = new KernelCode(KernelRun.UNKNOWN, here, Optional.empty());
        try (CodePlaces places =
                new CodePlaces(maps, here, CodeDetail.quick(true, lines), () -> kernel)) {
            return places.of(locations);
        }
    }

    private Path build(String... flags) throws IOException {
        Assumptions.assumeTrue(Programs.has("gcc"), "gcc is not there");
        Files.writeString(folder.resolve("say.c"), Programs.C);
        String command = "gcc -g -O2 -fno-pie -no-pie -o say say.c " + String.join(" ", flags);
        Programs.run(folder, List.of(command.split(" ")));
        return folder.resolve("say");
    }

    @Test
    void whatTheProgramSaysWasInlinedIs() throws IOException {
        Path program = build();
        List<Programs.Said> said = Programs.listen(program);
        ProcessMaps maps = new ProcessMaps();
        Map<Long, FoundCode> calls = calls(program, maps, said, false);
        int pid = (int) ProcessHandle.current().pid();
        int inlined = 0;
        for (Programs.Said one : said) {
            List<String> names = one.functions().subList(0, one.functions().size() - 1);
            FoundCode place = calls.get(maps.location(pid, one.address()));
            List<Frame> frames = place == null ? List.of() : place.inlined();
            assertThat(frames.stream().map(Frame::name).toList()).isEqualTo(names);
            assertThat(frames).allMatch(Frame::inlined).allMatch(f -> f.module().equals("say"));
            assertThat(frames).allMatch(f -> f.place().isEmpty());
            inlined += names.size();
        }
        assertThat(inlined).isPositive();
    }

    /** Distributions build with folders that do not tell where they built. */
    @Test
    void aRelativeFolderOfTheCompilerStandsOnceInAPath() throws IOException {
        Path program = build("-gdwarf-5", "-ffile-prefix-map=" + folder + "=./src");
        List<Programs.Said> said = Programs.listen(program);
        ProcessMaps maps = new ProcessMaps();
        Map<Long, FoundCode> places = calls(program, maps, said, true);
        assertThat(places.values()).isNotEmpty().allMatch(p -> p.file().equals("./src/say.c"));
    }

    @Test
    void linesAreThoseTheProgramSays() throws IOException {
        Path program = build();
        List<Programs.Said> said = Programs.listen(program);
        ProcessMaps maps = new ProcessMaps();
        Map<Long, FoundCode> places = calls(program, maps, said, true);
        int pid = (int) ProcessHandle.current().pid();
        for (Programs.Said one : said) {
            FoundCode place = places.get(maps.location(pid, one.address()));
            assertThat(place.file()).endsWith("/say.c");
            assertThat(place.inlined()).allMatch(f -> f.place().matches("say\\.c:\\d+"));
            List<Integer> lines = new ArrayList<>();
            place.inlined().forEach(call -> lines.add(call.line()));
            lines.add(place.line());
            assertThat(lines).isEqualTo(one.lines());
        }
        assertThat(said).isNotEmpty();
    }

    @Test
    void strippedProgramsHaveNone() throws IOException {
        Path program = build();
        List<Programs.Said> said = Programs.listen(program);
        Programs.run(folder, List.of("strip", "say"));
        assertThat(calls(program, new ProcessMaps(), said, true)).isEmpty();
    }
}
