package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.elf.ElfFile;
import sonde.symbol.files.Attempt;
import sonde.symbol.files.Attempt.AttemptResult;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.RequiredContent;
import sonde.symbol.files.SearchFolders;

/** The entries of programs: in themselves, or in the files that were split from them. */
final class DebugEntryFiles implements AutoCloseable {
    private final DebugSearch search;
    private final Optional<Debuginfod> servers;
    private final List<OpenDebug> open = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    /** With places to look in besides the usual ones. */
    DebugEntryFiles(GivenPlaces given) {
        search = search(given);
        servers = given.servers();
    }

    /** In the usual folders of this machine, before them in those given, last by the servers. */
    static DebugSearch search(GivenPlaces given) {
        return new DebugSearch(
                SearchFolders.here().withUser(given.folders()).withServers(given.servers()));
    }

    /** The files that were met and are of another build, damaged, or may not be read. */
    static List<String> misfits(DebugFile found) {
        return found.refusals().stream()
                .filter(attempt -> attempt.outcome() != AttemptResult.LACKING)
                .map(Attempt::sentence)
                .toList();
    }

    /** What has entries, and the file that they are in. */
    record FoundEntries(DebugEntries entries, ElfFile elf) {}

    /** What was found and did not fit. */
    List<String> notes() {
        return notes;
    }

    /** A source file from the servers; empty where there are none or they do not have it. */
    Optional<Path> source(ElfFile elf, String file) {
        return elf.buildId().flatMap(id -> servers.flatMap(all -> all.source(id, file).path()));
    }

    /** The entries of a program; of the file itself, without units, when there are none. */
    FoundEntries of(ElfFile elf, String path) throws IOException {
        FilePlace place = FilePlace.named(Path.of(path).toAbsolutePath().normalize().toString());
        OpenDebug debug = OpenDebug.of(search, place, elf, RequiredContent.ENTRIES);
        open.add(debug);
        notes.addAll(misfits(debug.found()));
        try {
            return new FoundEntries(debug.entries(notes::add), debug.elf().linked());
        } catch (IOException e) {
            if (debug.separate().isEmpty()) {
                throw e;
            }
            notes.add(debug.found().path().orElseThrow() + ": " + e.getMessage());
            return new FoundEntries(DebugEntries.read(elf), elf);
        }
    }

    @Override
    public void close() {
        open.forEach(OpenDebug::close);
    }
}
