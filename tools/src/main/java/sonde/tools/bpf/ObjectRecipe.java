package sonde.tools.bpf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.ProgramType;
import sonde.bpf.object.AttachTargets;
import sonde.bpf.object.LoadOptions;
import sonde.bpf.object.LoadedObject;
import sonde.bpf.object.ObjectException;
import sonde.bpf.object.ObjectFile;
import sonde.bpf.object.ObjectMap;
import sonde.bpf.object.ObjectProgram;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.view.TextEscape;

/**
 * Objects of compilers, as {@code sonde bpf load} and {@code sonde bpf attach} load them.
 *
 * @param files linked into one
 * @param btf types that programs are fitted to; null for the running kernel's
 * @param only programs to be loaded; null for those that are when nothing is said
 * @param mapPins where maps that are pinned by name are; null for the usual folder
 * @param sizes entries of maps in place of what the objects say: {@code "NAME=N"}
 */
public record ObjectRecipe(
        List<Path> files,
        @Nullable Path btf,
        @Nullable List<String> only,
        @Nullable Path mapPins,
        List<String> sizes) {
    /** Where programs go whose section does not say. */
    public record AttachPlaces(
            @Nullable String device, @Nullable String cgroup, @Nullable String netns, int pid) {
        /** The same for the loader. */
        public AttachTargets targets() throws IOException {
            AttachTargets targets = AttachTargets.NONE.ofProcess(pid);
            if (device != null) {
                Path index = Path.of("/sys/class/net", device.replace('/', '_'), "ifindex");
                if (!Files.exists(index)) {
                    throw new BpfUseException("there is no network device " + device);
                }
                String text = Files.readString(index, StandardCharsets.UTF_8).strip();
                targets = targets.onDevice(Integer.parseInt(text));
            }
            if (cgroup != null) {
                targets = targets.inCgroup(cgroup);
            }
            return netns == null ? targets : targets.inNetns(netns);
        }
    }

    /** Reads objects and links them. */
    public static ObjectFile read(List<Path> files) throws IOException {
        try {
            return ObjectFile.read(files);
        } catch (ObjectException e) {
            throw new BpfInputException(String.valueOf(e.getMessage()));
        }
    }

    /** Loads the programs and makes the maps. */
    public LoadedObject load() throws IOException {
        ObjectFile file = read(files);
        try {
            return file.load(options(file));
        } catch (ObjectException e) {
            throw withRemedy(e);
        }
    }

    /** Programs set the size of such a map before they load the object. */
    static ObjectException withRemedy(ObjectException e) {
        return e.reason().endsWith("room for no entry")
                ? new ObjectException(
                        e.place(),
                        e.reason() + "; --map-entries " + e.place().symbol() + "=N makes room",
                        e)
                : e;
    }

    /** With maps of other sizes. */
    static LoadOptions sized(LoadOptions options, ObjectFile file, List<String> sizes) {
        LoadOptions sized = options;
        List<String> names = file.maps().stream().map(ObjectMap::name).toList();
        for (String size : sizes) {
            int equals = size.lastIndexOf('=');
            String name = equals < 0 ? size : size.substring(0, equals);
            String number = size.substring(equals + 1);
            if (!names.contains(name)) {
                throw new BpfUseException(
                        file.name() + " has no map " + name + "; it has " + names);
            }
            if (!number.matches("[1-9]\\d{0,8}")) {
                throw new BpfUseException(
                        "--map-entries takes NAME=N, N from 1 to 999999999, not '" + size + "'");
            }
            sized = sized.withSize(name, Integer.parseInt(number));
        }
        return sized;
    }

    private LoadOptions options(ObjectFile file) {
        LoadOptions options = btf == null ? LoadOptions.USUAL : LoadOptions.USUAL.withBtf(btf);
        if (mapPins != null) {
            options = options.withPins(mapPins);
        }
        if (only != null) {
            List<String> chosen = chosen(file, only);
            for (ObjectProgram program : file.programs()) {
                options = options.withProgram(program.name(), chosen.contains(program.name()));
            }
        }
        return sized(options, file, sizes);
    }

    /** Programs of an object that are loaded only when asked for: {@code SEC("?xdp")}. */
    static List<String> optional(ObjectFile file) {
        return file.programs().stream()
                .filter(program -> !program.isLoadedByDefault())
                .map(ObjectProgram::name)
                .toList();
    }

    /** Programs that were not loaded because nobody asked for them. */
    public static List<String> left(LoadedObject object) {
        return optional(object.object()).stream()
                .filter(name -> !object.programs().containsKey(name))
                .toList();
    }

    /** The programs named; without a word those that are loaded when nothing is said. */
    static List<String> chosen(ObjectFile file, @Nullable List<String> only) {
        if (only == null) {
            return file.programs().stream()
                    .filter(ObjectProgram::isLoadedByDefault)
                    .map(ObjectProgram::name)
                    .toList();
        }
        List<String> names = file.programs().stream().map(ObjectProgram::name).toList();
        for (String name : only) {
            if (!names.contains(name)) {
                throw new BpfUseException(
                        file.name() + " has no program " + name + "; it has " + names);
            }
        }
        return only;
    }

    /** What was loaded, attached and pinned. */
    public static Result shown(LoadedObject object, List<Path> pins) throws IOException {
        List<Map<String, Object>> programs = new ArrayList<>();
        for (ObjectProgram program : object.object().programs()) {
            Program loaded = object.programs().get(program.name());
            if (loaded != null) {
                programs.add(row(program, loaded, object.links().get(program.name())));
            }
        }
        List<Map<String, Object>> maps = new ArrayList<>();
        for (Map.Entry<String, BpfMap> one : object.maps().entrySet()) {
            maps.add(row(one.getKey(), one.getValue()));
        }
        for (Map.Entry<String, BpfMap> one : object.data().entrySet()) {
            maps.add(row(one.getKey(), one.getValue()));
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("programs", programs);
        all.put("maps", maps);
        all.put("pinned", pins.stream().map(Path::toString).toList());
        return Document.of(
                all,
                Listing.ofLines(out -> {
                    programs.forEach(one -> out.println("program  " + line(one)));
                    maps.forEach(one -> out.println("map      " + line(one)));
                    pins.forEach(pin -> out.println("pinned   " + TextEscape.line(pin.toString())));
                }));
    }

    private static Map<String, Object> row(
            ObjectProgram program, Program loaded, @Nullable Link link) throws IOException {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", loaded.facts().id());
        row.put("type", ProgramType.nameOf(loaded.facts().type()));
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

    private static String line(Map<String, Object> row) {
        List<String> words = new ArrayList<>();
        row.forEach((key, value) -> {
            boolean bare = key.equals("type") || key.equals("name");
            words.add(bare ? "" + value : key.replace("bytes_", "") + " " + value);
        });
        return TextEscape.line(String.join("  ", words));
    }
}
