package sonde.bpf.object;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.bpf.LoadedBtf;
import sonde.bpf.call.KernelObject;
import sonde.bpf.core.TargetTypes;
import sonde.bpf.inventory.BtfSources;
import sonde.bpf.link.KernelTypes;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** What an object asks of the running kernel, each looked up when first asked for. */
final class KernelBtfs implements TargetTypes, AutoCloseable {
    private static final int MOST_NAME = 64;
    private static final Pattern RELEASE = Pattern.compile("(\\d+)\\.(\\d+)(?:\\.(\\d+))?.*");

    private final @Nullable Path file;
    private @Nullable Input fileInput;
    private @Nullable Btf fileTypes;
    private @Nullable KernelTypes kernel;
    private @Nullable List<ModuleBtf> modules;
    private @Nullable Map<String, String> settings;

    /**
     * A module's types.
     *
     * @param types descriptor owner, for programs that refer to them
     */
    record ModuleBtf(String name, LoadedBtf types, Btf btf) {}

    /**
     * @param file types that programs are fitted to; null for the kernel's
     */
    KernelBtfs(@Nullable Path file) {
        this.file = file;
    }

    /** The types that programs are fitted to. */
    @Override
    public Btf kernel() throws IOException {
        if (file == null) {
            return vmlinux().btf();
        }
        Btf types = fileTypes;
        if (types == null) {
            Input input = BtfSources.content(file);
            fileInput = input;
            types = Btf.read(input);
            fileTypes = types;
        }
        return types;
    }

    @Override
    public List<Btf> modules() throws IOException {
        return file != null ? List.of() : moduleTypes().stream().map(ModuleBtf::btf).toList();
    }

    /** The running kernel's types, for what must be named by their ids. */
    KernelTypes vmlinux() throws IOException {
        KernelTypes types = kernel;
        if (types == null) {
            types = KernelTypes.open();
            kernel = types;
        }
        return types;
    }

    /** Those of its modules; none where they may not be asked for. */
    List<ModuleBtf> moduleTypes() throws IOException {
        List<ModuleBtf> known = modules;
        if (known == null) {
            known = new ArrayList<>();
            modules = known;
            for (int id : ids()) {
                ModuleBtf module = module(id);
                if (module != null) {
                    known.add(module);
                }
            }
        }
        return known;
    }

    private static List<Integer> ids() {
        try {
            return LoadedBtf.ids();
        } catch (SyscallException e) {
            return List.of();
        }
    }

    /** Null for vmlinux, for types of programs, and what is gone meanwhile. */
    private @Nullable ModuleBtf module(int id) throws IOException {
        LoadedBtf loaded;
        try {
            loaded = LoadedBtf.openId(id);
        } catch (SyscallException e) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            // struct bpf_btf_info: btf u64, btf_size, id, name u64 at 16, name_len, kernel_btf.
            MemorySegment facts = arena.allocate(40, 8);
            MemorySegment name = arena.allocate(MOST_NAME);
            facts.set(JAVA_LONG, 16, name.address());
            facts.set(JAVA_INT, 24, MOST_NAME);
            KernelObject.info(loaded.fd(), facts, "BTF " + id);
            String text = KernelObject.text(name, 0, MOST_NAME);
            if (facts.get(JAVA_INT, 28) == 0 || text.isEmpty() || text.equals("vmlinux")) {
                loaded.close();
                return null;
            }
            MemorySegment bytes = MemorySegment.ofArray(loaded.bytes());
            Btf btf = Btf.readSplit(Input.of(text + " BTF", bytes), vmlinux().btf());
            return new ModuleBtf(text, loaded, btf);
        } catch (IOException e) {
            loaded.close();
            return null;
        }
    }

    /** KERNEL_VERSION(a, b, c) of the release. */
    static int version() {
        Matcher release = RELEASE.matcher(MachineFacts.uname().release());
        if (!release.matches()) {
            return 0;
        }
        int patch = release.group(3) == null ? 0 : Integer.parseInt(release.group(3));
        return Integer.parseInt(release.group(1)) << 16
                | Integer.parseInt(release.group(2)) << 8
                | Math.min(patch, 255);
    }

    /**
     * A setting of the kernel's build as its configuration file has it; null when it is not set.
     *
     * @param name with {@code CONFIG_}
     */
    @Nullable String setting(String name) throws IOException {
        Map<String, String> known = settings;
        if (known == null) {
            known = readSettings();
            settings = known;
        }
        return known.get(name);
    }

    private static Map<String, String> readSettings() throws IOException {
        Map<String, String> all = new HashMap<>();
        Path plain = Path.of("/boot/config-" + MachineFacts.uname().release());
        Path packed = Path.of("/proc/config.gz");
        if (!Files.isReadable(plain) && !Files.isReadable(packed)) {
            return all;
        }
        try (InputStream in =
                        Files.isReadable(plain)
                                ? Files.newInputStream(plain)
                                : new GZIPInputStream(Files.newInputStream(packed), 1 << 16);
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int equals = line.indexOf('=');
                if (line.startsWith("CONFIG_") && equals > 0) {
                    all.put(line.substring(0, equals), line.substring(equals + 1).strip());
                }
            }
        }
        return all;
    }

    /**
     * Addresses of kallsyms by name.
     *
     * @return those that are there; -1 for one that several symbols have
     */
    static Map<String, Long> addresses(Set<String> names) throws IOException {
        Map<String, Long> found = new HashMap<>();
        Set<String> wanted = new HashSet<>(names);
        try (BufferedReader lines = Files.newBufferedReader(Path.of("/proc/kallsyms"))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int name = line.indexOf(' ') + 3;
                int end = line.indexOf('\t', name);
                if (name < 3 || name > line.length()) {
                    continue;
                }
                String symbol = line.substring(name, end < 0 ? line.length() : end);
                if (wanted.contains(symbol)) {
                    long address = Long.parseUnsignedLong(line, 0, name - 3, 16);
                    found.merge(symbol, address, (a, b) -> a.equals(b) ? a : Long.valueOf(-1));
                }
            }
        }
        return found;
    }

    /** Unmaps the types of the kernel, when everything that is to be found in them was. */
    void forget() {
        KernelTypes types = kernel;
        kernel = null;
        if (types != null) {
            types.close();
        }
    }

    @Override
    public void close() {
        forget();
        if (fileInput != null) {
            fileInput.close();
        }
        if (modules != null) {
            modules.forEach(module -> module.types().close());
        }
    }
}
