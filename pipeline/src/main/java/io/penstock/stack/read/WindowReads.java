package io.penstock.stack.read;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SlabPart;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.move.AttachedStores;
import io.penstock.stack.move.Placement;
import io.penstock.stack.move.StackMemory;
import io.penstock.stack.move.StoreSlots;
import io.penstock.stack.move.StoreWaiters;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The decisions on windows that are read from stores: from which store and into which memory to read, and which blocks
/// to promote afterwards. Each method makes its own decision, unless it says otherwise.
public final class WindowReads {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackMemory memory;
  private final LevelStates states;
  private final StoreSlots slots;
  private final AttachedStores stores;
  private final StackHistory history;
  private final Placement placement;
  private final StoreWaiters waiters;

  public WindowReads(Decisions decisions, StackShape shape, StackMemory memory, LevelStates states, StoreSlots slots,
      AttachedStores stores, StackHistory history, Placement placement, StoreWaiters waiters) {
    this.decisions = decisions;
    this.shape = shape;
    this.memory = memory;
    this.states = states;
    this.slots = slots;
    this.stores = stores;
    this.history = history;
    this.placement = placement;
    this.waiters = waiters;
  }

  // Waiting

  /// Registers `window` until [#leave]: it is interrupted when one of its stores ceases to give blocks.
  ///
  /// @return the error if a store of the window gives no blocks already; null if the window can be read
  @Nullable StoreUnavailableException enter(StoreWaiters.Waiter window) {
    return decisions.answer(after -> {
      waiters.add(window);
      return unavailable(window);
    });
  }

  private @Nullable StoreUnavailableException unavailable(StoreWaiters.Waiter window) {
    for (int level = 0; level < shape.levels().size(); level++) {
      if (!states.gives(level) && window.needs(level)) {
        return stores.at(level).unavailable();
      }
    }
    return null;
  }

  /// Removes `window`, which waits for no store any more.
  void leave(StoreWaiters.Waiter window) {
    decisions.decide(after -> waiters.remove(window));
  }

  /// Whether one of `blocks` waits for the store of `level`. In a decision.
  boolean needs(List<WindowBlock> blocks, int level) {
    return blocks.stream().anyMatch(block -> block.needs(level, states));
  }

  /// The memory for the missing ones of `blocks`: the transfer part of the slowest store from which a block is read
  /// now.
  SlabPart memoryFor(List<WindowBlock> blocks) {
    return decisions.look(() -> {
      int slowest = blocks.stream().mapToInt(each -> each.storeLevel(states)).max().orElse(-1);
      // -1: all blocks have come to memory
      return memory.transfer(slowest >= 0 ? slowest : shape.host() == 0 ? 1 : 0);
    });
  }

  // Reading

  /// Decides from which store each missing block is read.
  ///
  /// @param drafts memory for each
  /// @return the drafts of blocks that have come to memory meanwhile
  /// @throws io.penstock.tier.TierClosedException if the stack closed meanwhile; the drafts stay the caller's
  List<BlockDraft> start(List<WindowBlock> blocks, List<BlockDraft> drafts) {
    return decisions.answer(after -> {
      decisions.requireOpen();
      List<BlockDraft> unused = new ArrayList<>(0);
      int next = 0;
      for (WindowBlock block : blocks) {
        if (block.isMissing()) {
          BlockDraft draft = drafts.get(next++);
          if (!block.start(draft, states, after)) {
            unused.add(draft);
          }
        }
      }
      return unused;
    });
  }

  /// Reads `range` of the blocks that have a draft, from all stores at once. A cancel does not stop the reads.
  Mono<Void> read(List<WindowBlock> blocks, GranuleRange range) {
    Map<Integer, List<WindowBlock>> byLevel = new TreeMap<>();
    for (WindowBlock each : blocks) {
      if (each.isRead()) {
        byLevel.computeIfAbsent(each.level(), level -> new ArrayList<>()).add(each);
      }
    }
    List<Mono<Void>> reads = new ArrayList<>(byLevel.size());
    byLevel.forEach((level, group) -> reads.add(read(level, group, range)));
    return Mono.whenDelayError(reads);
  }

  private Mono<Void> read(int level, List<WindowBlock> group, GranuleRange range) {
    return Mono
        .defer(() -> shape.store(level).read(group.stream().map(WindowBlock::stored).toList(),
            group.stream().map(WindowBlock::draft).toList(), range))
        .doOnError(error -> notGiven(level, group, error));
  }

  /// Records that the store of `level` failed to give `blocks`.
  void notGiven(int level, List<WindowBlock> blocks, Throwable error) {
    List<Resident> named = blocks.stream().map(WindowBlock::promised).toList();
    decisions.decide(after -> stores.at(level).failures().notGiven(named, error, after));
  }

  /// Ends the reads and pins of `blocks`, which are read no further.
  void abandon(List<WindowBlock> blocks) {
    decisions.decide(after -> blocks.forEach(block -> block.end(slots, after)));
  }

  // Promotion

  /// Whether a block of `blocks` is to be promoted when all its bytes have been read.
  boolean isPromoting(List<WindowBlock> blocks) {
    return decisions.answer(after -> blocks.stream()
        .anyMatch(block -> block.isRead() && placement.isToBePromoted(block.promised())));
  }

  /// Promotes those of `blocks`, whose bytes were just read, that the ledger has on a faster level, if there is memory
  /// in which they can wait for that level.
  void landed(List<WindowBlock> blocks) {
    decisions.decide(after -> {
      for (WindowBlock block : blocks) {
        Resident resident = block.promised();
        if (placement.isToBePromoted(resident)) {
          Block share = requireNonNull(block.block()).share();
          boolean toHost = placement.belongsInHost(resident);
          resident.pin(); // until [#promoted] decides whether the block stays in memory
          after.then(() -> promote(resident, share, toHost));
        }
        block.end(slots, after);
      }
    });
  }

  /// Takes over `share`, finds a part of memory that pays for it, and keeps it in memory if the ledger still wants it
  /// there.
  private void promote(Resident resident, Block share, boolean toHost) {
    boolean onHostLevel = false;
    boolean charged = false;
    try {
      onHostLevel = toHost && charge(memory.resident(), share);
      charged = onHostLevel || charge(memory.promotion(), share);
    } finally {
      promoted(resident, share, charged, onHostLevel);
    }
  }

  private static boolean charge(SlabPart part, Block share) {
    try {
      return part.tryAdopt(share);
    } catch (ArenaClosedException e) { // the stack closed meanwhile: the block stays its reader's alone
      return false;
    }
  }

  private void promoted(Resident resident, Block share, boolean charged, boolean onHostLevel) {
    decisions.decide(after -> {
      resident.unpin(after);
      if (charged && placement.isToBePromoted(resident)) {
        resident.land(share, onHostLevel);
        if (onHostLevel) {
          history.moved(resident.fastestStore(), shape.host(), 1, after);
        }
      } else {
        after.close(share);
      }
    });
  }
}
