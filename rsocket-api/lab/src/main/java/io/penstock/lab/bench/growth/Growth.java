package io.penstock.lab.bench.growth;

import io.penstock.lab.bench.growth.GrownPair.Shape;

/// What grows, while all else stays as it is.
enum Growth {
  BLOCKS("blocks a request", "block", 8) {
    @Override
    Shape at(int n) {
      return new Shape(BLOCK_BYTES, 1, n, 1, 1, Math.max(HELD, n));
    }
  },
  /// The bytes of a layer stay, so a block grows with its layers.
  LAYERS("layers a block", "layer", 1) {
    @Override
    Shape at(int n) {
      return new Shape(n * LAYER_BYTES, n, 4, 1, 1, 256);
    }
  },
  /// They are used by turns, with as many requests under way. There are never fewer connections than requests: requests
  /// that share one share its system calls, too, and what they save would look like a cost of many connections.
  CONNECTIONS("connections", "block", GrownPair.UNDER_WAY) {
    @Override
    Shape at(int n) {
      return new Shape(BLOCK_BYTES, 1, BATCH, n, 1, HELD);
    }
  },
  /// They are visited by turns; a visit opens and closes a connection.
  SPACES("spaces", "block", 2) {
    @Override
    Shape at(int n) {
      return new Shape(BLOCK_BYTES, 1, BATCH, 0, n, 4 * BATCH);
    }
  },
  /// As many different blocks are read whatever is held, so that the caches of the processor do not count.
  KEYS("keys held", "block", 1024) {
    @Override
    Shape at(int n) {
      return new Shape(BLOCK_BYTES / 4, 1, BATCH, 1, 1, n);
    }
  };

  private static final int BLOCK_BYTES = 4 << 10;
  private static final int LAYER_BYTES = 2 << 10;
  private static final int BATCH = 16;
  private static final int HELD = 1024;

  private final String words;
  private final String unit;
  private final int from;

  Growth(String words, String unit, int from) {
    this.words = words;
    this.unit = unit;
    this.from = from;
  }

  /// For people: `blocks a request`.
  String words() {
    return words;
  }

  /// What CPU is counted for: `block` or `layer`.
  String unit() {
    return unit;
  }

  /// The number that is doubled first.
  int from() {
    return from;
  }

  /// A node and clients with `n` of it.
  abstract Shape at(int n);
}
