package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.storage.engine.ForwardingEngine;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordName;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What the files of a journal hold, in the order of writing, and what was done to them: from that follows what an
/// opening must find, what it may, and what it must not. Watches what an engine appends and deletes; of what is damaged
/// it knows no more than where.
final class JournalModel {
  /// A record on the disk.
  static final class Written {
    final Location at;
    final BlockKey key;
    final long sequence;
    final List<RecordName> removals;
    /// Every byte of it but its frame is as it was written.
    boolean whole = true;
    /// A removal of it was written, and not damaged since.
    boolean removed;
    /// The newest opening gave it, or this life wrote it.
    boolean seen;
    /// The stored block was closed.
    boolean givenUp;

    private Written(Location at, BlockKey key, long sequence, List<RecordName> removals) {
      this.at = at;
      this.key = key;
      this.sequence = sequence;
      this.removals = removals;
    }

    private Written copy() {
      Written copy = new Written(at, key, sequence, removals);
      copy.whole = whole;
      copy.removed = removed;
      copy.seen = seen;
      copy.givenUp = givenUp;
      return copy;
    }

    /// A life begins.
    void unknown() {
      seen = false;
      givenUp = false;
    }

    boolean isBlock() {
      return removals.isEmpty();
    }

    RecordName name() {
      return new RecordName(key, sequence);
    }

    @Override
    public String toString() {
      String what = isBlock() ? key.hash().toString() : "removal of " + removals.size();
      return what + " #" + Long.toHexString(sequence) + " at " + at + (whole ? "" : ", damaged")
          + (removed ? ", removed" : "");
    }
  }

  final int frame;
  final TreeMap<Integer, List<Written>> segments = new TreeMap<>();
  /// Blocks whose records were cut off with their file: nothing tells of those.
  private final Set<BlockKey> gone = new HashSet<>();
  /// Promised, and not given up since.
  final Set<BlockKey> live = new HashSet<>();

  /// @param frame bytes before each record
  JournalModel(int frame) {
    this.frame = frame;
  }

  JournalModel copy() {
    JournalModel copy = new JournalModel(frame);
    segments.forEach(
        (number, records) -> copy.segments.put(number, new ArrayList<>(records.stream().map(Written::copy).toList())));
    copy.gone.addAll(gone);
    copy.live.addAll(live);
    return copy;
  }

  /// `engine`, watched.
  ///
  /// @param appended runs behind each record
  SegmentEngine watch(SegmentEngine engine, Runnable appended) {
    return new ForwardingEngine(engine) {
      @Override
      public Location append(MemorySegment... parts) {
        Location at = super.append(parts);
        written(at, RecordHead.decode(parts[0], at.length()));
        appended.run();
        return at;
      }

      @Override
      public void delete(int segment) {
        assertMayGo(segment);
        super.delete(segment);
        // Found damaged, and told
        requireNonNull(segments.remove(segment)).stream().filter(each -> !each.whole)
            .forEach(each -> live.remove(each.key));
      }
    };
  }

  private void written(Location at, RecordHead head) {
    Written record = new Written(at, head.key(), head.sequence(), head.removals());
    record.seen = true;
    segments.computeIfAbsent(at.segment(), number -> new ArrayList<>()).add(record);
    effect(record);
  }

  private void effect(Written removal) {
    Set<RecordName> names = Set.copyOf(removal.removals);
    if (!names.isEmpty()) {
      all().filter(each -> each.isBlock() && names.contains(each.name())).forEach(this::removed);
    }
  }

  private void removed(Written block) {
    block.removed = true;
    if (!block.whole) {
      live.remove(block.key); // found damaged, and told
    }
  }

  Stream<Written> all() {
    return segments.values().stream().flatMap(List::stream);
  }

  @Nullable Written at(Location place) {
    return segments.getOrDefault(place.segment(), List.of()).stream().filter(each -> each.at.equals(place)).findFirst()
        .orElse(null);
  }

  long highest() {
    return all().mapToLong(each -> each.sequence).max().orElse(0);
  }

  /// Bytes `[from, to)` of the file of a segment are not what they were.
  void damaged(int segment, long from, long to) {
    for (Written each : segments.getOrDefault(segment, List.of())) {
      each.whole &= to <= each.at.offset() || from >= each.at.offset() + each.at.length();
    }
    all().filter(each -> each.removed).forEach(each -> each.removed = removers(each).anyMatch(other -> other.whole));
  }

  /// The file of a segment ends at `at`.
  void cut(int segment, long at) {
    damaged(segment, at, Long.MAX_VALUE);
    List<Written> records = segments.getOrDefault(segment, List.of());
    records.stream().filter(each -> !each.whole).forEach(each -> gone.add(each.key));
    records.removeIf(each -> each.at.offset() >= at);
  }

  private Stream<Written> removers(Written block) {
    return all().filter(each -> each.removals.contains(block.name()));
  }

  /// Blocks that must be there.
  List<Written> must() {
    Map<BlockKey, Written> newest = new HashMap<>();
    all().filter(each -> each.isBlock() && !each.removed)
        .forEach(each -> newest.merge(each.key, each, (one, other) -> one.sequence > other.sequence ? one : other));
    Set<RecordName> removed = all().flatMap(each -> each.removals.stream()).collect(Collectors.toSet());
    return newest.values().stream().filter(each -> each.whole && !removed.contains(each.name())).toList();
  }

  private void assertMayGo(int segment) {
    assertThat(must().stream().filter(each -> each.at.segment() == segment && !each.seen))
        .as("blocks that go with segment %d, not closed and not seen", segment).isEmpty();
  }

  /// Blocks that may go without a word: what was cut off, and what a removal names that may be read again.
  Set<BlockKey> silent() {
    Set<BlockKey> silent = all().filter(each -> each.isBlock() && !each.removed && removers(each).findAny().isPresent())
        .map(each -> each.key).collect(Collectors.toSet());
    silent.addAll(gone);
    return silent;
  }

  /// Those of one block.
  List<Written> records(BlockKey key) {
    return all().filter(each -> each.isBlock() && each.key.equals(key)).toList();
  }

  /// Records of blocks.
  long blocks() {
    return all().filter(Written::isBlock).count();
  }

  /// How many names removals hold.
  long names() {
    return all().mapToLong(each -> each.removals.size()).sum();
  }
}
