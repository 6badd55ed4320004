package sonde.bpf.object;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.object.ObjectException.ObjectPosition;

/** The names of a loaded object in a bpffs, all or none. */
final class ObjectPins {
    private final LoadedObject object;
    private final Path folder;
    private final List<Path> made = new ArrayList<>();
    private final List<Path> folders = new ArrayList<>();

    ObjectPins(LoadedObject object, Path folder) {
        this.object = object;
        this.folder = folder;
    }

    List<Path> make() throws IOException {
        try {
            folder(folder);
            for (Map.Entry<String, Program> one : object.programs().entrySet()) {
                Path path = path(folder, one.getKey());
                one.getValue().pin(path.toString());
                made.add(path);
            }
            maps();
            links();
            return List.copyOf(made);
        } catch (IOException | RuntimeException e) {
            undo();
            throw e;
        }
    }

    private void maps() throws IOException {
        if (object.maps().isEmpty() && object.data().isEmpty()) {
            return;
        }
        Path below = folder.resolve("maps");
        folder(below);
        for (Map.Entry<String, BpfMap> one : object.maps().entrySet()) {
            pin(one.getValue(), path(below, one.getKey()));
        }
        for (Map.Entry<String, BpfMap> one : object.data().entrySet()) {
            pin(one.getValue(), path(below, object.object().dataName(one.getKey())));
        }
    }

    private void pin(BpfMap map, Path path) throws IOException {
        map.pin(path.toString());
        made.add(path);
    }

    private void links() throws IOException {
        if (object.links().isEmpty()) {
            return;
        }
        Path below = folder.resolve("links");
        folder(below);
        for (Map.Entry<String, Link> one : object.links().entrySet()) {
            if (!one.getValue().isObject()) {
                throw new ObjectException(
                        ObjectPosition.of(object.object().name()).symbol(one.getKey()),
                        "its attachment to "
                                + one.getValue().target()
                                + " is not an object of the kernel and cannot be pinned");
            }
            Path path = path(below, one.getKey());
            one.getValue().pin(path.toString());
            made.add(path);
        }
    }

    /** Names in a bpffs have no dots. */
    private static Path path(Path below, String name) {
        return below.resolve(name.replace('.', '_').replace('/', '_'));
    }

    private void folder(Path wanted) throws IOException {
        if (!Files.isDirectory(wanted)) {
            Files.createDirectory(wanted);
            folders.addFirst(wanted);
        }
    }

    private void undo() {
        for (Path path : made.reversed()) {
            remove(path);
        }
        folders.forEach(ObjectPins::remove);
    }

    private static void remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (DirectoryNotEmptyException e) {
            // Somebody else's names are in it.
        } catch (IOException e) {
            // It is gone, or never was.
        }
    }
}
