package sonde.probe.plan;

/** An event name that nothing on this machine has. */
public final class UnknownEventException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String event;
    private final String nearest;

    /**
     * @param event as the user gave it
     * @param nearest the most similar name, empty when none is similar
     */
    public UnknownEventException(String event, String nearest) {
        super(
                "unknown event '"
                        + event
                        + "'"
                        + (nearest.isEmpty() ? "" : ", did you mean '" + nearest + "'?")
                        + (event.startsWith("probe:")
                                ? "; 'sonde probe add' makes named probes, 'sonde probe list' shows them"
                                : ""));
        this.event = event;
        this.nearest = nearest;
    }

    /** An event that cannot have what was asked of it. */
    UnknownEventException(String message) {
        super(message);
        this.event = "";
        this.nearest = "";
    }

    /** As the user gave it. */
    public String event() {
        return event;
    }

    /** The most similar name, empty when none is similar. */
    public String nearest() {
        return nearest;
    }
}
