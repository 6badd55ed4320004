package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.symbol.files.GivenPlaces;

/** Variables at lines of programs, against what the programs print of them. */
@Tag("kernel")
final class VariablesKernelTest {
    private static final String SOURCE =
            """
            #include <stdio.h>
            #include <string.h>
            #include <stdlib.h>
            struct inner { int b; unsigned flags : 3; unsigned mode : 5; signed char tag; };
            struct node {
            	struct node *next; char name[16]; struct inner in[4]; long total;
            	union { short low; unsigned char bytes[4]; };
            };
            struct holder { int pid; short usage; struct node dl; unsigned long last; };
            enum colour { RED = 3, GREEN };
            int counter = 41;
            static unsigned char hidden = 200;
            static inline __attribute__((always_inline)) int scale(int v, int by)
            {
            	int product = v * by;
            	printf("scale v=%d by=%d\\n", v, by); /* in scale */
            	return product;
            }
            __attribute__((noinline)) long work(struct node *n, int index, const char *label,
            		enum colour paint, unsigned char small)
            {
            	long sum = n->total;
            	for (int i = 0; i < 4; i++) {
            		sum += n->in[i].b * 2;
            		counter++;
            	}
            	hidden++;
            	sum += scale(index, 3);
            	printf("work total=%ld index=%d label=%s name=%s b=%d flags=%u mode=%u tag=%d" /* here */
            		" counter=%d hidden=%u paint=%u small=%u low=%d byte=%u\\n",
            		n->total, index, label, n->name, n->in[2].b, n->in[1].flags, n->in[1].mode,
            		n->in[1].tag, counter, hidden, paint, small, n->low, n->bytes[1]);
            	sum += scale(index + 1, 5);
            	if (n->total == 77) puts(label); /* keeps them alive */
            	return sum + paint + small;
            }
            int main(int argc, char **argv)
            {
            	struct holder *h = calloc(1, sizeof *h);
            	h->pid = -77; h->usage = 5; h->last = 0xdeadbeefcafeUL;
            	strcpy(h->dl.name, "seven");
            	for (int i = 0; i < 4; i++) {
            		h->dl.in[i].b = 10 * i - 5; h->dl.in[i].flags = i + 2;
            		h->dl.in[i].mode = 17 + i; h->dl.in[i].tag = -i;
            	}
            	h->dl.total = 1000; h->dl.low = -3; h->dl.next = &h->dl;
            	long r = work(&h->dl, argc + 6, "hello", GREEN, 250);
            	printf("main r=%ld pid=%d usage=%d\\n", r, h->pid, h->usage);
            	return 0;
            }
            """;

    private static final List<String> EXPRESSIONS =
            List.of(
                    "n->total",
                    "index",
                    "label:string",
                    "n->name",
                    "n->in[2].b",
                    "n->in[1].flags",
                    "n->in[1].mode",
                    "n->in[1].tag",
                    "counter",
                    "hidden",
                    "n->low",
                    "byte=n->bytes[1]");

    @TempDir Path folder;

    @BeforeEach
    void needsProbes() {
        Assumptions.assumeTrue(TraceText.isThere(), "probes of programs are not there");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -g -O0",
                "gcc -g -O2",
                "gcc -g -O3 -no-pie",
                "gcc -gdwarf-4 -O1",
                "gcc -gdwarf-3 -gstrict-dwarf -O2",
                "clang -g -O0",
                "clang -g -O2",
                "clang -gdwarf-4 -O3 -no-pie",
            })
    void variablesAreWhatTheProgramPrints(String words) throws Exception {
        Programs.Build build = Programs.Build.of(words);
        Assumptions.assumeTrue(build.isThere(), build.compiler() + " is not there");
        Path program = Programs.build(folder, "vars.c", SOURCE, build);
        check(program, GivenPlaces.NONE, EXPRESSIONS);
    }

    @Test
    void theDebugFileOfAStrippedProgramIsUsed() throws Exception {
        Assumptions.assumeTrue(Programs.Build.of("gcc").isThere(), "gcc is not there");
        Path program = Programs.build(folder, "vars.c", SOURCE, Programs.Build.of("gcc -g -O2"));
        Path debug = Files.createDirectory(folder.resolve("debug"));
        Path separate = debug.resolve("vars_c.debug");
        Programs.run(
                List.of("objcopy", "--only-keep-debug", program.toString(), separate.toString()));
        Programs.run(
                List.of(
                        "objcopy",
                        "--strip-all",
                        "--add-gnu-debuglink=" + separate,
                        program.toString()));
        GivenPlaces given =
                new GivenPlaces(List.of(debug.toString()), Optional.empty(), Optional.empty());
        check(program, given, EXPRESSIONS);
    }

    private static Map<String, String> truth(String out) {
        Map<String, String> truth =
                Programs.pairs(
                        out.lines()
                                .filter(line -> line.startsWith("work "))
                                .findFirst()
                                .orElseThrow());
        truth.putAll(
                Programs.pairs(
                        out.lines().filter(l -> l.startsWith("main ")).findFirst().orElseThrow()));
        return truth;
    }

    private void check(Path program, GivenPlaces given, List<String> expressions) throws Exception {
        int line = Programs.line(SOURCE, "/* here */");
        NamedProbes probes = NamedProbes.open();
        try (ProbedObject subject = ProbedObject.program(program.toString(), given)) {
            PointSpec spec =
                    PointSpec.parse(
                            "vars.c:"
                                    + line
                                    + " "
                                    + String.join(" ", expressions)
                                    + " pid=container_of(n, struct holder, dl)->pid"
                                    + " usage=container_of(n, struct holder, dl)->usage"
                                    + " again=n->next->next->total");
            List<ProbeDefinition> made =
                    new ProbeDefiner(subject).avoiding(probes.events()).define(spec);
            probes.add(subject, made);
            String event = made.getFirst().event();
            try (TraceText trace = new TraceText("variables")) {
                trace.enable(event, true);
                Map<String, String> truth = truth(Programs.run(List.of(program.toString())));
                trace.enable(event, false);
                assertThat(trace.lines()).hasSize(1);
                Map<String, String> seen = Programs.pairs(trace.lines().getFirst());
                assertThat(seen.get("again")).isEqualTo(truth.get("total"));
                seen.remove("again");
                List<String> names = new ArrayList<>(seen.keySet());
                names.forEach(
                        name -> assertThat(seen.get(name)).as(name).isEqualTo(truth.get(name)));
                assertThat(names).hasSize(expressions.size() + 2);
            } finally {
                assertThat(probes.delete(event, false)).containsEntry(event, true);
            }
        }
        assertThat(probes.list()).noneMatch(one -> one.group().startsWith("probe_vars"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcc -g -O0", "gcc -g -O2", "clang -g -O2"})
    void everyInlinedCopyIsProbed(String words) throws Exception {
        Programs.Build build = Programs.Build.of(words);
        Assumptions.assumeTrue(build.isThere(), build.compiler() + " is not there");
        Path program = Programs.build(folder, "vars.c", SOURCE, build);
        NamedProbes probes = NamedProbes.open();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            int line = Programs.line(SOURCE, "/* in scale */");
            PointSpec spec = PointSpec.parse("mine=vars.c:" + line + " v by");
            List<ProbeDefinition> made =
                    new ProbeDefiner(subject).avoiding(probes.events()).define(spec);
            assertThat(made).hasSize(2).allMatch(one -> one.source().startsWith("scale:"));
            probes.add(subject, made);
            TreeSet<String> events = new TreeSet<>();
            made.forEach(one -> events.add(one.event()));
            try (TraceText trace = new TraceText("inlined")) {
                for (String event : events) {
                    trace.enable(event, true);
                }
                String out = Programs.run(List.of(program.toString()));
                List<Map<String, String>> truth =
                        out.lines()
                                .filter(l -> l.startsWith("scale "))
                                .map(Programs::pairs)
                                .toList();
                assertThat(trace.lines().stream().map(Programs::pairs).toList()).isEqualTo(truth);
            } finally {
                for (String event : events) {
                    probes.delete(event, false);
                }
            }
        }
    }

    @Test
    void entryAndReturn() throws Exception {
        Assumptions.assumeTrue(Programs.Build.of("gcc").isThere(), "gcc is not there");
        for (String options : List.of("gcc -g -O0", "gcc -g -O2")) {
            Path program = Programs.build(folder, "vars.c", SOURCE, Programs.Build.of(options));
            NamedProbes probes = NamedProbes.open();
            try (ProbedObject subject =
                    ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
                ProbeDefiner definer = new ProbeDefiner(subject).avoiding(probes.events());
                List<ProbeDefinition> made =
                        new ArrayList<>(
                                definer.define(
                                        PointSpec.parse("work index label:string paint small")));
                made.addAll(definer.define(PointSpec.parse("work%return r=$retval")));
                probes.add(subject, made);
                try (TraceText trace = new TraceText("entry")) {
                    made.forEach(one -> assertThat(one.group()).isEqualTo("probe_vars_c"));
                    for (ProbeDefinition one : made) {
                        trace.enable(one.event(), true);
                    }
                    Map<String, String> truth = truth(Programs.run(List.of(program.toString())));
                    Map<String, String> entry = Programs.pairs(trace.lines().get(0));
                    assertThat(entry).containsEntry("index", truth.get("index"));
                    assertThat(entry).containsEntry("label", "hello");
                    assertThat(entry).containsEntry("paint", "4").containsEntry("small", "250");
                    assertThat(Programs.pairs(trace.lines().get(1)))
                            .containsEntry("r", truth.get("r"));
                } finally {
                    for (ProbeDefinition one : made) {
                        probes.delete(one.event(), false);
                    }
                }
            }
        }
    }

    /** A member without this, and a line that begins again for each turn of its loop. */
    @Test
    void membersOfTheObjectAndEveryPlaceOfALine() throws Exception {
        Assumptions.assumeTrue(Programs.Build.of("g++").isThere(), "g++ is not there");
        String source =
                """
                #include <cstdio>
                namespace shop { struct base { int id; };
                struct order : base {
                	long extra; static int count;
                	__attribute__((noinline)) long value(int k)
                	{
                		long sum = 0;
                		for (int i = 0; i < 3; i++) /* loop */
                			sum += extra * k;
                		std::printf("value extra=%ld id=%d count=%d k=%d\\n", extra, id, count, k);
                		return sum;
                	}
                };
                int order::count = 12; }
                int main(int argc, char **) { shop::order o; o.id = 7; o.extra = -9; return o.value(argc) > 0; }
                """;
        Path program = Programs.build(folder, "shop.cpp", source, Programs.Build.of("g++ -g -O0"));
        NamedProbes probes = NamedProbes.open();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            ProbeDefiner definer = new ProbeDefiner(subject).avoiding(probes.events());
            List<ProbeDefinition> made =
                    new ArrayList<>(
                            definer.define(PointSpec.parse("shop::order::value extra id count k")));
            made.addAll(
                    definer.everyPlace().define(PointSpec.parse("turn=shop::order::value:3 i")));
            probes.add(subject, made);
            try (TraceText trace = new TraceText("object")) {
                trace.enable(made.getFirst().event(), true);
                trace.enable(made.getLast().event(), true);
                String out = Programs.run(List.of(program.toString()));
                assertThat(Programs.pairs(trace.lines().getFirst())).isEqualTo(Programs.pairs(out));
                assertThat(trace.lines().stream().filter(line -> line.contains(" turn: ")))
                        .hasSize(4);
            } finally {
                probes.delete(made.getFirst().event(), false);
                probes.delete(made.getLast().event(), false);
            }
        }
    }

    @Test
    void aProgramThatWasReplacedIsNotProbed() throws Exception {
        Assumptions.assumeTrue(Programs.Build.of("gcc").isThere(), "gcc is not there");
        Path program = Programs.build(folder, "vars.c", SOURCE, Programs.Build.of("gcc -g -O0"));
        NamedProbes probes = NamedProbes.open();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            List<ProbeDefinition> made = new ProbeDefiner(subject).define(PointSpec.parse("work"));
            Files.delete(program);
            Programs.build(folder, "vars.c", SOURCE, Programs.Build.of("gcc -g -O2"));
            try {
                probes.add(subject, made);
                throw new AssertionError("it was probed");
            } catch (ProbeException e) {
                assertThat(e.getMessage()).contains("was replaced");
            }
        }
        assertThat(probes.list()).noneMatch(one -> one.group().startsWith("probe_vars"));
    }

    /** After a recording the kernel keeps its events for a moment. */
    @Test
    void aProbeThatIsStillRecordedIsWaitedFor() throws Exception {
        Assumptions.assumeTrue(Programs.Build.of("gcc").isThere(), "gcc is not there");
        Path program = Programs.build(folder, "vars.c", SOURCE, Programs.Build.of("gcc -g -O0"));
        NamedProbes probes = NamedProbes.open();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            ProbeDefiner definer = new ProbeDefiner(subject).avoiding(probes.events());
            List<ProbeDefinition> made = definer.define(PointSpec.parse("busy=work"));
            probes.add(subject, made);
            String event = made.getFirst().event();
            try (TraceText trace = new TraceText("busy")) {
                trace.enable(event, true);
                assertThatThrownBy(() -> probes.delete(event, false))
                        .isInstanceOf(ProbeException.class)
                        .hasMessage(event + " is being recorded; it stays");
                FutureTask<Void> end =
                        new FutureTask<>(() -> {
                            Thread.sleep(200);
                            trace.enable(event, false);
                            return null;
                        });
                Thread.ofPlatform().start(end);
                assertThat(probes.delete(event, false)).containsEntry(event, true);
                end.get();
            }
        }
    }

    @Test
    void probesOfOthersStay() throws IOException {
        NamedProbes probes = NamedProbes.open();
        Path events = Path.of("/sys/kernel/tracing/dynamic_events");
        String name = "sonde_test_others/there";
        Files.writeString(
                events, "p:" + name + " /bin/sh:0x1000\n", java.nio.file.StandardOpenOption.APPEND);
        try {
            assertThat(probes.delete("sonde_test_others:*", false))
                    .containsEntry("sonde_test_others:there", false);
            assertThat(probes.list())
                    .anyMatch(one -> one.event().equals("sonde_test_others:there"));
        } finally {
            assertThat(probes.delete("sonde_test_others:*", true))
                    .containsEntry("sonde_test_others:there", true);
        }
    }
}
