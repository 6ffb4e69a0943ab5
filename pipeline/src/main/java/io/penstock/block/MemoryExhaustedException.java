package io.penstock.block;

import io.penstock.TransientKvException;

/// The system did not give the memory that an arena was promised: `-XX:MaxDirectMemorySize`, or the machine, is too small for its
/// capacity. What was lent stays valid, and a claim that fits the memory already there succeeds.
public final class MemoryExhaustedException extends TransientKvException {
  private final String arena;
  private final long bytes;

  public MemoryExhaustedException(String arena, long bytes, OutOfMemoryError cause) {
    super(arena + ": memory for another " + bytes + " bytes must be available (was refused: " + cause.getMessage() + ")", cause);
    this.arena = arena;
    this.bytes = bytes;
  }

  public String arena() {
    return arena;
  }

  public long bytes() {
    return bytes;
  }
}
