package io.penstock.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.examples.source.SeededBytes;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.ReadOnlyTierException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

@Timeout(30)
final class GeneratingTierTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final long SEED = 3;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();
  private final SlabArena arena = leaks.watch(new SlabArena("source", Shape.LAYOUT, 8, 8));
  private final GeneratingTier tier = new GeneratingTier(Shape.SPACE, arena, SEED, 1, 4);

  @Test
  void get_makesEveryBlockInOrder() {
    List<BlockKey> keys = keys(0, 10);

    List<BlockKey> got = Flux.using(BlockScope::new, scope -> tier.get(keys, scope).map(block -> {
      try (block) {
        assertThat(
            (long) block.read(memory -> SeededBytes.mismatch(GeneratingTier.seedOf(SEED, block.key()), 0, memory)))
            .isEqualTo(-1);
        return block.key();
      }
    }), BlockScope::close).collectList().block(LIMIT);

    assertThat(got).isEqualTo(keys);
    assertThat(tier.madeBytes(0)).isEqualTo(10L * Shape.BLOCK_BYTES);
  }

  @Test
  void windows_makeNothingBeyondOneWindowAheadOfDemand() {
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(lease(keys(0, 100), scope).flatMapMany(lease -> lease.windows(2, scope)), 0)
          .expectSubscription()
          .then(() -> assertThat(tier.madeBytes(0)).isZero())
          .thenRequest(1).assertNext(window -> close(window, 2))
          .then(() -> assertThat(tier.madeBytes(0)).isEqualTo(2L * Shape.BLOCK_BYTES))
          .thenRequest(1).assertNext(window -> close(window, 2))
          .thenCancel().verify(LIMIT);
    }
    assertThat(tier.madeBytes(0)).isEqualTo(4L * Shape.BLOCK_BYTES);
  }

  @Test
  void fullArena_holdsTheNextWindowBack() {
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(lease(keys(0, 12), scope).flatMapMany(lease -> lease.windows(4, scope)).map(List::copyOf), 3)
          .expectNextCount(2)
          .then(() -> assertThat(arena.claimedSlots()).isEqualTo(8))
          .then(scope::close)
          .thenCancel().verify(LIMIT);
    }
  }

  @Test
  void unknownKeys_areLeftOutAndOthersKeepTheirPositions() {
    List<BlockKey> keys = List.of(key(0, 5), key(7, 1), key(0, 6));
    try (BlockScope scope = new BlockScope()) {
      List<List<LeasedBlock>> windows =
          lease(keys, scope).flatMapMany(lease -> lease.windows(4, scope)).collectList().block(LIMIT);

      assertThat(windows).hasSize(1);
      assertThat(windows.getFirst()).extracting(LeasedBlock::position).containsExactly(0, 2);
    }
    assertThat(tier.match(keys).block(LIMIT)).isEqualTo(1);
  }

  @Test
  void closedLease_endsItsStream() {
    try (BlockScope scope = new BlockScope()) {
      Lease lease = lease(keys(0, 100), scope).block(LIMIT);
      StepVerifier.create(lease.windows(1, scope), 1).expectNextCount(1).then(lease::close)
          .expectError(CancellationException.class).verify(LIMIT);
    }
  }

  @Test
  void closedTier_refusesAndEndsWhatRuns() {
    try (BlockScope scope = new BlockScope()) {
      Lease lease = lease(keys(0, 100), scope).block(LIMIT);
      StepVerifier.create(lease.windows(1, scope), 1).expectNextCount(1).then(() -> tier.close().block(LIMIT))
          .expectError(TierClosedException.class).verify(LIMIT);
      assertThatThrownBy(() -> tier.match(keys(0, 1)).block(LIMIT)).isInstanceOf(TierClosedException.class);
      assertThatThrownBy(() -> tier.events(0).blockFirst(LIMIT)).isInstanceOf(TierClosedException.class);
    }
  }

  @Test
  void writing_isRefused() {
    try (BlockScope scope = new BlockScope()) {
      assertThatThrownBy(() -> tier.reserve(keys(0, 1), scope).block(LIMIT)).isInstanceOf(ReadOnlyTierException.class);
      assertThatThrownBy(() -> tier.remove(keys(0, 1)).block(LIMIT)).isInstanceOf(ReadOnlyTierException.class);
    }
  }

  @Test
  void sameKeyTwice_isRefusedAtCallTime() {
    assertThatThrownBy(() -> tier.match(List.of(key(0, 1), key(0, 1)))).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("distinct");
  }

  private Mono<Lease> lease(List<BlockKey> keys, BlockScope scope) {
    return tier.lease(keys, OnMiss.SKIP, scope);
  }

  private static void close(List<LeasedBlock> window, int size) {
    assertThat(window).hasSize(size);
    window.forEach(leased -> leased.block().close());
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(number -> key(0, number)).toList();
  }

  private static BlockKey key(int stream, long number) {
    return new BlockKey(Shape.SPACE_ID, GeneratingTier.hash(stream, number));
  }
}
