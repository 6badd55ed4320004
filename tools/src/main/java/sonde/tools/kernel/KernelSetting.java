package sonde.tools.kernel;

import java.util.List;
import java.util.Locale;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.view.TextEscape;

/**
 * A setting that was looked at.
 *
 * @param change the line that changes it; empty where nothing is to be changed
 */
record KernelSetting(
        String name, String value, SettingVerdict verdict, String meaning, String change) {
    /** What a value means for a diagnosis. */
    enum SettingVerdict {
        /** Nothing to do. */
        OK,
        /** Works, and something is worth knowing. */
        NOTE,
        /** A crash or a trace would lack something. */
        PROBLEM,
        /** The machine does not tell, or not to this user. */
        UNKNOWN;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static KernelSetting ok(String name, String value, String meaning) {
        return new KernelSetting(name, value, SettingVerdict.OK, meaning, "");
    }

    static KernelSetting note(String name, String value, String meaning, String change) {
        return new KernelSetting(name, value, SettingVerdict.NOTE, meaning, change);
    }

    static KernelSetting problem(String name, String value, String meaning, String change) {
        return new KernelSetting(name, value, SettingVerdict.PROBLEM, meaning, change);
    }

    static KernelSetting unknown(String name, String meaning, String change) {
        return new KernelSetting(name, "unknown", SettingVerdict.UNKNOWN, meaning, change);
    }

    /** Settings as a table, which people read as paragraphs. */
    static Result result(String title, List<KernelSetting> settings) {
        return new TextLayout(
                new TableBuilder<KernelSetting>(title)
                        .text("setting", KernelSetting::name)
                        .text("value", KernelSetting::value)
                        .text("verdict", one -> one.verdict().word())
                        .text("meaning", KernelSetting::meaning)
                        .text("change", KernelSetting::change)
                        .table(settings),
                out -> {
                    for (KernelSetting one : settings) {
                        out.printf(
                                "%-8s %s: %s%n",
                                one.verdict().word(), one.name(), TextEscape.line(one.value()));
                        out.println("         " + TextEscape.line(one.meaning()));
                        one.change()
                                .lines()
                                .forEach(
                                        line -> out.println("         > " + TextEscape.line(line)));
                    }
                });
    }
}
