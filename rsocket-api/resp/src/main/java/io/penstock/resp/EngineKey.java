package io.penstock.resp;

import org.jspecify.annotations.Nullable;

/// Keys that LMCache makes: `model@rank@group@hash` with perhaps a salt, or `model@world@worker@hash@dtype`. In the
/// process of an engine it stores two values for a chunk, whose keys differ in their ends: the bytes, and what
/// describes them.
final class EngineKey {
  private static final int LEAST_MARKS = 2;
  private static final int MARKS_OF_PAIR = 4;
  private static final String BYTES = "kv_bytes";
  private static final String METADATA = "metadata";

  private EngineKey() {}

  /// Whether all values of `name` have one length: it names a chunk of a model.
  static boolean isOfChunk(String name) {
    return marks(name) >= LEAST_MARKS;
  }

  /// The name of the other value of a chunk; null for a value that is alone.
  static @Nullable String other(String name) {
    if (name.endsWith(METADATA) && marks(name) >= MARKS_OF_PAIR) {
      return name.substring(0, name.length() - METADATA.length()) + BYTES;
    } else if (name.endsWith(BYTES) && marks(name) >= MARKS_OF_PAIR) {
      return name.substring(0, name.length() - BYTES.length()) + METADATA;
    }
    return null;
  }

  /// The name of the value that `name` is worth nothing without; null for none.
  static @Nullable String needed(String name) {
    return name.endsWith(METADATA) ? other(name) : null;
  }

  private static int marks(String name) {
    int marks = 0;
    for (int i = 0; i < name.length(); i++) {
      marks += name.charAt(i) == '@' ? 1 : 0;
    }
    return marks;
  }
}
