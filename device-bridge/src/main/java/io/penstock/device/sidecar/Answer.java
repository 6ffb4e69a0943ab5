package io.penstock.device.sidecar;

import io.penstock.KvException;

/// Receives the end of one request: exactly one of the two calls.
interface Answer {
  void answered(Message message);

  /// A [SideCarFailure].
  void failed(KvException failure);
}
