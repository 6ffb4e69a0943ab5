package io.penstock.node.kvevents;

/// Form of a batch and of its events. The manual lists which release of an engine sends which.
public enum KvLayout {
  /// A batch is a list, an event a list that begins with the type: vLLM up to 0.23.
  ARRAY,
  /// A batch is a list, an event a map with the type under `type`, without fields that have their default: vLLM since
  /// its change 42892 of June 2026, such as 0.26 and 0.29; SGLang since September 2026; TensorRT-LLM.
  MAP,
  /// A batch is a map, too, with the fields `ts` and `events`: development builds of vLLM. A consumer of another layout
  /// reads none of it.
  MAP_BATCH
}
