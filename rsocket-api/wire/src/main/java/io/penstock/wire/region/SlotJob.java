package io.penstock.wire.region;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.session.SessionUse;
import io.penstock.carrier.PeerMemoryException;
import io.penstock.tier.BlockTier;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.report.Carried;
import io.penstock.wire.slice.InFlight;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One request to copy between slots and blocks, and what became of its keys so far. Steps of the request come one
/// after the other.
final class SlotJob {
  /// The block differed from its checksums.
  static final int CORRUPT = -801;
  /// The block is not visible.
  static final int MISSING = -704;
  /// Another writer writes the block.
  static final int TAKEN = -703;
  /// No room came in time.
  static final int NO_ROOM = -200;
  /// The block did not come in time.
  static final int LATE = -901;

  /// Most bytes of a window, if it has several blocks.
  private static final int WINDOW_BYTES = 8 << 20;

  final BlockTier tier;
  final List<BlockKey> keys;
  final @Nullable SessionUse session;
  final BlockScope scope;
  private final InFlight inFlight;
  private final int[] slots;
  private final ClientRegion region;
  private final Terms terms;
  private final Runnable rights;
  private final Carried carried;
  private final long end;
  private final BitSet done = new BitSet();
  private final Map<Integer, Integer> failed = new TreeMap<>();

  /// What all requests of a connection share.
  ///
  /// @param windows blocks that windows on their way to the tier may have
  /// @param budget bytes in flight; that of the direction
  /// @param windowBlocks most blocks of a window
  record Terms(Scheduler copies, Scheduler timers, BudgetLane windows, Budget budget, int sliceBytes,
      int windowBlocks) {}

  /// What a request is for.
  ///
  /// @param slots of the keys
  /// @param millis for which it may wait; null for no bound
  record Wanted(BlockTier tier, List<BlockKey> keys, int[] slots, @Nullable Long millis,
      @Nullable SessionUse session) {}

  /// @param inFlight is not drained while a copy runs
  /// @param scope of the request; closed when its connection is gone
  /// @param rights throws if the caller has lost them
  /// @param carried counts the bytes
  SlotJob(Wanted wanted, ClientRegion region, Terms terms, InFlight inFlight, BlockScope scope, Runnable rights,
      Carried carried) {
    this.inFlight = inFlight;
    this.tier = wanted.tier;
    this.keys = wanted.keys;
    this.slots = wanted.slots;
    this.session = wanted.session;
    this.region = region;
    this.terms = terms;
    this.scope = scope;
    this.rights = rights;
    this.carried = carried;
    this.end = wanted.millis == null ? Long.MAX_VALUE : nanos() + Duration.ofMillis(wanted.millis).toNanos();
  }

  private long nanos() {
    return terms.timers.now(TimeUnit.NANOSECONDS);
  }

  Terms terms() {
    return terms;
  }

  int blockBytes() {
    return tier.info().space().layout().blockBytes();
  }

  /// Most blocks of a window.
  int windowBlocks() {
    return Math.clamp(WINDOW_BYTES / blockBytes(), 1, terms.windowBlocks);
  }

  /// Time that is left for waits; null without a bound.
  @Nullable Duration left() {
    return end == Long.MAX_VALUE ? null : Duration.ofNanos(Math.max(0, end - nanos()));
  }

  /// `wait`, which fails with a `TimeoutException` when the time is over.
  <T> Mono<T> limited(Mono<T> wait) {
    Duration left = left();
    if (left == null) {
      return wait;
    }
    return left.isZero()
        ? Mono.error(new TimeoutException("time is over"))
        : wait.timeout(left, terms.timers);
  }

  /// Throws if the request must not go on.
  void proceed() {
    if (scope.isClosed()) {
      throw new CancellationException("the request must be wanted (was given up)");
    }
    rights.run();
  }

  /// One window: waits for bytes of the budget, then has `copy` run while the region stays.
  Mono<Void> copied(Runnable copy, boolean isLimited) {
    Permit bytes = new Permit(terms.budget, terms.sliceBytes);
    Mono<Void> granted = bytes.granted();
    return (isLimited ? limited(granted) : granted).publishOn(terms.copies)
        .then(Mono.<Void>fromRunnable(() -> holding(copy)))
        .doFinally(any -> bytes.dispose());
  }

  private void holding(Runnable copy) {
    Runnable left = inFlight.enter(() -> {}); // before the look at the scope, which closes before the stream is over
    try {
      proceed();
      if (!region.retain()) {
        throw new PeerMemoryException("the region must be mapped (was ended)", null);
      }
      try {
        copy.run();
      } catch (InternalError e) { // told by the JVM behind the copy
        throw region.gone();
      } finally {
        region.release();
      }
    } finally {
      left.run();
    }
  }

  /// The region, and in it the slot of a position.
  ClientRegion region() {
    return region;
  }

  int slot(int position) {
    return slots[position];
  }

  /// Another block was copied.
  void count() {
    proceed();
    carried.count(blockBytes(), true);
  }

  synchronized void done(int position) {
    done.set(position);
  }

  synchronized void failed(int position, int code) {
    failed.put(position, code);
  }

  /// Whether nothing is known of a position yet.
  synchronized boolean isOpen(int position) {
    return !done.get(position) && !failed.containsKey(position);
  }

  /// The answer; a key of which nothing is known has `code`.
  synchronized RegionMessages.SlotsReply reply(int code) {
    for (int i = 0; i < keys.size(); i++) {
      if (isOpen(i)) {
        failed.put(i, code);
      }
    }
    return RegionMessages.SlotsReply.of(keys.size(), done, failed);
  }
}
