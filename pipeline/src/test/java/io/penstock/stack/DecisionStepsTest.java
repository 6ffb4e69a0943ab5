package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.read.StackLeases;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierListener;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// However many blocks a request is about, the lock is held for a bounded number of them at a time, and others go on in
/// between. Lookups take no lock at all (`TierStackLookupTest`).
final class DecisionStepsTest extends StackSteps {
  private static final int BLOCKS = 10_000;
  private static final int STEP = StackLeases.DECISION_KEYS;
  /// A step over the keys of the index ends with a bucket of them.
  private static final int BUCKET = 64;
  private static final int WINDOW = 500;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private int mostReferenced;
  private long referenced;
  private long evicted;
  private final TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", BLOCKS)),
      StackOptions.defaults("stack").withIngressBlocks(2 * WINDOW).withExact(false), new TierListener() {
        @Override
        public void referenced(int references, int hits) {
          mostReferenced = Math.max(mostReferenced, references);
          referenced += references;
        }

        @Override
        public void evicted(long bytes) {
          evicted++;
        }
      });

  private void fill(int from, int to) {
    for (int i = from; i < to; i += WINDOW) {
      putAll(stack, keys(i, i + WINDOW));
    }
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  @Test
  void requestsForManyBlocks_areManyDecisions_andEvictionIsOneBlockForOneThatComes() {
    fill(0, BLOCKS);
    assertThat(evicted).isZero();
    for (int i = 0; i < 4; i++) {
      long before = evicted;
      putAll(stack, keys(BLOCKS + i * WINDOW, BLOCKS + (i + 1) * WINDOW));
      assertThat(evicted - before).isEqualTo(WINDOW);
    }

    try (BlockScope scope = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(keys(0, BLOCKS), OnMiss.SKIP, scope).block(SOON));
      assertThat(lease.found().count()).isEqualTo(BLOCKS - 4 * WINDOW);
      assertThat(referenced).isEqualTo(BLOCKS);
      assertThat(mostReferenced).isLessThanOrEqualTo(STEP);
    }

    Removal removal = new Removal();
    try (TierHolds holds = stack.holds("me")) {
      holds.remove(KeyFilter.all(), true).subscribe(removal);
    }
    int steps = 0;
    while (!removal.isDisposed()) {
      long before = removal.removed;
      removal.request(1);
      assertThat(removal.removed - before).isLessThanOrEqualTo(STEP + BUCKET);
      put(stack, 100_000 + steps++); // another writer has its turn
      read(stack, 100_000 + steps - 1);
    }
    assertThat(steps).isGreaterThan(BLOCKS / STEP);
    assertThat(removal.removed).isGreaterThanOrEqualTo(BLOCKS);
    assertThat(stat(stack).blocks()).isLessThanOrEqualTo(steps);
    assertClosesClean(stack);
  }

  private static final class Removal extends BaseSubscriber<RemovalCount> {
    private long removed;

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // it asks later
    }

    @Override
    protected void hookOnNext(RemovalCount count) {
      removed += count.removed();
    }
  }
}
