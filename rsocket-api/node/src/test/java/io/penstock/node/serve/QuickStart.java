package io.penstock.node.serve;

import io.penstock.node.cli.Folders;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;

/// What lets the many processes of the tests start in half the time: their class path as jars only, and an archive of
/// the classes that a node loads. Made once for a build, by whichever JVM of the tests comes first; where the JVM makes
/// no archive, processes start without.
final class QuickStart {
  private static final Path PLACE = Path.of("target", "quick-start");
  private static @Nullable QuickStart made;

  private final String classPath;
  private final List<String> flags;

  private QuickStart(String classPath, List<String> flags) {
    this.classPath = classPath;
    this.flags = flags;
  }

  static String classPath() {
    return made().classPath;
  }

  static List<String> flags() {
    return made().flags;
  }

  private static synchronized QuickStart made() {
    if (made == null) {
      made = make();
    }
    return made;
  }

  private static QuickStart make() {
    try {
      return packed();
    } catch (IOException e) { // slower, and else the same
      System.err.println("processes start from folders of classes: " + e);
      return new QuickStart(System.getProperty("java.class.path"), List.of());
    }
  }

  private static QuickStart packed() throws IOException {
    Files.createDirectories(PLACE);
    try (FileChannel place =
        FileChannel.open(PLACE.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      place.lock(); // until it is closed: one JVM of the tests at a time
      String classPath = jarsOnly();
      CRC32C sum = new CRC32C();
      for (String jar : classPath.split(File.pathSeparator)) {
        add(sum, Path.of(jar));
      }
      Path archive = PLACE.toAbsolutePath().resolve("%08x.jsa".formatted(sum.getValue()));
      if (!Files.exists(archive)) {
        forgetOlder(classPath);
        archive(classPath, archive);
      }
      return new QuickStart(classPath,
          Files.exists(archive) ? List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:disable") : List.of());
    }
  }

  /// What was made of classes that have changed since.
  private static void forgetOlder(String classPath) throws IOException {
    try (DirectoryStream<Path> made = Files.newDirectoryStream(PLACE.toAbsolutePath(), "*.{jar,jsa}")) {
      for (Path file : made) {
        if (!classPath.contains(file.toString())) {
          Files.delete(file);
        }
      }
    }
  }

  /// The class path of this JVM without the tests' own classes; each folder on it packed.
  private static String jarsOnly() throws IOException {
    List<String> jars = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path path = Path.of(entry);
      if (!Files.isDirectory(path)) {
        jars.add(entry);
      } else if (!path.endsWith("test-classes")) {
        jars.add(pack(path).toString());
      }
    }
    return String.join(File.pathSeparator, jars);
  }

  private static Path pack(Path folder) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(folder)) {
      files = all.filter(Files::isRegularFile).sorted().toList();
    }
    CRC32C sum = new CRC32C();
    for (Path file : files) {
      add(sum, file);
    }
    Path jar = PLACE.toAbsolutePath().resolve("%08x.jar".formatted(sum.getValue()));
    if (Files.exists(jar)) {
      return jar;
    }
    Path draft = Files.createTempFile(jar.getParent(), "classes", ".draft");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(draft))) {
      out.setLevel(0);
      for (Path file : files) {
        out.putNextEntry(new ZipEntry(folder.relativize(file).toString().replace(File.separatorChar, '/')));
        Files.copy(file, out);
        out.closeEntry();
      }
    }
    return Files.move(draft, jar, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void add(CRC32C sum, Path file) throws IOException {
    sum.update((file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file).toMillis())
        .getBytes(StandardCharsets.UTF_8));
  }

  /// Runs one node, which is ended as soon as it serves, and leaves the archive.
  private static void archive(String classPath, Path archive) throws IOException {
    Path work = Files.createTempDirectory(PLACE, "node");
    Path draft = work.resolve("draft.jsa");
    List<String> jvmFlags = new ArrayList<>(NodeProcess.accessFlags()); // without them an archive is not taken
    jvmFlags.addAll(List.of("-XX:ArchiveClassesAtExit=" + draft, "-Xlog:disable"));
    List<String> command =
        NodeProcess.command(classPath, jvmFlags, "--layers", "4", "--block-bytes", "4KiB", "--dram", "20 blocks",
            "--ssd", "100 blocks", "--ssd-dir", work.resolve("ssd").toString(), "--ssd-engine", "chronicle",
            "--ssd-segment-bytes", "1MiB");
    Process process = new ProcessBuilder(command).redirectError(work.resolve("err").toFile()).start();
    CompletableFuture<Process> end =
        process.onExit().orTimeout(60, TimeUnit.SECONDS).whenComplete((ended, late) -> process.destroyForcibly());
    process.inputReader().readLine();
    process.destroy();
    boolean whole = end.handle((ended, late) -> late == null).join();
    if (whole && Files.exists(draft)) {
      Files.move(draft, archive, StandardCopyOption.ATOMIC_MOVE);
    }
    Folders.delete(work);
  }
}
