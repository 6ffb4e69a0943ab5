package io.penstock.device.sidecar;

import io.penstock.KvException;

/// Who asked, and hears one of the two, once.
interface Answer {
  void answered(Message message);

  /// A [SideCarFailure].
  void failed(KvException failure);
}
