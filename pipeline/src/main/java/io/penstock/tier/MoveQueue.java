package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.Permits;
import io.penstock.block.SlabPart;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Blocks of a [TierStack] that wait for memory or for a slot of a store, so that their copy can begin. A block keeps
/// what it holds while it waits, and holds nothing else. Used in decisions only; a grant comes outside and makes one.
final class MoveQueue {
  /// What a block waits for.
  enum Need {
    /// A slot of a store, for bytes that are in host memory.
    STORE_SLOT,
    /// The right to stay in the host memory where the bytes are already.
    HOST_CHARGE,
    /// Host memory to be demoted into and stay.
    HOST_SLOT,
    /// Host memory to pass through.
    BOUNCE_SLOT
  }

  private final StackState state;
  private final Set<Wait> waits = new LinkedHashSet<>();

  MoveQueue(StackState state) {
    this.state = state;
  }

  /// Has `block` wait for `need`, to get to level `target`.
  void add(Resident block, Need need, int target, DeferredActions after) {
    Wait wait = new Wait(block, need, target);
    block.waitFor(wait);
    waits.add(wait);
    after.then(() -> queueUp(wait));
  }

  /// `block` waits no more.
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

  /// Ends the wait; false if it was over before.
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

  /// The system has no more memory. The block cannot stay where it is either, because others need its room.
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

    /// The level to which the block is to get.
    int target() {
      return target;
    }

    boolean isFor(@Nullable Need other, int level) {
      return need == other && target == level;
    }
  }
}
