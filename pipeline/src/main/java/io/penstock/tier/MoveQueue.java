package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.Permits;
import io.penstock.block.SlabPart;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Blocks of a [TierStack] that wait for memory or for a slot of a store before their copy can begin. A waiting block
/// keeps the memory it has and takes no other. Used in decisions only; a grant arrives outside and makes a decision.
final class MoveQueue {
  /// What a block waits for.
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

  private final StackState state;
  private final Set<Wait> waits = new LinkedHashSet<>();

  MoveQueue(StackState state) {
    this.state = state;
  }

  /// Queues `block`, which needs `need` to get to level `target`.
  void add(Resident block, Need need, int target, DeferredActions after) {
    Wait wait = new Wait(block, need, target);
    block.waitFor(wait);
    waits.add(wait);
    after.then(() -> queueUp(wait));
  }

  /// Takes `block` out of the queue, if it waits.
  void leave(Resident block, DeferredActions after) {
    Wait wait = block.currentWait();
    if (wait != null) {
      end(wait);
      after.then(wait.ticket::cancel);
    }
  }

  /// Blocks that wait to get to `level`.
  List<Resident> waitingFor(int level) {
    return waits.stream().filter(wait -> wait.target == level).map(wait -> wait.block).toList();
  }

  /// Ends `wait`; false if it had ended before.
  private boolean end(Wait wait) {
    waits.remove(wait);
    return wait.block.endWait(wait);
  }

  private void queueUp(Wait wait) {
    try {
      wait.ticket.hold(switch (wait.need) {
        case STORE_SLOT -> state.stores().at(wait.target).takeSlot(() -> storeSlotGranted(wait));
        case HOST_CHARGE -> state.memory().resident()
            .adopt(room -> chargeGranted(wait, room), error -> refused(wait, error));
        case HOST_SLOT -> claim(wait, state.memory().resident());
        case BOUNCE_SLOT -> claim(wait, state.memory().bounce());
      });
    } catch (RuntimeException e) {
      refused(wait, e);
    }
  }

  private Permits.Ticket claim(Wait wait, SlabPart part) {
    return part.claim(List.of(wait.block.key()), drafts -> memoryGranted(wait, drafts.getFirst()),
        error -> refused(wait, error));
  }

  /// Loses the block: the system has no memory for it, and other blocks need the room that it has now.
  private void refused(Wait wait, Throwable error) {
    state.decide(after -> {
      if (end(wait)) {
        state.removals().lose(wait.block, "no memory to move it: " + error.getMessage(), after);
      }
    });
  }

  private void storeSlotGranted(Wait wait) {
    AttachedStore store = state.stores().at(wait.target);
    state.decide(after -> {
      if (end(wait)) {
        store.put(wait.block, after);
      } else {
        after.then(store::releaseSlot);
      }
    });
  }

  private void chargeGranted(Wait wait, SlabPart.Room room) {
    state.decide(after -> {
      if (end(wait) && wait.block.isInMemory()) {
        Block share = wait.block.hostBlock().share();
        after.then(() -> adopt(room, share));
        wait.block.chargeToHostLevel();
        state.history().moved(wait.block.fastestStore(), state.shape().host(), 1, after);
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
    state.decide(after -> {
      int from = wait.block.fastestStore();
      if (end(wait) && from >= 0) {
        state.stores().at(from).read(wait.block, draft, wait.need == Need.HOST_SLOT, after);
      } else {
        after.close(draft);
      }
    });
  }

  /// One block in the queue.
  static final class Wait {
    private final Resident block;
    private final Need need;
    private final int target;
    private final HeldTicket ticket = new HeldTicket();

    private Wait(Resident block, Need need, int target) {
      this.block = block;
      this.need = need;
      this.target = target;
    }

    /// The level to which the block moves.
    int target() {
      return target;
    }

    boolean isFor(@Nullable Need other, int level) {
      return need == other && target == level;
    }
  }
}
