package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.object.AttachTargets;
import sonde.bpf.object.LoadOptions;
import sonde.bpf.object.LoadedObject;
import sonde.bpf.object.ObjectException;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.object.ObjectProgram;
import sonde.view.Escape;

/** What {@code sonde bpf load} and {@code sonde bpf attach} have in common. */
final class BpfObjectArguments {
    @Parameters(
            arity = "1..*",
            paramLabel = "OBJECT",
            description = "made by clang -g -O2 -target bpf -c; several are linked into one")
    private List<Path> objects;

    @Option(
            names = "--btf",
            paramLabel = "FILE",
            description = "fit programs to these types, not to the running kernel's")
    private @Nullable Path btf;

    @Option(
            names = "--only",
            paramLabel = "PROGRAM",
            description = "load this program only; may be given several times")
    private @Nullable List<String> only;

    @Option(
            names = "--map-pins",
            paramLabel = "DIR",
            description = "where maps that are pinned by name are (default /sys/fs/bpf)")
    private @Nullable Path mapPins;

    @Option(
            names = "--dev",
            paramLabel = "DEVICE",
            description = "attach xdp and tcx programs here")
    private @Nullable String device;

    @Option(names = "--cgroup", paramLabel = "DIR", description = "attach cgroup programs here")
    private @Nullable String cgroup;

    @Option(names = "--netns", paramLabel = "FILE", description = "attach netns programs here")
    private @Nullable String netns;

    @Option(
            names = "--pid",
            paramLabel = "PID",
            defaultValue = "-1",
            description = "user-space probes are for this process only")
    private int pid;

    @Option(names = "--json", description = "as JSON, with bpftool's keys")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli fills it in
    BpfObjectArguments() {
        objects = List.of();
    }

    /** The objects, linked. */
    ObjectFile read() throws IOException {
        return read(objects);
    }

    static ObjectFile read(List<Path> files) throws IOException {
        try {
            return ObjectFile.read(files);
        } catch (ObjectException e) {
            throw new BpfInputException(String.valueOf(e.getMessage()));
        }
    }

    LoadOptions options(ObjectFile file, CommandLine line) {
        LoadOptions options = btf == null ? LoadOptions.USUAL : LoadOptions.USUAL.withBtf(btf);
        if (mapPins != null) {
            options = options.withPins(mapPins);
        }
        if (only != null) {
            List<String> chosen = chosen(file, only, line);
            for (ObjectProgram program : file.programs()) {
                options = options.withProgram(program.name(), chosen.contains(program.name()));
            }
        }
        return options;
    }

    /** The programs named; without a word those that are loaded when nothing is said. */
    static List<String> chosen(ObjectFile file, @Nullable List<String> only, CommandLine line) {
        if (only == null) {
            return file.programs().stream()
                    .filter(ObjectProgram::isLoadedByDefault)
                    .map(ObjectProgram::name)
                    .toList();
        }
        List<String> names = file.programs().stream().map(ObjectProgram::name).toList();
        for (String name : only) {
            if (!names.contains(name)) {
                throw new ParameterException(
                        line, file.name() + " has no program " + name + "; it has " + names);
            }
        }
        return only;
    }

    AttachTargets targets(CommandLine line) throws IOException {
        AttachTargets targets = AttachTargets.NONE.ofProcess(pid);
        if (device != null) {
            Path index = Path.of("/sys/class/net", device.replace('/', '_'), "ifindex");
            if (!Files.exists(index)) {
                throw new ParameterException(line, "there is no network device " + device);
            }
            String text = Files.readString(index, StandardCharsets.UTF_8).strip();
            targets = targets.onDevice(Integer.parseInt(text));
        }
        if (cgroup != null) {
            targets = targets.inCgroup(cgroup);
        }
        return netns == null ? targets : targets.inNetns(netns);
    }

    /** What was loaded, attached and pinned. */
    void show(LoadedObject object, List<Path> pins, PrintWriter out) throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        List<Object> programs = new ArrayList<>();
        for (ObjectProgram program : object.object().programs()) {
            Program loaded = object.programs().get(program.name());
            if (loaded != null) {
                programs.add(row(program, loaded, object.links().get(program.name())));
            }
        }
        all.put("programs", programs);
        List<Object> maps = new ArrayList<>();
        for (Map.Entry<String, BpfMap> one : object.maps().entrySet()) {
            maps.add(row(one.getKey(), one.getValue()));
        }
        for (Map.Entry<String, BpfMap> one : object.data().entrySet()) {
            maps.add(row(one.getKey(), one.getValue()));
        }
        all.put("maps", maps);
        all.put("pinned", pins.stream().map(Path::toString).toList());
        if (json) {
            out.print(BpfJson.of(all));
        } else {
            programs.forEach(one -> out.println("program  " + words(one)));
            maps.forEach(one -> out.println("map      " + words(one)));
            pins.forEach(pin -> out.println("pinned   " + Escape.line(pin.toString())));
        }
        out.flush();
    }

    private static Map<String, Object> row(
            ObjectProgram program, Program loaded, @Nullable Link link) throws IOException {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", loaded.facts().id());
        row.put("type", sonde.bpf.ProgramType.nameOf(loaded.facts().type()));
        row.put("name", program.name());
        row.put("section", program.sectionName());
        if (link != null) {
            row.put("attached", link.target());
        }
        return row;
    }

    private static Map<String, Object> row(String name, BpfMap map) throws IOException {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", map.facts().id());
        row.put("type", map.spec().type().kernelName());
        row.put("name", name);
        row.put("bytes_key", map.spec().keyBytes());
        row.put("bytes_value", map.spec().valueBytes());
        row.put("max_entries", map.spec().maxEntries());
        return row;
    }

    private static String words(Object row) {
        List<String> words = new ArrayList<>();
        if (row instanceof Map<?, ?> map) {
            map.forEach((key, value) -> {
                boolean bare = key.equals("type") || key.equals("name");
                words.add(bare ? "" + value : key.toString().replace("bytes_", "") + " " + value);
            });
        }
        return Escape.line(String.join("  ", words));
    }
}
