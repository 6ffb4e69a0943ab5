package io.penstock.examples.incidents.ours;

import io.penstock.TransientKvException;
import io.penstock.examples.incidents.script.Words;
import io.penstock.recording.RecordedEvent;
import io.penstock.stack.shape.StackOptions.Mode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Blocks that are written through to the disk: each is visible when the disk has all its bytes.
public final class CommitThenVisible extends StackRig {
  private final List<Put> puts = new ArrayList<>();
  private @Nullable String early;
  private String ending = "no look-up";

  public CommitThenVisible() {
    super(8, options().withMode(Mode.WRITE_THROUGH).withBatchBlocks(1));
    disk.holdPuts();
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case COMMIT -> {
        puts.add(put(input.keys()));
        early = match(input.keys()) == 0 ? early : Words.names(input.keys()) + " is visible before it is on the disk";
      }
      case STORE_DONE -> disk.answer();
      case STORE_FAILED -> disk.fail(new TransientKvException(input.text()));
      case LEASE -> ending = "the look-up finds %d of %d blocks".formatted(match(input.keys()), input.keys().size());
      case READ -> {
        Read read = read(input.keys());
        Throwable failure = puts.getLast().failure;
        ending += ", %d came with their own bytes; the writer of the other got %s".formatted(read.came.size(),
            failure == null ? "a receipt" : nameOf(failure));
      }
      default -> throw new IllegalArgumentException("input must be one of a file level (was " + input + ")");
    }
  }

  @Override
  public @Nullable String violation() {
    return early == null ? super.violation() : early;
  }

  @Override
  public boolean isGood() {
    return violation() == null && puts.getFirst().receipts != null && puts.getLast().failure != null;
  }

  @Override
  public String ending() {
    return ending;
  }
}
