package io.penstock.stack.move;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.SlabPart;
import io.penstock.budget.Permits;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.shape.StackShape;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Blocks of a `TierStack` that wait for memory or for a slot of a store before their copy can begin. A waiting block
/// keeps the memory it has and takes no other. Used in decisions only; a grant arrives outside and makes a decision.
public final class MoveQueue {
  /// Resource that a block waits for.
  enum Need {
    /// A slot of a store, for bytes that are in host memory.
    STORE_SLOT,
    /// A slot of the host level to pay for host memory in which the bytes are already.
    HOST_CHARGE,
    /// Host memory into which a block is demoted to stay.
    HOST_SLOT,
    /// Host memory through which a block passes on its way to a disk.
    BOUNCE_SLOT
  }

  private final Decisions decisions;
  private final StackShape shape;
  private final StackMemory memory;
  private final StackHistory history;
  private final StoreSlots slots;
  private final AttachedStores stores;
  private final Placement placement;
  private final Removals removals;

  public MoveQueue(Decisions decisions, StackShape shape, StackMemory memory, StackHistory history, StoreSlots slots,
      AttachedStores stores, Placement placement, Removals removals) {
    this.decisions = decisions;
    this.shape = shape;
    this.memory = memory;
    this.history = history;
    this.slots = slots;
    this.stores = stores;
    this.placement = placement;
    this.removals = removals;
  }

  /// Queues `block`, which needs `need` to get to level `target`.
  void add(Resident block, Need need, int target, DeferredActions after) {
    Wait wait = new Wait(block, need, target);
    placement.startWait(block, wait);
    after.then(() -> queueUp(wait));
  }

  /// Takes `block` out of the queue, if it waits.
  void leave(Resident block, DeferredActions after) {
    Wait wait = (Wait) block.currentWait();
    if (wait != null) {
      end(wait);
      after.then(wait.ticket::cancel);
    }
  }

  /// Whether `block` waits for something other than `need` to get to level `target`.
  static boolean waitsForOther(Resident block, @Nullable Need need, int target) {
    Wait wait = (Wait) block.currentWait();
    return wait != null && !(wait.need == need && wait.target == target);
  }

  /// Ends `wait`; false if it ended before.
  private boolean end(Wait wait) {
    return placement.endWait(wait.block, wait);
  }

  private void queueUp(Wait wait) {
    try {
      wait.ticket.hold(switch (wait.need) {
        case STORE_SLOT -> slots.take(wait.target, () -> storeSlotGranted(wait));
        case HOST_CHARGE -> memory.resident()
            .adopt(room -> chargeGranted(wait, room), error -> refused(wait, error));
        case HOST_SLOT -> claim(wait, memory.resident());
        case BOUNCE_SLOT -> claim(wait, memory.bounce());
      });
    } catch (RuntimeException | Error e) {
      refused(wait, e);
    }
  }

  private Permits.Ticket claim(Wait wait, SlabPart part) {
    return part.claim(List.of(wait.block.key()), drafts -> memoryGranted(wait, drafts.getFirst()),
        error -> refused(wait, error));
  }

  /// Loses the block: the system has no memory for it, and other blocks need the room that it has now.
  private void refused(Wait wait, Throwable error) {
    decisions.decide(after -> {
      if (end(wait)) {
        removals.lose(wait.block, "no memory to move it: " + error.getMessage(), after);
      }
    });
  }

  private void storeSlotGranted(Wait wait) {
    decisions.decide(after -> {
      if (end(wait)) {
        stores.at(wait.target).put(wait.block, after);
      } else {
        after.then(() -> slots.release(wait.target));
      }
    });
  }

  private void chargeGranted(Wait wait, SlabPart.Room room) {
    decisions.decide(after -> {
      if (end(wait) && wait.block.isInMemory()) {
        Block share = wait.block.hostBlock().share();
        after.then(() -> adopt(room, share));
        wait.block.chargeToHostLevel();
        history.moved(wait.block.fastestStore(), shape.host(), 1, after);
        after.review(wait.block);
      } else {
        after.close(room);
      }
    });
  }

  private static void adopt(SlabPart.Room room, Block share) {
    try (share) {
      room.adopt(share);
    }
  }

  private void memoryGranted(Wait wait, BlockDraft draft) {
    decisions.decide(after -> {
      int from = wait.block.fastestStore();
      if (end(wait) && from >= 0) {
        stores.at(from).read(wait.block, draft, wait.need == Need.HOST_SLOT, after);
      } else {
        after.close(draft);
      }
    });
  }

  /// One block in the queue.
  private static final class Wait implements Resident.Wait {
    private final Resident block;
    private final Need need;
    private final int target;
    private final HeldTicket ticket = new HeldTicket();

    private Wait(Resident block, Need need, int target) {
      this.block = block;
      this.need = need;
      this.target = target;
    }

    @Override
    public int target() {
      return target;
    }

  }
}
