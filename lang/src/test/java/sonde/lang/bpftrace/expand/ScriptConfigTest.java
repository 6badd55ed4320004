package sonde.lang.bpftrace.expand;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.bpftrace.expand.ScriptConfig.ConfiguredStackMode;
import sonde.lang.bpftrace.expand.ScriptConfig.MissingProbes;
import sonde.lang.bpftrace.expand.ScriptConfig.UnstableUse;
import sonde.lang.bpftrace.expand.ScriptConfig.UserSymbols;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceText;

/** Settings, their defaults and what is wrong with them. */
final class ScriptConfigTest {
    private static ScriptConfig read(
            String settings, Map<String, String> environment, CompilerDiagnostics diagnostics) {
        SourceText text = new SourceText("stdin", "config = { " + settings + " } begin { }");
        return ScriptConfig.of(
                ScriptParser.parse(text, diagnostics).config(), environment, diagnostics);
    }

    @Test
    void defaults() {
        ScriptConfig none = ScriptConfig.DEFAULT;
        assertThat(none.maxStringBytes()).isEqualTo(1024);
        assertThat(none.maxMapKeys()).isEqualTo(4096);
        assertThat(none.truncationTrailer()).isEqualTo("..");
        assertThat(none.printMapsOnExit()).isTrue();
        assertThat(none.stackMode()).isEqualTo(ConfiguredStackMode.BPFTRACE);
        assertThat(none.userSymbols()).isEqualTo(UserSymbols.AUTOMATIC);
        assertThat(none.missingProbes()).isEqualTo(MissingProbes.ERROR);
        assertThat(none.tseries()).isEqualTo(UnstableUse.WARN);
    }

    @Test
    void keysOfAnyCaseAndTheEnvironmentOverThem() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        ScriptConfig read =
                read(
                        "BPFTRACE_Stack_Mode=perf; max_strlen=200; print_maps_on_exit=0;"
                                + " license=\"Dual MIT/GPL\"; cache_user_symbols=\"PER_PROGRAM\";"
                                + " str_trunc_trailer=\"\"; unstable_tseries=enable; max_probes=5k0",
                        Map.of(),
                        new CompilerDiagnostics());
        assertThat(read.stackMode()).isEqualTo(ConfiguredStackMode.PERF);
        read =
                read(
                        "stack_mode=perf; max_strlen=200; print_maps_on_exit=0",
                        Map.of(
                                "BPFTRACE_STACK_MODE", "raw",
                                "BPFTRACE_MAX_STRLEN", "0x40",
                                "BPFTRACE_VMLINUX", "/x"),
                        diagnostics);
        assertThat(diagnostics.all()).isEmpty();
        assertThat(read.stackMode()).isEqualTo(ConfiguredStackMode.RAW);
        assertThat(read.maxStringBytes()).isEqualTo(64);
        assertThat(read.printMapsOnExit()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "bad_config=raw ## stdin:1:12-26: ERROR: bad_config: not a known configuration"
                        + " option",
                "BPFTRACE_MAX_PROBES = \"hello\" ## stdin:1:12-41: ERROR: BPFTRACE_MAX_PROBES:"
                        + " expecting a number, got hello",
                "kernel_build=1 ## stdin:1:12-26: ERROR: kernel_build: can only be set as an"
                        + " environment variable",
                "print_maps_on_exit=maybe ## print_maps_on_exit: Invalid bool value: valid values"
                        + " are true, false, 1 or 0.",
                "missing_probes=off ## missing_probes: Invalid value for missing_probes: valid"
                        + " values are ignore, warn, and error.",
                "license=\"MIT\" ## Invalid value for license. Found: MIT. Valid values: Dual MIT/GPL",
                "symbol_source=\"zzz\" ## WARNING: symbol_source is deprecated and has no effect",
                "map_keys_max=2 ## WARNING: map_keys_max has been renamed, please use max_map_keys",
                "max_strlen=-1 ## ERROR",
            })
    void messages(String settings, String message) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        read(settings, Map.of(), diagnostics);
        assertThat(diagnostics.all().toString()).contains(message);
    }

    @Test
    void theEnvironmentIsNamedInItsErrors() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        read("log_size=5", Map.of("BPFTRACE_LOG_SIZE", "much"), diagnostics);
        assertThat(diagnostics.all().toString())
                .contains("environment:1:1", "log_size: expecting a number, got much");
    }

    /** bpftrace 0.17 and older called some of them otherwise. */
    @Test
    void theEnvironmentMayHaveOldNames() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        ScriptConfig old =
                read(
                        "max_strlen=300",
                        Map.of(
                                "BPFTRACE_STRLEN",
                                "99",
                                "BPFTRACE_MAP_KEYS_MAX",
                                "7",
                                "BPFTRACE_NO_CPP_DEMANGLE",
                                "1"),
                        diagnostics);
        assertThat(old.maxStringBytes()).isEqualTo(99);
        assertThat(old.maxMapKeys()).isEqualTo(7);
        assertThat(old.cppDemangle()).isFalse();
        assertThat(diagnostics.hasErrors()).isFalse();
        assertThat(diagnostics.all().toString())
                .contains("BPFTRACE_STRLEN has been renamed, please use BPFTRACE_MAX_STRLEN");
        ScriptConfig both =
                read(
                        "",
                        Map.of("BPFTRACE_STRLEN", "99", "BPFTRACE_MAX_STRLEN", "55"),
                        new CompilerDiagnostics());
        assertThat(both.maxStringBytes()).isEqualTo(55);
    }
}
