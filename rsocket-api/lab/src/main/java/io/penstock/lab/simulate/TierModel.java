package io.penstock.lab.simulate;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierEvent;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Promises of [io.penstock.tier.BlockTier] and [OnMiss] about decisions, in the plainest form: lists, walked from the
/// start.
///
/// Written from the contract, not from a tier's code. It knows keys only: no bytes, no memory, no waiting. It receives
/// decisions in the order in which they were made, and answers what they must have been.
final class TierModel {
  /// A key in the policy's entries.
  private static final class Entry {
    final BlockKey key;
    boolean visible;

    Entry(BlockKey key) {
      this.key = key;
    }
  }

  /// A key that is promised or being written: by a lease that admitted it, or by a reservation.
  private static final class Writing {
    final BlockKey key;
    long owner;
    boolean admission;

    Writing(BlockKey key, long owner, boolean admission) {
      this.key = key;
      this.owner = owner;
      this.admission = admission;
    }
  }

  /// Answer that a lease must get.
  record Answer(BitSet hits, BitSet found, BitSet admitted, BitSet awaited) {
    static Answer nothing() {
      return new Answer(new BitSet(), new BitSet(), new BitSet(), new BitSet());
    }
  }

  private final EvictionPolicy policy;
  private final long capacityBlocks;
  private final List<TierEvent.Level> levels;
  /// Entries from the next victim to the safest.
  private final List<Entry> entries = new ArrayList<>();
  private final List<Writing> writings = new ArrayList<>();
  private final List<TierEvent> events = new ArrayList<>();

  /// @param level where all blocks are
  TierModel(EvictionPolicy policy, long capacityBlocks, TierEvent.Level level) {
    this.levels = List.of(level);
    this.policy = policy;
    this.capacityBlocks = capacityBlocks;
  }

  Answer lease(long lease, List<BlockKey> keys, OnMiss onMiss) {
    Answer answer = Answer.nothing();
    for (int i = 0; i < keys.size(); i++) {
      refer(lease, i, keys.get(i), onMiss, answer);
    }
    return answer;
  }

  private void refer(long lease, int position, BlockKey key, OnMiss onMiss, Answer answer) {
    Entry entry = entry(key);
    Writing writing = writing(key);
    if (entry != null && entry.visible) {
      answer.hits.set(position);
      answer.found.set(position);
      use(entry);
    } else if (onMiss == OnMiss.SKIP) {
      return;
    } else if (entry != null) {
      answer.hits.set(position);
      answer.awaited.set(position);
      use(entry);
    } else if (writing != null) {
      answer.awaited.set(position);
      if (onMiss == OnMiss.ADMIT) {
        insert(key);
      }
    } else if (onMiss == OnMiss.ADMIT) {
      answer.admitted.set(position);
      writings.add(new Writing(key, lease, true));
      insert(key);
    }
  }

  /// Ends the lease: forgets blocks that it admitted and that no lease took over.
  void endLease(long lease) {
    forget(lease, true);
  }

  /// Positions for which no draft is handed out: visible, or in the hands of another writer.
  BitSet reserve(long reservation, List<BlockKey> keys) {
    BitSet skipped = new BitSet();
    for (int i = 0; i < keys.size(); i++) {
      Entry entry = entry(keys.get(i));
      Writing writing = writing(keys.get(i));
      if ((entry != null && entry.visible) || (writing != null && !writing.admission)) {
        skipped.set(i);
      } else if (writing != null) {
        writing.owner = reservation;
        writing.admission = false;
      } else {
        writings.add(new Writing(keys.get(i), reservation, false));
        insert(keys.get(i));
      }
    }
    return skipped;
  }

  /// Sequence numbers of the receipts, in order of `keys`.
  List<Long> commit(long reservation, List<BlockKey> keys) {
    List<Long> receipts = new ArrayList<>();
    for (BlockKey key : keys) {
      if (!writings.removeIf(writing -> writing.key.equals(key) && writing.owner == reservation)) {
        throw new IllegalStateException("key must be reserved to be committed (was not, " + key + ")");
      }
      events.add(new TierEvent.Stored(events.size() + 1, key, levels));
      receipts.add((long) events.size());
      Entry entry = entry(key);
      if (entry == null) { // the policy chose it as victim before its bytes came
        events.add(new TierEvent.Evicted(events.size() + 1, key, levels));
      } else {
        entry.visible = true;
      }
    }
    return receipts;
  }

  void revoke(long reservation) {
    forget(reservation, false);
  }

  BitSet remove(List<BlockKey> keys) {
    BitSet removed = new BitSet();
    for (int i = 0; i < keys.size(); i++) {
      Entry entry = entry(keys.get(i));
      if (entry != null && entry.visible) {
        entries.remove(entry);
        events.add(new TierEvent.Removed(events.size() + 1, entry.key, levels));
        removed.set(i);
      }
    }
    return removed;
  }

  boolean isVisible(BlockKey key) {
    Entry entry = entry(key);
    return entry != null && entry.visible;
  }

  /// Visible keys, next victim first.
  List<BlockKey> visible() {
    return entries.stream().filter(entry -> entry.visible).map(entry -> entry.key).toList();
  }

  /// Keys that a writer promised or writes.
  List<BlockKey> written() {
    return writings.stream().map(writing -> writing.key).toList();
  }

  /// Everything that must have happened so far; the list grows.
  List<TierEvent> events() {
    return events;
  }

  private void use(Entry entry) {
    if (policy == EvictionPolicy.LRU) {
      entries.remove(entry);
      entries.add(entry);
    }
  }

  private void insert(BlockKey key) {
    entries.add(new Entry(key));
    if (entries.size() > capacityBlocks) {
      Entry victim = entries.removeFirst();
      if (victim.visible) {
        events.add(new TierEvent.Evicted(events.size() + 1, victim.key, levels));
      }
    }
  }

  private void forget(long owner, boolean admission) {
    for (Writing writing : List.copyOf(writings)) {
      if (writing.owner == owner && writing.admission == admission) {
        writings.remove(writing);
        entries.removeIf(entry -> entry.key.equals(writing.key));
      }
    }
  }

  private @Nullable Entry entry(BlockKey key) {
    for (Entry entry : entries) {
      if (entry.key.equals(key)) {
        return entry;
      }
    }
    return null;
  }

  private @Nullable Writing writing(BlockKey key) {
    for (Writing writing : writings) {
      if (writing.key.equals(key)) {
        return writing;
      }
    }
    return null;
  }
}
