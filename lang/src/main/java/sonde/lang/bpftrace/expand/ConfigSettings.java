package sonde.lang.bpftrace.expand;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Script.ConfigEntry;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/** Settings by key, each with a value that its key can have. */
final class ConfigSettings {
    private static final String PREFIX = "bpftrace_";

    /** What a key takes. */
    private sealed interface SettingForm {
        record BooleanSetting() implements SettingForm {}

        record NumberSetting() implements SettingForm {}

        record TextSetting() implements SettingForm {}

        /** One of several words; {@code aliases} are others for them. */
        record ChoiceSetting(String message, List<String> words, Map<String, String> aliases)
                implements SettingForm {}

        /** One of several texts, in this case. */
        record LicenseSetting() implements SettingForm {}
    }

    private record SettingKey(SettingForm form, String standard) {}

    private static final List<String> LICENSES =
            List.of(
                    "Dual MIT/GPL",
                    "Dual BSD/GPL",
                    "Dual MPL/GPL",
                    "GPL and additional rights",
                    "GPL v2",
                    "GPL");

    private static final Map<String, SettingKey> KEYS = keys();

    private static final Map<String, String> RENAMED =
            Map.of(
                    "strlen", "max_strlen",
                    "no_cpp_demangle", "cpp_demangle",
                    "cat_bytes_max", "max_cat_bytes",
                    "map_keys_max", "max_map_keys");

    private static final Set<String> WITHOUT_EFFECT =
            Set.of(
                    "symbol_source",
                    "max_type_res_iterations",
                    "unstable_addr",
                    "unstable_import",
                    "unstable_macro",
                    "unstable_map_decl");

    private static final Set<String> ENVIRONMENT_ONLY =
            Set.of("btf", "kernel_build", "kernel_source", "vmlinux");

    private final CompilerDiagnostics diagnostics;
    private final Map<String, String> values = new HashMap<>();

    ConfigSettings(CompilerDiagnostics diagnostics) {
        this.diagnostics = diagnostics;
        KEYS.forEach((name, key) -> values.put(name, key.standard()));
    }

    private static Map<String, SettingKey> keys() {
        SettingForm truth = new SettingForm.BooleanSetting();
        SettingForm number = new SettingForm.NumberSetting();
        SettingForm unstable =
                new SettingForm.ChoiceSetting(
                        "Invalid value for unstable config: valid values are enable, warn, and"
                                + " error.",
                        List.of("enable", "warn", "error"),
                        words("enable", "1 true on yes", "error", "0 false off no"));
        Map<String, SettingKey> keys = new LinkedHashMap<>();
        keys.put(
                "cache_user_symbols",
                new SettingKey(
                        new SettingForm.ChoiceSetting(
                                "Invalid value for cache_user_symbols: valid values are PER_PID,"
                                        + " PER_PROGRAM, and NONE.",
                                List.of("per_pid", "per_program", "none"),
                                words("automatic", "1", "none", "0")),
                        "automatic"));
        keys.put("cpp_demangle", new SettingKey(truth, "true"));
        keys.put("lazy_symbolication", new SettingKey(truth, "false"));
        keys.put("license", new SettingKey(new SettingForm.LicenseSetting(), "GPL"));
        keys.put("log_size", new SettingKey(number, "1000000"));
        keys.put("max_bpf_progs", new SettingKey(number, "1024"));
        keys.put("max_cat_bytes", new SettingKey(number, "10240"));
        keys.put("max_map_keys", new SettingKey(number, "4096"));
        keys.put("max_probes", new SettingKey(number, "1024"));
        keys.put("max_strlen", new SettingKey(number, "1024"));
        keys.put(
                "missing_probes",
                new SettingKey(
                        new SettingForm.ChoiceSetting(
                                "Invalid value for missing_probes: valid values are ignore, warn,"
                                        + " and error.",
                                List.of("ignore", "warn", "error"),
                                Map.of()),
                        "error"));
        keys.put("on_stack_limit", new SettingKey(number, "32"));
        keys.put("perf_rb_pages", new SettingKey(number, "0"));
        keys.put("print_maps_on_exit", new SettingKey(truth, "true"));
        keys.put("show_debug_info", new SettingKey(truth, "true"));
        keys.put(
                "stack_mode",
                new SettingKey(
                        new SettingForm.ChoiceSetting(
                                "Invalid value for stack_mode: valid values are bpftrace, perf,"
                                        + " raw, and build_id.",
                                List.of("bpftrace", "perf", "raw", "build_id"),
                                Map.of()),
                        "bpftrace"));
        keys.put("str_trunc_trailer", new SettingKey(new SettingForm.TextSetting(), ".."));
        keys.put("unstable_dw_ustack", new SettingKey(unstable, "warn"));
        keys.put("unstable_import_statement", new SettingKey(unstable, "error"));
        keys.put("unstable_tseries", new SettingKey(unstable, "warn"));
        keys.put("unstable_typeinfo", new SettingKey(unstable, "error"));
        keys.put("use_blazesym", new SettingKey(truth, "true"));
        return keys;
    }

    private static Map<String, String> words(String first, String a, String second, String b) {
        Map<String, String> all = new HashMap<>();
        for (String word : a.split(" ")) {
            all.put(word, first);
        }
        for (String word : b.split(" ")) {
            all.put(word, second);
        }
        return all;
    }

    /** A line of the config block. */
    void set(ConfigEntry setting) {
        String key = setting.key();
        String name = key.toLowerCase(Locale.ROOT);
        name = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
        if (WITHOUT_EFFECT.contains(name)) {
            diagnostics.warning(setting.span(), key + " is deprecated and has no effect", "");
            return;
        }
        String renamed = RENAMED.get(name);
        if (renamed != null) {
            diagnostics.warning(
                    setting.span(), key + " has been renamed, please use " + renamed, "");
            name = renamed;
        }
        if (KEYS.containsKey(name)) {
            set(name, key, setting.value(), setting.span());
        } else if (ENVIRONMENT_ONLY.contains(name)) {
            diagnostics.error(setting.span(), key + ": can only be set as an environment variable");
        } else {
            diagnostics.error(setting.span(), key + ": not a known configuration option");
        }
    }

    /** The variables that are ours; those of bpftrace before 0.18 have other names. */
    void environment(Map<String, String> environment) {
        RENAMED.forEach((old, name) -> {
            String value = environment.get(variable(old));
            if (value != null && !environment.containsKey(variable(name))) {
                SourceSpan span = span(variable(old), value);
                diagnostics.warning(
                        span,
                        variable(old) + " has been renamed, please use " + variable(name),
                        "");
                boolean isOpposite = old.startsWith("no_");
                set(name, old, isOpposite ? opposite(value) : value, span);
            }
        });
        for (String name : KEYS.keySet()) {
            String value = environment.get(variable(name));
            if (value != null) {
                set(name, name, value, span(variable(name), value));
            }
        }
    }

    private static String variable(String name) {
        return (PREFIX + name).toUpperCase(Locale.ROOT);
    }

    private static SourceSpan span(String variable, String value) {
        SourceText text = new SourceText("environment", variable + "=" + value);
        return new SourceSpan(text, 0, text.text().length());
    }

    private static String opposite(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "1", "true" -> "false";
            case "0", "false" -> "true";
            default -> value;
        };
    }

    /**
     * @param shown how the key is called in messages
     */
    private void set(String name, String shown, String value, SourceSpan span) {
        SettingForm form = Objects.requireNonNull(KEYS.get(name)).form();
        String taken = taken(form, value);
        if (taken != null) {
            values.put(name, taken);
            return;
        }
        String message =
                switch (form) {
                    case SettingForm.BooleanSetting truth ->
                            shown
                                    + ": Invalid bool value: valid values are true, false, 1 or"
                                    + " 0.";
                    case SettingForm.NumberSetting number ->
                            shown + ": expecting a number, got " + value;
                    case SettingForm.ChoiceSetting one -> shown + ": " + one.message();
                    case SettingForm.LicenseSetting license ->
                            "Invalid value for license. Found: "
                                    + value
                                    + ". Valid values: "
                                    + String.join(", ", LICENSES)
                                    + ".";
                    case SettingForm.TextSetting text -> throw new AssertionError(text);
                };
        diagnostics.error(span, message);
    }

    /** The value as it is kept; null when it is none for the key. */
    private static @Nullable String taken(SettingForm form, String value) {
        String word = value.toLowerCase(Locale.ROOT);
        return switch (form) {
            case SettingForm.BooleanSetting() -> {
                Boolean truth = ScriptParameters.truth(value);
                yield truth != null
                        ? truth.toString()
                        : value.matches("[0-9]{1,20}") ? "true" : null;
            }
            case SettingForm.NumberSetting() -> {
                BigInteger number = NumberWords.parse(value);
                boolean fits = number != null && number.signum() >= 0 && number.bitLength() < 64;
                yield fits ? String.valueOf(number) : null;
            }
            case SettingForm.TextSetting() -> value;
            case SettingForm.ChoiceSetting(var message, var words, var aliases) ->
                    words.contains(word) ? word : aliases.get(word);
            case SettingForm.LicenseSetting() -> LICENSES.contains(value) ? value : null;
        };
    }

    String text(String key) {
        return Objects.requireNonNull(values.get(key));
    }

    boolean truth(String key) {
        return Boolean.parseBoolean(text(key));
    }

    long number(String key) {
        return Long.parseLong(text(key));
    }

    <E extends Enum<E>> E one(String key, Class<E> type) {
        return Enum.valueOf(type, text(key).toUpperCase(Locale.ROOT));
    }
}
