package io.penstock.node.kvevents;

import io.penstock.tier.Medium;

/// vLLM's words for where a copy is.
enum KvMedium {
  GPU, CPU, STORAGE;

  static KvMedium of(Medium medium) {
    return switch (medium) {
      case DEVICE -> GPU;
      case HOST -> CPU;
      case DISK, REMOTE -> STORAGE;
    };
  }
}
