package io.penstock.examples.incidents.ours;

import io.penstock.recording.RecordedEvent;
import org.jspecify.annotations.Nullable;

/// A store that is under way holds the blocks that it reads: their slots are free when it has ended.
public final class HeldStore extends StackRig {
  private @Nullable Read read;

  /// As many blocks in memory as the device of the peer has: the second request takes the memory of the first.
  public HeldStore() {
    super(2, options());
    disk.holdPuts();
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case FLOW -> put(input.keys());
      case FLOW_CANCEL -> {
        // The request ends; its blocks are content, not those of a request
      }
      case STORE_DONE -> disk.answerAll();
      case READ -> read = read(input.keys());
      default -> throw new IllegalArgumentException("input must be one of a store queue (was " + input + ")");
    }
  }

  @Override
  public boolean isGood() {
    return read != null && read.came.size() == 2 && violation() == null;
  }

  @Override
  public String ending() {
    Read hit = read;
    return hit == null ? "no read" : "a hit gave %d blocks, each with its own bytes".formatted(hit.came.size());
  }
}
