package io.penstock.node.serve;

import io.penstock.node.CommandLineRun;
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
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import tools.jackson.databind.json.JsonMapper;

/// Lets the many processes of the tests start in half the time: a class path of jars only, and an archive of the
/// classes that a node loads. The first JVM of the tests makes both, once for a build; where the JVM makes no archive,
/// processes start without one.
///
/// Every JVM of the tests names the archive's file (`penstock.test.archive` in `pom.xml`), and so do the processes that
/// `OwnCommand` starts. Theirs must have the class path as well: a class whose tests start such processes has this
/// extension.
public final class QuickStart implements BeforeAllCallback, AfterAllCallback {
  private static final Path PLACE = Path.of("target", "quick-start").toAbsolutePath();
  private static final Path ARCHIVE = PLACE.resolve("classes.jsa");
  private static final String CLASS_PATH = "java.class.path";
  private static final String OF_TESTS = System.getProperty(CLASS_PATH);
  private static @Nullable Made made;

  /// @param classPath without the tests' own classes
  /// @param tests the tests' own classes
  private record Made(String classPath, String tests, List<String> flags) {}

  @Override
  public void beforeAll(ExtensionContext context) {
    System.setProperty(CLASS_PATH, made().classPath + File.pathSeparator + made().tests);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    System.setProperty(CLASS_PATH, OF_TESTS);
  }

  /// Of a process that needs no class of the tests.
  static String classPath() {
    return made().classPath;
  }

  static List<String> flags() {
    return made().flags;
  }

  private static synchronized Made made() {
    if (made == null) {
      made = make();
    }
    return made;
  }

  private static Made make() {
    try {
      return packed();
    } catch (IOException e) { // slower, and else the same
      System.err.println("processes start from folders of classes: " + e);
      return new Made(OF_TESTS, "", List.of());
    }
  }

  private static Made packed() throws IOException {
    Files.createDirectories(PLACE);
    try (FileChannel place =
        FileChannel.open(PLACE.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      place.lock(); // until it is closed: one JVM of the tests at a time
      String classPath = jars(entry -> !entry.endsWith("test-classes"));
      String tests = jars(entry -> entry.endsWith("test-classes"));
      String sum = sum(classPath);
      Path stamp = PLACE.resolve("stamp");
      if (!Files.exists(stamp) || !Files.readString(stamp).equals(sum)) {
        forgetOlder(classPath + tests);
        archive(classPath);
        Files.writeString(stamp, sum);
      }
      return new Made(classPath, tests,
          Files.exists(ARCHIVE) ? List.of("-XX:SharedArchiveFile=" + ARCHIVE, "-Xlog:disable") : List.of());
    }
  }

  private static String sum(String classPath) throws IOException {
    CRC32C sum = new CRC32C();
    for (String jar : classPath.split(File.pathSeparator)) {
      add(sum, Path.of(jar));
    }
    return "%08x".formatted(sum.getValue());
  }

  /// Deletes what was made of classes that have changed since.
  private static void forgetOlder(String classPath) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(PLACE, "*.{jar,jsa}")) {
      for (Path file : files) {
        if (!classPath.contains(file.toString())) {
          Files.delete(file);
        }
      }
    }
  }

  /// The chosen entries of this JVM's class path, its folders packed.
  private static String jars(Predicate<Path> chosen) throws IOException {
    List<String> jars = new ArrayList<>();
    for (String entry : OF_TESTS.split(File.pathSeparator)) {
      Path path = Path.of(entry);
      if (chosen.test(path)) {
        jars.add(Files.isDirectory(path) ? pack(path).toString() : entry);
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
    Path jar = PLACE.resolve("%08x.jar".formatted(sum.getValue()));
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

  /// Runs one node, which serves two commands, and leaves the archive when it ends.
  private static void archive(String classPath) throws IOException {
    Path work = Files.createTempDirectory(PLACE, "node");
    Path draft = work.resolve("draft.jsa");
    List<String> jvmFlags = new ArrayList<>(NodeProcess.accessFlags()); // without them an archive is not taken
    jvmFlags.addAll(List.of("-XX:ArchiveClassesAtExit=" + draft, "-Xlog:disable"));
    List<String> command = NodeProcess.command(classPath, jvmFlags, "--layers", "4", "--block-bytes", "4KiB", "--dram",
        "20 blocks", "--ssd", "100 blocks", "--ssd-dir", work.resolve("ssd").toString(), "--ssd-engine", "chronicle",
        "--ssd-segment-bytes", "1MiB");
    Process process = new ProcessBuilder(command).redirectError(work.resolve("err").toFile()).start();
    CompletableFuture<Process> end =
        process.onExit().orTimeout(60, TimeUnit.SECONDS).whenComplete((ended, late) -> process.destroyForcibly());
    String ready = process.inputReader().readLine();
    if (ready != null) {
      String node = "127.0.0.1:" + JsonMapper.shared().readTree(ready).get("port").asInt();
      for (String line : List.of("put --count 50 --connect ", "get --trace-id 0-49 --discard --connect ")) {
        CommandLineRun.of(Stream.concat(Stream.of((line + node).split(" ")), PatternClient.SHAPE.stream())
            .toArray(String[]::new));
      }
    }
    process.destroy();
    boolean whole = end.handle((ended, late) -> late == null).join();
    if (whole && Files.exists(draft)) {
      Files.move(draft, ARCHIVE, StandardCopyOption.ATOMIC_MOVE);
    }
    Folders.delete(work);
  }
}
