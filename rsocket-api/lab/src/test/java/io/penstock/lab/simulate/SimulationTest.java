package io.penstock.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class SimulationTest {
  @Test
  @Timeout(600)
  void cluster_under30Seeds_keepsEveryInvariant() {
    keepsEveryInvariant(30);
  }

  @Test
  @Tag("proof")
  @Timeout(600)
  void cluster_under500Seeds_keepsEveryInvariant() {
    keepsEveryInvariant(500);
  }

  private static void keepsEveryInvariant(int seeds) {
    Tally tally = new Tally();
    tally.run(1, seeds);
    assertThat(tally.delivered).as("delivered").isGreaterThan(3 * tally.requests / 4);
    assertThat(tally.left).as("left").isGreaterThan(seeds / 5);
    assertThat(tally.connections).as("connections: links must have broken").isGreaterThan(4L * seeds);
  }

  /// Seeds that found something once, for as long as what they draw stays the same.
  @Test
  @Timeout(300)
  void seeds_thatOnceFailed_hold() {
    for (long seed : new long[] {209, 427, 442, 456, 671, 2454, 5520, 6064, 6796, 8236, 11_336, 11_883}) {
      assertThat(Simulation.run(seed).requests()).as("seed " + seed).isPositive();
    }
  }

  @Test
  @Tag("proof")
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void cluster_under20000Seeds_keepsEveryInvariant() {
    new Tally().run(1_000, 20_999);
  }

  @Test
  @Timeout(300)
  void seed_runTwice_isTheSameRun() {
    Set<Long> digests = new HashSet<>();
    for (long seed = 1; seed <= 4; seed++) {
      SimulationResult once = Simulation.run(seed);
      assertThat(Simulation.run(seed)).as("seed " + seed).isEqualTo(once);
      digests.add(once.digest());
    }
    assertThat(digests).as("digests of 4 seeds").hasSize(4);
  }

  @Test
  @Timeout(300)
  void command_ofSeedsThatHold_tellsSoAndEndsWithZero() {
    CommandLineRun run = LabRun.of("simulate", "--seeds", "1..3", "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("\"seeds\":3").contains("\"violations\":[]");
    assertThat(LabRun.of("simulate", "--seeds", "5..1").exitCode()).isEqualTo(2);
  }

  @Test
  void seeds_aRangeOrOne_areRead() {
    assertThat(SeedRange.parse("3..9")).isEqualTo(new SeedRange(3, 9));
    assertThat(SeedRange.parse("7")).isEqualTo(new SeedRange(7, 7));
    assertThatThrownBy(() -> SeedRange.parse("x")).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seeds must be a number or a range such as 1..500 (was x)");
  }

  private static final class Tally {
    long requests;
    long delivered;
    long left;
    long connections;

    void run(long first, long last) {
      for (long seed = first; seed <= last; seed++) {
        SimulationResult result = Simulation.run(seed);
        requests += result.requests();
        delivered += result.delivered();
        left += result.left();
        connections += result.connections();
      }
    }
  }
}
