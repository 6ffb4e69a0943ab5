package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.TierHolds.PutTerms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The keys of a [TierStack] that are being written, from their reservation or admission to the commit. Methods that
/// take [DeferredActions], and lookups, are used in decisions; the others make their own.
final class StackWrites {
  private final StackState state;
  private final StackCommit commit;
  private final Map<BlockKey, Pending> writing = new HashMap<>();
  private final Set<StackReservation> reservations = new LinkedHashSet<>();

  StackWrites(StackState state) {
    this.state = state;
    this.commit = new StackCommit(state, this);
  }

  Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return Mono.create(sink -> {
      StackReservation reservation = scope.adopt(new StackReservation(state, this, keys.size(), terms, sink));
      sink.onCancel(reservation::close);
      try {
        state.offloads().admit(reservation, keys.size(), () -> claim(reservation, keys));
        if (!state.shape().options().exact() && !reservation.isAnswered()) {
          state.decide(after -> state.holds().waits(reservation));
        }
      } catch (RuntimeException e) {
        reservation.fail(e);
      }
    });
  }

  private void claim(StackReservation reservation, List<BlockKey> keys) {
    try {
      boolean exact = state.shape().options().exact();
      if (exact) {
        state.room().want(keys.size());
      }
      List<BlockKey> wanted = enter(reservation, keys);
      if (!exact) { // the ledger does not count what is being written
        state.room().want(state.look(writing::size));
      }
      if (wanted.isEmpty()) {
        reservation.succeed();
      } else {
        reservation.wantSlots(wanted.size());
        reservation.waitFor(state.memory().ingress().claim(wanted, reservation::granted, reservation::fail));
      }
    } catch (RuntimeException e) {
      reservation.fail(e);
    }
  }

  /// Enters the keys that are neither visible nor being written into the ledger, in order. Answers these keys.
  private List<BlockKey> enter(StackReservation reservation, List<BlockKey> keys) {
    return state.answer(after -> {
      state.requireOpen();
      if (reservation.isClosed()) { // its revocation ran before, and would miss the keys entered here
        throw new CancellationException("reservation ended before its turn came");
      }
      reservations.add(reservation);
      List<BlockKey> wanted = new ArrayList<>(keys.size());
      for (int i = 0; i < keys.size(); i++) {
        if (enter(reservation, keys.get(i), i, after)) {
          wanted.add(keys.get(i));
        } else {
          reservation.skip(i, !isWritten(keys.get(i)));
        }
      }
      if (!state.shape().options().exact() && !wanted.isEmpty()) {
        state.holds().reserved(reservation);
      }
      if (!reservation.terms().group().isEmpty()) {
        state.holds().requireGroup(wanted, reservation.terms().group(), after);
      }
      if (reservation.terms().pins()) { // when it fails, its end revokes the keys entered here
        reservation.promisePins(wanted.size());
      }
      return wanted;
    });
  }

  /// Has `reservation` write `key`. False if the block is visible, or another reservation writes it.
  private boolean enter(StackReservation reservation, BlockKey key, int position, DeferredActions after) {
    Pending pending = writing.get(key);
    if (pending != null && pending.isReserved() && !state.holds().mayPreempt(pending)) {
      return false;
    }
    boolean visible =
        state.index().find(key, after) instanceof Resident block && state.stores().isReadable(block);
    if (visible && !reservation.terms().upserts()) {
      if (pending != null) { // admitted while its store gave no blocks
        Resident there = (Resident) requireNonNull(state.index().find(key, after));
        writing.remove(key);
        pending.serve(at -> LeaseItem.of(at, there), after);
      }
      return false;
    }
    long now = state.holds().now();
    if (pending != null) {
      pending.reserve(reservation, now);
      return true;
    }
    pending = new Pending(key, position, null);
    writing.put(key, pending);
    pending.reserve(reservation, now); // first: if the next step throws, the reservation's revocation frees the key
    if (state.shape().options().exact()) {
      state.index().enter(pending, after);
    }
    return true;
  }

  Mono<List<Receipt>> commit(StackReservation reservation, List<BlockDraft> complete) {
    return commit.commit(reservation, complete);
  }

  private boolean isWritten(BlockKey key) {
    Pending pending = writing.get(key);
    return pending != null && pending.isReserved();
  }

  int reservations() {
    return reservations.size();
  }

  /// The write of `key`; null if no caller writes it.
  @Nullable Pending pending(BlockKey key) {
    return writing.get(key);
  }

  /// Admits `key`, which is at `position` of `lease`, whose owner has the block written.
  Pending admit(BlockKey key, int position, StackLease lease) {
    Pending pending = new Pending(key, position, lease);
    writing.put(key, pending);
    return pending;
  }

  /// Ends the write `pending`: the leases that wait for it get `block`.
  void serve(Pending pending, Block block, DeferredActions after) {
    writing.remove(pending.key());
    pending.serve(position -> new LeaseItem.InMemory(position, block.share()), after);
  }

  /// Revokes the writes that `reservation` has not committed.
  void revoke(StackReservation reservation) {
    state.decide(after -> {
      reservations.remove(reservation);
      reservation.endPins();
      reservation.takeAll().forEach(pending -> revoke(pending, after));
    });
  }

  /// Revokes the writes of `blocks`, which failed, so that another writer may try.
  void revoke(StackReservation reservation, List<Block> blocks) {
    state.decide(after -> {
      for (Block block : blocks) {
        Pending pending = reservation.take(block.key());
        if (pending != null) {
          revoke(pending, after);
        }
      }
    });
  }

  /// Revokes `pending`: takes it out of the ledger, and the leases stop waiting for it.
  void revoke(Pending pending, DeferredActions after) {
    if (writing.remove(pending.key(), pending)) {
      state.index().unlist(pending);
      pending.abandon(after);
    }
  }

  /// The error of a caller that goes on with `reservation`, which has ended.
  RuntimeException ended(StackReservation reservation) {
    return state.isClosed()
        ? state.shape().closed()
        : reservation.failure() instanceof RuntimeException why
            ? why
            : new IllegalStateException("reservation must be open (was closed)");
  }

  /// Fails every reservation, because the stack has closed.
  void close(DeferredActions after) {
    writing.values().forEach(pending -> pending.setListed(false));
    TierClosedException reason = state.shape().closed();
    reservations.forEach(reservation -> after.then(() -> reservation.fail(reason)));
  }
}
