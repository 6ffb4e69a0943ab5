package io.penstock.node.link;

import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.report.CarriedBytes;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Carriers of the bytes of blocks of a link, and the time they took.
///
/// @param transport of its frames
/// @param bytes by carrier, in both directions
/// @param times of the requests that moved them, `get` and `put`
public record Carriage(String transport, Map<String, Long> bytes, Map<String, StreamTimes.Times> times) {
  static Carriage of(String transport, CarriedBytes carried, StreamTimes times) {
    Map<String, Long> bytes = new TreeMap<>();
    carried.in().forEach((carrier, count) -> bytes.merge(carrier.label(), count, Long::sum));
    carried.out().forEach((carrier, count) -> bytes.merge(carrier.label(), count, Long::sum));
    return new Carriage(transport, bytes, times.times());
  }

  /// Words for the end of a sentence: empty if nothing was carried.
  public String text() {
    return bytes.isEmpty()
        ? ""
        : ", " + words(bytes.keySet(), transport) + took();
  }

  /// `in frames over tcp`, `through shared memory`, or both.
  ///
  /// @param carriers labels of those that carried bytes
  /// @param transport of the frames
  public static String words(Collection<String> carriers, String transport) {
    return carriers.stream().sorted().map(
        carrier -> carrier.equals(Carrier.INLINE.label()) ? "in frames over " + transport : "through shared memory")
        .collect(Collectors.joining(" and "));
  }

  /// Times of several requests of a kind; percentiles of one request would mean nothing.
  private String took() {
    StringBuilder text = new StringBuilder();
    times.forEach((route, took) -> text.append(took.count() < 2
        ? ""
        : String.format(Locale.ROOT, "; %d %ss, p50 %.3f ms, p99 %.3f ms", took.count(), route, took.p50Millis(),
            took.p99Millis())));
    return text.toString();
  }

  /// Value for a link that is no connection.
  static Carriage none() {
    return new Carriage("none", Map.of(), Map.of());
  }
}
