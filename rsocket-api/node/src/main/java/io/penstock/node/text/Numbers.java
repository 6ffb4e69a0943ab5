package io.penstock.node.text;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Numbers in the form that people read, equal in every locale: `12,031`. Not for keys, ports and sequence numbers,
/// which people type in again.
public final class Numbers {
  private Numbers() {}

  public static String of(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /// Counts with their names: `10 volatile, 1,990 written`, in the order of the names; `none` if there are none.
  public static String of(Map<?, Long> counts) {
    List<String> each = counts.entrySet().stream()
        .map(count -> Map.entry(count.getKey().toString().toLowerCase(Locale.ROOT), of(count.getValue())))
        .sorted(Map.Entry.comparingByKey()).map(count -> count.getValue() + " " + count.getKey()).toList();
    return each.isEmpty() ? "none" : String.join(", ", each);
  }

  /// A number that a person stated, without a fraction where it has none: `-1`, `0.5`, `Infinity`.
  public static String plain(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15 ? String.valueOf((long) value) : String.valueOf(value);
  }
}
