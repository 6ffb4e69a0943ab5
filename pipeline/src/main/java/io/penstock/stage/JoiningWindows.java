package io.penstock.stage;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Permits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Joins window after window into claimed memory. Signals are serial; only [#close()] comes from anywhere.
final class JoiningWindows implements JoinLayers.Joining {
  private static final String BOUNDARY = "join";

  private final BlockArena arena;
  private final List<List<BlockKey>> windows;
  private final BlockScope scope;
  /// Owns the drafts, so that they can be abandoned from any thread.
  private final BlockScope drafting = new BlockScope();

  private int open = -1;
  private Set<BlockKey> keys = Set.of();
  /// Drafts of the open window that are not complete.
  private Map<BlockKey, BlockDraft> drafts = Map.of();

  JoiningWindows(BlockArena arena, List<List<BlockKey>> windows, BlockScope scope) {
    this.arena = arena;
    this.windows = windows;
    this.scope = scope;
  }

  @Override
  public Flux<Block> land(LayerSlice slice) {
    int window = slice.place().window();
    if (window < open) {
      return Flux.empty(); // once more, of a window that is complete
    } else if (window == open) {
      return Flux.fromIterable(copy(slice));
    }
    if (window >= windows.size()) {
      throw unexpected(slice.spans().getFirst(), slice, "window must be < " + windows.size());
    }
    requireComplete(window);
    return claim(window).flatMapIterable(claimed -> {
      begin(window, claimed);
      return copy(slice);
    });
  }

  @Override
  public Flux<Block> end() {
    requireComplete(windows.size());
    return Flux.empty();
  }

  @Override
  public void close() {
    drafting.close();
  }

  /// Throws unless every block of the windows before `next` was joined.
  private void requireComplete(int next) {
    for (BlockKey key : open < 0 ? List.<BlockKey>of() : windows.get(open)) {
      BlockDraft draft = drafts.get(key);
      if (draft != null) {
        draft.requireComplete(); // throws: complete ones were joined
      }
    }
    if (next > open + 1) {
      int granules = arena.layout().granules();
      throw new IncompleteBlockException(windows.get(Math.min(open + 1, windows.size() - 1)).getFirst(), 0, granules);
    }
  }

  private Mono<List<BlockDraft>> claim(int window) {
    return Mono.create(sink -> {
      Permits.Ticket ticket = arena.claim(windows.get(window), claimed -> {
        claimed.forEach(drafting::adopt);
        sink.success(claimed);
      }, sink::error);
      sink.onCancel(ticket::cancel);
    });
  }

  private void begin(int window, List<BlockDraft> claimed) {
    open = window;
    keys = new HashSet<>(windows.get(window));
    drafts = new HashMap<>();
    claimed.forEach(draft -> drafts.put(draft.key(), draft));
  }

  private List<Block> copy(LayerSlice slice) {
    List<Block> complete = new ArrayList<>(0);
    try {
      for (LayerSpan span : slice.spans()) {
        copy(span, slice, complete);
      }
    } catch (RuntimeException e) {
      complete.forEach(Block::close);
      throw e;
    }
    return complete;
  }

  private void copy(LayerSpan span, LayerSlice slice, List<Block> complete) {
    BlockDraft draft = drafts.get(span.key());
    if (draft == null) {
      requireExpected(span, slice);
      return;
    }
    copy(span, draft, slice);
    if (draft.isComplete()) {
      drafts.remove(span.key());
      complete.add(scope.adopt(draft.seal()));
    }
  }

  private static void copy(LayerSpan span, BlockDraft draft, LayerSlice slice) {
    if (!span.layout().equals(draft.layout())) {
      throw unexpected(span, slice, "layout must be " + draft.layout() + " (was " + span.layout() + ")");
    }
    for (GranuleRange part : draft.unstated(span.range())) { // what came before is final
      try (LayerSpan source = span.share(part)) {
        draft.write(part, target -> source.read(target::copyFrom));
        draft.verify(part, source.checksums(BOUNDARY), BOUNDARY);
      }
    }
  }

  private void requireExpected(LayerSpan span, LayerSlice slice) {
    if (!keys.contains(span.key())) {
      throw unexpected(span, slice, "key must be one of " + keys.size() + " expected");
    }
  }

  private static UnexpectedSliceException unexpected(LayerSpan span, LayerSlice slice, String rule) {
    return new UnexpectedSliceException(span.key(), slice.place().window(), rule);
  }
}
