package sonde.tools.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sonde.event.result.Report;
import sonde.event.result.TableBuilder;

/** Which debugging aids a kernel has, and which of them work at the moment. */
public final class DebugFeatures {
    /** What a kernel says of an aid. */
    enum FeatureState {
        /** Built in and at work. */
        ON,
        /** Built in and not at work. */
        OFF,
        /** Built in; the kernel does not tell more. */
        BUILT_IN,
        /** A module that is not loaded. */
        MODULE,
        /** Not built. */
        ABSENT,
        /** Neither a configuration nor a file tells. */
        UNKNOWN;

        String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /**
     * What was found.
     *
     * @param config the options that build it, with their values where known
     * @param evidence the file, symbol or parameter that tells
     * @param change the line that switches it on or off; empty where only another build does
     */
    record DebugFeature(
            String name, FeatureState state, String config, String evidence, String change) {}

    private final KernelFiles files;
    private final KernelConfig config;
    private final Optional<Set<String>> symbols;
    private final List<DebugFeature> found = new ArrayList<>();

    private DebugFeatures(KernelFiles files) {
        this.files = files;
        config = files.config();
        symbols =
                files.symbols(
                        Stream.of(DebugFeatureTable.values())
                                .flatMap(row -> row.symbols.stream())
                                .collect(Collectors.toSet()));
    }

    /** Looks at everything; changes nothing. */
    public static Report examine(KernelFiles files) {
        DebugFeatures all = new DebugFeatures(files);
        for (DebugFeatureTable row : DebugFeatureTable.values()) {
            all.found.add(all.examine(row));
        }
        all.tracers();
        String from =
                all.config.isKnown()
                        ? "the configuration is read from " + all.config.source()
                        : "no configuration of this kernel lies on this machine (/proc/config.gz,"
                                + " /boot/config-"
                                + files.release()
                                + "): files and symbols tell instead";
        List<String> notes = new ArrayList<>(List.of(from));
        if (files.names(KernelFiles.DEBUGFS).isEmpty()) {
            notes.add(
                    "debugfs cannot be read, which hides the state of some: as root,"
                            + " mount -t debugfs none /sys/kernel/debug");
        }
        return new Report(
                "debugging aids of Linux " + files.release(),
                notes,
                List.of(
                        new TableBuilder<DebugFeature>("features")
                                .text("feature", DebugFeature::name)
                                .text("here", one -> one.state().word())
                                .text("CONFIG", DebugFeature::config)
                                .text("evidence", DebugFeature::evidence)
                                .text("change", DebugFeature::change)
                                .table(all.found)));
    }

    private DebugFeature examine(DebugFeatureTable row) {
        Optional<DebugFeatureTable.RuntimeSign> now = row.sign.of(files, config);
        Optional<String> symbol =
                row.symbols.stream()
                        .filter(name -> symbols.map(all -> all.contains(name)).orElse(false))
                        .findFirst();
        List<String> set = row.configs.stream().filter(config::isSet).toList();
        FeatureState state;
        String evidence;
        if (now.isPresent() && !now.get().whenBuilt()) {
            state = now.get().on() ? FeatureState.ON : FeatureState.OFF;
            evidence = now.get().evidence();
        } else if (config.isKnown() && !config.isSet(row.configs.getFirst())) {
            state = FeatureState.ABSENT;
            evidence = config.source();
        } else if (!config.isKnown() && symbol.isEmpty()) {
            boolean denied = symbols.isPresent() && row.isKnownBySymbol;
            state = denied ? FeatureState.ABSENT : FeatureState.UNKNOWN;
            evidence =
                    denied
                            ? "no " + row.symbols.getFirst() + " in /proc/kallsyms"
                            : "no configuration, and no file that tells";
        } else if (now.isPresent()) {
            state = now.get().on() ? FeatureState.ON : FeatureState.OFF;
            evidence = now.get().evidence();
        } else {
            boolean isModule = config.value(row.configs.getFirst()).equals("m") && symbol.isEmpty();
            state = isModule ? FeatureState.MODULE : FeatureState.BUILT_IN;
            evidence = symbol.map(name -> name + " in /proc/kallsyms").orElse(config.source());
        }
        List<String> named = set.isEmpty() ? row.configs.subList(0, 1) : set;
        boolean builds = state == FeatureState.ABSENT || state == FeatureState.UNKNOWN;
        return new DebugFeature(
                row.title, state, options(named), evidence, builds ? "" : row.change);
    }

    private String options(List<String> names) {
        return names.stream()
                .map(name -> config.isKnown() ? name + "=" + config.value(name) : name)
                .collect(Collectors.joining(" "));
    }

    private void tracers() {
        String tracefs = "/sys/kernel/tracing";
        if (files.text(tracefs + "/available_tracers").isEmpty()) {
            tracefs = KernelFiles.DEBUGFS + "/tracing";
        }
        Optional<String> listed = files.text(tracefs + "/available_tracers");
        String current = files.text(tracefs + "/current_tracer", "");
        for (String row :
                List.of(
                        "function FUNCTION_TRACER",
                        "function_graph FUNCTION_GRAPH_TRACER",
                        "irqsoff IRQSOFF_TRACER",
                        "preemptoff PREEMPT_TRACER",
                        "wakeup SCHED_TRACER",
                        "hwlat HWLAT_TRACER",
                        "osnoise OSNOISE_TRACER",
                        "timerlat TIMERLAT_TRACER",
                        "blk BLK_DEV_IO_TRACE",
                        "mmiotrace MMIOTRACE")) {
            String name = row.substring(0, row.indexOf(' '));
            String option = row.substring(row.indexOf(' ') + 1);
            boolean built =
                    listed.map(text -> List.of(text.split("\\s+")).contains(name))
                            .orElse(config.isSet(option));
            FeatureState state =
                    listed.isEmpty() && !config.isKnown()
                            ? FeatureState.UNKNOWN
                            : built && current.equals(name)
                                    ? FeatureState.ON
                                    : built ? FeatureState.BUILT_IN : FeatureState.ABSENT;
            String evidence = listed.isPresent() ? tracefs + "/available_tracers" : config.source();
            found.add(
                    new DebugFeature(
                            "tracer " + name, state, options(List.of(option)), evidence, ""));
        }
    }
}
