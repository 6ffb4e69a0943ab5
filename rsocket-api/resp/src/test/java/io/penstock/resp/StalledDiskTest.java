package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.config.NodeConfig;
import io.penstock.node.serve.Node;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.MountedDisk;
import io.penstock.testkit.StoreLatencies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Stores while the disk below does not answer for five seconds. The file system is real; the test skips where it may
/// mount none.
@Timeout(300)
final class StalledDiskTest {
  private static final Duration SOON = Duration.ofSeconds(120);
  private static final int WRITERS = 4;
  private static final int LENGTH = 500_000;
  private static final int BEFORE = 100;

  @TempDir
  private Path folder;

  private static byte[] value(int seed) {
    byte[] value = new byte[LENGTH];
    new Random(seed).nextBytes(value);
    return value;
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void diskThatDoesNotAnswerForFiveSeconds_makesNoStoreSlow(String engine) throws Exception {
    MountedDisk disk = MountedDisk.inAFile(folder.resolve("disk"), folder.resolve("image"), 1_024);
    assumeTrue(disk != null, "nothing can be mounted here");
    try (disk) {
      Path file = Files.writeString(folder.resolve("node.yaml"), """
          listen.port: 0
          admin.port: 0
          resp: 127.0.0.1:0
          dram: 48MiB
          ssd: 256MiB
          ssd.engine: %s
          ssd.dir: %s
          ssd.segment.bytes: 16MiB
          """.formatted(engine, disk.path().resolve("ssd")));
      Node node = Objects.requireNonNull(Node.start(NodeConfig.resolve(file, Map.of(), Map.of())).block(SOON));
      try {
        stores(engine, disk, node);
      } finally {
        disk.thaw();
        node.close().block(SOON);
      }
    }
  }

  private static void stores(String engine, MountedDisk disk, Node node) throws Exception {
    try (RespClient client = connect(node)) {
      for (int i = 0; i < BEFORE; i++) { // more than memory has room for
        assertThat(client.call("SET", "before" + i, value(i))).isEqualTo("+OK");
      }
      long dropsBefore = drops(node);
      disk.freeze();
      StoreLatencies took = StoreLatencies.of(WRITERS, 5, number -> writer(node, number));
      System.out.printf("%s, disk stalled for 5 s: %s; %d of them let go%n", engine, took, drops(node) - dropsBefore);
      assertThat(took.count()).isGreaterThan(WRITERS * 5);
      assertThat(drops(node)).as("the disk did stall").isGreaterThan(dropsBefore);
      assertThat(took.hasTripped()).as("an engine would have dropped stores").isFalse();
      assertThat(took.millis(0.99)).isLessThanOrEqualTo(400);
      disk.thaw();
      Eventually.holds("values are stored again", () -> {
        client.call("SET", "after", value(1));
        return client.bulk("GET", "after") != null;
      });
      int found = 0;
      for (int i = 0; i < BEFORE; i++) {
        byte[] got = client.bulk("GET", "before" + i);
        found += got == null ? 0 : 1;
        assertThat(got == null ? value(i) : got).isEqualTo(value(i));
      }
      assertThat(found).isPositive();
    }
  }

  private static StoreLatencies.Writer writer(Node node, int number) throws Exception {
    RespClient client = connect(node);
    return new StoreLatencies.Writer() {
      @Override
      public void store(int i) throws IOException {
        assertThat(client.call("SET", "during" + number + "-" + i, value(i))).isEqualTo("+OK");
      }

      @Override
      public void close() throws IOException {
        client.close();
      }
    };
  }

  private static long drops(Node node) {
    return node.doors().getFirst().users().get("").drops();
  }

  private static RespClient connect(Node node) throws Exception {
    String address = node.doors().getFirst().address();
    return new RespClient(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
  }
}
