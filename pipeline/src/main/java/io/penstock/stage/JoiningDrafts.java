package io.penstock.stage;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Flux;

/// Seals drafts into which somebody else lands the bytes.
final class JoiningDrafts implements JoinLayers.Joining {
  private final List<BlockDraft> all;
  private final BlockScope scope;
  private final Map<BlockKey, BlockDraft> drafts = new LinkedHashMap<>();
  private final Set<BlockKey> joined = new HashSet<>();

  JoiningDrafts(List<BlockDraft> all, BlockScope scope) {
    this.all = all;
    this.scope = scope;
    all.forEach(draft -> drafts.put(draft.key(), draft));
  }

  @Override
  public Flux<Block> land(LayerSlice slice) {
    List<Block> complete = new ArrayList<>(0);
    for (LayerSpan span : slice.spans()) {
      BlockDraft draft = drafts.get(span.key());
      if (draft == null) {
        requireJoined(span, slice);
      } else if (draft.isComplete()) {
        drafts.remove(span.key());
        joined.add(span.key());
        complete.add(scope.adopt(draft.seal()));
      }
    }
    return Flux.fromIterable(complete);
  }

  /// Drafts completed by granules whose slices came before the last of them are joined here.
  @Override
  public Flux<Block> end() {
    return Flux.fromIterable(List.copyOf(drafts.values())).map(draft -> scope.adopt(draft.seal()));
  }

  @Override
  public void close() {
    all.forEach(BlockDraft::close);
  }

  private void requireJoined(LayerSpan span, LayerSlice slice) {
    if (!joined.contains(span.key())) {
      throw new UnexpectedSliceException(span.key(), slice.place().window(),
          "key must be one of " + all.size() + " expected");
    }
  }
}
