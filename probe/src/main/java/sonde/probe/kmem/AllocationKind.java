package sonde.probe.kmem;

/** Ways to get memory of the kernel. */
public enum AllocationKind {
    /** kmalloc: a slab of a general cache, or whole pages. */
    KMALLOC("kmalloc"),
    /** An object of a cache of its own. */
    CACHE("slab cache"),
    /** Whole pages; the address is that of struct page. */
    PAGES("pages"),
    /** Memory of which each CPU has its own. */
    PER_CPU("per-CPU"),
    /** An area of vmalloc, vmap or ioremap. */
    VMALLOC("vmalloc");

    private final String shown;

    AllocationKind(String shown) {
        this.shown = shown;
    }

    /** For people. */
    public String shown() {
        return shown;
    }
}
