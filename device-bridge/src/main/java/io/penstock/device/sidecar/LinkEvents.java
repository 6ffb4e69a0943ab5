package io.penstock.device.sidecar;

import io.penstock.KvException;

/// What happens on one connection, in order: opened at most once, frames, closed exactly once. Must not wait.
interface LinkEvents {
  void opened(Link link);

  void received(Frame frame);

  /// What came could not be read; nothing else will be.
  void malformed(MalformedFrameException problem);

  void closed(KvException why);
}
