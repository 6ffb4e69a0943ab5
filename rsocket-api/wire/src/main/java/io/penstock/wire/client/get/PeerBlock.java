package io.penstock.wire.client.get;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.Owned;
import io.penstock.carrier.LeasedMemory;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/// A block in the memory of a node on this host, read without a copy. Safe from any thread.
///
/// The node keeps the memory until this handle closes, the connection is gone, or the life of the lease is over: a
/// client that stops, or is killed, keeps nothing. A read whose lease ends before it returns is an error, so its reader
/// must not pass on results before it returns.
public final class PeerBlock extends Owned {
  private final LeasedMemory memory;

  PeerBlock(LeasedMemory memory) {
    this.memory = memory;
  }

  public BlockKey key() {
    return memory.key();
  }

  public BlockLayout layout() {
    return memory.layout();
  }

  /// Compares all granules with their checksums now; else each is compared when it is first read.
  ///
  /// @throws io.penstock.block.BlockCorruptException at the first difference
  /// @throws io.penstock.TransientKvException if the lease has ended
  public PeerBlock verify() {
    memory.verify(GranuleRange.all(memory.layout()));
    return this;
  }

  /// Lends the bytes of `range` to `reader` until it returns. Granules that no read touched before are compared with
  /// their checksums first.
  ///
  /// @throws io.penstock.block.BlockCorruptException if a granule differs from its checksum
  /// @throws io.penstock.TransientKvException if the lease ended before `reader` returned: discard its result, and ask
  ///     again
  /// @throws IllegalStateException if this handle was closed
  public <R> R read(GranuleRange range, Function<MemorySegment, R> reader) {
    return memory.read(range, reader);
  }

  @Override
  protected void free() {
    memory.close();
  }

  @Override
  public String toString() {
    return "peer's block " + memory.key();
  }
}
