package io.penstock.lab.simulate;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.ForwardingTier;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A tier with its model: every decision of the tier goes to the model in that order, and both answers must agree.
///
/// The order is that of the calls: a tier decides when it is subscribed to, before it signals anything.
final class WatchedTier extends ForwardingTier {
  private final BlockTier tier;
  private final TierModel model;
  private final Verdict verdict;
  private final List<TierEvent> events = new ArrayList<>();
  private int eventsChecked;
  private long ids;
  private boolean closed;

  WatchedTier(BlockTier tier, TierModel model, Verdict verdict) {
    super(tier);
    this.tier = tier;
    this.model = model;
    this.verdict = verdict;
    tier.events(0).subscribe(events::add, error -> verdict.broken(Invariant.EVENTS_WHOLE, "events failed", error));
  }

  TierModel model() {
    return model;
  }

  /// Everything that happened; the list grows.
  List<TierEvent> events() {
    return events;
  }

  boolean isClosed() {
    return closed;
  }

  /// Compares the events since the last call. Call it between two steps, when no step is half done.
  void checkEvents() {
    if (closed) {
      return;
    }
    List<TierEvent> expected = model.events();
    for (; eventsChecked < Math.max(expected.size(), events.size()); eventsChecked++) {
      TierEvent here = eventsChecked < events.size() ? events.get(eventsChecked) : null;
      TierEvent there = eventsChecked < expected.size() ? expected.get(eventsChecked) : null;
      if (here == null || !here.equals(there)) {
        verdict.broken(here instanceof TierEvent.Evicted || there instanceof TierEvent.Evicted
            ? Invariant.MODEL_AGREES
            : Invariant.EVENTS_WHOLE, "event " + (eventsChecked + 1) + " was " + here + ", the model says " + there);
      }
      verdict.note(String.valueOf(here));
    }
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return tier.match(keys).doOnNext(prefix -> {
      int expected = 0;
      while (expected < keys.size() && model.isVisible(keys.get(expected))) {
        expected++;
      }
      agree("match", expected, prefix);
    });
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return tier.contains(keys).doOnNext(present -> {
      BitSet expected = new BitSet();
      for (int i = 0; i < keys.size(); i++) {
        expected.set(i, model.isVisible(keys.get(i)));
      }
      agree("contains", expected, present.bits());
    });
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return Mono.defer(() -> {
      if (closed) {
        return tier.lease(keys, onMiss, scope);
      }
      BlockScope inner = new BlockScope();
      Mono<Lease> decision = tier.lease(keys, onMiss, inner); // refuses bad keys before any decision
      long id = ++ids;
      TierModel.Answer expected = model.lease(id, keys, onMiss);
      AtomicBoolean answered = new AtomicBoolean();
      return decision.map(lease -> {
        answered.set(true);
        agree("hits", expected.hits(), lease.hits().bits());
        agree("found", expected.found(), lease.found().bits());
        agree("admitted", expected.admitted(), lease.admitted().bits());
        agree("awaited", expected.awaited(), lease.awaited().bits());
        verdict.note("lease " + keys + onMiss + expected.hits() + expected.admitted());
        return scope.adopt(new WatchedLease(lease, inner, () -> ended(id)));
      }).doOnCancel(() -> {
        if (!answered.get()) { // the tier decides, and ends a lease that no caller will get
          ended(id);
        }
      });
    });
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return Mono.defer(() -> {
      if (closed) {
        return tier.reserve(keys, scope);
      }
      WatchedReservation watched = new WatchedReservation(++ids);
      Mono<Reservation> decision = tier.reserve(keys, watched.inner);
      BitSet expected = model.reserve(watched.id, keys);
      scope.adopt(watched);
      return decision.map(reservation -> {
        agree("skipped", expected, reservation.skipped().bits());
        verdict.note("reserve " + keys + expected);
        watched.reservation = reservation;
        return (Reservation) watched;
      }).doOnError(error -> watched.close()).doOnCancel(watched::close);
    });
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return Mono.defer(() -> {
      if (closed) {
        return tier.remove(keys);
      }
      Mono<Presence> removal = tier.remove(keys);
      BitSet expected = model.remove(keys);
      return removal.doOnNext(removed -> {
        agree("removed", expected, removed.bits());
        verdict.note("remove " + keys + expected);
      });
    });
  }

  @Override
  public Mono<TierStat> stat() {
    return tier.stat().doOnNext(stat -> agree("blocks", (long) model.visible().size(), stat.blocks()));
  }

  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      checkEvents();
      closed = true;
      return tier.close();
    });
  }

  private void ended(long lease) {
    if (!closed) {
      model.endLease(lease);
    }
  }

  private void agree(String what, Object expected, Object actual) {
    if (!expected.equals(actual)) {
      verdict.broken(Invariant.MODEL_AGREES, what + " were " + actual + ", the model says " + expected);
    }
  }

  private final class WatchedReservation extends Reservation {
    private final long id;
    private final BlockScope inner = new BlockScope();
    private @Nullable Reservation reservation;

    WatchedReservation(long id) {
      this.id = id;
    }

    private Reservation granted() {
      Reservation own = reservation;
      if (own == null) {
        throw new IllegalStateException("reservation must be granted to be used (was waiting)");
      }
      return own;
    }

    @Override
    public List<BlockDraft> drafts() {
      return granted().drafts();
    }

    @Override
    public Presence skipped() {
      return granted().skipped();
    }

    @Override
    public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
      return Mono.defer(() -> {
        List<BlockKey> keys = complete.stream().map(BlockDraft::key).toList();
        boolean whole = complete.stream().allMatch(BlockDraft::isComplete);
        List<Long> expected = isClosed() || closed || !whole ? List.of() : model.commit(id, keys);
        return granted().commit(complete).doOnNext(receipts -> {
          agree("receipts", expected, receipts.stream().map(Receipt::sequence).toList());
          verdict.note("commit " + receipts);
        });
      });
    }

    @Override
    protected void free() {
      if (!closed) {
        model.revoke(id);
      }
      inner.close();
    }
  }

  /// True if `receipt` names the event by which its block became visible.
  boolean vouchesFor(Receipt receipt) {
    long sequence = receipt.sequence();
    return sequence >= 1 && sequence <= events.size()
        && events.get((int) sequence - 1) instanceof TierEvent.Stored stored && stored.key().equals(receipt.key());
  }
}
