package io.penstock.gateway.events;

import static java.util.Objects.requireNonNull;

import io.penstock.gateway.choice.Medium;
import io.penstock.gateway.choice.PromptBlocks;
import io.penstock.gateway.events.EngineEvent.Group;
import io.penstock.gateway.events.EngineEvent.Removed;
import io.penstock.gateway.events.EngineEvent.Stored;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Names of the blocks of one publisher by their hashes, and how many copies of each it has on each medium: every copy
/// that goes is reported on its own.
///
/// A block that has gone keeps its name for a time, because engines report a copy in host memory without tokens.
///
/// A node reports all its blocks in any order, so a block may come before the block before it. It waits for its name.
///
/// An engine with several groups of layers reports a block for each. The first group whose layers keep the whole prompt
/// is followed; a block that other groups lack costs a miss.
///
/// - Threads: one.
/// - Memory: about 250 bytes a block.
final class PublisherBlocks {
  private static final Medium[] MEDIA = {Medium.DEVICE, Medium.HOST, Medium.STORAGE};

  private final InstanceBlocks instance;
  private final EventCounts counts;
  private final int unit;
  private final int most;
  /// Blocks with copies, the one that was used longest ago first.
  private final LinkedHashMap<Long, Known> here = new LinkedHashMap<>(64, 0.75f, true);
  /// Blocks without copies, the oldest first.
  private final LinkedHashMap<Long, Known> gone = new LinkedHashMap<>();
  /// Blocks whose parent has no name yet, the oldest first, and the blocks that wait for each parent.
  private final LinkedHashMap<Long, Orphan> orphans = new LinkedHashMap<>();
  private final Map<Long, List<Long>> waiting = new HashMap<>();
  private final boolean countsCopies;
  private @Nullable Integer followed;

  /// A block whose name is known.
  private static final class Known {
    private final int rank;
    private final NameChain chain;
    private final long[] names;
    private final int[] copies = new int[MEDIA.length];

    private Known(int rank, NameChain.Longer longer) {
      this.rank = rank;
      this.chain = longer.chain();
      this.names = longer.names();
    }

    private boolean hasCopies() {
      return (copies[0] | copies[1] | copies[2]) != 0;
    }
  }

  /// A block that waits for the name of its parent.
  private static final class Orphan {
    private final int rank;
    private final long parent;
    private final int[] tokens;
    private final @Nullable String extra;
    private final int[] copies = new int[MEDIA.length];

    private Orphan(int rank, long parent, int[] tokens, @Nullable String extra) {
      this.rank = rank;
      this.parent = parent;
      this.tokens = tokens;
      this.extra = extra;
    }
  }

  /// @param unit tokens of a block that has a name
  /// @param most blocks with copies, as many without, and a sixteenth that wait for their names
  /// @param countsCopies whether each copy on a medium is reported once; otherwise a medium has one
  PublisherBlocks(InstanceBlocks instance, EventCounts counts, int unit, int most, boolean countsCopies) {
    this.countsCopies = countsCopies;
    this.instance = instance;
    this.counts = counts;
    this.unit = unit;
    this.most = most;
  }

  void apply(EventBatch batch) {
    for (EngineEvent event : batch.events()) {
      switch (event) {
        case Stored stored -> stored(stored, batch.rank());
        case Removed removed -> removed(removed, batch.rank());
        case EngineEvent.Cleared cleared -> {
          counts.increment(EventCount.CLEARED);
          clear(batch.rank());
        }
        case EngineEvent.Unknown unknown -> counts.increment(EventCount.UNKNOWN_TYPES);
      }
    }
  }

  private void stored(Stored event, int rank) {
    Medium medium = event.medium();
    if (!follows(event.group(), event.isAligned())) {
      counts.increment(EventCount.OTHER_GROUPS);
      return;
    }
    if (medium == null) {
      counts.increment(EventCount.UNKNOWN_MEDIA);
      return;
    }
    NameChain before = event.parent() == null ? NameChain.of(event.root()) : chain(event.parent(), rank);
    for (int i = 0; i < event.hashes().length; i++) {
      long key = key(event.hashes()[i], rank);
      Known block = find(key);
      if (block == null && before != null && event.isAligned()) {
        int from = i * event.blockTokens();
        block = new Known(rank,
            before.with(event.tokens(), from, from + event.blockTokens(), event.extra(i), unit));
      }
      if (block == null) {
        Long parent = i == 0 ? event.parent() : Long.valueOf(event.hashes()[i - 1]);
        if (event.isAligned() && parent != null && key(parent, rank) != key) {
          await(key, new Orphan(rank, key(parent, rank), Arrays.copyOfRange(event.tokens(), i * event.blockTokens(),
              (i + 1) * event.blockTokens()), event.extra(i)), medium);
        }
        counts.increment(event.tokens().length == 0 || event.blockTokens() <= 0
            ? EventCount.WITHOUT_TOKENS
            : event.isAligned() ? EventCount.UNKNOWN_PARENT : EventCount.UNALIGNED);
        before = null;
      } else {
        addCopies(key, block, medium, 1);
        before = block.chain;
        adopt(key, block);
      }
    }
  }

  /// Keeps a block until its parent has a name.
  private void await(long key, Orphan fresh, Medium medium) {
    Orphan orphan = orphans.get(key);
    if (orphan == null) {
      orphan = fresh;
      orphans.put(key, fresh);
      waiting.computeIfAbsent(fresh.parent, parent -> new ArrayList<>(1)).add(key);
    }
    orphan.copies[medium.ordinal()] = countsCopies ? orphan.copies[medium.ordinal()] + 1 : 1;
    if (orphans.size() > Math.max(1, most / 16)) {
      Map.Entry<Long, Orphan> oldest = orphans.firstEntry();
      forget(oldest.getKey(), oldest.getValue());
    }
  }

  private void forget(long key, Orphan orphan) {
    orphans.remove(key);
    waiting.computeIfPresent(orphan.parent, (parent, keys) -> {
      keys.remove((Long) key);
      return keys.isEmpty() ? null : keys;
    });
  }

  /// Names the blocks that wait for a block, and those that wait for them.
  private void adopt(long key, Known block) {
    if (waiting.isEmpty()) {
      return;
    }
    LinkedHashMap<Long, Known> parents = new LinkedHashMap<>(Map.of(key, block));
    while (!parents.isEmpty()) {
      Map.Entry<Long, Known> parent = requireNonNull(parents.pollFirstEntry());
      List<Long> children = waiting.remove(parent.getKey());
      for (Long child : children == null ? List.<Long>of() : children) {
        Orphan orphan = orphans.remove(child);
        if (orphan != null) {
          Known named = new Known(orphan.rank,
              parent.getValue().chain.with(orphan.tokens, 0, orphan.tokens.length, orphan.extra, unit));
          for (Medium medium : MEDIA) {
            if (orphan.copies[medium.ordinal()] > 0) {
              addCopies(child, named, medium, orphan.copies[medium.ordinal()]);
            }
          }
          parents.put(child, named);
        }
      }
    }
  }

  private void addCopies(long key, Known block, Medium medium, int more) {
    counts.add(EventCount.STORED, more);
    gone.remove(key);
    here.put(key, block);
    int had = block.copies[medium.ordinal()];
    block.copies[medium.ordinal()] = countsCopies ? had + more : 1;
    if (had == 0) {
      instance.add(block.names, medium);
    }
    if (here.size() > most) {
      Iterator<Known> oldest = here.values().iterator();
      Known dropped = oldest.next();
      oldest.remove();
      release(dropped);
      counts.increment(EventCount.DROPPED);
    }
  }

  private void removed(Removed event, int rank) {
    Medium medium = event.medium();
    if (!follows(event.group(), false)) {
      counts.increment(EventCount.OTHER_GROUPS);
      return;
    }
    if (medium == null) {
      counts.increment(EventCount.UNKNOWN_MEDIA);
      return;
    }
    for (long hash : event.hashes()) {
      long key = key(hash, rank);
      Known block = here.get(key);
      if (block != null && block.copies[medium.ordinal()] > 0) {
        counts.increment(EventCount.REMOVED);
        if (--block.copies[medium.ordinal()] == 0) {
          instance.remove(block.names, medium);
        }
        if (!block.hasCopies()) {
          here.remove(key);
          keepName(key, block);
        }
      }
      Orphan orphan = orphans.get(key);
      if (orphan != null && orphan.copies[medium.ordinal()] > 0) {
        orphan.copies[medium.ordinal()]--;
        if ((orphan.copies[0] | orphan.copies[1] | orphan.copies[2]) == 0) {
          forget(key, orphan);
        }
      }
    }
  }

  /// Whether events of `group` count. An event without a group is of an engine that has one alone.
  ///
  /// @param mayBeFirst whether the event decides which group is followed, if none is yet
  private boolean follows(Group group, boolean mayBeFirst) {
    if (group.isPartial()) {
      return false;
    }
    if (group.number() == null) {
      return true;
    }
    if (followed == null && mayBeFirst) {
      followed = group.number();
    }
    return followed == null || followed.equals(group.number());
  }

  /// Forgets the copies of one rank.
  private void clear(int rank) {
    List<Long> keys = new ArrayList<>();
    here.forEach((key, block) -> {
      if (block.rank == rank) {
        keys.add(key);
      }
    });
    Map.copyOf(orphans).forEach((key, orphan) -> {
      if (orphan.rank == rank) {
        forget(key, orphan);
      }
    });
    for (Long key : keys) {
      Known block = here.remove(key);
      if (block != null) {
        release(block);
        keepName(key, block);
      }
    }
  }

  /// Forgets all copies.
  void clear() {
    Map<Long, Known> all = new LinkedHashMap<>(here);
    here.clear();
    orphans.clear();
    waiting.clear();
    all.forEach((key, block) -> {
      release(block);
      keepName(key, block);
    });
  }

  private void release(Known block) {
    for (Medium medium : MEDIA) {
      if (block.copies[medium.ordinal()] > 0) {
        instance.remove(block.names, medium);
      }
    }
    Arrays.fill(block.copies, 0);
  }

  private void keepName(long key, Known block) {
    gone.put(key, block);
    if (gone.size() > most) {
      gone.remove(gone.firstEntry().getKey());
    }
  }

  private @Nullable Known find(long key) {
    Known block = here.get(key);
    return block == null ? gone.get(key) : block;
  }

  private @Nullable NameChain chain(long hash, int rank) {
    Known block = find(key(hash, rank));
    return block == null ? null : block.chain;
  }

  /// Ranks of one engine have caches of their own, under equal hashes.
  private static long key(long hash, int rank) {
    return rank == 0 ? hash : PromptBlocks.extended(hash, Integer.toString(rank));
  }

  int size() {
    return here.size();
  }
}
