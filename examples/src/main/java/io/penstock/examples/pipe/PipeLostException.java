package io.penstock.examples.pipe;

import io.penstock.TransientKvException;
import org.jspecify.annotations.Nullable;

/// The other end is gone without a word: its process died, or the network did.
public final class PipeLostException extends TransientKvException {
  PipeLostException(String otherEnd, @Nullable Throwable cause) {
    super(otherEnd + " end was lost before the pipe ended", cause);
  }
}
