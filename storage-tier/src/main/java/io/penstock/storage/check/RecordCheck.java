package io.penstock.storage.check;

import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// Compares records with their heads.
public final class RecordCheck {
  private static final ValueLayout.OfInt CRC = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SegmentWindow file;

  public RecordCheck(SegmentWindow file) {
    this.file = file;
  }

  /// The first difference in a record whose head is whole.
  ///
  /// @param granule that differs first, or -1
  /// @param expected CRC of the granule
  /// @param actual CRC of its bytes
  public record Difference(DamageKind kind, int granule, int expected, int actual, String reason) {}

  /// The whole head at `at`; null if there is none.
  ///
  /// @throws io.penstock.storage.record.RecordVersionException if a newer release wrote it
  public @Nullable RecordHead head(long at) {
    if (file.size() - at < RecordFormat.SHORTEST_RECORD) {
      return null;
    }
    MemorySegment start = file.bytes(at, RecordFormat.SHORTEST_RECORD);
    int length = RecordHead.claimedBytes(start);
    if (length == 0 || length > file.size() - at) {
      return null;
    }
    int headBytes = RecordHead.bytes(start, length);
    if (headBytes == 0) {
      return null;
    }
    RecordHead head = RecordHead.decode(file.bytes(at, headBytes), length);
    if (head != null) {
      return head;
    }
    MemorySegment mark = MemorySegment.ofArray(mark(at, length).toArray(ValueLayout.JAVA_BYTE));
    return RecordHead.decode(file.bytes(at, headBytes), length, mark);
  }

  private MemorySegment mark(long at, int length) {
    return file.bytes(at + length - RecordFormat.MARK_BYTES, RecordFormat.MARK_BYTES);
  }

  /// Length of the whole record.
  public static int length(RecordHead head) {
    return head.bytes() + padded(head.payloadBytes()) + RecordFormat.MARK_BYTES;
  }

  private static int padded(int bytes) {
    return bytes + (-bytes & 7);
  }

  /// Compares all bytes behind `head`; null if each is as it was written.
  @Nullable Difference difference(long at, RecordHead head) {
    Difference payload = payload(at, head);
    if (payload != null) {
      return payload;
    }
    if (!isMarked(at, head)) {
      return new Difference(DamageKind.MARK, -1, 0, 0, "commit mark of record must be that of its head (was not)");
    }
    return hasItsCrc(at, head) ? padding(at, head) : headCrcDifference(head);
  }

  /// Whether the CRC in the head itself is right: the commit mark may have stood in for it.
  private boolean hasItsCrc(long at, RecordHead head) {
    return file.bytes(at + head.bytes() - CRC.byteSize(), (int) CRC.byteSize()).get(CRC, 0) == head.crc();
  }

  private static Difference headCrcDifference(RecordHead head) {
    return new Difference(DamageKind.MARK, -1, 0, 0,
        "crc in head of record must be %08x (was not)".formatted(head.crc()));
  }

  /// Compares the payload of the record whose `head` is at `at`; null if each byte is as it was written.
  public @Nullable Difference payload(long at, RecordHead head) {
    long offset = at + head.bytes();
    for (int granule = 0; granule < head.granules(); granule++) {
      int actual = file.crc(offset, head.granuleBytes(granule));
      if (actual != head.checksum(granule)) {
        return new Difference(DamageKind.PAYLOAD, granule, head.checksum(granule), actual,
            "crc of granule %d must be %08x (was %08x)".formatted(granule, head.checksum(granule), actual));
      }
      offset += head.granuleBytes(granule);
    }
    return null;
  }

  /// Whether the record whose `head` is at `at` has its commit mark: then it was written to its end.
  public boolean isMarked(long at, RecordHead head) {
    return head.isMarked(mark(at, length(head)));
  }

  private @Nullable Difference padding(long at, RecordHead head) {
    int bytes = padded(head.payloadBytes()) - head.payloadBytes();
    MemorySegment padding = file.bytes(at + head.bytes() + head.payloadBytes(), bytes);
    boolean isZero = padding.mismatch(MemorySegment.ofArray(new byte[bytes])) < 0;
    return isZero ? null : new Difference(DamageKind.PADDING, -1, 0, 0, "padding of record must be 0 (was not)");
  }
}
