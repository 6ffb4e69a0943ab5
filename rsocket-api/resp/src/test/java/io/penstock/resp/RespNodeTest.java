package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.door.DoorValues;
import io.penstock.node.serve.Node;
import io.penstock.node.serve.NodeProcess;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A whole node with a door.
@Timeout(300)
final class RespNodeTest {
  private static final Duration SOON = Duration.ofSeconds(120);

  @TempDir
  private Path folder;

  private Node start(String yaml) throws IOException {
    Path file = Files.writeString(folder.resolve("node.yaml"),
        "listen.port: 0\nadmin.port: 0\nresp: 127.0.0.1:0\n" + yaml);
    return Objects.requireNonNull(Node.start(NodeConfig.resolve(file, Map.of(), Map.of())).block(SOON));
  }

  private static RespClient connect(Node node) throws IOException {
    String address = node.doors().getFirst().address();
    return new RespClient(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
  }

  private static byte[] value(long seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  @Test
  void whatWasOnTheDisk_isFoundAfterARestart() throws IOException {
    String yaml = "dram: 4MiB\nssd: 256MiB\nssd.dir: " + folder.resolve("ssd") + "\nssd.segment.bytes: 4MiB\n";
    int values = 24;
    Node first = start(yaml);
    String boot;
    try (RespClient client = connect(first)) {
      for (int i = 0; i < values; i++) {
        assertThat(client.call("SET", "m@03020302@0@" + i, value(i, 600_000))).isEqualTo("+OK");
      }
      boot = new String(Objects.requireNonNull(client.bulk("INFO", "server")), StandardCharsets.UTF_8);
      assertThat(number(client, "maxmemory")).isBetween(3L << 20, 4L << 20);
      Eventually.holds("what had to leave memory is on the disk",
          () -> number(client, "used_memory") <= number(client, "maxmemory"));
      assertThat(number(client, "used_memory")).isGreaterThan(1_000_000);
      assertThat(number(client, "penstock_disk_bytes"))
          .isBetween(5_000_000L, number(client, "penstock_disk_most_bytes"));
      assertThat(first.drain().block(SOON)).isTrue();
    }

    Node second = start(yaml);
    int found = 0;
    try (RespClient client = connect(second)) {
      assertThat(new String(Objects.requireNonNull(client.bulk("INFO", "server")), StandardCharsets.UTF_8)
          .replaceAll("(?s).*penstock_boot:(\\w+).*", "$1"))
          .isNotEqualTo(boot.replaceAll("(?s).*penstock_boot:(\\w+).*", "$1"));
      for (int i = 0; i < values; i++) {
        String exists = client.call("EXISTS", "m@03020302@0@" + i);
        byte[] got = client.bulk("GET", "m@03020302@0@" + i);
        if (got != null) {
          found++;
          assertThat(exists).isEqualTo(":1");
          assertThat(got).isEqualTo(value(i, 600_000));
        }
      }
      assertThat(found).isGreaterThan(values / 3);
    } finally {
      second.close().block(SOON);
    }
  }

  @Test
  void whatLiesInMemory_isFoundAfterARestart_whereTheDrainSavesIt() throws IOException {
    String yaml = "dram: 64MiB\nssd: 256MiB\nssd.dir: " + folder.resolve("ssd") + "\nssd.save: true\n";
    int values = 60;
    int[] lengths = {100, 60_000, 600_000};
    Node first = start(yaml);
    try (RespClient client = connect(first)) {
      for (int i = 0; i < values; i++) {
        assertThat(client.call("SET", "k" + i, value(i, lengths[i % lengths.length]))).isEqualTo("+OK");
      }
      assertThat(first.valuesInMemoryAlone().block(SOON)).isEqualTo(values);
      assertThat(first.drain().block(SOON)).isTrue();
    }
    Node second = start(yaml);
    try (RespClient client = connect(second)) {
      for (int i = 0; i < values; i++) {
        assertThat(client.bulk("GET", "k" + i)).as("k" + i).isEqualTo(value(i, lengths[i % lengths.length]));
      }
    } finally {
      second.close().block(SOON);
    }
  }

  @Test
  void valuesOfTwentyTimesTheDiskAndMemory_areAllTaken_andTakeNoMoreThanTheirs() throws IOException {
    String yaml = "dram: 4MiB\nssd: 12MiB\nssd.dir: " + folder.resolve("ssd") + "\nssd.segment.bytes: 4MiB\n"
        + "resp.part.bytes: 262656\nresp.room.timeout: 60s\n"; // no value is let go, however slow the disk is
    int values = 20 * (16 << 20) / 600_000;
    Node node = start(yaml);
    try (RespClient client = connect(node)) {
      for (int i = 0; i < values; i++) {
        assertThat(client.call("SET", "k" + i, value(i % 7, 600_000))).isEqualTo("+OK");
        if (i % 50 == 0) {
          assertThat(number(client, "penstock_disk_bytes"))
              .isLessThanOrEqualTo(number(client, "penstock_disk_most_bytes"));
        }
      }
      Eventually.holds("values are on the disk", () -> number(client, "penstock_disk_bytes") > 0);
      assertThat(number(client, "penstock_disk_most_bytes")).isLessThanOrEqualTo(12 << 20);
      assertThat(filesIn(folder.resolve("ssd"))).as("bytes of files").isLessThanOrEqualTo(4 * (12 << 20));
      assertThat(client.bulk("GET", "k" + (values - 1))).isEqualTo(value((values - 1) % 7, 600_000));
      assertThat(client.bulk("GET", "k0")).isNull();
    } finally {
      node.close().block(SOON);
    }
  }

  @Test
  void maxmemory_isWhatValuesMayTake_fromTheStartOn() throws IOException {
    Node node = start("dram: 32MiB\nspaces:\n  chat: {model: llama-3.1-8b, weight: 1}\n"
        + "  small: {value.part.bytes: 66048, quota: 8MiB}\nresp.spaces: values,7=small\n");
    try (RespClient client = connect(node)) {
      assertThat(number(client, "maxmemory")).isEqualTo(32 << 20);
      for (int i = 0; i < 60; i++) {
        assertThat(client.call("SET", "k" + i, value(i, 600_000))).isEqualTo("+OK");
      }
      assertThat(number(client, "used_memory")).isBetween(16L << 20, 32L << 20);
      assertThat(number(client, "maxmemory")).isEqualTo(32 << 20);
      assertThat(client.call("SELECT", "7")).isEqualTo("+OK");
      assertThat(number(client, "maxmemory")).isEqualTo(8 << 20);
    } finally {
      node.close().block(SOON);
    }
  }

  @Test
  void nodeThatIsTerminated_saysHowManyValuesEndWithIt() throws Exception {
    try (NodeProcess node = NodeProcess.start(folder, "--resp", "127.0.0.1:0", "--dram", "16MiB", "--resp-value-most",
        "8MiB"); RespClient client = new RespClient(node.doorPort())) {
      for (int i = 0; i < 3; i++) {
        assertThat(client.call("SET", "k" + i, value(i, 300_000))).isEqualTo("+OK");
      }
      node.terminate();
      assertThat(node.exitCode()).isZero();
      assertThat(node.said()).endsWith("draining\n3 values in memory alone will be gone\nstopped\n");
    }
  }

  /// Bytes of the files in a folder, from which the node deletes some meanwhile.
  private static long filesIn(Path folder) throws IOException {
    AtomicLong bytes = new AtomicLong();
    Files.walkFileTree(folder, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes is) {
        bytes.addAndGet(is.size());
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
        if (failure instanceof NoSuchFileException) {
          return FileVisitResult.CONTINUE;
        }
        throw failure;
      }
    });
    return bytes.get();
  }

  private static long number(RespClient client, String name) throws IOException {
    String info = new String(Objects.requireNonNull(client.bulk("INFO", "memory")), StandardCharsets.UTF_8);
    return Long.parseLong(info.replaceAll("(?s).*\\b" + name + ":(\\d+).*", "$1"));
  }

  @Test
  void namesOfWhatWasOnTheDisk_areToldAfterARestart_andThoseThatGoAreNot() throws IOException {
    String yaml = "dram: 4MiB\nssd: 256MiB\nssd.dir: " + folder.resolve("ssd") + "\nssd.segment.bytes: 4MiB\n";
    Node first = start(yaml);
    try (RespClient client = connect(first)) {
      for (int i = 0; i < 24; i++) {
        assertThat(client.call("SET", "m@03020302@0@" + i, value(i, 600_000))).isEqualTo("+OK");
        assertThat(client.call("SET", "small" + i, value(i, 100))).isEqualTo("+OK");
      }
      assertThat(client.call("DEL", "small7")).isEqualTo(":1");
      assertThat(first.drain().block(SOON)).isTrue();
    }

    Node second = start(yaml);
    try (RespClient client = connect(second)) {
      Eventually.holds("all names are known", () -> isComplete(second));
      List<String> told = client.scan();
      List<String> there = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        for (String name : List.of("m@03020302@0@" + i, "small" + i)) {
          if (client.bulk("GET", name) != null) {
            there.add(name);
          }
        }
      }
      assertThat(told).containsExactlyInAnyOrderElementsOf(there).hasSizeGreaterThan(12).doesNotContain("small7");
      assertThat(client.call("DBSIZE")).isEqualTo(":" + there.size());
      assertThat(client.call("DEL", there.getFirst())).isEqualTo(":1");
      assertThat(client.scan()).hasSize(there.size() - 1).doesNotContain(there.getFirst());
    } finally {
      second.close().block(SOON);
    }
  }

  private static boolean isComplete(Node node) {
    return node.doors().getFirst().names().values().stream().allMatch(DoorValues.Names::complete);
  }

  @Test
  void tooManyNames_areLeftOut_andThatIsSaid_butTheirValuesAreFound() throws IOException {
    Node node = start("dram: 16MiB\ndoors.names.bytes: 64KiB\n");
    try (RespClient client = connect(node)) {
      for (int i = 0; i < 300; i++) {
        assertThat(client.call("SET", "k" + i, value(i, 10))).isEqualTo("+OK");
      }
      assertThat(isComplete(node)).isFalse();
      assertThat(node.doors().getFirst().names().get("values").known()).isBetween(50, 110);
      assertThat(client.scan()).hasSizeBetween(50, 110);
      assertThat(new String(Objects.requireNonNull(client.bulk("INFO", "stats")), StandardCharsets.UTF_8))
          .contains("penstock_names_complete:0");
      CommandLineRun stat =
          CommandLineRun.with(Map.of(), new byte[0], "stat", "--connect", "127.0.0.1:" + node.port());
      assertThat(stat.exitCode()).as(stat.err()).isZero();
      assertThat(stat.out()).containsPattern("door resp +clients without a name: [^\n]*300 stored");
      for (int i = 0; i < 300; i++) {
        assertThat(client.bulk("GET", "k" + i)).isEqualTo(value(i, 10));
      }
    } finally {
      node.close().block(SOON);
    }
  }

  @Test
  void users_haveTheirRolesAndSpaces_andFiguresOfTheirOwn() throws Exception {
    Path users = Files.writeString(folder.resolve("users"), "reader:" + token("r") + "\nwriter:" + token("w") + "\n");
    Path rules = Files.writeString(folder.resolve("rules"), """
        users:
          reader: reader
          writer: writer
        """);
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-------"));
    Node node = start("dram: 16MiB\nresp.flush: true\nauth.users: " + users + "\naccess.rules: " + rules
        + "\n");
    try (RespClient client = connect(node); RespClient stranger = connect(node); RespClient native0 = connect(node)) {
      assertThat(stranger.call("PING")).isEqualTo("+PONG");
      assertThat(stranger.call("GET", "k")).isEqualTo("-NOAUTH Authentication required.");
      try (RespClient long0 = connect(node)) {
        assertThat(long0.send(RespClient.bytes("*2\r\n$4\r\nECHO\r\n$17000\r\n")).line())
            .isEqualTo("-ERR Protocol error: unauthenticated bulk length");
        assertThat(long0.isEnded()).isTrue();
      }
      assertThat(native0.send(RespClient.request("GET", "k")).isEnded()).isTrue();
      assertThat(stranger.call("AUTH", "writer", "wrong"))
          .isEqualTo("-WRONGPASS invalid username-password pair or user is disabled.");
      assertThat(client.call("AUTH", token0("w"))).isEqualTo("+OK");
      assertThat(client.call("SET", "k", "v")).isEqualTo("+OK");
      assertThat(client.call("DEL", "k")).isEqualTo(":0");
      assertThat(stranger.call("AUTH", token0("w"))).isEqualTo("+OK");
      assertThat(stranger.call("PEXPIRE", "k", "0")).startsWith("-NOPERM");
      assertThat(stranger.call("EXPIRE", "k", "-1")).startsWith("-NOPERM");
      assertThat(stranger.call("PEXPIRE", "k", "1")).startsWith("-NOPERM");
      assertThat(stranger.call("DEL", "k")).startsWith("-NOPERM");
      assertThat(stranger.call("FLUSHDB")).startsWith("-NOPERM");
      assertThat(stranger.call("PTTL", "k")).isEqualTo(":-1");
      assertThat(stranger.call("PERSIST", "k")).isEqualTo(":0"); // it has no end
      assertThat(stranger.call("EXISTS", "k")).isEqualTo(":1");
      assertThat(client.call("AUTH", token0("r"))).isEqualTo("+OK");
      assertThat(client.call("GET", "k")).isEqualTo("$1");
      client.read(3);
      assertThat(client.send(RespClient.request("SET", "other", "v")).isEnded()).isTrue();
      try (RespClient parsing = connect(node)) {
        assertThat(parsing.call("AUTH", token0("r"))).isEqualTo("+OK");
        assertThat(parsing.call("EXISTS", "other")).isEqualTo(":0");
        assertThat(parsing.call("PING")).isEqualTo("+PONG");
        assertThat(parsing.call("SET", "other", "v")).isEqualTo("-NOPERM this user has no right to this request");
        assertThat(parsing.bulk("GET", "k")).isEqualTo(RespClient.bytes("v"));
      }
      assertThat(node.doors().getFirst().users().get("writer").writes()).isEqualTo(1);
      assertThat(node.doors().getFirst().users().get("reader").hits()).isEqualTo(2);
      assertThat(node.doors().getFirst().users().get("reader").refusals()).isEqualTo(2);
    } finally {
      node.close().block(SOON);
    }
  }

  @Test
  void noUser_evictsTheValuesOfAnother_howeverMuchItStores() throws Exception {
    Path users = Files.writeString(folder.resolve("users"), "a:" + token("a") + "\nb:" + token("b") + "\n");
    Path rules = Files.writeString(folder.resolve("rules"), "users: {a: writer, b: writer}\n");
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-------"));
    Node node = start("dram: 32MiB\nresp.spaces: values,a=of-a,b=of-b\nresp.part.bytes: 66048\nauth.users: " + users
        + "\naccess.rules: " + rules + "\n");
    try (RespClient one = connect(node); RespClient other = connect(node)) {
      assertThat(one.call("AUTH", token0("a"))).isEqualTo("+OK");
      assertThat(other.call("AUTH", token0("b"))).isEqualTo("+OK");
      for (int i = 0; i < 50; i++) {
        assertThat(one.call("SET", "k" + i, value(i, 100_000))).isEqualTo("+OK");
      }
      for (int i = 0; i < 300; i++) {
        assertThat(other.call("SET", "k" + i, value(1_000 + i, 100_000))).isEqualTo("+OK");
      }
      for (int i = 0; i < 50; i++) {
        assertThat(one.bulk("GET", "k" + i)).as("k" + i).isEqualTo(value(i, 100_000));
      }
      assertThat(other.bulk("GET", "k299")).isEqualTo(value(1_299, 100_000));
      assertThat(other.bulk("GET", "k0")).isNull();
    } finally {
      node.close().block(SOON);
    }
  }

  private static String token0(String name) {
    return name.repeat(64);
  }

  private static String token(String name) throws NoSuchAlgorithmException {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(token0(name).getBytes(StandardCharsets.UTF_8));
    return "sha256$" + HexFormat.of().formatHex(digest);
  }

  @Test
  void unixSocket_isADoorToo_andGoesWithTheNode() throws Exception {
    Path socket = folder.resolve("s");
    Path file = Files.writeString(folder.resolve("unix.yaml"),
        "listen.port: 0\nadmin.port: 0\ndram: 16MiB\nresp: unix:" + socket + "\n");
    Node node = Objects.requireNonNull(Node.start(NodeConfig.resolve(file, Map.of(), Map.of())).block(SOON));
    try {
      assertThat(node.doors().getFirst().address()).isEqualTo("unix:" + socket);
      try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
        channel.write(ByteBuffer.wrap(RespClient.bytes("PING\r\n")));
        ByteBuffer reply = ByteBuffer.allocate(7);
        while (reply.hasRemaining()) {
          assertThat(channel.read(reply)).isPositive();
        }
        assertThat(new String(reply.array(), StandardCharsets.US_ASCII)).isEqualTo("+PONG\r\n");
      }
      assertThat(AdminRequest.get(node.adminPort().getAsInt(), "/health").body()).contains("\"door\":\"resp\"");
    } finally {
      node.close().block(SOON);
    }
    assertThat(socket).doesNotExist();
  }
}
