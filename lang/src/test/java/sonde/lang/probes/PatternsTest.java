package sonde.lang.probes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.Glob;
import sonde.symbol.files.LdSoCache;
import sonde.sys.Arch;

/** Patterns, and the lists that they are looked for in. */
final class PatternsTest {
    @Test
    void bracketsAskForAPatternToo() {
        assertThat(NamePattern.isPattern("a[bc]")).isTrue();
        assertThat(NamePattern.isPattern("a*")).isTrue();
        assertThat(NamePattern.isPattern("a[b")).isFalse();
        assertThat(NamePattern.isPattern("a?")).isFalse();
    }

    private static List<String> functions(TraceableFunctions functions, String mod, String name) {
        List<String> found = new ArrayList<>();
        functions.forEach(Glob.of(mod), Glob.of(name), (m, f) -> found.add(m + ":" + f));
        return found;
    }

    @Test
    void listsOfFunctions() {
        TraceableFunctions functions =
                TraceableFunctions.ofList(
                        ("vfs_read\nvfs_write [fs]\nrcu_read\n__ftrace_invalid_address___12\n"
                                        + "default_idle\nx.part.0\nvfs_last")
                                .getBytes(StandardCharsets.UTF_8));
        assertThat(functions(functions, "*", "*"))
                .containsExactly("vmlinux:vfs_read", "fs:vfs_write", "vmlinux:vfs_last");
        assertThat(functions(functions, "fs", "vfs_*")).containsExactly("fs:vfs_write");
        assertThat(functions.contains("vfs_last")).isTrue();
        assertThat(functions.contains("default_idle")).isFalse();
        assertThat(functions.isExact()).isTrue();
    }

    @Test
    void symbolsOfTheKernel() {
        TraceableFunctions functions =
                TraceableFunctions.ofKallsyms(
                        ("0000000000000000 T vfs_read\n0000000000000000 D jiffies\n"
                                        + "0000000000000000 t __pfx_vfs_read\n"
                                        + "0000000000000000 t inner\t[kvm]\n"
                                        + "0000000000000000 t bpf_prog_1\t[bpf]\n"
                                        + "0000000000000000 W weak\nrubbish")
                                .getBytes(StandardCharsets.UTF_8));
        assertThat(functions(functions, "*", "*"))
                .containsExactly("vmlinux:vfs_read", "kvm:inner", "vmlinux:weak");
        assertThat(functions.isExact()).isFalse();
    }

    private static byte[] cache() {
        byte[] strings =
                "libc.so.6\0/lib/libc.so.6\0libcap.so.2\0/lib/libcap.so.2\0/lib32/libc.so.6\0"
                        .getBytes(StandardCharsets.UTF_8);
        int base = 48 + 3 * 24;
        ByteBuffer out =
                ByteBuffer.allocate(8 + base + strings.length).order(ByteOrder.LITTLE_ENDIAN);
        // An older table before it, which is skipped.
        out.put("ld.so-1.".getBytes(StandardCharsets.UTF_8));
        out.put("glibc-ld.so.cache1.1".getBytes(StandardCharsets.UTF_8));
        out.putInt(3).putInt(strings.length).position(8 + 48);
        // flags, name, path, osversion, hwcap
        entry(out, 3, base, base + 54);
        entry(out, 0x303, base, base + 10);
        entry(out, 0x303, base + 25, base + 37);
        return out.put(strings).array();
    }

    private static void entry(ByteBuffer out, int flags, int name, int path) {
        out.putInt(flags).putInt(name).putInt(path).putInt(0).putLong(0);
    }

    @Test
    void librariesOfTheLoader() {
        byte[] cache = cache();
        assertThat(LdSoCache.find(LdSoCache.parse(cache), "libc", Arch.X86_64))
                .containsExactly("/lib/libc.so.6");
        assertThat(LdSoCache.find(LdSoCache.parse(cache), "libc.so.6", Arch.X86_64))
                .containsExactly("/lib/libc.so.6");
        assertThat(LdSoCache.find(LdSoCache.parse(cache), "libc.so.7", Arch.X86_64)).isEmpty();
        assertThat(LdSoCache.find(LdSoCache.parse(cache), "libc", Arch.AARCH64)).isEmpty();
        assertThat(LdSoCache.find(LdSoCache.parse(new byte[60]), "libc", Arch.X86_64)).isEmpty();
    }

    @Test
    void namesWithoutParameters() {
        assertThat(UserBinary.withoutParameters("a::b(int)")).isEqualTo("a::b");
        assertThat(UserBinary.withoutParameters("a::b(int (*)(long)) const")).isEqualTo("a::b");
        assertThat(UserBinary.withoutParameters("a::operator()(int)")).isEqualTo("a::operator()");
        assertThat(UserBinary.withoutParameters("plain")).isEqualTo("plain");
        assertThat(UserBinary.withoutParameters("(anonymous")).isEqualTo("(anonymous");
    }
}
