package io.penstock.storage.checkpoint;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.check.Checksum;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordName;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The bytes of a checkpoint, little-endian: a head, an entry for each record, the CRC of all that.
final class CheckpointFormat {
  static final int VERSION = 1;

  private static final byte[] MAGIC = "PNSTKCKP".getBytes(StandardCharsets.US_ASCII);
  private static final int HEAD_BYTES = 40;
  private static final int ENTRY_BYTES = 44;
  private static final int NAME_BYTES = Long.BYTES + BlockHash.BYTES;
  private static final int CRC_BYTES = 4;

  private CheckpointFormat() {}

  static ByteBuffer encode(int segment, SpaceId space, List<RecordSummary> records) {
    int names = records.stream().mapToInt(each -> each.removals().size()).sum();
    int bytes =
        Math.toIntExact(HEAD_BYTES + (long) records.size() * ENTRY_BYTES + (long) names * NAME_BYTES + CRC_BYTES);
    ByteBuffer to = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    to.put(MAGIC).putInt(VERSION).putInt(segment);
    space.write(to);
    to.putInt(records.size()).putInt(names);
    for (RecordSummary each : records) {
      to.putLong(each.at().offset()).putInt(each.at().length()).putLong(each.sequence()).putInt(each.crc())
          .putInt(each.removals().size());
      each.key().hash().write(to);
      for (RecordName name : each.removals()) {
        to.putLong(name.sequence());
        name.key().hash().write(to);
      }
    }
    to.putInt(Checksum.of(to.duplicate().flip()));
    return to.flip();
  }

  /// The records that `bytes` name; null if they are not an intact checkpoint of `segment` in this version.
  static @Nullable List<RecordSummary> decode(ByteBuffer bytes, int segment) {
    ByteBuffer from = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int covered = from.remaining() - CRC_BYTES;
    if (covered < HEAD_BYTES || from.getInt(covered) != Checksum.of(from.duplicate().limit(covered))
        || from.duplicate().limit(MAGIC.length).mismatch(ByteBuffer.wrap(MAGIC)) >= 0) {
      return null;
    }
    from.position(MAGIC.length);
    if (from.getInt() != VERSION || from.getInt() != segment) {
      return null;
    }
    SpaceId space = SpaceId.read(from);
    int count = from.getInt();
    int names = from.getInt();
    if (count < 0 || names < 0 || HEAD_BYTES + (long) count * ENTRY_BYTES + (long) names * NAME_BYTES != covered) {
      return null;
    }
    try {
      return records(from, segment, space, count);
    } catch (RuntimeException e) { // a forged CRC covers impossible values
      return null;
    }
  }

  private static List<RecordSummary> records(ByteBuffer from, int segment, SpaceId space, int count) {
    List<RecordSummary> records = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long offset = from.getLong();
      Location at = new Location(segment, offset, from.getInt());
      long sequence = from.getLong();
      int crc = from.getInt();
      int removals = from.getInt();
      BlockKey key = new BlockKey(space, BlockHash.read(from));
      records.add(new RecordSummary(at, key, sequence, crc, names(from, space, removals)));
    }
    return records;
  }

  private static List<RecordName> names(ByteBuffer from, SpaceId space, int count) {
    List<RecordName> names = new ArrayList<>(0);
    for (int i = 0; i < count; i++) {
      long sequence = from.getLong();
      names.add(new RecordName(new BlockKey(space, BlockHash.read(from)), sequence));
    }
    return names;
  }
}
