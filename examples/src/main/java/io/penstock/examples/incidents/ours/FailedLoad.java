package io.penstock.examples.incidents.ours;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.recording.RecordedEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The load of a block fails: the reader gets what came, and the missing blocks are computed.
public final class FailedLoad extends StackRig {
  private final Map<Long, List<BlockKey>> wanted = new HashMap<>();
  private final Map<Long, Read> reads = new HashMap<>();
  private boolean answered;
  private String ending = "no answer";

  /// As many blocks in memory as the device of the peer has.
  public FailedLoad() {
    super(4, options());
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case FLOW -> {
        wanted.put(input.flow(), input.keys());
        if (match(input.keys()) > 0) {
          disk.holdReads();
          reads.put(input.flow(), read(input.keys()));
        } else {
          put(input.keys());
        }
      }
      case FLOW_COMPLETE -> {
        // The stack moves blocks to the disk when it needs their memory
      }
      case STORE_FAILED -> disk.fail(new TransientKvException(input.text()));
      case TIMER -> {
        Read read = requireNonNull(reads.get(input.flow()));
        answered = read.over;
        ending = "%d of %d blocks loaded, the others are computed; the reader got %s, look-ups find %d".formatted(
            read.came.size(),
            wanted(input).size(), read.failure == null ? "no error" : nameOf(read.failure),
            match(wanted(input)));
      }
      default -> throw new IllegalArgumentException("input must be one of a load (was " + input + ")");
    }
  }

  private List<BlockKey> wanted(RecordedEvent input) {
    return requireNonNull(wanted.get(input.flow()));
  }

  @Override
  public boolean isGood() {
    return answered && violation() == null;
  }

  @Override
  public String ending() {
    return ending;
  }
}
