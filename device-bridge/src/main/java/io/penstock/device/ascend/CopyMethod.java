package io.penstock.device.ascend;

/// The call that makes a copy.
public enum CopyMethod {
  /// `aclrtMemcpyBatch`: up to 4,096 elements a call, between host and device.
  BATCH,
  /// `aclrtMemcpyAsync`, each element on its own, and one wait for all of them: where the batch call is not supported,
  /// and inside a device.
  ASYNC,
  /// `aclrtMemcpy`: inside the host.
  SYNC
}
