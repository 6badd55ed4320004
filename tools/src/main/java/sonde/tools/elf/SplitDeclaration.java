package sonde.tools.elf;

/** Cuts declarations in two, so that names stand below one another. */
final class SplitDeclaration {
    private SplitDeclaration() {}

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
        int open = text.lastIndexOf('(', at);
        int star = text.lastIndexOf('*', at);
        boolean wraps = open >= 0 && star > open && text.substring(star + 1, at).isBlank();
        boolean member = wraps && text.startsWith("::", star - 2);
        int from = wraps && (member || star == open + 1) ? open : at;
        return new String[] {
            text.substring(0, from).strip(), text.substring(from).replace(marker, name)
        };
    }
}
