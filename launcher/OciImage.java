import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/**
 * Writes an OCI image layout as one tar file: a layer, its configuration, a manifest and an index
 * (github.com/opencontainers/image-spec, 1.0). No daemon is needed.
 *
 * @param work a folder for what is written on the way
 * @param seconds since 1970, of all files
 * @param arch as Go names processors
 */
record OciImage(Path work, long seconds, String arch) {
    private static final String MEDIA = "application/vnd.oci.image.";

    /** Whose files the image takes from this machine; the last two are DuckDB's. */
    private static final List<String> LIBRARIES =
            List.of(
                    "libc.so.6",
                    "libm.so.6",
                    "libdl.so.2",
                    "libpthread.so.0",
                    "librt.so.1",
                    "libstdc++.so.6",
                    "libgcc_s.so.1");

    void write(Path tree, Path target) throws IOException {
        Path layer = work.resolve("layer");
        Package.copy(tree, layer);
        addSystem(layer);
        Path layout = Files.createDirectories(work.resolve("oci"));
        Path blobs = Files.createDirectories(layout.resolve("blobs/sha256"));
        Path plain = work.resolve("layer.tar");
        tar(plain, layer);
        String plainDigest = digest(plain);
        Path zipped = work.resolve("layer.tar.gz");
        try (InputStream from = Files.newInputStream(plain);
                OutputStream to = new GZIPOutputStream(Files.newOutputStream(zipped))) {
            from.transferTo(to);
        }
        Files.delete(plain);
        String layerDigest = digest(zipped);
        long layerBytes = Files.size(zipped);
        Files.move(zipped, blobs.resolve(layerDigest), StandardCopyOption.REPLACE_EXISTING);
        String created = java.time.Instant.ofEpochSecond(seconds).toString();
        String config =
                blob(
                        blobs,
                        "config.v1+json",
                        """
                        {"created":"%s","architecture":"%s","os":"linux",\
                        "config":{"Entrypoint":["/usr/bin/sonde"],"Env":["PATH=/usr/bin:/bin","HOME=/root"]},\
                        "rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}\
                        """
                                .formatted(created, arch, plainDigest));
        String layerEntry =
                "{\"mediaType\":\"%slayer.v1.tar+gzip\",\"digest\":\"sha256:%s\",\"size\":%d}"
                        .formatted(MEDIA, layerDigest, layerBytes);
        String manifest =
                blob(
                        blobs,
                        "manifest.v1+json",
                        "{\"schemaVersion\":2,\"mediaType\":\"%smanifest.v1+json\",\"config\":%s,\"layers\":[%s]}"
                                .formatted(MEDIA, config, layerEntry));
        String named =
                manifest.replaceFirst(
                        "}$",
                        ",\"annotations\":{\"org.opencontainers.image.ref.name\":\"sonde\"}}");
        Files.writeString(
                layout.resolve("index.json"),
                "{\"schemaVersion\":2,\"manifests\":[" + named + "]}");
        Files.writeString(layout.resolve("oci-layout"), "{\"imageLayoutVersion\":\"1.0.0\"}");
        tar(target, layout);
    }

    /** busybox for the start script, and the C library. */
    private void addSystem(Path layer) throws IOException {
        Path bin = Files.createDirectories(layer.resolve("bin"));
        Path busybox =
                Files.exists(Path.of("/bin/busybox"))
                        ? Path.of("/bin/busybox")
                        : Path.of("/usr/bin/busybox");
        Files.copy(busybox, bin.resolve("busybox"));
        for (String name :
                Package.said(work, seconds, busybox.toString(), "--list").lines().toList()) {
            if (!name.equals("busybox")) {
                Files.createSymbolicLink(bin.resolve(name), Path.of("busybox"));
            }
        }
        String triple = arch.equals("arm64") ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
        String loader =
                arch.equals("arm64") ? "lib/ld-linux-aarch64.so.1" : "lib64/ld-linux-x86-64.so.2";
        Path libraries = Files.createDirectories(layer.resolve("lib").resolve(triple));
        Files.createDirectories(layer.resolve(loader).getParent());
        Files.copy(Path.of("/" + loader).toRealPath(), layer.resolve(loader));
        for (String name : LIBRARIES) {
            Path there = Path.of("/lib", triple, name);
            there = Files.exists(there) ? there : Path.of("/usr/lib", triple, name);
            Files.copy(there.toRealPath(), libraries.resolve(name));
        }
        for (String folder :
                List.of("tmp", "root", "proc", "sys", "dev", "etc", "run", "var/cache")) {
            Files.createDirectories(layer.resolve(folder));
        }
        Files.writeString(layer.resolve("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
    }

    /** Stores a document and returns its descriptor. */
    private static String blob(Path blobs, String kind, String text) throws IOException {
        Path file = Files.writeString(blobs.resolve("new"), text);
        String digest = digest(file);
        Files.move(file, blobs.resolve(digest), StandardCopyOption.REPLACE_EXISTING);
        return "{\"mediaType\":\"%s%s\",\"digest\":\"sha256:%s\",\"size\":%d}"
                .formatted(MEDIA, kind, digest, text.getBytes(StandardCharsets.UTF_8).length);
    }

    private void tar(Path file, Path folder) throws IOException {
        Package.said(
                work,
                seconds,
                "tar",
                "--format=gnu",
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
                "--mtime=@" + seconds,
                "-cf",
                file.toString(),
                "-C",
                folder.toString(),
                ".");
    }

    static String digest(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 16];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                digest.update(buffer, 0, read);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IOException(e);
        }
    }
}
