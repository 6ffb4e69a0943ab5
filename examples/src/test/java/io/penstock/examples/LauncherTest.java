package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Runs the launcher in a house of its own, where `java` and `mvn` are scripts that write down how they were
/// called.
@Timeout(60)
final class LauncherTest {
  private static final Path LAUNCHER =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent().resolve("penstock");
  private static final String MODULES =
      "pipeline storage-tier device-bridge rsocket-api/wire rsocket-api/node rsocket-api/lab examples";
  private static final String JAVA = "printf '%s\\n' \"$@\"";
  private static final String MVN =
      """
          echo "mvn with $JAVA_HOME: $*" >> calls
          mkdir -p examples/target/launcher
          touch examples/target/examples.jar
          : > other.jar
          printf '%s' "$PWD" > examples/target/launcher/root
          printf '%s' "$PWD/examples/target/examples.jar" > examples/target/launcher/jar
          printf '%s' "$PWD/examples/target/examples.jar:$PWD/other.jar" > examples/target/launcher/class-path
          """;

  @TempDir
  Path temp;
  private Path root;
  private final Map<String, String> environment = new HashMap<>();

  record Outcome(int code, String out, String err) {}

  @BeforeEach
  void buildTheHouse() throws IOException {
    root = Files.createDirectory(temp.toRealPath().resolve("a house"));
    Files.copy(LAUNCHER, root.resolve("penstock"));
    for (String module : MODULES.split(" ")) {
      Files.createDirectories(root.resolve(module).resolve("src/main"));
      Files.createFile(root.resolve(module).resolve("pom.xml"));
    }
    Files.createFile(root.resolve("pom.xml"));
    Files.createFile(root.resolve("rsocket-api/pom.xml"));
    program(root.resolve("bin/mvn"), MVN);
    environment.put("PENSTOCK_JAVA_HOME", jdk("25.0.3").toString());
    environment.put("HOME", Files.createDirectory(temp.resolve("home")).toString());
  }

  @Test
  void firstUse_buildsThenRunsTheNodeWithEveryArgumentAsGiven() throws Exception {
    Outcome outcome = launch("replay", "two words", "");

    assertThat(outcome.code()).isZero();
    assertThat(calls()).singleElement().asString().contains("mvn with " + environment.get("PENSTOCK_JAVA_HOME"));
    assertThat(outcome.out().lines())
        .containsSubsequence(
            "@" + root + "/examples/target/launcher/jvm.args",
            "-cp",
            classPath(root),
            "io.penstock.node.PenstockMain",
            "replay",
            "two words",
            "");
    assertThat(outcome.out()).as("where the JVM left none").doesNotContain("AOTCache");
    assertThat(outcome.err().lines()).satisfiesExactly(line -> assertThat(line).contains("building"),
        line -> assertThat(line).contains("training"));
  }

  @Test
  void verbsOfTheLab_startTheLab_andAllOthersTheNode() throws Exception {
    for (String verb : List.of("attack", "bench", "plan", "simulate", "torture", "help")) {
      assertThat(launch(verb, "--help").out().lines()).as(verb).containsSubsequence("io.penstock.lab.LabMain", verb,
          "--help");
    }
    for (String verb : List.of("serve", "stat", "benches")) {
      assertThat(launch(verb).out().lines()).as(verb).containsSubsequence("io.penstock.node.PenstockMain", verb);
    }
    assertThat(launch("example", "hello").out().lines()).containsSubsequence("io.penstock.examples.Examples", "hello");
  }

  @Test
  void secondUse_buildsNothingAndSaysNothing() throws Exception {
    launch();

    assertThat(launch().err()).isEmpty();
    assertThat(calls()).hasSize(1);
  }

  @Test
  void cache_isTrainedWithTheBuild_andUsedUnlessTheUserHasOne() throws Exception {
    Path jdk = jdk("25.0.4");
    program(jdk.resolve("bin/java"), training(""));
    environment.put("PENSTOCK_JAVA_HOME", jdk.toString());
    String cache = root + "/examples/target/launcher/penstock.aot";
    environment.put("PENSTOCK_JAVA_OPTS", "-Dmine=1");

    assertThat(launch("stat").out().lines()).containsSubsequence("-XX:AOTCache=" + cache, "-Xlog:aot*=off",
        "-Dmine=1", "stat");
    assertThat(Path.of(cache)).exists();
    assertThat(launch("stat").out().lines()).contains("-XX:AOTCache=" + cache);
    environment.put("PENSTOCK_JAVA_OPTS", "-XX:AOTCache=mine");
    assertThat(launch("stat").out()).doesNotContain(cache);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "sleep 2 # until the signal is there\n  "})
  void trainingThatIsInterrupted_leavesNoDraft_andIsDoneAtTheNextStart(String lateness) throws Exception {
    Path jdk = jdk("25.0.4");
    environment.put("PENSTOCK_JAVA_HOME", jdk.toString());
    Path cache = root.resolve("examples/target/launcher/penstock.aot");
    program(jdk.resolve("bin/java"), training("kill -TERM $PPID; exec sleep 300"));
    String launcher = Files.readString(root.resolve("penstock"));
    assertThat(launcher).contains("\n  training=$!\n");
    Files.writeString(root.resolve("penstock"), launcher.replace("\n  training=$!\n",
        "\n  " + lateness + "training=$!\n"));

    assertThat(launch("stat").code()).isEqualTo(128 + 15);
    assertThat(Path.of(cache + ".draft")).doesNotExist();
    assertThat(cache).doesNotExist();

    program(jdk.resolve("bin/java"), training(""));
    assertThat(launch("stat").out().lines()).contains("-XX:AOTCache=" + cache);
    assertThat(calls()).as("builds").hasSize(1);
  }

  /// A JVM that makes the draft of a cache where it is told to train, and goes on with `then`.
  private static String training(String then) {
    return "for each; do case $each in -XX:AOTCacheOutput=*) : > \"${each#*=}\"; " + (then.isEmpty() ? ":" : then)
        + " ;; esac; done\n" + JAVA;
  }

  @ParameterizedTest
  @ValueSource(strings = {"pipeline/src/main/New.java", "rsocket-api/a-new-module/src/main/New.java",
    "rsocket-api/a-new-module/pom.xml", "rsocket-api/pom.xml"})
  void newerSource_buildsAgain(String file) throws Exception {
    launch();
    Files.createDirectories(root.resolve("rsocket-api/a-new-module/src/main"));
    Files.writeString(root.resolve("rsocket-api/a-new-module/pom.xml"), "");
    setModified(root.resolve("rsocket-api/a-new-module/pom.xml"), Duration.ofDays(-1));
    Path source = root.resolve(file);
    Files.writeString(source, "");
    setModified(source, Duration.ofMinutes(1));

    launch();

    assertThat(calls()).hasSize(2);
  }

  private static void setModified(Path file, Duration fromNow) throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(Instant.now().plus(fromNow)));
  }

  @Test
  void lostJar_buildsAgain() throws Exception {
    launch();
    Files.delete(root.resolve("examples/target/examples.jar"));

    launch();

    assertThat(calls()).hasSize(2);
  }

  private static String classPath(Path root) {
    String own = root + "/examples/target/examples.jar";
    return own + ":" + own + ":" + root + "/other.jar";
  }

  @Test
  void cloneThatMoved_findsItsJars_andTrainsAgain() throws Exception {
    launch();
    root = Files.move(root, root.resolveSibling("a moved house"));

    Outcome first = launch("stat");

    assertThat(first.out().lines()).contains(classPath(root));
    assertThat(first.err().lines()).singleElement().asString().contains("training");
    assertThat(launch().err()).isEmpty();
    assertThat(calls()).as("builds").hasSize(1);
  }

  @Test
  void copyOfAClone_usesItsOwnJars_andBuildsWhereOneIsMissing() throws Exception {
    launch();
    Path copy = root.resolveSibling("a copy");
    assertThat(new ProcessBuilder("cp", "-a", root.toString(), copy.toString()).start().waitFor()).isZero();
    root = copy;

    assertThat(launch().out().lines()).contains(classPath(copy));
    assertThat(calls()).as("builds").hasSize(1);
    Files.delete(copy.resolve("other.jar"));
    assertThat(launch().err()).contains("building");
  }

  @Test
  void readyFileOfAnEarlierNode_goesBeforeTheBuild() throws Exception {
    Path stale = Files.writeString(temp.resolve("ready ü"), "{}");
    program(root.resolve("bin/mvn"), "exit 1");
    for (List<String> args : List.of(List.of("--ready-file", stale.toString()), List.of("--ready-file=" + stale))) {
      Files.writeString(stale, "{}");
      assertThat(launch(Stream.concat(Stream.of("serve", "--nonsense"), args.stream()).toArray(String[]::new)).code())
          .isEqualTo(70);
      assertThat(stale).doesNotExist();
    }
    Files.writeString(stale, "{}");
    launch("serve", "--ready-file", stale.toString(), "--print-config");
    launch("stat", "--ready-file", stale.toString());
    assertThat(stale).as("of no start of a node").exists();
  }

  @Test
  void withoutALocale_theJvmGetsOneOfUtf8() throws Exception {
    Path jdk = jdk("25.0.4");
    program(jdk.resolve("bin/java"), "locale charmap");
    environment.put("PENSTOCK_JAVA_HOME", jdk.toString());
    for (String locale : List.of("C", "POSIX", "xx_XX.UTF-8", "")) {
      environment.put("LC_ALL", locale);
      environment.put("LANG", locale);
      assertThat(launch().out()).as(locale).isEqualTo("UTF-8\n");
    }
  }

  @Test
  void failedBuild_showsItsLogAndRunsNothing() throws Exception {
    program(root.resolve("bin/mvn"), "echo a clear mistake; exit 1");

    Outcome outcome = launch();

    assertThat(outcome.code()).isEqualTo(70);
    assertThat(outcome.err()).contains("a clear mistake", "the build failed");
    assertThat(outcome.out()).isEmpty();
    assertThat(root.resolve("target/launcher.lock")).doesNotExist();
  }

  @Test
  void longBuild_isSaidToGoOn_whereNoTerminalIs() throws Exception {
    program(root.resolve("bin/sleep"), "exit 0");
    program(root.resolve("bin/mvn"), "until grep -q 'still building' ../err; do /bin/sleep 0.05; done\n" + MVN);

    Outcome outcome = launch();

    assertThat(outcome.code()).isZero();
    assertThat(outcome.err()).contains("penstock: still building; Maven's lines are in target/launcher-build.log\n");
    assertThat(outcome.out()).doesNotContain("still building");
  }

  @Test
  void launcherKilledWhileItBuilds_leavesNoProcessThatHoldsItsOutputOpen() throws Exception {
    program(root.resolve("bin/mvn"), "kill -9 $PPID");

    Process process = process(root.resolve("penstock").toString()).redirectErrorStream(true).start();
    CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> read(process.getInputStream()));

    assertThat(said).as("the end of all that holds the output").succeedsWithin(Duration.ofSeconds(30)).asString()
        .contains("building").doesNotContain("still");
    assertThat(process.waitFor()).isEqualTo(128 + 9);
  }

  @Test
  void example_runsTheExamplesWithTheRest() throws Exception {
    assertThat(launch("example", "hello", "--x").out().lines())
        .containsSubsequence("io.penstock.examples.Examples", "hello", "--x")
        .doesNotContain("example");
  }

  @Test
  void jdkThatIsTooOld_isNamedInOneSentence() throws Exception {
    environment.put("PENSTOCK_JAVA_HOME", jdk("17.0.15").toString());

    Outcome outcome = launch();

    assertThat(outcome.code()).isEqualTo(69);
    assertThat(outcome.err().lines()).singleElement().asString().contains("JDK 25 or newer", "jdk-17.0.15");
  }

  @Test
  void toolchains_giveTheJdkWhenTheEnvironmentHasAnOlderOne() throws Exception {
    Path jdk = jdk("26");
    environment.remove("PENSTOCK_JAVA_HOME");
    environment.put("JAVA_HOME", jdk("17.0.15").toString());
    Files.createDirectory(temp.resolve("home/.m2"));
    Files.writeString(temp.resolve("home/.m2/toolchains.xml"), "<x>\n <jdkHome> " + jdk + "</jdkHome>\n</x>\n");

    launch();

    assertThat(calls()).singleElement().asString().contains("mvn with " + jdk + ":");
  }

  @Test
  void optionsForTheJvm_areSplitIntoWordsBeforeTheClassPath() throws Exception {
    environment.put("PENSTOCK_JAVA_OPTS", "-Xmx1g -Da=b");

    assertThat(launch().out().lines()).containsSubsequence("-Xmx1g", "-Da=b", "-cp");
  }

  @Test
  void symbolicLink_leadsBackToTheHouse() throws Exception {
    Path link = Files.createSymbolicLink(temp.resolve("link"), root.resolve("penstock"));

    assertThat(run(link.toString()).code()).isZero();
    assertThat(calls()).hasSize(1);
  }

  private List<String> calls() throws IOException {
    return Files.readAllLines(root.resolve("calls"));
  }

  private Path jdk(String version) throws IOException {
    Path home = Files.createDirectory(temp.toRealPath().resolve("jdk-" + version));
    Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
    program(home.resolve("bin/java"), JAVA);
    program(home.resolve("bin/javac"), "exit 1");
    return home;
  }

  private static void program(Path path, String body) throws IOException {
    Files.createDirectories(path.getParent());
    Files.writeString(path, "#!/bin/sh\n" + body + "\n");
    assertThat(path.toFile().setExecutable(true)).isTrue();
  }

  private Outcome launch(String... args) throws Exception {
    List<String> command = new ArrayList<>(List.of(root.resolve("penstock").toString()));
    command.addAll(List.of(args));
    return run(command.toArray(String[]::new));
  }

  private ProcessBuilder process(String... command) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(root.toFile());
    builder.environment().remove("JAVA_HOME");
    builder.environment().remove("PENSTOCK_JAVA_OPTS");
    builder.environment().putAll(environment);
    builder.environment().merge("PATH", root.resolve("bin").toString(), (old, bin) -> bin + ":" + old);
    return builder;
  }

  private static String read(InputStream said) {
    try (said) {
      return new String(said.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Outcome run(String... command) throws Exception {
    Path out = temp.resolve("out");
    Path err = temp.resolve("err");
    Process process = process(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    process.getOutputStream().close();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("the launcher must end within 30 s");
    }
    return new Outcome(
        process.exitValue(),
        Files.readString(out, StandardCharsets.UTF_8),
        Files.readString(err, StandardCharsets.UTF_8));
  }
}
