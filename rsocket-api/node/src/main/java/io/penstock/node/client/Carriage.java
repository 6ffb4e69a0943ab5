package io.penstock.node.client;

import io.penstock.wire.CarriedBytes;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/// What carried the bytes of blocks of a link.
///
/// @param transport of its frames
/// @param bytes by carrier, both ways
record Carriage(String transport, Map<String, Long> bytes) {
  static Carriage of(String transport, CarriedBytes carried) {
    Map<String, Long> bytes = new TreeMap<>();
    carried.in().forEach((carrier, count) -> bytes.merge(carrier.label(), count, Long::sum));
    carried.out().forEach((carrier, count) -> bytes.merge(carrier.label(), count, Long::sum));
    return new Carriage(transport, bytes);
  }

  /// For the end of a sentence: empty if nothing was carried.
  String text() {
    return bytes.isEmpty()
        ? ""
        : ", carried by " + String.join(" and ", new TreeSet<>(bytes.keySet()))
            + " over " + transport;
  }

  /// Of a link that is no connection.
  static Carriage none() {
    return new Carriage("none", Map.of());
  }
}
