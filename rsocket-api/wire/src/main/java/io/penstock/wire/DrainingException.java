package io.penstock.wire;

import io.penstock.TransientKvException;

/// The node is draining: what runs may end, nothing new begins. Another node, or a later try, may serve the call.
public final class DrainingException extends TransientKvException {
  DrainingException() {
    super("node must not be draining to take new work (was draining)");
  }
}
