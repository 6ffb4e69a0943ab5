package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `load` writes down what a node promised, the node is killed, and `check` looks whether the next one keeps it.
@Timeout(180)
final class LoadCheckTest {
  private static final int BLOCKS = 20_000;
  private static final int PROMISED = 300;

  @TempDir
  private Path folder;

  @Test
  void killedInTheMiddleOfALoad_keepsWhatItPromised() throws Exception {
    killInTheMiddleOfALoad("chronicle");
  }

  @Tag("proof")
  @Test
  void killedInTheMiddleOfALoadOfPlainFiles_keepsWhatItPromised() throws Exception {
    killInTheMiddleOfALoad("plain");
  }

  private void killInTheMiddleOfALoad(String engine) throws Exception {
    try (NodeProcess node = start("ssd", engine, "write_through")) {
      CompletableFuture<CommandLineRun> load =
          CompletableFuture.supplyAsync(() -> client(node, "load", "--blocks", String.valueOf(BLOCKS)));
      while (acks().size() < PROMISED && !load.isDone()) {
        node.pause();
      }
      node.kill();
      CommandLineRun ended = load.get(60, TimeUnit.SECONDS);
      assertThat(ended.exitCode()).as(ended.err()).isEqualTo(69);
    }
    int promised = acks().size();
    assertThat(promised).isBetween(PROMISED, BLOCKS - 1);

    try (NodeProcess node = start("ssd", engine, "write_through")) {
      CommandLineRun check = client(node, "check", "--json");
      assertThat(check.exitCode()).as("%s%s", check.out(), check.err()).isZero();
      JsonNode outcome = JsonMapper.shared().readTree(check.out());
      assertThat(outcome.get("kept").asBoolean()).isTrue();
      assertThat(outcome.at("/byPromise/written/acked").asInt()).isEqualTo(promised);
      assertThat(outcome.at("/byPromise/written/present").asInt()).isEqualTo(promised);
      assertThat(outcome.at("/byPromise/written/missing").asInt()).isZero();

      CommandLineRun rest = client(node, "load", "--blocks", String.valueOf(promised + 100));
      assertThat(rest.exitCode()).as(rest.err()).isZero();
      assertThat(client(node, "check").out()).startsWith("PROMISED  BLOCKS  PRESENT  MISSING  CORRUPT  UNKNOWN\n")
          .contains("\nwritten ").doesNotContain("volatile");
    }

    try (NodeProcess empty = start("another", engine, "write_through")) {
      CommandLineRun check = client(empty, "check", "--json");
      assertThat(check.exitCode()).as(check.err()).isEqualTo(1);
      JsonNode outcome = JsonMapper.shared().readTree(check.out());
      assertThat(outcome.at("/byPromise/written/present").asInt()).isZero();
      assertThat(outcome.get("broken")).hasSize(100).allMatch(fate -> fate.asString().equals("missing"));
    }
  }

  @Test
  void volatileBlocks_mayBeMissing_butNotWrong() throws Exception {
    try (NodeProcess node = start("ssd", "plain", "exclusive")) {
      CommandLineRun load = client(node, "load", "--blocks", "200", "--seed", "3", "--json");
      assertThat(load.exitCode()).as(load.err()).isZero();
      JsonNode outcome = JsonMapper.shared().readTree(load.out());
      assertThat(outcome.at("/stored/volatile").asInt()).isEqualTo(200);
      assertThat(client(node, "check").out()).contains("\nvolatile     200      200        0        0        0\n");
      node.kill();
      assertThat(node.exitCode()).isEqualTo(128 + 9);
    }
    try (NodeProcess node = start("ssd", "plain", "exclusive")) {
      CommandLineRun check = client(node, "check");
      assertThat(check.exitCode()).as(check.err()).isZero();
      assertThat(check.err())
          .matches("every promise was kept(; \\d+ volatile blocks? (is|are) missing, which was not promised)?\n");
    }
  }

  @Test
  void check_ofOtherBytes_ofLinesThatAreNoAcks_andOfNothing_saysSo() throws Exception {
    try (NodeProcess node = start("ssd", "plain", "exclusive")) {
      String key =
          CommandLineRun.with(Map.of(), new byte[4096], Stream.concat(Stream.of("put", "--trace-id", "7", "--connect",
              "127.0.0.1:" + node.port()), PatternClient.SHAPE.stream()).toArray(String[]::new)).out().strip();
      Path others = Files.writeString(folder.resolve("others"),
          "{\"key\":\"%s\",\"tier\":\"t\",\"durability\":\"volatile\",\"sequence\":1}%n".formatted(key));
      CommandLineRun corrupt = CommandLineRun.of(command(node, "check", "--receipts", others.toString()));
      assertThat(corrupt.exitCode()).as(corrupt.err()).isEqualTo(1);
      assertThat(corrupt.out()).contains("\nvolatile       1        0        0        1        0\n");
      assertThat(corrupt.err()).isEqualTo("corrupt " + key + "\n1 promise was broken\n");

      Files.createFile(folder.resolve("receipts"));
      CommandLineRun nothing = client(node, "check");
      assertThat(nothing.exitCode()).isEqualTo(65);
      assertThat(nothing.err()).contains("receipts: receipts must be >= 1 (was 0)");

      client(node, "load", "--blocks", "2");
      Files.writeString(folder.resolve("receipts"), "half a li", StandardOpenOption.APPEND);
      assertThat(client(node, "check").exitCode()).as("half a line is no promise").isZero();
      Files.writeString(folder.resolve("receipts"), "ne\n", StandardOpenOption.APPEND);
      CommandLineRun check = client(node, "check");
      assertThat(check.exitCode()).isEqualTo(65);
      assertThat(check.err()).contains("receipts, line 3 must be a receipt as load writes it (was half a line)");
    }
  }

  private List<String> acks() throws IOException {
    Path acks = folder.resolve("receipts");
    return Files.exists(acks) ? Files.readAllLines(acks) : List.of();
  }

  private CommandLineRun client(NodeProcess node, String command, String... flags) {
    return CommandLineRun.of(
        command(node, command,
            Stream.concat(Stream.of("--receipts", folder.resolve("receipts").toString()), Stream.of(flags))
                .toArray(String[]::new)));
  }

  private static String[] command(NodeProcess node, String command, String... flags) {
    List<String> all =
        new ArrayList<>(List.of(command, "--connect", "127.0.0.1:" + node.port(), "--window-blocks", "32"));
    all.addAll(PatternClient.SHAPE);
    all.addAll(List.of(flags));
    return all.toArray(String[]::new);
  }

  private NodeProcess start(String disk, String engine, String mode) throws IOException {
    List<String> flags = new ArrayList<>(PatternClient.SHAPE);
    flags.addAll(List.of("--dram", "64 blocks", "--ssd", "100000 blocks", "--ssd-dir", folder.resolve(disk).toString(),
        "--ssd-engine", engine,
        "--ssd-segment-bytes", "1MiB", "--stack-mode", mode, "--window-blocks", "32"));
    return NodeProcess.start(Files.createDirectories(folder.resolve("said")), flags.toArray(String[]::new));
  }
}
