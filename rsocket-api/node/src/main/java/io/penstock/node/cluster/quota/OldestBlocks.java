package io.penstock.node.cluster.quota;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierEvent;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// The blocks of a tier in the order in which they were stored, as its events tell; about 100 bytes of memory for each.
/// Blocks that were there before come first, in no order. Safe from any thread.
final class OldestBlocks implements Disposable {
  @GuardedBy("this") private final Set<BlockKey> keys = new LinkedHashSet<>();
  private final Disposable.Swap following = Disposables.swap();

  OldestBlocks(BlockTier tier) {
    following.update(tier.follow().subscribe(this::apply, ended -> {})); // the tier closes
  }

  private synchronized void apply(TierEvent event) {
    switch (event) {
      case TierEvent.SnapshotStarted started -> keys.clear();
      case TierEvent.Present present -> keys.add(present.key());
      case TierEvent.Stored stored -> {
        keys.remove(stored.key());
        keys.add(stored.key());
      }
      case TierEvent.Evicted evicted -> keys.remove(evicted.key());
      case TierEvent.Removed removed -> keys.remove(removed.key());
      case TierEvent.Lost lost -> keys.remove(lost.key());
      default -> { // nothing comes or goes
      }
    }
  }

  /// The oldest blocks, without the first `skipped` of them.
  synchronized List<BlockKey> oldest(int skipped, int most) {
    List<BlockKey> oldest = new ArrayList<>(most);
    Iterator<BlockKey> all = keys.iterator();
    for (int i = 0; i < skipped && all.hasNext(); i++) {
      all.next();
    }
    while (oldest.size() < most && all.hasNext()) {
      oldest.add(all.next());
    }
    return oldest;
  }

  @Override
  public void dispose() {
    following.dispose();
  }
}
