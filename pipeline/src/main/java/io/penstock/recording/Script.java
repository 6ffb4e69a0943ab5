package io.penstock.recording;

import io.penstock.block.BlockKey;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// Where the events of [Turns] go: into a recording, or beside one, to be compared. Nothing of it ever waits.
///
/// Events are added under the lock of the turns, one at a time. Bytes of blocks, and what waits for room, come from any
/// thread.
public interface Script {
  void add(RecordedEvent event);

  /// Whether the recording has ended: then tiers work on, and no turn is needed.
  default boolean hasEnded() {
    return false;
  }

  /// The event that comes next in the recording that is played; null if none is, or it has ended.
  default @Nullable RecordedEvent next() {
    return null;
  }

  /// Whether the bytes of committed blocks are kept.
  default boolean keepsPayloads() {
    return false;
  }

  /// Keeps bytes of a block, copied before this returns. From any thread, also outside turns.
  ///
  /// @param payload what the bytes are
  /// @return number of bytes taken, the first ones of `bytes`; 0 if there is no room now, so the caller tries again
  ///     after [#whenRoom]
  default long keep(Payload payload, MemorySegment bytes) {
    return bytes.byteSize();
  }

  /// Whether demand and new calls must be withheld, as there is little room for more events.
  default boolean isFull() {
    return false;
  }

  /// Runs `work` once when there is room again or the recording has ended, on a thread that may wait; at once, on this
  /// thread, if there is room. Others may have taken the room meanwhile, so the work asks again.
  ///
  /// @return forgets the work if it has not begun
  default Disposable whenRoom(Runnable work) {
    work.run();
    return Disposables.disposed();
  }

  /// What bytes are kept.
  ///
  /// @param checksum of the whole block: CRC32C of the checksums of its granules, 0 if only a part is known
  /// @param first byte, counted in the block
  /// @param stored whether the bytes were read from a store
  record Payload(BlockKey key, long checksum, long first, boolean stored) {}
}
