package io.penstock.stack;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.hold.HeldLease;
import io.penstock.stack.hold.HoldParty;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.move.HostRoom;
import io.penstock.stack.move.Removals;
import io.penstock.stack.read.LeasePrefetch;
import io.penstock.stack.read.StackLeases;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.Lease;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierHolds.RemovalCount;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The read leases, pins and removals of one party at a [TierStack]. Each method makes its own decisions: for many
/// keys a few, with turns for others between them, unless decisions are exact.
final class StackPartyHolds extends TierHolds {
  /// Keys of one step of a removal by filter.
  private static final int SCAN_KEYS = StackLeases.DECISION_KEYS;

  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final LevelStates states;
  private final StackHolds holds;
  private final Removals removals;
  private final HostRoom room;
  private final StackLeases streams;
  private final LeasePrefetch prefetch;
  private final HoldParty party;
  /// Leases that this handle began. Used in decisions only.
  private final Set<Long> own = new HashSet<>();

  StackPartyHolds(Decisions decisions, StackShape shape, StackIndex index, LevelStates states, StackHolds holds,
      Removals removals, HostRoom room, StackLeases streams, LeasePrefetch prefetch, HoldParty party) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.states = states;
    this.holds = holds;
    this.removals = removals;
    this.room = room;
    this.streams = streams;
    this.prefetch = prefetch;
    this.party = party;
  }

  private List<BlockKey> distinct(List<BlockKey> keys) {
    return BlockKey.distinct(keys, shape.info().space().id());
  }

  @Override
  public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
    List<BlockKey> asked = distinct(keys);
    shape.options().holds().lease(terms.life()); // refuses a life that is too long
    return Mono.fromCallable(() -> leaseNow(asked, terms));
  }

  private ReadLease leaseNow(List<BlockKey> keys, LeaseTerms terms) {
    Begun begun = decisions.answer(after -> begin(terms));
    HeldLease lease = begun.lease();
    BitSet found = new BitSet();
    BitSet leased = new BitSet();
    List<BlockKey> slower = new ArrayList<>(0);
    try {
      streams.inDecisions(keys, (first, end, after) -> {
        if (!terms.prefixOnly() || found.cardinality() == first) {
          find(lease, keys, first, end, terms, found, leased, slower, after);
        }
      });
    } catch (Throwable e) {
      if (begun.isNew()) {
        decisions.decide(after -> release(lease.id(), after));
      }
      throw e;
    }
    boolean any = !leased.isEmpty();
    if (!any && begun.isNew()) {
      decisions.decide(after -> release(lease.id(), after));
    }
    if (terms.prefetch() && !slower.isEmpty()) {
      room.wantFor(slower);
      prefetch.begin(lease.id(), slower);
    }
    return new ReadLease(any ? lease.id() : 0, Presence.of(keys.size(), found), Presence.of(keys.size(), leased),
        lease.life());
  }

  /// @param isNew false for a lease that lived before
  private record Begun(HeldLease lease, boolean isNew) {}

  private Begun begin(LeaseTerms terms) {
    decisions.requireOpen();
    if (isClosed()) {
      throw new IllegalStateException("holds must be open (was closed)");
    }
    own.removeIf(id -> !holds.isLive(id));
    HeldLease before = terms.id() == 0 ? null : holds.again(terms.id());
    if (before != null) {
      return new Begun(before, false);
    }
    HeldLease lease = holds.begin(party, terms);
    own.add(lease.id());
    return new Begun(lease, true);
  }

  private void find(HeldLease lease, List<BlockKey> keys, int first, int end, LeaseTerms terms, BitSet found,
      BitSet leased, List<BlockKey> slower, DeferredActions after) {
    decisions.requireOpen();
    for (int i = first; i < end; i++) {
      Resident block = visible(keys.get(i), after);
      if (block == null && terms.prefixOnly()) {
        return;
      } else if (block != null) {
        found.set(i);
        if (!lease.isOver() && (lease.holds(block) || holds.mayHold(lease))) {
          holds.hold(lease, block, after);
          leased.set(i);
          if (!block.isInMemory()) {
            slower.add(keys.get(i));
          }
        }
      }
    }
  }

  private @Nullable Resident visible(BlockKey key, DeferredActions after) {
    return index.find(key, after) instanceof Resident block && states.isReadable(block) ? block : null;
  }

  @Override
  public Mono<Boolean> release(long id) {
    return Mono.fromCallable(() -> decisions.answer(after -> release(id, after)));
  }

  private boolean release(long id, DeferredActions after) {
    own.remove(id);
    return holds.release(id, after);
  }

  @Override
  public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
    List<BlockKey> asked = distinct(keys);
    return Mono.create(sink -> {
      Lease lease = scope.adopt(streams.read(id, asked));
      sink.onCancel(lease::close);
      sink.success(lease);
    });
  }

  @Override
  public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
    List<BlockKey> asked = distinct(keys);
    shape.options().holds().softPin(pin.life()); // refuses a life that is too long
    return Mono.fromCallable(() -> decisions.answer(after -> {
      decisions.requireOpen();
      List<KeyOutcome> outcomes = new ArrayList<>(asked.size());
      List<Resident> blocks = new ArrayList<>(asked.size());
      for (BlockKey key : asked) {
        Resident block = visible(key, after);
        outcomes.add(block == null
            ? removals.absent(key)
            : pin.kind() == Pin.Kind.NONE && !StackHolds.isPinned(block) ? KeyOutcome.UNCHANGED : KeyOutcome.OK);
        if (block != null) {
          blocks.add(block);
        }
      }
      holds.pin(blocks, pin, after);
      return outcomes;
    }));
  }

  @Override
  public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
    List<BlockKey> asked = distinct(keys);
    return Mono.fromCallable(() -> {
      List<KeyOutcome> outcomes = new ArrayList<>(asked.size());
      streams.inDecisions(asked, (first, end, after) -> {
        decisions.requireOpen();
        for (BlockKey key : asked.subList(first, end)) {
          outcomes.add(removals.remove(key, force, after));
        }
      });
      return outcomes;
    });
  }

  @Override
  public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
    return Flux.generate(() -> 0, (from, sink) -> {
      List<BlockKey> keys = new ArrayList<>(SCAN_KEYS);
      int next = decisions.look(() -> {
        decisions.requireOpen();
        return index.scan(from, SCAN_KEYS, keys::add);
      });
      keys.removeIf(key -> !which.test().test(key));
      RemovalCount count = RemovalCount.NONE;
      for (KeyOutcome outcome : removeNow(keys, force)) {
        count = count.and(outcome);
      }
      sink.next(count);
      if (next < 0) {
        sink.complete();
      }
      return next;
    });
  }

  private List<KeyOutcome> removeNow(List<BlockKey> keys, boolean force) {
    return decisions.answer(after -> {
      List<KeyOutcome> outcomes = new ArrayList<>(keys.size());
      keys.forEach(key -> outcomes.add(removals.remove(key, force, after)));
      return outcomes;
    });
  }

  @Override
  protected void free() {
    decisions.decide(after -> holds.leave(party, own, after));
  }
}
