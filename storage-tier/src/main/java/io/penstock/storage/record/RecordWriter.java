package io.penstock.storage.record;

import static io.penstock.storage.record.RecordFormat.INT;

import io.penstock.block.Block;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.check.Checksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Makes records, in parts to be appended one after the other. The parts are memory of the writer, so it makes one
/// record at a time, on one thread.
public final class RecordWriter {
  /// Maximum number of records that one removal names; readers accept more.
  public static final int REMOVALS = 256;

  private final BlockLayout layout;
  private final MemorySegment head;
  private final MemorySegment removal;
  /// Padding and commit mark.
  private final MemorySegment end;
  private int crc;

  /// @param layout of every block
  public RecordWriter(BlockLayout layout) {
    this.layout = layout;
    Arena arena = Arena.ofAuto();
    this.head = arena.allocate(RecordFormat.headBytes(layout));
    this.removal = arena.allocate(RecordFormat.removalHeadBytes(REMOVALS));
    this.end = arena.allocate(RecordFormat.padded(layout.blockBytes()) - layout.blockBytes() + RecordFormat.MARK_BYTES);
    start(head, RecordKind.BLOCK);
    start(removal, RecordKind.REMOVAL);
    head.set(INT, RecordFormat.PAYLOAD_BYTES_AT, layout.blockBytes());
    head.set(INT, RecordFormat.LAYERS_AT, layout.layers());
    head.set(INT, RecordFormat.PLANES_AT, layout.planes().size());
    for (int plane = 0; plane < layout.planes().size(); plane++) {
      head.set(INT, RecordFormat.PLANE_BYTES_AT + 4L * plane, layout.planeBytes(plane));
    }
  }

  private static void start(MemorySegment head, RecordKind kind) {
    head.set(RecordFormat.LONG, RecordFormat.MAGIC_AT, RecordFormat.MAGIC);
    head.set(RecordFormat.SHORT, RecordFormat.VERSION_AT, (short) RecordFormat.VERSION);
    head.set(RecordFormat.SHORT, RecordFormat.KIND_AT, (short) kind.code());
  }

  /// The record of `block`, whose bytes are `payload`.
  ///
  /// @param segment that the record is appended to
  public MemorySegment[] block(Block block, MemorySegment payload, long sequence, int segment) {
    long crcs = RecordFormat.PLANE_BYTES_AT + 4L * layout.planes().size();
    for (int granule = 0; granule < layout.granules(); granule++) {
      head.set(INT, crcs + 4L * granule, block.checksum(granule));
    }
    seal(head, block.key(), sequence, segment);
    return new MemorySegment[] {head, payload, end};
  }

  /// A copy of a block's record, with another sequence.
  ///
  /// @param head of the record, whose CRC was compared
  /// @param payload of the record
  public MemorySegment[] again(MemorySegment head, MemorySegment payload, BlockKey key, long sequence, int segment) {
    long crcs = RecordFormat.PLANE_BYTES_AT + 4L * layout.planes().size();
    MemorySegment.copy(head, crcs, this.head, crcs, 4L * layout.granules());
    seal(this.head, key, sequence, segment);
    return new MemorySegment[] {this.head, payload, end};
  }

  /// The removal of `names`: 1 to [#REMOVALS], all of one space.
  public MemorySegment[] removal(List<RecordName> names, long sequence, int segment) {
    long at = RecordFormat.NAMES_AT;
    for (RecordName name : names) {
      removal.set(RecordFormat.LONG, at, name.sequence());
      name.key().hash().write(removal.asSlice(at + Long.BYTES, BlockHash.BYTES).asByteBuffer());
      at += RecordFormat.NAME_BYTES;
    }
    MemorySegment whole = removal.asSlice(0, RecordFormat.removalHeadBytes(names.size()));
    whole.set(INT, RecordFormat.REMOVALS_AT, names.size());
    seal(whole, new BlockKey(names.getFirst().key().space(), BlockHash.ROOT), sequence, segment);
    return new MemorySegment[] {whole, end.asSlice(end.byteSize() - RecordFormat.MARK_BYTES)};
  }

  /// CRC of the head of the newest record.
  public int crc() {
    return crc;
  }

  private void seal(MemorySegment of, BlockKey key, long sequence, int segment) {
    of.set(INT, RecordFormat.HEAD_BYTES_AT, (int) of.byteSize());
    of.set(INT, RecordFormat.SEGMENT_AT, segment);
    of.set(RecordFormat.LONG, RecordFormat.SEQUENCE_AT, sequence);
    key.write(of.asSlice(RecordFormat.KEY_AT, BlockKey.BYTES).asByteBuffer());
    long covered = of.byteSize() - RecordFormat.CRC_BYTES;
    crc = Checksum.of(of.asSlice(0, covered));
    of.set(INT, covered, crc);
    long mark = end.byteSize() - RecordFormat.MARK_BYTES;
    end.set(INT, mark, crc);
    end.set(INT, mark + 4, ~crc);
  }
}
