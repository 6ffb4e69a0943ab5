package io.penstock.wire.cluster;

import io.penstock.TransientKvException;

/// A node cannot say anything of its cluster, because it is not in it now. Another member, or a later try, may answer.
public final class NotJoinedException extends TransientKvException {
  public NotJoinedException() {
    super("node must be in its cluster to answer for it (has not joined, or is leaving)");
  }
}
