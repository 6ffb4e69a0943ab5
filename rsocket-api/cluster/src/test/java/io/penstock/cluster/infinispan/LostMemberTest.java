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
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Two members, `c` and `d`, in a process of their own, which is killed.
final class LostMemberTest {
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 2000);
  private static final List<String> OTHERS = List.of("c", "d");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long MOST_MILLIS = 2000;

  private int port;
  private TestMember a;
  private TestMember b;
  private Process process;

  @BeforeEach
  void form() throws IOException {
    port = TestMember.freePort();
    a = TestMember.join("lost", "a", port);
    b = TestMember.join("lost", "b", TestMember.freePort(), port);
    startOthers();
  }

  @AfterEach
  void end() throws InterruptedException {
    process.destroyForcibly().waitFor();
    b.close();
    a.close();
  }

  @Test
  void killedMembers_areMissedWithinTwoSeconds_andTheirPartOfTheDirectoryIsAnnouncedAgain() throws Exception {
    KEYS.forEach(key -> a.tier.put(key, ModelTier.DRAM));
    Eventually.holds("c has the first", () -> b.holders(KEYS.get(0)).equals("{a=0, c=1}"));
    Eventually.holds("a has all", () -> b.held(KEYS) == KEYS.size());
    Mono<TestMember> joining = join();
    Eventually.holds("e comes", PATIENCE, () -> a.members().contains("e"));

    assertThat(missedAfterMillis()).isLessThan(MOST_MILLIS);

    assertThat(b.holders(KEYS.get(1))).isIn("{a=0}", "{}");
    Eventually.holds("a has all again", () -> b.held(KEYS) == KEYS.size());
    assertThat(b.holders(KEYS.get(0))).isEqualTo("{a=0}");
    try (TestMember e = joining.block()) {
      Eventually.holds("e sees those that live", () -> e.members().equals(List.of("a", "b", "e")));
    }
  }

  @Test
  @Tag("proof")
  void killedMembers_areMissedWithinTwoSeconds_atAnyMomentOfAJoin() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 10; i++) {
      if (i > 0) {
        startOthers();
      }
      Mono<TestMember> joining = join();
      Mono.delay(Duration.ofMillis(random.nextInt(500))).block();
      assertThat(missedAfterMillis()).as("seed %d, kill %d", seed, i).isLessThan(MOST_MILLIS);
      joining.block().close();
    }
  }

  @Test
  @Tag("proof")
  void membersWhoseProcessStops_forLessThanTheSilenceOfTheDead_areNotMissed() throws Exception {
    signal("STOP");
    boolean isSeen = Flux.interval(Duration.ofMillis(50)).take(Duration.ofSeconds(4))
        .all(tick -> a.members().containsAll(OTHERS) && b.members().containsAll(OTHERS)).block();
    signal("CONT");
    assertThat(isSeen).isTrue();
    isSeen = Flux.interval(Duration.ofMillis(50)).take(Duration.ofSeconds(4))
        .all(tick -> a.members().containsAll(OTHERS) && b.members().containsAll(OTHERS)).block();
    assertThat(isSeen).isTrue();
  }

  private void signal(String name) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor()).isZero();
  }

  private Mono<TestMember> join() {
    Mono<TestMember> joining = Mono.fromCallable(() -> TestMember.join("lost", "e", TestMember.freePort(), port))
        .subscribeOn(Schedulers.boundedElastic()).cache();
    joining.subscribe();
    return joining;
  }

  private long missedAfterMillis() {
    process.destroyForcibly();
    long killed = System.nanoTime();
    Eventually.holds("c and d are missed", PATIENCE,
        () -> Collections.disjoint(a.members(), OTHERS) && Collections.disjoint(b.members(), OTHERS));
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed);
    System.out.println("two killed members were missed after " + millis + " ms");
    return millis;
  }

  private void startOthers() throws IOException {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow", "-Djava.net.preferIPv4Stack=true", "-cp",
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
    command.addAll(List.of(Other.class.getName(), Integer.toString(port)));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    Eventually.holds("c and d are in", PATIENCE,
        () -> a.members().containsAll(OTHERS) && b.members().containsAll(OTHERS));
  }

  /// The members to kill. They end with the process that started them.
  static final class Other {
    private Other() {}

    public static void main(String[] seed) throws IOException {
      TestMember c = TestMember.join("lost", "c", TestMember.freePort(), Integer.parseInt(seed[0]));
      TestMember.join("lost", "d", TestMember.freePort(), Integer.parseInt(seed[0]));
      KEYS.forEach(key -> c.tier.put(key, ModelTier.SSD));
      int end = System.in.read(); // until the pipe closes
      System.exit(end);
    }
  }
}
