package io.penstock.cluster.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Blocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

final class BatchSizeTest {
  private static final int NAMES = 400;
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final List<Integer> sizes = new ArrayList<>();

  @AfterEach
  void end() {
    time.dispose();
  }

  @Test
  void quickBatches_grow() {
    announce(Duration.ofMillis(20));

    assertThat(sizes).startsWith(16, 32, 64, 64).allMatch(size -> size <= 64);
  }

  @Test
  void slowBatches_stayAsSmallAsTheFirst() {
    announce(Duration.ofMillis(600));

    assertThat(sizes).hasSize(NAMES / 16).containsOnly(16);
  }

  /// Announces a tier over a map whose calls take so long.
  private void announce(Duration call) {
    ModelTier tier = new ModelTier(1);
    Blocks.keys(Blocks.smallSpace(), 0, NAMES).forEach(key -> tier.put(key, ModelTier.DRAM));
    AnnounceTerms terms =
        new AnnounceTerms(16, 64, Duration.ofMillis(3), Duration.ofMillis(300), Duration.ofMillis(100));
    Pace pace = new Pace(1_000_000, 1_000, time);
    new Announcer(new AnnounceParts(new TimedMap(call), new BlockNames(new byte[BlockNames.SECRET_BYTES]),
        (of, valid) -> Mono.empty(), pace, terms, () -> 1, time)).announce(tier).subscribe();
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertThat(sizes.stream().mapToInt(size -> size).sum()).isEqualTo(NAMES);
  }

  private final class TimedMap implements SharedMap {
    private final Duration call;

    TimedMap(Duration call) {
      this.call = call;
    }

    @Override
    public Mono<Void> announce(long round, int level, long[] former, List<BlockName> names) {
      return Mono.delay(call, time).doOnNext(passed -> sizes.add(names.size())).then();
    }

    @Override
    public Mono<Void> forget(long[] rounds, List<BlockName> names) {
      return Mono.error(new AssertionError("nothing is forgotten"));
    }

    @Override
    public Mono<List<byte[]>> locate(List<BlockName> names) {
      return Mono.error(new AssertionError("nothing is asked"));
    }

    @Override
    public Mono<long[]> unknown(LongPredicate known) {
      return Mono.just(new long[0]);
    }

    @Override
    public Mono<Void> purge(long[] rounds) {
      return Mono.empty();
    }

    @Override
    public Flux<MapLoss> losses() {
      return Flux.never();
    }
  }
}
