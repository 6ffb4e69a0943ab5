package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.Checks;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;

/// Puts blocks into a tier: reserves room for a window, copies, verifies what was copied, commits, and answers the
/// receipts.
///
/// | | |
/// |---|---|
/// | order | receipts in the order of the blocks; none for a block that the tier has or that somebody else is writing |
/// | bytes | copied once, off-heap, counted by the listener; verified where they landed |
/// | visible | a window at once, after all its bytes were verified, or not at all |
/// | backpressure | receipts; up to one window is pulled and stored ahead of demand |
/// | ownership | takes over the blocks: closes its handles when their window was committed or failed |
/// | cancel | leaves the tier's line or revokes the window that is not committed |
/// | threads | the source's, or the one that freed the room for which a window waited |
/// | signals | [io.penstock.block.BlockCorruptException] and errors of the tier; windows committed before stay |
public final class Store {
  private static final String BOUNDARY = "store";

  private Store() {}

  /// Stores single blocks in windows, each cut when it is full, when a key comes again, or when the source ends.
  ///
  /// @param windowBlocks most blocks a window; as many as the tier can reserve at once, at most
  public static Stage<Block, Receipt> into(BlockTier tier, int windowBlocks, StageListener listener) {
    Checks.positive("windowBlocks", windowBlocks);
    Stage<List<Block>, Receipt> windows = windows(tier, listener);
    return blocks -> windows.apply(Windows.distinct(blocks, windowBlocks, Block::key));
  }

  /// Stores ready windows of blocks with distinct keys.
  public static Stage<List<Block>, Receipt> windows(BlockTier tier, StageListener listener) {
    requireNonNull(tier, "tier");
    requireNonNull(listener, "listener");
    return windows -> Quiet.afterCancel(windows.concatMap(window -> store(tier, window, listener), 0));
  }

  private static Flux<Receipt> store(BlockTier tier, List<Block> window, StageListener listener) {
    List<BlockKey> keys = window.stream().map(Block::key).toList();
    return Flux.using(BlockScope::new, scope -> Flux.defer(() -> tier.reserve(keys, scope))
        .concatMap(room -> write(room, window, listener), 0), BlockScope::close, false)
        .doFinally(end -> window.forEach(Block::close));
  }

  private static Flux<Receipt> write(Reservation room, List<Block> window, StageListener listener) {
    List<BlockDraft> drafts = room.drafts();
    if (drafts.isEmpty()) {
      return Flux.empty();
    }
    Map<BlockKey, Block> blocks = new HashMap<>();
    window.forEach(block -> blocks.put(block.key(), block));
    for (BlockDraft draft : drafts) {
      copy(requireNonNull(blocks.get(draft.key()), "a draft is for a key that was asked for"), draft, listener);
    }
    return room.commit(drafts).flatMapIterable(receipts -> receipts);
  }

  private static void copy(Block block, BlockDraft draft, StageListener listener) {
    GranuleRange all = GranuleRange.all(block.layout());
    try (LayerSpan span = block.span(all)) {
      draft.write(all, target -> span.read(target::copyFrom));
      listener.copied(span.bytes());
      draft.verify(all, span.checksums(BOUNDARY), BOUNDARY);
    }
  }
}
