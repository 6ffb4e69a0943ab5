package io.penstock.tier;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.Permits;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A reservation of a [TierStack]: first in line for slots, then holding drafts.
final class StackReservation extends Reservation {
  private final StackWrites writes;
  private final int keys;
  private final MonoSink<Reservation> sink;
  private final AtomicBoolean settled = new AtomicBoolean();
  final BitSet skipped = new BitSet();
  /// Keys that this reservation writes and has not committed. Guarded by the tier's lock.
  final Map<BlockKey, StackEntry.Pending> pending = new LinkedHashMap<>();
  private List<BlockDraft> drafts = List.of();
  private Permits.@Nullable Ticket ticket;

  StackReservation(StackWrites writes, int keys, MonoSink<Reservation> sink) {
    this.writes = writes;
    this.keys = keys;
    this.sink = sink;
  }

  /// Remembers the place in line; it is left at once if the reservation was closed meanwhile.
  void waitsAt(Permits.Ticket place) {
    synchronized (this) {
      ticket = place;
    }
    if (isClosed()) {
      place.cancel();
    }
  }

  /// Takes the drafts when the turn has come.
  void granted(List<BlockDraft> lent) {
    synchronized (this) {
      drafts = List.copyOf(lent);
    }
    if (isClosed()) {
      lent.forEach(BlockDraft::close);
    } else if (writes.books.isClosed()) { // room came from another reservation that the closing tier ended
      fail(writes.books.closedException());
    } else {
      succeed();
    }
  }

  void succeed() {
    if (settled.compareAndSet(false, true)) {
      sink.success(this);
    }
  }

  /// Ends the reservation; its subscriber hears of it unless it was served already.
  void fail(Throwable error) {
    close();
    if (settled.compareAndSet(false, true)) {
      sink.error(error);
    }
  }

  @Override
  public synchronized List<BlockDraft> drafts() {
    return drafts;
  }

  @Override
  public Presence skipped() {
    return Presence.of(keys, skipped);
  }

  @Override
  public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
    return writes.commit().commit(this, complete);
  }

  @Override
  protected void free() {
    Permits.Ticket place;
    List<BlockDraft> lent;
    synchronized (this) {
      place = ticket;
      lent = drafts;
    }
    if (place != null) {
      place.cancel();
    }
    lent.forEach(BlockDraft::close);
    writes.revoke(this);
  }
}
