package io.penstock.node.kvevents;

/// How the hash of a block is packed.
public enum HashForm {
  /// Its low 64 bits as an unsigned integer, as vLLM does unless it is told otherwise.
  INT,
  /// All of its 16 bytes.
  BYTES
}
