package sonde.event.result;

/**
 * A column of a {@link Table}.
 *
 * @param name heading; with spaces as underscores it is the key in JSON
 * @param unit of its values: {@link Unit#TEXT} holds Strings, {@link Unit#SHARE} Doubles, all
 *     others Longs
 */
public record Column(String name, Unit unit) {
    /** A text column. */
    public static Column text(String name) {
        return new Column(name, Unit.TEXT);
    }

    /** A column of plain numbers. */
    public static Column count(String name) {
        return new Column(name, Unit.COUNT);
    }

    /** A column of durations. */
    public static Column nanos(String name) {
        return new Column(name, Unit.NANOS);
    }
}
