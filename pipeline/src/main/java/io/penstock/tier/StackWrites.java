package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.StackEntry.Pending;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The keys of a [TierStack] that are being written: from the reservation, or the admission, to the block that
/// everybody sees.
final class StackWrites {
  final StackBooks books;
  private final StackCommit commit;
  /// Guarded by the stack's lock.
  private final Map<BlockKey, Pending> writing = new HashMap<>();
  private final Set<StackReservation> reservations = new LinkedHashSet<>();

  StackWrites(StackBooks books) {
    this.books = books;
    this.commit = new StackCommit(books, this);
  }

  StackCommit commit() {
    return commit;
  }

  Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return Mono.create(sink -> {
      StackReservation reservation = scope.adopt(new StackReservation(this, keys.size(), sink));
      sink.onCancel(reservation::close);
      try {
        books.queue.admit(reservation, keys.size(), () -> claim(reservation, keys));
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
        reservation.waitsAt(books.memory.ingress.claim(wanted, reservation::granted, reservation::fail));
      }
    } catch (RuntimeException e) {
      reservation.fail(e);
    }
  }

  /// Puts the keys that nobody has or writes into the books, in order, and answers them.
  private List<BlockKey> enter(StackReservation reservation, List<BlockKey> keys) {
    List<BlockKey> wanted = new ArrayList<>(keys.size());
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      books.requireOpen();
      if (reservation.isClosed()) { // its revocation has passed already, or finds everything below
        throw new CancellationException("reservation ended before its turn came");
      }
      reservations.add(reservation);
      for (int i = 0; i < keys.size(); i++) {
        if (takes(reservation, keys.get(i), after)) {
          wanted.add(keys.get(i));
        } else {
          reservation.skipped.set(i);
        }
      }
      books.reviewMoved(after);
    }
    after.run();
    return wanted;
  }

  /// False if somebody has `key`, or writes it.
  private boolean takes(StackReservation reservation, BlockKey key, Aftermath after) {
    Pending pending = writing.get(key);
    if (pending != null && pending.admittedBy == null) {
      return false;
    }
    if (books.peek(key) instanceof Resident resident && books.docks.isReadable(resident)) {
      if (pending != null) { // it could not be had when it was admitted
        serve(pending, resident, after);
      }
      return false;
    }
    if (pending == null) {
      pending = new Pending(key, null);
      writing.put(key, pending);
      books.enter(pending, after);
    }
    pending.admittedBy = null;
    reservation.pending.put(key, pending);
    return true;
  }

  /// Nobody has to write `pending`: whoever waits for it gets `resident`.
  private void serve(Pending pending, Resident resident, Aftermath after) {
    end(pending, position -> StackLeases.item(position, resident), after);
  }

  /// `pending` is written no more: whoever waits for it gets `block`. Under the lock.
  void serve(Pending pending, Block block, Aftermath after) {
    end(pending, position -> new StackLease.Item(position, block.share(), null), after);
  }

  private void end(Pending pending, IntFunction<StackLease.Item> item, Aftermath after) {
    writing.remove(pending.key);
    for (Pending.Waiter waiter : pending.waiters()) {
      waiter.lease().ready.add(item.apply(waiter.position()));
      settle(waiter.lease(), pending, after);
    }
  }

  /// The block of `key` that is being written, if it is. Under the lock.
  @Nullable Pending pending(BlockKey key) {
    return writing.get(key);
  }

  /// A block that `lease` will have written. Under the lock.
  Pending admit(BlockKey key, StackLease lease) {
    Pending pending = new Pending(key, lease);
    writing.put(key, pending);
    return pending;
  }

  private static void settle(StackLease lease, Pending pending, Aftermath after) {
    lease.waiting--;
    lease.pending.remove(pending);
    after.signal(lease);
  }

  /// Takes back what `reservation` had not committed.
  void revoke(StackReservation reservation) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      reservations.remove(reservation);
      reservation.pending.values().forEach(pending -> revoke(pending, after));
      reservation.pending.clear();
    }
    after.run();
  }

  /// Takes back the keys of `blocks`, which could not be written: another may try, and nobody waits for them any more.
  void revoke(StackReservation reservation, List<Block> blocks) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      for (Block block : blocks) {
        Pending pending = reservation.pending.remove(block.key());
        if (pending != null) {
          revoke(pending, after);
        }
      }
    }
    after.run();
  }

  /// Nobody writes `pending` any more. Under the lock.
  void revoke(Pending pending, Aftermath after) {
    if (!writing.remove(pending.key, pending)) {
      return;
    }
    books.unlist(pending);
    for (Pending.Waiter waiter : pending.waiters()) {
      settle(waiter.lease(), pending, after);
    }
  }

  RuntimeException ended() {
    return books.isClosed()
        ? books.closedException()
        : new IllegalStateException("reservation must be open (was closed)");
  }

  /// Fails every reservation. Under the lock.
  void close(Aftermath after) {
    writing.values().forEach(pending -> pending.listed = false);
    TierClosedException reason = books.closedException();
    for (StackReservation reservation : reservations) {
      after.then(() -> reservation.fail(reason));
    }
  }
}
