package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testkit.Eventually;
import io.penstock.testkit.MountedDisk;
import io.penstock.testkit.StoreLatencies;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// PUTs while the disk below does not answer for five seconds. The file system is real; the test skips where it may
/// mount none.
@Timeout(300)
final class StalledDiskTest {
  private static final int WRITERS = 4;
  private static final int LENGTH = 500_000;
  private static final int BEFORE = 100;

  @TempDir
  private Path folder;

  private static byte[] object(int seed) {
    byte[] bytes = new byte[LENGTH];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void diskThatDoesNotAnswerForFiveSeconds_makesNoPutSlow(String engine) throws Exception {
    MountedDisk disk = MountedDisk.inAFile(folder.resolve("disk"), folder.resolve("image"), 1_024);
    assumeTrue(disk != null, "nothing can be mounted here");
    try (disk;
        TestNode node = TestNode.start(folder, """
            dram: 48MiB
            ssd: 256MiB
            ssd.engine: %s
            ssd.dir: %s
            ssd.segment.bytes: 16MiB
            """.formatted(engine, disk.path().resolve("ssd")))) {
      try {
        stores(engine, disk, node);
      } finally {
        disk.thaw();
      }
    }
  }

  private static void stores(String engine, MountedDisk disk, TestNode node) throws Exception {
    try (RawClient client = new RawClient(node.port())) {
      for (int i = 0; i < BEFORE; i++) { // more than memory has room for
        assertThat(client.ask("PUT", "/b/before" + i, "", object(i)).status()).isEqualTo(200);
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
      Eventually.holds("objects are stored again", () -> {
        assertThat(client.ask("PUT", "/b/after", "", object(1)).status()).isEqualTo(200);
        return client.get("/b/after").status() == 200;
      });
      int found = 0;
      for (int i = 0; i < BEFORE; i++) {
        RawClient.Answer got = client.get("/b/before" + i);
        found += got.status() == 200 ? 1 : 0;
        assertThat(got.status() == 200 ? got.body() : object(i)).isEqualTo(object(i));
      }
      assertThat(found).isPositive();
    }
  }

  private static StoreLatencies.Writer writer(TestNode node, int number) throws IOException {
    RawClient client = new RawClient(node.port());
    return new StoreLatencies.Writer() {
      @Override
      public void store(int i) throws IOException {
        assertThat(client.ask("PUT", "/b/during" + number + "-" + i, "", object(i)).status()).isEqualTo(200);
      }

      @Override
      public void close() throws IOException {
        client.close();
      }
    };
  }

  private static long drops(TestNode node) {
    return node.door().users().get(TestNode.USER).drops();
  }
}
