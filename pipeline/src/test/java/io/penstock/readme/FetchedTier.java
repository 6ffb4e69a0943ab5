package io.penstock.readme;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.TierInfo;
import io.penstock.tier.spi.OnDemandTier;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import reactor.core.publisher.Mono;

// README
/// Blocks of another system, which knows their names and gives their bytes one by one.
final class FetchedTier extends OnDemandTier {
  private final Set<BlockKey> names;
  private final Function<BlockKey, Mono<byte[]>> fetch;

  FetchedTier(CacheSpace space, BlockArena arena, Set<BlockKey> names, Function<BlockKey, Mono<byte[]>> fetch) {
    super(new TierInfo("fetched", Medium.REMOTE, space, Long.MAX_VALUE), arena, 16); // 16 fetches at a time a reader
    this.names = names;
    this.fetch = fetch;
  }

  @Override
  protected Mono<Presence> find(List<BlockKey> keys) {
    return Mono.fromSupplier(() -> where(keys, names::contains));
  }

  @Override
  protected Mono<Boolean> fill(BlockDraft draft) {
    return fetch.apply(draft.key()).map(bytes -> {
      GranuleRange all = GranuleRange.all(draft.layout());
      draft.write(all, memory -> memory.copyFrom(MemorySegment.ofArray(bytes)));
      draft.produced(all);
      return true;
    });
  }
}
// README
