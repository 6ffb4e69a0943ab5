package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SlabPart;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The decisions on windows that are read from stores: from which store and into which memory to read, and which blocks
/// to promote afterwards. Each method makes its own decision, except [#interrupt].
final class WindowReads {
  private final StackState state;
  /// Windows that wait for memory or for bytes of a store. Used in decisions only.
  private final Set<StoreWindow> windows = new LinkedHashSet<>();

  WindowReads(StackState state) {
    this.state = state;
  }

  // Waiting

  /// Registers `window` until [#leave]: it hears of stores that cease to give blocks.
  ///
  /// @return the error if a store of the window gives no blocks already; null if the window can be read
  @Nullable StoreUnavailableException enter(StoreWindow window) {
    return state.answer(after -> {
      windows.add(window);
      return unavailable(window);
    });
  }

  private @Nullable StoreUnavailableException unavailable(StoreWindow window) {
    for (int level = 0; level < state.shape().levels().size(); level++) {
      if (!state.stores().gives(level) && window.needs(level, state.stores())) {
        return state.stores().at(level).unavailable();
      }
    }
    return null;
  }

  /// Removes `window`, which waits for no store any more.
  void leave(StoreWindow window) {
    state.decide(after -> windows.remove(window));
  }

  /// Tells the windows that wait for the store of `level` that it gives no blocks now. In a decision.
  void interrupt(int level, StoreUnavailableException why, DeferredActions after) {
    for (StoreWindow window : windows) {
      if (window.needs(level, state.stores())) {
        after.then(() -> window.interrupt(why));
      }
    }
  }

  /// The memory for the missing ones of `blocks`: the transfer part of the slowest store from which a block is read
  /// now.
  SlabPart memoryFor(List<WindowBlock> blocks) {
    return state.look(() -> {
      int slowest = blocks.stream().mapToInt(each -> each.storeLevel(state.stores())).max().orElse(-1);
      // -1: all blocks have come to memory meanwhile
      return state.memory().transfer(slowest >= 0 ? slowest : state.shape().host() == 0 ? 1 : 0);
    });
  }

  // Reading

  /// Decides from which store each missing block is read.
  ///
  /// @param drafts memory for each
  /// @return the drafts of blocks that have come to memory meanwhile
  /// @throws TierClosedException if the stack closed meanwhile; the drafts stay the caller's
  List<BlockDraft> start(List<WindowBlock> blocks, List<BlockDraft> drafts) {
    return state.answer(after -> {
      state.requireOpen();
      List<BlockDraft> unused = new ArrayList<>(0);
      int next = 0;
      for (WindowBlock block : blocks) {
        if (block.isMissing()) {
          BlockDraft draft = drafts.get(next++);
          if (!block.start(draft, state.stores(), after)) {
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
        .defer(() -> state.shape().store(level).read(group.stream().map(WindowBlock::stored).toList(),
            group.stream().map(WindowBlock::draft).toList(), range))
        .doOnError(error -> notGiven(level, group, error));
  }

  /// Records that the store of `level` failed to give `blocks`.
  void notGiven(int level, List<WindowBlock> blocks, Throwable error) {
    List<Resident> named = blocks.stream().map(WindowBlock::promised).toList();
    state.decide(after -> state.stores().at(level).failures().notGiven(named, error, after));
  }

  /// Ends the reads and pins of `blocks`, which are read no further.
  void abandon(List<WindowBlock> blocks) {
    state.decide(after -> blocks.forEach(block -> block.end(state.stores(), after)));
  }

  // Promotion

  /// Whether a block of `blocks` is to be promoted when all its bytes have been read.
  boolean isPromoting(List<WindowBlock> blocks) {
    return state.answer(after -> blocks.stream()
        .anyMatch(block -> block.isRead() && state.mover().isToBePromoted(block.promised())));
  }

  /// Promotes those of `blocks`, whose bytes were just read, that the ledger has on a faster level, if there is memory
  /// in which they can wait for that level.
  void landed(List<WindowBlock> blocks) {
    state.decide(after -> {
      for (WindowBlock block : blocks) {
        Resident resident = block.promised();
        if (state.mover().isToBePromoted(resident)) {
          Block share = requireNonNull(block.block()).share();
          boolean toHost = state.mover().belongsInHost(resident);
          resident.pin(); // until [#promoted] decides whether the block stays in memory
          after.then(() -> promote(resident, share, toHost));
        }
        block.end(state.stores(), after);
      }
    });
  }

  /// Takes over `share`, finds a part of memory that pays for it, and keeps it in memory if the ledger still wants it
  /// there.
  private void promote(Resident resident, Block share, boolean toHost) {
    boolean onHostLevel = false;
    boolean charged = false;
    try {
      onHostLevel = toHost && charge(state.memory().resident(), share);
      charged = onHostLevel || charge(state.memory().promotion(), share);
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
    state.decide(after -> {
      resident.unpin(after);
      if (charged && state.mover().isToBePromoted(resident)) {
        resident.land(share, onHostLevel);
        if (onHostLevel) {
          state.history().moved(resident.fastestStore(), state.shape().host(), 1, after);
        }
      } else {
        after.close(share);
      }
    });
  }
}
