package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.wire.cluster.tier.ClusterEvents.Start;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Which member has which block, from what each of them told, and what that means for the cluster.
final class ClusterBlocks {
  /// Blocks that are forgotten at a time.
  static final int PIECE = 256;

  @GuardedBy("this") private final Map<BlockKey, Map<Start, List<Level>>> holders = new HashMap<>();
  @GuardedBy("this") private final Map<Start, Set<BlockKey>> keys = new HashMap<>();
  /// Members whose first snapshot the snapshot of the cluster waits for.
  @GuardedBy("this") private final Set<Start> expected = new HashSet<>();
  @GuardedBy("this") private boolean begun;
  @GuardedBy("this") private boolean whole;
  @GuardedBy("this") private long sequence;

  /// Number of blocks that any member has.
  synchronized int size() {
    return holders.size();
  }

  /// Members that were found at one look. Those of the first look belong to the snapshot.
  synchronized void expect(List<Start> members) {
    if (!begun) {
      expected.addAll(members);
      begun = true;
    }
  }

  /// The events of the cluster that one event of a member means. Its own snapshot begins with the end of what it had.
  Iterable<TierEvent> events(Start who, TierEvent event) {
    return event instanceof TierEvent.SnapshotStarted
        ? new Forgetting(who, "node " + who.name() + " tells all its blocks again", out -> apply(who, event, out))
        : applied(who, event);
  }

  private List<TierEvent> applied(Start who, TierEvent event) {
    List<TierEvent> out = new ArrayList<>();
    apply(who, event, out);
    return out;
  }

  /// The stream of a member has ended.
  ///
  /// @param forgotten runs when the member has no block any more
  Iterable<TierEvent> gone(Start who, Runnable forgotten) {
    return new Forgetting(who, "node " + who.name() + " cannot be reached", out -> {
      forgotten.run();
      ended(who, out);
    });
  }

  private synchronized void ended(Start who, List<TierEvent> out) {
    snapshotEnded(who, out);
  }

  /// @param out gets the events of the cluster
  private synchronized void apply(Start who, TierEvent event, List<TierEvent> out) {
    switch (event) {
      case TierEvent.Stored stored -> has(who, stored.key(), stored.levels(), out);
      case TierEvent.Present present -> has(who, present.key(), present.levels(), out);
      case TierEvent.Moved moved -> has(who, moved.key(), moved.to(), out);
      case TierEvent.Evicted evicted -> lost(who, evicted.key(), out,
          (number, from) -> new TierEvent.Evicted(number, evicted.key(), from));
      case TierEvent.Removed removed -> lost(who, removed.key(), out,
          (number, from) -> new TierEvent.Removed(number, removed.key(), from));
      case TierEvent.Lost lost -> lost(who, lost.key(), out,
          (number, from) -> new TierEvent.Lost(number, lost.key(), from, lost.reason()));
      case TierEvent.LevelDown down -> out
          .add(new TierEvent.LevelDown(++sequence, ClusterEvents.level(who, down.level()), down.reason()));
      case TierEvent.LevelUp up -> out.add(new TierEvent.LevelUp(++sequence, ClusterEvents.level(who, up.level())));
      case TierEvent.SessionEnded ended -> out.add(new TierEvent.SessionEnded(sequence, ended.session()));
      case TierEvent.SnapshotStarted started -> started.down().forEach(level -> out
          .add(new TierEvent.LevelDown(++sequence, ClusterEvents.level(who, level), "was down before")));
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
    keys.computeIfAbsent(who, none -> new HashSet<>()).add(key);
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

  @GuardedBy("this") private void lost(Start who, BlockKey key, List<TierEvent> out, Gone gone) {
    Set<BlockKey> had = keys.get(who);
    if (had != null && had.remove(key)) {
      lacks(who, key, out, gone);
    }
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

  /// The end of all blocks of a member, a few at a time: each piece is made when it is taken. Has one reader, and its
  /// member tells nothing meanwhile.
  private final class Forgetting implements Iterable<TierEvent>, Iterator<TierEvent> {
    private final Start who;
    private final String reason;
    private final Consumer<List<TierEvent>> last;
    private final List<TierEvent> piece = new ArrayList<>();
    private @Nullable Iterator<BlockKey> left;
    private int taken;
    private boolean over;

    /// @param last told when nothing is left; gets the list of events
    Forgetting(Start who, String reason, Consumer<List<TierEvent>> last) {
      this.who = who;
      this.reason = reason;
      this.last = last;
    }

    @Override
    public Iterator<TierEvent> iterator() {
      return this;
    }

    @Override
    public boolean hasNext() {
      while (taken == piece.size() && !over) {
        piece.clear();
        taken = 0;
        over = forget();
        if (over) {
          last.accept(piece);
        }
      }
      return taken < piece.size();
    }

    @Override
    public TierEvent next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return piece.get(taken++);
    }

    /// @return whether nothing is left
    private boolean forget() {
      synchronized (ClusterBlocks.this) {
        Iterator<BlockKey> had = left;
        if (had == null) {
          Set<BlockKey> all = keys.remove(who);
          had = all == null ? Collections.emptyIterator() : all.iterator();
          left = had;
        }
        for (int i = 0; i < PIECE && had.hasNext(); i++) {
          BlockKey key = had.next();
          lacks(who, key, piece, (number, from) -> new TierEvent.Lost(number, key, from, reason));
        }
        return !had.hasNext();
      }
    }
  }

  private static List<Level> all(Map<Start, List<Level>> of) {
    return of.values().stream().flatMap(List::stream).toList();
  }
}
