package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.Permits;
import io.penstock.block.SlabPart;
import io.penstock.tier.MoveWait.Need;
import io.penstock.tier.StackEntry.Resident;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Blocks of a [TierStack] that stand in line for memory or for a place, so that a copy can begin; and what begins when
/// their turn comes. What a block holds it keeps until then, and holds nothing else while it waits.
///
/// Under the stack's lock, but for the turns, which take it.
final class MoveLine {
  private final StackBooks books;
  private final Mover mover;
  private final Set<MoveWait> waits = new LinkedHashSet<>();

  MoveLine(StackBooks books, Mover mover) {
    this.books = books;
    this.mover = mover;
  }

  /// Has `entry` wait for `need`, to get to `target`.
  void enter(Resident entry, Need need, int target, Aftermath after) {
    MoveWait wait = new MoveWait(entry, need, target);
    entry.wait = wait;
    waits.add(wait);
    after.then(() -> stand(wait));
  }

  /// `entry` waits no more.
  void leave(Resident entry, Aftermath after) {
    MoveWait wait = entry.wait;
    if (wait != null) {
      entry.wait = null;
      waits.remove(wait);
      after.then(wait::leave);
    }
  }

  /// Those that wait to get to `level`.
  List<Resident> waitingFor(int level) {
    return waits.stream().filter(wait -> wait.target == level).map(wait -> wait.entry).toList();
  }

  /// Gets in line. Not under the lock: the turn may come at once.
  private void stand(MoveWait wait) {
    try {
      wait.take(switch (wait.need) {
        case PLACE -> books.docks.at(wait.target).place(() -> placeGranted(wait));
        case HOST_CHARGE ->
          books.memory.resident().adopt(room -> chargeGranted(wait, room), error -> refused(wait, error));
        case HOST_SLOT -> claim(wait, books.memory.resident());
        case BOUNCE -> claim(wait, books.memory.bounce());
      });
    } catch (RuntimeException e) {
      refused(wait, e);
    }
  }

  private Permits.Ticket claim(MoveWait wait, SlabPart part) {
    return part.claim(List.of(wait.entry.key), drafts -> slotGranted(wait, drafts.getFirst()),
        error -> refused(wait, error));
  }

  /// Ends the wait; false if it was over before.
  private boolean turn(MoveWait wait) {
    if (wait.entry.wait != wait) {
      return false;
    }
    wait.entry.wait = null;
    waits.remove(wait);
    return true;
  }

  /// There will be no memory: the system has no more. The block cannot stay either, others need its place.
  private void refused(MoveWait wait, Throwable error) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (turn(wait)) {
        books.departures.lose(wait.entry, "no memory to move it: " + error.getMessage(), after);
      }
    }
    after.run();
  }

  private void placeGranted(MoveWait wait) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (turn(wait)) {
        books.docks.at(wait.target).put(wait.entry, after);
      } else {
        after.then(books.docks.at(wait.target)::releasePlace);
      }
    }
    after.run();
  }

  private void chargeGranted(MoveWait wait, SlabPart.Room room) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      Block block = wait.entry.host;
      if (turn(wait) && block != null) {
        wait.entry.atHost = true;
        books.figures.arrived(books.host);
        books.figures.counted(wait.entry);
        mover.hearMoved(wait.entry.fastestPlace(), books.host, 1, after);
        Block share = block.share();
        after.then(() -> adopt(room, share));
        mover.review(wait.entry, after);
      } else {
        after.close(room);
      }
    }
    after.run();
  }

  private static void adopt(SlabPart.Room room, Block share) {
    try (share) {
      room.adopt(share);
    }
  }

  private void slotGranted(MoveWait wait, BlockDraft draft) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      int from = wait.entry.fastestPlace();
      if (turn(wait) && from >= 0) {
        books.docks.at(from).get(wait.entry, draft, wait.need == Need.HOST_SLOT, after);
      } else {
        after.close(draft);
      }
    }
    after.run();
  }
}
