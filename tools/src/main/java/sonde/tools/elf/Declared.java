package sonde.tools.elf;

/** Cuts declarations in two, so that names stand below one another. */
final class Declared {
    private Declared() {}

    /**
     * What stands before a name, and name with the rest; stars belong to the first part, a
     * parenthesis around the name to the second.
     *
     * @param text a declaration with a marker for the name
     */
    static String[] split(String text, String marker, String name) {
        int at = text.indexOf(marker);
        if (at < 0) {
            return new String[] {text, name};
        }
        int open = text.lastIndexOf("(*", at);
        int from = open >= 0 && text.substring(open + 2, at).isBlank() ? open : at;
        return new String[] {
            text.substring(0, from).strip(), text.substring(from).replace(marker, name)
        };
    }
}
