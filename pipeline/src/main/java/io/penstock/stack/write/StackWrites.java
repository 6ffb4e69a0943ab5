package io.penstock.stack.write;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.operator.Failures;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Ends;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.PendingBlocks;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.move.AttachedStores;
import io.penstock.stack.move.HostRoom;
import io.penstock.stack.move.OffloadQueue;
import io.penstock.stack.move.StackMemory;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierHolds.PutTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The keys of a `TierStack` that are being written, from their reservation or admission to the commit. Methods that
/// take [DeferredActions], and lookups, are used in decisions; the others make their own.
public final class StackWrites {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final LevelStates states;
  private final StackFigures figures;
  private final StackHolds holds;
  private final OffloadQueue offloads;
  private final HostRoom room;
  private final StackMemory memory;
  private final PendingBlocks pending;
  private final StackCommit commit;
  private final Set<StackReservation> reservations = new LinkedHashSet<>();

  public StackWrites(Decisions decisions, StackShape shape, StackIndex index, LevelStates states, StackFigures figures,
      StackHistory history, StackHolds holds, OffloadQueue offloads, HostRoom room, StackMemory memory,
      PendingBlocks pending, AttachedStores stores) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.states = states;
    this.figures = figures;
    this.holds = holds;
    this.offloads = offloads;
    this.room = room;
    this.memory = memory;
    this.pending = pending;
    this.commit = new StackCommit(decisions, shape, index, figures, history, holds, stores, pending, this);
  }

  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return Mono.create(sink -> {
      StackReservation reservation =
          scope.adopt(new StackReservation(decisions, shape, holds, offloads, memory, this, keys.size(), terms, sink));
      sink.onCancel(reservation::close);
      try {
        offloads.admit(reservation, keys.size(), () -> claim(reservation, keys));
        if (!shape.options().exact() && !reservation.isAnswered()) {
          decisions.decide(after -> waitsForRoom(reservation));
        }
      } catch (RuntimeException | Error e) {
        reservation.fail(Failures.passable(e));
      }
    });
  }

  private void claim(StackReservation reservation, List<BlockKey> keys) {
    try {
      boolean exact = shape.options().exact();
      if (exact) {
        room.want(keys::size);
      }
      List<BlockKey> wanted = enter(reservation, keys);
      if (!exact) { // the ledger does not count what is being written
        room.want(pending::size);
      }
      if (wanted.isEmpty()) {
        reservation.succeed();
      } else {
        reservation.wantSlots(wanted.size());
        reservation.waitFor(memory.ingress().claim(wanted, reservation::granted, reservation::fail));
      }
    } catch (RuntimeException | Error e) {
      reservation.fail(Failures.passable(e));
    }
  }

  /// Enters the keys that are neither visible nor being written into the ledger, in order. Answers these keys.
  private List<BlockKey> enter(StackReservation reservation, List<BlockKey> keys) {
    return decisions.answer(after -> {
      decisions.requireOpen();
      if (reservation.isClosed()) { // its revocation ran before, and would miss the keys entered here
        throw new CancellationException("reservation ended before its turn came");
      }
      reservations.add(reservation);
      figures.reservations(1);
      List<BlockKey> wanted = new ArrayList<>(keys.size());
      long now = holds.now();
      for (int i = 0; i < keys.size(); i++) {
        BlockKey key = keys.get(i);
        if (enter(reservation, key, i, now, after)) {
          wanted.add(key);
        } else {
          reservation.skip(i, !pending.isReserved(key));
        }
      }
      if (!shape.options().exact() && !wanted.isEmpty()) {
        Duration life = shape.options().holds().putLife();
        holds.add(new PutEnd(now + life.toNanos(), reservation, life));
      }
      if (!reservation.terms().group().isEmpty()) {
        holds.requireGroup(wanted, reservation.terms().group(), after);
      }
      if (reservation.terms().pins()) { // when it fails, its end revokes the keys entered here
        reservation.promisePins(wanted.size());
      }
      return wanted;
    });
  }

  /// Lets `reservation` write `key`. False if the block is visible, or another reservation writes it.
  private boolean enter(StackReservation reservation, BlockKey key, int position, long now,
      DeferredActions after) {
    Pending write = pending.of(key);
    if (write != null && write.isReserved() && !mayPreempt(write, now)) {
      return false;
    }
    if (index.find(key, after) instanceof Resident there && states.isReadable(there)
        && !reservation.terms().upserts()) {
      if (write != null) { // admitted while its store gave no blocks
        pending.serve(write, there, after);
      }
      return false;
    }
    if (write != null) {
      write.reserve(reservation, now);
      return true;
    }
    write = pending.add(key, position, null);
    write.reserve(reservation, now); // first: if the next step throws, the reservation's revocation frees the key
    if (shape.options().exact()) {
      Pending entered = write;
      index.during(reservation.terms().session(), false, () -> index.enter(entered, after));
    }
    return true;
  }

  /// Whether another writer may take over `write`.
  private boolean mayPreempt(Pending write, long now) {
    return !shape.options().exact() && !write.isCommitting()
        && now - write.since() >= shape.options().holds().putPatience().toNanos();
  }

  // Ends

  /// Refuses `reservation`, which begins to wait for room, when it has waited too long.
  private void waitsForRoom(StackReservation reservation) {
    Duration timeout = shape.options().holds().roomTimeout();
    holds.add(new RoomEnd(holds.now() + timeout.toNanos(), reservation, timeout));
  }

  /// The end of the life of a put, at which its room is taken back.
  private record PutEnd(long at, StackReservation reservation, Duration life) implements Ends.End {
    @Override
    public boolean isStale() {
      return reservation.isClosed();
    }

    @Override
    public void come(long now, DeferredActions after) {
      after.then(() -> reservation.fail(new TransientKvException(
          "reservation was not finished within %d ms".formatted(life.toMillis()))));
    }
  }

  /// The end of the wait of a put for room.
  private record RoomEnd(long at, StackReservation reservation, Duration timeout) implements Ends.End {
    @Override
    public boolean isStale() {
      return reservation.isAnswered();
    }

    @Override
    public void come(long now, DeferredActions after) {
      after.then(() -> reservation.refuse(timeout));
    }
  }

  Mono<List<Receipt>> commit(StackReservation reservation, List<BlockDraft> complete) {
    return commit.commit(reservation, complete);
  }

  /// Revokes the writes that `reservation` has not committed.
  void revoke(StackReservation reservation) {
    decisions.decide(after -> {
      if (reservations.remove(reservation)) {
        figures.reservations(-1);
      }
      reservation.endPins();
      reservation.takeAll().forEach(write -> pending.revoke(write, after));
    });
  }

  /// Revokes the writes of `blocks`, which failed, so that another writer may try.
  void revoke(StackReservation reservation, List<Block> blocks) {
    decisions.decide(after -> {
      for (Block block : blocks) {
        Pending write = reservation.take(block.key());
        if (write != null) {
          pending.revoke(write, after);
        }
      }
    });
  }

  /// The error of a caller that continues `reservation`, which has ended.
  RuntimeException ended(StackReservation reservation) {
    return decisions.isClosed()
        ? shape.closed()
        : reservation.failure() instanceof RuntimeException why
            ? why
            : new IllegalStateException("reservation must be open (was closed)");
  }

  /// Fails every reservation, because the stack has closed.
  public void close(DeferredActions after) {
    pending.unlistAll();
    TierClosedException reason = shape.closed();
    reservations.forEach(reservation -> after.then(() -> reservation.fail(reason)));
  }
}
