package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SlabArena.SlotReturns;
import io.penstock.system.LiveClock;
import io.penstock.tier.TierEvent;
import java.security.SecureRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What a tier learns from elsewhere than its callers and its stores: time, random draws, memory, and who holds
/// its blocks. A recording gives its own, so that the same inputs can be given again.
///
/// Methods may be called under the lock of the tier: they are quick, and call no one back.
public interface TierInputs extends SlotReturns {
  /// Time of leases, pins and waits, in nanoseconds from any origin.
  long nanos();

  /// Clock by which the last use of each block is remembered, in microseconds since 1970; null if it is not. That
  /// takes 8 bytes a block. No decision depends on it.
  default @Nullable LongSupplier useMicros() {
    return null;
  }

  /// A random number, for the name of a lease.
  long draw();

  /// The host memory; closed with the tier.
  ChunkSource chunks();

  /// Whether a reader or a move holds `block`, beside the tier.
  default boolean isHeld(Block block) {
    return block.isShared();
  }

  /// Hears each event of the tier in the decision that makes it, in their order.
  default void decided(TierEvent event) {}

  @Override
  default void back(int slot, Runnable giveBack) {
    giveBack.run();
  }

  /// Those of the system. Time stands still while the process does.
  static TierInputs ofSystem() {
    return of(ChunkSource.ofSystem());
  }

  /// Those of the system, with host memory of another kind.
  ///
  /// @param useMicros see [#useMicros()]
  static TierInputs of(ChunkSource chunks, @Nullable LongSupplier useMicros) {
    return of(LiveClock.process()::nanos, chunks, useMicros);
  }

  /// Those of the system, with host memory of another kind.
  static TierInputs of(ChunkSource chunks) {
    return of(LiveClock.process()::nanos, chunks);
  }

  static TierInputs of(LongSupplier nanos, ChunkSource chunks) {
    return of(nanos, chunks, null);
  }

  static TierInputs of(LongSupplier nanos, ChunkSource chunks, @Nullable LongSupplier useMicros) {
    requireNonNull(nanos, "nanos");
    requireNonNull(chunks, "chunks");
    SecureRandom random = new SecureRandom();
    return new TierInputs() {
      @Override
      public long nanos() {
        return nanos.getAsLong();
      }

      @Override
      public @Nullable LongSupplier useMicros() {
        return useMicros;
      }

      @Override
      public long draw() {
        return random.nextLong();
      }

      @Override
      public ChunkSource chunks() {
        return chunks;
      }
    };
  }
}
