package io.penstock.storage.record;

import static io.penstock.storage.record.RecordFormat.INT;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.Checksum;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Makes records, in parts that are to be appended one after the other. The parts are its own memory, so it serves one record at a time,
/// on one thread.
public final class RecordWriter {
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
    this.removal = arena.allocate(RecordFormat.SHORTEST_HEAD);
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
    head.set(INT, RecordFormat.HEAD_BYTES_AT, (int) head.byteSize());
  }

  /// The record of `block`, whose bytes are lent as `payload`.
  public MemorySegment[] block(Block block, MemorySegment payload, long sequence) {
    long crcs = RecordFormat.PLANE_BYTES_AT + 4L * layout.planes().size();
    for (int granule = 0; granule < layout.granules(); granule++) {
      head.set(INT, crcs + 4L * granule, block.checksum(granule));
    }
    seal(head, block.key(), sequence);
    return new MemorySegment[] {head, payload, end};
  }

  /// The record that removes the one of `key` with the sequence `removes`.
  public MemorySegment[] removal(BlockKey key, long sequence, long removes) {
    removal.set(RecordFormat.LONG, RecordFormat.REMOVES_AT, removes);
    seal(removal, key, sequence);
    return new MemorySegment[] {removal, end.asSlice(end.byteSize() - RecordFormat.MARK_BYTES)};
  }

  /// CRC of the head of the newest record.
  public int crc() {
    return crc;
  }

  private void seal(MemorySegment of, BlockKey key, long sequence) {
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
