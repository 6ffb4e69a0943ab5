package io.penstock.node.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceReader;
import io.penstock.node.trace.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The default policy on unlike traces: never more than 1 % of hits below the better of those it chooses from.
@Timeout(120)
final class AdaptivePolicyTest {
  private static final Path CONVERSATIONS = Path.of("../../../shared/traces/conversation_trace.jsonl");
  private static final double MOST_BELOW = 0.01;
  private static final long[] MANY = {100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000};

  @ParameterizedTest
  @EnumSource(Workload.class)
  void hits_areAtMostOnePercentBelowTheBetter(Workload workload) {
    assertClose(trace(workload, 2_000, 1), 200);
  }

  @Test
  void wherePhasesAlternate_hits_areAboveBoth() {
    SweepTrace trace = trace(Workload.PHASES, 6_000, 1);
    assertThat(hits(trace, EvictionPolicy.ADAPTIVE, 200))
        .isGreaterThan(better(trace, 200) * 11 / 10);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(Workload.class)
  void hits_ofManySeedsAndCapacities_areAtMostOnePercentBelowTheBetter(Workload workload) {
    for (long seed = 1; seed <= 5; seed++) {
      assertClose(trace(workload, 6_000, seed), MANY);
    }
  }

  @Tag("proof")
  @Test
  void hits_onTheConversationTrace_areAtMostOnePercentBelowTheBetter() {
    assumeTrue(Files.isReadable(CONVERSATIONS), CONVERSATIONS + " is absent");
    try (TraceReader reader = TraceReader.open(CONVERSATIONS)) {
      assertClose(SweepTrace.read(reader, 512), MANY);
    }
  }

  /// `CaffeineTest` of the pipeline compares every decision. Here the random admissions of the two differ, and each can
  /// turn the hill climber, so a trace counts where Caffeine agrees with itself.
  @Tag("proof")
  @ParameterizedTest
  @EnumSource(Workload.class)
  void tinyLfu_isWithinTwoPercentOfCaffeine_whereCaffeineAgreesWithItself(Workload workload) {
    SweepTrace trace = trace(workload, 6_000, 1);
    for (long capacity : new long[] {200, 1_000, 5_000, 20_000}) {
      long[] runs = LongStream.range(0, 5).map(run -> caffeine(trace, capacity)).sorted().toArray();
      if (runs[4] - runs[0] <= runs[0] / 100) {
        assertThat((double) hits(trace, EvictionPolicy.W_TINYLFU, capacity)).as("%s, %d", workload, capacity)
            .isBetween(0.98 * runs[0], 1.02 * runs[4]);
      }
    }
  }

  @Test
  void tinyLfu_isWithinTwoPercentOfCaffeine() {
    SweepTrace trace = trace(Workload.SCANS, 2_000, 1);
    assertThat((double) hits(trace, EvictionPolicy.W_TINYLFU, 1_000)).isBetween(0.98 * caffeine(trace, 1_000),
        1.02 * caffeine(trace, 1_000));
  }

  private static void assertClose(SweepTrace trace, long... capacities) {
    for (long capacity : capacities) {
      assertThat((double) hits(trace, EvictionPolicy.ADAPTIVE, capacity)).as("%d blocks", capacity)
          .isGreaterThanOrEqualTo((1 - MOST_BELOW) * better(trace, capacity));
    }
  }

  private static long better(SweepTrace trace, long capacity) {
    return Math.max(hits(trace, EvictionPolicy.LRU, capacity), hits(trace, EvictionPolicy.REUSE_AWARE, capacity));
  }

  private static long hits(SweepTrace trace, EvictionPolicy policy, long capacity) {
    return SweepRun.of(trace, policy, capacity).hits();
  }

  private static SweepTrace trace(Workload workload, int requests, long seed) {
    return SweepTrace.read(workload.open(new GeneratorOptions(requests, seed)), 512);
  }

  private static long caffeine(SweepTrace trace, long capacity) {
    Cache<Key, Boolean> cache = Caffeine.newBuilder().maximumSize(capacity).executor(Runnable::run).build();
    long hits = 0;
    for (SweepTrace.Prompt request : trace.requests()) {
      for (int block : request.blocks()) {
        Key key = new Key(trace.keys().get(block));
        if (cache.getIfPresent(key) == null) {
          cache.put(key, true);
        } else {
          hits++;
        }
        cache.cleanUp(); // it defers reads otherwise
      }
    }
    return hits;
  }

  /// A key whose hash is that of the sketch, which is equal on every machine.
  private record Key(BlockKey block) {
    @Override
    public int hashCode() {
      return Long.hashCode(block.hash().low() ^ Long.rotateLeft(block.hash().high(), 32));
    }
  }
}
