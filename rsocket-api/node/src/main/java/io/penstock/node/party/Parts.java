package io.penstock.node.party;

import io.penstock.wire.protocol.Limits;
import java.util.List;
import java.util.stream.IntStream;

/// Cuts a request into parts of no more blocks than a question to a node may have.
final class Parts {
  /// Maximum blocks of a question.
  static final int BLOCKS = Limits.defaults().maxKeys();

  private Parts() {}

  /// The parts of `all` in order, each a view of at most `most` elements.
  static <T> List<List<T>> of(List<T> all, int most) {
    return IntStream.range(0, Math.ceilDiv(all.size(), most))
        .mapToObj(part -> all.subList(part * most, Math.min(all.size(), (part + 1) * most))).toList();
  }
}
