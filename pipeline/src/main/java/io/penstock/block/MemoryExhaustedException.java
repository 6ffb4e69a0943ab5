package io.penstock.block;

import io.penstock.TransientKvException;

/// The system refused the memory for another chunk of an arena: the machine, or a limit on the process, is too small
/// for its capacity. What was lent stays valid, and a claim that fits the memory already there succeeds. Mind that most
/// systems promise more memory than they have and end the process later; `-XX:MaxDirectMemorySize` does not bound
/// arenas.
public final class MemoryExhaustedException extends TransientKvException {
  private final String arena;
  private final long bytes;

  public MemoryExhaustedException(String arena, long bytes, OutOfMemoryError cause) {
    super(arena + ": memory for another " + bytes + " bytes must be available (was refused): " + cause.getMessage(),
        cause);
    this.arena = arena;
    this.bytes = bytes;
  }

  public String arena() {
    return arena;
  }

  /// Bytes that the system refused.
  public long bytes() {
    return bytes;
  }
}
