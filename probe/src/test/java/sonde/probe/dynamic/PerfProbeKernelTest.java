package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.probe.dynamic.SourceView.ViewedLine;
import sonde.symbol.files.GivenPlaces;

/**
 * The same questions to perf probe: addresses, registers, offsets and types of the definitions, the
 * lines and the variables. Where perf is wrong (docs/probe.md) nothing is asked.
 */
@Tag("kernel")
final class PerfProbeKernelTest {
    private static final String SOURCE =
            """
            #include <stdio.h>
            #include <string.h>
            enum colour { RED = 1, GREEN = -2 };
            struct pt { int x, y; };
            struct deep {
            	struct pt in; struct pt *ptr; struct pt arr[3]; char name[12]; char *str;
            	union { int i; float f; struct { short lo, hi; }; } u; enum colour col; char flag;
            	double dbl; struct deep *next; int (*fn)(int); char **names; short m[2][3];
            };
            static inline __attribute__((always_inline)) int twice(int v, struct pt *p)
            {
            	int both = v * 2 + p->x;
            	printf("twice %d\\n", both);
            	return both;
            }
            __attribute__((noinline)) int plain(int a, long b, char c, short s, void *p, char *str)
            {
            	printf("%d %ld %c %d %p %s\\n", a, b, c, s, p, str);
            	return a + (int) b;
            }
            __attribute__((noinline)) int members(struct deep *d, int count)
            {
            	int sum = 0;
            	for (int i = 0; i < count; i++) {
            		struct pt *q = &d->arr[i % 3];
            		sum += twice(q->y, q);
            		printf("sum %d\\n", sum);
            	}
            	printf("%s\\n", d->name);
            	return sum;
            }
            __attribute__((noinline)) struct deep *walk(struct deep *d, int n)
            {
            	while (d && n-- > 0) {
            		printf("at %s\\n", d->name);
            		d = d->next;
            	}
            	return d;
            }
            int main(int argc, char **argv)
            {
            	static struct deep d;
            	strcpy(d.name, argv[0]);
            	plain(argc, 2, 'c', 3, &d, argv[0]);
            	members(&d, argc + 2);
            	return walk(&d, argc) != 0;
            }
            """;

    private static final List<String> QUESTIONS =
            List.of(
                    "plain a b c s p str",
                    "plain str:string",
                    "plain+4 x=%di:u64 y=+8(%sp):x32",
                    "plain%return r=$retval:s32",
                    "members d count",
                    "members d->in.y d->ptr->x d->arr[1].y d->arr[2].x",
                    "members d->name:string d->str:string",
                    "members d->u.i d->u.f d->u.lo d->u.hi d->flag d->dbl",
                    "members d->next->next->col d->fn d->names d->names[1]",
                    "members d->next->ptr->y:x8 col=d->col:u32",
                    "walk d n",
                    "main argc argv");

    @TempDir Path folder;

    @BeforeEach
    void needsPerf() {
        Assumptions.assumeTrue(Programs.Build.of("perf").isThere(), "perf is not there");
    }

    private Path program(String words) throws Exception {
        Programs.Build build = Programs.Build.of(words);
        Assumptions.assumeTrue(build.isThere(), build.compiler() + " is not there");
        return Programs.build(folder, "asked.c", SOURCE, build);
    }

    private static String perf(Path program, List<String> words)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("perf", "probe", "-x"));
        command.add(program.toString());
        command.addAll(words);
        return Programs.run(command);
    }

    /** perf writes unsigned numbers as hexadecimal ones and ours as unsigned. */
    private static String normal(String definition) {
        return definition.replaceAll(":[xu](8|16|32|64)", ":x$1").replaceAll(" [\\w]+=", " ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -w -g -O0",
                "gcc -w -g -O2",
                "gcc -w -gdwarf-4 -O1",
                "g++ -w -x c++ -g -O1"
            })
    void definitionsAreEqual(String words) throws Exception {
        Path program = program(words);
        List<String> asked = new ArrayList<>();
        QUESTIONS.forEach(question -> asked.addAll(List.of("-D", question)));
        List<String> expected =
                perf(program, asked)
                        .lines()
                        .filter(line -> line.matches("[pr]:.*"))
                        .map(PerfProbeKernelTest::normal)
                        .toList();
        List<String> made = new ArrayList<>();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            for (String question : QUESTIONS) {
                new ProbeDefiner(subject)
                        .define(PointSpec.parse(question))
                        .forEach(one -> made.add(normal(one.text())));
            }
        }
        assertThat(made).hasSize(QUESTIONS.size()).containsExactlyElementsOf(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"members", "walk"})
    void linesAreEqual(String function) throws Exception {
        Path program = program("gcc -w -g -O0");
        TreeSet<Integer> expected = new TreeSet<>();
        Matcher line =
                Pattern.compile("(?m)^\\s{0,7}(\\d+)  ")
                        .matcher(perf(program, List.of("-L", function)));
        while (line.find()) {
            expected.add(Integer.valueOf(line.group(1)));
        }
        TreeSet<Integer> shown = new TreeSet<>();
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            SourceView view = SourceView.of(subject, function, List.of()).getFirst();
            view.rows().stream()
                    .filter(ViewedLine::hasCode)
                    .forEach(row -> shown.add(row.number() - view.base()));
            for (int one : expected) {
                String place = function + (one == 0 ? "" : ":" + one);
                TreeSet<String> theirs = definition(program, place);
                if (theirs.isEmpty()) {
                    continue;
                }
                List<ProbeDefinition> first =
                        new ProbeDefiner(subject).define(PointSpec.parse(place));
                assertThat(theirs).contains(addresses(first.getFirst().text()).first());
                for (ProbeDefinition every :
                        new ProbeDefiner(subject).everyPlace().define(PointSpec.parse(place))) {
                    assertThat(theirs).containsAll(addresses(every.text()));
                }
            }
        }
        assertThat(expected).isNotEmpty();
        assertThat(shown).containsAll(expected);
        shown.removeAll(expected);
        // perf leaves out lines whose address another line has too, as that of the first brace.
        assertThat(shown).isSubsetOf(1, 5);
    }

    /** Addresses of a place; none where perf wants to be asked for another line instead. */
    private static TreeSet<String> definition(Path program, String place) throws Exception {
        try {
            return addresses(perf(program, List.of("-D", place)));
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("sharing the address with other lines");
            return new TreeSet<>();
        }
    }

    private static TreeSet<String> addresses(String definitions) {
        TreeSet<String> found = new TreeSet<>();
        Matcher matcher = Pattern.compile(":0x0*([0-9a-f]+)").matcher(definitions);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcc -w -g -O0", "gcc -w -g -O2"})
    void variablesAreEqual(String words) throws Exception {
        Path program = program(words);
        for (String place : List.of("plain", "members", "members:8", "walk:3")) {
            TreeSet<String> expected = new TreeSet<>();
            perf(program, List.of("-V", place))
                    .lines()
                    .filter(line -> line.startsWith("\t\t"))
                    .forEach(line -> expected.add(line.replaceAll(".*[\\s*](\\w+)$", "$1")));
            TreeSet<String> shown = new TreeSet<>();
            try (ProbedObject subject =
                    ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
                for (VariableView view : VariableView.of(subject, place)) {
                    view.rows().stream()
                            .filter(row -> row.isAvailable() && !row.where().startsWith("= "))
                            .forEach(row -> shown.add(row.name()));
                }
            }
            assertThat(shown).as(place).isEqualTo(expected);
        }
    }
}
