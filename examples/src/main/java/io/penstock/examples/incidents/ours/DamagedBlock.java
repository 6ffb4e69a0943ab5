package io.penstock.examples.incidents.ours;

import static io.penstock.examples.incidents.script.Words.keys;

import io.penstock.block.BlockKey;
import io.penstock.recording.RecordedEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A block that is damaged on the disk is lost in the decision that learns of it: the next look-up misses it.
public final class DamagedBlock extends StackRig {
  private List<BlockKey> wanted = List.of();
  private @Nullable Read read;
  private int steps;
  private int loads;
  private boolean answered;
  private String ending = "no answer";

  public DamagedBlock() {
    super(4, options());
    put(keys(1, 0, 4));
    put(keys(2, 0, 4)); // demotes the first four
    disk.holdReads();
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case STORE_DAMAGED -> input.keys().forEach(disk::damage);
      case FLOW -> wanted = input.keys();
      case TIMER -> step();
      case STORE_DONE -> disk.answerAll();
      default -> throw new IllegalArgumentException("input must be one of a scheduler (was " + input + ")");
    }
  }

  /// Loads what look-ups find; after an error it looks again.
  private void step() {
    steps++;
    Read under = read;
    if (under == null || (under.over && under.failure != null)) {
      loads++;
      read = read(wanted);
    } else if (under.over && !answered) {
      answered = true;
      ending = "answered at step %d of the scheduler after %d loads: %d blocks loaded, %d computed"
          .formatted(steps, loads, under.came.size(), wanted.size() - under.came.size());
    }
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
