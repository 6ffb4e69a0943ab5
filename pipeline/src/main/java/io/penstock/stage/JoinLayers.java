package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.Checks;
import io.penstock.block.LayerSlice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;

/// Puts slices together to blocks. A block is emitted once all its granules came and were verified; nothing half is
/// ever visible.
///
/// | | |
/// |---|---|
/// | order | blocks come as they are complete; slices may come in any order inside their window, and more than once |
/// | windows | come one after the other; a later one ends the wait for a former one: what is missing then is an error |
/// | memory | a window's drafts are claimed all or nothing, when its first slice arrives, in the arena's fair line |
/// | bytes | each is copied once, off-heap, and verified where it landed |
/// | backpressure | blocks; slices are pulled one by one, ahead of demand only until the next blocks are complete |
/// | ownership | takes over the slices: each is closed once it has landed, and on error |
/// | cancel | leaves the line, abandons the drafts; slices and blocks not taken are closed by the scopes that own them |
/// | threads | the source's, or the one that freed the memory for which a window waited |
/// | signals | [io.penstock.block.BlockCorruptException] and [io.penstock.block.IncompleteBlockException], after which nothing more is |
/// | | emitted; [UnexpectedSliceException]; [io.penstock.block.BudgetExhaustedException] if the arena's line is full |
///
/// After an error, blocks emitted before it stay what they are: whole and verified.
public final class JoinLayers {
  private JoinLayers() {}

  /// Joins slices of windows whose keys are known into memory of `arena`.
  ///
  /// @param windows the keys of each window, in the order of the windows; none is empty, keys are distinct
  /// @param scope owns the blocks emitted
  /// @throws IllegalArgumentException if a window is empty, has a key twice or can never fit the arena
  public static Stage<LayerSlice, Block> claiming(BlockArena arena, List<List<BlockKey>> windows, BlockScope scope) {
    requireNonNull(arena, "arena");
    requireNonNull(scope, "scope");
    List<List<BlockKey>> expected = windows.stream().map(List::copyOf).toList();
    expected.forEach(window -> requireFits(window, arena));
    return source -> join(source, () -> new JoiningWindows(arena, expected, scope));
  }

  /// As [#claiming(BlockArena, List, BlockScope)], for `keys` in windows of `windowBlocks`, as [SplitLayers#blocks]
  /// makes them.
  public static Stage<LayerSlice, Block> claiming(BlockArena arena, List<BlockKey> keys, int windowBlocks,
      BlockScope scope) {
    return claiming(arena, windows(keys, windowBlocks), scope);
  }

  /// Joins drafts that the bytes of the slices have landed in already, stated and verified: nothing is copied.
  ///
  /// @param drafts one for each key; the stage takes them over, and abandons them when it ends. Made for one
  ///     subscription
  /// @param scope owns the blocks emitted
  public static Stage<LayerSlice, Block> landed(Collection<BlockDraft> drafts, BlockScope scope) {
    requireNonNull(scope, "scope");
    List<BlockDraft> taken = List.copyOf(drafts);
    return source -> join(source, () -> new JoiningDrafts(taken, scope));
  }

  private static Flux<Block> join(Flux<LayerSlice> source, Supplier<Joining> begin) {
    return Quiet.afterCancel(Flux.using(begin::get, joining -> InTurn.of(
        source.concatMap(slice -> Flux.defer(() -> joining.land(slice)).doFinally(end -> slice.close()), 0),
        Flux.defer(joining::end)), Joining::close, false));
  }

  /// What one subscription has joined so far.
  interface Joining extends AutoCloseable {
    /// Lands `slice` and emits the blocks that it completed.
    Flux<Block> land(LayerSlice slice);

    /// Nothing if no granule is missing, else the error that says so.
    Flux<Block> end();

    /// Abandons what is not complete; from any thread.
    @Override
    void close();
  }

  private static List<List<BlockKey>> windows(List<BlockKey> keys, int windowBlocks) {
    Checks.positive("windowBlocks", windowBlocks);
    List<List<BlockKey>> windows = new ArrayList<>();
    for (int from = 0; from < keys.size(); from += windowBlocks) {
      windows.add(keys.subList(from, Math.min(keys.size(), from + windowBlocks)));
    }
    return windows;
  }

  private static void requireFits(List<BlockKey> window, BlockArena arena) {
    if (window.isEmpty() || window.size() > arena.capacitySlots()) {
      throw new IllegalArgumentException(
          "keys of a window must be > 0 and <= " + arena.capacitySlots() + " slots (was " + window.size() + ")");
    }
    if (new HashSet<>(window).size() < window.size()) {
      throw new IllegalArgumentException(
          "keys of a window must be distinct (was " + window.size() + " keys with duplicates)");
    }
  }
}
