package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// A stack whose decisions are not exact, because strangers reach it: what they ask for costs others nothing until
/// bytes come, and readers that stand still keep no memory from writers.
final class TierStackServiceTest {
  private static final int CAPACITY = 64;
  private static final int INGRESS = 16;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final HostTier tier = new HostTier(Blocks.smallSpace(), CAPACITY,
      StackOptions.defaults("dram").withIngressBlocks(INGRESS).withExact(false), TierListener.noop());
  private final BlockScope scope = new BlockScope();

  @AfterEach
  void close() {
    scope.close();
    assertThat(tier.arena().claimedSlots()).isEqualTo(visible(0, 10_000));
    tier.close().block();
  }

  private static List<BlockKey> keys(long from, long to) {
    return Blocks.keys(Blocks.smallSpace(), from, to);
  }

  private long visible(long from, long to) {
    return requireNonNull(tier.contains(keys(from, to)).block()).count();
  }

  /// Stores one block after the other, as far as there is memory at once.
  ///
  /// @return how many
  private int store(long from, long to) {
    int stored = 0;
    for (BlockKey key : keys(from, to)) {
      Reservation room = tier.reserve(List.of(key), scope).toFuture().getNow(null);
      if (room == null) {
        return stored;
      }
      room.drafts().forEach(Blocks::produce);
      stored += requireNonNull(room.commit(room.drafts()).block()).size();
      room.close();
    }
    return stored;
  }

  /// A reader that takes one window and stands still.
  private final class IdleReader extends BaseSubscriber<List<LeasedBlock>> implements AutoCloseable {
    private final List<LeasedBlock> held = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final BlockScope own = new BlockScope();

    IdleReader(List<BlockKey> keys, int windowBlocks) {
      Lease lease = requireNonNull(tier.lease(keys, OnMiss.SKIP, own).block());
      lease.windows(windowBlocks, own).subscribe(this);
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscription.request(1);
    }

    @Override
    protected void hookOnNext(List<LeasedBlock> window) {
      held.addAll(window);
    }

    @Override
    protected void hookOnError(Throwable failure) {
      failures.add(failure);
    }

    @Override
    public void close() {
      cancel();
      own.close();
    }
  }

  @Test
  void keysWhoseBytesHaveNotCome_costNoVisibleBlock() {
    assertThat(store(0, CAPACITY)).isEqualTo(CAPACITY);
    Lease flood = requireNonNull(tier.lease(keys(1000, 9000), OnMiss.ADMIT, scope).block());
    tier.reserve(keys(5000, 5000 + INGRESS), scope).block();

    assertThat(flood.admitted().count()).isEqualTo(CAPACITY / 2);
    assertThat(visible(0, CAPACITY)).isEqualTo(CAPACITY);
  }

  @Test
  void leases_admitNoMoreThanTheyLeave_andTheNextMayWhenTheyEnd() {
    assertThat(admitted(1000)).isEqualTo(CAPACITY / 2);
    assertThat(admitted(2000)).isEqualTo(CAPACITY / 4);
    assertThat(admitted(3000)).isEqualTo(CAPACITY / 8);
    scope.close();
    try (BlockScope next = new BlockScope()) {
      assertThat(requireNonNull(tier.lease(keys(1000, 1100), OnMiss.ADMIT, next).block()).admitted().count())
          .isEqualTo(CAPACITY / 2);
    }
  }

  private int admitted(long from) {
    return requireNonNull(tier.lease(keys(from, from + 100), OnMiss.ADMIT, scope).block()).admitted().count();
  }

  @Test
  void committedBlock_takesThePlaceOfTheLeastRecentlyUsed() {
    store(0, CAPACITY);
    tier.lease(keys(0, 1), OnMiss.SKIP, scope).block();
    assertThat(store(100, 102)).isEqualTo(2);
    assertThat(List.of(visible(0, 1), visible(1, 3), visible(3, CAPACITY), visible(100, 102)))
        .containsExactly(1L, 0L, (long) CAPACITY - 3, 2L);
  }

  @Test
  void admittedKey_isAwaited_andReadWhenItWasPut() {
    Lease lease = requireNonNull(tier.lease(keys(0, 3), OnMiss.ADMIT, scope).block());
    List<Integer> read = new ArrayList<>();
    lease.windows(4, scope).subscribe(window -> window.forEach(leased -> {
      read.add(leased.position());
      leased.block().close();
    }));
    assertThat(store(0, 3)).isEqualTo(3);
    assertThat(read).containsExactly(0, 1, 2);
    assertThat(visible(0, 3)).isEqualTo(3);
  }

  @Test
  void readersThatStandStill_leaveMemoryToWriters_andBlocksToNewReaders() {
    store(0, CAPACITY);
    List<IdleReader> idle = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      idle.add(new IdleReader(keys(0, CAPACITY).subList(i, CAPACITY), CAPACITY));
    }
    assertThat(idle).allMatch(reader -> !reader.held.isEmpty());

    assertThat(store(100, 200)).as("writers go on").isEqualTo(100);
    try (IdleReader late = new IdleReader(keys(190, 200), 4)) {
      assertThat(late.held).isNotEmpty();
    }
    idle.forEach(IdleReader::close);
  }

  @Test
  void blockInUse_isNotEvicted_andCountsAsUsed() {
    store(0, CAPACITY);
    try (IdleReader reader = new IdleReader(keys(0, 2), 2)) {
      assertThat(reader.held).hasSize(2);
      store(100, 100 + CAPACITY - 2);
      assertThat(List.of(visible(0, 2), visible(2, CAPACITY))).containsExactly(2L, 0L);
    }
    store(200, 200 + CAPACITY);
    assertThat(visible(0, 2)).isZero();
  }

  @Test
  void streamWhoseBlockWasEvictedBeforeItsWindow_failsAndNamesTheBlock() {
    store(0, CAPACITY);
    try (IdleReader reader = new IdleReader(keys(0, 8), 2)) {
      store(100, 100 + CAPACITY);
      reader.request(8);
      assertThat(reader.failures).singleElement().isInstanceOfSatisfying(IncompleteBlockException.class,
          failure -> assertThat(failure.key()).isEqualTo(keys(0, 8).get(reader.held.size())));
      assertThat(reader.held).as("the part that the lease held").hasSize(3);
    }
  }
}
