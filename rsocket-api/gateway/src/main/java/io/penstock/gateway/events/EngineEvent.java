package io.penstock.gateway.events;

import io.penstock.gateway.choice.Medium;
import org.jspecify.annotations.Nullable;

/// An event of an engine's KV cache. A hash is 64 bits: an integer as it is, of bytes the last eight, so both forms of
/// vLLM's hash are equal.
sealed interface EngineEvent {
  /// Group of layers that an event is about.
  ///
  /// @param number null if the event names none
  /// @param isPartial whether its layers keep a part of a prompt, such as a sliding window
  record Group(@Nullable Integer number, boolean isPartial) {}

  /// Copies of blocks arrived, each block the parent of the next.
  ///
  /// @param parent hash of the block before the first; null for none
  /// @param tokens of all blocks; none if they are not known
  /// @param blockTokens tokens of a block, as the event says
  /// @param medium null for one that is not known here
  /// @param root name before the first block of a prompt with this event's adapter and salt
  /// @param extras texts that belong to each block beside its tokens, joined; null for none
  @SuppressWarnings("ArrayRecordComponent") // made for this event alone, and never changed
  record Stored(long[] hashes, @Nullable Long parent, int[] tokens, int blockTokens, @Nullable Medium medium,
      Group group, long root, @Nullable String @Nullable [] extras) implements EngineEvent {
    /// Whether the tokens are those of the blocks. Groups with a sliding window list more.
    boolean isAligned() {
      return blockTokens > 0 && (long) blockTokens * hashes.length == tokens.length;
    }

    @Nullable String extra(int block) {
      return extras == null || block >= extras.length ? null : extras[block];
    }
  }

  /// A copy of each of these blocks went.
  ///
  /// @param medium null for one that is not known here
  @SuppressWarnings("ArrayRecordComponent") // made for this event alone, and never changed
  record Removed(long[] hashes, @Nullable Medium medium, Group group) implements EngineEvent {}

  /// All blocks went.
  record Cleared() implements EngineEvent {}

  /// An event of a type that is not known here.
  record Unknown() implements EngineEvent {}
}
