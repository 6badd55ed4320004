package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;

/** Structures lie where gcc puts them. */
class LayoutPropertyTest {
    private static final int STRUCTS = 400;
    private static final long SEED = 20261121;

    private static String run(Path folder, String... command)
            throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }

    /** Prints every place as gcc has it; that of a bitfield from the bits that it sets. */
    private static String program(String definitions, List<RandomStructs.One> all) {
        StringBuilder out = new StringBuilder("#include <stdio.h>\n#include <stddef.h>\n");
        out.append("#include <string.h>\n")
                .append(definitions)
                .append(
                        """
                        static void bits(const char *of, const char *m, unsigned char *p, size_t n) {
                            long first = -1, count = 0;
                            for (size_t i = 0; i < 8 * n; i++)
                                if (p[i / 8] >> (i % 8) & 1) { if (first < 0) first = i; count++; }
                            printf("%s.%s at %ld bits %ld\\n", of, m, first, count);
                        }
                        """);
        for (RandomStructs.One one : all) {
            String type = one.keyword() + " " + one.name();
            out.append("static void f_").append(one.name()).append("(void) { static ");
            out.append(type).append(" x;\n");
            out.append(
                    "printf(\"%s size %%zu align %%zu\\n\", sizeof(x), _Alignof(%s));\n"
                            .formatted(one.name(), type));
            for (String field : one.fields()) {
                out.append(
                        "printf(\"%s.%s at %%zu\\n\", 8 * offsetof(%s, %s));\n"
                                .formatted(one.name(), field, type, field));
            }
            for (String field : one.bitfields()) {
                out.append(
                        "memset(&x, 0, sizeof(x)); x.%s = -1; bits(\"%s\", \"%s\", (void *)&x,"
                                .formatted(field, one.name(), field));
                out.append(" sizeof(x));\n");
            }
            out.append("}\n");
        }
        out.append("int main(void) {\n");
        all.forEach(one -> out.append("f_").append(one.name()).append("();\n"));
        return out.append("}\n").toString();
    }

    private static String ours(CDeclarations from, List<RandomStructs.One> all) {
        StringBuilder out = new StringBuilder();
        for (RandomStructs.One one : all) {
            Kind kind = one.keyword().equals("union") ? Kind.UNION : Kind.STRUCT;
            StructType struct =
                    (StructType) Objects.requireNonNull(from.type(kind, one.name()), one.text());
            out.append(
                    "%s size %d align %d\n"
                            .formatted(one.name(), struct.sizeBytes(), struct.align()));
            for (String name : one.fields()) {
                TypeField field = Objects.requireNonNull(struct.field(name));
                out.append("%s.%s at %d\n".formatted(one.name(), name, field.bitOffset()));
            }
            for (String name : one.bitfields()) {
                TypeField field = Objects.requireNonNull(struct.field(name));
                out.append(
                        "%s.%s at %d bits %d\n"
                                .formatted(one.name(), name, field.bitOffset(), field.bits()));
            }
        }
        return out.toString();
    }

    @Test
    void agreesWithGcc(@TempDir Path folder) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "there is no gcc");
        RandomStructs random = new RandomStructs(new Random(SEED), true);
        List<RandomStructs.One> all = new ArrayList<>();
        StringBuilder text = new StringBuilder(RandomStructs.prologue());
        for (int i = 0; i < STRUCTS; i++) {
            RandomStructs.One one = random.make(i);
            all.add(one);
            text.append(one.text());
        }
        Files.writeString(folder.resolve("p.c"), program(text.toString(), all));
        run(folder, "gcc", "-w", "-O0", "-o", "p", "p.c");
        // Nothing that a program holds is aligned to more than 8 bytes.
        String theirs = run(folder, "./p").replaceAll("align (?:16|32|64|128|256)\n", "align 8\n");
        Scripts.Result result = Scripts.plain(text.toString(), TypeSource.NONE);
        assertThat(result.said()).isEmpty();
        String[] our = ours(result.declarations(), all).split("\n");
        String[] their = theirs.split("\n");
        for (int i = 0; i < their.length; i++) {
            String name = their[i].replaceAll("[ .].*", "");
            String context = all.get(Integer.parseInt(name.substring(1))).text();
            assertThat(our[i]).as(context).isEqualTo(their[i]);
        }
        assertThat(our).hasSameSizeAs(their);
    }

    private static final List<String> OF_HEADERS =
            List.of(
                    "struct stat",
                    "struct sockaddr_in6",
                    "struct tm",
                    "struct sigaction",
                    "struct epoll_event",
                    "struct msghdr",
                    "struct termios",
                    "struct rusage",
                    "struct addrinfo",
                    "struct tcp_info",
                    "struct utsname",
                    "siginfo_t",
                    "pthread_mutex_t",
                    "ucontext_t",
                    "fd_set",
                    "struct _IO_FILE",
                    "union sigval",
                    "struct perf_event_attr",
                    "struct bpf_prog_info",
                    "struct statx",
                    "max_align_t");

    /** What glibc and Linux declare in a thousand ways is read from their own headers. */
    @Test
    void agreesWithGccAboutHeaders(@TempDir Path folder) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "there is no gcc");
        assumeTrue(Files.exists(Path.of("/usr/include/stdio.h")), "there are no headers");
        StringBuilder includes = new StringBuilder();
        for (String header :
                List.of(
                        "stdio.h",
                        "stddef.h",
                        "sys/stat.h",
                        "netinet/in.h",
                        "netinet/tcp.h",
                        "time.h",
                        "signal.h",
                        "sys/epoll.h",
                        "sys/socket.h",
                        "termios.h",
                        "sys/resource.h",
                        "netdb.h",
                        "sys/utsname.h",
                        "pthread.h",
                        "ucontext.h",
                        "sys/select.h",
                        "linux/perf_event.h",
                        "linux/bpf.h")) {
            includes.append("#include <").append(header).append(">\n");
        }
        StringBuilder program = new StringBuilder("#define _GNU_SOURCE 1\n").append(includes);
        program.append("int main(void) {\n");
        for (String type : OF_HEADERS) {
            program.append("printf(\"%s %%zu\\n\", sizeof(%s));\n".formatted(type, type));
        }
        Files.writeString(folder.resolve("h.c"), program.append("}\n").toString());
        run(folder, "gcc", "-w", "-o", "h", "h.c");
        Scripts.Result result = Scripts.plain(includes.toString(), TypeSource.NONE);
        assertThat(result.said()).isEmpty();
        StringBuilder our = new StringBuilder();
        for (String type : OF_HEADERS) {
            int space = type.indexOf(' ');
            Kind kind =
                    space < 0 ? Kind.PLAIN : type.startsWith("union") ? Kind.UNION : Kind.STRUCT;
            var made = result.declarations().type(kind, type.substring(space + 1));
            our.append(type).append(' ').append(made == null ? "none" : made.sizeBytes());
            our.append('\n');
        }
        assertThat(our.toString()).isEqualTo(run(folder, "./h"));
        assertThat(result.declarations().constant("SIGKILL")).isEqualTo(9);
        assertThat(result.declarations().constant("S_IFDIR")).isEqualTo(0x4000);
        assertThat(result.declarations().constant("BPF_PROG_TYPE_KPROBE")).isEqualTo(2);
    }
}
