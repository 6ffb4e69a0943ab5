package io.penstock.node.kvevents;

/// Form of a block's hash in an event.
public enum HashForm {
  /// Low 64 bits of the hash as an unsigned integer, the default of vLLM.
  INT,
  /// All 16 bytes of the hash.
  BYTES
}
