package io.penstock.node.party;

import io.penstock.PermanentKvException;
import org.jspecify.annotations.Nullable;

/// Blocks of a request did not arrive after all passes.
final class UndeliveredException extends PermanentKvException {
  private final int missing;
  private final int blocks;
  private final int passes;

  UndeliveredException(int missing, int blocks, int passes, @Nullable Throwable last) {
    super("missing blocks of a request must be 0 after %d passes (was %d of %d)%s"
        .formatted(passes, missing, blocks, last == null
            ? ". The node evicted them before they were read: it has too little room for the requests under way."
                + " Fewer at a time (--concurrency 1) or more capacity help"
            : ": " + last.getMessage()),
        last);
    this.missing = missing;
    this.blocks = blocks;
    this.passes = passes;
  }

  int missing() {
    return missing;
  }

  int blocks() {
    return blocks;
  }

  int passes() {
    return passes;
  }
}
