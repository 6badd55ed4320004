package sonde.lang.probes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import sonde.binary.dwarf.location.LineSearch;
import sonde.bpf.usdt.UsdtLocation;
import sonde.bpf.usdt.UsdtNotes.MarkerName;
import sonde.event.Glob;
import sonde.event.NearestNames;
import sonde.lang.declare.DwarfTypes;
import sonde.lang.probes.AttachPoint.AttachTarget;
import sonde.lang.probes.AttachPoint.AttachTarget.MarkerPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SourceLinePlace;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.probe.dynamic.SourcePlaces;

/** Finds places in files. */
final class UserExpansion {
    private final ExpanderOptions options;
    private final BinaryPaths paths;

    UserExpansion(ExpanderOptions options) {
        this.options = options;
        this.paths = new BinaryPaths(options.pid(), options.unsafe());
    }

    List<Probe> functions(
            AttachPoint point, AttachTarget.UserFunction place, CompilerDiagnostics out)
            throws AttachPointException {
        List<Probe> found = new ArrayList<>();
        List<String> files = files(point, "uprobe", place.path(), out);
        for (String path : files) {
            try (UserBinary binary = UserBinary.open(path)) {
                if (place.function().isEmpty()) {
                    found.add(byAddress(point.kind(), path, binary, place.address()));
                } else {
                    addFunctions(point.kind(), path, binary, place, found);
                }
            } catch (IOException e) {
                // Of many files that are meant those count that can be read.
                if (files.size() == 1) {
                    unreadable(point.kind(), path, place, e, found);
                }
            }
        }
        return found;
    }

    private void unreadable(
            Kind kind,
            String path,
            AttachTarget.UserFunction place,
            IOException why,
            List<Probe> found)
            throws AttachPointException {
        if (!options.unsafe() || !place.function().isEmpty()) {
            throw new AttachPointException(
                    "error finding uprobe target: " + path + ": " + why.getMessage());
        }
        found.add(atOffset(kind, path, place.address()));
    }

    private static Probe atOffset(Kind kind, String path, long offset) {
        String name = kind.longName() + ":" + path + ":" + Long.toUnsignedString(offset);
        return new UserProbe(kind, name, path, "", 0, offset);
    }

    private List<String> files(
            AttachPoint point, String kind, String target, CompilerDiagnostics out)
            throws AttachPointException {
        List<String> found = paths.resolve(target);
        if (found.isEmpty()) {
            throw new AttachPointException(
                    kind + " target file '" + target + "' does not exist or is not executable");
        }
        if (found.size() > 1 && !NamePattern.isPattern(target)) {
            out.warning(
                    point.span(),
                    "attaching to "
                            + kind
                            + " target file '"
                            + found.getFirst()
                            + "' but matched "
                            + found.size()
                            + " binaries",
                    "");
            return List.of(found.getFirst());
        }
        return found;
    }

    private Probe byAddress(Kind kind, String path, UserBinary binary, long address)
            throws IOException, AttachPointException {
        UserBinary.Function function = binary.functionAt(address);
        if (function == null) {
            if (options.unsafe()) {
                return atOffset(kind, path, address);
            }
            throw new AttachPointException(
                    "Could not resolve address: " + path + ":0x" + Long.toHexString(address),
                    "",
                    SourceDiagnostic.Front.SEVERITY);
        }
        long offset = address - function.address();
        if (kind == Kind.URETPROBE && offset != 0) {
            throw new AttachPointException(
                    "uretprobes cannot be attached at function offset. (address resolved to: "
                            + function.name()
                            + "+"
                            + offset
                            + ")");
        }
        String name = kind.longName() + ":" + path + ":" + Long.toUnsignedString(address);
        return new UserProbe(
                kind, name, path, function.name(), offset, function.fileOffset() + offset);
    }

    private void addFunctions(
            Kind kind,
            String path,
            UserBinary binary,
            AttachTarget.UserFunction place,
            List<Probe> found)
            throws IOException, AttachPointException {
        Glob glob = Glob.of(place.function());
        Map<String, UserBinary.Function> functions =
                place.cpp()
                        ? binary.cppFunctions(glob, place.function().indexOf('(') >= 0)
                        : binary.functions(glob);
        boolean pattern = place.cpp() || NamePattern.isPattern(place.function());
        String middle = place.cpp() ? ":cpp:" : ":";
        long offset = place.offset();
        for (UserBinary.Function function : functions.values()) {
            String problem = problem(function, offset);
            if (!problem.isEmpty()) {
                if (pattern) {
                    continue;
                }
                throw new AttachPointException(problem, "", SourceDiagnostic.Front.SEVERITY);
            }
            if (kind == Kind.URETPROBE && !options.unsafe() && binary.isGo(function)) {
                throw new AttachPointException(
                        "uretprobe on the Go function "
                                + function.name()
                                + " would end the program",
                        "Go looks at return addresses when it moves a stack, and finds the"
                                + " kernel's. Use --unsafe if that is what you want.",
                        SourceDiagnostic.Front.SEVERITY);
            }
            String tail = offset == 0 ? "" : "+" + offset;
            found.add(
                    new UserProbe(
                            kind,
                            kind.longName() + ":" + path + middle + function.name() + tail,
                            path,
                            function.name(),
                            offset,
                            function.fileOffset() + offset));
        }
    }

    /** Why a place in a function is none; empty when it is one. */
    private String problem(UserBinary.Function function, long offset) {
        if (function.sizeBytes() == 0 && offset == 0) {
            return options.unsafe()
                    ? ""
                    : "Could not determine boundary for "
                            + function.name()
                            + " (symbol has size 0).\nUse --unsafe to force attachment. "
                            + "WARNING: This option could lead to data corruption in the "
                            + "target process.";
        }
        return offset < function.sizeBytes()
                ? ""
                : "Offset outside the function bounds ('"
                        + function.name()
                        + "' size is "
                        + function.sizeBytes()
                        + ")";
    }

    List<Probe> line(AttachPoint point, SourceLinePlace place, CompilerDiagnostics out)
            throws AttachPointException {
        String path = files(point, "uprobe", place.path(), out).getFirst();
        try (UserBinary binary = UserBinary.open(path)) {
            LineSearch.Answer answer = binary.line(place);
            List<Long> copies =
                    place.column() == 0
                            ? SourcePlaces.ofLine(path, place.file(), place.line())
                            : List.of();
            if (!copies.isEmpty()) {
                return copies(point, path, binary, copies);
            }
            if (!answer.hasLines()) {
                answer = separate(path, place);
            }
            if (!answer.hasLines()) {
                throw new AttachPointException(
                        "No DWARF debug info found for '"
                                + path
                                + "', cannot attach by source code location.");
            }
            if (!answer.hasFile()) {
                throw new AttachPointException("No compilation unit matches " + place.file());
            }
            long address = answer.address().orElse(0);
            long fileOffset = answer.address().isEmpty() ? -1 : binary.fileOffset(address);
            if (fileOffset < 0) {
                String column = place.column() == 0 ? "" : ":" + place.column();
                throw new AttachPointException(
                        "Unable to map '"
                                + place.file()
                                + ":"
                                + place.line()
                                + column
                                + "' to address");
            }
            return List.of(at(point, path, binary, address));
        } catch (IOException e) {
            throw new AttachPointException(
                    "error finding uprobe target: " + path + ": " + e.getMessage());
        }
    }

    /** What a debug file beside the program says of a line. */
    private LineSearch.Answer separate(String path, SourceLinePlace place) {
        DwarfTypes types = DwarfTypes.shared(path, options.debugFolders());
        if (types == null || !types.isThere()) {
            return new LineSearch.Answer(false, false, OptionalLong.empty());
        }
        DwarfTypes.LineAddress found = types.address(place.file(), place.line(), place.column());
        return new LineSearch.Answer(
                true,
                !found.problem().startsWith("No compilation unit"),
                found.problem().isEmpty()
                        ? OptionalLong.of(found.address())
                        : OptionalLong.empty());
    }

    private static List<Probe> copies(
            AttachPoint point, String path, UserBinary binary, List<Long> addresses)
            throws IOException {
        List<Probe> found = new ArrayList<>();
        for (long address : addresses) {
            if (binary.fileOffset(address) >= 0) {
                found.add(at(point, path, binary, address));
            }
        }
        return found;
    }

    private static Probe at(AttachPoint point, String path, UserBinary binary, long address)
            throws IOException {
        UserBinary.Function function = binary.functionAt(address);
        return new UserProbe(
                point.kind(),
                point.kind().longName() + ":" + path + ":" + address,
                path,
                function == null ? "" : function.name(),
                function == null ? 0 : address - function.address(),
                binary.fileOffset(address));
    }

    List<Probe> markers(AttachPoint point, MarkerPlace place, CompilerDiagnostics out)
            throws AttachPointException {
        boolean everywhere = place.path().isEmpty() || place.path().equals("*");
        if (place.path().isEmpty() && options.pid().isEmpty()) {
            throw new AttachPointException(
                    "usdt probe must specify at least path or pid to probe. "
                            + "To target all paths/pids set the path to '*'.");
        }
        List<String> files = everywhere ? paths.mapped() : files(point, "usdt", place.path(), out);
        Glob provider = place.provider().isEmpty() ? Glob.all() : Glob.of(place.provider());
        Glob name = Glob.of(place.name());
        List<Probe> found = new ArrayList<>();
        for (String path : files) {
            try (UserBinary binary = UserBinary.open(path)) {
                addMarkers(path, binary, provider, name, found);
            } catch (IOException e) {
                // It is gone, or damaged: it has no markers.
                continue;
            }
        }
        return found;
    }

    /** Names of all functions of the files that a target means. */
    List<String> functionNames(String target) {
        return paths.resolve(target).stream()
                .flatMap(path -> UserBinary.functionNames(path).stream())
                .toList();
    }

    /** Where a marker was looked for, and which one may have been meant. */
    String near(MarkerPlace place) {
        boolean everywhere = place.path().isEmpty() || place.path().equals("*");
        List<String> files = everywhere ? paths.mapped() : paths.resolve(place.path());
        List<String> there = new ArrayList<>();
        for (String path : files) {
            try (UserBinary binary = UserBinary.open(path)) {
                binary.markers()
                        .keySet()
                        .forEach(one -> {
                            there.add(one.name());
                            there.add(one.provider() + ":" + one.name());
                        });
            } catch (IOException e) {
                continue; // as above: it has none
            }
        }
        String provider = place.provider();
        String wanted = provider.isEmpty() ? place.name() : provider + ":" + place.name();
        String where = files.size() == 1 ? files.getFirst() : files.size() + " files";
        int count = there.size() / 2;
        String question = NearestNames.question(wanted, there);
        return count == 0
                ? where + " has no markers"
                : "there is no marker "
                        + wanted
                        + " among the "
                        + count
                        + " of "
                        + where
                        + (question.isEmpty() ? "" : "; " + question)
                        + " 'sonde trace -l' lists them";
    }

    private static void addMarkers(
            String path, UserBinary binary, Glob provider, Glob name, List<Probe> found) {
        for (Map.Entry<MarkerName, List<UsdtLocation>> entry : binary.markers().entrySet()) {
            MarkerName marker = entry.getKey();
            if (provider.matches(marker.provider()) && name.matches(marker.name())) {
                String full = "usdt:" + path + ":" + marker.provider() + ":" + marker.name();
                found.add(
                        new UsdtProbe(
                                full, path, marker.provider(), marker.name(), entry.getValue()));
            }
        }
    }
}
