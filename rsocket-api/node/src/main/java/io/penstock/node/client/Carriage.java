package io.penstock.node.client;

import io.penstock.wire.CarriedBytes;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/// What carried the bytes of blocks of a link, and how long that took.
///
/// @param transport of its frames
/// @param bytes by carrier, both ways
/// @param times of the requests that moved them, `get` and `put`
record Carriage(String transport, Map<String, Long> bytes, Map<String, StreamTimes.Times> times) {
  static Carriage of(String transport, CarriedBytes carried, StreamTimes times) {
    Map<String, Long> bytes = new TreeMap<>();
    carried.in().forEach((carrier, count) -> bytes.merge(carrier.label(), count, Long::sum));
    carried.out().forEach((carrier, count) -> bytes.merge(carrier.label(), count, Long::sum));
    return new Carriage(transport, bytes, times.times());
  }

  /// For the end of a sentence: empty if nothing was carried.
  String text() {
    return bytes.isEmpty()
        ? ""
        : ", carried by " + String.join(" and ", new TreeSet<>(bytes.keySet()))
            + " over " + transport + took();
  }

  /// Of several requests of a kind: percentiles of one say nothing.
  private String took() {
    StringBuilder text = new StringBuilder();
    times.forEach((route, took) -> text.append(took.count() < 2
        ? ""
        : String.format(Locale.ROOT, "; %d %ss, p50 %.3f ms, p99 %.3f ms", took.count(), route, took.p50Millis(),
            took.p99Millis())));
    return text.toString();
  }

  /// Of a link that is no connection.
  static Carriage none() {
    return new Carriage("none", Map.of(), Map.of());
  }
}
