package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.tier.Presence;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Who has the long prefixes that were asked for last, by the first key behind each. A writer asks which blocks are
/// missing, and then puts those alone: what stood before them is known here. Safe from any thread.
final class PrefixEnds {
  private static final int KEPT = 1024;

  @GuardedBy("this") private final Map<BlockKey, Member> ends = new LinkedHashMap<>() {
    @Override
    protected boolean removeEldestEntry(Map.Entry<BlockKey, Member> eldest) {
      return size() > KEPT;
    }
  };

  /// Learns from a look-up.
  ///
  /// @return the member that has the end of a prefix which is at least as long as what is missing; null if there is no
  ///     such prefix
  @Nullable Member learn(List<BlockKey> keys, Located located, Presence present) {
    int prefix = present.prefix();
    BitSet missing = present.bits();
    missing.flip(0, keys.size());
    if (prefix == 0 || missing.isEmpty() || prefix < missing.cardinality()) {
      return null;
    }
    List<Located.Holder> holders = located.holders(prefix - 1);
    if (holders.isEmpty()) {
      return null;
    }
    Member end = located.members().get(holders.getFirst().member());
    synchronized (this) {
      ends.put(keys.get(prefix), end);
    }
    return end;
  }

  /// The member that has a long prefix before `first`; null if it is not known.
  synchronized @Nullable Member before(BlockKey first) {
    return ends.get(first);
  }
}
