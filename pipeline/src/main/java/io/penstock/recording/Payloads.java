package io.penstock.recording;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The bytes of blocks while a recording is played: those of the recording, or those that the key stands for.
@FunctionalInterface
public interface Payloads {
  /// The checksum of a block that was kept by another process, and is known by its key alone.
  long UNKNOWN = -1;

  /// Writes `range` of the block of `draft`, and computes its checksums.
  ///
  /// @param checksum of the block, which tells its bytes from others of the key; [#UNKNOWN] if it is not known
  void fill(BlockDraft draft, GranuleRange range, long checksum);

  /// Bytes that are the same for each block of a key, and unlike those of another key: for recordings without payloads.
  static Payloads ofKeys() {
    return (draft, range, checksum) -> {
      draft.unverified(range).forEach(part -> {
        draft.write(part, memory -> pattern(draft.key(), part.first(), memory));
        draft.produced(part);
      });
    };
  }

  private static void pattern(BlockKey key, int granule, MemorySegment memory) {
    long word = key.hash().hashCode() * 0x9E3779B97F4A7C15L + granule;
    long whole = memory.byteSize() & -Long.BYTES;
    for (long at = 0; at < whole; at += Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, word + at);
    }
    memory.asSlice(whole).fill((byte) word);
  }
}
