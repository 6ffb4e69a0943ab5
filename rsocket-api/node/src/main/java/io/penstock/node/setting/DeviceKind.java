package io.penstock.node.setting;

/// What stands behind device memory.
public enum DeviceKind {
  /// Memory of the host.
  SIM,
  /// A device of a `libascendcl.so`.
  ASCEND
}
