package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.cluster.directory.ModelTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A member in a process of its own, which is killed.
final class LostMemberTest {
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 2000);

  @Test
  void aKilledMember_isSeenWithinTwoSeconds_andItsPartOfTheDirectoryIsAnnouncedAgain() throws Exception {
    int port = TestMember.freePort();
    try (TestMember a = TestMember.join("lost", "a", port);
        TestMember b = TestMember.join("lost", "b", TestMember.freePort(), port)) {
      KEYS.forEach(key -> a.tier.put(key, ModelTier.DRAM));
      Process process = start(TestMember.freePort(), port);
      try {
        Eventually.holds("c is in", Duration.ofSeconds(60), () -> b.members().equals(List.of("a", "b", "c")));
        Eventually.holds("c has the first", () -> b.holders(KEYS.get(0)).equals("{a=0, c=1}"));
        Eventually.holds("a has all", () -> b.held(KEYS) == KEYS.size());

        process.destroyForcibly();
        long killed = System.nanoTime();
        Eventually.holds("c is missed", () -> b.members().equals(List.of("a", "b")));
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed);

        System.out.println("a killed member was missed after " + millis + " ms");
        assertThat(millis).isLessThan(2000);
        assertThat(b.holders(KEYS.get(1))).isIn("{a=0}", "{}");
        Eventually.holds("a has all again", () -> b.held(KEYS) == KEYS.size());
        assertThat(b.holders(KEYS.get(0))).isEqualTo("{a=0}");
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
  }

  private static Process start(int port, int seed) throws IOException {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow", "-Djava.net.preferIPv4Stack=true", "-cp",
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
    command.addAll(List.of(Other.class.getName(), Integer.toString(port), Integer.toString(seed)));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
  }

  /// The member to kill. Ends with the process that started it.
  static final class Other {
    private Other() {}

    public static void main(String[] ports) throws IOException {
      TestMember c = TestMember.join("lost", "c", Integer.parseInt(ports[0]), Integer.parseInt(ports[1]));
      KEYS.forEach(key -> c.tier.put(key, ModelTier.SSD));
      int end = System.in.read(); // until the pipe closes
      System.exit(end);
    }
  }
}
