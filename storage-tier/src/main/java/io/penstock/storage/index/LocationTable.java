package io.penstock.storage.index;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.pool.evict.IntRows;
import io.penstock.storage.engine.Location;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The places of a journal's blocks: 24 bytes a block, named by a number.
///
/// The blocks of a segment form a ring, so that each can leave it at once. The head of the ring has their common data.
/// A number belongs to its taker until the taker releases it. Safe from any thread.
public final class LocationTable {
  /// No number.
  public static final int NONE = IntRows.NONE;

  /// Offsets count units of this: every record begins at a multiple.
  private static final int UNIT_BYTES = 4;
  private static final long MOST_UNITS = 1L << 32;

  /// Words of a block: its ring, or that it is lost.
  private static final int RING = 0;
  private static final int LOST = -2;
  private static final int OFFSET = 1;
  private static final int SEQUENCE = 2;
  private static final int CRC = 3;
  private static final int BEFORE = 4;
  private static final int AFTER = 5;
  private static final int WIDTH = 6;

  /// Words of a ring.
  private static final int SEGMENT = 1;
  private static final int FIRST_SEQUENCE = 2;

  private final int recordBytes;
  @GuardedBy("this") private final IntRows rows = new IntRows(WIDTH);
  /// The rings of a segment: more than one only where sequences are too far apart for a word of 32 bits.
  @GuardedBy("this") private final Map<Integer, List<Integer>> rings = new HashMap<>();
  @GuardedBy("this") private final Map<Integer, Function<BlockKey, KvException>> losses = new HashMap<>();

  /// @param recordBytes length of each record
  LocationTable(int recordBytes) {
    this.recordBytes = recordBytes;
  }

  /// Whether the table can hold the place of a record.
  boolean fits(Location at) {
    return at.length() == recordBytes && at.offset() % UNIT_BYTES == 0 && at.offset() / UNIT_BYTES < MOST_UNITS;
  }

  /// A new number for a block whose record lies at `location`.
  ///
  /// @throws IllegalArgumentException if the table cannot hold it
  public synchronized int add(RecordLocation location) {
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

  /// The place of the block of `stored`.
  ///
  /// @param number its row
  /// @throws IllegalStateException if `stored` is closed: its number may be another block's
  /// @throws io.penstock.block.BlockCorruptException if the record was found damaged
  /// @throws io.penstock.tier.spi.BlockUnreadableException if the disk does not give the record
  public synchronized RecordLocation of(StoredBlock stored, int number) {
    if (stored.isClosed()) { // it is closed before its number is released
      throw new IllegalStateException("stored block must be open (was closed)");
    }
    if (rows.get(number, RING) == LOST) {
      throw loss(number).apply(stored.key());
    }
    return location(number);
  }

  @GuardedBy("this") private Function<BlockKey, KvException> loss(int row) {
    Function<BlockKey, KvException> loss = losses.get(row);
    if (loss == null) {
      throw new IllegalStateException("number must be of a block (was " + row + ")");
    }
    return loss;
  }

  /// The place of a block that is not lost, and whose number is not released meanwhile.
  synchronized RecordLocation location(int row) {
    int ring = rows.get(row, RING);
    long offset = Integer.toUnsignedLong(rows.get(row, OFFSET)) * UNIT_BYTES;
    return new RecordLocation(new Location(rows.get(ring, SEGMENT), offset, recordBytes), sequence(row, ring),
        rows.get(row, CRC));
  }

  @GuardedBy("this") private long sequence(int row, int ring) {
    return rows.getLong(ring, FIRST_SEQUENCE) + Integer.toUnsignedLong(rows.get(row, SEQUENCE));
  }

  /// The first block that was added to `segment`; [#NONE] if there is none.
  public synchronized int first(int segment) {
    for (int ring : rings.getOrDefault(segment, List.of())) {
      if (rows.get(ring, AFTER) != ring) {
        return rows.get(ring, AFTER);
      }
    }
    return NONE;
  }

  /// The numbers of all blocks of `segment`.
  public synchronized int[] numbers(int segment) {
    IntStream.Builder all = IntStream.builder();
    for (int ring : rings.getOrDefault(segment, List.of())) {
      for (int row = rows.get(ring, AFTER); row != ring; row = rows.get(row, AFTER)) {
        all.add(row);
      }
    }
    return all.build().toArray();
  }

  /// The place of the block of `row`; null if that is not in `segment` any more.
  public synchronized @Nullable RecordLocation locationIn(int segment, int row) {
    return rings.getOrDefault(segment, List.of()).contains(rows.get(row, RING)) ? location(row) : null;
  }

  /// Moves the record of a block from `from` to `to`.
  ///
  /// @param row the number of a block that was at `from`; no number is taken meanwhile
  /// @return false if the number was released meanwhile: both records are dead then
  public synchronized boolean move(int row, RecordLocation from, RecordLocation to) {
    if (!isAt(row, from)) {
      return false;
    }
    unlink(row);
    put(row, to);
    return true;
  }

  /// Whether the block of `row` is lost.
  public synchronized boolean isLost(int row) {
    return losses.containsKey(row);
  }

  /// Loses a block whose record lies at `from`: reads of it fail with `loss` from now on.
  ///
  /// @return as [#move]
  public synchronized boolean lose(int row, RecordLocation from, Function<BlockKey, KvException> loss) {
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
      // A released row names no ring
      if (rows.get(row, RING) == ring && sequence(row, ring) == location.sequence()) {
        return true;
      }
    }
    return false;
  }

  /// Releases a number.
  ///
  /// @return the last place of its block; null if the block is lost
  public synchronized @Nullable RecordLocation release(int row) {
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

  /// Forgets a deleted segment. Blocks that are still in it keep their places, which lead nowhere.
  public synchronized void forget(int segment) {
    if (first(segment) == NONE) {
      List<Integer> all = rings.remove(segment);
      if (all != null) {
        all.forEach(rows::give);
      }
    }
  }

  /// Blocks that have a number.
  public synchronized int size() {
    int heads = rings.values().stream().mapToInt(List::size).sum();
    return rows.size() - heads;
  }
}
