package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.ArenaClosedException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
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

/// The decisions on windows that are read from stores: from where, into which memory, and which of their blocks are
/// promoted when they are there. Each method makes its decision, but for [#interrupt].
final class WindowReads {
  private final StackState state;
  /// Windows that wait for memory, or for bytes of a store.
  private final Set<StoreWindow> windows = new LinkedHashSet<>();

  WindowReads(StackState state) {
    this.state = state;
  }

  // Waiting

  /// Tells `window` of stores that cease to give blocks, until [#leave].
  ///
  /// @return why it need not wait: a store that it needs gives no blocks already; null if it can be read
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

  /// `window` waits for no store any more.
  void leave(StoreWindow window) {
    state.decide(after -> windows.remove(window));
  }

  /// The store of `level` gives no blocks now: the windows that wait for it hear so. In a decision.
  void interrupt(int level, StoreUnavailableException why, DeferredActions after) {
    for (StoreWindow window : windows) {
      if (window.needs(level, state.stores())) {
        after.then(() -> window.interrupt(why));
      }
    }
  }

  /// The memory for the missing ones of `blocks`: that of the slowest store from which one is read now.
  SlabPart memoryFor(List<WindowBlock> blocks) {
    return state.look(() -> {
      int slowest = blocks.stream().mapToInt(each -> each.storeLevel(state.stores())).max().orElse(-1);
      // All of them may have come to memory meanwhile
      return state.memory().transfer(slowest >= 0 ? slowest : state.shape().host() == 0 ? 1 : 0);
    });
  }

  // Reading

  /// Decides from where each missing block is read.
  ///
  /// @param drafts memory for each
  /// @return the drafts that are not needed after all
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

  /// Reads `range` of the blocks that have a draft, from all stores at once. Once subscribed to, it runs to its end.
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

  /// The store of `level` failed to give `blocks`.
  void notGiven(int level, List<WindowBlock> blocks, Throwable error) {
    List<Resident> named = blocks.stream().map(WindowBlock::promised).toList();
    state.decide(after -> state.stores().at(level).failures().notGiven(named, error, after));
  }

  /// `blocks` are read no further.
  void abandon(List<WindowBlock> blocks) {
    state.decide(after -> blocks.forEach(block -> block.end(state.stores(), after)));
  }

  // Promotion

  /// Whether any of `blocks` is to be promoted when all of it is there.
  boolean isPromoting(List<WindowBlock> blocks) {
    return state.answer(after -> blocks.stream()
        .anyMatch(block -> block.isRead() && state.mover().isToBePromoted(block.promised())));
  }

  /// The bytes of `blocks` are in host memory: promotes those that the ledger has higher up, if there is memory in
  /// which they can wait for that.
  void landed(List<WindowBlock> blocks) {
    state.decide(after -> {
      for (WindowBlock block : blocks) {
        Resident resident = block.promised();
        if (state.mover().isToBePromoted(resident)) {
          Block share = requireNonNull(block.block()).share();
          boolean toHost = state.mover().belongsInHost(resident);
          resident.pin(); // until it is decided whether it stays
          after.then(() -> promote(resident, share, toHost));
        }
        block.end(state.stores(), after);
      }
    });
  }

  /// Pays for `share`, which it takes over, and keeps it in memory if the ledger still wants it there.
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
    } catch (ArenaClosedException e) { // the stack closed meanwhile: only the reader needs the bytes
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
