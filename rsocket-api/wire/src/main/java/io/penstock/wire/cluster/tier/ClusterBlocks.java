package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.wire.cluster.tier.ClusterEvents.Start;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which member has which block, from what each of them told, and what that means for the cluster.
final class ClusterBlocks {
  @GuardedBy("this") private final Map<BlockKey, Map<Start, List<Level>>> holders = new HashMap<>();
  /// Members whose first snapshot the snapshot of the cluster waits for.
  @GuardedBy("this") private final Set<Start> expected = new HashSet<>();
  @GuardedBy("this") private boolean begun;
  @GuardedBy("this") private boolean whole;
  @GuardedBy("this") private long sequence;

  /// Members that were found at one look. Those of the first look belong to the snapshot.
  synchronized void expect(List<Start> members) {
    if (!begun) {
      expected.addAll(members);
      begun = true;
    }
  }

  /// @param event null when the member's stream has ended
  /// @param out gets the events of the cluster
  synchronized void apply(Start who, @Nullable TierEvent event, List<TierEvent> out) {
    switch (event) {
      case null -> {
        forgetAll(who, "node " + who.name() + " cannot be reached", out);
        snapshotEnded(who, out);
      }
      case TierEvent.Stored stored -> has(who, stored.key(), stored.levels(), out);
      case TierEvent.Present present -> has(who, present.key(), present.levels(), out);
      case TierEvent.Moved moved -> has(who, moved.key(), moved.to(), out);
      case TierEvent.Evicted evicted -> lacks(who, evicted.key(), out,
          (number, from) -> new TierEvent.Evicted(number, evicted.key(), from));
      case TierEvent.Removed removed -> lacks(who, removed.key(), out,
          (number, from) -> new TierEvent.Removed(number, removed.key(), from));
      case TierEvent.Lost lost -> lacks(who, lost.key(), out,
          (number, from) -> new TierEvent.Lost(number, lost.key(), from, lost.reason()));
      case TierEvent.LevelDown down -> out
          .add(new TierEvent.LevelDown(++sequence, ClusterEvents.level(who, down.level()), down.reason()));
      case TierEvent.LevelUp up -> out.add(new TierEvent.LevelUp(++sequence, ClusterEvents.level(who, up.level())));
      case TierEvent.SessionEnded ended -> out.add(new TierEvent.SessionEnded(sequence, ended.session()));
      case TierEvent.SnapshotStarted started -> {
        forgetAll(who, "node " + who.name() + " tells all its blocks again", out);
        started.down().forEach(level -> out
            .add(new TierEvent.LevelDown(++sequence, ClusterEvents.level(who, level), "was down before")));
      }
      case TierEvent.SnapshotEnded ended -> snapshotEnded(who, out);
      case TierEvent.Skipped skipped -> { // a stream that follows has none
      }
    }
  }

  @GuardedBy("this") private void snapshotEnded(Start who, List<TierEvent> out) {
    expected.remove(who);
    if (begun && expected.isEmpty() && !whole) {
      whole = true;
      out.add(new TierEvent.SnapshotEnded(sequence));
    }
  }

  @GuardedBy("this") private void has(Start who, BlockKey key, List<Level> levels, List<TierEvent> out) {
    Map<Start, List<Level>> of = holders.computeIfAbsent(key, none -> new LinkedHashMap<>());
    List<Level> from = all(of);
    of.put(who, ClusterEvents.levels(who, levels));
    List<Level> to = all(of);
    if (from.equals(to)) {
      return;
    } else if (!whole) {
      out.add(new TierEvent.Present(sequence, key, to));
    } else {
      sequence++;
      out.add(from.isEmpty()
          ? new TierEvent.Stored(sequence, key, to)
          : new TierEvent.Moved(sequence, key, from, to));
    }
  }

  private interface Gone {
    TierEvent event(long number, List<Level> from);
  }

  @GuardedBy("this") private void lacks(Start who, BlockKey key, List<TierEvent> out, Gone gone) {
    Map<Start, List<Level>> of = holders.get(key);
    if (of == null || !of.containsKey(who)) {
      return;
    }
    List<Level> from = all(of);
    of.remove(who);
    sequence++;
    if (of.isEmpty()) {
      holders.remove(key);
      out.add(gone.event(sequence, from));
    } else {
      out.add(new TierEvent.Moved(sequence, key, from, all(of)));
    }
  }

  @GuardedBy("this") private void forgetAll(Start who, String reason, List<TierEvent> out) {
    List<BlockKey> had = new ArrayList<>();
    holders.forEach((key, of) -> {
      if (of.containsKey(who)) {
        had.add(key);
      }
    });
    had.forEach(key -> lacks(who, key, out, (number, from) -> new TierEvent.Lost(number, key, from, reason)));
  }

  private static List<Level> all(Map<Start, List<Level>> of) {
    return of.values().stream().flatMap(List::stream).toList();
  }
}
