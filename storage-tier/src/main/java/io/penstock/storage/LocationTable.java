package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.pool.IntRows;
import io.penstock.storage.engine.Location;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Where the blocks of a journal lie: 24 bytes a block, named by a number, and which of them lie in a segment.
///
/// The blocks of a segment are a ring, so that one can leave it at once; what they have in common is with the head of
/// the ring. A number belongs to its taker until it is given back. Safe from any thread.
final class LocationTable {
  /// No number.
  static final int NONE = IntRows.NONE;

  /// Offsets are told in units of this: frames of no engine begin elsewhere.
  private static final int UNIT_BYTES = 4;
  private static final long MOST_UNITS = 1L << 32;

  /// Of a block: its ring; or why it has none.
  private static final int RING = 0;
  private static final int LOST = -2;
  private static final int OFFSET = 1;
  private static final int SEQUENCE = 2;
  private static final int CRC = 3;
  private static final int BEFORE = 4;
  private static final int AFTER = 5;
  private static final int WIDTH = 6;

  /// Of a ring.
  private static final int SEGMENT = 1;
  private static final int FIRST_SEQUENCE = 2;

  private final int recordBytes;
  @GuardedBy("this") private final IntRows rows = new IntRows(WIDTH);
  /// One ring a segment, but where sequences are further apart than a word of 32 bits tells.
  @GuardedBy("this") private final Map<Integer, List<Integer>> rings = new HashMap<>();
  @GuardedBy("this") private final Map<Integer, Function<BlockKey, KvException>> losses = new HashMap<>();

  /// @param recordBytes length of every block's record
  LocationTable(int recordBytes) {
    this.recordBytes = recordBytes;
  }

  /// Whether a record can be told of here.
  boolean fits(Location at) {
    return at.length() == recordBytes && at.offset() % UNIT_BYTES == 0 && at.offset() / UNIT_BYTES < MOST_UNITS;
  }

  /// A number for a block whose record lies at `location`; the caller's.
  ///
  /// @throws IllegalArgumentException if it does not fit
  synchronized int add(RecordLocation location) {
    if (!fits(location.at())) {
      throw new IllegalArgumentException(
          "location must be of %d bytes at a multiple of %d (was %s)".formatted(recordBytes, UNIT_BYTES,
              location.at()));
    }
    int row = rows.take();
    put(row, location);
    return row;
  }

  @GuardedBy("this") private void put(int row, RecordLocation location) {
    int ring = ring(location.segment(), location.sequence());
    rows.set(row, RING, ring);
    rows.set(row, OFFSET, (int) (location.at().offset() / UNIT_BYTES));
    rows.set(row, SEQUENCE, (int) (location.sequence() - rows.getLong(ring, FIRST_SEQUENCE)));
    rows.set(row, CRC, location.headCrc());
    join(rows.get(ring, BEFORE), row);
    join(row, ring);
  }

  @GuardedBy("this") private int ring(int segment, long sequence) {
    List<Integer> all = rings.computeIfAbsent(segment, number -> new ArrayList<>(1));
    for (int ring : all) {
      long behind = sequence - rows.getLong(ring, FIRST_SEQUENCE);
      if (behind >= 0 && behind < MOST_UNITS) {
        return ring;
      }
    }
    int ring = rows.take();
    rows.set(ring, RING, ring);
    rows.set(ring, SEGMENT, segment);
    rows.setLong(ring, FIRST_SEQUENCE, sequence);
    join(ring, ring);
    all.add(ring);
    return ring;
  }

  @GuardedBy("this") private void join(int first, int second) {
    rows.set(first, AFTER, second);
    rows.set(second, BEFORE, first);
  }

  @GuardedBy("this") private void unlink(int row) {
    join(rows.get(row, BEFORE), rows.get(row, AFTER));
  }

  /// Where the block of `stored` lies.
  ///
  /// @throws IllegalStateException if that is closed: its number is free, or another block's
  /// @throws io.penstock.block.BlockCorruptException if the record was found damaged
  /// @throws io.penstock.tier.spi.BlockUnreadableException if it was lost because the disk does not give it
  synchronized RecordLocation of(StoredRecord stored) {
    if (stored.isClosed()) { // before its number was given back, or it would be open
      throw new IllegalStateException("stored block must be open (was closed)");
    }
    if (rows.get(stored.number(), RING) == LOST) {
      throw loss(stored.number()).apply(stored.key());
    }
    return location(stored.number());
  }

  @GuardedBy("this") private Function<BlockKey, KvException> loss(int row) {
    Function<BlockKey, KvException> loss = losses.get(row);
    if (loss == null) {
      throw new IllegalStateException("number must be of a block (was " + row + ")");
    }
    return loss;
  }

  /// Where the block of a number lies that is not given back meanwhile, and was not lost.
  synchronized RecordLocation location(int row) {
    int ring = rows.get(row, RING);
    long offset = Integer.toUnsignedLong(rows.get(row, OFFSET)) * UNIT_BYTES;
    return new RecordLocation(new Location(rows.get(ring, SEGMENT), offset, recordBytes), sequence(row, ring),
        rows.get(row, CRC));
  }

  @GuardedBy("this") private long sequence(int row, int ring) {
    return rows.getLong(ring, FIRST_SEQUENCE) + Integer.toUnsignedLong(rows.get(row, SEQUENCE));
  }

  /// The sequence of the record of such a block.
  synchronized long sequence(int row) {
    return sequence(row, rows.get(row, RING));
  }

  /// A block of `segment`, the one that is there longest; [#NONE] if there is none.
  synchronized int first(int segment) {
    for (int ring : rings.getOrDefault(segment, List.of())) {
      if (rows.get(ring, AFTER) != ring) {
        return rows.get(ring, AFTER);
      }
    }
    return NONE;
  }

  /// The numbers of all blocks of `segment`.
  synchronized int[] numbers(int segment) {
    IntStream.Builder all = IntStream.builder();
    for (int ring : rings.getOrDefault(segment, List.of())) {
      for (int row = rows.get(ring, AFTER); row != ring; row = rows.get(row, AFTER)) {
        all.add(row);
      }
    }
    return all.build().toArray();
  }

  /// Where the block of `row` lies, if that is in `segment`; null if it was given back meanwhile.
  synchronized @Nullable RecordLocation locationIn(int segment, int row) {
    return rings.getOrDefault(segment, List.of()).contains(rows.get(row, RING)) ? location(row) : null;
  }

  /// The record of a block lies at `to` now, and no longer at `from`.
  ///
  /// @param row the number of a block that was at `from`; no number is taken meanwhile
  /// @return false if it was given back meanwhile: both records are dead then
  synchronized boolean move(int row, RecordLocation from, RecordLocation to) {
    if (!isAt(row, from)) {
      return false;
    }
    unlink(row);
    put(row, to);
    return true;
  }

  /// Whether the record of the block of `row` is no more.
  synchronized boolean isLost(int row) {
    return losses.containsKey(row);
  }

  /// The record of a block at `from` will be gone: reads of it fail with `loss` from now on.
  ///
  /// @return as [#move]
  synchronized boolean lose(int row, RecordLocation from, Function<BlockKey, KvException> loss) {
    if (!isAt(row, from)) {
      return false;
    }
    unlink(row);
    rows.set(row, RING, LOST);
    losses.put(row, loss);
    return true;
  }

  /// Whether `row` is of a block at `location`.
  @GuardedBy("this") private boolean isAt(int row, RecordLocation location) {
    for (int ring : rings.getOrDefault(location.segment(), List.of())) {
      // What was given back names no ring there
      if (rows.get(row, RING) == ring && sequence(row, ring) == location.sequence()) {
        return true;
      }
    }
    return false;
  }

  /// Gives a number back.
  ///
  /// @return where its block lay; null if that is lost
  synchronized @Nullable RecordLocation release(int row) {
    RecordLocation last = null;
    if (rows.get(row, RING) == LOST) {
      losses.remove(row);
    } else {
      last = location(row);
      unlink(row);
    }
    rows.give(row);
    return last;
  }

  /// `segment` is gone. Blocks that are still in it keep their locations, which lead nowhere.
  synchronized void forget(int segment) {
    if (first(segment) == NONE) {
      List<Integer> all = rings.remove(segment);
      if (all != null) {
        all.forEach(rows::give);
      }
    }
  }

  /// Blocks that have a number.
  synchronized int size() {
    int heads = rings.values().stream().mapToInt(List::size).sum();
    return rows.size() - heads;
  }
}
