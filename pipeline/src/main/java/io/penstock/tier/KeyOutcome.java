package io.penstock.tier;

import org.jspecify.annotations.Nullable;

/// What became of one key of a request for many, whatever became of the others. Its number is that of Mooncake Store.
public enum KeyOutcome {
  /// Done.
  OK(0),
  /// The block is being written.
  NOT_READY(-703),
  /// The block is not visible.
  NOT_FOUND(-704),
  /// A read lease holds the block.
  LEASED(-706);

  private final int code;

  KeyOutcome(int code) {
    this.code = code;
  }

  /// The number on the wire.
  public int code() {
    return code;
  }

  /// The outcome of a number on the wire; null if there is none here.
  public static @Nullable KeyOutcome of(int code) {
    for (KeyOutcome outcome : values()) {
      if (outcome.code == code) {
        return outcome;
      }
    }
    return null;
  }
}
