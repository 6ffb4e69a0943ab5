package io.penstock.node.kvevents;

/// Form of an event.
public enum KvLayout {
  /// A list that begins with the type, as older releases of vLLM do.
  ARRAY,
  /// A map with the type under `type`, without fields that have their default, as vLLM 0.28 and newer do.
  MAP
}
