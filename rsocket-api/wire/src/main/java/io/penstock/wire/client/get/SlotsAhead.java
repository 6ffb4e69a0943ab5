package io.penstock.wire.client.get;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.HeldSlots;
import io.penstock.budget.Permits;
import io.penstock.operator.Serial;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Slots of an arena that one stream holds for blocks that a peer is about to send.
///
/// All or nothing: a waiting stream holds nothing, for two streams that each held a part and waited for the rest would
/// wait for ever. The slots, and the drafts they become, are the scope's. Every call is a step of the stream's
/// [Serial], and so is the turn that comes.
final class SlotsAhead {
  private final BlockArena arena;
  private final BlockScope scope;
  private final Serial serial;
  private final Runnable proceed;
  private final Consumer<Throwable> failed;
  private final List<HeldSlots> rooms = new ArrayList<>(2);
  private Permits.@Nullable Ticket ticket;

  /// @param proceed a step of the stream, after a turn in the arena's queue
  /// @param failed a step of the stream, if the arena can never give the slots
  SlotsAhead(BlockArena arena, BlockScope scope, Serial serial, Runnable proceed, Consumer<Throwable> failed) {
    this.arena = arena;
    this.scope = scope;
    this.serial = serial;
    this.proceed = proceed;
    this.failed = failed;
  }

  /// Slots that are held.
  int left() {
    int left = 0;
    for (HeldSlots room : rooms) {
      left += room.left();
    }
    return left;
  }

  /// Holds `count` slots in all, if they are free.
  ///
  /// @param mayWait whether to wait for all of them if they are not; else the stream asks again
  void hold(int count, boolean mayWait) {
    int wanted = count - left();
    if (wanted <= 0 || ticket != null) {
      return;
    }
    HeldSlots room = arena.tryHold(wanted);
    if (room != null) {
      rooms.add(scope.adopt(room));
    } else if (mayWait) {
      rooms.forEach(HeldSlots::close);
      rooms.clear();
      ticket = arena.hold(count, granted -> serial.run(() -> turn(granted)),
          error -> serial.run(() -> failed.accept(error)));
    }
  }

  private void turn(HeldSlots room) {
    ticket = null;
    rooms.add(scope.adopt(room)); // closes it if the stream is over
    proceed.run();
  }

  /// Holds `count` slots if these and `spare` more are free now. `spare` slots stay for streams that wait for them: a
  /// stream without a reader must not keep all of the arena.
  boolean tryHold(int count, int spare) {
    if (count + spare > arena.capacitySlots()) {
      return false;
    }
    HeldSlots room = arena.tryHold(count + spare);
    if (room == null) {
      return false;
    }
    room.giveBack(spare);
    rooms.add(scope.adopt(room));
    return true;
  }

  /// Gives back all slots but `most`.
  void trim(int most) {
    for (int excess = left() - most; excess > 0; excess = left() - most) {
      HeldSlots last = rooms.getLast();
      if (last.left() > excess) {
        last.giveBack(excess);
      } else {
        rooms.removeLast().close();
      }
    }
  }

  /// Turns a slot for each key into a draft; null if fewer are held.
  @Nullable List<BlockDraft> drafts(List<BlockKey> keys) {
    if (keys.size() > left()) {
      return null;
    }
    List<BlockDraft> drafts = new ArrayList<>(keys.size());
    while (drafts.size() < keys.size()) {
      HeldSlots room = rooms.getFirst();
      int made = drafts.size();
      drafts.addAll(scope.adoptAll(room.drafts(keys.subList(made, Math.min(keys.size(), made + room.left())))));
      if (room.left() == 0) {
        rooms.removeFirst().close();
      }
    }
    return drafts;
  }

  /// Leaves the queue; held slots go back with the scope.
  void stop() {
    if (ticket != null && ticket.cancel()) {
      ticket = null;
    }
    rooms.clear();
  }
}
