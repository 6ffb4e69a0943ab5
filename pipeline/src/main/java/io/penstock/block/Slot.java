package io.penstock.block;

import io.penstock.check.Checksum;
import io.penstock.system.HoldCount;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// One slot of an arena, and the number of handles and pins on it. At zero the slot goes back to its arena.
final class Slot {
  private static final VarHandle PART;

  static {
    try {
      PART = MethodHandles.lookup().findVarHandle(Slot.class, "part", SlabPart.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final MemorySegment memory;
  private final SlabArena arena;
  private final SlabPart.@Nullable Run run;
  private final ByteBuffer view;
  private final int number;
  private final HoldCount holds = new HoldCount();
  private @Nullable BlockKey key; // written before `part`, read after it
  private volatile SlabPart part;

  @SuppressWarnings("NullAway.Init") // a slot is charged from when it is lent
  Slot(SlabArena arena, SlabPart.@Nullable Run run, MemorySegment memory, int number) {
    this.number = number;
    this.arena = arena;
    this.run = run;
    this.memory = memory;
    this.view = memory.asByteBuffer();
  }

  /// Its number in its arena.
  int number() {
    return number;
  }

  /// The run that the slot is in; null if its memory is the arena's own.
  SlabPart.@Nullable Run run() {
    return run;
  }

  /// The key that the slot was lent for last; null if it was never lent.
  @Nullable BlockKey key() {
    return part == null ? null : key;
  }

  /// The first hold, taken by the draft of `wanted` to which the slot is lent at the charge of `payer`.
  void lend(BlockKey wanted, SlabPart payer) {
    key = wanted;
    part = payer;
    holds.first();
  }

  /// Charges the slot, on which the caller has a hold, to `payer`. Answers the part that paid so far.
  SlabPart charge(SlabPart payer) {
    return (SlabPart) PART.getAndSet(this, payer);
  }

  /// Adds a hold unless the slot was already given back.
  boolean retain() {
    return holds.retain();
  }

  boolean isShared() {
    return holds.isShared();
  }

  void release() {
    if (holds.release()) {
      arena.giveBack(this, part); // no other charge can come
    }
  }

  int checksum(int offset, int bytes) {
    return Checksum.of(view.duplicate().position(offset).limit(offset + bytes));
  }

  /// The checksums of `range`, one for each of its whole granules.
  int[] checksums(BlockLayout layout, GranuleRange range) {
    int[] sums = new int[range.count()];
    ByteBuffer bytes = view.duplicate().position(range.offset(layout));
    CRC32C crc = new CRC32C();
    for (int i = 0; i < sums.length; i++) {
      crc.reset();
      crc.update(bytes.limit(bytes.position() + layout.granuleBytes(range.first() + i)));
      sums[i] = (int) crc.getValue();
    }
    return sums;
  }

  /// Compares the whole granules of `range` with their checksums.
  ///
  /// @param checksums of all granules of the block
  /// @param boundary that the bytes cross, named in the error
  /// @throws BlockCorruptException at the first difference
  void verify(BlockKey of, BlockLayout layout, GranuleRange range, int[] checksums, String boundary) {
    int[] actual = checksums(layout, range);
    int differs = Arrays.mismatch(actual, 0, actual.length, checksums, range.first(), range.end());
    if (differs >= 0) {
      int granule = range.first() + differs;
      throw new BlockCorruptException(boundary, of, granule, checksums[granule], actual[differs]);
    }
  }

  ByteBuffer buffer(int offset, int bytes) {
    return view.slice(offset, bytes);
  }
}
