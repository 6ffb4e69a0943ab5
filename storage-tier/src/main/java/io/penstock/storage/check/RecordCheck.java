package io.penstock.storage.check;

import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordException;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import io.penstock.storage.record.RecordTornException;
import io.penstock.storage.record.RecordVersionException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// Compares records with what their heads say.
final class RecordCheck {
  /// Words in front of a head that says how long it is.
  static final int START_BYTES = RecordFormat.SHORTEST_RECORD;

  private final SegmentWindow file;

  RecordCheck(SegmentWindow file) {
    this.file = file;
  }

  /// What is wrong with a record whose head is good.
  ///
  /// @param granule that differs first, or -1
  record Flaw(DamageKind kind, int granule, String reason) {}

  /// A head, or why there is none.
  record Read(@Nullable RecordHead head, String reason) {}

  /// The first 8 bytes, as a number.
  long word(long at) {
    return file.bytes(at, Long.BYTES).get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(java.nio.ByteOrder.LITTLE_ENDIAN),
        0);
  }

  /// Whether the bytes from `from` to `to` are all zero.
  boolean isZero(long from, long to) {
    return firstNotZero(file.bytes(from, (int) (to - from))) < 0;
  }

  private static long firstNotZero(MemorySegment bytes) {
    for (long i = 0; i < bytes.byteSize(); i++) {
      if (bytes.get(ValueLayout.JAVA_BYTE, i) != 0) {
        return i;
      }
    }
    return -1;
  }

  /// The head of the record of `length` bytes at `at`.
  ///
  /// @throws RecordVersionException if a newer release wrote it
  Read head(long at, int length) {
    try {
      int start = Math.min(length, START_BYTES);
      int bytes = RecordHead.bytes(file.bytes(at, start), length);
      return new Read(RecordHead.decode(file.bytes(at, bytes), length), "");
    } catch (RecordVersionException e) {
      throw e;
    } catch (RecordException e) {
      return new Read(null, String.valueOf(e.getMessage()));
    }
  }

  /// Whether a good head is at `at`, however long its record says to be; null if not.
  @Nullable RecordHead headAlone(long at) {
    if (file.size() - at < START_BYTES) {
      return null;
    }
    int length = RecordHead.claimedBytes(file.bytes(at, START_BYTES));
    return length == 0 || length > file.size() - at ? null : head(at, length).head();
  }

  /// Length of the whole record.
  static int length(RecordHead head) {
    return head.bytes() + padded(head.payloadBytes()) + RecordFormat.MARK_BYTES;
  }

  private static int padded(int bytes) {
    return bytes + (-bytes & 7);
  }

  /// Compares all that follows `head`; null if it is as it must be.
  @Nullable Flaw flaw(long at, RecordHead head) {
    Flaw payload = head.kind() == RecordKind.BLOCK ? payload(at + head.bytes(), head) : null;
    Flaw mark = payload == null ? mark(at + length(head) - RecordFormat.MARK_BYTES, head) : null;
    return payload != null ? payload : mark != null ? mark : padding(at + head.bytes() + head.payloadBytes(), head);
  }

  private @Nullable Flaw payload(long at, RecordHead head) {
    long offset = at;
    for (int granule = 0; granule < head.granules(); granule++) {
      int actual = file.crc(offset, head.granuleBytes(granule));
      if (actual != head.checksum(granule)) {
        return new Flaw(DamageKind.PAYLOAD, granule,
            "crc of granule %d must be %08x (was %08x)".formatted(granule, head.checksum(granule), actual));
      }
      offset += head.granuleBytes(granule);
    }
    return null;
  }

  /// Whether the record whose `head` is at `at` has its commit mark: whoever wrote it came to its end.
  boolean isMarked(long at, RecordHead head) {
    return mark(at + length(head) - RecordFormat.MARK_BYTES, head) == null;
  }

  private @Nullable Flaw mark(long at, RecordHead head) {
    try {
      head.requireMark(file.bytes(at, RecordFormat.MARK_BYTES));
      return null;
    } catch (RecordTornException e) {
      return new Flaw(DamageKind.MARK, -1, String.valueOf(e.getMessage()));
    }
  }

  private @Nullable Flaw padding(long at, RecordHead head) {
    MemorySegment padding = file.bytes(at, padded(head.payloadBytes()) - head.payloadBytes());
    long wrong = firstNotZero(padding);
    return wrong < 0
        ? null
        : new Flaw(DamageKind.PADDING, -1,
            "padding of record must be 0 (was %02x)".formatted(padding.get(ValueLayout.JAVA_BYTE, wrong)));
  }
}
