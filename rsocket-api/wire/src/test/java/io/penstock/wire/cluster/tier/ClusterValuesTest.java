package io.penstock.wire.cluster.tier;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.ValueStore;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.TierInfo;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/// Values in a cluster, whose new ones go to any member.
@Timeout(120)
final class ClusterValuesTest {
  private static final CacheSpace SPACE = ValueStore.space("values", 4096, "");
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final List<String> MEMBERS = List.of("n0", "n1", "n2", "n3");

  private final ClusterOfTiers nodes = new ClusterOfTiers(SPACE);

  @AfterEach
  void close() {
    nodes.close().block(SOON);
  }

  private ClusterTier over(long seed) {
    return new ClusterTier(new TierInfo("cluster test", Medium.REMOTE, SPACE, 256), nodes, "",
        new SplittableRandom(seed), Schedulers.immediate(), Schedulers.immediate());
  }

  private static byte[] value(long seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  private static byte @Nullable [] get(BlockTier tier) {
    try (BlockScope scope = new BlockScope()) {
      LeasedValue value = new ValueStore(tier).get("k", scope).block(SOON);
      if (value == null) {
        return null;
      }
      ByteArrayOutputStream read = new ByteArrayOutputStream();
      value.parts().doOnNext(part -> {
        try (part) {
          read.writeBytes(part.<byte[]>read(memory -> memory.toArray(JAVA_BYTE)));
        }
      }).blockLast(SOON);
      return read.toByteArray();
    }
  }

  @ParameterizedTest
  @CsvSource({"100, 200", "100, 20000", "20000, 100", "20000, 12000"})
  void valueThatWasReplaced_isTheNewOne_whicheverMemberAReaderAsks(int before, int length) {
    MEMBERS.forEach(name -> nodes.add(name, 64));
    for (int seed = 0; seed < 8; seed++) {
      String old = MEMBERS.get(seed % MEMBERS.size());
      byte[] first = value(seed, before);
      assertThat(new ValueStore(nodes.node(old).tier).put("k", before, Flux.just(MemorySegment.ofArray(first)))
          .block(SOON)).isTrue();
      assertThat(get(over(seed))).isEqualTo(first);

      byte[] second = value(100 + seed, length);
      assertThat(new ValueStore(over(seed)).replace("k", length, Flux.just(MemorySegment.ofArray(second)), null, null)
          .block(SOON)).as("seed %s", seed).isNotNull();
      long heads = MEMBERS.stream().filter(name -> requireNonNull(nodes.node(name).tier
          .contains(List.of(new ValueStore(nodes.node(name).tier).headKey("k"))).block(SOON)).count() > 0).count();
      assertThat(heads).as("heads with seed %s", seed).isOne();
      for (int reader = 0; reader < 6; reader++) {
        assertThat(get(over(1_000 + reader))).as("seed %s, reader %s", seed, reader).isEqualTo(second);
      }
      assertThat(new ValueStore(over(seed)).remove("k").block(SOON)).isTrue();
      assertThat(nodes.visibleBlocks()).as("blocks left with seed %s", seed).isZero();
    }
  }
}
