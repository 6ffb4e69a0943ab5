package io.penstock.node.setting;

/// Kind of device memory.
public enum DeviceKind {
  /// Memory of the host.
  SIM,
  /// A device of a `libascendcl.so`.
  ASCEND
}
