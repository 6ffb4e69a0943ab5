package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The keys of a [TierStack] that are being written, from the reservation or the admission to the commit. The methods
/// that take [DeferredActions], and the lookups, are used in decisions; the others make their own.
final class StackWrites {
  private final StackState state;
  private final StackCommit commit;
  private final Map<BlockKey, Pending> writing = new HashMap<>();
  private final Set<StackReservation> reservations = new LinkedHashSet<>();

  StackWrites(StackState state) {
    this.state = state;
    this.commit = new StackCommit(state, this);
  }

  Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return Mono.create(sink -> {
      StackReservation reservation = scope.adopt(new StackReservation(state, this, keys.size(), sink));
      sink.onCancel(reservation::close);
      try {
        state.offloads().admit(reservation, keys.size(), () -> claim(reservation, keys));
      } catch (RuntimeException e) {
        reservation.fail(e);
      }
    });
  }

  private void claim(StackReservation reservation, List<BlockKey> keys) {
    try {
      List<BlockKey> wanted = enter(reservation, keys);
      if (wanted.isEmpty()) {
        reservation.succeed();
      } else {
        reservation.waitFor(state.memory().ingress().claim(wanted, reservation::granted, reservation::fail));
      }
    } catch (RuntimeException e) {
      reservation.fail(e);
    }
  }

  /// Enters the keys that are neither visible nor being written into the ledger, in order, and answers them.
  private List<BlockKey> enter(StackReservation reservation, List<BlockKey> keys) {
    return state.answer(after -> {
      state.requireOpen();
      if (reservation.isClosed()) { // its revocation came before this, or it would find what is entered here
        throw new CancellationException("reservation ended before its turn came");
      }
      reservations.add(reservation);
      List<BlockKey> wanted = new ArrayList<>(keys.size());
      for (int i = 0; i < keys.size(); i++) {
        if (enter(reservation, keys.get(i), after)) {
          wanted.add(keys.get(i));
        } else {
          reservation.skip(i);
        }
      }
      return wanted;
    });
  }

  /// Has `reservation` write `key`; false if the block is visible, or another reservation writes it.
  private boolean enter(StackReservation reservation, BlockKey key, DeferredActions after) {
    Pending pending = writing.get(key);
    if (pending != null && pending.isReserved()) {
      return false;
    }
    if (state.index().find(key, after) instanceof Resident block && state.stores().isReadable(block)) {
      if (pending != null) { // no store gave it when it was admitted
        writing.remove(key);
        pending.serve(position -> LeaseItem.of(position, block), after);
      }
      return false;
    }
    if (pending != null) {
      pending.reserve();
      reservation.write(pending);
      return true;
    }
    pending = new Pending(key, null);
    writing.put(key, pending);
    reservation.write(pending); // first, so that the key is freed with it if the next step throws
    if (state.shape().options().exact()) {
      state.index().enter(pending, after);
    }
    return true;
  }

  Mono<List<Receipt>> commit(StackReservation reservation, List<BlockDraft> complete) {
    return commit.commit(reservation, complete);
  }

  /// The block of `key` that is being written, if it is.
  @Nullable Pending pending(BlockKey key) {
    return writing.get(key);
  }

  /// `lease` has the block of `key` written.
  Pending admit(BlockKey key, StackLease lease) {
    Pending pending = new Pending(key, lease);
    writing.put(key, pending);
    return pending;
  }

  /// `pending` was written: the leases that wait for it get `block`.
  void serve(Pending pending, Block block, DeferredActions after) {
    writing.remove(pending.key());
    pending.serve(position -> new LeaseItem.InMemory(position, block.share()), after);
  }

  /// Takes back what `reservation` has not committed.
  void revoke(StackReservation reservation) {
    state.decide(after -> {
      reservations.remove(reservation);
      reservation.takeAll().forEach(pending -> revoke(pending, after));
    });
  }

  /// Takes back the keys of `blocks`, which could not be written: another writer may try.
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

  /// `pending` is written no more: no lease waits for it any longer.
  void revoke(Pending pending, DeferredActions after) {
    if (writing.remove(pending.key(), pending)) {
      state.index().unlist(pending);
      pending.abandon(after);
    }
  }

  /// The error of a reservation that has ended.
  RuntimeException ended() {
    return state.isClosed()
        ? state.shape().closed()
        : new IllegalStateException("reservation must be open (was closed)");
  }

  /// Fails every reservation, because the stack has closed.
  void close(DeferredActions after) {
    writing.values().forEach(pending -> pending.setListed(false));
    TierClosedException reason = state.shape().closed();
    reservations.forEach(reservation -> after.then(() -> reservation.fail(reason)));
  }
}
