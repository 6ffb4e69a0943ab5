package io.penstock.disagg.registry;

import io.penstock.disagg.RankId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// All registered and claimed ranks, in the order in which they were heard. Not safe for use by several threads.
final class HeardRanks {
  private static final Comparator<Held> BY_TIME = (one, other) -> Long.signum(one.heardNanos - other.heardNanos);

  private final Map<RankId, Held> byRank = new HashMap<>();
  private final TreeSet<Held> byTime = new TreeSet<>(BY_TIME.thenComparing(held -> held.rank));

  int size() {
    return byRank.size();
  }

  @Nullable Held get(RankId rank) {
    return byRank.get(rank);
  }

  void add(Held held, long nanos) {
    held.heardNanos = nanos;
    byRank.put(held.rank, held);
    byTime.add(held);
  }

  void remove(Held held) {
    byRank.remove(held.rank);
    byTime.remove(held);
  }

  /// A rank was heard, unless that was before the last time.
  void hear(Held held, long nanos) {
    if (nanos - held.heardNanos > 0) {
      byTime.remove(held);
      held.heardNanos = nanos;
      byTime.add(held);
    }
  }

  /// The longest silent rank, if it has been silent for longer than `silence`.
  @Nullable Held silent(long now, long silence) {
    Held first = byTime.isEmpty() ? null : byTime.first();
    return first != null && now - first.heardNanos > silence ? first : null;
  }

  /// Ranks that this registry has heard itself within a time, the latest ones first.
  List<SignOfLife> here(long now, long withinNanos) {
    List<SignOfLife> all = new ArrayList<>();
    for (Held held : byTime.descendingSet()) {
      if (now - held.heardNanos > withinNanos) {
        return all; // it was heard here no later than anywhere
      }
      if (held.isHeardHere && now - held.hereNanos <= withinNanos) {
        all.add(new SignOfLife(held.rank, held.generation, now - held.hereNanos));
      }
    }
    return all;
  }
}
